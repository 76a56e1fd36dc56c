"""Effort: how much work to spend on a search, as one word; and the search itself.

1. A chain of proposals, from hot to cold.
2. Longer chains improve slowly. So it is followed by short chains from half the temperature: each worsens some parts
   and improves others, and the better version of each part is kept (`search.crossing`).
3. After the first chain and at the end, all rows are reassigned at once, several times (`search.polish`).
4. With more effort, a small table gets several restarts of all this. Their results are crossed, and they continue
   together from there, sharing every improvement. A large table gets one chain, in many cells.
"""

from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from shoal.catalogue import Choice, Cost, Task
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.crossing import better_of_both
from shoal.cluster.search.limits import Limits
from shoal.cluster.search.polish import polish
from shoal.cluster.search.refine import SMALL, Schedule, neighbours, refine
from shoal.kernels.threads import each
from shoal.model.progress import left, part, silently, spent
from shoal.utility.loss import sse

LARGEST_GROUP = 127  # under limits on sensitive values; without them 2k - 1
MANY = 100_000  # rows beyond which a search takes more passes and more proposals per row
WIDE = 40  # a search makes fewer proposals from half as many columns on
KEPT = 128  # most candidates per row
LONG = 1_000  # proposals per row from which several restarts are worthwhile
EVEN, UNEVEN = 8_000, 2_000  # rows up to which polishing is fast; the latter if weights differ
TOGETHER = 1_500  # groups that are polished together
FIRST, AGAIN = 6_000, 400  # proposals per row: of a restart that spends half on its first chain, of later chains


@dataclass(frozen=True)
class Effort:
    """How much work to spend on a search.

    `proposals` in total, on a table of up to some ten thousand rows, but `least` to `most` per row and restart; the
    number of restarts, if the proposals suffice for several long ones; `passes` and `cell` as in `Schedule`; `polished`
    is the number of rows up to which the result is polished.
    """

    proposals: int
    least: int
    most: int
    restarts: int
    passes: int
    cell: int
    polished: int

    def fitted(self, n: int, d: int, k: int, restarts: int = 0, rounds: int = 0, *, limited: bool = False) -> "Fitted":
        """Return what suits n rows, d columns and k; 0 leaves a choice to the effort."""
        # A proposal costs more with every column, several times as much under limits, more beyond the cache.
        wide = WIDE / max(WIDE, d + WIDE // 2)
        proposals = int(wide * self.proposals * (0.25 if limited else 1.0 if n <= SMALL else 0.5))
        several = proposals >= LONG * self.restarts * n
        chains = restarts or (self.restarts if several else 1)
        # The more cells a table has, the more of it has been a border.
        size = float(np.log10(max(n / MANY, 1.0)))
        # One pass is enough where there are no borders.
        passes = max(self.passes, 1 if n // k <= self.cell else 2)
        turns = rounds or int(np.clip(proposals // (n * chains), (1 + size) * wide * self.least, self.most))
        common = Schedule(
            passes=2 * passes if limited else passes + round(size),
            cell=self.cell,
            around=60 if limited else 20,
            # A new group consists of a row and some of its candidates, as far as these suffice.
            keep=max(min(2 * k, KEPT), 40 if limited else 20 if n <= SMALL else 12),
            rounds=turns,
            hot=0.5,
            cold=0.01 if limited else 0.025,
            steep=not limited,
        )
        if limited:
            return Fitted(chains, common, common, 0, 0)
        first = (FIRST * turns) ** 0.5 / 2
        cycles = max(0, int((turns - first) // AGAIN))
        first = int(first) if cycles > 0 else turns
        # The longer a chain is, the hotter it may start; a short one would only worsen its start.
        hot = float(np.clip(0.2 * (first / 100) ** 0.3, 0.1, 0.3))
        return Fitted(
            chains,
            replace(common, rounds=first, hot=hot),
            replace(common, rounds=AGAIN, hot=0.15, cold=0.02, passes=1),
            cycles,
            0 if n > self.polished else 10 if n <= EVEN else 6,
        )


@dataclass(frozen=True)
class Fitted:
    """How many restarts a search has, how each begins, how often and by what it continues, and polishing."""

    restarts: int
    first: Schedule
    again: Schedule
    cycles: int
    polish: int

    @property
    def rounds(self) -> int:
        """The proposals per row and restart."""
        return self.first.rounds + self.cycles * self.again.rounds


EFFORTS = {
    "swift": Effort(2_000_000, 50, 350, 1, 1, 5_000, 3_000),
    "quick": Effort(16_000_000, 80, 16_000, 1, 3, 5_000, 20_000),
    "normal": Effort(60_000_000, 190, 30_000, 2, 5, 5_000, 300_000),
    "thorough": Effort(450_000_000, 600, 120_000, 4, 8, 10_000, 10**9),
}
EFFORT = Choice(
    ("quick", "normal", "thorough"),
    "quick",
    "Duration of the search: about 2, 6 or 40 s of CPU time for up to 20,000 rows.",
)
FINISH = Choice(
    ("none", *EFFORTS), "swift", "Duration of the final search: none, or about 0.2, 2, 6 or 40 s of CPU time."
)


def search(
    X: Floats,
    start: Rows,
    k: int,
    effort: str,
    weights: Floats,
    limits: Limits | None,
    seed: int,
    threads: int,
    restarts: int = 0,
    rounds: int = 0,
) -> Rows:
    """Return the best partition that several restarts from one start find together."""
    n = len(X)
    if n < 2 * k or sse(X, np.zeros(n, np.int64), weights) == 0.0:
        return start
    plan = _affordable(effort, n, X.shape[1], k, restarts, rounds, limited=limits is not None)
    most = None if limits is None else max(LARGEST_GROUP, 2 * k - 1, int(np.bincount(start).max()))
    near = neighbours(X, weights, k, plan.first.keep)

    def chain(labels: Rows, cycle: int, workers: int, number: int) -> Rows:
        return refine(
            X,
            labels,
            k,
            plan.first if cycle == 0 else plan.again,
            weights=weights,
            limits=limits,
            most=most,
            near=near,
            seed=(seed, number, cycle),
            threads=workers,
        )

    even = (weights == weights[0]).all()
    turns = plan.polish if even or n <= UNEVEN else 0

    def polished(labels: Rows, cycle: int, workers: int, number: int) -> Rows:
        if turns == 0 or spent() >= 1:
            return labels
        with silently():
            return polish(X, labels, k, weights, turns, TOGETHER, (seed, number, cycle), workers)

    def run(number: int, cycles: int, workers: int) -> Rows:
        best = start
        for cycle in range(1 + cycles):
            if (number > 0 or cycle > 0) and spent() >= 1:
                break
            with part(cycle, 1 + cycles):
                best = chain(best, cycle, workers, number)
            if cycle in (0, cycles):
                best = polished(best, cycle, workers, number)
        return best

    if plan.restarts == 1:
        return run(0, plan.cycles, threads)
    # Half of the cycles are run by each restart alone, half by all of them from their combined result.
    separate = plan.cycles - plan.cycles // 2
    numbers = range(plan.restarts)
    with part(0, 2):
        best = _crossed(X, each(lambda number: run(number, separate, 1), numbers, threads), weights)
    for cycle in range(separate, plan.cycles):
        if spent() >= 1:
            break
        with part(1, 2), part(cycle - separate, plan.cycles - separate):
            found = each(partial(chain, best, 1 + cycle, 1), numbers, threads)
            best = _crossed(X, [best, *found], weights)
    return polished(best, 1 + plan.cycles, threads, 0)


def _affordable(effort: str, n: int, d: int, k: int, restarts: int, rounds: int, *, limited: bool) -> Fitted:
    """Return what suits the table, or a shorter search where a budget would interrupt it."""
    plan = EFFORTS[effort].fitted(n, d, k, restarts, rounds, limited=limited)
    possible = left() / (n * seconds_per_proposal(d, limited=limited))
    if plan.restarts * plan.rounds <= possible:
        return plan
    spent(inf)  # the budget has cut the search short
    return EFFORTS[effort].fitted(n, d, k, 1, max(1, min(plan.rounds, int(possible))), limited=limited)


def seconds_per_proposal(d: int, *, limited: bool) -> float:
    """Return the approximate seconds per proposal."""
    return (150 + 5 * d if limited else 60 + 4 * d) * 1e-9


def search_cost(task: Task) -> Cost:
    """Return the approximate cost of `search` with the parameters of a task."""
    given, n = task.parameters, task.rows
    plan = EFFORTS[str(given["effort"])].fitted(
        n, task.columns, task.k, given.get("restarts", 0), given.get("rounds", 0), limited=task.limited
    )
    proposals = n * plan.restarts * plan.rounds
    passes = plan.restarts * (plan.first.passes + plan.cycles) if n > SMALL else 1
    near = passes * n * min(n, 5 * plan.first.cell) / task.k**2 * (task.columns + 3) * 2e-10
    several = max(plan.restarts, n // (task.k * plan.first.cell))
    seconds = proposals * seconds_per_proposal(task.columns, limited=task.limited) + near
    held = n * (16 * task.columns + 8 * plan.first.keep + 100) * (1 + min(plan.restarts, task.threads))
    return Cost(seconds / min(task.threads, max(1, several)), held / 1e6)


def _crossed(X: Floats, found: list[Rows], weights: Floats) -> Rows:
    """Return partitions of the same rows combined part by part; never worse than the best of them."""
    found = sorted(found, key=lambda labels: sse(X, labels, weights))
    best = found[0]
    for other in found[1:]:
        best = better_of_both(X, best, other, weights)
    return best if sse(X, best, weights) < sse(X, found[0], weights) else found[0]
