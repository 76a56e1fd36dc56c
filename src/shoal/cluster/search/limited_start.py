"""Limited start: a first partition whose groups meet limits on sensitive values.

1. While both ends succeed: from the free row farthest from the mean of the free rows, and from the free row farthest
   from that one, grow a group of `size` rows. Rows join by distance; one is skipped if the group could not meet the
   limits with it (`search.splitting.choose`).
2. A remaining row joins the group where it costs least and violates nothing, until none can.
3. What is still left becomes a group and is merged with its nearest groups until it meets everything.
4. Several sizes are tried, and the partition of the lowest SSE is kept.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.limits import Limits, Rules
from shoal.cluster.search.splitting import choose
from shoal.cluster.search.state import State, Whole, Workspace, begin, transfer
from shoal.cluster.search.structure import joining, meets_with
from shoal.kernels.groups import centres, cheapest
from shoal.kernels.loops import loop
from shoal.utility.loss import sse

FACTORS = (1, 2, 4, 8)
CLOSEST = 24  # groups that a remaining row tries


def grown_groups(X: Floats, k: int, limits: Limits, weights: Floats) -> Rows:
    """Return labels of groups of at least k rows that meet the limits; one group if not even all rows do."""
    n = len(X)
    one = np.zeros(n, np.int64)
    if n < 2 * k or not limits.met(np.arange(n)):
        return one
    best, least = one, sse(X, one, weights)
    smallest = max(k, int(np.ceil(limits.rules.asked[0])))
    for factor in FACTORS:
        if factor * smallest <= n:
            labels = _grown(X, k, factor * smallest, limits, weights)
            cost = sse(X, labels, weights)
            if cost < least:
                best, least = labels, cost
    return best


def _grown(X: Floats, k: int, size: int, limits: Limits, weights: Floats) -> Rows:
    """Return groups grown to one size, with the remaining rows put where they cost least."""
    labels = _seeded(X, limits.rules, size)
    left = np.flatnonzero(labels < 0)
    groups = int(labels.max()) + 1
    labels[left] = groups
    if groups and left.size:
        state = begin(X, weights, labels, groups + 1, len(X))
        _insert(state, limits.rules, groups, Workspace.of(len(X), 0))
        labels = state.label.astype(np.int64)
    return mend(X, labels, k, limits)


def mend(X: Floats, labels: Rows, k: int, limits: Limits) -> Rows:
    """Merge each group that has too few rows or violates the limits with the nearest ones until it does not.

    Nearest is where SSE rises least. Groups are renumbered from 0 without gaps.
    """
    groups = int(labels.max()) + 1
    order = np.argsort(labels, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(labels, minlength=groups))[:-1])
    middle = centres(X, labels, groups)
    sizes = np.bincount(labels, minlength=groups).astype(np.float64)
    alive = sizes > 0
    for group in range(groups):
        while alive[group] and alive.sum() > 1 and (sizes[group] < k or not limits.met(members[group])):
            other, _ = cheapest(middle, sizes, alive, group)
            share = sizes[other] / (sizes[group] + sizes[other])
            middle[group] += share * (middle[other] - middle[group])
            members[group] = np.concatenate([members[group], members[other]])
            sizes[group] += sizes[other]
            alive[other] = False
    result = np.empty_like(labels)
    for number, survivor in enumerate(np.flatnonzero(alive)):
        result[members[survivor]] = number
    return result


def _seeded(X: Floats, rules: Rules, size: int) -> Rows:
    """Return groups of `size` rows around the outermost rows; -1 where none could be grown."""
    labels = np.full(len(X), -1, np.int64)
    free = np.arange(len(X), dtype=np.int32)
    group, failed = 0, False
    while free.size >= size and not failed:
        point, failed = X[free].mean(axis=0), True
        for _ in range(2):
            if free.size < size:
                break
            point = X[free[np.argmax(_gaps(X, free, point))]].copy()
            order = np.argsort(_gaps(X, free, point), kind="stable")
            chosen = np.zeros(free.size, bool)
            if choose(rules, free, order, size, chosen):
                labels[free[chosen]] = group
                free = free[~chosen]
                group, failed = group + 1, False
    return labels


@loop
def _gaps(X: Floats, rows: Whole, point: Floats) -> Floats:
    """Return the squared distance of each of these rows to a point."""
    gaps = np.zeros(rows.size)
    for i in range(rows.size):
        for j in range(point.size):
            gap = X[rows[i], j] - point[j]
            gaps[i] += gap * gap
    return gaps


@loop
def _insert(state: State, rules: Rules, last: int, workspace: Workspace) -> None:
    """Move rows of the last group where they cost least and violate nothing, until none can go."""
    moved = True
    while moved:
        moved = False
        for place in range(state.size[last] - 1, -1, -1):
            row = state.members[last, place]
            target = _cheapest_that_fits(state, rules, row, last, workspace)
            if target >= 0:
                transfer(state, row, target)
                moved = True


@loop
def _cheapest_that_fits(state: State, rules: Rules, row: int, last: int, workspace: Workspace) -> int:
    """Return the group where a row costs least without violating anything; -1 if there is none."""
    costs = np.full(CLOSEST, np.inf)
    groups = np.full(CLOSEST, -1, np.int64)
    for group in range(last):
        cost = joining(state, row, group)
        if cost < costs[-1]:
            hole = CLOSEST - 1
            while hole > 0 and costs[hole - 1] > cost:
                costs[hole], groups[hole] = costs[hole - 1], groups[hole - 1]
                hole -= 1
            costs[hole], groups[hole] = cost, group
    for place in range(CLOSEST):
        found = int(groups[place])
        if found >= 0 and meets_with(state, rules, found, row, workspace):
            return found
    return -1
