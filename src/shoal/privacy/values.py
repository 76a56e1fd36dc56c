"""Released columns as codes: equal cells have equal codes, a missing cell has a code of its own."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.policy import Kind, Policy

__all__ = ["Values", "quasi_columns", "read_column", "sensitive_columns"]

ORDERED: tuple[Kind, ...] = ("numeric", "date", "ordinal")


@dataclass(frozen=True, eq=False)
class Values:
    """One column of a release.

    Parameters
    ----------
    codes : int64 array of shape (n,)
        The value of each row, as a whole number from 0 up.
    ordered : bool
        Whether ascending codes are ascending values, as t-closeness asks. Missing comes last.
    tree : int64 array of shape (levels, distinct), optional
        The node that each value is below at each level: the values themselves first, the root last.
    """

    codes: NDArray[np.int64]
    ordered: bool = False
    tree: NDArray[np.int64] | None = None

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return int(self.codes.max()) + 1 if self.codes.size else 0

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the rows that have each value."""
        return np.bincount(self.codes) / max(1, self.codes.size)

    def some(self, rows: NDArray[np.int64]) -> "Values":
        """Return the values of some rows, told apart as in the whole column."""
        return Values(self.codes[rows], self.ordered, self.tree)


def read_column(column: pa.ChunkedArray, kind: Kind | None = None, order: Iterable[str] | None = None) -> Values:
    """Read a column into codes.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Typed values, or the text of a file.
    kind : str, optional
        With "numeric", "date" or "ordinal", codes ascend with the values; without, cells are told
        apart as they stand.
    order : iterable of str, optional
        The levels of an ordinal column, lowest first.

    Returns
    -------
    Values
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        column = pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
    if kind == "ordinal" and order is not None:
        return _ranked(column, list(order))
    coded = column.combine_chunks().dictionary_encode()
    size = len(coded.dictionary)
    codes = coded.indices.fill_null(size).to_numpy(zero_copy_only=False).astype(np.int64)
    if kind in ORDERED:
        rank = np.empty(size + 1, np.int64)
        rank[_ascending(coded.dictionary, kind)] = np.arange(size)
        rank[size] = size
        codes = rank[codes]
    return Values(_dense(codes), ordered=kind in ORDERED)


def quasi_columns(data: pa.Table, policy: Policy) -> list[Values]:
    """Read every column that the policy does not call sensitive, kept or items: a stranger is a quasi-identifier."""
    known = {*policy.names("sensitive"), *policy.names("keep"), *policy.names("items")}
    return [read_column(data.column(name)) for name in data.column_names if name not in known]


def sensitive_columns(data: pa.Table, policy: Policy) -> dict[str, Values]:
    """Read the sensitive columns, by name."""
    found = {}
    for name in policy.names("sensitive"):
        if name not in data.column_names:
            raise DataError(f"verify: the sensitive column {name!r} is not in the release.")
        given = policy.columns[name]
        values = read_column(data.column(name), given.kind, given.order)
        if isinstance(given.hierarchy, Mapping):
            values = replace(values, tree=_tree(data.column(name), given.hierarchy, name))
        found[name] = values
    return found


def _tree(column: pa.ChunkedArray, nested: Mapping[str, Any], name: str) -> NDArray[np.int64]:
    """Return the node of each value at each level of nested tables; a missing value is alone below the root."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    texts = column.cast(pa.string()).combine_chunks().dictionary_encode().dictionary.to_pylist()
    above = dict(_paths(nested, ()))
    strange = [text for text in texts if text not in above]
    if strange:
        raise DataError(f"verify: {len(strange)} values of column {name!r} have no place in its hierarchy.")
    paths = [above[text] for text in texts] + ([("",)] if column.null_count else [])
    height = max(map(len, paths), default=1)
    # A value with fewer levels than others stays what it is for some of them.
    whole = [(*path, *[path[-1]] * (height - len(path)), place) for place, path in enumerate(paths)]
    levels = []
    for depth in range(height, -1, -1):
        nodes: dict[tuple[Any, ...], int] = {}
        ends = [path if depth == height else path[:depth] for path in whole]
        levels.append([nodes.setdefault(end, len(nodes)) for end in ends])
    return np.array(levels, np.int64)


def _paths(nested: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return each value of nested tables with the names from the root down to it."""
    for key, below in nested.items():
        for one in below if isinstance(below, list | tuple) else [below]:
            if isinstance(one, Mapping):
                yield from _paths(one, (*above, str(key)))
            else:
                yield str(one), (*above, str(key), str(one))


def _ranked(column: pa.ChunkedArray, order: list[str]) -> Values:
    """Code an ordinal column by the place of its level."""
    text = column.cast(pa.string())
    place = pc.index_in(text, value_set=pa.array(order, pa.string()))
    strange = pc.and_(pc.is_null(place), pc.is_valid(text))
    if pc.any(strange).as_py():
        count = pc.sum(pc.cast(strange, pa.int64())).as_py()
        raise DataError(f"verify: {count} cells of an ordinal column are not among its levels.")
    codes = place.fill_null(len(order)).to_numpy().astype(np.int64)
    return Values(_dense(codes), ordered=True)


def _ascending(values: pa.Array, kind: Kind | None) -> NDArray[np.int64]:
    """Return the order of distinct values; text is read as numbers or moments for it, if all of it can be."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        if kind == "numeric":
            return _ascending_numbers(values.to_pylist())
        for target in (pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
            try:
                values = values.cast(target)
                break
            except pa.ArrowInvalid:
                continue
    return np.asarray(pc.array_sort_indices(values).to_numpy(), dtype=np.int64)


def _ascending_numbers(texts: list[str]) -> NDArray[np.int64]:
    """Return the order of numbers written in text, to their last digit; plain text if one is none."""
    try:
        keys: list[Any] = [Decimal(text) for text in texts]
    except InvalidOperation:
        keys = list(texts)
    return np.array(sorted(range(len(texts)), key=keys.__getitem__), dtype=np.int64)


def _dense(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the codes from 0 up without gaps, in the same order."""
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
