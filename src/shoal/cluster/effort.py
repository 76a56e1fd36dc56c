"""Effort: how much work a search is worth, as one word; and the search of that worth.

A chain of proposals gets better slowly as it gets longer, and the best of several chains is better than
one of their common length, as long as each is long enough. So a small table gets several restarts, a
large one a single chain in many cells.
"""

from dataclasses import dataclass

import numpy as np

from shoal.cluster.given import Floats, Rows
from shoal.cluster.limits import Limits
from shoal.cluster.refine import SMALL, Schedule, refine
from shoal.kernels.threads import each
from shoal.model.progress import spent
from shoal.registry import Choice
from shoal.utility.loss import sse

__all__ = ["EFFORT", "EFFORTS", "Effort", "search"]

LARGEST_GROUP = 127  # under limits on sensitive values; without them 2k - 1
WIDE = 40  # columns from half of which on a search makes fewer proposals
LONG = 1_000  # proposals a row that make a chain long enough to have several


@dataclass(frozen=True)
class Effort:
    """How much work a search is worth.

    Parameters
    ----------
    proposals : int
        In all, on a table of up to some ten thousand rows.
    least, most : int
        Proposals a row and restart, at the least and at the most.
    restarts : int
        Chains, of which the best is kept, if the proposals suffice for several long ones.
    passes, cell : int
        As in `Schedule`.
    """

    proposals: int
    least: int
    most: int
    restarts: int
    passes: int
    cell: int

    def fitted(
        self, n: int, d: int, restarts: int = 0, rounds: int = 0, *, limited: bool = False
    ) -> tuple[int, Schedule]:
        """Return the number of restarts and the schedule for n rows and d columns; 0 leaves a choice to the effort."""
        # A proposal costs more with every column, and some times as much under limits.
        wide = WIDE / max(WIDE, d + WIDE // 2)
        proposals = int(wide * self.proposals) // (4 if limited else 1)
        several = proposals >= LONG * self.restarts * n
        chains = restarts or (self.restarts if several else 1)
        turns = rounds or int(np.clip(proposals // (n * chains), wide * self.least, self.most))
        if limited:
            hot, cold = 0.5, 0.01
        else:
            # The longer a chain is, the hotter it may start; a short one would only spoil what it began with.
            hot, cold = float(np.clip(0.05 * (turns / 100) ** 0.6, 0.05, 0.5)), 0.015
        return chains, Schedule(
            passes=2 * self.passes if limited else self.passes,
            cell=self.cell,
            around=60 if limited else 20,
            keep=40 if limited else 20 if n <= SMALL else 12,
            rounds=turns,
            hot=hot,
            cold=cold,
            steep=not limited,
        )


EFFORTS = {
    "quick": Effort(16_000_000, 120, 4_000, 4, 3, 5_000),
    "normal": Effort(60_000_000, 300, 15_000, 4, 5, 5_000),
    "thorough": Effort(500_000_000, 700, 60_000, 8, 8, 10_000),
}
EFFORT = Choice(tuple(EFFORTS), "quick", "How long the search takes: some 2, 6 or 60 s of CPU for up to 20,000 rows.")


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
    """Return the best of several chains from one start."""
    n = len(X)
    if n < 2 * k or sse(X, np.zeros(n, np.int64), weights) == 0.0:
        return start
    chains, schedule = EFFORTS[effort].fitted(n, X.shape[1], restarts, rounds, limited=limits is not None)
    most = None if limits is None else max(LARGEST_GROUP, 2 * k - 1, int(np.bincount(start).max()))

    def run(number: int, workers: int = 1) -> tuple[float, Rows]:
        if number > 0 and spent() >= 1:
            return np.inf, start
        labels = refine(
            X,
            start,
            k,
            schedule,
            weights=weights,
            limits=limits,
            most=most,
            seed=(seed, number),
            threads=workers,
        )
        return sse(X, labels, weights), labels

    if chains == 1:
        return run(0, threads)[1]
    results = each(run, range(chains), threads)
    return results[int(np.argmin([cost for cost, _ in results]))][1]
