"""Frames of pandas, polars and pyarrow into arrow tables, and released tables back into the caller's type of frame.

In: every column by itself, so that no index comes along, whatever it is. Labels become text. What arrow cannot
hold as it is (numbers and text in one column, intervals, periods, complex numbers) becomes text.

Out: every column goes back to the type that it had, as long as it is still of that kind; dates and numbers that were
held as text are written as text. Categories are made anew
from the released values: a category that no row has is a value of the original.

shoal imports neither pandas nor polars: the caller's own frame, narwhals and pyarrow know the way.
"""

from itertools import islice
from typing import Any

import narwhals as nw
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import ReadError, listed
from shoal.io.csv_types import written_like

__all__ = ["from_frame", "reordered", "to_frame"]

STYLE = 100  # cells that show how text is written
UNFIT = (pa.ArrowException, OverflowError, TypeError, ValueError)


def from_frame(frame: Any) -> pa.Table:
    """Turn a frame into an arrow table without index and metadata.

    Parameters
    ----------
    frame : frame of pandas, polars, pyarrow or another eager frame that narwhals knows
        It is not changed.

    Returns
    -------
    pyarrow.Table
        Missing values are gaps; categories are dictionary columns.

    Raises
    ------
    ReadError
        If it is no frame, is lazy, or two columns have the same name.

    Examples
    --------
    >>> from_frame(pa.table({"age": [39, None]})).to_pydict()
    {'age': [39, None]}
    """
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
        raise ReadError(
            f"read: {_called(frame)} is no table; expected the path of a file, or a frame of pandas, polars or "
            "pyarrow. Put it into a frame first."
        )
    names = [str(label) for label in wrapped.columns]
    if len(set(names)) < len(names):
        raise _same_names(names)
    columns = [_column(series, name) for name, series in zip(names, wrapped.iter_columns(), strict=True)]
    return pa.table(columns, names=names)


def to_frame(table: pa.Table, frame: Any, rows: Any = None) -> Any:
    """Turn a released table into the caller's type of frame.

    Parameters
    ----------
    table : pyarrow.Table
    frame : frame or None
        The frame that was read. If there was none, the arrow table itself is given back.
    rows : array of int, optional
        The row of the frame behind each row of the table, whose index a pandas frame gets.

    Returns
    -------
    frame
        With the types that the columns had, where they are still of that kind; only categories that occur; the index
        of the rows, or a plain one; and the labels that the columns had.
    """
    if frame is None:
        return table
    wrapped: Any = nw.from_native(frame, eager_only=True)
    native = wrapped.to_native()
    numbers = {str(label): number for number, label in enumerate(wrapped.columns)}
    # Types and categories are what counts; arrow tables lose their categories with their rows.
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
    """Return these rows of a released frame; a pandas frame gets labels that no other frame has.

    pandas puts rows of the same label beside each other, whatever their order. With labels of 0 to n - 1 the difference
    to the original would be computed between rows of different people, without a word.

    Examples
    --------
    >>> reordered(pa.table({"age": [39, 21]}), [1, 0]).to_pydict()
    {'age': [21, 39]}
    """
    wrapped: Any = nw.from_native(frame, eager_only=True)
    taken = wrapped[rows]
    if not wrapped.implementation.is_pandas():
        return taken if isinstance(frame, nw.DataFrame) else taken.to_native()
    native = taken.to_native().reset_index(drop=True)
    native.index = native.index.map("r{}".format).rename("released_row")
    return nw.from_native(native, eager_only=True) if isinstance(frame, nw.DataFrame) else native


def _as_text(column: pa.ChunkedArray, before: Any, wrapped: Any, place: int) -> pa.ChunkedArray:
    """Return dates and numbers that the frame held as text as text again, written as there."""
    kind = column.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not _is_text(before.type) or not (number or pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return column
    series = wrapped.get_column(wrapped.columns[place])
    cells = [str(cell) for cell in series.drop_nulls().to_list()]
    # Whole numbers do not show how decimals are written.
    telling = (cell for cell in cells if "." in cell or "," in cell)
    return written_like(column, [*cells[:STYLE], *islice(telling, STYLE)])


def _called(thing: Any) -> str:
    """Return what a thing is called by its type, never by its value."""
    kind = type(thing)
    room = kind.__module__.partition(".")[0]
    return f"a {kind.__name__}" if room == "builtins" else f"a {kind.__name__} of {room}"


def _same_names(names: list[str]) -> ReadError:
    """Return the error for columns that cannot be told apart."""
    twice = sorted({name for name in names if names.count(name) > 1})
    return ReadError(f"read: the name {listed(twice)} is that of two columns or more. Rename them.")


def _column(series: Any, name: str) -> pa.Array | pa.ChunkedArray:
    """Return one column as arrow values, by the first way that succeeds."""
    if series.implementation.is_pyarrow():
        values = series.to_native()
    else:
        # Polars would hand over the addresses of Python objects as bytes.
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
    """Return the arrow values of a series directly or, for sparse ones, by way of numpy; None if neither works."""
    try:
        return series.to_arrow()
    except UNFIT:
        pass
    try:
        return pa.array(series.to_numpy(), from_pandas=True)
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
    raise ReadError(f"read: column {name!r} of the frame holds text that is not Unicode. Mend or drop the column.")


def _alike(now: pa.DataType, before: pa.DataType) -> bool:
    """Tell whether two types are of one kind, differing in width, unit or layout alone."""
    kinds = pa.types
    if kinds.is_timestamp(now) and kinds.is_timestamp(before):
        return (now.tz is None) == (before.tz is None)
    same = (kinds.is_integer, kinds.is_floating, _is_text, kinds.is_boolean, kinds.is_date, kinds.is_time)
    more = (kinds.is_decimal, kinds.is_duration)
    return any(kind(now) and kind(before) for kind in (*same, *more))


def _is_text(kind: pa.DataType) -> bool:
    """Tell whether a type is text in any layout."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _as_before(column: pa.ChunkedArray, before: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the column in the type that it had, or as it is where its values do not fit that type."""
    if pa.types.is_dictionary(before.type):
        return _categories(column, before)
    if not _alike(column.type, before.type):
        return column
    return _cast(column, before.type)


def _cast(values: Any, kind: pa.DataType) -> Any:
    """Return the values as another type, or as they are if one does not fit."""
    try:
        return values.cast(kind)
    except pa.ArrowException:
        return values


def _categories(column: pa.ChunkedArray, before: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the column as categories: those that occur and no other, in the order that they had, new ones last."""
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
    levels = pa.concat_arrays([known.filter(pc.is_in(known, used)), new.take(pc.sort_indices(new))])
    positions = _cast(pc.index_in(column, levels).combine_chunks(), before.type.index_type)
    if _alike(levels.type, before.type.value_type):
        levels = _cast(levels, before.type.value_type)
    # The order of the new ones among the old is not known.
    ordered = before.type.ordered and not len(new)
    return pa.DictionaryArray.from_arrays(positions, levels, ordered=ordered)


def _own_type(table: pa.Table, dtype: Any) -> Any:
    """Return a table in a type of pandas' own or, where that cannot read its values, in the usual one."""
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
            # pandas' own types read arrow values themselves: nullable numbers do not pass through floats.
            columns[name] = _own_type(table.select([name]), own[name])[name]
        elif name in dtypes and dtypes[name] == "object" and _is_text(table[name].type):
            columns[name] = plain[name].astype(object)
        else:
            columns[name] = plain[name]
    result = type(plain)(columns)
    if all(name in numbers for name in columns):
        result.columns = native.columns[[numbers[name] for name in columns]]
    return result
