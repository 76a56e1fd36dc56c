"""Cells of a mixed table: groups cut along a sort by all columns, each cell with the closest rows inside it.

The order of the columns comes by chance, so that what was a border in one pass lies inside a cell of the next.
"""

from collections.abc import Callable

import numpy as np

from shoal.cluster.inputs import Rows
from shoal.cluster.mixed.closest import Near, sorted_by
from shoal.cluster.search.cells import in_cells_of_groups
from shoal.kernels.columns import Columns
from shoal.model.progress import part, spent

__all__ = ["in_cells", "in_passes"]

CELL = 12_000  # rows in a cell, about

Work = Callable[[Columns, Rows, Rows, Near, int], Rows]


def in_cells(work: Work, columns: Columns, labels: Rows, near: Near, seed: tuple[int, ...], threads: int) -> Rows:
    """Return new labels of all rows, from a function that does so for the columns, rows and groups of one cell.

    It is given the columns, the numbers of its rows, their groups, their closest rows inside the cell, and its number.
    """
    # An even number of cells: of three, one would be alone at the end, with one thread idle.
    cells = _cells(columns, labels, max(1, 2 * round(labels.size / (2 * CELL))), seed)
    where, place = _numbered(cells, labels)

    def one(cell: int, rows: Rows, own: Rows) -> Rows:
        known = near[rows]
        inside = (known >= 0) & (where[known] == cell)
        mine = columns._replace(codes=np.ascontiguousarray(columns.codes[rows]))
        return work(mine, rows, own, np.where(inside, place[known], -1).astype(np.int32), cell)

    return in_cells_of_groups(one, labels, cells, threads)


def in_passes(
    labels: Rows,
    cost_of: Callable[[Rows], float],
    heat_of: Callable[[float, Rows], float],
    run: Callable[[Rows, float, float, int], Rows],
    passes: int,
    cool: float,
) -> Rows:
    """Return the labels of least cost that some passes give, each from where the last one ended.

    A pass is handed the labels, its first and its last temperature, and its number.
    """
    best, least = labels, cost_of(labels)
    for number in range(passes):
        if least == 0 or spent() >= 1:
            break
        heat = heat_of(least, labels)
        hot, cold = (heat * cool ** (share / passes) for share in (number, number + 1))
        with part(number, passes):
            labels = run(labels, hot, cold, number)
        cost = cost_of(labels)
        if cost < least:
            best, least = labels, cost
    return best


def _cells(columns: Columns, labels: Rows, count: int, seed: tuple[int, ...]) -> list[Rows]:
    """Return the groups of each cell: neighbours in an order of their first rows by columns in an order by chance."""
    first = np.unique(labels, return_index=True)[1]
    order = np.random.default_rng(seed).permutation(columns.codes.shape[1])
    sorted_groups = sorted_by(columns._replace(codes=columns.codes[first]), order)
    return [cell for cell in np.array_split(sorted_groups, count) if cell.size]


def _numbered(cells: list[Rows], labels: Rows) -> tuple[Rows, Rows]:
    """Return the cell of each row, and its place among the rows of the cell."""
    owner, turn = np.empty(int(labels.max()) + 1, np.int64), np.empty(int(labels.max()) + 1, np.int64)
    for number, cell in enumerate(cells):
        owner[cell], turn[cell] = number, np.arange(cell.size)
    where, place = owner[labels], np.empty_like(labels)
    order = np.lexsort((np.arange(labels.size), turn[labels], where))
    starts = np.concatenate([[0], np.cumsum(np.bincount(where))[:-1]])
    place[order] = np.arange(labels.size) - starts[where[order]]
    return where, place
