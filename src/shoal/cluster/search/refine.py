"""Refine: improve a partition row by row; the one local search on numeric tables.

1. The groups are cut into cells; a small table is one cell.
2. In each cell every row gets its candidates (`search.candidates`), and a chain of proposals (`search.chain`) moves,
   swaps, creates and dissolves, at temperatures that fall over all passes.
3. The next pass cuts in other directions, so that what was a border is inside a cell.
4. Where the result is worse than the start, the start is kept, part by part (`search.crossing`).

Random numbers depend on the seed, the pass and the cell, and a cell is processed by one thread: the number of threads
does not change the result. The number of proposals is fixed beforehand, unless a time budget cuts it short.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.candidates import candidates
from shoal.cluster.search.cells import cells_of_groups, in_cells_of_groups
from shoal.cluster.search.chain import anneal_chain
from shoal.cluster.search.crossing import better_of_both
from shoal.cluster.search.limits import Limits
from shoal.cluster.search.state import Whole, Workspace, begin
from shoal.cluster.search.structure import ASKED
from shoal.kernels.groups import centres, numbered
from shoal.kernels.random_streams import stream
from shoal.model.progress import left, part, spent
from shoal.utility.loss import sse

PIECES = 32  # of a chain, between which a budget is checked
NEIGHBOURS = 64  # groups among which the order does not matter
Neighbours = tuple[Whole, Floats]
SMALL = 3000  # rows up to which all are compared with all for candidates


@dataclass(frozen=True)
class Schedule:
    """How long and how hot a search is.

    In each of the `passes`, groups are cut into cells of at most `cell` groups and candidates are found: a row `keep`s
    rows of the groups `around`. `rounds` is the number of proposals per row over all passes, `structural` the share of
    those that change the structure. Temperatures fall from `hot` to `cold`, in local scales. `steep` favours the
    nearest candidates by the third power of a random number instead of the second.
    """

    passes: int = 4
    cell: int = 5000
    around: int = 30
    keep: int = 20
    rounds: int = 300
    hot: float = 0.1
    cold: float = 0.02
    structural: float = 0.02
    steep: bool = True


def neighbours(X: Floats, weights: Floats, k: int, keep: int) -> Neighbours | None:
    """Return the candidates among all rows of a small table, valid for every pass; None if it is not small."""
    if len(X) > SMALL:
        return None
    return candidates(begin(X, weights, np.zeros(len(X), np.int64), 1, len(X)), k, 0, keep)


def refine(
    X: Floats,
    labels: Rows,
    k: int,
    schedule: Schedule,
    *,
    weights: Floats,
    limits: Limits | None = None,
    most: int | None = None,
    near: Neighbours | None = None,
    seed: int | Sequence[int] = 0,
    threads: int = 1,
) -> Rows:
    """Return labels of lower or equal SSE, in groups of k to `most` rows (2k - 1 by default) that meet the limits.

    The groups given must meet these as well. `near`, from `neighbours`, lets a small table be searched in one piece.
    The result does not depend on the number of threads, unless a time budget is set. Takes some 0.1 us per proposal,
    O(n) memory besides a copy of X.
    """
    task = _Task(X, weights, limits, k, 2 * k - 1 if most is None else most)
    seeds = (seed,) if isinstance(seed, int) else tuple(seed)
    now, passes, began = labels, schedule.passes, spent()
    for number in range(passes):
        groups, gone = int(now.max()) + 1, spent()
        if groups < 2 or gone >= 1:
            break
        # Temperatures follow the passes, or the clock where a budget leaves no time for all of them.
        warm = max(number / passes, (gone - began) / (1 - began))
        ratio = schedule.cold / schedule.hot
        step = replace(
            schedule,
            rounds=-(-schedule.rounds // passes),
            hot=schedule.hot * ratio**warm,
            cold=schedule.hot * ratio ** min(1.0, warm + 1 / passes),
        )
        with part(number, passes):
            if near is None:
                now = _pass(task, now, step, (*seeds, number), threads)
            else:
                now = _search(task, now, step, (*seeds, number), near)
    best = better_of_both(X, labels, now, weights)
    return best if sse(X, best, weights) < sse(X, labels, weights) else labels


def _neighbourly(groups: Rows, middle: Floats, rng: np.random.Generator) -> Rows:
    """Return groups in an order in which neighbouring groups are close together."""
    return groups[np.concatenate(cells_of_groups(middle[groups], NEIGHBOURS, rng))]


class _Task(NamedTuple):
    """Rows, their weights, and the requirements on groups of them."""

    X: Floats
    weights: Floats
    limits: Limits | None
    k: int
    most: int

    def part(self, rows: Rows) -> "_Task":
        """Return the same for some of the rows."""
        limits = self.limits and self.limits.part(rows)
        return _Task(self.X[rows], self.weights[rows], limits, self.k, self.most)


def _pass(task: _Task, labels: Rows, step: Schedule, seed: tuple[int, ...], threads: int) -> Rows:
    """Search once in every cell; return new labels."""
    rng = np.random.default_rng(seed)
    middle = centres(task.X, labels, int(labels.max()) + 1)
    cut = [_neighbourly(cell, middle, rng) for cell in cells_of_groups(middle, step.cell, rng)]

    def search(number: int, rows: Rows, own: Rows) -> Rows:
        return _search(task.part(rows), own, step, (*seed, number))

    return in_cells_of_groups(search, labels, cut, threads)


def _search(task: _Task, labels: Rows, step: Schedule, seed: tuple[int, ...], near: Neighbours | None = None) -> Rows:
    """Run one chain on one cell; return its groups, numbered from 0 without gaps."""
    X, weights, limits, k, most = task
    n = len(X)
    state = begin(X, weights, labels, n // k, most)
    rules = None if limits is None else limits.rules
    rows, scale = near or candidates(state, k, step.around, step.keep)
    random_state, workspace, fall = stream(*seed), Workspace.of(most, ASKED), step.cold / step.hot
    # Under a budget the clock is checked between pieces; without one, a chain runs in one piece.
    pieces = 1 if left() == inf else PIECES
    for piece in range(pieces):
        if piece > 0 and spent() >= 1:
            break
        hot = step.hot * fall ** (piece / pieces)
        cold = step.hot * fall ** ((piece + 1) / pieces) if pieces > 1 else step.cold
        proposals = -(-step.rounds * n // pieces)
        anneal_chain(
            state,
            rules,
            rows,
            scale,
            random_state,
            proposals,
            hot,
            cold,
            k,
            most,
            step.structural,
            step.steep,
            workspace,
        )
    return numbered(state.label)
