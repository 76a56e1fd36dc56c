"""The algebra of columns: what the cells of a group have in common, and how much information that loses.

A cell is a code, an integer from 0 up. The **hull** of a group in a column is the smallest description that covers all
of its cells. Its loss is from 0 (one value) to 1 (all values), and never falls when a cell joins:

- **range**: from the least to the greatest value. It loses its width relative to the full width. A missing value is
  kept apart: a range with missing values beside it loses one value more, of as many as there are.
- **tree**: the lowest node of a taxonomy above all cells. It loses (leaves - 1) / (all leaves - 1). Leaves are numbered
  so that those below a node are contiguous; then the node above the least and the greatest leaf is above all between
  them, and its loss is the greatest loss of two neighbours between them. So a tree is queried like a range.
- **set**: all values that occur. It loses (values - 1) / (all values - 1).

Losses of columns are weighted, and the weights sum to 1. All joins are commutative, associative and idempotent, so the
order in which cells join does not matter. The algorithms on mixed tables use nothing else of a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Words = NDArray[np.uint64]

RANGE, TREE, SET = 0, 1, 2
WORD = 64  # values in a word of a set
ONE = np.uint64(1)
SMALL_BITS = 8
SMALL = 1 << SMALL_BITS
POWER = np.array([max(number, 1).bit_length() - 1 for number in range(SMALL)])


@dataclass(frozen=True, eq=False)
class Range:
    """A column of numbers, days or ranks.

    `places` are the positions of the values, ascending; the code of a value is its index in this array. With `missing`,
    there is one more code, for missing values.
    """

    places: Floats
    missing: bool = False


@dataclass(frozen=True, eq=False)
class Tree:
    """A column with a taxonomy.

    `steps` is the loss of the lowest node above each leaf and the next one. A missing value is a leaf of its own, the
    last one, directly below the root. `levels` has shape (levels, leaves): the node of each leaf at each level, from
    the leaves to the root; these two if not given.
    """

    steps: Floats
    levels: NDArray[np.integer] | None = None


@dataclass(frozen=True, eq=False)
class Set:
    """A nominal column with this many categories, a missing value being one of them."""

    values: int


Shape = Range | Tree | Set


class Columns(NamedTuple):
    """Rows of codes, shape (n, d), and what is needed to join them.

    `kind` is RANGE, TREE or SET. From `start[j]` on, `at` has for a range the weighted position of each value, for a
    tree the weighted loss of neighbours, then of 2, 4, 8 ... neighbours at once. `width` is the number of values, for a
    range without missing ones. `toll` is for a range the weighted loss of missing values beside others, for a set that
    of one more category. `word` is where the words of a set start in a hull. From `rung[j]` on, `ladder` has the class
    of each value at each level, level after level, from the value itself to all values together.
    """

    codes: Codes
    kind: Whole
    start: Whole
    at: Floats
    width: Whole
    toll: Floats
    word: Whole
    rung: Whole
    ladder: Codes

    def levels(self, j: int) -> Codes:
        """Return the class of each value of a column at each level."""
        missing = self.kind[j] == RANGE
        return self.ladder[self.rung[j] : self.rung[j + 1]].reshape(-1, int(self.width[j]) + missing)


class Hulls(NamedTuple):
    """Hulls of some groups, group by group and column by column: working arrays, reused."""

    low: Codes  # ranges and trees: the least code; beyond the last if there is none
    high: Codes  # the greatest; -1 if there is none
    more: Codes  # ranges: whether a value is missing; sets: how many categories there are
    words: Words


def columns_of(
    codes: Sequence[NDArray[np.integer]] | NDArray[np.int32], shapes: Sequence[Shape], weights: Floats | None = None
) -> Columns:
    """Assemble columns from their codes; columns have equal weights by default."""
    given = np.ones(len(shapes)) if weights is None else np.asarray(weights, np.float64)
    share = given / given.sum() if len(shapes) else given
    parts, kind, width, toll, words, levels = [], [], [], [], [], []
    for shape, weight in zip(shapes, share, strict=True):
        part, one = np.zeros(0), 0.0
        if isinstance(shape, Range):
            size = len(shape.places)
            whole = float(shape.places[-1] - shape.places[0]) if size else 0.0
            # Missing values cost as much as one of that many values, and the width of the range is scaled down by that.
            one = weight / (size + 1) if shape.missing and size else 0.0
            part = (shape.places - shape.places[0]) / whole * (weight - one) if whole > 0 else np.zeros(size)
        elif isinstance(shape, Tree):
            size = len(shape.steps) + 1
            part = _tops(np.asarray(shape.steps, np.float64) * weight)
        else:
            size = shape.values
            one = weight / (size - 1) if size > 1 else 0.0
        parts.append(part)
        kind.append(RANGE if isinstance(shape, Range) else TREE if isinstance(shape, Tree) else SET)
        width.append(size)
        toll.append(one)
        words.append(-(-size // WORD) if isinstance(shape, Set) else 0)
        levels.append(_levels(shape, size).astype(np.int32).reshape(-1))
    stacked = codes if isinstance(codes, np.ndarray) else np.column_stack(codes) if codes else np.zeros((0, 0))
    return Columns(
        np.ascontiguousarray(stacked, np.int32),
        np.array(kind, np.int64),
        ends([len(part) for part in parts]),
        np.concatenate([*parts, np.zeros(1)]),
        np.array(width, np.int64),
        np.array(toll, np.float64),
        ends(words),
        ends([len(level) for level in levels]),
        np.concatenate([*levels, np.zeros(0, np.int32)]),
    )


def hulls_of(columns: Columns, count: int) -> Hulls:
    """Return working arrays for this many empty hulls."""
    low, high, more = np.zeros((3, count, len(columns.kind)), np.int32)
    low[:], high[:] = columns.width, -1
    return Hulls(low, high, more, np.zeros((count, max(1, int(columns.word[-1]))), np.uint64))


def class_losses(columns: Columns, j: int, level: Codes) -> Floats:
    """Return the loss of each class of a level in its column; `level` gives the class of each value."""
    first, width = int(columns.start[j]), int(columns.width[j])
    classes = int(level.max()) + 1
    if columns.kind[j] == SET:
        return np.asarray(np.maximum(np.bincount(level, minlength=classes) - 1, 0) * columns.toll[j])
    values = np.arange(width)
    low, high = np.full(classes, width), np.full(classes, -1)
    np.minimum.at(low, level[:width], values)
    np.maximum.at(high, level[:width], values)
    lost = np.zeros(classes)
    for one in np.flatnonzero(low < high):
        stretch = columns.at[first + low[one] : first + high[one] + (columns.kind[j] == RANGE)]
        lost[one] = stretch[-1] - stretch[0] if columns.kind[j] == RANGE else stretch.max()
    if columns.kind[j] == RANGE and high[level[width]] >= 0:
        lost[level[width]] += columns.toll[j]
    return lost


def ends(sizes: list[int]) -> Whole:
    """Return where each part starts when all are concatenated, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _levels(shape: Shape, size: int) -> NDArray[np.integer]:
    """Return the class of each value at each level: one row per level, the last one all equal."""
    if isinstance(shape, Tree):
        given = np.vstack([np.arange(size), np.zeros(size, int)]) if shape.levels is None else shape.levels
        return np.asarray(given)
    if isinstance(shape, Set):
        return np.vstack([np.arange(size), np.zeros(size, int)])
    # The last code of a range is for missing values, which are joined with others at the last level only.
    rows, whole = [np.arange(size + 1)], float(shape.places[-1] - shape.places[0]) if size else 0.0
    bins = 1 << max(size - 1, 1).bit_length() - 1
    while bins > 1 and whole > 0:
        places = np.minimum((shape.places - shape.places[0]) / whole * bins, bins - 1).astype(int)
        rows.append(np.append(places, bins))
        bins //= 2
    return np.vstack([*rows, np.zeros(size + 1, int)])


def _tops(steps: Floats) -> Floats:
    """Return the greatest of every 1, 2, 4, 8 ... neighbours, length after length."""
    rows, reach = [steps], 1
    while 2 * reach <= len(steps):
        last = rows[-1]
        longer = np.zeros(len(steps))
        longer[: len(steps) - reach] = np.maximum(last[: len(steps) - reach], last[reach:])
        rows.append(longer)
        reach *= 2
    return np.concatenate(rows)


@inner_loop
def clear(columns: Columns, hulls: Hulls, hull: int) -> None:
    """Make a hull empty."""
    for j in range(columns.kind.size):
        hulls.low[hull, j], hulls.high[hull, j], hulls.more[hull, j] = columns.width[j], -1, 0
    for w in range(hulls.words.shape[1]):
        hulls.words[hull, w] = 0


@inner_loop
def add(columns: Columns, hulls: Hulls, hull: int, row: int) -> None:
    """Add a row to a hull."""
    codes, kind, width, word = columns.codes, columns.kind, columns.width, columns.word
    low, high, more, words = hulls
    for j in range(kind.size):
        code = codes[row, j]
        if kind[j] == SET:
            place, bit = word[j] + code // WORD, ONE << np.uint64(code % WORD)
            more[hull, j] += words[hull, place] & bit == 0
            words[hull, place] |= bit
        elif code == width[j]:
            more[hull, j] = 1
        else:
            low[hull, j], high[hull, j] = min(low[hull, j], code), max(high[hull, j], code)


@inner_loop
def join_loss(columns: Columns, hulls: Hulls, hull: int, row: int, limit: float) -> float:
    """Return the loss of a non-empty hull after adding a row; any value above the limit if it exceeds that."""
    codes, kind, start, at, width, toll, word, _, _ = columns
    low, high, more, words = hulls
    total = 0.0
    for j in range(kind.size):
        code = codes[row, j]
        if kind[j] == SET:
            there = words[hull, word[j] + code // WORD] >> np.uint64(code % WORD) & ONE
            total += toll[j] * (more[hull, j] - np.int64(there))
        else:
            gap = code == width[j]
            least = low[hull, j] if gap else min(low[hull, j], code)
            most = high[hull, j] if gap else max(high[hull, j], code)
            if least < most:
                total += _stretch(start, at, kind[j], width[j], j, least, most)
            if (gap or more[hull, j] > 0) and most >= 0:
                total += toll[j]
        if total > limit:
            return total
    return total


@inner_loop
def loss(columns: Columns, hulls: Hulls, hull: int) -> float:
    """Return the loss of a hull."""
    _, kind, start, at, width, toll, _, _, _ = columns
    low, high, more, _ = hulls
    total = 0.0
    for j in range(kind.size):
        if kind[j] == SET:
            total += toll[j] * max(more[hull, j] - 1, 0)
        else:
            if low[hull, j] < high[hull, j]:
                total += _stretch(start, at, kind[j], width[j], j, low[hull, j], high[hull, j])
            if more[hull, j] > 0 and high[hull, j] >= 0:
                total += toll[j]
    return total


@inner_loop
def pair_loss(columns: Columns, one: int, two: int, limit: float) -> float:
    """Return the loss of the hull of two rows; any value above the limit if it exceeds that."""
    codes, kind, start, at, width, toll, _, _, _ = columns
    total = 0.0
    for j in range(kind.size):
        a, b = codes[one, j], codes[two, j]
        if a != b:
            if kind[j] == SET or max(a, b) == width[j]:
                total += toll[j]
            else:
                total += _stretch(start, at, kind[j], width[j], j, min(a, b), max(a, b))
            if total > limit:
                return total
    return total


@inner_loop
def _stretch(start: Whole, at: Floats, kind: int, width: int, j: int, low: int, high: int) -> float:
    """Return the loss of the codes from low to high in a range or a tree; low is below high."""
    first = start[j]
    if kind == RANGE:
        return float(at[first + high] - at[first + low])
    # The greatest of the steps from low to high: two overlapping stretches whose length is a power of two.
    length, power = high - low, 0
    if length >= SMALL:
        while length >= SMALL:
            length >>= SMALL_BITS
            power += SMALL_BITS
    power += POWER[length]
    first += power * (width - 1)
    return float(max(at[first + low], at[first + high - (1 << power)]))
