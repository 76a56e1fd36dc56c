"""Released columns as codes: equal cells have equal codes, and a missing cell has its own.

Cells of a sensitive column that mean the same have one code (`spellings`), unless the policy says `exact`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.policy import Kind, Policy
from shoal.privacy.verdict.spellings import Meaning, exactly, meaning, rank, text_of

ORDERED: tuple[Kind, ...] = ("numeric", "date", "ordinal")
MOMENTS = (pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.timestamp("ns", "UTC"))

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Values:
    """One column of a release."""

    codes: Codes  # the value of each row, from 0 up
    ordered: bool = False  # whether codes ascend with the values, as t-closeness requires; missing comes last
    tree: Codes | None = None  # the node above each value, one row per level: the values first, the root last
    folded: int = 0  # distinct cells that share the code of another one, as spellings of one value

    @property
    def distinct(self) -> int:
        """The number of distinct values."""
        return int(self.codes.max()) + 1 if self.codes.size else 0

    @cached_property
    def rows(self) -> Codes:
        """How many rows have each value."""
        return np.bincount(self.codes)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """The share of the rows that have each value."""
        return self.rows / max(1, self.codes.size)

    def some(self, rows: Codes) -> "Values":
        """Return the values of some rows, with the codes of the whole column."""
        return Values(self.codes[rows], self.ordered, self.tree)


class _Read(NamedTuple):
    """A column as codes, its distinct cells, and the code of each of them; that of a missing cell comes last."""

    values: Values
    cells: pa.Array
    code: Codes
    gaps: bool


def read_column(
    column: pa.ChunkedArray, kind: Kind | None = None, order: Iterable[str] | None = None, *, folded: bool = False
) -> Values:
    """Read a column, typed or the text of a file, into codes.

    For the kinds "numeric", "date" and "ordinal", with its levels lowest first in `order`, codes ascend with the
    values; otherwise cells are compared as written. With `folded`, spellings of one value have one code. If levels that
    are spellings of one value are not adjacent in `order`, the column has no order: equal distances are never shorter
    than ordered ones.
    """
    return _read(column, kind, None if order is None else list(order), folded=folded).values


def quasi_names(data: pa.Table, policy: Policy) -> list[str]:
    """Return the released quasi-identifiers, including columns that the policy does not name."""
    known = {*policy.names("sensitive"), *policy.names("keep"), *policy.names("items")}
    return [name for name in data.column_names if name not in known]


def quasi_columns(data: pa.Table, policy: Policy) -> list[Values]:
    """Read the released quasi-identifiers, including columns that the policy does not name."""
    return [read_column(data.column(name)) for name in quasi_names(data, policy)]


def sensitive_columns(data: pa.Table, policy: Policy) -> dict[str, Values]:
    """Read the sensitive columns, by name."""
    found = {}
    for name in policy.names("sensitive"):
        if name not in data.column_names:
            raise DataError(f"verify: the sensitive column {name!r} is not in the release.")
        given, column = policy.columns[name], data.column(name)
        folded, order = given.spelling != "exact", None if given.order is None else list(given.order)
        if isinstance(given.hierarchy, Mapping):
            read = _read(_plain(column).cast(pa.string()), given.kind, order, folded=folded)
            found[name] = replace(read.values, tree=_tree(read, given.hierarchy, name))
        else:
            found[name] = _read(column, given.kind, order, folded=folded).values
    return found


def _plain(column: pa.ChunkedArray, *, folded: bool = False) -> pa.ChunkedArray:
    """Return a column without dictionary encoding; nested cells, and bytes whose spelling does not count, as text."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    if folded and (binary or pa.types.is_nested(kind)):
        texts = [None if cell is None else text_of(cell) for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_nested(kind):
        column = pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
    return column


def _read(column: pa.ChunkedArray, kind: Kind | None, order: list[str] | None, *, folded: bool) -> _Read:
    """Read a column into codes; each distinct cell is interpreted once."""
    plain = _plain(column, folded=folded).combine_chunks()
    plain, alike = _one_zero(plain) if folded and pa.types.is_floating(plain.type) else (plain, 0)
    coded = plain.dictionary_encode()
    cells, gaps = coded.dictionary, bool(coded.indices.null_count)
    meanings = [meaning(text) for text in cells.to_pylist()] if folded and _is_text(cells.type) else None
    # The number of each cell's meaning; the last one is for a missing cell.
    number = np.arange(len(cells) + 1) if meanings is None else _numbers(meanings)
    ranked = kind in ORDERED
    present = _ascending(cells, kind, order, meanings) if ranked else np.arange(len(cells))
    present = np.append(present, len(cells)) if gaps else present
    meant = number[present]
    turns = np.append(True, meant[1:] != meant[:-1])[: meant.size]
    used = np.zeros(number.size, np.bool_)
    used[meant] = True
    distinct = int(used.sum())
    ordered = ranked and int(turns.sum()) == distinct
    code = np.zeros(number.size, np.int64)
    if ordered:
        code[meant] = np.cumsum(turns) - 1
    else:
        code[used] = np.arange(distinct)
    code = code[number]
    rows = coded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
    return _Read(Values(code[rows], ordered, folded=alike + meant.size - distinct), cells, code, gaps)


def _one_zero(numbers: pa.Array) -> tuple[pa.Array, int]:
    """Return numbers with one zero and NaN as missing, and by how much the number of distinct cells falls."""
    numbers = numbers.cast(pa.float32()) if pa.types.is_float16(numbers.type) else numbers
    one = pc.if_else(pc.is_nan(numbers), None, pc.add(numbers, pa.scalar(0.0, numbers.type)))
    return one, len(numbers.unique()) - len(one.unique())


def _numbers(meanings: list[Meaning]) -> Codes:
    """Number the meanings of cells in order of appearance; that of a missing cell is added at the end."""
    seen: dict[Meaning, int] = {}
    return np.array([seen.setdefault(one, len(seen)) for one in (*meanings, None)], np.int64)


def _tree(read: _Read, nested: Mapping[str, Any], name: str) -> Codes | None:
    """Return the node of each value at each level of nested tables; a missing value is alone below the root.

    If a value has spellings below different nodes there is no tree, and distances are equal, which is never less than
    along a tree.
    """
    above = dict(_paths(nested, ()))
    texts: list[str | None] = [*read.cells.to_pylist(), *([None] if read.gaps else [])]
    unexpected = sum(text is not None and text not in above for text in texts)
    if unexpected:
        raise DataError(f"verify: {unexpected} values of column {name!r} are not in its hierarchy.")
    nodes: dict[int, tuple[str, ...]] = {}
    for text, code in zip(texts, read.code.tolist(), strict=False):
        parents = () if text is None else above[text]
        if nodes.setdefault(code, parents) != parents:
            return None
    height = max(map(len, nodes.values()), default=0) + 1
    levels = []
    for depth in range(height, -1, -1):
        seen: dict[Any, int] = {}
        # A value with fewer levels than others stays itself for some of them.
        ends = [nodes[code][:depth] if depth <= len(nodes[code]) else code for code in sorted(nodes)]
        levels.append([seen.setdefault(end, len(seen)) for end in ends])
    return np.array(levels, np.int64)


def _paths(nested: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return each value of nested tables with the names of the nodes from the root down to it."""
    for key, below in nested.items():
        for one in below if isinstance(below, list | tuple) else [below]:
            if isinstance(one, Mapping):
                yield from _paths(one, (*above, str(key)))
            else:
                yield str(one), (*above, str(key))


def _ascending(cells: pa.Array, kind: Kind | None, order: list[str] | None, meanings: list[Meaning] | None) -> Codes:
    """Return the order of distinct cells: by level, number, timestamp or text; spellings of one value are adjacent."""
    if kind == "ordinal" and order is not None:
        return _by_level(cells, order)
    if not _is_text(cells.type):
        return np.asarray(pc.array_sort_indices(cells).to_numpy(), dtype=np.int64)
    texts = cells.to_pylist()
    moments = _moments(texts, meanings) if kind == "date" else None
    keys: list[Any] = moments or list(map(rank, map(exactly, texts) if meanings is None else meanings))
    return _sorted(keys, texts)


def _by_level(cells: pa.Array, order: list[str]) -> Codes:
    """Return the order of the cells of an ordinal column by level."""
    place = pc.index_in(cells.cast(pa.string()), value_set=pa.array(order, pa.string()))
    if place.null_count:
        raise DataError(f"verify: {place.null_count} values of an ordinal column are not among its levels.")
    return np.argsort(place.to_numpy(), kind="stable")


def _moments(texts: list[str], meanings: list[Meaning] | None) -> list[tuple[bool, int, str]] | None:
    """Return sort keys of texts if all are timestamps or missing, otherwise None."""
    if meanings is not None:
        if not all(one is None or isinstance(one, str) for one in meanings):
            return None
        texts = ["" if one is None else str(one).upper() for one in meanings]
    written = pa.array([text or None for text in texts] if meanings is not None else texts, pa.string())
    for target in MOMENTS:
        try:
            found = written.cast(target).cast(pa.int64()).to_pylist()
        except pa.ArrowInvalid:
            continue
        return [(moment is None, moment or 0, text) for moment, text in zip(found, texts, strict=True)]
    return None


def _sorted(keys: list[Any], texts: list[str]) -> Codes:
    """Return the order of keys; ties are broken by text."""
    return np.array(sorted(range(len(keys)), key=lambda one: (keys[one], texts[one])), dtype=np.int64)


def _is_text(kind: pa.DataType) -> bool:
    """Say whether cells of a type are text."""
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))
