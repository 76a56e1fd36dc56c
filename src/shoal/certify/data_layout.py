"""Whether a Parquet or Feather file that another pyarrow wrote contains anything that no cell needs.

Bytes cannot be compared where versions compress differently. So the file is taken apart: every byte must belong to a
part that a released table has, there may be no metadata of any kind, row groups and batches are cut where shoal cuts
them, dictionaries have no entry that no row has, statistics are those of the cells, and there are zeros behind missing
cells. Then the cells are written again, and the skeletons of both files are compared: everything but the compressed
values, their offsets and the name of the library. The file may lack fields that this pyarrow writes, and may say that
the minimum and the maximum of its statistics are exact, as other versions do; nothing else. How values are compressed
inside a page or a buffer is not compared.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.errors import is_out_of_memory
from shoal.io import arrow_messages, parquet_pages
from shoal.io.data_file import BATCH, GROUP, write_table

NOTED = (b"ARROW:schema",)
EXACT = (7, 8)  # the fields of statistics that say whether maximum and minimum are exact
FAULTS = (pa.ArrowException, OSError, ValueError, KeyError, TypeError, OverflowError)


def unexpected_layout(path: Path, format: str, cells: pa.Table, maker: str) -> str:  # noqa: A002
    """Say what a file contains besides its cells; an empty string if there is nothing.

    `maker` is the version of pyarrow that wrote it, by the certificate.
    """
    if any(_is_odd(column.type) for column in cells.columns):
        return "a type that shoal does not write"
    if any(_has_unused(column) for column in cells.columns):
        return "unused categories"
    try:
        unexpected = _parquet(path, cells, maker) if format == "parquet" else _feather(path, cells)
        return unexpected or ("" if _same_skeleton(path, format, cells) else "other parts than this pyarrow writes")
    except FAULTS as problem:
        if is_out_of_memory(problem):
            raise MemoryError from None
        return "parts that cannot be identified"


def _same_skeleton(path: Path, format: str, cells: pa.Table) -> bool:  # noqa: A002
    """Write the cells again, and compare everything that is not compressed."""
    skeleton = parquet_pages.skeleton if format == "parquet" else arrow_messages.skeleton
    with TemporaryDirectory() as place:
        again = Path(place) / path.name
        with again.open("wb") as file:
            write_table(cells, file, format)
        return _within(skeleton(path), skeleton(again))


def _within(given: Any, ours: Any) -> bool:
    """Return whether a structure has nothing that the other lacks, except for exact statistics."""
    if isinstance(given, dict) and isinstance(ours, dict):
        known = all(_within(value, ours[key]) for key, value in given.items() if key in ours)
        return known and all(key in EXACT and value is True for key, value in given.items() if key not in ours)
    if isinstance(given, list) and isinstance(ours, list):
        return len(given) == len(ours) and all(map(_within, given, ours))
    return type(given) is type(ours) and bool(given == ours)


def _is_odd(kind: pa.DataType) -> bool:
    """Return whether cells of a type could contain more than they show."""
    types = pa.types
    odd = (types.is_string_view, types.is_binary_view, types.is_list_view, types.is_large_list_view, types.is_union)
    extended = isinstance(kind, pa.BaseExtensionType) or types.is_run_end_encoded(kind)
    inner = [kind.field(place).type for place in range(kind.num_fields)] if types.is_nested(kind) else []
    return extended or any(test(kind) for test in odd) or any(_is_odd(one) for one in inner)


def _has_unused(column: pa.ChunkedArray) -> bool:
    """Return whether a category is in no row, or duplicated."""
    if not pa.types.is_dictionary(column.type):
        return False
    every = {word for chunk in column.chunks for word in chunk.dictionary.to_pylist()}
    twice = any(len(chunk.dictionary.unique()) < len(chunk.dictionary) for chunk in column.chunks)
    return twice or every != set(column.cast(column.type.value_type).unique().drop_null().to_pylist())


def _noted(schema: pa.Schema) -> bool:
    """Return whether a schema or one of its fields carries metadata."""
    return bool(schema.metadata) or any(bool(field.metadata) for field in _fields(list(schema)))


def _fields(fields: list[pa.Field]) -> Iterator[pa.Field]:
    """Yield fields and those nested in them."""
    for field in fields:
        yield field
        if pa.types.is_nested(field.type):
            yield from _fields([field.type.field(place) for place in range(field.type.num_fields)])


def _cut(rows: int, most: int) -> list[int]:
    """Return the sizes of the parts of a table cut into at most `most` rows each."""
    return [min(most, rows - start) for start in range(0, rows, most)]


def _parquet(path: Path, cells: pa.Table, maker: str) -> str:
    """Inspect a Parquet file."""
    footer, file = parquet_pages.footer_of(path), pq.ParquetFile(path)
    if not parquet_pages.true_sizes(path):
        return "other sizes than those of its pages"
    if not set(footer.keys) <= set(NOTED) or len(footer.keys) > 1 or _noted(file.schema_arrow):
        return "metadata"
    if footer.maker != f"parquet-cpp-arrow version {maker}".encode():
        return "another library as its writer"
    if list(footer.rows) != _cut(cells.num_rows, GROUP):
        return "other row groups"
    if any(chunk.extras for chunk in footer.chunks) or not parquet_pages.nothing_between(path):
        return "bytes between the columns, or an index"
    width = len(footer.chunks) // max(1, len(footer.rows))
    for number, found in enumerate(footer.pages(path)):
        group, place = divmod(number, width)
        entries = sum(page.values for page in found if page.dictionary)
        if width == cells.num_columns:
            column = cells.column(place).slice(group * GROUP, GROUP)
            whole = cells.column(place) if pa.types.is_dictionary(column.type) else column
            if pa.types.is_nested(column.type):
                continue  # its values are compared with the skeleton that this pyarrow writes
            if entries > len(whole.unique().drop_null()):
                return "unused entries of a dictionary"
            if not _same_statistics(file.metadata.row_group(group).column(place).statistics, column):
                return "other statistics"
    return ""


def _same_statistics(given: Any, column: pa.ChunkedArray) -> bool:
    """Return whether statistics are those of the cells, for types that pyarrow converts to plain values."""
    if given is None:
        return True
    if given.distinct_count or (given.has_null_count and given.null_count != column.null_count):
        return False
    kind = column.type
    plain = pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind)
    if not given.has_min_max or not plain:
        return True
    ends = pc.min_max(column).as_py()
    return bool(given.min == ends["min"] and given.max == ends["max"])


def _feather(path: Path, cells: pa.Table) -> str:
    """Inspect a Feather file."""
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        schema = reader.schema
    start, noted = arrow_messages.footer_of(path)
    if noted or _noted(schema):
        return "metadata"
    if not arrow_messages.true_blocks(path):
        return "other sizes than those of its messages"
    found = list(arrow_messages.messages(path))
    if not all(message.tidy for message in found):
        return "metadata or bytes between the buffers"
    kinds = [message.kind for message in found]
    if kinds != [*sorted(kinds[:-1]), 0] or kinds.count(arrow_messages.SCHEMA) != 1:
        return "other messages"
    if [message.rows for message in found if message.kind == arrow_messages.BATCH] != _cut(cells.num_rows, BATCH):
        return "other batches"
    if found[-1].stop != start:
        return "bytes before the footer"
    if not all(_zeros_behind(chunk) for column in cells.columns for chunk in column.chunks):
        return "values behind missing cells"
    return ""


def _zeros_behind(array: pa.Array) -> bool:
    """Return whether there is nothing behind the missing cells of an array."""
    kind, gaps = array.type, pc.is_null(array).to_numpy(zero_copy_only=False)
    if pa.types.is_dictionary(kind):
        return _zeros_behind(array.indices)
    if pa.types.is_struct(kind):
        return all(_zeros_behind(array.field(place)) for place in range(kind.num_fields))
    if pa.types.is_nested(kind) and kind.num_fields == 1 and not pa.types.is_fixed_size_list(kind):
        lengths = np.diff(array.offsets.to_numpy())
        return not lengths[gaps].any() and int(lengths.sum()) == len(array.values) and _zeros_behind(array.values)
    if not gaps.any() or pa.types.is_null(kind):
        return True
    held = array.buffers()
    if len(held) == 3:
        wide = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
        ends = np.frombuffer(held[1], np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
        return not np.diff(ends)[gaps].any()
    if len(held) != 2 or held[1] is None:
        return False
    if kind.bit_width == 1:
        bits = np.unpackbits(np.frombuffer(held[1], np.uint8), bitorder="little")
        return not bits[array.offset : array.offset + len(array)][gaps].any()
    width = kind.bit_width // 8
    raw = np.frombuffer(held[1], np.uint8)[array.offset * width : (array.offset + len(array)) * width]
    return not raw.reshape(len(array), width)[gaps].any()
