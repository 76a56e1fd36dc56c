"""Words, and how many of them each record has, into `Transactions`.

Every way of reading ends here: lines, columns, matrices and Python lists all become one long array of words,
dictionary-encoded (each distinct word once, and its number wherever it occurs), and the number of words per record.

1. Words that are not items (missing values, empty text) get the number -1.
2. The others are renumbered in the order of their labels, so that equal data have equal numbers.
3. A span of records at a time, numbers are sorted within their record, and duplicates are dropped. This happens in
   place: the result never takes more memory than the input.
"""

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ReadError, counted
from shoal.model.sentences import Rows, Sentence
from shoal.model.transactions import Transactions, in_order

LONGEST = 10_000  # characters of a label
MOST_ITEMS = (1 << 31) - 1
SPAN = 1 << 16  # occurrences that are sorted at a time
PLAIN = {str, int}
SURROGATE = re.compile("[\ud800-\udfff]")


def gathered(
    codes: NDArray[np.int32], words: Sequence[str], lengths: NDArray[np.int64], called: str, unit: str = "row"
) -> Transactions:
    """Convert dictionary-encoded words to transactions: O(w log w) time for w words.

    `codes` has the number of every word, record by record; -1 is not an item. It is consumed. `words` has the word of
    each number: empty ones are not items, equal ones are the same item. `lengths` has the count of numbers per record,
    -1 included. `called` and `unit` name the source and a record in messages.
    """
    used = np.zeros(len(words) + 1, bool)  # the last entry is for -1
    for start in range(0, codes.size, SPAN):
        used[codes[start : start + SPAN]] = True
    wanted = [word if here else "" for word, here in zip(words, used.tolist()[:-1], strict=True)]
    for code, label in enumerate(wanted):
        if fault := fault_of(label):
            row = int(np.searchsorted(np.cumsum(lengths), np.argmax(codes == code), side="right"))
            raise ReadError(f"read: {called}, {unit} {row + 1}: {fault}")
    ordered = in_order({label for label in wanted if label})
    if len(ordered) > MOST_ITEMS:
        raise ReadError(
            f"read: {called} has {len(ordered)} different items; at most {MOST_ITEMS} can be numbered. Give fewer."
        )
    places = {label: place for place, label in enumerate(ordered)}
    number = np.array([*(places.get(label, -1) for label in wanted), -1], np.int32)
    return _as_sets(codes, number, lengths, ordered)


def check_text(data: bytearray, name: str, start: int = 0, stop: int | None = None) -> None:
    """Refuse what is not UTF-8 or contains a NUL byte, and name the line; limited to `start` and `stop` if given."""
    end = len(data) if stop is None else stop
    at, fault = data.find(b"\0", start, end), "a NUL byte, so this is not a text file. Check the file."
    block = data[start:end] if at < 0 else bytearray()
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError as error:
            at, fault = start + error.start, "bytes that are not UTF-8. Save the file as UTF-8."
    if at >= 0:
        raise at_line(data, at, name, fault)


def at_line(data: bytearray, at: int, name: str, fault: str) -> ReadError:
    """Return the error that names the line of an offset in a text."""
    line = data.count(b"\n", 0, at) + 1
    return ReadError(f"read: {name!r}, line {line}: {fault}")


def fault_of(label: str) -> str:
    """Return what is wrong with a label, or nothing."""
    if len(label) > LONGEST:
        return f"an item of more than {LONGEST} characters. Is the separator right?"
    if "\0" in label:
        return "an item with a NUL byte, which is not text. Check the file."
    return ""


def _as_sets(
    codes: NDArray[np.int32], number: NDArray[np.int32], lengths: NDArray[np.int64], labels: tuple[str, ...]
) -> Transactions:
    """Renumber, sort and deduplicate the words of each record, in place, and count the duplicates."""
    ends = np.cumsum(lengths)
    kept = np.zeros(lengths.size, np.int64)
    written = repeated = start = first = 0
    while first < lengths.size:
        last = max(first + 1, int(np.searchsorted(ends, start + SPAN, side="right")))
        stop = int(ends[last - 1])
        items = number[codes[start:stop]].astype(np.int64)
        records = np.repeat(np.arange(last - first, dtype=np.int64), lengths[first:last])
        keys = (records * len(labels) + items)[items >= 0]
        if (keys[1:] <= keys[:-1]).any():
            keys.sort()
            new = np.r_[True, keys[1:] != keys[:-1]]
            repeated += int(keys.size - np.count_nonzero(new))
            keys = keys[new]
        records, items = np.divmod(keys, max(1, len(labels)))
        kept[first:last] = np.bincount(records, minlength=last - first)
        codes[written : written + items.size] = items
        written, start, first = written + items.size, stop, last
    codes.resize(written, refcheck=False)
    del ends
    rows = np.flatnonzero(kept)
    indptr = np.zeros(rows.size + 1, np.int64)
    np.cumsum(kept[rows], out=indptr[1:])
    return Transactions(indptr, codes, labels, rows, int(lengths.size), repeated)


def from_records(records: Iterable[Any]) -> Transactions:
    """Convert Python records, iterables of str or int, to transactions.

    An integer stands for its text. None, as a record or an item, is ignored; a note says so of items.

    Examples
    --------
    >>> from_records([{"tea", "milk"}, [], [7, "tea"]]).records()
    [['milk', 'tea'], ['7', 'tea']]
    """
    known: dict[Any, int] = {}
    codes, lengths, missing = array("i"), array("q"), 0
    for row, record in enumerate(records, 1):
        if isinstance(record, str | bytes) or not (record is None or isinstance(record, Iterable)):
            raise ReadError(
                f"read: record {row} is {_kind(record)}; expected a list or another collection of items. "
                "Put the items of each record into a list."
            )
        whole = [] if record is None else list(record)
        items = items_of(whole, row)
        missing += len(whole) - len(items)
        codes.extend([known.setdefault(item, len(known)) for item in items])
        lengths.append(len(items))
    words = [str(item) for item in known]
    if any(SURROGATE.search(word) for word in words):
        raise ReadError("read: the records contain text that is not Unicode. Correct or leave out such items.")
    numbers = np.array(codes, np.int32)
    found = gathered(numbers, words, np.array(lengths, np.int64), "the records", "record")
    note = Sentence("{missing} items of the records were None and were left out", missing=Rows(missing))
    return replace(found, notes=(*found.notes, note)) if missing else found


def items_of(record: Iterable[Any], row: int) -> list[Any]:
    """Return the items of a record without None; refuse an item that is neither text nor an integer."""
    found = list(record)
    # One check for all items of a record. True and 1.0 equal 1, so types are compared, not values.
    if {type(item) for item in found} <= PLAIN:
        return found
    for item in found:
        if isinstance(item, bool) or not (item is None or isinstance(item, str | int | np.integer)):
            raise ReadError(
                f"read: record {row} holds an item that is {_kind(item)}; expected text or whole numbers. "
                "Turn the items into text first."
            )
    return [str(item) for item in found if item is not None]


def _kind(thing: Any) -> str:
    """Describe an object by its type, never by its value."""
    name = "text" if isinstance(thing, str) else type(thing).__name__
    return name if name == "text" else f"of type {name}"


def from_matrix(matrix: Any, labels: Iterable[Any] | None = None) -> Transactions:
    """Convert a dense or SciPy sparse matrix of shape (records, items) to transactions.

    A cell is 1 or True where the record has the item, 0 or False where not; a larger integer gives the number of times.
    There is one distinct label per column; without `labels`, columns are numbered from 0. Columns without an entry get
    no label in the result.

    Examples
    --------
    >>> from_matrix(np.array([[1, 0], [1, 1]]), ["tea", "milk"]).records()
    [['tea'], ['milk', 'tea']]
    """
    if getattr(matrix, "ndim", 2) != 2:
        raise ReadError(f"read: the matrix has {matrix.ndim} axes; expected records by items. Give a table of 0 and 1.")
    n, d = matrix.shape
    names = [str(label) for label in (range(d) if labels is None else labels)]
    if len(names) != d or len(set(names)) < d:
        raise ReadError(
            f"read: {counted(len(names), 'label')} ({len(set(names))} distinct) for a matrix of "
            f"{counted(d, 'column')}; expected a different label for each column."
        )
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        rows, columns, values = entries.row, entries.col, entries.data
    else:
        rows, columns = np.nonzero(matrix)
        values = np.asarray(matrix)[rows, columns]
    times = _whole_times(values)
    order = np.argsort(rows, kind="stable")
    order = order[times[order] > 0]
    lengths = np.bincount(rows[order], minlength=n).astype(np.int64)
    found = gathered(columns[order].astype(np.int32), names, lengths, "the matrix")
    return replace(found, repeated=found.repeated + int((times[order] - 1).sum()))


def _whole_times(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return how often each entry contains its item."""
    numbers = np.asarray(values)
    if numbers.dtype.kind in "biuf" and bool(
        np.all((numbers >= 0) & (numbers <= MOST_ITEMS) & (numbers == np.floor(numbers)))
    ):
        return numbers.astype(np.int64)
    raise ReadError(
        "read: the matrix has cells that are not integers of at least 0; expected 1 where the record has the item "
        "and 0 where not. Turn the cells into 0 and 1 first."
    )
