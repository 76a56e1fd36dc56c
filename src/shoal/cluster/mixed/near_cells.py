"""Cells of a mixed table: groups cut along a sort by all columns, each cell with the closest rows inside it.

The order of the columns is random, so that what was a border in one pass lies inside a cell of the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Rows
from shoal.cluster.mixed.closest import Near, sorted_by
from shoal.cluster.search.cells import in_cells_of_groups
from shoal.cluster.search.limits import Limits, Rules
from shoal.kernels.columns import Columns
from shoal.kernels.random_streams import stream
from shoal.model.progress import part, spent

CELL = 12_000  # approximate rows in a cell


class Cell(NamedTuple):
    """Some groups of a table: columns, closest rows and groups of their rows, renumbered, and random numbers."""

    columns: Columns
    labels: Rows
    near: Near
    rules: Rules | None
    random_state: NDArray[np.uint64]


@dataclass(frozen=True)
class Passes:
    """How often a table is searched, and at what temperatures.

    `cost_of` gives the cost of labels, `heat_of` the first temperature of all from the least cost so far and labels;
    `cool` is the last temperature relative to the first.
    """

    cost_of: Callable[[Rows], float]
    heat_of: Callable[[float, Rows], float]
    cool: float
    passes: int


def in_passes(
    search: Callable[[Cell, float, float], Rows],
    plan: Passes,
    columns: Columns,
    labels: Rows,
    near: Near,
    limits: Limits | None,
    seed: tuple[int, ...],
    threads: int,
) -> Rows:
    """Return the labels of least cost found by some passes, each starting where the previous one ended.

    The search receives a cell and its first and last temperature, and returns new labels of its rows.
    """

    def one_pass(labels: Rows, hot: float, cold: float, seed: tuple[int, ...]) -> Rows:
        # An even number of cells: with three, one would run alone at the end, with one thread idle.
        cells = _cells(columns, labels, max(1, 2 * round(labels.size / (2 * CELL))), seed)
        where, place = _located(cells, labels)

        def in_cell(number: int, rows: Rows, own: Rows) -> Rows:
            known = near[rows]
            inside = (known >= 0) & (where[known] == number)
            mine = columns._replace(codes=np.ascontiguousarray(columns.codes[rows]))
            close = np.where(inside, place[known], -1).astype(np.int32)
            rules = None if limits is None else limits.part(rows).rules
            return search(Cell(mine, own, close, rules, stream(*seed, number)), hot, cold)

        return in_cells_of_groups(in_cell, labels, cells, threads)

    best, least = labels, plan.cost_of(labels)
    for number in range(plan.passes):
        if least == 0 or spent() >= 1:
            break
        heat = plan.heat_of(least, labels)
        hot, cold = (heat * plan.cool ** (share / plan.passes) for share in (number, number + 1))
        with part(number, plan.passes):
            labels = one_pass(labels, hot, cold, (*seed, number))
        cost = plan.cost_of(labels)
        if cost < least:
            best, least = labels, cost
    return best


def _cells(columns: Columns, labels: Rows, count: int, seed: tuple[int, ...]) -> list[Rows]:
    """Return the groups of each cell: neighbours when their first rows are sorted by the columns in random order."""
    first = np.unique(labels, return_index=True)[1]
    order = np.random.default_rng(seed).permutation(columns.codes.shape[1])
    sorted_groups = sorted_by(columns._replace(codes=columns.codes[first]), order)
    return [cell for cell in np.array_split(sorted_groups, count) if cell.size]


def _located(cells: list[Rows], labels: Rows) -> tuple[Rows, Rows]:
    """Return the cell of each row, and its index among the rows of the cell."""
    owner, turn = np.empty(int(labels.max()) + 1, np.int64), np.empty(int(labels.max()) + 1, np.int64)
    for number, cell in enumerate(cells):
        owner[cell], turn[cell] = number, np.arange(cell.size)
    where, place = owner[labels], np.empty_like(labels)
    order = np.lexsort((np.arange(labels.size), turn[labels], where))
    starts = np.concatenate([[0], np.cumsum(np.bincount(where))[:-1]])
    place[order] = np.arange(labels.size) - starts[where[order]]
    return where, place
