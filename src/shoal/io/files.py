"""A path or a frame into a table.

1. A frame goes through `io.frames`.
2. A file's format is identified by its extension; if that is unknown, by its first bytes.
3. CSV is unpacked if it is gzipped and converted to UTF-8: a byte order mark identifies its encoding; without one it is
   UTF-8 if every byte fits, else Windows-1252, else Latin-1. The text goes through `io.csv_text`.
4. Parquet and Feather (Arrow) are read by pyarrow, with their types unchanged and without their metadata.

Files may be untrusted. What grows beyond `MOST_BYTES` in memory, or beyond `SURELY_FINE` and `MOST_GROWTH` times its
size, is refused: packed text while it is being unpacked, Parquet and Feather files by what their footers, page headers
and message headers claim, before anything is unpacked. Every buffer of such a file is checked before use. No message
quotes pyarrow, as its messages quote cells.
"""

import codecs
import datetime as dt
import gzip
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.catalogue import FormatCard, formats
from shoal.errors import MisfitError, ReadError, is_out_of_memory
from shoal.io.arrow_messages import messages
from shoal.io.csv_text import parse
from shoal.io.frames import from_frame
from shoal.io.parquet_pages import footer_of
from shoal.model.csv_style import CsvStyle
from shoal.model.policy import NULL_WORDS
from shoal.model.table import Origin, Table

MOST_BYTES = 8 << 30
MOST_GROWTH = 500
MOST_CELLS = 32  # cells that a byte of a Parquet or Feather file may stand for
SURELY_FINE = 1 << 28

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CHUNK = 1 << 20
FIRST_DAY, LAST_DAY = (day.toordinal() - dt.date(1970, 1, 1).toordinal() for day in (dt.date.min, dt.date.max))
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
FAULTS = (pa.ArrowException, OSError, ValueError, OverflowError)


def read(
    source: Any,
    null_words: Iterable[str] = NULL_WORDS,
    *,
    header: bool | None = None,
    as_text: bool = False,
    style: CsvStyle | None = None,
) -> Table:
    """Read a table from a file or a frame.

    Parameters
    ----------
    source : path or frame
        A CSV file (comma, semicolon, tab or bar; plain or gzipped), a Parquet file, a Feather or Arrow file, or a
        frame of pandas, polars or pyarrow, a two-dimensional array, a dict of columns or a list of dicts.
    null_words : iterable of str
        Unquoted words of a CSV file that mean a missing value. Quoted ones are text.
    header : bool, optional
        Whether the first line of a CSV file is a header. If not given, that must be clear from the file; a file without
        a header gets the names column_1, column_2 and so on.
    as_text : bool
        Whether the cells of a CSV file stay the text that they are.
    style : CsvStyle, optional
        How a CSV file is written, if that is known, as of a released file; else it is detected.

    Returns
    -------
    Table
        Its `origin` has the file's name without folders, its format and, for CSV, its style and notes on it.

    Raises
    ------
    ReadError
        If there is no such file, or it is not a complete table: the message says where, and quotes no cell.

    Notes
    -----
    A type of a CSV column must fit all its cells: whole numbers stay whole though some are missing, and text
    stays text though most of it looks like numbers. Numbers with a leading zero or plus and whole
    numbers of 16 digits or more that do not fit 64 bits are text. Blank lines of a CSV file are skipped, so in a
    file of one column an empty line is not a missing value.
    """
    if not isinstance(source, str | os.PathLike):
        return _checked(from_frame(source), Origin(frame=source), "the frame")
    path = Path(source)
    with opened(path) as file:
        start = file.read(8)
        kind = format_of(path, start)
        file.seek(0)
        origin = Origin(path.name, kind)
        card = formats.load(kind)
        if card.read is None:
            words = (null_words,) if isinstance(null_words, str) else tuple(null_words)
            text = unpacked(file, path.name, kind)
            marked = any(text.startswith(mark) for mark, _ in MARKS)
            encoding = _to_utf8(text, path.name)
            data, notes, found = parse(text, path.name, words, header=header, as_text=as_text, style=style)
            found = found.model_copy(update={"mark": marked})
            origin = Origin(path.name, kind, None, (f"encoding {encoding}", *notes), found)
        else:
            data = read_typed(card.read, path, card.called)
    return _checked(data, origin, repr(path.name))


def _checked(data: pa.Table, origin: Origin, called: str) -> Table:
    """Wrap the table, unless it has no columns, no rows, or dates that Python cannot represent."""
    if not data.num_columns:
        raise ReadError(f"read: {called} has no columns. Check where it comes from.")
    if not data.num_rows:
        raise ReadError(f"read: {called} has no rows. Check where it comes from.")
    table = Table.of(data, origin)
    for name in table.names:
        if not _within_calendar(table.column(name)):
            raise ReadError(
                f"read: {called}, column {name!r}: a date lies outside the years 1 to 9999. "
                "Correct or empty such cells."
            )
    return table


def _within_calendar(column: pa.ChunkedArray) -> bool:
    """Return whether Python can represent all dates of a column; time zones may shift them by a day."""
    kind = column.type
    if pa.types.is_date(kind):
        day, margin = (1 if pa.types.is_date32(kind) else 86_400_000), 0
        column = column.cast(pa.int32() if day == 1 else pa.int64())
    elif pa.types.is_timestamp(kind):
        day, margin = 86_400 * UNITS[kind.unit], int(kind.tz is not None)
        column = column.cast(pa.int64())
    else:
        return True
    ends = pc.min_max(column).as_py()
    if ends["min"] is None:
        return True
    return bool((FIRST_DAY + margin) * day <= ends["min"] and ends["max"] < (LAST_DAY + 1 - margin) * day)


def opened(path: Path, expected: str = "a CSV, Parquet or Feather file") -> IO[bytes]:
    """Open a regular file, or say why that is not possible, and what was expected."""
    advice = "Check the path."
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return path.open("rb")
        reason = "is a folder"
        if not stat.S_ISDIR(mode):
            reason, advice = "is not a regular file", "Pipes and devices are not read: save the table as a file first."
    except FileNotFoundError:
        reason = "does not exist"
        if str(path) == "-":
            advice = "Standard input cannot be read: save the table as a file first."
        elif re.match("[a-z][a-z0-9+.]+:/", str(path)):
            advice = "Addresses are not opened: download the file first."
    except PermissionError:
        reason = "cannot be read with your permissions"
    except (OSError, ValueError):
        reason = "cannot be opened"
    raise ReadError(f"read: {str(path)!r} {reason}; expected {expected}. {advice}")


def format_at(path: Path) -> str:
    """Identify the format of a file without reading its rows."""
    with opened(path) as file:
        return format_of(path, file.read(64))


def format_of(path: Path, start: bytes) -> str:
    """Identify the format by the file's extension, else by its first bytes; the two must agree."""
    if not start:
        raise ReadError(f"read: {path.name!r} is empty; expected a header line and rows. Check the file.")
    cards = sorted(formats.cards().values(), key=lambda card: not card.built_in)  # a plug-in takes no file from shoal
    named = _named(path)
    if named is None:
        return next((card.name for card in cards if card.magic and start.startswith(card.magic)), "csv")
    if named.name == "csv" and start.startswith(formats.load("csv.gz").magic):
        return "csv.gz"
    if not start.startswith(named.magic):
        raise ReadError(
            f"read: {path.name!r} is not a {named.called} file. Check that it is complete and that its name is right."
        )
    return named.name


def _named(path: Path) -> FormatCard | None:
    """Return the format whose ending a file name has, the longest one; if several have it, a built-in one."""
    found = [
        (len(ending), name in formats.built_in, name)
        for name, card in formats.cards().items()
        for ending in (*card.endings, f".{name}")
        if path.name.lower().endswith(ending)
    ]
    return formats.load(max(found)[2]) if found else None


def read_typed(reader: Callable[[Path], pa.Table], path: Path, called: str) -> pa.Table:
    """Read a file whose cells have types; error messages of plug-ins are not shown."""
    try:
        return reader(path)
    except (ReadError, MisfitError):  # written for users, so they quote no cell
        raise
    except FAULTS as problem:
        if is_out_of_memory(problem):
            raise MemoryError from None
        raise ReadError(f"read: {path.name!r} cannot be read as a {called} file.") from None


def unpacked(file: IO[bytes], name: str, kind: str) -> bytearray:
    """Return the bytes of a text file, unpacked, unless they are too many."""
    data = bytearray()
    stream: IO[bytes] = file
    if kind == "csv.gz":
        stream = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
    try:
        while chunk := stream.read(CHUNK):
            data += chunk
            if len(data) > MOST_BYTES or (len(data) > SURELY_FINE and len(data) > MOST_GROWTH * file.tell()):
                break
        else:
            return data
    except (EOFError, OSError, zlib.error):
        data.clear()
    if not data:
        raise ReadError(f"read: {name!r} is damaged or truncated. Obtain it again.")
    raise _too_large(name)


def _to_utf8(data: bytearray, name: str) -> str:
    """Convert the bytes to UTF-8 without a byte order mark, in place, and return their former encoding."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            del data[: len(mark)]
            if not _recoded(data, encoding):
                raise ReadError(f"read: {name!r} is marked as {encoding} but is not. Save it as UTF-8.")
            break
    else:
        encoding = next(word for word in ("utf-8", "cp1252", "latin-1") if _recoded(data, word))
    # Whatever Latin-1 had to take may be anything: text has no control characters but line ends, tabs and page ends.
    unexpected = rb"\x00" if encoding.startswith("utf") else rb"[\x00-\x08\x0e-\x1f]"
    if re.search(unexpected, data):
        raise ReadError(
            f"read: {name!r} is not a text file; expected CSV, Parquet or Feather. Export the table as one of these."
        )
    return encoding


def _recoded(data: bytearray, encoding: str) -> bool:
    """Convert the bytes from this encoding to UTF-8 in place; return False and leave them if they do not fit."""
    if encoding in ("utf-8", "cp1252", "latin-1") and data.isascii():
        return True
    decoder = codecs.getincrementaldecoder(encoding)()
    keep = encoding == "utf-8"
    recoded = bytearray()
    try:
        for start in range(0, len(data), CHUNK):
            text = decoder.decode(data[start : start + CHUNK], start + CHUNK >= len(data))
            if not keep:
                recoded += text.encode()
    except UnicodeDecodeError:
        return False
    if not keep:
        data[:] = recoded
    return True


def _too_large(name: str) -> ReadError:
    """Return the error for a file that contains, or claims to contain, more than fits in memory."""
    return ReadError(
        f"read: {name!r} unpacks to more than {MOST_BYTES >> 30} GiB, to more than {MOST_GROWTH} times its size, or to "
        f"more than {MOST_CELLS} cells per byte. Give a smaller table or, if you trust the file, convert it to CSV."
    )


def typed_columns(path: Path, kind: str) -> pa.Table:
    """Read a Parquet or Feather file and validate all its buffers."""
    try:
        table, fits = _parquet(path) if kind == "parquet" else _feather(path)
    except FAULTS as problem:
        if is_out_of_memory(problem):
            raise MemoryError from None
        table, fits = None, True
    if not fits:
        raise _too_large(path.name)
    if table is None:
        raise ReadError(
            f"read: {path.name!r} is damaged or truncated, or of a kind that shoal cannot read. Obtain it again."
        )
    return from_frame(table)


def _expands_too_much(path: Path, unpacked: int, cells: int = 0) -> bool:
    """Return whether a file of this unpacked size and number of cells is too large for memory."""
    size = path.stat().st_size
    most, many = max(SURELY_FINE, MOST_GROWTH * size), max(SURELY_FINE // 8, MOST_CELLS * size)
    return max(unpacked, 8 * cells) > MOST_BYTES or unpacked > most or cells > many


def _parquet(path: Path) -> tuple[pa.Table | None, bool]:
    """Return a Parquet file's table and whether it fits in memory."""
    footer = footer_of(path)
    if _expands_too_much(path, 0, max(sum(footer.rows), sum(chunk.values for chunk in footer.chunks))):
        return None, False
    unpacked, cells = 0, 0
    for chunk in footer.pages(path):
        unpacked += sum(page.unpacked for page in chunk)
        cells += sum(page.values for page in chunk)
        if _expands_too_much(path, unpacked, cells):
            return None, False
    plain = pq.ParquetFile(path)
    schema = plain.schema_arrow
    texts = [field.name for field in schema if _is_text(field.type)]
    try:
        # Dictionary-encoded, so that the size of the text is known before it is expanded: a page of one long word may
        # stand for a million copies.
        table = pq.ParquetFile(path, read_dictionary=texts).read()
    except (pa.ArrowException, OSError) as problem:
        if is_out_of_memory(problem):
            raise MemoryError from None
        # Some encodings cannot be read so. The file is not asked which it has: a false footer would crash Python.
        table = plain.read()
    table.validate(full=True)
    if _expands_too_much(path, sum(_unfolded(column) for column in table.columns)) or table.nbytes > MOST_BYTES:
        return None, False
    return table.cast(schema), True


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text or bytes of any length."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _unfolded(column: pa.ChunkedArray) -> int:
    """Return the bytes that the text of a dictionary column takes when each row has its own copy."""
    if not pa.types.is_dictionary(column.type) or not _is_text(column.type.value_type):
        return 0
    lengths = (pc.binary_length(chunk.dictionary).take(chunk.indices) for chunk in column.chunks)
    return sum(pc.sum(each).as_py() or 0 for each in lengths)


def _feather(path: Path) -> tuple[pa.Table | None, bool]:
    """Return a Feather file's table and whether it fits in memory, batch by batch."""
    batches = []
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        unpacked, cells = 0, 0
        for message in messages(path):
            unpacked, cells = unpacked + message.unpacked, cells + max(message.rows, message.values)
            if _expands_too_much(path, unpacked, cells):
                return None, False
        for number in range(reader.num_record_batches):
            batch = reader.get_batch(number)
            # Before any offset or index is followed: even `nbytes` crashes on a false one.
            batch.validate(full=True)
            batches.append(batch)
        table = pa.Table.from_batches(batches, reader.schema)
    return table, not _expands_too_much(path, sum(_unfolded(column) for column in table.columns))
