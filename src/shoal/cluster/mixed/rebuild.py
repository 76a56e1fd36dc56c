"""Rebuild: groups of a mixed table are dissolved a few at a time, and rebuilt.

1. A row of a group with some loss is drawn, and with its group some others, reached through the closest rows of their
   members (`mixed.closest`): the pool.
2. New groups are built from the pool: a random row, then each time the row that leaves the least loss, until there are
   k; and again, as often as k rows are left, sometimes once less. Remaining rows join where they cost least.
3. A pool that costs less is kept. One that costs delta more is kept with probability exp(-delta / T), where T falls.
   One that violates the limits on sensitive values is not kept.
4. Rows are cut into cells of whole groups, which several threads share; every pass cuts them differently.

The cost of a group is its rows times the loss of its hull. Moving or swapping single rows hardly ever helps, since a
hull stays as it is until the last row that extends it has gone. Rebuilding whole groups does not have this problem.

Large neighbourhood search: Shaw, Using constraint programming and local search methods to solve vehicle routing
problems, CP 1998, 417-431.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.mixed.closest import Near
from shoal.cluster.mixed.near_cells import Cell, Passes, in_passes
from shoal.cluster.mixed.pool_chain import CAP, State, Workspace, rebuild_chain
from shoal.cluster.search.limits import Limits
from shoal.kernels.columns import Columns, Hulls, add, clear, hulls_of, loss
from shoal.kernels.groups import numbered
from shoal.kernels.loops import callable_inner_loop

FEW, FEWER, LARGE = 6, 4, 8  # most groups of a pool, the same for large k, and from which k
COOL = 0.05  # last temperature, relative to the first


def rebuild(
    columns: Columns,
    labels: Rows,
    k: int,
    near: Near,
    *,
    steps: float,
    heat: float,
    passes: int = 4,
    limits: Limits | None = None,
    seed: tuple[int, ...] = (0,),
    threads: int = 1,
) -> Rows:
    """Return labels of lower or equal cost, in groups of at least k rows that meet the limits if `labels` do.

    `near` are the closest rows of each row, padded with -1; `steps` is the number of pools rebuilt per row over all
    passes, `heat` the first temperature relative to the mean cost of a group. The result does not depend on the
    threads.
    """

    def search(cell: Cell, hot: float, cold: float) -> Rows:
        state, n = _begin(cell.columns, cell.labels, k), cell.labels.size
        reach = FEW if k < LARGE else FEWER
        rebuild_chain(cell, state, _workspace(cell.columns, k), int(steps / passes * n), hot, cold, k, reach)
        return numbered(np.where(state.label < 0, cell.labels + n, state.label))

    plan = Passes(
        lambda now: float(costs_of(columns, now).sum()),
        lambda least, now: heat * least / (int(now.max()) + 1),
        COOL,
        passes,
    )
    return in_passes(search, plan, columns, labels, near, limits, seed, threads)


def costs_of(columns: Columns, labels: Rows) -> Floats:
    """Return the cost of each group: its rows times the loss of its hull."""
    order = np.argsort(labels, kind="stable")
    found = np.empty(int(labels.max()) + 1)
    _costs(columns, hulls_of(columns, 1), order, np.cumsum(np.bincount(labels)), found)
    return found


def _begin(columns: Columns, labels: Rows, k: int) -> State:
    """Return the groups of a cell; those with too many rows are excluded."""
    n, cap = labels.size, CAP * k
    sizes = np.bincount(labels)
    small = sizes <= cap
    numbers = np.where(small, np.cumsum(small) - 1, -1)
    label = numbers[labels].astype(np.int32)
    used, most = int(small.sum()), n // k + 1
    members, size, lost = np.zeros((most, cap), np.int32), np.zeros(most, np.int32), np.zeros(most)
    spare = np.arange(most, dtype=np.int32)[::-1].copy()
    state = State(label, members, size, lost, spare, np.array([most - used]))
    _fill(columns, state, hulls_of(columns, 1))
    return state


def _workspace(columns: Columns, k: int) -> Workspace:
    """Return working arrays for the largest pool."""
    most = FEW * CAP * k
    return Workspace(
        hulls_of(columns, most // k + 1),
        np.zeros(most, np.int32),
        np.zeros(FEW, np.int64),
        np.zeros(most // k + 2, np.int64),
        np.zeros(most // k + 1),
        np.zeros(most),
        np.zeros(most, np.int64),
        np.zeros(most, np.int32),
    )


@callable_inner_loop
def _costs(columns: Columns, hulls: Hulls, order: Rows, ends: Rows, found: Floats) -> None:
    """Write the cost of each group; rows are listed group by group."""
    start = 0
    for group in range(ends.size):
        clear(columns, hulls, 0)
        for i in range(start, ends[group]):
            add(columns, hulls, 0, order[i])
        found[group] = (ends[group] - start) * loss(columns, hulls, 0)
        start = ends[group]


@callable_inner_loop
def _fill(columns: Columns, state: State, hulls: Hulls) -> None:
    """Enter rows into the lists of their groups, and compute the losses of these."""
    label, members, size, lost, _, _ = state
    for row in range(label.size):
        group = label[row]
        if group >= 0:
            members[group, size[group]] = row
            size[group] += 1
    for group in range(size.size):
        if size[group] > 0:
            clear(columns, hulls, 0)
            for i in range(size[group]):
                add(columns, hulls, 0, members[group, i])
            lost[group] = loss(columns, hulls, 0)
