"""Column generation: an answer and a bound that converge group by group and cut by cut.

These are steps 2 to 5 of `exact`.

Costs are scaled so that a row of the first answer costs 100 on average, which gives tolerances the same meaning on
every table. A bound holds for any prices, as long as the search for groups is exact (`exact.pricing`); the possible
rounding error is subtracted.

du Merle, Villeneuve, Desrosiers and Hansen, Stabilized column generation, Discrete Mathematics 194 (1999) 229-237.
"""

from dataclasses import dataclass
from math import fsum, inf, isfinite

import numpy as np

from shoal.cluster.exact.branching import branch
from shoal.cluster.exact.master import RESERVE, Master, Solution, choose, over, tidy
from shoal.cluster.exact.pricing import below, costs, distances, lowered, nearest_sums, rounding
from shoal.cluster.inputs import Floats, Rows
from shoal.model.partition import Partition
from shoal.model.progress import left, part, spent, tick

UNIT = 100.0  # the mean cost of a row
TOLERANCE = 1e-7  # a reduced cost above minus this counts as zero
SETTLED = 0.03  # of the gap between answer and programme: the bound is tight enough for cuts
HALVINGS = 20  # of the gap between answer and bound, until few enough groups lie within
ROWS_PER_SECOND = 20_000_000  # rows that a search for groups examines per second on a slow machine


@dataclass(frozen=True)
class Work:
    """How much work to spend, in counts.

    `starts` annealing searches with `rounds` proposals per row each, k - 2 times as many for k above 3; at most
    `pricings` searches for groups and `cuttings` rounds of cuts. Searches for groups that are given up may examine
    about `examined` rows, each a tenth of what is left. An integer programme chooses among `choices` groups per row,
    once for each entry, for a better answer, and among at most `proof` groups for a proof; it is given up after `nodes`
    nodes, or after the solver has asked `looks` times whether to go on.
    """

    starts: int
    rounds: int
    pricings: int
    cuttings: int
    examined: int
    choices: tuple[int, ...]
    proof: int
    nodes: int
    looks: int


class Search:
    """An answer, a bound, and the steps that bring them together, for 2k <= n.

    `starts` are partitions into groups of k to 2k - 1 rows; the best of them is the first answer.
    """

    def __init__(self, X: Floats, k: int, work: Work, starts: list[Rows]) -> None:
        self.k, self.n, self.work = k, len(X), work
        D = distances(X)
        found = [_groups(labels, k) for labels in starts]
        total = [float(costs(D, groups).sum()) for groups in found]
        best = int(np.argmin(total))
        self.unit = max(total[best] / (UNIT * self.n), np.finfo(np.float64).tiny)
        self.upper, self.lower, self.best = total[best] / self.unit, 0.0, found[best]
        if total[best] == 0.0:
            return
        self.D = D / self.unit
        self.near = nearest_sums(self.D, k)
        # Squared distances are sums of d terms, each rounded; an answer is a sum of these.
        self.slack = TOLERANCE * self.n + float(np.finfo(np.float64).eps) * (X.shape[1] + 4 * k) * self.upper
        self.price, self.toll, self.worth = np.zeros(self.n), np.zeros(0), -inf
        self.chosen = False
        self.examinable = work.examined
        self.pricings, self.cuttings = work.pricings, work.cuttings
        self.master = Master(self.D, k)
        for groups in found:
            self.master.add(tidy(groups))

    def run(self) -> None:
        """Close the gap as far as the work allows."""
        if self.upper == 0.0:
            return
        parts = 2 + len(self.work.choices)
        with part(1, parts):
            self.relax()
        for number, size in enumerate(self.work.choices):
            if self.prove() or self.ended():
                return
            self.improve(size * self.n)
            with part(2 + number, parts):
                self.relax()
        self.prove()

    def ended(self) -> bool:
        """Return whether there is nothing left to do, or no time."""
        return self.upper - self.lower <= 2 * self.slack or over()

    def labels(self) -> Rows:
        """Return the group of each row."""
        labels = np.zeros(self.n, np.int64)
        for number, group in enumerate(self.best):
            labels[group[group >= 0]] = number
        return labels

    def relax(self) -> None:
        """Add groups and cuts to the linear programme until neither raises the bound; steps 2 and 3."""
        halfway = True
        while self.pricings > 0 and self.examinable > 0 and not self.ended():
            tick(self.work.pricings - self.pricings, self.work.pricings)
            solution = self.master.solve()
            if solution is None:
                return
            self.pricings -= 1
            self.take(np.flatnonzero(solution.share > 0.5), self.master.groups)
            added = self.price_out(solution, halfway)
            far = solution.value - self.lower > SETTLED * (self.upper - solution.value)
            if far and (added or halfway):
                halfway = added > 0
                continue
            if self.cuttings == 0 or over():
                return
            self.cuttings -= 1
            if self.master.cut(solution.share, max(20, self.n // 6)) == 0:
                return
            halfway = True

    def price_out(self, solution: Solution, halfway: bool) -> int:
        """Search for groups at prices between those of solution and best bound; return how many are new."""
        known = np.pad(self.toll, (0, solution.toll.size - self.toll.size))
        share = 0.5 if halfway and self.worth > -inf else 0.0
        price = share * self.price + (1 - share) * solution.price
        toll = share * known + (1 - share) * solution.toll
        cuts, work = self.master.cuts, self.search_work()
        order = np.argsort(-price, kind="stable")
        price, groups, given_up = lowered(self.D, self.near, price, order, cuts, toll, self.k, TOLERANCE, work)
        if given_up:
            self.give_up(work)
        worth = fsum(price) - fsum(toll * cuts.right) - self.slack
        worth -= (self.n // self.k) * rounding(price, toll, cuts, self.k)
        if worth > self.worth:
            self.price, self.toll, self.worth = price, toll, worth
            self.lower = max(self.lower, worth)
        return self.master.add(tidy(groups))

    def search_work(self) -> int:
        """Return how many rows the next search may examine; fewer if little time is left."""
        share, time = self.examinable // 10, left() - RESERVE
        return min(share, max(0, int(ROWS_PER_SECOND * time))) if isfinite(time) else share

    def give_up(self, work: int) -> None:
        """Subtract the work of a failed search."""
        if work < self.examinable // 10:
            spent(inf)  # the budget has cut the search short
        self.examinable -= max(work, self.work.examined // 100)

    def take(self, chosen: Rows, groups: Rows) -> bool:
        """Make these groups the answer if they cover every row once at a lower cost; return whether they do."""
        rows = groups[chosen]
        cost = float(costs(self.D, rows).sum())
        if cost >= self.upper or not np.array_equal(np.sort(rows[rows >= 0]), np.arange(self.n)):
            return False
        self.upper, self.best = cost, rows
        return True

    def within(self, limit: float, capacity: int) -> tuple[Rows, Floats, int]:
        """Return the groups with a reduced cost below the limit, and these costs; -1 if there are too many."""
        toll = np.pad(self.toll, (0, len(self.master.cuts.rows) - self.toll.size))
        order = np.argsort(-self.price, kind="stable")
        work = self.search_work()
        found = below(self.D, self.near, self.price, order, self.master.cuts, toll, self.k, limit, capacity, work)
        if found[2] < 0:
            self.give_up(work)
        return found

    def improve(self, size: int) -> None:
        """Choose among the fewest groups, those of low reduced cost; step 5."""
        limit, halvings = self.upper - self.worth, HALVINGS
        groups, reduced, count = self.within(limit, 8 * size)
        while count < 0 and halvings and self.examinable > 0 and not over():
            limit, halvings = limit / 2, halvings - 1
            groups, reduced, count = self.within(limit, 8 * size)
        order = np.argsort(reduced[: max(count, 0)], kind="stable")
        while size < 8 * self.n and count > 0 and not over():
            if self.pick(groups[order[:size]], start=self.chosen) or size >= count:
                return
            size += self.n // 2

    def prove(self) -> bool:
        """Show that no better answer can be made of the groups it may contain, if they are few enough; step 4."""
        for known in (False, True):
            if self.ended():
                return True
            # Every group of an answer below `upper` has a reduced cost below the gap between answer and bound.
            groups, _, count = self.within(self.upper - self.worth + self.slack, self.work.proof)
            if count < 0:
                return False
            if not known:
                self.pick(groups, start=True)
        groups = tidy(groups)
        cost, cuts = costs(self.D, groups), self.master.cuts
        proof = branch(groups, cost, cuts, self.k, self.upper, self.slack, self.work.nodes)
        self.take(proof.groups, groups)
        self.lower = max(self.lower, min(self.upper, proof.bound))
        return not self.upper - self.lower > 2 * self.slack

    def pick(self, groups: Rows, *, start: bool) -> bool:
        """Take the choice of an integer programme, optionally started with the answer; return whether one may exist."""
        groups, known = tidy(groups), None
        if start:
            groups, place = np.unique(np.vstack([tidy(self.best), groups]), axis=0, return_inverse=True)
            known = np.asarray(place).reshape(-1)[: len(self.best)]
        cost = costs(self.D, groups)
        taken, possible = choose(groups, cost, self.master.cuts, known, self.work.nodes, self.work.looks)
        self.chosen = self.take(taken, groups) or self.chosen
        return possible


def _groups(labels: Rows, k: int) -> Rows:
    """Return the rows of each group, padded with -1 to 2k - 1."""
    groups = np.full((int(labels.max()) + 1, 2 * k - 1), -1, np.int64)
    for number, rows in enumerate(Partition.of(labels).members()):
        groups[number, : rows.size] = rows
    return groups
