"""Master: the linear programme over the groups known so far, and the choice of whole groups among many; by HiGHS.

Every row must be covered by shares of groups that sum to 1, and the cuts must hold. The duals of its rows are the
prices, those of its cuts the tolls of `exact.pricing`. No result of HiGHS is taken as proved.

HiGHS runs silently on one thread with a fixed seed, and is stopped by counts: the same groups give the same answer.
Only a time budget ends it early.

Huangfu and Hall, Parallelizing the dual revised simplex method, Mathematical Programming Computation 10 (2018) 119-142.
"""

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.exact.cuts import Cuts, coefficients, index_of, no_cuts, violated
from shoal.cluster.exact.pricing import costs
from shoal.cluster.inputs import Floats, Rows
from shoal.model.progress import left, spent

DUAL, PRIMAL = 1, 4  # the strategies of the simplex method
DEAREST = 1e12  # upper limit of a cost, in units of which a row of an answer costs about 100
RESERVE = 0.5  # seconds of a budget reserved for finishing


class Solution(NamedTuple):
    """A solution of the linear programme: its value, the share of each group, the prices and the tolls."""

    value: float
    share: Floats
    price: Floats
    toll: Floats


class Programme:
    """A linear programme for HiGHS: n rows to cover, cuts to respect, groups to choose."""

    def __init__(self, n: int) -> None:
        from highspy import Highs

        self.n, self._strategy = n, PRIMAL
        self.model: Highs = Highs()  # type: ignore[no-untyped-call]
        for option, value in (("output_flag", False), ("threads", 1), ("parallel", "off"), ("random_seed", 0)):
            self.model.setOptionValue(option, value)
        nothing = np.zeros(0, np.int32), np.zeros(0)
        self.model.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, np.int32), *nothing)

    def add(self, groups: Rows, cost: Floats, cuts: Cuts, most: float = np.inf) -> None:
        """Add a column for each group: the rows that it covers and its coefficients in the existing cuts."""
        group, place = np.nonzero(groups >= 0)
        by_cut, cut, value = coefficients(groups, cuts)
        column = np.concatenate([group, by_cut])
        row = np.concatenate([groups[group, place], self.n + cut])
        entry = np.concatenate([np.ones(group.size), value])
        count = len(groups)
        # HiGHS treats costs beyond 1e20 as infinite and fails; costs above any answer may safely be lowered.
        cost = np.minimum(cost, DEAREST)
        self.model.addCols(
            count, cost, np.zeros(count), np.full(count, most), column.size, *_packed(column, row, entry, count)
        )
        self._strategy = PRIMAL

    def add_cuts(self, cuts: Cuts, groups: Rows | None = None) -> None:
        """Add a row for each cut, with its coefficients in the existing groups."""
        count = len(cuts.rows)
        group, cut, value = coefficients(no_groups() if groups is None else groups, cuts)
        none, right = np.full(count, -np.inf), cuts.right.astype(np.float64)
        self.model.addRows(count, none, right, group.size, *_packed(cut, group, value, count))
        self._strategy = DUAL

    def allow_uncovered(self, cost: float) -> None:
        """Allow every row to stay uncovered, at a cost."""
        n, rows = self.n, np.arange(self.n, dtype=np.int32)
        self.model.addCols(n, np.full(n, cost), np.zeros(n), np.full(n, np.inf), n, rows, rows, np.ones(n))

    def allow(self, allowed: NDArray[np.bool_]) -> None:
        """Allow only these groups."""
        count = allowed.size
        upper = np.where(allowed, np.inf, 0.0)
        self.model.changeColsBounds(count, np.arange(count, dtype=np.int32), np.zeros(count), upper)
        self._strategy = DUAL

    def solve(self) -> Solution | None:
        """Solve it; None if HiGHS failed or ran out of time."""
        from highspy import HighsModelStatus

        self.model.setOptionValue("simplex_strategy", self._strategy)
        self.limit_time()
        self.model.run()
        if self.model.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        found = self.model.getSolution()
        dual = np.array(found.row_dual)
        toll = np.maximum(-dual[self.n :], 0.0)
        value = self.model.getInfo().objective_function_value
        return Solution(value, np.array(found.col_value), dual[: self.n].copy(), toll)

    def limit_time(self) -> None:
        """Pass the remaining time budget to HiGHS."""
        if isfinite(left()):
            self.model.setOptionValue("time_limit", self.model.getRunTime() + max(0.0, left() - RESERVE))


class Master:
    """The growing linear programme over groups of k to 2k - 1 rows and cuts; D has the squared distances."""

    def __init__(self, D: Floats, k: int) -> None:
        self.D, self.n = D, len(D)
        self.groups = no_groups(2 * k - 1)
        self.cuts = no_cuts(self.n)
        self._known: set[bytes] = set()
        self._known_cuts: set[bytes] = set()
        self._programme = Programme(self.n)

    def add(self, groups: Rows) -> int:
        """Add the groups that are new, tidied; return their number."""
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
        """Add cuts that the shares of the first groups violate; return their number."""
        rows, weight, divisor = violated(self.groups[: share.size], share, self.n, most, self._known_cuts)
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
        """Solve the linear programme; None if HiGHS failed or ran out of time."""
        return self._programme.solve()


def choose(groups: Rows, cost: Floats, cuts: Cuts, start: Rows | None, nodes: int, looks: int) -> tuple[Rows, bool]:
    """Choose groups that cover every row once, as cheaply as possible; return them and whether a choice may exist.

    `cuts` hold for every choice; `start` is a known choice. The search ends after this many nodes, or after HiGHS has
    asked `looks` times whether to go on.
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
    programme.limit_time()
    model.run()
    taken = np.flatnonzero(np.array(model.getSolution().col_value) > 0.5)
    return taken, model.getModelStatus() != highspy.HighsModelStatus.kInfeasible


def over() -> bool:
    """Return whether only the reserve of a budget is left."""
    return spent(RESERVE) >= 1


def tidy(groups: Rows) -> Rows:
    """Return groups with their rows in ascending order, -1 at the end."""
    far = np.iinfo(np.int64).max
    ordered = np.sort(np.where(groups < 0, far, groups), axis=1)
    return np.where(ordered == far, -1, ordered)


def no_groups(most: int = 1) -> Rows:
    """Return an empty array of groups of this many rows."""
    return np.zeros((0, most), np.int64)


def _packed(line: Rows, place: Rows, entry: Floats, count: int) -> tuple[Any, Any, Any]:
    """Return a sparse matrix line by line: the start of each line, and the indices and values of its entries."""
    order = np.argsort(line, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(line, minlength=count))])[:-1]
    return start.astype(np.int32), place[order].astype(np.int32), entry[order]
