"""Enforce: turn any partition into one that meets the constraints, with the least increase in SSE.

1. Refuse what no partition can meet, and name the nearest request that one could.
2. A group fails if it has fewer than k rows or its sensitive values miss a model, as the judge counts them.
3. While a group fails: of all failing groups, merge the one that can be merged most cheaply,
   where merging groups a and b raises SSE by W_a W_b / (W_a + W_b) |c_a - c_b|^2, with W the number of
   rows, or the sum of their weights if they have any. Ties go to the lowest group number.

Merging terminates: the union of all rows meets whatever is feasible at all. A union of groups that meet k, l, t, alpha
or beta meets it too; this does not hold for delta-disclosure, where a group may have to be merged again.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import ModelCard
from shoal.errors import InfeasibleError, listed
from shoal.model.partition import Partition
from shoal.model.policy import Constraints
from shoal.model.progress import tick
from shoal.privacy.verdict.classes import Counts
from shoal.privacy.verdict.judge import asked_of, failing
from shoal.privacy.verdict.values import Values

Flags = NDArray[np.bool_]
Matrix = NDArray[np.float64]
LEAST = 1e-6  # share of the mean weight given to rows of weight 0, so that groups of such rows have a mean


def enforce(
    partition: Partition,
    X: Matrix,
    constraints: Constraints,
    sensitive: Mapping[str, Values],
    weights: Matrix | None = None,
) -> Partition:
    """Merge groups until every one meets the constraints.

    `sensitive` has one value per row of `X`. `weights`, at least 0, is how much each row counts in the means and in the
    cost of merging. A partition that meets everything is returned as it is; otherwise the new one keeps the notes but
    not the findings, which describe the method's own groups.

    Guarantee
    ---------
    Every group meets every constraint, or InfeasibleError is raised. Groups that already met them are only
    ever merged with others, never cut.

    Cost
    ----
    O(f g d) time for f failing groups of g, O(n) memory.
    """
    check_feasible(partition.n, constraints, sensitive)
    bad = failing(partition.labels, constraints, sensitive)
    if not bad.any():
        return partition
    merging = _Merging(partition, X, constraints, sensitive, weights, bad)
    total = int(bad.sum())
    while merging.bad.any():
        merging.merge_cheapest()
        tick(total - int(merging.bad.sum()), total)
    return merging.result()


class _Merging:
    """Groups that are being merged; each failing one has its cheapest partner."""

    def __init__(
        self,
        partition: Partition,
        X: Matrix,
        constraints: Constraints,
        sensitive: Mapping[str, Values],
        weights: Matrix | None,
        bad: Flags,
    ) -> None:
        from shoal.kernels.groups import cheapest, increases

        self._cheapest, self._increases = cheapest, increases
        self.constraints, self.sensitive = constraints, sensitive
        self.n, self.notes = partition.n, partition.notes
        self.members = partition.members()
        self.centres, self.masses = _centres(X, partition, weights)
        self.alive = np.ones(partition.groups, bool)
        self.bad = bad.copy()
        self.partner = np.full(partition.groups, -1, np.int64)
        self.cost = np.full(partition.groups, np.inf)
        for group in np.flatnonzero(bad):
            self._find_partner(int(group))

    def merge_cheapest(self) -> None:
        """Merge the failing group that costs least with its partner, and update the others."""
        failing_now = np.flatnonzero(self.bad)
        group = int(failing_now[np.argmin(self.cost[failing_now])])
        other = int(self.partner[group])
        both = self.masses[group] + self.masses[other]
        share = self.masses[other] / both
        self.centres[group] += share * (self.centres[other] - self.centres[group])
        self.masses[group] = both
        self.members[group] = np.concatenate([self.members[group], self.members[other]])
        self.alive[other] = self.bad[other] = False
        self.bad[group] = self._fails(self.members[group])
        waiting = np.flatnonzero(self.bad)
        partner = self.partner[waiting]
        stale = (partner == group) | (partner == other) | (waiting == group)
        for one in waiting[stale]:
            self._find_partner(int(one))
        rest = waiting[~stale]
        if rest.size:
            cost = self._increases(self.centres, self.masses, rest, group)
            nearer = rest[(cost < self.cost[rest]) | ((cost == self.cost[rest]) & (group < self.partner[rest]))]
            self.cost[nearer] = cost[np.searchsorted(rest, nearer)]
            self.partner[nearer] = group

    def result(self) -> Partition:
        """Return the remaining groups."""
        labels = np.empty(self.n, np.int64)
        for group in np.flatnonzero(self.alive):
            labels[self.members[group]] = group
        return Partition.of(labels, self.notes)

    def _find_partner(self, group: int) -> None:
        """Find the cheapest partner of a group."""
        self.partner[group], self.cost[group] = self._cheapest(self.centres, self.masses, self.alive, group)

    def _fails(self, rows: NDArray[np.int64]) -> bool:
        """Ask the judge whether these rows, as one group, miss a constraint."""
        some = {name: column.some(rows) for name, column in self.sensitive.items()}
        return bool(failing(np.zeros(rows.size, np.int64), self.constraints, some, self.sensitive)[0])


def _centres(X: Matrix, partition: Partition, weights: Matrix | None) -> tuple[Matrix, Matrix]:
    """Return the mean of each group, and the total weight of its rows."""
    from shoal.kernels.groups import centres

    labels = partition.labels
    middle = centres(X, labels, partition.groups)
    if weights is None or not weights.any():
        return middle, partition.sizes.astype(np.float64)
    shares = weights / weights.max()
    counts = np.maximum(shares / shares.mean(), LEAST)
    masses = np.asarray(np.bincount(labels, counts), np.float64)
    for number, column in enumerate(X.T):
        # Start from unweighted means: the correction is small, so a mean far from zero loses no digits.
        middle[:, number] += np.bincount(labels, counts * (column - middle[labels, number])) / masses
    return middle, masses


def check_feasible(n: int, constraints: Constraints, sensitive: Mapping[str, Values]) -> None:
    """Raise InfeasibleError for constraints that not even a single group of all n rows would meet."""
    if n < constraints.k:
        raise InfeasibleError(f"enforce: k is {constraints.k}, but the table has {n} rows. Lower k to {n} or less.")
    whole = {name: Counts.of(np.zeros(n, np.int64), column) for name, column in sensitive.items()}
    for model, asked in asked_of(constraints):
        figures = {name: model.figures(counts, constraints) for name, counts in whole.items()}
        short = {name: float(one[0]) for name, one in figures.items() if model.fails(one, asked).any()}
        if short:
            # What the worst column can reach, the others can reach as well.
            worst, *others = sorted(short, key=lambda name: short[name] if model.high else -short[name])
            raise InfeasibleError(_out_of_reach(model, worst, asked, short[worst], others))


def _out_of_reach(model: ModelCard, column: str, asked: float, found: float, others: list[str]) -> str:
    """Say how far a whole column falls short of what is required of each class, and what to request instead."""
    more = f" The same applies to {listed(others)}." if others else ""
    letter = model.set_by[0]
    where = f"enforce: {model.name}: {letter} = {asked:g} is required of every class, but the whole column {column!r}"
    if not np.isfinite(found):
        return f"{where} has too few values. Relax the constraint, or give the column another role.{more}"
    reached = (np.floor(found * 1000) if model.high else np.ceil(found * 1000)) / 1000
    shown = f"{reached:g}"
    if letter == "l" and reached <= 1:  # a policy cannot ask for it
        return f"{where} only reaches {shown}. Leave l out, or give the column another role.{more}"
    change = f"Lower {letter} to {shown} or less" if model.high else f"Raise {letter} to {shown} or more"
    change = f"Raise {letter} above {shown}" if model.strict else change
    return f"{where} only reaches {shown}. {change}, or give the column another role.{more}"
