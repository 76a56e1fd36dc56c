"""Read the columns of an uncompressed, plainly encoded Parquet file from its bytes, for verification alone.

An untrusted Parquet file is a program for the library that reads it: a few kilobytes of runs and dictionaries become
gigabytes, and a false footer may crash Python. This reader knows only what `io.disassociated` writes, takes every value
from bytes that exist, and so never needs more memory than a small multiple of the size of the file.

1. The footer is parsed: how many bytes each column takes, the metadata, and the creator.
2. The pages of a column follow each other. Each has a header and its values; levels say where lists begin and which
   cells are missing.

Nothing else of the file is read, because nothing else needs to be trusted: the caller encodes the values again and
compares the bytes.
"""

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.io.parquet_pages import Compact

MAGIC = b"PAR1"
MOST_FOOTER = 1 << 20
NUMBERS: dict[str, np.dtype[Any]] = {"int32": np.dtype("<i4"), "int64": np.dtype("<i8")}

Struct = dict[int, Any]
Bools = NDArray[np.bool_]


class Plain(NamedTuple):
    """A file: its columns by name, its metadata, and the library that wrote it.

    A column is an array of numbers or booleans, a list of text, or a pair: numbers and whether each cell has one; or
    all numbers of lists and whether each begins a list.
    """

    columns: dict[str, Any]
    metadata: dict[bytes, bytes]
    creator: bytes


def read_plain(raw: bytes, kinds: dict[str, str]) -> Plain:
    """Read the columns of a whole file in time and memory linear in its size.

    `kinds` gives the kind of each column, in order: int32, int64, bool, string, "int32?" (may be missing) or "list".
    Any other file raises ValueError, IndexError, KeyError, TypeError, AttributeError or struct.error.
    """
    footer, end = _footer(raw)
    found: dict[str, list[Any]] = {name: [] for name in kinds}
    place, cells = len(MAGIC), 0
    for group in footer.get(4, []):
        if len(group[1]) != len(kinds):
            raise ValueError
        for (name, kind), column in zip(kinds.items(), group[1], strict=True):
            # Columns follow each other, whatever offsets the footer gives: no page is read twice.
            first, last = place, place + column[3][7]
            if not first <= last <= end:
                raise ValueError
            place = last
            while first < last:
                header = Compact(raw, first)
                page = header.struct()
                first = header.at + page[3]
                if page[1] != 0 or first > last:
                    raise ValueError
                n = int(page[5][1])
                if kind == "int32?":
                    # Missing cells take no bytes; another column has four bytes for each row.
                    cells += n
                    if not 0 <= 4 * cells <= len(raw):
                        raise ValueError
                found[name].append(_values(raw[header.at : first], n, kind))
    metadata = {entry[1]: entry[2] for entry in footer.get(5, [])}
    return Plain({name: _joined(parts, kinds[name]) for name, parts in found.items()}, metadata, footer[6])


def with_creator(raw: bytes, old: bytes, new: bytes) -> bytes:
    """Return the bytes that a file would have if another version of the library had written it."""
    start = len(raw) - 8 - struct.unpack("<I", raw[-8:-4])[0]
    place = raw.rindex(old, start)
    # A text follows its length, which takes one byte below 128.
    if max(len(old), len(new)) > 127 or raw[place - 1] != len(old):
        raise ValueError
    footer = raw[start : place - 1] + bytes([len(new)]) + new + raw[place + len(old) : -8]
    return raw[:start] + footer + struct.pack("<I", len(footer)) + MAGIC


def _footer(raw: bytes) -> tuple[Struct, int]:
    """Return the footer of a file, and its offset."""
    length = struct.unpack("<I", raw[-8:-4])[0]
    start = len(raw) - 8 - length
    if raw[:4] != MAGIC or raw[-4:] != MAGIC or start < 4 or length > MOST_FOOTER:
        raise ValueError
    return Compact(raw, start).struct(), start


def _values(page: bytes, n: int, kind: str) -> Any:
    """Return the n values of a page; there must be bytes for each of them, and no more."""
    if n < 0 or (kind != "int32?" and n > 8 * len(page)):
        raise ValueError
    if kind == "string":
        return _texts(page, n)
    if kind == "bool":
        if len(page) != (n + 7) // 8:
            raise ValueError
        return np.unpackbits(np.frombuffer(page, np.uint8), count=n, bitorder="little").astype(bool)
    if kind in NUMBERS:
        return _numbers(page, n, NUMBERS[kind])
    begins = np.zeros(0, bool)
    if kind == "list":
        if 4 * n > len(page):
            raise ValueError
        begins, page = _levels(page, n)
    there, page = _levels(page, n)
    values = _numbers(page, int(there.sum()), NUMBERS["int32"])
    if kind == "list":
        if not there.all():
            raise ValueError
        return values, ~begins
    spread = np.zeros(n, np.int32)
    spread[there] = values
    return spread, there


def _numbers(page: bytes, n: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return n numbers."""
    if len(page) != n * kind.itemsize:
        raise ValueError
    return np.frombuffer(page, kind).astype(kind.newbyteorder("="))


def _texts(page: bytes, n: int) -> list[str]:
    """Return n texts, each preceded by its length."""
    found, at = [], 0
    for _ in range(n):
        length = struct.unpack_from("<I", page, at)[0]
        at += 4 + length
        if at > len(page):
            raise ValueError
        found.append(page[at - length : at].decode())
    if at != len(page):
        raise ValueError
    return found


def _levels(page: bytes, n: int) -> tuple[Bools, bytes]:
    """Return n levels of one bit, and what follows them: runs of one value, or of eight bits per byte."""
    end = 4 + struct.unpack("<I", page[:4])[0]
    if end > len(page):
        raise ValueError
    reader, found, filled = Compact(page[:end], 4), np.zeros(n, bool), 0
    while filled < n:
        head = reader.varint()
        if head & 1:
            packed = page[reader.at : min(end, reader.at + (head >> 1))]
            reader.at += head >> 1
            bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")[: n - filled].astype(bool)
        else:
            bits = np.full(min(head >> 1, n - filled), reader.byte() == 1)
        if not bits.size:
            raise ValueError
        found[filled : filled + bits.size] = bits
        filled += bits.size
    return found, page[end:]


def _joined(parts: list[Any], kind: str) -> Any:
    """Return the values of all pages of a column."""
    if kind == "string":
        return [text for part in parts for text in part]
    if kind in ("list", "int32?"):
        none = (np.zeros(0, np.int32), np.zeros(0, bool))
        first, second = zip(*(parts or [none]), strict=True)
        return np.concatenate(first), np.concatenate(second)
    return np.concatenate(parts) if parts else np.zeros(0, NUMBERS.get(kind, np.dtype(bool)))
