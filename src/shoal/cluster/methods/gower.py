"""Gower: groups of similar rows of a mixed table, for releases that keep the types of their columns.

1. Each row finds rows near it by Gower's distance (`kernels.gower`, `mixed.closest`).
2. Rows are taken by ascending distance of their (k - 1)th nearest row. A free row grows a group: of the nearest rows of
   its members, the free one with the least sum of distances to them joins. Under t or alpha, groups are grown to
   several sizes (`mixed.feasible`), and those of the least cost are kept.
3. Remaining rows join the group where they cost least.
4. A chain of proposals moves a row to the group of a row near it, or swaps it with a row of that group. A proposal is
   accepted if it lowers the cost; if it raises it by delta, with probability exp(-delta / T), where T falls.

The cost of a group is the sum of distances between its rows over their number, as SSE is with squared distances. What
matters here is not what a group has in common, but how far its rows are from the one that will represent all.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import Choice, Growth
from shoal.cluster.declaring import Run, mixed_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.mixed.closest import Near, closest
from shoal.cluster.mixed.feasible import Aim, aims, best_of
from shoal.cluster.mixed.joining_rules import MOST_GROWN, may_join
from shoal.cluster.mixed.leftover import chained, placed
from shoal.cluster.mixed.move_chain import State, move_chain
from shoal.cluster.mixed.near_cells import Cell, Passes, in_passes
from shoal.cluster.search.limits import Limits, Rules, meets_in
from shoal.kernels.columns import Columns, pair_loss
from shoal.kernels.gower import as_distances
from shoal.kernels.loops import callable_inner_loop
from shoal.model.partition import Partition
from shoal.model.progress import part

STEPS = {"none": 0, "quick": 120, "normal": 500, "thorough": 2500}
HEAT, COOL = 0.05, 0.02  # first temperature, relative to the mean cost of a row, and last, relative to the first
PASSES = 4
COMPARED = 500  # rows of a group by whose distances its cost is estimated
KEEP, MOST_KEPT = 12, 64  # nearest rows kept per row: the more, the less groups follow the densest combinations
WAITING = 0.5  # share of rows: if more have no group, the groups are too small for t and this size is abandoned

Whole32 = NDArray[np.int32]


@mixed_method(
    "gower",
    ensures={"k", "l", "t", "alpha"},
    params={
        "effort": Choice(
            tuple(STEPS),
            "quick",
            "Duration of the search: none, or about 2, 8 or 40 s of CPU time for 30,000 rows.",
        )
    },
    uses={"limits", "seed", "threads"},
    growth=Growth(
        1.0,
        seconds=0.5,
        efforts={"none": 0.2, "quick": 1.0, "normal": 3.3, "thorough": 16.0},
        limited=1.4,
        parallel=0.8,
    ),
    ends_early=True,
    suits={"categories"},
)
def gower(columns: Columns, k: int, effort: str, *, run: Run) -> Partition:
    """Group similar rows of a mixed table, by Gower's distance.

    Guarantee
    ---------
    That of `grow`.

    Cost
    ----
    O(n log n) for the sorts and O(n k d) for growth; about half a microsecond per proposal, with 120 proposals per row
    for effort "quick".

    Examples
    --------
    >>> from shoal.kernels.columns import Set, columns_of
    >>> names = columns_of([np.array([0, 1, 0, 1]), np.array([0, 1, 0, 2])], [Set(2), Set(3)])
    >>> gower(names, k=2).labels
    array([0, 1, 0, 1])
    """
    sizes = aims(run.binding, k)
    k, limits = sizes[0]
    by_distance = as_distances(columns)
    with part(0, 4):
        near, distances = closest(
            by_distance, max(KEEP, min(2 * sizes[-1].size, MOST_KEPT)), (run.seed, 0), limits, run.threads
        )

    def start(aim: Aim) -> Rows:
        labels = _grown(by_distance, aim.size, near, distances, aim.limits)
        if len(sizes) == 1 or np.mean(labels < 0) <= WAITING:
            _joined(by_distance, labels, near, aim.limits)
        return labels

    labels = best_of(sizes, start, lambda now: distance_cost(by_distance, now))[1]
    labels = placed(columns, labels, near, k, limits, np.random.default_rng((run.seed, 3)))
    steps = STEPS[effort] / PASSES
    if steps == 0:
        return Partition.of(labels)
    plan = Passes(lambda now: distance_cost(by_distance, now), lambda least, now: HEAT * least / len(now), COOL, PASSES)
    with part(1, 2):
        search = partial(_searched, k=k, steps=steps)
        return Partition.of(in_passes(search, plan, by_distance, labels, near, limits, (run.seed, 4), run.threads))


def distance_cost(columns: Columns, labels: Rows) -> float:
    """Return the cost of groups: for each the sum of distances between its rows over their number."""
    order = np.argsort(labels, kind="stable")
    return float(_cost(columns, order, np.cumsum(np.bincount(labels))))


def _searched(cell: Cell, hot: float, cold: float, k: int, steps: float) -> Rows:
    """Run a chain in a cell; return new labels. Groups of very many rows stay as they are."""
    own = cell.labels
    sizes = np.bincount(own)
    most = max(2 * k - 1, int(sizes[sizes <= MOST_GROWN * k].max(initial=0)))
    label = np.where(sizes <= most, np.arange(sizes.size), -1)[own].astype(np.int32)
    groups = np.zeros((sizes.size, most), np.int32), np.zeros(sizes.size, np.int32), np.zeros(sizes.size)
    scratch = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int32)
    move_chain(cell, State(label, *groups), int(steps * own.size), hot, cold, k, *scratch)
    return np.where(label < 0, own, label)


def _grown(columns: Columns, k: int, near: Near, distances: Floats, limits: Limits | None) -> Rows:
    """Return labels of grown groups, -1 for rows without one."""
    order = np.argsort(distances[:, min(k - 2, distances.shape[1] - 1)], kind="stable")
    labels = np.full(len(columns.codes), -1, np.int64)
    rules = None if limits is None else limits.rules
    most = MOST_GROWN * k
    edge = most * near.shape[1]
    scratch = np.zeros(most, np.int64), np.zeros(edge, np.int64), np.zeros(edge), np.zeros(most, np.int32)
    _grow(columns, rules, near, order, labels, *scratch, k)
    return labels


def _joined(columns: Columns, labels: Rows, near: Near, limits: Limits | None) -> None:
    """Let rows without a group join the cheapest of the groups of their nearest rows and theirs."""
    groups, waiting = int(labels.max()) + 1, np.flatnonzero(labels < 0)
    if groups > 0 and waiting.size:
        rules = None if limits is None else limits.rules
        scratch = np.zeros(labels.size, np.int64), np.zeros(labels.size, np.int32)
        known = np.full(groups, -1.0), np.full(groups, -1, np.int64)
        _join(columns, rules, labels, near, waiting, *chained(labels, groups), *scratch, *known)


@callable_inner_loop
def _join(
    columns: Columns,
    rules: Rules | None,
    labels: Rows,
    near: Near,
    waiting: Rows,
    chain: Rows,
    head: Rows,
    members: Rows,
    values: Whole32,
    sums: Floats,
    asked: Rows,
) -> None:
    """Label rows without a group, one after the other; `sums` caches what is known of groups, -1 for nothing."""
    for row in waiting:
        best, home = np.inf, -1
        for c in range(near.shape[1]):
            one = near[row, c]
            for e in range(-1, near.shape[1]):
                other = one if e < 0 or one < 0 else near[one, e]
                if other < 0 or labels[other] < 0 or asked[labels[other]] == row:
                    continue
                group, size, own, new = int(labels[other]), 0, 0.0, 0.0
                asked[group] = row
                at, known = head[group], sums[group] >= 0
                while at >= 0:
                    if not known:
                        for m in range(size):
                            own += pair_loss(columns, members[m], at, np.inf)
                    new += pair_loss(columns, row, at, np.inf)
                    members[size] = at
                    size, at = size + 1, chain[at]
                own = sums[group] if known else own
                sums[group] = own
                rise = (own + new) / (size + 1) - own / size
                if rise < best or (rise == best and group < home):
                    members[size] = row
                    if rules is None or meets_in(rules, members, size + 1, values):
                        best, home = rise, group
        if home >= 0:
            labels[row] = home
            chain[row], head[home], sums[home] = head[home], row, -1.0


@callable_inner_loop
def _grow(  # noqa: PLR0912 - growing a group is best read in one piece
    columns: Columns,
    rules: Rules | None,
    near: Near,
    order: Rows,
    labels: Rows,
    members: Rows,
    edge: Rows,
    sums: Floats,
    values: Whole32,
    k: int,
) -> None:
    """Label the rows of each group that reaches k."""
    groups = 0
    for i in range(order.size):
        if labels[order[i]] >= 0:
            continue
        size, count, done = 0, 0, False
        row = order[i]
        while row >= 0:
            members[size] = row
            size += 1
            labels[row] = groups
            done = size >= k and (rules is None or meets_in(rules, members, size, values))
            if done or size == members.size:
                break
            kept = 0
            for e in range(count):
                if labels[edge[e]] < 0:
                    edge[kept], sums[kept] = edge[e], sums[e] + pair_loss(columns, edge[e], row, np.inf)
                    kept += 1
            count = kept
            for c in range(near.shape[1]):
                other = near[row, c]
                if other >= 0 and labels[other] < 0:
                    new = True
                    for e in range(count):
                        new = new and edge[e] != other
                    if new:
                        edge[count], sums[count] = other, 0.0
                        for m in range(size):
                            sums[count] += pair_loss(columns, other, members[m], np.inf)
                        count += 1
            best, row = np.inf, -1
            for e in range(count):
                better = sums[e] < best or (sums[e] == best and edge[e] < row)
                if better and may_join(rules, members, 0, size, edge[e], k):
                    best, row = sums[e], edge[e]
        if done:
            groups += 1
        else:
            for m in range(size):
                labels[members[m]] = -1


@callable_inner_loop
def _cost(columns: Columns, order: Rows, ends: Rows) -> float:
    """Return the sum over groups of the distances between their rows over their number, of large ones by a sample."""
    total, start = 0.0, 0
    for group in range(ends.size):
        size, own = ends[group] - start, 0.0
        step = 1 + size // COMPARED
        for i in range(start, ends[group], step):
            for other in range(i + 1, ends[group], step):
                own += pair_loss(columns, order[i], order[other], np.inf)
        total += own * step * step / size
        start = ends[group]
    return total
