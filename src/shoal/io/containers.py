"""Arrays, dicts of columns and lists of dicts into Arrow tables, and released tables back into the same kind.

| kind | columns | comes back as |
| --- | --- | --- |
| a two-dimensional array of numbers, booleans, dates or text | `x0`, `x1`, … | an array, if need be of objects |
| a dict of lists, one-dimensional arrays and series | its keys | a dict of lists and arrays |
| a list of dicts with the same keys | these keys | a list of dicts |

No message quotes a cell, a key of a dict in a list included: a dict of another table may be among them.
"""

import math
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ReadError, counted, kind_of

KINDS = "biufUM"  # kinds of numpy types: booleans, numbers, text, dates
UNFIT = (pa.ArrowException, OverflowError, TypeError, ValueError)
REMEDY = "Give a frame, or a dict of columns."


def is_container(thing: Any) -> bool:
    """Return whether an object is an array, a dict or a list, which may hold a table."""
    return isinstance(thing, np.ndarray | dict | list)


def from_container(thing: Any) -> pa.Table:
    """Return an array, a dict of columns or a list of dicts as an Arrow table, or refuse it.

    Examples
    --------
    >>> from_container(np.array([[39, 170], [50, 182]])).to_pydict()
    {'x0': [39, 50], 'x1': [170, 182]}
    >>> from_container([{"age": 39}, {"age": None}]).to_pydict()
    {'age': [39, None]}
    """
    if isinstance(thing, np.ndarray):
        columns = _of_array(thing)
    elif isinstance(thing, dict):
        columns = _of_dict(thing)
    else:
        columns = _of_list(thing)
    names = [str(name) for name in columns]
    if len(set(names)) < len(names):
        raise ReadError("read: two keys are the same name when written as text. Rename one.")
    return pa.table([_column(cells, name) for name, cells in columns.items()], names=names)


def as_container(table: pa.Table, example: Any) -> Any:
    """Return a released table as the kind of container that the example is.

    Examples
    --------
    >>> as_container(pa.table({"x0": [1.5, None]}), np.zeros((3, 1)))
    array([[1.5],
           [nan]])
    """
    if isinstance(example, np.ndarray):
        return _to_array(table, example.dtype)
    labels = {str(key): key for key in (example if isinstance(example, dict) else example[0])}
    if isinstance(example, list):
        return [{labels[name]: cell for name, cell in row.items()} for row in table.to_pylist()]
    like = {name: example[key] for name, key in labels.items()}
    cells = zip(table.column_names, table.columns, strict=True)
    return {
        labels[name]: column.to_pylist() if isinstance(like[name], list | tuple) else _cells(column)
        for name, column in cells
    }


def rows_of(container: Any, rows: Any) -> Any:
    """Return these rows of a container."""
    if isinstance(container, np.ndarray):
        return container[np.asarray(rows)]
    if isinstance(container, list):
        return [container[row] for row in np.asarray(rows).tolist()]
    return {key: rows_of(cells, rows) for key, cells in container.items()}


def _of_array(array: NDArray[Any]) -> dict[Any, Any]:
    """Return the columns of an array, or refuse its shape or type."""
    if array.dtype.names is not None:
        raise ReadError(
            "read: a structured array is not accepted. Give a dict: {name: array[name] for name in array.dtype.names}."
        )
    if array.ndim != 2:
        one = " A single column is array.reshape(-1, 1)." if array.ndim == 1 else ""
        raise ReadError(f"read: the array has {counted(array.ndim, 'dimension')}; expected two, rows and columns.{one}")
    if array.dtype.kind not in KINDS:
        raise ReadError(
            f"read: the array holds {'objects' if array.dtype.kind == 'O' else array.dtype.name}; expected numbers, "
            f"booleans, dates or text of one type. {REMEDY}"
        )
    plain = for_arrow(array)
    return {f"x{place}": plain[:, place] for place in range(array.shape[1])}


def for_arrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as Arrow reads it: no matrix, in the byte order of the machine, floats of at most 64 bits."""
    plain = np.ma.asarray(array) if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    long = plain.dtype.kind == "f" and plain.dtype.itemsize > 8
    return plain.astype(np.float64 if long else plain.dtype.newbyteorder("="), copy=False)


def _of_dict(columns: dict[Any, Any]) -> dict[Any, Any]:
    """Return the columns of a dict, or refuse what is not a column, and columns of different lengths."""
    found = {name: _as_column(cells, name) for name, cells in columns.items()}
    sizes = {len(cells) for cells in found.values()}
    if len(sizes) > 1:
        raise ReadError(
            f"read: the columns of the dict have from {min(sizes)} to {max(sizes)} cells; expected the same number in "
            "each."
        )
    return found


def _as_column(cells: Any, name: Any) -> Any:
    """Return the cells of a column, or refuse an object that has none."""
    if isinstance(cells, tuple):
        return list(cells)
    cells = pa.chunked_array([cells]) if isinstance(cells, pa.Array) else cells
    series: Any = nw.from_native(cells, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.dtype.is_integer():
        return series.to_arrow()  # numpy has no integers with missing cells
    if hasattr(cells, "__array__"):
        cells = for_arrow(cells)
    if isinstance(cells, np.ndarray) and cells.ndim != 1:
        raise ReadError(f"read: column {str(name)!r} of the dict has {counted(cells.ndim, 'dimension')}; expected one.")
    if not isinstance(cells, list | np.ndarray):
        raise ReadError(
            f"read: column {str(name)!r} of the dict is {kind_of(cells)}; expected a list or a one-dimensional array."
        )
    return cells


def _of_list(rows: list[Any]) -> dict[Any, Any]:
    """Return the columns of a list of dicts, or refuse rows that are not dicts or have other keys."""
    other = next((row for row in rows if not isinstance(row, dict)), None)
    if other is not None or not rows:
        got = f"it holds {kind_of(other)}" if rows else "it is empty"
        raise ReadError(f"read: a list must hold one dict for each row, but {got}. {REMEDY}")
    keys = rows[0].keys()
    ragged = sum(row.keys() != keys for row in rows)
    if ragged:
        raise ReadError(
            f"read: {ragged} of {counted(len(rows), 'dict')} of the list have other keys than the first; expected the "
            "same keys in each. Give None for a missing cell."
        )
    return {key: [row[key] for row in rows] for key in keys}


def _column(cells: Any, name: Any) -> pa.Array:
    """Return cells as an Arrow column; as text if they have no common type."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "O":
        cells = cells.tolist()
    try:
        return pa.array(cells, from_pandas=True)
    except MemoryError:
        raise
    except UNFIT:
        pass
    try:
        return pa.array([None if _is_gap(cell) else str(cell) for cell in cells], pa.string())
    except MemoryError:
        raise
    except UNFIT:
        pass
    raise ReadError(f"read: column {str(name)!r} has cells that cannot be read. Convert it to numbers, dates or text.")


def _is_gap(cell: Any) -> bool:
    """Return whether a cell is missing: None or NaN."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _to_array(table: pa.Table, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return released columns as one array, in the type of the original array if they all fit it."""
    columns = [_cells(column) for column in table.columns]
    kinds: Callable[[str], bool] = lambda some: all(column.dtype.kind in some for column in columns)  # noqa: E731
    if kinds("b") or kinds("M") or kinds("iuf"):
        found = np.column_stack(columns)
        return found.astype(dtype) if found.dtype.kind == dtype.kind else found
    if kinds("U"):
        return np.column_stack(columns)
    found = np.empty((table.num_rows, len(columns)), object)
    for place, column in enumerate(table.columns):
        found[:, place] = column.to_pylist()
    return found


def _cells(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column as an array: missing numbers as NaN, text without missing cells as text, else objects."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return np.array(column.to_pylist(), object if column.null_count else str)
    return np.asarray(column.to_numpy())
