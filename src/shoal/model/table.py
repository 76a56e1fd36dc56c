"""A table: rows and named columns as read, and where they came from."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.csv_style import STANDARD, CsvStyle


@dataclass(frozen=True)
class Origin:
    """Where a table came from, so that its release can be written in the same form."""

    name: str = "frame"  # in messages: a file's name, or "frame"
    format: str = "frame"
    frame: Any = field(default=None, repr=False)  # the caller's own frame, whose types are restored
    notes: tuple[str, ...] = ()  # found while reading: encoding, delimiter
    csv: CsvStyle = STANDARD


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and columns in one Arrow table, and the input row of each.

    Categories are stored as plain values, NaN as a missing value and -0.0 as 0.0. `levels` has the order of the columns
    that were ordered categories, and `categorical` the names of all that were categories.
    """

    data: pa.Table
    rows: NDArray[np.int64]
    origin: Origin = Origin()
    categorical: frozenset[str] = frozenset()
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, data: pa.Table, origin: Origin | None = None) -> "Table":
        """Wrap an Arrow table with its cells normalized."""
        categorical, levels, columns = set(), {}, {}
        for name in data.column_names:
            column = data.column(name)
            if pa.types.is_dictionary(column.type):
                categorical.add(name)
                if column.type.ordered:
                    dictionary = column.unify_dictionaries().chunk(0).dictionary
                    levels[name] = tuple(dictionary.cast(pa.string()).to_pylist())
                column = column.cast(column.type.value_type)
            columns[name] = _plain(column)
        plain = pa.table(columns)
        rows = np.arange(data.num_rows, dtype=np.int64)
        return cls(plain, rows, origin or Origin(), frozenset(categorical), levels)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.data.num_rows)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.data.column_names)

    def column(self, name: str) -> pa.ChunkedArray:
        """Return one column."""
        return self.data.column(name)

    def missing(self, name: str) -> NDArray[np.bool_]:
        """Return which cells of a column are missing."""
        return np.asarray(pc.is_null(self.column(name)).to_numpy(), dtype=bool)

    def take(self, positions: NDArray[np.int64]) -> "Table":
        """Return the rows at these positions, in this order."""
        return replace(self, data=self.data.take(pa.array(positions)), rows=self.rows[positions])

    def with_data(self, data: pa.Table) -> "Table":
        """Return the same rows with other columns."""
        return replace(self, data=data)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Make NaN a missing value, and -0.0 plain zero."""
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type):
        gap = pa.scalar(None, column.type)
        column = pc.if_else(pc.is_nan(column), gap, pc.add(column, pa.scalar(0.0, column.type)))
    elif pa.types.is_null(column.type):
        column = column.cast(pa.string())
    elif pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return column


def is_list(kind: pa.DataType) -> bool:
    """Return whether a type is a list, in any layout."""
    types = pa.types
    views = types.is_list_view(kind) or types.is_large_list_view(kind)
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind) or views)


def type_name(kind: pa.DataType) -> str:
    """Return the name of a type without the names of its fields, which are keys of the cells.

    Examples
    --------
    >>> type_name(pa.int64()), type_name(pa.struct({"Anna": pa.int64()})), type_name(pa.list_(pa.string()))
    ('int64', 'structs', 'lists')
    """
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return type_name(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return str(kind.extension_name)
    if is_list(kind):
        return "lists"
    if pa.types.is_struct(kind):
        return "structs"
    if pa.types.is_map(kind):
        return "maps"
    return "nested values" if pa.types.is_nested(kind) else str(kind)


def canonical(data: pa.Table) -> NDArray[np.int64]:
    """Return the order of rows by their values, first column first; only equal rows may tie."""
    # Keys are named by position: Arrow would read a name like ".x" as the path of a field.
    keys = {str(place): _sortable(column) for place, column in enumerate(data.columns)}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(key, "ascending") for key in keys])
    return np.asarray(order.to_numpy(), dtype=np.int64)


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column that Arrow can sort, with the same ties."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        return pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
    return column


def with_categories(data: pa.Table, table: Table) -> pa.Table:
    """Return categorical columns as categorical, with only the released categories."""
    for place, name in enumerate(data.column_names):
        column = data.column(name)
        if name in table.categorical and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            used = set(pc.unique(column.drop_null()).to_pylist())
            ordered = name in table.levels and used <= set(table.levels[name])
            levels = [level for level in (table.levels[name] if ordered else sorted(used)) if level in used]
            values = pa.array(levels, column.type)
            codes = pc.index_in(column, value_set=values).combine_chunks()
            data = data.set_column(place, name, pa.DictionaryArray.from_arrays(codes, values, ordered=ordered))
    return data
