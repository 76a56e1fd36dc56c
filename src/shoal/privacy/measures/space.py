"""The space in which an attacker compares original and released rows, in the columns that the attacker knows.

1. Numbers, dates and levels are in standard deviations of the original column; a missing one lies at the mean,
   and whether it is missing is a further dimension. A range lies at its midpoint.
2. Each category is a dimension, at a distance of 1 from the others. A set, or a node of a tree, lies in the middle of
   the categories that it may mean.
3. A value agrees with a cell if it lies within the cell's reach: half the width of a range, the categories of a set. A
   single number reaches a quarter of a standard deviation, since a mean is near its rows and seldom equal to one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Labels = NDArray[np.int64]
Steps = NDArray[np.uint8]
Compared = Callable[[Labels, Labels], Steps]
Meaning = Callable[[str | None], list[str | None]]
MOST_NAMES = 200  # categories of a column; rarer ones are merged
BLOCK = 1_000_000  # distances held in memory at once
REACH = 0.25  # standard deviations within which single numbers agree
FARTHEST = 1e6  # standard deviations; no original cell is farther than the root of the number of rows
CLOSE = 1e-6  # standard deviations within which numbers are equal
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Places:
    """Where the cells of a column lie, before or after."""

    codes: Labels  # place of each row's cell
    points: Floats  # (places, dimensions)
    reach: Floats  # how far from each place a value may lie that agrees with it
    single: Flags  # whether a place stands for one value
    gone: Flags  # whether it is a missing cell of a column with an order; in others, missing is a category
    open: Flags  # whether a range there allows a missing value


def space(case: Case, known: Sequence[str]) -> tuple[Floats, Floats]:
    """Return original and released rows as two matrices of the same columns, the `known` quasi-identifiers."""
    before, after = places(case, known)
    return points(before, np.arange(case.before.n)), points(after, np.arange(case.n))


def places(case: Case, known: Sequence[str]) -> tuple[list[Places], list[Places]]:
    """Return where the cells of the known columns lie in the original table and in the release, column by column."""
    columns = [column for column in case.columns if column.name in known]
    both = [_of_numbers(column) if column.ordered else _of_names(column) for column in columns]
    return [one for one, _ in both], [other for _, other in both]


def points(columns: Sequence[Places], rows: Labels) -> Floats:
    """Return where some rows lie in some columns, as a matrix."""
    return np.hstack([np.zeros((rows.size, 0)), *(column.points[column.codes[rows]] for column in columns)])


def nearest_rows(targets: Floats, rows: Floats) -> tuple[Flags, Floats]:
    """Return which rows are nearest to each of a block of targets, ties included, and their squared distances.

    Targets times rows must fit into memory, see `blocks`; there is at least one row.
    """
    nearest = np.ones((len(targets), len(rows)), np.bool_)
    if not nearest.size or not targets.shape[1]:
        return nearest, np.zeros(len(targets))
    # Products are fast and inexact: they say which rows may be nearest, and these are measured again.
    ours, theirs = (targets**2).sum(axis=1), (rows**2).sum(axis=1)
    squares = (-2 * targets) @ rows.T
    squares += theirs
    rough = 1e-12 * (ours + theirs.max()) + 1e-15
    mine, near = np.nonzero(squares <= (squares.min(axis=1) + rough)[:, None])
    exact = np.zeros(mine.size)
    for j in range(targets.shape[1]):
        exact += (targets[mine, j] - rows[near, j]) ** 2
    least = np.minimum.reduceat(exact, np.searchsorted(mine, np.arange(len(targets))))
    nearest[:] = False
    nearest[mine, near] = exact <= least[mine] * (1 + SLACK) + SLACK**2
    return nearest, least


def agreement(people: Places, rows: Places) -> Compared:
    """Return a function that says how well people agree with rows: 2 if equal, 1 if near or covered, else 0.

    It takes m people and r rows, by number, and returns a uint8 array of shape (m, r).
    """
    if people.points.shape[1] > 2:
        # Categories are few, and sets of them are compared once for all rows that have them.
        one, two = people.points, rows.points
        squares = (one**2).sum(axis=1)[:, None] + (two**2).sum(axis=1) - 2 * (one @ two.T)
        near = squares <= rows.reach**2 + CLOSE**2
        table = near.astype(np.uint8) + (near & (squares <= CLOSE**2) & rows.single)
        return lambda targets, others: table[people.codes[targets]][:, rows.codes[others]]
    some = bool(people.gone.any() or rows.gone.any() or rows.open.any())

    def compared(targets: Labels, others: Labels) -> Steps:
        mine, theirs = people.codes[targets], rows.codes[others]
        distance = np.abs(people.points[mine, 0][:, None] - rows.points[theirs, 0])
        near = distance <= rows.reach[theirs] + CLOSE
        equal = (distance <= CLOSE) & rows.single[theirs]
        if some:
            gone, lost = people.gone[mine][:, None], rows.gone[theirs]
            near = near & (gone == lost) | (gone & rows.open[theirs])
            equal &= gone == lost
        return np.asarray(near.view(np.uint8) + equal.view(np.uint8))

    return compared


def blocks(targets: Labels, rows: int) -> list[Labels]:
    """Return the targets in parts that can be compared with this many rows at once."""
    each = max(1, BLOCK // max(1, rows))
    return [targets[start : start + each] for start in range(0, targets.size, each)]


def _of_numbers(column: Pair) -> tuple[Places, Places]:
    """Return the places of a column with an order: standard deviations from its mean, and whether cells are missing."""
    before = column.numbers_before
    held = before[np.isfinite(before)]
    low, high = (float(held.min()), float(held.max())) if held.size else (0.0, 0.0)
    width = (high / 2 - low / 2) or 1.0  # halves, since the width of numbers near the largest may be infinite
    parts = (held / 2 - low / 2) / width
    # A constant column has no spread, but the mean of its cells may differ from them in the last bit.
    mean, spread = (float(parts.mean()), float(parts.std())) if high > low else (0.0, 1.0)

    def scaled(numbers: Floats) -> Floats:
        with np.errstate(over="ignore"):
            found = ((numbers / 2 - low / 2) / width - mean) / (spread or 1.0)
        return np.clip(found, -FARTHEST, FARTHEST)

    cells, codes = np.unique(np.where(np.isfinite(before), before, np.nan), return_inverse=True)
    if column.truthful:
        texts, released = _coded(column.after)
        limits = _limits(column, texts)
    else:
        values, released = np.unique(column.numbers[1], return_inverse=True)
        limits = np.column_stack([values, values, np.zeros(values.size)])
    limits[~np.isfinite(limits)] = np.nan
    ends = scaled(limits[:, :2])
    reach = (ends[:, 1] - ends[:, 0]) / 2 if column.truthful else np.full(len(ends), REACH)
    one = _numbered(codes, scaled(cells), np.full(cells.size, REACH), np.ones(cells.size, np.bool_))
    other = _numbered(released, ends.mean(axis=1), reach, limits[:, 0] == limits[:, 1], limits[:, 2] > 0)
    if not (one.gone.any() or other.gone.any()):
        return _flat(one), _flat(other)
    return one, other


def _numbered(codes: Labels, middles: Floats, reach: Floats, single: Flags, may: Flags | None = None) -> Places:
    """Return places with two dimensions, the second of which says whether the cell is missing."""
    gone = np.isnan(middles)
    where = np.column_stack([np.where(gone, 0.0, middles), gone])
    may = np.zeros(gone.size, np.bool_) if may is None else may
    return Places(codes.reshape(-1).astype(np.int64), where, np.where(gone, 0.0, reach), single | gone, gone, may)


def _flat(column: Places) -> Places:
    """Return places without the dimension for missing cells."""
    return Places(column.codes, column.points[:, :1], column.reach, column.single, column.gone, column.open)


def _limits(column: Pair, texts: list[str | None]) -> Floats:
    """Return the least and the greatest number that each text may mean, and whether it allows a missing one."""
    values, codes = _coded(column.before)
    numbers = np.full(len(values), np.nan)
    numbers[codes] = column.numbers_before
    known = dict(zip(values, numbers.tolist(), strict=True))
    meant = _meaning(column)
    found = []
    for text in texts:
        names = meant(text)
        there = [number for name in names if name is not None and not np.isnan(number := _number(column, name, known))]
        ends = (min(there), max(there)) if there else (np.nan, np.nan)
        found.append((*ends, float(None in names and bool(there))))
    return np.array(found, np.float64).reshape(-1, 3)


def _number(column: Pair, text: str, known: dict[str | None, float]) -> float:
    """Return the number that a text stands for, NaN if there is none."""
    if text in known:
        return known[text]
    if column.kind == "ordinal":
        return float(column.order.index(text)) if column.order and text in column.order else np.nan
    try:
        kind = pa.float64() if column.kind == "numeric" else column.before.type
        cell = pa.chunked_array([pa.array([text]).cast(kind)])
        return float(replace(column, before=cell).numbers_before[0])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return np.nan


def _of_names(column: Pair) -> tuple[Places, Places]:
    """Return the places of a nominal column: a dimension for each frequent category, missing being one."""
    names, codes = _coded(column.before)
    order = np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable")[: MOST_NAMES - 1]
    place = {names[code]: number for number, code in enumerate(order)}
    width = len(place) + 1
    side = np.sqrt(0.5)  # two different categories are 1 apart
    texts, released = _coded(column.after)

    def plain(texts: list[str | None], codes: Labels) -> Places:
        mine = np.array([place.get(text, width - 1) for text in texts], np.int64)[codes]
        none = np.zeros(width, np.bool_)
        return Places(mine, np.eye(width) * side, np.zeros(width), ~none, none, none)

    if not column.truthful:
        return plain(names, codes), plain(texts, released)
    meant = _meaning(column)
    where, reach = np.zeros((len(texts), width)), np.zeros(len(texts))
    for number, text in enumerate(texts):
        found = [place.get(name, width - 1) for name in meant(text)]
        for one in found:
            where[number, one] += side / len(found)
        reach[number] = np.sqrt(max(0.0, 0.5 + (where[number] ** 2).sum() - 2 * side * where[number][found].min()))
    none = np.zeros(len(texts), np.bool_)
    return plain(names, codes), Places(released, where, reach, np.count_nonzero(where, axis=1) == 1, none, none)


def _coded(column: pa.ChunkedArray) -> tuple[list[str | None], Labels]:
    """Return the distinct texts of a column, missing last, and the number of each cell's text."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        column = pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
    coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    codes = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return [*texts, None], np.asarray(codes, np.int64)


def _meaning(column: Pair) -> Meaning:
    """Return a function from a released text to the categories or limits that it may mean; None is a missing cell."""
    tree, gaps = column.tree, column.before.null_count > 0
    nodes = {} if tree is None else {name: node for node, name in enumerate(tree.names)}

    def meant(text: str | None) -> list[str | None]:
        if text is None or not column.truthful:
            return [text]
        if tree is not None and text in nodes:
            # A value with others below it is in the tree twice: the node above them is found last.
            node = nodes[text]
            below = tree.names[int(tree.first[node]) : int(tree.last[node]) + 1]
            return [*below, None] if gaps and tree.parent[node] < 0 else [*below]
        published = column.published_as(text)
        return [*published.values, *([None] if published.missing else [])] or [None]

    return meant
