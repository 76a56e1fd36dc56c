"""Branching: a proof, immune to rounding, that no choice among many groups is better than a known one.

1. A node is a set of groups that are still allowed. Its linear programme is solved by HiGHS, for its duals alone.
2. For any such prices and tolls, their sum, less the largest negative reduced cost of any allowed group, is a lower
   bound of all choices of the node. It is computed here, with a margin for rounding, and prunes the node.
3. Groups whose reduced cost is too high for any better choice are removed.
4. Branches are the two rows whose share of being together is nearest to 1/2: together in one, apart in the other.
5. A row may stay uncovered at the cost of the known choice. So each programme has a solution, and infeasibility shows
   in its bound.

Ryan and Foster, An integer programming approach to scheduling, in Wren (ed.), Computer scheduling of public transport
(1981) 269-280; Neumaier and Shcherbina, Safe bounds in linear and mixed-integer linear programming, Mathematical
Programming 99 (2004) 283-296.
"""

from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from shoal.cluster.exact.cuts import WHOLE, Cuts, coefficients
from shoal.cluster.exact.master import Programme, over
from shoal.cluster.exact.pricing import rounding
from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import loop

Allowed = NDArray[np.bool_]


class Proof(NamedTuple):
    """The groups of a better choice, none if there is none; and a lower bound of all choices."""

    groups: Rows
    bound: float


def branch(groups: Rows, cost: Floats, cuts: Cuts, k: int, upper: float, slack: float, nodes: int) -> Proof:
    """Search for choices of groups that cover every row once and cost less than `upper`, until there can be none.

    `groups`, of shape (groups, 2k - 1), are all that a better choice may contain, `cuts` hold for every choice, `slack`
    is the tolerance of the proof, and the search is given up after this many nodes.
    """
    n = cuts.start.size - 1
    programme = Programme(n)
    programme.add_cuts(cuts)
    programme.add(groups, cost, cuts)
    programme.allow_uncovered(upper)
    table = _table(groups, cuts)
    right = np.concatenate([np.ones(n), -cuts.right.astype(np.float64)])
    chosen, least = np.zeros(0, np.int64), np.inf
    waiting: list[tuple[float, Allowed]] = [(-np.inf, np.ones(len(groups), np.bool_))]
    while waiting and nodes > 0 and not over():
        bound, allowed = waiting.pop()
        nodes -= 1
        programme.allow(allowed)
        solution = programme.solve()
        pair = (-1, -1)
        if solution is not None:
            dual = np.concatenate([solution.price, solution.toll])
            reduced = cost - table @ dual
            worth = fsum(right * dual) + fsum(np.minimum(reduced[allowed], 0.0))
            bound = max(bound, worth - (n // k) * rounding(solution.price, solution.toll, cuts, k))
            if bound >= upper - slack:
                continue
            allowed = allowed & (reduced < upper - bound + slack)
            share = solution.share[: len(groups)]
            whole = np.flatnonzero(share > 0.5)
            total = float(cost[whole].sum())
            if total < upper and np.array_equal(np.sort(groups[whole][groups[whole] >= 0]), np.arange(n)):
                upper, chosen = total, whole
            fractional = np.flatnonzero((share > WHOLE) & (share < 1 - WHOLE))
            pair = _halved(groups[fractional], share[fractional])
        if pair[0] < 0:
            least = min(least, bound)
            continue
        one, other = ((groups == row).any(axis=1) for row in pair)
        waiting += [(bound, allowed & ~(one & other)), (bound, allowed & ~(one ^ other))]
    # Pruned nodes are not below upper - slack; open ones, and those that could not be branched, have their own bound.
    return Proof(chosen, min(least, upper - slack, *(bound for bound, _ in waiting)))


def _table(groups: Rows, cuts: Cuts) -> csr_matrix:
    """Return the coefficients of each group in the rows and, with opposite sign, in the cuts."""
    group, place = np.nonzero(groups >= 0)
    by_cut, cut, value = coefficients(groups, cuts)
    n = cuts.start.size - 1
    entries = np.concatenate([np.ones(group.size), -value])
    where = np.concatenate([group, by_cut]), np.concatenate([groups[group, place], n + cut])
    return csr_matrix((entries, where), shape=(len(groups), n + len(cuts.rows)))


@loop
def _halved(groups: Rows, share: Floats) -> tuple[int, int]:
    """Return the two rows whose share of being together is nearest to 1/2; -1 if it is 0 or 1 for all."""
    best, one, other = 0.5 - WHOLE, -1, -1
    for g in range(len(groups)):
        for i in range(groups.shape[1]):
            for j in range(i):
                if groups[g, i] < 0:
                    continue
                total = 0.0
                for h in range(len(groups)):
                    held = 0
                    for row in groups[h]:
                        held += row in (groups[g, i], groups[g, j])
                    if held == 2:
                        total += share[h]
                if abs(total - 0.5) < best:
                    best, one, other = abs(total - 0.5), groups[g, j], groups[g, i]
    return one, other
