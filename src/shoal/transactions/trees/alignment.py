"""Alignment: the cheapest way to turn one sequence of records into another, both in lexicographic order.

Records are aligned in order; unaligned ones are deleted or inserted, item by item, and two aligned records cost the
edit distance of their items. With D[i, j] the cost of the first i and j records and Q_j the items of the j-th, E[i, j]
= D[i, j] - |Q_1| - ... - |Q_j| obeys

    E[i, j] = min(E[i - 1, j] + |P_i|, E[i - 1, j - 1] + d(P_i, Q_j) - |Q_j|, E[i, j - 1])

1. Costs are computed for distinct records only. Without a common item, d is the number of items of the longer one.
2. Otherwise common items are in the same order in both, because records are sorted. The distance is that of the best
   chain of common items: between two successive links, all items of the side that has more are paid for. Common items
   that are adjacent in both records form one link, because equal items are best left alone.
3. A row of E is cut into 64 lanes that are processed side by side, in the processor's vectors. What a lane would take
   from those before it is added when the next row reads it.

To find the least number of renamings besides the distance, every edit costs `unit`, and a renaming one more.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop, loop
from shoal.model.progress import tick
from shoal.transactions.distinct import Distinct
from shoal.transactions.lexical import Places, Whole, by_item

Numbers = NDArray[Any]  # 32 bits where they suffice

LANES = 64
PIECE = 1 << 28  # cells between two progress ticks
SMALL, FAR = 1 << 30, 1 << 62


def aligned(rows: Distinct, columns: Distinct, count: int, unit: int = 1, renaming: int = 0) -> int:
    """Return the least cost to turn one sequence of records into another.

    Records are not empty; it is faster to have fewer of them in the rows. All items are below `count`. Every edit costs
    `unit`, a renaming `renaming` more. Takes a third of a nanosecond for every pair of records, plus time proportional
    to their length for every pair of distinct records that share an item; memory proportional to the records of the
    columns.
    """
    n, width = int(rows.weights.sum()), int(columns.weights.sum())
    longest = max(np.diff(side.indptr).max(initial=0) for side in (rows, columns))
    total = [int((np.diff(side.indptr) * side.weights).sum()) for side in (rows, columns)]
    if not n or not width:
        return sum(total) * unit
    most = (sum(total) + 2 * int(longest)) * (unit + renaming)
    kind, far = (np.dtype(np.int32), SMALL) if most < SMALL else (np.dtype(np.int64), FAR)
    cost_kind = np.dtype(np.int32 if 2 * int(longest) * (unit + renaming) < SMALL else np.int64)
    steps = -(-width // LANES)
    starts = np.concatenate(([0], np.cumsum(columns.weights)))
    lengths = np.zeros(steps * LANES, np.int32)
    lengths[:width] = np.repeat(np.diff(columns.indptr), columns.weights)
    lengths = np.ascontiguousarray(lengths.reshape(LANES, steps).T)
    ends, places = by_item(columns.items, count)
    holders = np.repeat(np.arange(columns.weights.size), np.diff(columns.indptr))[places]
    row: Numbers = np.zeros((steps, LANES), kind)
    behind: Numbers = np.full(LANES, far, kind)
    edge: Numbers = np.zeros(1, kind)
    costs: Numbers = np.zeros((steps, LANES), cost_kind)
    workspace = _Workspace(
        np.full(count, -1, np.int64), np.full(columns.weights.size, -1, np.int64), np.zeros((3, int(longest)), np.int64)
    )
    done = np.concatenate(([0], np.cumsum(rows.weights)))
    first = 0
    while first < rows.weights.size:
        tick(int(done[first]), n)
        last = max(first + 1, int(np.searchsorted(done, done[first] + PIECE // width, side="right")) - 1)
        _advance(
            rows,
            first,
            last,
            columns,
            starts,
            ends,
            holders,
            lengths,
            costs,
            row,
            behind,
            edge,
            workspace,
            unit,
            renaming,
        )
        first = last
    tick(n, n)
    step, lane = (width - 1) % steps, (width - 1) // steps
    return int(min(row[step, lane], behind[lane])) + total[1] * unit


class _Workspace(NamedTuple):
    """Working arrays: where items are in a record, the last record seen, links of a chain."""

    place: Places
    seen: Places
    links: Places


@loop
def _advance(
    rows: Distinct,
    first: int,
    last: int,
    columns: Distinct,
    starts: Places,
    ends: Places,
    holders: Places,
    lengths: Whole,
    costs: Numbers,
    row: Numbers,
    behind: Numbers,
    edge: Numbers,
    workspace: _Workspace,
    unit: int,
    renaming: int,
) -> None:
    """Process the rows of some distinct records."""
    row_ptr, row_items, copies = rows
    place, seen, links = workspace
    running, before = np.empty_like(behind), np.empty_like(behind)
    for record in range(first, last):
        start, size = row_ptr[record], row_ptr[record + 1] - row_ptr[record]
        _unlike(lengths, costs, size, unit, renaming)
        for at in range(size):
            place[row_items[start + at]] = at
        for at in range(size):
            item = row_items[start + at]
            for other in holders[ends[item] : ends[item + 1]]:
                if seen[other] != record:
                    seen[other] = record
                    begin, end = columns.indptr[other], columns.indptr[other + 1]
                    cost = _chained(columns.items, begin, end, place, size, links, unit, renaming)
                    _put(costs, starts[other], starts[other + 1], cost - unit * (end - begin))
        for at in range(size):
            place[row_items[start + at]] = -1
        for _ in range(copies[record]):
            _next_row(row, behind, edge, costs, row.dtype.type(size * unit), running, before)


@inner_loop
def _unlike(lengths: Whole, costs: Numbers, size: int, unit: int, renaming: int) -> None:
    """Write the costs of records that share no item with one of this size."""
    for step in range(lengths.shape[0]):
        for lane in range(LANES):
            length = lengths[step, lane]
            costs[step, lane] = max(size - length, 0) * unit + min(size, length) * renaming


@inner_loop
def _put(costs: Numbers, start: int, stop: int, cost: int) -> None:
    """Write the cost of the columns from start to stop."""
    steps = costs.shape[0]
    step, lane = start % steps, start // steps
    for _ in range(start, stop):
        costs[step, lane] = cost
        step += 1
        if step == steps:
            step = 0
            lane += 1


@inner_loop
def _gap(one: int, two: int, unit: int, renaming: int) -> int:
    """Return the cost to turn `one` items into `two` others."""
    return max(one, two) * unit + min(one, two) * renaming


@inner_loop
def _chained(
    items: Whole, start: int, stop: int, place: Places, size: int, links: Places, unit: int, renaming: int
) -> int:
    """Return the edit distance of two sorted records, one of them given by the positions of its items."""
    length, count = stop - start, 0
    for at in range(length):
        here = place[items[start + at]]
        if here < 0:
            continue
        if count > 0 and links[0, count - 1] == here - 1 and links[1, count - 1] == at - 1:
            links[0, count - 1], links[1, count - 1] = here, at
            continue
        cost = _gap(here, at, unit, renaming)
        for link in range(count):
            cost = min(cost, links[2, link] + _gap(here - links[0, link] - 1, at - links[1, link] - 1, unit, renaming))
        links[0, count], links[1, count], links[2, count] = here, at, cost
        count += 1
    least = _gap(size, length, unit, renaming)
    for link in range(count):
        rest = _gap(size - 1 - links[0, link], length - 1 - links[1, link], unit, renaming)
        least = min(least, links[2, link] + rest)
    return least


@inner_loop
def _next_row(
    row: Numbers,
    behind: Numbers,
    edge: Numbers,
    costs: Numbers,
    delete: np.integer[Any],
    running: Numbers,
    before: Numbers,
) -> None:
    """Turn a row of E into the next one. A cell is the lesser of its own value and of what is behind its lane."""
    steps = row.shape[0]
    for lane in range(1, LANES):
        before[lane] = min(row[steps - 1, lane - 1], behind[lane - 1])
        running[lane] = behind[0]
    before[0] = edge[0]
    edge[0] += delete
    running[0] = edge[0]
    for step in range(steps):
        for lane in range(LANES):
            old = min(row[step, lane], behind[lane])
            new = min(old + delete, before[lane] + costs[step, lane])
            before[lane] = old
            running[lane] = min(new, running[lane])
            row[step, lane] = running[lane]
    # Nothing is behind the first lane, so its number is never less than any other.
    for lane in range(1, LANES):
        behind[lane] = min(behind[lane - 1], running[lane - 1])
