"""CSV text into an Arrow table with inferred column types.

1. Delimiter: of comma, semicolon, tab and bar, the one that splits the first records into the most consistent numbers
   of cells. Delimiters within quotes do not count. A file of one column is valid.
2. Cells: pyarrow reads them all as text. Unquoted words for missing values become missing, also with spaces around
   them; quoted ones stay text.
3. Types: `csv_types` finds the first type that fits every cell of a column.
4. Header: `csv_header` decides whether the first line is one, unless the caller says so. Without a header, columns are
   called column_1, column_2 and so on.
5. Faults: pyarrow's own messages quote cells and give no line numbers, so where it refuses a file, the records are
   scanned once more, slowly, to find the line.

Blank lines are skipped. In a file of one column an empty line is therefore not a missing value: write "NA" or "?".
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from shoal.errors import ReadError, is_out_of_memory
from shoal.io.csv_header import header_doubt
from shoal.io.csv_types import BLANKS, COMMAS, typed_together
from shoal.model.asking import option
from shoal.model.csv_style import CsvStyle

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
CHUNK = 1 << 22
LARGEST_BLOCK = (1 << 31) - 1
# Appended to the text: if the last row is exactly this, no quote was left open before it.
SEAL = "end of text"


def _header_hint() -> str:
    """Say how to tell whether the first line is a header."""
    names, row = option("header", True), option("header", False)
    return f"Say whether it holds the names of the columns ({names}) or is a row ({row})."


class Parsed(NamedTuple):
    """The table of a CSV file, notes on how it is written, and its style without the byte order mark."""

    table: pa.Table
    notes: tuple[str, ...]
    style: CsvStyle


class _Record(NamedTuple):
    """The position of a record: first and last physical line, number of cells, offsets, line of an unclosed quote."""

    first: int
    last: int
    cells: int
    start: int
    end: int
    unclosed: int


def parse(
    data: bytearray,
    name: str,
    null_words: tuple[str, ...],
    *,
    header: bool | None = None,
    as_text: bool = False,
    style: CsvStyle | None = None,
) -> Parsed:
    r"""Read the text of a CSV file; return the table and notes on its delimiter, decimal commas and dates with dots.

    `data` is UTF-8 without a byte order mark, and is consumed. `name` is the file's name in messages. `null_words` are
    the unquoted words that mean a missing value. If `header` is None, the first line must certainly be a header. With
    `as_text`, cells keep their text. `style` is that of the file if it is known; else it is detected.

    Examples
    --------
    >>> found = parse(bytearray(b"age;zip\n39;01067\n50;\n"), "people.csv", ("",))
    >>> found.table.to_pydict(), found.notes
    ({'age': [39, 50], 'zip': ['01067', None]}, ('delimiter semicolon',))
    """
    delimiter = _delimiter(data) if style is None else style.separator
    first = next(_records(data, delimiter, 0, len(data)), None)
    if first is None:
        raise ReadError(f"read: {name!r} is empty; expected a header line and rows. Check the file.")
    names = _numbered(first, name) if header is False else _names(data, delimiter, first, name)
    if header is not False and next(_records(data, delimiter, first.end, len(data)), None) is None:
        raise ReadError(f"read: {name!r} has a header but no rows. Check the file.")
    cells = _cells(data, delimiter, first, names, name, null_words, header=header is not False)
    decimal = "" if style is None else style.decimal
    found = typed_together(cells.columns, empty_is_gap="" in null_words, commas=delimiter != ",", decimal=decimal)
    columns = [column for column, _ in found]
    if header is None and (doubt := header_doubt(names, columns, null_words)):
        raise ReadError(f"read: {name!r}, line 1: it is not clear whether this is a header: {doubt}. {_header_hint()}")
    notes = [f"{note} in column {word!r}" for word, (_, note) in zip(names, found, strict=True) if note]
    if header is False:
        notes.append(f"column names {names[0]} to {names[-1]}, as the file has no header")
    commas = any(note == COMMAS for _, note in found)
    return Parsed(
        pa.table(cells.columns if as_text else columns, names=names),
        (f"delimiter {DELIMITERS[delimiter]}", *notes),
        style or CsvStyle.model_validate({"separator": delimiter, "decimal": "," if commas else "."}),
    )


def _records(data: bytes | bytearray, delimiter: str, at: int, stop: int) -> Iterator[_Record]:
    """Yield the records between two offsets, counting lines from the first; blank lines are skipped."""
    separator = re.escape(delimiter.encode())
    plain = re.compile(rb'[^"\r\n]*+(?:\r\n|\r|\n|\Z)')
    cell = re.compile(rb'(?:"(?:[^"]++|"")*+("?))?[^' + separator + rb"\r\n]*+(" + separator + rb"|\r\n|\r|\n|\Z)")
    line = 1
    while at < stop:
        start, cells, unclosed = at, 1, 0
        if found := plain.match(data, at, stop):
            cells += data.count(delimiter.encode(), at, found.end())
            at = found.end()
        else:
            while (found := cell.match(data, at, stop)) is not None:
                if found[1] == b"":
                    unclosed = line + _line_ends(data, start, at)
                at = found.end()
                if found[2] != delimiter.encode():
                    break
                cells += 1
        ends = _line_ends(data, start, at)
        ended = data[at - 1] in b"\r\n" and not unclosed
        if data[start] not in b"\r\n":
            yield _Record(line, line + ends - ended, cells, start, at, unclosed)
        line += ends


def _line_ends(data: bytes | bytearray, start: int, stop: int) -> int:
    """Count the physical lines that end between two offsets."""
    return data.count(b"\n", start, stop) + data.count(b"\r", start, stop) - data.count(b"\r\n", start, stop)


def _delimiter(data: bytearray) -> str:
    """Return the delimiter that most of the first records agree on, or the one that gives most cells."""
    sample = bytes(data[: 1 << 20])
    best, found = (0.0, 1), ","
    for delimiter in DELIMITERS:
        records = list(islice(_records(sample, delimiter, 0, len(sample)), 50))
        if len(records) > 1 and records[-1].end == len(sample) < len(data):
            records.pop()
        if records and records[0].cells > 1:
            agreeing = sum(record.cells == records[0].cells for record in records) / len(records)
            if (agreeing, records[0].cells) > best:
                best, found = (agreeing, records[0].cells), delimiter
    return found


def _numbered(first: _Record, name: str) -> list[str]:
    """Return names for the columns of a file that has none."""
    if first.unclosed:
        raise _open_quote(name, first.unclosed)
    return [f"column_{position}" for position in range(1, first.cells + 1)]


def _names(data: bytearray, delimiter: str, header: _Record, name: str) -> list[str]:
    """Return the column names; messages give positions, as the first line of a file without a header is a person."""
    if header.unclosed:
        raise _open_quote(name, header.unclosed)
    separator = re.escape(delimiter.encode())
    cell = re.compile(rb'(?:"((?:[^"]++|"")*+)")?([^' + separator + rb"\r\n]*+)")
    names, at = [], header.start
    for _ in range(header.cells):
        found = cell.match(data, at, header.end)
        quoted, rest = found.groups(b"") if found else (b"", b"")
        names.append((quoted.replace(b'""', b'"') + rest).decode().strip())
        at = (found.end() if found else at) + 1
    firsts: dict[str, int] = {}
    for position, word in enumerate(names, 1):
        if not word:
            raise ReadError(
                f"read: {name!r}: column {position} of {len(names)} has no name in the header. "
                f"Name every column, or say so if the first line is a row ({option('header', False)})."
            )
        if (first := firsts.setdefault(word, position)) < position:
            raise ReadError(
                f"read: {name!r}: columns {first} and {position} have the same name in the header. "
                f"Rename one, or say so if the first line is a row ({option('header', False)})."
            )
    return names


def _cells(
    data: bytearray,
    delimiter: str,
    first: _Record,
    names: list[str],
    name: str,
    null_words: tuple[str, ...],
    *,
    header: bool,
) -> pa.Table:
    """Return all cells as text or missing, or raise the error that names the faulty line."""
    stop = len(data)
    quotes = b'"' in data
    if quotes:
        data += b"\n" + delimiter.join([SEAL] * len(names)).encode()
    body = pa.py_buffer(data).slice(first.end if header else first.start)

    def attempt(words: list[str], block: int = CHUNK) -> pa.Table | None:
        keys = [str(position) for position in range(len(names))]
        try:
            table = csv.read_csv(
                pa.BufferReader(body),
                csv.ReadOptions(column_names=keys, block_size=block),
                csv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes),
                csv.ConvertOptions(
                    check_utf8=False,
                    column_types=dict.fromkeys(keys, pa.string()),
                    null_values=words,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except pa.ArrowException as problem:
            if is_out_of_memory(problem):
                raise MemoryError from None
            return None
        if not quotes:
            return table
        last = table.slice(table.num_rows - 1).to_pylist()
        return table.slice(0, table.num_rows - 1) if set(last[0].values()) == {SEAL} else None

    words = [*null_words, *(" " + word for word in null_words)]
    block = CHUNK
    table = attempt(words)
    if table is None:
        _raise_fault(data, delimiter, names, name, stop, "the header" if header else "the first line")
        block = min(len(data) + 1, LARGEST_BLOCK)
        table = attempt(words, block)
    if table is not None and (padded := _padded(table, null_words) - set(words)):
        # Only pyarrow knows which cells were quoted, so it reads again with every spelling that occurs.
        table = attempt([*words, *sorted(padded)], block)
    if table is None:
        raise ReadError(f"read: {name!r} cannot be read as CSV. Save it again as UTF-8 with comma and double quotes.")
    return table


def _padded(table: pa.Table, null_words: tuple[str, ...]) -> set[str]:
    """Return the cells that are a word for a missing value surrounded by spaces."""
    found: set[str] = set()
    words = pa.array(null_words, pa.string())
    for column in table.columns:
        trimmed = pc.ascii_trim(column, characters=BLANKS)
        differs = pc.not_equal(trimmed, column)
        if pc.any(differs).as_py():
            found.update(column.filter(pc.and_(differs, pc.is_in(trimmed, words))).unique().to_pylist())
    return found


def _raise_fault(data: bytearray, delimiter: str, names: list[str], name: str, stop: int, above: str) -> None:
    """Raise the error for the first record with the wrong number of cells or an open quote; return if there is none."""
    for record in _records(data, delimiter, 0, stop):
        if record.unclosed:
            raise _open_quote(name, record.unclosed)
        if record.cells != len(names):
            cells = "1 cell" if record.cells == 1 else f"{record.cells} cells"
            # No names here: it is not known yet whether the first line holds them.
            lacking = f"; column {record.cells + 1} is the first without one" if record.cells < len(names) else ""
            runs = f" It runs to line {record.last}: is a quote left open?" if record.last > record.first else ""
            raise ReadError(
                f"read: {name!r}, line {record.first}: {cells} where {above} has {len(names)}{lacking}. "
                f"Correct that line.{runs}"
            )


def _open_quote(name: str, line: int) -> ReadError:
    """Return the error for a quote that is never closed."""
    return ReadError(f"read: {name!r}, line {line}: a quote opens here and is never closed. Correct that line.")
