"""Cover: groups of a mixed table from the nodes of a generalization lattice, in order of information loss.

1. A node of the lattice is a level for each column: the value itself, then ever coarser. The loss of a node is known
   beforehand, column by column, so the nodes are visited in the order of their loss.
2. For each node: k or more rows that agree at these levels form a group and leave. A lattice that is too large is
   abandoned when rows have been examined some hundred times.
3. Remaining rows grow groups among themselves (`grow`), or join others. Under limits on sensitive values all rows
   remain: rows that agree mostly share their sensitive value too, and the few groups of the first nodes would take what
   others need.
4. Groups are rebuilt a few at a time (`mixed.rebuild`), longer with more effort.

A group is published by what its rows have in common, which is never more general than the node.
"""

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import Growth, Whole
from shoal.cluster.declaring import Run, mixed_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.methods.grow import grow, grown
from shoal.cluster.mixed.closest import closest
from shoal.cluster.mixed.improving import EFFORT, LONGER, improved, keeping
from shoal.cluster.mixed.leftover import placed
from shoal.kernels.columns import Columns, class_losses
from shoal.kernels.loops import callable_inner_loop, inner_loop
from shoal.model.partition import Partition
from shoal.model.progress import part, tick

SORTED = 100_000  # lattices of up to this many nodes are sorted at once
MOST = 8_000  # nodes that are tried
CHUNK = 64  # nodes between two progress ticks
SEEN, LEAST_SEEN = 150, 10**7  # mean and total looks at combinations before giving up
MANY = 500  # from this many remaining rows on, only groups of their closest rows are tried
GOOD = 0.8  # share of the usual rebuilding: the start is a good one
FACTOR = np.uint64(0x9E3779B97F4A7C15)
DRAWN = 20_261_116  # random seed of the keys of classes: any will do


@mixed_method(
    "cover",
    ensures={"k", "l", "t", "alpha"},
    params={"effort": EFFORT, "nodes": Whole(1, 10**7, MOST, "Maximum number of lattice nodes to try.")},
    uses={"limits", "seed", "threads"},
    growth=Growth(1.0, seconds=0.95, efforts=LONGER, limited=6.0, parallel=0.8),
    ends_early=True,
    suits={"hierarchies"},
)
def cover(columns: Columns, k: int, effort: str, nodes: int, *, run: Run) -> Partition:
    """Group rows that agree at the levels of their hierarchies, levels of low loss first.

    Guarantee
    ---------
    That of `grow`.

    Cost
    ----
    O(r d) per node, where r is the number of remaining combinations of values, soon a small part of all; then that of
    `grow`.

    Examples
    --------
    >>> from shoal.kernels.columns import Tree, columns_of
    >>> tree = Tree(np.array([1 / 3, 1, 1 / 3]), np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
    >>> cover(columns_of([np.array([0, 2, 1, 3])], [tree]), k=2).labels
    array([0, 1, 0, 1])
    """
    if run.binding is not None:
        return grow(columns, k, effort, seed=run.seed, threads=run.threads, limits=run.binding)
    with part(0, 4):
        labels = covered(columns, k, nodes)
    left, near = np.flatnonzero(labels < 0), None
    if left.size >= k:
        mine = columns._replace(codes=np.ascontiguousarray(columns.codes[left]))
        close, distances = closest(mine, keeping(k), (run.seed, 0), None, run.threads)
        own = grown(mine, k, close, distances, None)
        labels[left] = np.where(own < 0, -1, own + int(labels.max()) + 1)
        if np.count_nonzero(own < 0) > MANY:
            near = np.full((labels.size, close.shape[1]), -1, np.int32)
            near[left] = np.where(close < 0, -1, left[close])
    _renumber(labels, np.full(int(labels.max()) + 1, -1, np.int64))
    labels = placed(columns, labels, near, k, None, np.random.default_rng((run.seed, 3)))
    with part(1, 4):
        return Partition.of(improved(columns, labels, k, effort, None, None, run.seed, run.threads, GOOD))


@callable_inner_loop
def _renumber(labels: Rows, number: Rows) -> None:
    """Number groups in the order of their first rows; a row without one keeps its -1."""
    groups = 0
    for row in range(labels.size):
        group = labels[row]
        if group >= 0:
            if number[group] < 0:
                number[group] = groups
                groups += 1
            labels[row] = number[group]


def covered(columns: Columns, k: int, most: int) -> Rows:
    """Return labels of the groups given by the nodes of the lattice, -1 for remaining rows."""
    unit, first = _alike(columns)
    count = np.bincount(unit)
    labels = np.full(first.size, -1, np.int64)
    active = np.arange(first.size)
    codes, groups = np.ascontiguousarray(columns.codes[first].T), 0
    nodes = nodes_of([_mean_losses(columns, j, codes[j], count) for j in range(len(codes))], most)
    widths = np.array([columns.levels(j).shape[1] for j in range(len(codes))], np.int64)
    drawn = _keys(columns)
    table = _HashTable.of(codes, drawn, columns.rung[:-1].copy())
    seen, most_seen = 0, max(LEAST_SEEN, SEEN * first.size)
    while active.size:
        some = list(islice(nodes, CHUNK))
        if not some or seen > most_seen:
            break
        seen += active.size * len(some)
        maps = columns.rung[:-1] + np.array(some, np.int64).reshape(len(some), len(codes)) * widths
        left, groups = _walk(table, codes, drawn, maps, count, active, labels, groups, k)
        active = active[:left]
        tick(first.size - left, first.size)
    return labels[unit]


def _alike(columns: Columns) -> tuple[NDArray[np.int32], Rows]:
    """Return the combination of each row, and the first row of each."""
    mixed = np.zeros(len(columns.codes), np.uint64)
    for j in range(columns.codes.shape[1]):
        mixed ^= columns.codes[:, j].astype(np.uint64)
        mixed *= FACTOR
        mixed ^= mixed >> np.uint64(29)
    order = np.argsort(mixed, kind="stable").astype(np.int32)
    mixed = mixed[order]
    new = np.append(True, mixed[1:] != mixed[:-1])[: mixed.size]
    del mixed  # large for a million rows
    unit = np.empty(order.size, np.int32)
    unit[order] = np.cumsum(new, dtype=np.int32) - 1
    return unit, order[new].astype(np.int64)


def _keys(columns: Columns) -> NDArray[np.uint64]:
    """Return a random number for each class of each level, in the order of the ladder."""
    if not columns.kind.size:
        return np.zeros(0, np.uint64)
    sizes = [int(columns.ladder[columns.rung[j] : columns.rung[j + 1]].max()) + 1 for j in range(columns.kind.size)]
    drawn = np.random.default_rng(DRAWN).integers(0, 2**64, sum(sizes), np.uint64)
    first = np.repeat(np.cumsum([0, *sizes[:-1]]), np.diff(columns.rung))
    return np.asarray(drawn[first + columns.ladder])


def _mean_losses(columns: Columns, j: int, codes: NDArray[np.int32], count: Rows) -> Floats:
    """Return the mean loss over all rows of each level of a column, `count` being the rows of each code."""
    counts = np.bincount(codes, count, columns.levels(j).shape[1])
    found = []
    for level in columns.levels(j):
        each_ = class_losses(columns, j, level)
        found.append(float(each_[level] @ counts) / max(1, counts.sum()))
    return np.maximum.accumulate(found)


class _HashTable(NamedTuple):
    """A hash table of the classes of a node: their keys, the node where they were last seen, their rows and group."""

    keys: NDArray[np.uint64]
    held: NDArray[np.int32]
    slot: NDArray[np.int32]  # the class of each row
    own: NDArray[np.uint64]  # its key
    last: Rows  # where the level of each column begins for which the keys were computed
    turn: NDArray[np.int32]  # the present node

    @classmethod
    def of(cls, codes: NDArray[np.int32], drawn: NDArray[np.uint64], last: Rows) -> "_HashTable":
        """Return working arrays for rows with these codes, one row per column."""
        n = codes.shape[1]
        size = 1 << max(1, (2 * n - 1).bit_length())
        own = np.bitwise_xor.reduce(drawn[last[:, None] + codes], axis=0) if len(codes) else np.zeros(n, np.uint64)
        held = np.zeros((size, 3), np.int32)
        return cls(np.zeros(size, np.uint64), held, np.zeros(n, np.int32), own, last, np.zeros(1, np.int32))


def nodes_of(losses: list[Floats], most: int) -> Iterator[tuple[int, ...]]:
    """Return at most `most` nodes of a lattice in the order of their loss, ties by their levels.

    `losses` are the losses of the levels of each column; they never fall.
    """
    sizes = [len(column) for column in losses]
    if np.prod([float(size) for size in sizes]) <= SORTED:
        total = np.zeros(1)
        for column in losses:
            total = (total[:, None] + column[None, :]).reshape(-1)
        cheapest = np.argsort(total, kind="stable")[:most]
        found = np.column_stack(np.unravel_index(cheapest, sizes)).tolist() if sizes else [()]
        yield from map(tuple, found)
        return
    # A node has one predecessor: the one with its last non-zero level lowered by one.
    start = (0,) * len(sizes)
    heap = [(float(sum(column[0] for column in losses)), start, 0)]
    for _ in range(most):
        if not heap:
            return
        cost, node, last = heapq.heappop(heap)
        yield node
        for j in range(last, len(sizes)):
            if node[j] + 1 < sizes[j]:
                rise = float(losses[j][node[j] + 1] - losses[j][node[j]])
                heapq.heappush(heap, (cost + rise, (*node[:j], node[j] + 1, *node[j + 1 :]), j))


@inner_loop
def _update_keys(
    codes: NDArray[np.int32], drawn: NDArray[np.uint64], levels: Rows, last: Rows, own: NDArray[np.uint64], left: int
) -> None:
    """Update the keys of rows for the columns whose level has changed."""
    for j in range(levels.size):
        old, new = last[j], levels[j]
        if old != new:
            for i in range(left):
                own[i] ^= drawn[old + codes[j, i]] ^ drawn[new + codes[j, i]]
            last[j] = new


@callable_inner_loop
def _walk(
    table: _HashTable,
    codes: NDArray[np.int32],
    drawn: NDArray[np.uint64],
    maps: Rows,
    count: Rows,
    active: Rows,
    labels: Rows,
    groups: int,
    k: int,
) -> tuple[int, int]:
    """Label the classes of some nodes; return the numbers of remaining rows and of groups.

    Remaining rows move to the start of `active`, and their codes with them.
    """
    keys, held, slot, own, last, turn = table
    left, d = active.size, len(codes)
    for node in range(len(maps)):
        bits = 1
        while 1 << bits < 2 * left:
            bits += 1
        mask, now = np.uint64((1 << bits) - 1), turn[0] + 1
        turn[0] = now
        _update_keys(codes, drawn, maps[node], last, own, left)
        for i in range(left):
            h = int(own[i] & mask)
            while held[h, 0] == now and keys[h] != own[i]:
                h = int((np.uint64(h) + np.uint64(1)) & mask)
            if held[h, 0] != now:
                keys[h] = own[i]
                held[h, 0], held[h, 1], held[h, 2] = now, 0, -1
            held[h, 1] += count[active[i]]
            slot[i] = h
        kept = 0
        for i in range(left):
            h = slot[i]
            if held[h, 1] < k:
                if kept < i:
                    active[kept], own[kept] = active[i], own[i]
                    for j in range(d):
                        codes[j, kept] = codes[j, i]
                kept += 1
                continue
            if held[h, 2] < 0:
                held[h, 2] = groups
                groups += 1
            labels[active[i]] = held[h, 2]
        left = kept
    return left, groups
