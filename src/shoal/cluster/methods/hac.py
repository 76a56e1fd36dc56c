"""Constrained hierarchical clustering: the two nearest groups are merged repeatedly, under size limits.

1. Every row is a group. While there are two groups, one of them below k rows, whose union is within the cap: merge the
   two nearest by the linkage, or by the linkage over the size of their union.
2. Groups still below k are leftovers. They merge with the nearest other leftover; a single one, with the nearest group
   that stays within 2k - 1 rows, or else with the nearest of all. Or they are distributed: the smallest one is
   dissolved, each of its rows goes to the group that is then the smallest, and so on.
3. Groups of 2k rows or more are split by MDAV.

J. Alarte Aleixandre, Application of Clustering Techniques to Privacy Protection, master thesis, UOC 2018. Linkages:
Ward, Hierarchical grouping to optimize an objective function, JASA 58 (1963) 236-244; Szekely and Rizzo, Hierarchical
clustering via joint between-within distances, Journal of Classification 22 (2005) 151-183.

How it is made fast without changing the answer:

- For every two groups the sum of the distances between them is kept, and a merge adds such sums (`metrics`).
- Each group knows its nearest partner among those after it, or a lower bound; a row of the table of distances is read
  again only when its bound is the lowest.
- Beyond 10,000 rows the table is first cut into cells, each at the column of largest variance.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import Choice, Growth
from shoal.cluster.declaring import numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.cells import cells_of_rows
from shoal.cluster.search.metrics import FITTING, FOLD, KIND, METRICS, MergeRules, fill, linkage, space, starts, united
from shoal.cluster.search.sizes import capped
from shoal.errors import MethodError, listed
from shoal.kernels.loops import loop
from shoal.model.partition import Partition
from shoal.model.progress import tick

MOST_ROWS = 10_000  # in a cell: 400 MB of distances
PIECE = 1 << 26  # distances updated between two progress ticks


@numeric_method(
    "hac",
    ensures={"k"},
    params={
        "linkage": Choice(
            tuple(FITTING),
            "ward",
            help="Distance between two groups. centroid and ward require the metric euclidean, squared or mahalanobis; "
            "energy requires euclidean, manhattan, mahalanobis or hamming.",
        ),
        "metric": Choice(
            METRICS,
            "euclidean",
            help="Distance between two rows. hamming requires whole numbers, or columns of two values.",
        ),
        "cap": Choice(("k", "2k-1", "none"), "none", help="Maximum number of rows of a merged group."),
        "priority": Choice(
            ("distance", "size"),
            "distance",
            help="What decides which pair is merged first: the distance, or the distance divided by the size of the "
            "union.",
        ),
        "leftover": Choice(
            ("merge", "deal"),
            "merge",
            help="Whether groups of fewer than k rows at the end are merged, or dissolved and their rows dealt out.",
        ),
    },
    growth=Growth(linear_beyond=MOST_ROWS, bytes_per_pair=4.0, seconds=2.9),
    in_cells=True,
)
def hac(X: Floats, k: int, linkage: str, metric: str, cap: str, priority: str, leftover: str) -> Partition:
    """Merge the nearest groups, starting from single rows, until all have k to 2k - 1 rows.

    Guarantee
    ---------
    Every group holds between k and 2k - 1 rows. The result depends on X and the parameters alone: ties go to
    the lowest row number.

    Cost
    ----
    O(n^2) time in practice, and memory for n^2 / 2 numbers, up to 10,000 rows. Larger tables are cut into cells of that
    size at most: the time then grows with the number of cells, and the memory does not.

    Examples
    --------
    >>> hac([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    if metric not in FITTING[linkage]:
        raise MethodError(
            f"hac: linkage {linkage!r} is not defined with metric {metric!r}; it requires "
            f"{listed(FITTING[linkage])}. Use one of them, or linkage 'average'."
        )
    rows, notes = space(X, metric, "hac")
    cells = cells_of_rows(rows, k, MOST_ROWS)
    if len(cells) > 1:
        note = (
            f"hac: {len(rows)} rows were cut into {len(cells)} cells of at most {max(map(len, cells))}, "
            f"since all distances are kept for at most {MOST_ROWS} rows. No group crosses a cell."
        )
        notes = (*notes, note)
    # Average and energy linkage add distances up; the others compare them, and need no square roots for that.
    plain = metric in ("euclidean", "mahalanobis")
    root = plain and linkage in ("average", "energy")
    # d / s and d^2 / s^2 give the same order: where squares are compared, the size is squared as well.
    power = 0 if priority == "distance" else 2 if plain and linkage in ("single", "complete", "centroid") else 1
    most = {"k": k, "2k-1": 2 * k - 1, "none": len(rows)}[cap]
    rules = MergeRules(k, most, False, KIND[linkage], power)
    labels = np.zeros(len(rows), np.int64)
    count = done = 0
    for cell in cells:
        inside = _clustered(rows[cell], rules, FOLD[metric], root, leftover, done, len(rows))
        labels[cell] = count + inside
        count += int(inside.max()) + 1
        done += len(cell)
    return Partition.of(labels, notes)


class Groups(NamedTuple):
    """Groups that are merged; a group has the number of its lowest row."""

    sums: Floats  # of the distances between two groups, or the least or greatest of these
    starts: Rows  # where the sums of a group begin
    live: Rows  # the groups there are, ascending; the rest is void
    into: Rows  # the group that a group went into, or itself
    sizes: Rows
    within: Floats  # sum of distances inside a group
    changed: Rows  # when a group got its last rows
    near: Rows  # the nearest partner after a group, or -1
    bound: Floats  # its distance, or a lower bound
    sure: NDArray[np.bool_]  # whether near and bound are exact
    tally: Rows  # how many groups there are, and how many changes there were


def _clustered(X: Floats, rules: MergeRules, fold: int, root: bool, leftover: str, done: int, total: int) -> Rows:
    """Return the group of each row of a cell, numbered from 0; `done` rows of `total` are in earlier cells."""
    k, n = rules.k, len(X)
    if n < 2 * k:
        return np.zeros(n, np.int64)
    groups = _single_rows(X, fold, root)
    _merge(groups, rules, done, total)
    if leftover == "deal":
        labels = _roots(groups.into)
        _deal(labels, groups, k)
        return capped(X, labels, k)
    # Two leftovers, else one with a group that has space for it, else one with any.
    for cap, both in ((2 * k - 1, True), (2 * k - 1, False), (n, False)):
        if (groups.sizes[groups.live[: groups.tally[0]]] < k).any():
            _merge(groups, rules._replace(cap=cap, both=both), done, total)
    return capped(X, Partition.of(_roots(groups.into)).labels, k)


def _single_rows(X: Floats, fold: int, root: bool) -> Groups:
    """Return every row as a group."""
    n = len(X)
    sums = np.empty(n * (n - 1) // 2)
    fill(sums, np.ascontiguousarray(X.T), fold, root)
    live, into, changed = (np.arange(n, dtype=np.int64) for _ in range(3))
    sizes, within = np.ones(n, np.int64), np.zeros(n)
    near, bound, sure = np.empty(n, np.int64), np.empty(n), np.empty(n, np.bool_)
    return Groups(sums, starts(n), live, into, sizes, within, changed, near, bound, sure, np.array([n, n]))


def _merge(groups: Groups, rules: MergeRules, done: int, total: int) -> None:
    """Merge the nearest two groups while the rules allow any."""
    groups.bound[:], groups.sure[:] = -np.inf, False
    n, going = groups.live.size, True
    while going:
        tick(done + n - int(groups.tally[0]), total)
        going = _merge_some(groups, rules, PIECE // n + 1)


@loop
def _merge_some(groups: Groups, rules: MergeRules, most: int) -> bool:
    """Merge the nearest two groups, at most this many times; False when there are none to merge."""
    for _ in range(most):
        first = _nearest(groups, rules)
        if first < 0:
            return False
        _unite(groups, rules, first, int(groups.near[first]))
    return True


@loop
def _nearest(groups: Groups, rules: MergeRules) -> int:
    """Return the group with the nearest partner of all, ties to the lowest number, or -1 if none has one."""
    live, bound, sure = groups.live, groups.bound, groups.sure
    best, lowest = -1, np.inf
    for place in range(groups.tally[0]):
        group = live[place]
        if sure[group] and bound[group] < lowest:
            best, lowest = group, bound[group]
    for place in range(groups.tally[0]):
        group = live[place]
        if not sure[group] and (bound[group] < lowest or (bound[group] == lowest and group < best)):
            _look(groups, rules, group)
            if bound[group] < lowest or (bound[group] == lowest and group < best):
                best, lowest = group, bound[group]
    return best


@loop
def _look(groups: Groups, rules: MergeRules, a: int) -> None:
    """Find the nearest partner of a group among those after it, ties to the lowest number."""
    live, sizes, within = groups.live, groups.sizes, groups.within
    row = groups.sums[groups.starts[a] + a + 1 :]
    size, inside = sizes[a], within[a]
    best, lowest = -1, np.inf
    for place in range(groups.tally[0] - 1, -1, -1):
        b = live[place]
        if b <= a:
            break
        far = linkage(rules, size, sizes[b], row[b - a - 1], inside, within[b])
        if far <= lowest and far < np.inf:
            best, lowest = b, far
    groups.near[a], groups.bound[a], groups.sure[a] = best, lowest, True


@loop
def _unite(groups: Groups, rules: MergeRules, a: int, b: int) -> None:
    """Merge group b into the group a before it, and update what others know of the two."""
    sums, begin, live, near, bound = groups.sums, groups.starts, groups.live, groups.near, groups.bound
    sizes, within, sure = groups.sizes, groups.within, groups.sure
    within[a] += within[b] + sums[begin[a] + b]
    sizes[a] += sizes[b]
    size, inside = sizes[a], within[a]
    groups.into[b] = a
    groups.changed[a] = groups.tally[1]
    groups.tally[1] += 1
    best, lowest, kept = -1, np.inf, 0
    for place in range(groups.tally[0]):
        x = live[place]
        if x == b:
            continue
        live[kept] = x
        kept += 1
        if x == a:
            continue
        here = begin[min(a, x)] + max(a, x)
        total = united(rules, sums[here], sums[begin[min(b, x)] + max(b, x)])
        sums[here] = total
        far = linkage(rules, size, sizes[x], total, inside, within[x])
        if x > a:
            if far < lowest:
                best, lowest = x, far
            if near[x] == b:
                sure[x] = False
        elif far < bound[x]:
            near[x], bound[x], sure[x] = a, far, True
        elif near[x] == a or near[x] == b:
            # All others are at least as far as the bound, and those as far come after a.
            if far == bound[x]:
                near[x] = a
            else:
                sure[x] = False
        elif far == bound[x] and a < near[x]:
            near[x] = a
    groups.tally[0] = kept
    near[a], bound[a], sure[a] = best, lowest, True


@loop
def _roots(into: Rows) -> Rows:
    """Return the group of each row."""
    labels = into.copy()
    for row in range(labels.size):
        labels[row] = labels[labels[row]]
    return labels


@loop
def _deal(labels: Rows, groups: Groups, k: int) -> None:
    """While a group has fewer than k rows: move each row of the smallest to the group then smallest."""
    while True:
        taken = _smallest(groups)
        if groups.sizes[taken] >= k:
            return
        groups.sizes[taken] = labels.size + 1
        for row in range(labels.size):
            if labels[row] == taken:
                group = _smallest(groups)
                labels[row] = group
                groups.sizes[group] += 1
                groups.changed[group] = groups.tally[1]
                groups.tally[1] += 1


@loop
def _smallest(groups: Groups) -> int:
    """Return the group with the fewest rows; among several the one that got its last row first."""
    sizes, changed = groups.sizes, groups.changed
    best = groups.live[0]
    for place in range(1, groups.tally[0]):
        group = groups.live[place]
        if sizes[group] < sizes[best] or (sizes[group] == sizes[best] and changed[group] < changed[best]):
            best = group
    return int(best)
