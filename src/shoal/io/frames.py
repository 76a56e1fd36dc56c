"""Frames of pandas, polars and pyarrow into Arrow tables, and released tables back into the caller's type of frame.

In: every column by itself, so that no index comes along. Labels become text. Whatever Arrow cannot represent (numbers
and text in one column, intervals, periods, complex numbers) becomes text.

Out: every column returns to the type that it had, as long as it is still of that kind; dates and numbers that were
text are written as text. Categories are rebuilt from the released values: a category that no row has is a value of the
original, and the order of unordered categories may be that of its rows.

shoal imports neither pandas nor polars: the caller's own frame, narwhals and pyarrow do the conversion.
"""

from copy import deepcopy
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ReadError, kind_of, listed
from shoal.io.containers import UNFIT, as_container, for_arrow, from_container, is_container, rows_of
from shoal.io.csv_types import written_like

PUBLISHED = "released_row"  # name of the index of rows in the published order
STYLE = 100  # cells that show how text is written


def from_frame(frame: Any) -> pa.Table:
    """Convert an eager frame that narwhals knows, or a container, to an Arrow table without index and metadata.

    The frame is not changed. Categories become dictionary columns.

    Examples
    --------
    >>> from_frame(pa.table({"age": [39, None]})).to_pydict()
    {'age': [39, None]}
    """
    if is_container(frame):
        return from_container(frame)
    duplicates = False
    wrapped: Any = None
    try:
        wrapped = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError:
        duplicates = True
    if duplicates:
        labels = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
        raise _same_names([str(label) for label in labels])
    if isinstance(wrapped, nw.LazyFrame):
        raise ReadError("read: the frame is lazy and has no rows yet; expected rows. Call .collect() on it first.")
    if not isinstance(wrapped, nw.DataFrame):
        remedy = "Give its `aligned()`, which is one." if hasattr(frame, "aligned") else "Put it into a frame first."
        raise ReadError(
            f"read: {_called(frame)} is not a table; expected the path of a file, a frame of pandas, polars or "
            f"pyarrow, a two-dimensional array, a dict of columns or a list of dicts. {remedy}"
        )
    names = [str(label) for label in wrapped.columns]
    if len(set(names)) < len(names):
        raise _same_names(names)
    columns = [_column(series, name) for name, series in zip(names, wrapped.iter_columns(), strict=True)]
    return pa.table(columns, names=names)


def to_frame(table: pa.Table, frame: Any, rows: Any = None) -> Any:
    """Convert a released table to the caller's type of frame; if `frame` is None, to the Arrow table itself.

    The columns get back their labels and, where they are still of that kind, their types; only categories that occur
    are kept. `rows` gives the row of `frame` behind each row, whose index a pandas frame gets; without it, the index is
    plain.
    """
    if frame is None:
        return table
    if is_container(frame):
        return as_container(to_frame(table, from_container(frame)), frame)
    wrapped: Any = nw.from_native(frame, eager_only=True)
    native = wrapped.to_native()
    numbers = {str(label): number for number, label in enumerate(wrapped.columns)}
    # Only types and categories matter; Arrow tables lose their categories with their rows.
    example = wrapped if wrapped.implementation.is_pyarrow() else wrapped.head(0)
    kept = set(table.column_names)
    before = {
        name: _column(series, name)
        for name, series in zip(numbers, example.iter_columns(), strict=True)
        if name in kept
    }
    columns = {
        name: _as_before(_as_text(table.column(name), before[name], wrapped, place), before[name])
        if (place := numbers.get(name)) is not None
        else table.column(name)
        for name in table.column_names
    }
    restored = pa.table(columns)
    if wrapped.implementation.is_pyarrow():
        result = nw.from_native(restored, eager_only=True)
    elif wrapped.implementation.is_pandas():
        restored = _to_pandas(restored, native, numbers, before)
        if rows is not None:
            restored.index = native.index[rows]
        result = nw.from_native(restored, eager_only=True)
    else:
        result = nw.from_arrow(restored, backend=wrapped.implementation)
        fixed = [name for name, dtype in wrapped.schema.items() if isinstance(dtype, nw.Enum) and name in before]
        for name in fixed:
            if pa.types.is_dictionary(restored[name].type):
                levels = restored[name].chunk(0).dictionary.to_pylist()
                result = result.with_columns(nw.col(name).cast(nw.Enum(levels)))
    return result if isinstance(frame, nw.DataFrame) else result.to_native()


def reordered(frame: Any, rows: Any) -> Any:
    """Return these rows of a released frame; a pandas frame gets labels that no original has.

    pandas aligns rows of the same label, whatever their order. With labels of 0 to n - 1 the difference to the original
    would silently be computed between rows of different people.

    Examples
    --------
    >>> reordered(pa.table({"age": [39, 21]}), [1, 0]).to_pydict()
    {'age': [21, 39]}
    """
    if is_container(frame):
        return rows_of(frame, rows)
    wrapped: Any = nw.from_native(frame, eager_only=True)
    if wrapped.implementation.is_pyarrow():
        # Arrow cannot take rows of string views.
        table = wrapped.to_native()
        kinds = [pa.large_string() if pa.types.is_string_view(kind) else kind for kind in table.schema.types]
        plain = table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))
        taken = nw.from_native(plain.take(pa.array(rows)).cast(table.schema), eager_only=True)
    else:
        taken = wrapped[rows]
    if not wrapped.implementation.is_pandas():
        return taken if isinstance(frame, nw.DataFrame) else taken.to_native()
    native = taken.to_native().reset_index(drop=True)
    native.index = native.index.map("r{}".format).rename(PUBLISHED)
    return nw.from_native(native, eager_only=True) if isinstance(frame, nw.DataFrame) else native


def copied(frame: Any) -> Any:
    """Return a frame whose changes do not show in the one given; Arrow tables cannot be changed."""
    if is_container(frame):
        return deepcopy(frame)
    wrapped: Any = nw.from_native(frame, eager_only=True)
    if wrapped.implementation.is_pyarrow():
        return frame
    made = wrapped.clone()
    if wrapped.implementation.is_pandas():
        native = made.to_native()
        for place, kind in enumerate(native.dtypes):
            cells = native.iloc[:, place]
            if kind == "object" and any(hasattr(cell, "__setitem__") for cell in cells.dropna().head(1)):
                native.isetitem(place, cells.map(deepcopy))  # lists, which pandas does not copy
    return made if isinstance(frame, nw.DataFrame) else made.to_native()


def has_published_index(frame: Any) -> bool:
    """Return whether a pandas frame has the index of rows in the published order, made by `reordered`."""
    native = frame.to_native() if isinstance(frame, nw.DataFrame) else frame
    name = getattr(getattr(native, "index", None), "name", None)
    return isinstance(name, str) and name == PUBLISHED


def in_another_order(frame: Any, original: Any, rows: NDArray[np.int64] | None = None) -> bool:
    """Return whether the labels of a pandas frame are those of another in another order.

    With `rows`, `frame` was made from these rows of `original`, or of a frame that is not it. Labels of 0 to n - 1 in
    this order tell nothing: pandas gives them to any frame.
    """
    labels = [_labels(one) for one in (frame, original)]
    if any(one is None or not one.is_unique for one in labels):
        return False
    own, others = labels
    first = own if rows is None else others
    if type(first).__name__ == "RangeIndex" and (first.start, first.step) == (0, 1):
        return False
    known = bool(own.isin(others).all())
    if rows is not None and known and rows.size and int(rows.max()) < len(others):
        others = others.take(rows)
    return known and len(own) == len(others) and not own.equals(others)


def _labels(frame: Any) -> Any:
    """Return the index of a pandas frame, and None for anything else."""
    wrapped = nw.from_native(frame, pass_through=True)
    if not isinstance(wrapped, nw.DataFrame) or not wrapped.implementation.is_pandas():
        return None
    return wrapped.to_native().index


def _as_text(column: pa.ChunkedArray, before: Any, wrapped: Any, place: int) -> pa.ChunkedArray:
    """Return dates and numbers that the frame held as text as text again, in the same notation."""
    kind = column.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not _is_text(before.type) or not (number or pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return column
    series = wrapped.get_column(wrapped.columns[place])
    cells = [str(cell) for cell in series.drop_nulls().to_list()]
    # Integers do not show how decimals are written.
    fractional = (cell for cell in cells if "." in cell or "," in cell)
    return written_like(column, [*cells[:STYLE], *islice(fractional, STYLE)])


def _called(thing: Any) -> str:
    """Describe an object by its type, never by its value."""
    package = type(thing).__module__.partition(".")[0]
    return kind_of(thing) if package == "builtins" else f"{kind_of(thing)} of {package}"


def _same_names(names: list[str]) -> ReadError:
    """Return the error for columns of the same name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    what = "the name" if len(twice) == 1 else "each of the names"
    return ReadError(f"read: {what} {listed(twice)} is used by two or more columns. Rename them.")


def _column(series: Any, name: str) -> pa.Array | pa.ChunkedArray:
    """Return one column as Arrow values, by the first conversion that succeeds."""
    if series.implementation.is_pyarrow():
        values = series.to_native()
    else:
        # Polars would pass the addresses of Python objects as bytes.
        objects = series.implementation.is_polars() and series.dtype == nw.Object
        values = None if objects else _first(series)
    if values is None:
        return _text(series, name)
    folded = pa.types.is_dictionary(values.type)
    if not isinstance(values.type.value_type if folded else values.type, pa.BaseExtensionType):
        return values
    if folded and series.implementation.is_pandas():
        levels = pa.array([str(level) for level in series.to_native().cat.categories])
        return pa.DictionaryArray.from_arrays(values.indices, levels, ordered=values.type.ordered)
    return _text(series, name)


def _first(series: Any) -> Any:
    """Return the Arrow values of a series directly or, for sparse ones, through numpy; None if neither works."""
    try:
        return series.to_arrow()
    except MemoryError:
        raise
    except UNFIT:
        pass
    try:
        return pa.array(for_arrow(series.to_numpy()), from_pandas=True)
    except MemoryError:
        raise
    except UNFIT:
        return None


def _text(series: Any, name: str) -> pa.Array | pa.ChunkedArray:
    """Return each value as its text."""
    gaps = series.is_null().to_list()
    cells = [None if gap else str(value) for value, gap in zip(series.to_list(), gaps, strict=True)]
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError:
        pass
    raise ReadError(
        f"read: column {name!r} of the frame contains text that is not Unicode. Correct or drop the column."
    )


def _alike(now: pa.DataType, before: pa.DataType) -> bool:
    """Return whether two types are of one kind, differing in width, unit or layout alone."""
    kinds = pa.types
    if kinds.is_timestamp(now) and kinds.is_timestamp(before):
        return (now.tz is None) == (before.tz is None)
    same = (kinds.is_integer, kinds.is_floating, _is_text, kinds.is_boolean, kinds.is_date, kinds.is_time)
    more = (kinds.is_decimal, kinds.is_duration)
    return any(kind(now) and kind(before) for kind in (*same, *more))


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text in any layout."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _as_before(column: pa.ChunkedArray, before: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the column in the type that it had, or unchanged where its values do not fit that type."""
    if pa.types.is_dictionary(before.type):
        return _categories(column, before)
    if not _alike(column.type, before.type):
        return column
    return _cast(column, before.type)


def _cast(values: Any, kind: pa.DataType) -> Any:
    """Return the values as another type, or unchanged if one does not fit."""
    try:
        return values.cast(kind)
    except MemoryError:
        raise
    except pa.ArrowException:
        return values


def _categories(column: pa.ChunkedArray, before: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the column as categories: only those that occur, sorted unless they were ordered; new ones then come last.

    The former order of unordered categories may be that of the rows in which they first appeared.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return column
    if isinstance(before, pa.ChunkedArray):
        before = before.unify_dictionaries().chunk(0) if before.num_chunks else pa.array([], before.type)
    used = column.unique().drop_null()
    known = _cast(before.dictionary, column.type)
    if known.type != column.type:
        known = used.slice(0, 0)
    new = used.filter(pc.invert(pc.is_in(used, known)))
    if before.type.ordered:
        levels = pa.concat_arrays([known.filter(pc.is_in(known, used)), new.take(pc.sort_indices(new))])
    else:
        levels = used.take(pc.sort_indices(used))
    positions = _cast(pc.index_in(column, levels).combine_chunks(), before.type.index_type)
    if _alike(levels.type, before.type.value_type):
        levels = _cast(levels, before.type.value_type)
    # The order of new categories among the old ones is not known.
    ordered = before.type.ordered and not len(new)
    return pa.DictionaryArray.from_arrays(positions, levels, ordered=ordered)


def _own_type(table: pa.Table, dtype: Any) -> Any:
    """Return a table in a pandas extension type or, where that cannot read its values, in the default type."""
    try:
        return table.to_pandas(ignore_metadata=True, types_mapper=lambda _: dtype)
    except (AttributeError, *UNFIT):
        return table.to_pandas(ignore_metadata=True)


def _to_pandas(table: pa.Table, native: Any, numbers: dict[str, int], before: dict[str, Any]) -> Any:
    """Return a pandas frame with the dtypes and labels of another and a plain index."""
    dtypes = {name: native.dtypes.iloc[numbers[name]] for name in before}
    own = {
        name: dtype
        for name, dtype in dtypes.items()
        if hasattr(dtype, "__from_arrow__") and _alike(table[name].type, before[name].type)
    }
    plain = table.select([name for name in table.column_names if name not in own]).to_pandas(ignore_metadata=True)
    columns = {}
    for name in table.column_names:
        if name in own:
            # pandas extension types read Arrow values directly: nullable numbers do not pass through floats.
            columns[name] = _own_type(table.select([name]), own[name])[name]
        elif name in dtypes and dtypes[name] == "object" and _is_text(table[name].type):
            columns[name] = plain[name].astype(object)
        else:
            columns[name] = plain[name]
    result = type(plain)(columns)
    if all(name in numbers for name in columns):
        result.columns = native.columns[[numbers[name] for name in columns]]
    return result
