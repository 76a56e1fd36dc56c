"""Master: the linear programme over the groups known so far, and the choice of whole groups among many; by HiGHS.

Every row must be covered by shares of groups that sum to 1, and the cuts must hold. The duals of its rows are the
prices, those of its cuts the tolls of `exact.pricing`. Nothing that HiGHS says is taken for proved.

HiGHS runs on one thread, in silence and from a fixed seed, and is stopped by counts: the same groups give the same
answer. Only a time budget ends it early.

Huangfu and Hall, Parallelizing the dual revised simplex method, Mathematical Programming Computation 10 (2018)
119-142.
"""

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.exact.cuts import Cuts, broken, coefficients, index_of, no_cuts
from shoal.cluster.exact.pricing import costs
from shoal.cluster.inputs import Floats, Rows
from shoal.model.progress import left, spent

__all__ = ["RESERVE", "Master", "Programme", "Solution", "choose", "over", "tidy"]

DUAL, PRIMAL = 1, 4  # the strategies of the simplex method
DEAREST = 1e12  # in units of which an answer has some hundred a row
HALF = 0.5
RESERVE = 0.5  # seconds of a budget that are kept for coming to an end


class Solution(NamedTuple):
    """What the linear programme says: its value, the share of each group, the prices and the tolls."""

    value: float
    share: Floats
    price: Floats
    toll: Floats


class Programme:
    """A linear programme of HiGHS: n rows to be covered, cuts to be kept, groups to be taken."""

    def __init__(self, n: int) -> None:
        from highspy import Highs

        self.n, self._strategy = n, PRIMAL
        self.model: Highs = Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
            self.model.setOptionValue(option, value)
        nothing = np.zeros(0, np.int32), np.zeros(0)
        self.model.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, np.int32), *nothing)

    def add(self, groups: Rows, cost: Floats, cuts: Cuts, most: float = np.inf) -> None:
        """Add a column for each group: the rows that it covers and its coefficients in the cuts there are."""
        group, place = np.nonzero(groups >= 0)
        by_cut, cut, value = coefficients(groups, cuts)
        column = np.concatenate([group, by_cut])
        row = np.concatenate([groups[group, place], self.n + cut])
        entry = np.concatenate([np.ones(group.size), value])
        count = len(groups)
        # HiGHS takes costs beyond 1e20 for infinite and fails; what is dearer than any answer may be less dear.
        cost = np.minimum(cost, DEAREST)
        self.model.addCols(
            count, cost, np.zeros(count), np.full(count, most), column.size, *_packed(column, row, entry, count)
        )
        self._strategy = PRIMAL

    def add_cuts(self, cuts: Cuts, groups: Rows | None = None) -> None:
        """Add a row for each cut, with its coefficients in the groups there are."""
        count = len(cuts.rows)
        group, cut, value = coefficients(no_groups() if groups is None else groups, cuts)
        none, right = np.full(count, -np.inf), cuts.right.astype(np.float64)
        self.model.addRows(count, none, right, group.size, *_packed(cut, group, value, count))
        self._strategy = DUAL

    def let_go(self, cost: float) -> None:
        """Let every row stay uncovered, at a cost."""
        n, rows = self.n, np.arange(self.n, dtype=np.int32)
        self.model.addCols(n, np.full(n, cost), np.zeros(n), np.full(n, np.inf), n, rows, rows, np.ones(n))

    def allow(self, allowed: NDArray[np.bool_]) -> None:
        """Allow some of the groups, and no others."""
        count = allowed.size
        upper = np.where(allowed, np.inf, 0.0)
        self.model.changeColsBounds(count, np.arange(count, dtype=np.int32), np.zeros(count), upper)
        self._strategy = DUAL

    def solve(self) -> Solution | None:
        """Solve it; None if HiGHS could not, or not in time."""
        from highspy import HighsModelStatus

        self.model.setOptionValue("simplex_strategy", self._strategy)
        self.hurry()
        self.model.run()
        if self.model.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        found = self.model.getSolution()
        dual = np.array(found.row_dual)
        toll = np.maximum(-dual[self.n :], 0.0)
        value = self.model.getInfo().objective_function_value
        return Solution(value, np.array(found.col_value), dual[: self.n].copy(), toll)

    def hurry(self) -> None:
        """Tell HiGHS what a budget leaves it."""
        if isfinite(left()):
            self.model.setOptionValue("time_limit", self.model.getRunTime() + max(0.0, left() - RESERVE))


class Master:
    """The linear programme over groups and cuts, which grow.

    Parameters
    ----------
    D : float64 array of shape (n, n)
        Squared distances.
    k : int
        Groups have k to 2k - 1 rows.
    """

    def __init__(self, D: Floats, k: int) -> None:
        self.D, self.n = D, len(D)
        self.groups = no_groups(2 * k - 1)
        self.cuts = no_cuts(self.n)
        self._known: set[bytes] = set()
        self._known_cuts: set[bytes] = set()
        self._programme = Programme(self.n)

    def add(self, groups: Rows) -> int:
        """Add the groups that are new, tidy ones; return how many they are."""
        new = []
        for g in range(len(groups)):
            key = groups[g].tobytes()
            if key not in self._known:
                self._known.add(key)
                new.append(g)
        if new:
            fresh = groups[new]
            self.groups = np.vstack([self.groups, fresh])
            self._programme.add(fresh, costs(self.D, fresh), self.cuts)
        return len(new)

    def cut(self, share: Floats, most: int) -> int:
        """Add cuts that the shares of the first groups break; return how many."""
        rows, weight, divisor = broken(self.groups[: share.size], share, self.n, most, self._known_cuts)
        if len(rows):
            self._programme.add_cuts(index_of(rows, weight, divisor, self.n), self.groups)
            old = self.cuts
            self.cuts = index_of(
                np.vstack([old.rows, rows]),
                np.vstack([old.weight, weight]),
                np.concatenate([old.divisor, divisor]),
                self.n,
            )
        return len(rows)

    def solve(self) -> Solution | None:
        """Solve the linear programme; None if HiGHS could not, or not in time."""
        return self._programme.solve()


def choose(groups: Rows, cost: Floats, cuts: Cuts, start: Rows | None, nodes: int, looks: int) -> tuple[Rows, bool]:
    """Choose groups that cover every row once, as cheaply as can be found.

    Parameters
    ----------
    groups : int64 array of shape (groups, 2k - 1)
    cost : float64 array of shape (groups,)
    cuts : Cuts
        Those that help; no choice breaks any.
    start : int64 array or None
        Groups that cover every row once, if they are known.
    nodes, looks : int
        When the search ends: after so many nodes, or after HiGHS has asked so often whether to go on.

    Returns
    -------
    int64 array, bool
        The numbers of the groups chosen, and whether there may be a choice at all.
    """
    import highspy

    programme, count = Programme(cuts.start.size - 1), len(groups)
    model = programme.model
    programme.add_cuts(cuts)
    programme.add(groups, cost, cuts, 1.0)
    model.changeColsIntegrality(count, np.arange(count, dtype=np.int32), np.full(count, highspy.HighsVarType.kInteger))
    model.setOptionValue("mip_rel_gap", 0.0)
    model.setOptionValue("mip_max_nodes", nodes)
    if start is not None:
        known = highspy.HighsSolution()
        value = np.zeros(count)
        value[start] = 1.0
        known.col_value = list(value)
        model.setSolution(known)
    looked = 0

    def look(event: Any) -> None:
        nonlocal looked
        looked += 1
        if looked >= looks or over():
            event.interrupt()

    model.cbMipInterrupt.subscribe(look)
    programme.hurry()
    model.run()
    taken = np.flatnonzero(np.array(model.getSolution().col_value) > HALF)
    return taken, model.getModelStatus() != highspy.HighsModelStatus.kInfeasible


def over() -> bool:
    """Say whether a budget leaves no time but for coming to an end."""
    return spent(RESERVE) >= 1


def tidy(groups: Rows) -> Rows:
    """Return groups with their rows in ascending order, -1 at the end."""
    far = np.iinfo(np.int64).max
    ordered = np.sort(np.where(groups < 0, far, groups), axis=1)
    return np.where(ordered == far, -1, ordered)


def no_groups(most: int = 1) -> Rows:
    """Return no groups of so many rows at the most."""
    return np.zeros((0, most), np.int64)


def _packed(line: Rows, place: Rows, entry: Floats, count: int) -> tuple[Any, Any, Any]:
    """Return the entries of a sparse matrix line by line: where each line starts, their places and values."""
    order = np.argsort(line, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))])[:-1]
    return start.astype(np.int32), place[order].astype(np.int32), entry[order]
