"""Grow: groups of a mixed table, grown from rows that have others close to them; no hierarchies needed.

1. Each row finds rows whose hull with it loses little (`mixed.closest`).
2. Rows are taken by ascending loss with their (k - 1)th closest row. A free row grows a group: of the closest rows of
   its members, the free one that leaves the least loss joins, until there are k. Under t or alpha, groups are grown to
   several sizes (`mixed.feasible`), and those of the least cost are kept.
3. A row whose group cannot reach k waits. In the end each of those joins the group where it costs least.
4. Groups are rebuilt a few at a time (`mixed.rebuild`), longer with more effort.

Ties go to the lowest row or group number. Easy rows go first: a difficult row that goes first takes what others need,
and stays expensive all the same.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import Growth
from shoal.cluster.declaring import Run, mixed_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.mixed.closest import Near, closest
from shoal.cluster.mixed.feasible import aims, best_of
from shoal.cluster.mixed.improving import EFFORT, LONGER, improved, keeping
from shoal.cluster.mixed.joining_rules import MOST_GROWN, may_join
from shoal.cluster.mixed.leftover import placed
from shoal.cluster.mixed.rebuild import costs_of
from shoal.cluster.search.limits import Limits, Rules, meets_in
from shoal.kernels.columns import Columns, Hulls, add, clear, hulls_of, join_loss
from shoal.kernels.loops import callable_inner_loop
from shoal.model.partition import Partition
from shoal.model.progress import part


@mixed_method(
    "grow",
    ensures={"k", "l", "t", "alpha"},
    params={"effort": EFFORT},
    uses={"limits", "seed", "threads"},
    growth=Growth(1.0, seconds=0.95, efforts=LONGER, limited=6.0, parallel=0.8),
    ends_early=True,
    suits={"categories", "hierarchies"},
)
def grow(columns: Columns, k: int, effort: str, *, run: Run) -> Partition:
    """Group rows of a mixed table so that their common ranges and sets are as small as possible.

    Guarantee
    ---------
    Every group holds at least k rows and meets the limits, if the whole table does. The same columns, parameters and
    seed give the same groups, unless a time budget ends the search early.

    Cost
    ----
    O(n log n) for the sorts and O(n k d) for growth; 5 to 8 us per step of rebuilding, with 6 steps per row for effort
    "quick".

    Examples
    --------
    >>> from shoal.kernels.columns import Range, columns_of
    >>> ages = columns_of([np.array([0, 3, 1, 2])], [Range(np.array([20.0, 21.0, 60.0, 61.0]))])
    >>> grow(ages, k=2).labels
    array([0, 1, 0, 1])
    """
    sizes = aims(run.binding, k)
    with part(0, 4):
        near, distances = closest(columns, keeping(sizes[-1].size), (run.seed, 0), sizes[0].limits, run.threads)
    (k, limits), labels = best_of(
        sizes,
        lambda aim: grown(columns, aim.size, near, distances, aim.limits),
        lambda now: float(costs_of(columns, now).sum()),
    )
    labels = placed(columns, labels, near, k, limits, np.random.default_rng((run.seed, 3)))
    with part(1, 4):
        return Partition.of(improved(columns, labels, k, effort, limits, near, run.seed, run.threads))


def grown(columns: Columns, k: int, near: Near, distances: Floats, limits: Limits | None) -> Rows:
    """Return labels of grown groups, -1 for rows without one."""
    order = np.argsort(distances[:, min(k - 2, distances.shape[1] - 1)], kind="stable")
    labels = np.full(len(columns.codes), -1, np.int64)
    rules = None if limits is None else limits.rules
    most = MOST_GROWN * k
    scratch = np.zeros(most, np.int64), np.zeros(most * near.shape[1], np.int64), np.zeros(most, np.int32)
    _grow(columns, rules, near, order, labels, hulls_of(columns, 1), *scratch, k)
    return labels


@callable_inner_loop
def _grow(
    columns: Columns,
    rules: Rules | None,
    near: Near,
    order: Rows,
    labels: Rows,
    hulls: Hulls,
    members: Rows,
    edge: Rows,
    values: NDArray[np.int32],
    k: int,
) -> int:
    """Label the rows of each group that reaches k; return the number of groups."""
    groups = 0
    for i in range(order.size):
        seed = order[i]
        if labels[seed] >= 0:
            continue
        clear(columns, hulls, 0)
        size, count, done = 0, 0, False
        row = seed
        while row >= 0:
            members[size] = row
            size += 1
            labels[row] = groups
            add(columns, hulls, 0, row)
            done = size >= k and (rules is None or meets_in(rules, members, size, values))
            if done or size == members.size:
                break
            for c in range(near.shape[1]):
                if near[row, c] >= 0 and labels[near[row, c]] < 0:
                    edge[count] = near[row, c]
                    count += 1
            best, row, kept = np.inf, -1, 0
            for e in range(count):
                if labels[edge[e]] < 0:
                    edge[kept] = edge[e]
                    kept += 1
                    gain = join_loss(columns, hulls, 0, edge[e], best)
                    better = gain < best or (gain == best and edge[e] < row)
                    if better and may_join(rules, members, 0, size, edge[e], k):
                        best, row = gain, edge[e]
            count = kept
        if done:
            groups += 1
        else:
            for m in range(size):
                labels[members[m]] = -1
    return groups
