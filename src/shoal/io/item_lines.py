"""Lines of items: one record per line, items separated by whitespace or by another character.

1. The text is processed in blocks that end with a line. A block must be UTF-8 without NUL bytes.
2. numpy finds where words begin and end, and how many each line has; Arrow dictionary-encodes the words, so that Python
   sees each distinct word of a block only once.
3. In SPMF files, -1 and -2 (the ends of an itemset and of a record) are not items, and lines that begin with #, % or @
   are not records.

Blank lines are records without items. Lines end with LF, CR LF or CR.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ReadError, WriteError
from shoal.io.data_file import packing
from shoal.io.item_sets import LONGEST, at_line, check_text, fault_of, gathered
from shoal.model.csv_style import MARK
from shoal.model.transactions import Transactions

BLOCK = 1 << 18
BLANKS = b" \t\v\f"
ENDS_OF_SPMF = ("-1", "-2")
REMARKS = b"#%@"
LARGEST_LINE = (1 << 31) - 1
SLICE = 65_536  # records written at a time


def parse_lines(data: bytearray, name: str, *, spmf: bool = False, separator: str | None = None) -> Transactions:
    r"""Read lines of items: O(b) time for b bytes, about a second for a million records.

    `data` is consumed; `name` is the file's name in messages. With `spmf`, -1 and -2 are ends, not items, and lines
    that begin with #, % or @ are comments. `separator` is one ASCII character; whitespace around items is then
    stripped. Without it, whitespace separates items.

    Examples
    --------
    >>> parse_lines(bytearray(b"2 10 2\n\n7\n"), "x.dat").records()
    [['2', '10'], ['7']]
    """
    kinds = _kinds_of_bytes(separator)
    if data.startswith(MARK):
        del data[: len(MARK)]
    if b"\r" in data:
        data[:] = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    # At most as many words as bytes that end one; memory pages that are never written cost nothing.
    codes = np.empty(1 + sum(data.count(byte) for byte in np.flatnonzero(kinds).tolist()), np.int32)
    lengths = np.empty(1 + data.count(b"\n"), np.int64)
    no_items = ("", *ENDS_OF_SPMF) if spmf else ("",)
    known = {word: code for code, word in enumerate(no_items)}
    words = records = 0
    for start, stop in _blocks(data, name):
        check_text(data, name, start, stop)
        folded, counts = _words(data, start, stop, kinds, name, spmf)
        codes[words : words + len(folded)] = _numbers(folded, known, trimmed=separator is not None)
        lengths[records : records + counts.size] = counts
        words, records = words + len(folded), records + counts.size
    data.clear()
    codes.resize(words, refcheck=False)
    lengths.resize(records, refcheck=False)
    labels = ["" if code < len(no_items) else word for word, code in known.items()]
    return gathered(codes, labels, lengths, repr(name), "line")


def looks_like_spmf(data: bytearray) -> bool:
    """Return whether every record at the beginning of a text ends with -2, as those of SPMF do."""
    lines = bytes(data[:65_536]).removeprefix(MARK).splitlines()
    if len(data) > 65_536 and len(lines) > 1:
        lines.pop()
    records = [line.split() for line in lines if line.strip() and line[0] not in REMARKS]
    return bool(records) and all(record[-1] == b"-2" for record in records)


def _kinds_of_bytes(separator: str | None) -> NDArray[np.uint8]:
    """Return for each byte whether it is part of a word (0), separates words (1) or ends a line (2)."""
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in "\r\n\0"):
        raise ReadError(
            f"read: a separator of {len(separator)} characters; expected one ASCII character other than a line end. "
            "Give one, or none if whitespace separates the items."
        )
    kinds = np.zeros(256, np.uint8)
    kinds[list(BLANKS if separator is None else separator.encode())] = 1
    kinds[ord("\n")] = 2
    return kinds


def _blocks(data: bytearray, name: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of blocks that end with a line."""
    start = 0
    while start < len(data):
        stop = data.rfind(b"\n", start, start + BLOCK) + 1 if start + BLOCK < len(data) else len(data)
        if not stop:
            stop = data.find(b"\n", start) + 1 or len(data)
        if stop - start > LARGEST_LINE:
            raise at_line(data, start, name, "longer than 2 GiB. Are there line ends between the records?")
        yield start, stop
        start = stop


def _words(
    data: bytearray, start: int, stop: int, kinds: NDArray[np.uint8], name: str, spmf: bool
) -> tuple[pa.DictionaryArray, NDArray[np.int64]]:
    """Return the words of a block, dictionary-encoded, and how many each of its lines has."""
    octets = np.frombuffer(data, np.uint8, stop - start, start)
    kind = kinds[octets]
    inside = np.zeros(octets.size + 2, np.int8)
    np.equal(kind, 0, out=inside[1:-1].view(np.bool_))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    breaks = np.flatnonzero(kind == 2)
    if not breaks.size or breaks[-1] != octets.size - 1:
        breaks = np.r_[breaks, octets.size]
    counts = np.diff(np.searchsorted(starts, breaks), prepend=0).astype(np.int64)
    text = inside[1:-1].view(np.bool_)
    if spmf:
        firsts = np.r_[0, breaks[:-1] + 1]
        remark = np.isin(octets[np.minimum(firsts, octets.size - 1)], list(REMARKS))
        if remark.any():
            wanted = ~np.repeat(remark, counts)
            text = text & ~np.repeat(remark, np.diff(np.r_[firsts, octets.size]))
            starts, ends, counts = starts[wanted], ends[wanted], counts[~remark]
    sizes = ends - starts
    for place in np.flatnonzero(sizes > LONGEST).tolist():
        first = start + int(starts[place])
        if fault := fault_of(data[first : first + int(sizes[place])].decode()):
            raise at_line(data, first, name, fault)
    offsets = np.zeros(sizes.size + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    return _folded(offsets, octets[text]), counts


def _folded(offsets: NDArray[np.int32], octets: NDArray[np.uint8]) -> pa.DictionaryArray:
    """Return adjacent words as a dictionary column."""
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(octets)]
    return pa.Array.from_buffers(pa.string(), offsets.size - 1, buffers).dictionary_encode()


def _numbers(words: pa.DictionaryArray, known: dict[str, int], *, trimmed: bool) -> NDArray[np.int32]:
    """Return the number of each word, optionally without surrounding whitespace; new words get new numbers."""
    labels = pc.utf8_trim(words.dictionary, BLANKS.decode()) if trimmed else words.dictionary
    numbers = [known.setdefault(label, len(known)) for label in labels.to_pylist()]
    codes: NDArray[np.int32] = np.array(numbers, np.int32)[words.indices.to_numpy()]
    return codes


def write_lines(data: Transactions, path: str | Path, *, separator: str = " ", keep_empty: bool = False) -> None:
    """Write transactions as lines of items, gzipped if the name ends with .gz; an existing file is overwritten.

    With `keep_empty`, records without items become blank lines. Equal data give equal bytes, and
    `read(path, layout="lines")`, with the same `separator` unless it is whitespace, reads the same data.
    """
    place = Path(path)
    bad = _unreadable(data.labels, separator)
    if bad:
        raise WriteError(
            f"write: {bad} of {len(data.labels)} labels are empty or contain characters that separate items or lines, "
            "so they could not be read back. Choose another separator."
        )
    lines = _text(data, separator, data.inputs if keep_empty else data.n, data.rows if keep_empty else None)
    reason = ""
    try:
        with place.open("wb") as raw:
            if place.suffix.lower() == ".gz":
                with packing(raw) as packed:
                    packed.writelines(lines)
            else:
                raw.writelines(lines)
    except OSError as error:
        reason = error.strerror or "it failed"
    if reason:
        raise WriteError(f"write: {place.name!r} cannot be written: {reason}. Choose another place.")


def _unreadable(labels: tuple[str, ...], separator: str) -> int:
    """Return how many labels would not be read back as they are."""
    blank = separator in BLANKS.decode()
    _kinds_of_bytes(None if blank else separator)
    separators = re.escape(BLANKS.decode() if blank else separator)
    wrong = re.compile(rf"[\r\n\0\ud800-\udfff{separators}]|^[ \t\v\f]|[ \t\v\f]\Z|^\Z|^\ufeff")
    return sum(wrong.search(label) is not None or len(label) > LONGEST for label in labels)


def _text(data: Transactions, separator: str, n: int, rows: NDArray[np.int64] | None) -> Iterator[bytes]:
    """Yield the lines as UTF-8, a slice of records at a time."""
    labels = pa.array(data.labels, pa.string())
    ends = data.indptr[1:]
    if rows is not None:
        lengths: NDArray[Any] = np.zeros(n, np.int64)
        lengths[rows] = data.lengths
        ends = np.cumsum(lengths)
    bounds = np.r_[np.int64(0), ends]
    for first in range(0, n, SLICE):
        cuts = bounds[first : first + SLICE + 1]
        words = labels.take(pa.array(data.items[cuts[0] : cuts[-1]]))
        records = pa.LargeListArray.from_arrays(pa.array(cuts - cuts[0]), words)
        yield ("\n".join(pc.binary_join(records, separator).to_pylist()) + "\n").encode()
