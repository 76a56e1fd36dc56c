"""Write a released table: equal values always give equal bytes, without any metadata.

The memory layout of a table makes no difference: Parquet files have row groups of `GROUP` rows and Feather files
batches of `BATCH`, cells are rebuilt before they are written, and categories are those that occur. So reading a file
and writing it again gives the same bytes, which is how `certify` establishes that it contains nothing else.

CSV is written here and not by a library, because three things must be controlled: a text cell that a spreadsheet would
run as a formula (it starts with = + - @, a tab or a carriage return) gets an apostrophe in front, and so does a text
cell that starts with an apostrophe, so that one can be removed again; text that would be read back as a missing value
is quoted; a float keeps its decimal point.

A `CsvStyle` gives separator, decimal sign and byte order mark. Text with any of the possible separators is quoted in
every style, except for text like 1,5 where numbers have decimal commas: there it is written as the number is, as 1.5 is
elsewhere. So how a cell is written follows from its text alone, and a verifier need not know its type.
"""

import gzip
import hashlib
import io
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.catalogue import formats
from shoal.errors import WriteError
from shoal.model.csv_style import MARK, STANDARD, CsvStyle
from shoal.model.policy import NULL_WORDS
from shoal.model.table import type_name

SLICE = 65_536  # rows turned into text at a time
GROUP = 1 << 20  # rows of a row group
BATCH = 1 << 16  # rows of a batch
COMMA = r"^-?[0-9]+,[0-9]+([eE][+-]?[0-9]+)?$"


def write_data(table: pa.Table, folder: Path, format: str, style: CsvStyle = STANDARD) -> str:  # noqa: A002
    """Write a table, in this row order, as `data` with the extension of a catalogued format; return the file name."""
    path = folder / f"data.{format}"
    with path.open("wb") as file:
        write_table(table, file, format, style)
    return path.name


def digest_of(table: pa.Table, format: str, style: CsvStyle = STANDARD) -> str:  # noqa: A002
    """Return the SHA-256 of the file that `write_data` would write, without touching the disk.

    Examples
    --------
    >>> digest_of(pa.table({"age": [40, 41]}), "csv")[:16]
    'fef3bb99acdc5d87'
    """
    sink = _Digest()
    write_table(table, cast(BinaryIO, sink), format, style)
    return sink.sha256.hexdigest()


class _Digest(io.RawIOBase):
    """A file that keeps only the digest of what is written to it."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        """Return True: the file can be written to."""
        return True

    def write(self, part: Any) -> int:
        """Add bytes to the digest."""
        self.sha256.update(part)
        self.size += len(part)
        return len(part)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self.size


def write_table(table: pa.Table, file: BinaryIO, format: str, style: CsvStyle = STANDARD) -> None:  # noqa: A002
    """Write a table in one of the formats into an open file; only CSV files have a style of their own."""
    plain = pa.table([_clean(column) for column in table.columns], names=table.column_names)
    card, more = formats.load(format), () if style == STANDARD else (style,)
    card.function(as_text(plain) if card.text and format not in formats.built_in else plain, file, *more)


def packing(file: Any) -> gzip.GzipFile:
    """Return a gzip file on top of another file, without a name or a time."""
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def _clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the same cells rebuilt: an original value could hide behind a missing cell or in metadata."""
    kind = column.type
    if pa.types.is_nested(kind):
        return pa.chunked_array([pa.array([_one_nan(cell) for cell in column.to_pylist()], _bare(kind))])
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return column.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    if pa.types.is_dictionary(kind):
        return _occurring(column)
    if pa.types.is_floating(kind):
        column = _same_nan(column)
    # Taking writes zeros behind missing cells, whatever stood there before.
    return column.take(pa.array(np.arange(len(column))))


def _same_nan(column: Any) -> Any:
    """Return floats in which every NaN has the same bits."""
    gaps = pc.is_nan(column)
    return pc.if_else(gaps, pa.scalar(math.nan, column.type), column) if pc.any(gaps).as_py() else column


def _one_nan(cell: Any) -> Any:
    """Return a nested cell in which every NaN has the same bits."""
    if isinstance(cell, dict):
        return {key: _one_nan(value) for key, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [_one_nan(value) for value in cell] if isinstance(cell, list) else tuple(map(_one_nan, cell))
    return math.nan if isinstance(cell, float) and math.isnan(cell) else cell


def _occurring(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a categorical column with only the categories that occur, in their order."""
    kind = column.type
    cells = column.cast(kind.value_type)
    every = pa.concat_arrays([chunk.dictionary for chunk in column.chunks]) if column.num_chunks else cells
    if pa.types.is_floating(kind.value_type):
        cells, every = _same_nan(cells), _same_nan(every)
    used = cells.unique().drop_null()
    levels = every.unique().filter(pc.is_in(every.unique(), value_set=used)).drop_null()
    codes = pc.index_in(cells, value_set=levels)
    codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, levels, ordered=kind.ordered)])


def storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that survives Parquet, which has no seconds and only text as categories."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return column.cast(pa.timestamp("ms", kind.tz))
    if pa.types.is_time32(kind):
        return column.cast(pa.time32("ms"))
    if pa.types.is_date64(kind):
        return column.cast(pa.date32())
    if pa.types.is_dictionary(kind) and not pa.types.is_string(kind.value_type):
        text = pa.types.is_large_string(kind.value_type)
        return column.cast(pa.dictionary(pa.int32(), pa.string(), kind.ordered) if text else kind.value_type)
    return column


def _bare(kind: pa.DataType) -> pa.DataType:
    """Return a nested type without the metadata of its fields, and with plain values for categories."""
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _bare(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_bare(kind.key_type), _bare(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_bare(kind.value_type), kind.list_size)
    if pa.types.is_nested(kind) and kind.num_fields == 1:
        return (
            pa.large_list(_bare(kind.value_type)) if pa.types.is_large_list(kind) else pa.list_(_bare(kind.value_type))
        )
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def csv_header(names: Iterable[str], style: CsvStyle = STANDARD) -> bytes:
    """Return the first line of a CSV file with these columns, after its byte order mark if it has one."""
    words = _quoted(_escaped(pa.array(list(names), pa.string())), style).to_pylist()
    return (MARK if style.mark else b"") + (style.separator.join(words) + "\n").encode()


def csv_gap(columns: int) -> str:
    """Return the text of a missing cell in a CSV file with this many columns."""
    return "" if columns > 1 else "NA"


def write_text(table: pa.Table, file: Any, format: str = "csv", style: CsvStyle = STANDARD) -> None:  # noqa: A002
    """Write the text cells of a file, CSV or of a plug-in, apostrophes included, as `write_data` had written them."""
    if format in formats.built_in:
        write_csv(table, file, style, _quoted)
    else:
        guarded = _escaped(pa.array(table.column_names, pa.string())).to_pylist()
        formats.load(format).function(table.rename_columns(guarded), file)


def as_text(table: pa.Table) -> pa.Table:
    """Return a table as the text formats of plug-ins get it: the text of names and cells, as in a CSV file."""
    parts = [table.slice(start, SLICE).columns for start in range(0, max(1, table.num_rows), SLICE)]
    columns = [
        pa.chunked_array([_spelled(part.combine_chunks(), STANDARD)[0].cast(pa.string()) for part in column])
        for column in zip(*parts, strict=True)
    ]
    return pa.table(columns, names=_escaped(pa.array(table.column_names, pa.string())).to_pylist())


def write_csv(
    table: pa.Table,
    file: Any,
    style: CsvStyle = STANDARD,
    spell: Callable[[pa.Array, CsvStyle], pa.Array] | None = None,
) -> None:
    """Write header and rows, a slice of rows at a time."""
    gap = csv_gap(table.num_columns)
    file.write(csv_header(table.column_names, style))
    for start in range(0, table.num_rows, SLICE):
        part = table.slice(start, SLICE)
        cells = [(spell or _cells)(column.combine_chunks(), style) for column in part.columns]
        lines = pc.binary_join_element_wise(*cells, style.separator, null_handling="replace", null_replacement=gap)
        file.write(("\n".join(lines.to_pylist()) + "\n").encode())


def _cells(column: pa.Array, style: CsvStyle) -> pa.Array:
    """Return the text of each cell as it appears in the file; missing cells stay missing."""
    text, plain = _spelled(column, style)
    return text if plain else _quoted(text, style)


def _spelled(column: pa.Array, style: CsvStyle) -> tuple[pa.Array, bool]:
    """Return the text of each cell before quoting, and whether it never needs quotes."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind):
        column = pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()], pa.string())
        return _escaped(column), False
    try:
        text = column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise WriteError(
            f"write: cells of type {type_name(kind)} cannot be written to a CSV file. Choose parquet."
        ) from None
    if pa.types.is_floating(kind):
        whole = pc.match_substring_regex(text, r"^-?[0-9]+$")
        text = pc.if_else(whole, pc.binary_join_element_wise(text, ".0", ""), text)
    if style.decimal != "." and (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return pc.replace_substring(text, ".", style.decimal), True
    if pa.types.is_timestamp(kind):
        return pc.replace_substring_regex(text, r"\.0+(Z?)$", r"\1"), True
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    plain = numbers or pa.types.is_boolean(kind) or pa.types.is_date(kind)
    return (text, True) if plain else (_escaped(text), False)


def _escaped(text: pa.Array) -> pa.Array:
    """Put an apostrophe before text that a spreadsheet would run."""
    return pc.if_else(
        pc.match_substring_regex(text, r"^['=+\-@\t\r]"), pc.binary_join_element_wise("'", text, ""), text
    )


def _quoted(text: pa.Array, style: CsvStyle) -> pa.Array:
    """Quote text that would otherwise be read as something else."""
    word = pc.is_in(text, value_set=pa.array(NULL_WORDS))
    special = pc.match_substring_regex(text, r"[\",;|\t\r\n]|^\s|\s$|^\x{FEFF}")
    if style.decimal == ",":
        special = pc.and_(special, pc.invert(pc.match_substring_regex(text, COMMA)))
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(pc.or_(word, special), pc.binary_join_element_wise('"', doubled, '"', ""), text)
