"""Mondrian: parts cut at the median of their widest column, as long as both sides keep k rows, l and t.

1. All rows are one part.
2. Of a part of 2k rows or more, take the column with the widest range of values in it.
3. Strict: equal values stay together, so the cut goes below or above the median value, whichever is nearer to the
   middle (if both are: above); where that one is not allowed, the other. Relaxed: the rows sorted by that column, equal
   ones by row number, are halved; the first half has the odd row.
4. A cut is allowed if both sides have k rows or more and meet the limits on sensitive values. If the widest column
   allows none, the next widest is tried, and so on; ties go to the first column.
5. A part that is cut gives two parts; one that no column can cut is a group.

LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006. Their ranges are divided by those of
the whole table; here the matrix is encoded so that columns are comparable.

The median is found by quickselect with scattered pivots, so that no order of rows is slow. Rows of a part stay in their
order, so that ties need no second comparison.
"""

import numpy as np

from shoal.catalogue import Choice, Growth
from shoal.cluster.declaring import Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.limits import NONE, Rules, meets
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

PIECE = 1 << 24  # cells examined between two progress ticks


@numeric_method(
    "mondrian",
    ensures={"k", "l", "t", "alpha"},
    params={
        "split": Choice(
            ("strict", "relaxed"),
            default="strict",
            help="Whether rows with the median value stay together or may go to either side.",
        )
    },
    uses={"limits"},
    growth=Growth(1.05, seconds=0.005, k_power=-0.25),
    suits={"categories", "hierarchies", "numbers"},
    in_cells=True,
)
def mondrian(X: Floats, k: int, split: str, *, run: Run) -> Partition:
    """Partition the rows of X into boxes by median cuts; each box has at least k rows and meets the limits.

    Guarantee
    ---------
    Every group holds k rows or more. Every group meets the limits if all rows together do; if they do not, no grouping
    can, and all rows are one group. Without limits, relaxed groups hold at most 2k - 1 rows, and a strict group of 2k
    or more is one that no column can cut between two different values with k rows on both sides. The result depends on
    X, k, split and the limits alone.

    Cost
    ----
    O(n d log n) time where cuts are near the middle, as relaxed ones always are; O(n^2 d / k) at worst, if every strict
    cut splits off only k rows. O(n) memory.

    Examples
    --------
    >>> mondrian([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    n, d = X.shape
    rules = NONE if run.limits is None else run.limits.rules
    labels, rows = np.empty(n, np.int64), np.arange(n)
    parts = np.zeros((n // k + 1, 2), np.int64)
    parts[0, 1] = n
    waiting, groups, grouped = 1, 0, 0
    while waiting:
        tick(grouped, n)
        waiting, groups, grouped = _cut_parts(
            X, k, split == "strict", rules, rows, parts, waiting, labels, groups, grouped, PIECE // d
        )
    return Partition.of(labels)


@loop
def _cut_parts(
    X: Floats,
    k: int,
    strict: bool,
    rules: Rules,
    rows: Rows,
    parts: Rows,
    waiting: int,
    labels: Rows,
    groups: int,
    grouped: int,
    most: int,
) -> tuple[int, int, int]:
    """Cut waiting parts until `most` rows are examined; return the numbers of parts, groups and grouped rows."""
    looked = 0
    while waiting > 0 and looked <= most:
        waiting -= 1
        low, high = parts[waiting, 0], parts[waiting, 1]
        looked += high - low
        first = _cut(X, k, strict, rules, rows[low:high])
        if first == 0:
            for i in range(low, high):
                labels[rows[i]] = groups
            groups += 1
            grouped += high - low
        else:
            # Waiting parts have k rows or more each, so there is a place for all of them.
            parts[waiting, 0], parts[waiting, 1] = low + first, high
            parts[waiting + 1, 0], parts[waiting + 1, 1] = low, low + first
            waiting += 2
    return waiting, groups, grouped


@loop
def _cut(X: Floats, k: int, strict: bool, rules: Rules, part: Rows) -> int:
    """Put the rows of one side before those of the other and return their number; 0 if no cut is allowed."""
    if part.size < 2 * k:
        return 0
    spans = _ranges(X, part)
    values, sides = np.empty(part.size), np.empty(part.size, np.int64)
    for _ in range(spans.size):
        column = int(np.argmax(spans))
        constant = spans[column] == 0.0
        spans[column] = -1.0
        if constant and strict:
            break
        for i in range(part.size):
            values[i] = X[part[i], column]
        middle = (part.size + 1) // 2
        value, below, above = _median(values, middle - 1)
        first, second = middle, 0
        if strict:
            first, second = above, below
            if part.size - 2 * below < 2 * above - part.size:
                first, second = below, above
        for count in (first, second):
            if k <= count <= part.size - k:
                _sort_out(X, part, column, value, below, count, sides)
                if meets(rules, sides, count) and meets(rules, sides[count:], part.size - count):
                    for i in range(part.size):
                        part[i] = sides[i]
                    return int(count)
        if constant:
            # Cuts of other constant columns would be the same: by row number.
            break
    return 0


@loop
def _ranges(X: Floats, part: Rows) -> Floats:
    """Return the range of each column in a part."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    for row in part:
        for j in range(low.size):
            low[j] = min(low[j], X[row, j])
            high[j] = max(high[j], X[row, j])
    return np.asarray(high - low)


@loop
def _median(values: Floats, place: int) -> tuple[float, int, int]:
    """Return the value at a place of the sorted values, how many are less and how many at most it."""
    low, high, random_state = 0, values.size, 1
    while True:
        random_state = (1103515245 * random_state + 12345) % 2147483648
        pivot = values[low + (random_state >> 8) % (high - low)]
        below, i, above = low, low, high
        while i < above:
            value = values[i]
            if value < pivot:
                values[i], values[below] = values[below], value
                below += 1
                i += 1
            elif value > pivot:
                above -= 1
                values[i], values[above] = values[above], value
            else:
                i += 1
        if place < below:
            high = below
        elif place >= above:
            low = above
        else:
            return pivot, below, above


@loop
def _sort_out(X: Floats, part: Rows, column: int, value: float, below: int, count: int, sides: Rows) -> None:
    """Write `count` rows, those below the value and then the first ones at it, before the others."""
    equal, first, second = count - below, 0, count
    for row in part:
        here = X[row, column]
        if here < value or (here == value and equal > 0):
            equal -= here == value
            sides[first] = row
            first += 1
        else:
            sides[second] = row
            second += 1
