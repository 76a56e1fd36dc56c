"""Cover: groups of a mixed table from the nodes of a lattice, the cheapest first.

1. A node of the lattice is a level for each column: the value itself, then ever coarser. What a node loses is known
   beforehand, column by column, so the nodes come in the order of their loss.
2. For each node: rows that agree at these levels, k or more of them, are a group and leave. A lattice that is too large
   is given up when rows have been looked at some hundred times.
3. Rows that are left grow groups among themselves (`cluster.grow`), or join others. Under limits on sensitive values
   all rows are left: rows that agree mostly share their value too, and the few groups that the first nodes would make
   take away what others need.
4. Groups are rebuilt a few at a time (`cluster.rebuild`), the longer the more effort is asked for.

A group is published by what its rows have in common, which is never more than the node says.
"""

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.closest import closest
from shoal.cluster.given import Floats, Rows
from shoal.cluster.grow import grow, grown
from shoal.cluster.improving import EFFORT, binding, checked, improved, keeping
from shoal.cluster.leftover import placed
from shoal.cluster.limits import Limits
from shoal.kernels.columns import Columns, class_losses
from shoal.kernels.loops import inner_loop
from shoal.kernels.threads import thread_count
from shoal.model.partition import Partition
from shoal.model.progress import part, tick
from shoal.registry import Whole, method

__all__ = ["cover", "nodes_of"]

SORTED = 100_000  # nodes of a lattice that are sorted at once
MOST = 8_000  # nodes that are tried
CHUNK = 64  # nodes between two ticks
SEEN, LEAST_SEEN = 400, 10**7  # times a combination is looked at on average, and looks in all, before it is given up
GOOD = 0.8  # share of the usual rebuilding: the start is a good one
FACTOR = np.uint64(0x9E3779B97F4A7C15)


@method(
    "cover",
    data="mixed",
    ensures={"k", "l", "t"},
    params={
        "k": Whole(2, help="The least number of rows in a group."),
        "effort": EFFORT,
        "nodes": Whole(1, 10**7, MOST, "How many nodes of the lattice are tried, at the most."),
    },
    uses={"limits", "seed", "threads"},
)
def cover(
    columns: Columns,
    k: int,
    effort: str = "quick",
    nodes: int = MOST,
    *,
    seed: int = 0,
    threads: int | None = None,
    limits: Limits | None = None,
) -> Partition:
    """Group rows that agree at the levels of their hierarchies, the levels that lose least first.

    Parameters
    ----------
    columns : Columns
        The quasi-identifiers of a mixed table.
    k : int, 2 <= k <= n
        The least number of rows in a group.
    effort : {"none", "quick", "normal", "thorough"}
        How long groups are rebuilt afterwards.
    nodes : int
        How many nodes of the lattice are tried, at the most.
    seed : int
        Where chance starts.
    threads : int, optional
        How many may work; all cores if not given. The result does not depend on it.
    limits : Limits, optional
        What the sensitive values of a group must meet.

    Returns
    -------
    Partition

    Guarantee
    ---------
    Every group holds at least k rows and meets the limits, if the whole table does. The same columns, parameters and
    seed give the same groups, unless a time budget ends the search early.

    Cost
    ----
    O(r d) for each node, r being the combinations that are left, soon a small part of all; then as `grow` has.

    Examples
    --------
    >>> from shoal.kernels.columns import Tree, columns_of
    >>> tree = Tree(np.array([1 / 3, 1, 1 / 3]), np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]))
    >>> cover(columns_of([np.array([0, 2, 1, 3])], [tree]), k=2).labels
    array([0, 1, 0, 1])
    """
    given = checked(columns, k, "cover")
    asked, workers = binding(limits), thread_count(threads, "cover")
    if asked is not None:
        return grow(given, k, effort, seed=seed, threads=workers, limits=asked)
    with part(0, 4):
        labels = covered(given, k, nodes)
    left = np.flatnonzero(labels < 0)
    if left.size >= k:
        mine = given._replace(codes=np.ascontiguousarray(given.codes[left]))
        own = grown(mine, k, *closest(mine, keeping(k), (seed, 0)), None)
        labels[left] = np.where(own < 0, -1, own + int(labels.max()) + 1)
    labels = placed(given, _by_first_row(labels), None, k, None, np.random.default_rng((seed, 3)))
    with part(1, 4):
        return Partition.of(improved(given, labels, k, effort, None, None, seed, workers, GOOD))


def _by_first_row(labels: Rows) -> Rows:
    """Return groups numbered in the order of their first rows, -1 where there is none."""
    groups, first = np.unique(labels, return_index=True)
    held = groups >= 0
    number = np.full(int(labels.max()) + 2, -1, np.int64)
    number[groups[held][np.argsort(first[held])]] = np.arange(int(held.sum()))
    return number[labels]


def covered(columns: Columns, k: int, most: int) -> Rows:
    """Return labels of the groups that the nodes of the lattice give, -1 for rows that are left over."""
    unit = _alike(columns)
    first = np.unique(unit, return_index=True)[1]
    count = np.bincount(unit)
    labels = np.full(first.size, -1, np.int64)
    active = np.arange(first.size)
    room = _Room.of(first.size)
    codes = np.ascontiguousarray(columns.codes[first])
    groups = 0
    losses = [_mean_losses(columns, j) for j in range(codes.shape[1])]
    starts = [columns.rung[j] + np.arange(len(losses[j])) * columns.levels(j).shape[1] for j in range(codes.shape[1])]
    nodes = nodes_of(losses, most)
    seen, most_seen = 0, max(LEAST_SEEN, SEEN * first.size)
    while active.size:
        some = list(islice(nodes, CHUNK))
        if not some or seen > most_seen:
            break
        seen += active.size * len(some)
        maps = np.array([[starts[j][level] for j, level in enumerate(node)] for node in some], np.int64)
        left, groups = _walk(codes, columns.ladder, maps, count, active, labels, groups, k, *room)
        active = active[:left]
        tick(first.size - left, first.size)
    return labels[unit]


def _alike(columns: Columns) -> Rows:
    """Return the combination of each row."""
    mixed = np.zeros(len(columns.codes), np.uint64)
    for j in range(columns.codes.shape[1]):
        mixed = (mixed ^ columns.codes[:, j].astype(np.uint64)) * FACTOR
        mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed, return_inverse=True)[1].reshape(-1)


def _mean_losses(columns: Columns, j: int) -> Floats:
    """Return what each level of a column loses, over all rows on average."""
    counts = np.bincount(columns.codes[:, j], minlength=columns.levels(j).shape[1])
    found = []
    for level in columns.levels(j):
        each_ = class_losses(columns, j, level)
        found.append(float(each_[level] @ counts) / max(1, counts.sum()))
    return np.maximum.accumulate(found)


class _Room(NamedTuple):
    """A table of the classes of a node, and the class of each row."""

    keys: NDArray[np.uint64]
    sizes: Rows
    owner: Rows
    slot: Rows

    @classmethod
    def of(cls, n: int) -> "_Room":
        """Return room for n rows."""
        size = 1 << max(1, (2 * n - 1).bit_length())
        sizes, owner = np.zeros((2, size), np.int64)
        return cls(np.zeros(size, np.uint64), sizes, owner, np.zeros(n, np.int64))


def nodes_of(losses: list[Floats], most: int) -> Iterator[tuple[int, ...]]:
    """Return the nodes of a lattice in the order of their loss, ties by their levels.

    Parameters
    ----------
    losses : list of float64 arrays
        What each level of each column loses; never falling.
    most : int
        How many nodes to return, at the most.
    """
    sizes = [len(column) for column in losses]
    if np.prod([float(size) for size in sizes]) <= SORTED:
        total = np.zeros(1)
        for column in losses:
            total = (total[:, None] + column[None, :]).reshape(-1)
        for node in np.argsort(total, kind="stable")[:most]:
            yield tuple(int(level) for level in np.unravel_index(node, sizes))
        return
    # A node has one node before it: the one with its last level that is not 0 lowered by one.
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
def _walk(
    codes: NDArray[np.int32],
    ladder: NDArray[np.int32],
    maps: Rows,
    count: Rows,
    active: Rows,
    labels: Rows,
    groups: int,
    k: int,
    keys: NDArray[np.uint64],
    sizes: Rows,
    owner: Rows,
    slot: Rows,
) -> tuple[int, int]:
    """Label the classes of some nodes; return how many rows are left, in front of `active`, and how many groups."""
    left = active.size
    for node in range(len(maps)):
        bits = 1
        while 1 << bits < 2 * left:
            bits += 1
        mask = np.uint64((1 << bits) - 1)
        for h in range(1 << bits):
            sizes[h], owner[h] = 0, -1
        for i in range(left):
            row, key = active[i], FACTOR
            for j in range(codes.shape[1]):
                key ^= np.uint64(ladder[maps[node, j] + codes[row, j]] + 1)
                key ^= key << np.uint64(13)
                key ^= key >> np.uint64(7)
                key ^= key << np.uint64(17)
            h = int(key & mask)
            while sizes[h] > 0 and keys[h] != key:
                h = int((np.uint64(h) + np.uint64(1)) & mask)
            keys[h] = key
            sizes[h] += count[row]
            slot[i] = h
        kept = 0
        for i in range(left):
            h = slot[i]
            if sizes[h] < k:
                active[kept] = active[i]
                kept += 1
                continue
            if owner[h] < 0:
                owner[h] = groups
                groups += 1
            labels[active[i]] = owner[h]
        left = kept
    return left, groups
