"""Pricing: exact search, by branch and bound, for groups that cost less than the prices of their rows.

Every row has a price p_i and every cut a toll. A group S of m rows has the reduced cost

    (1/m) sum over pairs of |x_i - x_j|^2  -  sum of p_i  +  tolls of the cuts that S uses,

the first sum being its SSE. If no group has a negative one, the prices less the tolls sum to no more than the SSE of
any partition: a lower bound.

1. Rows are sorted by falling price. A group is built from its first row on, for each size m.
2. Rows P are chosen, r = m - |P| are not. Row j then adds at least (1/m) sum over P of |x_j - x_i|^2 - p_j + (1/2m)
   (its r - 1 least squared distances) + tolls(j) / r, and the sum over the r cheapest rows bounds all completions: no
   better than the limit, no search.
3. The tolls that come with row j are divided by r, since up to r rows may bring the same ones; by 8 at most, since a
   cut has 9 rows at most.
4. From the last row to the first: if the best group that starts with a row has a negative reduced cost, the row's price
   is lowered by it. Afterwards no group has one, and the prices give a bound, whatever they were.
5. A search that takes too long is given up; the least bound of its open branches replaces step 4.
"""

from typing import NamedTuple

import numpy as np

from shoal.cluster.exact.cuts import WIDTH, Cuts
from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import loop

BURST = 20  # times its fair share of the work that one search may take
ROUNDING = 1e-13  # relative error: more than some hundred operations can accumulate


class Workspace(NamedTuple):
    """Working arrays of a search: one line per chosen row, one column per candidate or row."""

    rows: Rows  # candidates, cheapest first
    key: Floats  # least possible contribution of each
    cost: Floats  # of each row: distances less price
    due: Floats  # of each row: tolls
    change: Floats  # of each row: change of tolls by the row chosen last
    least: Floats  # the cheapest keys while a line is written
    base: Floats  # of each line: the cost of the rows chosen
    many: Rows  # of each line: candidates
    at: Rows  # of each line: the next candidate
    path: Rows  # the rows chosen


@loop
def lowered(
    D: Floats, near: Floats, price: Floats, order: Rows, cuts: Cuts, toll: Floats, k: int, tolerance: float, work: int
) -> tuple[Floats, Rows, int]:
    """Lower prices until no group is worth more than it costs.

    Return them, the groups that made it necessary, and the number of searches given up.
    """
    n = len(D)
    workspace = _workspace(n, k, price, order)
    lower = price.copy()
    groups = np.full((n * k, 2 * k - 1), -1, np.int64)
    reduced = np.empty(1)
    count, given_up, left = 0, 0, work
    for first in range(n - k, -1, -1):
        row = order[first]
        fall = 0.0
        for m in range(k, min(2 * k, n - first + 1)):
            allowed = max(1000, BURST * left // ((first + 1) * k))
            found, bound, used = _search(
                D, near, cuts, toll, workspace, first, m, -tolerance, False, allowed, groups[count:], reduced
            )
            left = max(0, left - used)
            given_up += used > allowed
            count += found
            fall = min(fall, bound)
        lower[row] += fall
        workspace.cost[0, row] = -lower[row]
    return lower, groups[:count], given_up


@loop
def below(
    D: Floats,
    near: Floats,
    price: Floats,
    order: Rows,
    cuts: Cuts,
    toll: Floats,
    k: int,
    limit: float,
    capacity: int,
    work: int,
) -> tuple[Rows, Floats, int]:
    """Return all groups with a reduced cost below the limit, these costs, and their number, -1 if too many."""
    n = len(D)
    workspace = _workspace(n, k, price, order)
    groups, reduced = np.full((capacity, 2 * k - 1), -1, np.int64), np.empty(capacity)
    count, left = 0, work
    for first in range(n - k, -1, -1):
        for m in range(k, min(2 * k, n - first + 1)):
            found, _, used = _search(
                D, near, cuts, toll, workspace, first, m, limit, True, left, groups[count:], reduced[count:]
            )
            if found < 0 or used > left:
                return groups, reduced, -1
            count += found
            left -= used
    return groups[:count], reduced[:count], count


@loop
def _workspace(n: int, k: int, price: Floats, order: Rows) -> Workspace:
    """Return working arrays whose first line holds all rows at their prices."""
    lines = 2 * k
    rows = np.empty((lines, n), np.int64)
    cost = np.empty((lines, n))
    rows[0] = order
    cost[0] = -price
    many = np.zeros(lines, np.int64)
    many[0] = n
    return Workspace(
        rows,
        np.empty((lines, n)),
        cost,
        np.zeros((lines, n)),
        np.zeros(n),
        np.empty(lines),
        np.zeros(lines),
        many,
        np.zeros(lines, np.int64),
        np.zeros(lines, np.int64),
    )


@loop
def _search(
    D: Floats,
    near: Floats,
    cuts: Cuts,
    toll: Floats,
    workspace: Workspace,
    first: int,
    m: int,
    limit: float,
    every: bool,
    allowed: int,
    groups: Rows,
    reduced: Floats,
) -> tuple[int, float, int]:
    """Find the best group of m rows that starts at a position of the order, or every one below the limit.

    Return how many were found (-1: no space), a bound of all reduced costs, and the work done; more than allowed means
    that the search was given up.
    """
    at, base, many, key, path = workspace.at, workspace.base, workspace.many, workspace.key, workspace.path
    path[0] = workspace.rows[0, first]
    used = _choose(D, near, cuts, toll, workspace, 0, first, m, limit)
    found, bound, level = 0, 0.0, 1
    while level >= 1:
        rest = m - level
        reach = base[level] if at[level] + rest <= many[level] else np.inf
        if reach < np.inf:
            for i in range(at[level], at[level] + rest):
                reach += key[level, i]
        if reach >= limit:
            level -= 1
            continue
        if used > allowed:
            bound = min(bound, reach)
            level -= 1
            continue
        place = at[level]
        at[level] += 1
        path[level] = workspace.rows[level, place]
        if rest > 1:
            used += _choose(D, near, cuts, toll, workspace, level, place, m, limit)
            level += 1
            continue
        if every and found == len(groups):
            return -1, bound, used
        slot = found if every else 0
        groups[slot, :m] = path[:m]
        reduced[slot] = reach
        bound = min(bound, reach)
        found = slot + 1
        if not every:
            limit = reach
    return found, bound, used


@loop
def _choose(
    D: Floats,
    near: Floats,
    cuts: Cuts,
    toll: Floats,
    workspace: Workspace,
    level: int,
    place: int,
    m: int,
    limit: float,
) -> int:
    """Choose a candidate of one line and write the next: the remaining candidates. Return the rows examined."""
    row = workspace.path[level]
    rest = m - level - 1
    inverse, part = 1.0 / m, 1.0 / min(rest, WIDTH - 1)
    base = workspace.base[level] + workspace.cost[level, row] + workspace.due[level, row]
    cost, due, key, rows = (
        workspace.cost[level + 1],
        workspace.due[level + 1],
        workspace.key[level + 1],
        workspace.rows[level + 1],
    )
    least, change = workspace.least, workspace.change
    _charge(cuts, toll, workspace.path, level, change)
    least[:rest] = np.inf
    looked = int(workspace.many[level]) - place - 1
    for i in range(looked):
        other = workspace.rows[level, place + 1 + i]
        cost[other] = workspace.cost[level, other] + inverse * D[row, other]
        due[other] = workspace.due[level, other] + change[other]
        key[i] = cost[other] + 0.5 * inverse * near[rest - 1, other] + part * due[other]
        rows[i] = other
        if key[i] < least[rest - 1]:
            hole = rest - 1
            while hole > 0 and least[hole - 1] > key[i]:
                least[hole] = least[hole - 1]
                hole -= 1
            least[hole] = key[i]
    _forget(cuts, row, change)
    # A candidate stays if its bound with the cheapest others is below the limit.
    most = limit - base
    for i in range(rest - 1):
        most -= least[i]
    kept = 0
    if looked >= rest and least[rest - 1] < most:
        for i in range(looked):
            if key[i] < most:
                key[kept], rows[kept] = key[i], rows[i]
                kept += 1
    _sort(key, rows, kept)
    workspace.base[level + 1], workspace.many[level + 1], workspace.at[level + 1] = base, kept, 0
    return looked


@loop
def _charge(cuts: Cuts, toll: Floats, path: Rows, level: int, change: Floats) -> None:
    """Add up how the row chosen last changes the tolls of every other row."""
    row = path[level]
    for c in cuts.through[cuts.start[row] : cuts.start[row + 1]]:
        if toll[c] <= 0.0:
            continue
        before, own, divisor = 0, 0, cuts.divisor[c]
        for place in range(WIDTH):
            member = cuts.rows[c, place]
            if member == row:
                own = cuts.weight[c, place]
            elif member >= 0:
                for chosen in path[:level]:
                    if chosen == member:
                        before += cuts.weight[c, place]
        now = before + own
        for place in range(WIDTH):
            if cuts.rows[c, place] < 0:
                break
            w = cuts.weight[c, place]
            steps = (now + w) // divisor - now // divisor - (before + w) // divisor + before // divisor
            change[cuts.rows[c, place]] += toll[c] * steps


@loop
def _forget(cuts: Cuts, row: int, change: Floats) -> None:
    """Reset the changes of tolls to 0."""
    for c in cuts.through[cuts.start[row] : cuts.start[row + 1]]:
        for place in range(WIDTH):
            if cuts.rows[c, place] < 0:
                break
            change[cuts.rows[c, place]] = 0.0


@loop
def _sort(key: Floats, rows: Rows, count: int) -> None:
    """Sort candidates by their keys (Shell, 1959)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(gap, count):
            value, row, hole = key[i], rows[i], i
            while hole >= gap and key[hole - gap] > value:
                key[hole], rows[hole] = key[hole - gap], rows[hole - gap]
                hole -= gap
            key[hole], rows[hole] = value, row
        gap //= 3


@loop
def distances(X: Floats) -> Floats:
    """Return the squared distance of every two rows."""
    n = len(X)
    D = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            total = 0.0
            for column in range(X.shape[1]):
                gap = X[i, column] - X[j, column]
                total += gap * gap
            D[i, j] = total
            D[j, i] = total
    return D


@loop
def costs(D: Floats, groups: Rows) -> Floats:
    """Return the SSE of each group."""
    found = np.zeros(len(groups))
    for g in range(len(groups)):
        size = 0
        for i in range(groups.shape[1]):
            if groups[g, i] >= 0:
                size += 1
                for j in range(i):
                    found[g] += D[groups[g, i], groups[g, j]]
        found[g] /= size
    return found


def rounding(price: Floats, toll: Floats, cuts: Cuts, k: int) -> float:
    """Return the greatest possible rounding error of the reduced cost of a relevant group."""
    entries = np.repeat(np.arange(cuts.start.size - 1), np.diff(cuts.start))
    tolls = np.bincount(entries, toll[cuts.through], cuts.start.size - 1)
    return ROUNDING * 2 * k * float(np.abs(price).max() + tolls.max())


def nearest_sums(D: Floats, k: int) -> Floats:
    """Return, in line r, the sum of the r least squared distances of each row to others."""
    n, most = len(D), 2 * k - 1
    sums = np.zeros((most + 1, n))
    least = np.sort(np.partition(D, min(most, n - 1), axis=1)[:, : most + 1], axis=1)[:, 1:]
    sums[1 : least.shape[1] + 1] = np.cumsum(least, axis=1).T
    return sums
