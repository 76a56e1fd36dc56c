"""The cheapest assignment of rows to centres that gives every centre at least k rows.

1. A row may go to its present centre and to the 16 centres nearest to it. Every centre has k rows at present, so such
   an assignment always exists.
2. Every row goes where it costs least, and stays where it is if that is as good. All prices are 0.
3. As long as a centre lacks rows: find the cheapest path to it from a centre that has more than k (Dijkstra, backwards
   from the centre that lacks). A step of a path is a row that changes its centre, at the difference of its costs, less
   the price of its new centre and plus that of its old one. One row moves along every step.
4. Prices rise by how much nearer than the end of the path a centre is to its beginning. So no row would rather be
   elsewhere, cost less price, and no centre with more than k rows has a price: no other assignment costs less.

Edmonds and Karp, Theoretical improvements in algorithmic efficiency for network flow problems, Journal of the ACM 19
(1972) 248-264.
"""

from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.layout import WIDTH, fill, measure
from shoal.kernels.distance import squared
from shoal.kernels.loops import callable_inner_loop, inner_loop

NEAR = 16  # centres that a row may go to, besides its own
MOST = 0.9  # cap on a row's share of its group's weight


class _Network(NamedTuple):
    """Which rows may go to which groups, and what is known of paths to the group that lacks a row.

    The rows that may go to a group g are entries of `places` from start[g] up to start[g + 1] of `callers`. A path goes
    from group to group by `onward`; `movers` gives the row and the place that it moves to.
    """

    start: Rows
    callers: Rows
    counts: Rows  # rows of each group
    prices: Floats
    lengths: Floats  # of the shortest path found from each group; infinity if there is none
    onward: Rows
    movers: Rows
    seen: Rows  # groups from which a path was found
    keys: Floats  # a heap of lengths
    heap: Rows  # and of the groups that they belong to


def assign(X: Floats, weights: Floats, centres: Floats, home: Rows, eager: float, k: int) -> Rows:
    """Return the centre of each row so that each has at least k rows and the total cost is least.

    A row of weight w costs w |x - c|^2 at centre c. `home` is the present centre of each row; each has at least k rows.
    At home, among rows of total weight W, a row costs (W + eager w) / (W - eager w) times as much: `eager` is how ready
    rows are to leave.
    """
    n, groups = len(X), len(centres)
    masses = np.bincount(home, weights, groups)
    blocks = np.full((-(-groups // WIDTH), centres.shape[1], WIDTH), np.nan)
    fill(blocks, centres, np.arange(groups))
    near = np.empty(min(NEAR, groups))
    places, costs = np.zeros((n, near.size + 1), np.int64), np.empty((n, near.size + 1))
    places[:, 0] = home
    _price(X, weights, centres, blocks, places, costs, eager / masses, near, np.empty(WIDTH))
    chosen, whole = np.zeros(n, np.int64), np.zeros((4, groups), np.int64)
    counts, onward, movers, seen = whole
    start, callers = np.zeros(groups + 1, np.int64), np.empty(places.size, np.int64)
    # A group is left once on the way, and so each entry adds at most one path.
    heap = np.empty(places.size + 1), np.empty(places.size + 1, np.int64)
    paths = np.zeros(groups), np.full(groups, np.inf), onward, movers, seen
    _choose(places, costs, chosen, _Network(start, callers, counts, *paths, *heap), k)
    return np.asarray(places[np.arange(n), chosen])


@callable_inner_loop
def _price(
    X: Floats,
    weights: Floats,
    centres: Floats,
    blocks: Floats,
    places: Rows,
    costs: Floats,
    eager: Floats,
    near: Floats,
    squares: Floats,
) -> None:
    """Write the nearest centres of each row after its home, and what it costs at each; infinity where home recurs.

    The nearest come first, ties to the lowest; centres are stored in blocks.
    """
    count = near.size
    for i in range(len(X)):
        for m in range(count):
            near[m] = np.inf
        for b in range(len(blocks)):
            if not measure(blocks[b], 1.0, X[i], near[count - 1], squares):
                continue
            for w in range(WIDTH):
                if squares[w] < near[count - 1]:
                    hole = count - 1
                    while hole > 0 and near[hole - 1] > squares[w]:
                        near[hole], places[i, hole + 1] = near[hole - 1], places[i, hole]
                        hole -= 1
                    near[hole], places[i, hole + 1] = squares[w], b * WIDTH + w
        home = places[i, 0]
        for m in range(count + 1):
            costs[i, m] = np.inf
            if m == 0 or places[i, m] != home:
                costs[i, m] = weights[i] * squared(X, i, centres, places[i, m])
        part = min(weights[i] * eager[home], MOST)
        costs[i, 0] *= (1.0 + part) / (1.0 - part)


@callable_inner_loop
def _choose(places: Rows, costs: Floats, chosen: Rows, network: _Network, k: int) -> None:
    """Choose the place of each row so that every group has at least k rows and the total cost is least."""
    counts, onward, movers = network.counts, network.onward, network.movers
    n, most = places.shape
    for i in range(n):
        for m in range(1, most):
            best = chosen[i]
            better = costs[i, m] < costs[i, best]
            if better or (best > 0 and costs[i, m] == costs[i, best] and places[i, m] < places[i, best]):
                chosen[i] = m
        counts[places[i, chosen[i]]] += 1
    _link(places, costs, network)
    for lacking in range(counts.size):
        while counts[lacking] < k:
            donor = _way(places, costs, chosen, network, lacking, k)
            counts[donor] -= 1
            counts[lacking] += 1
            place = donor
            while place != lacking:
                chosen[movers[place] // most] = movers[place] % most
                place = onward[place]


@inner_loop
def _link(places: Rows, costs: Floats, network: _Network) -> None:
    """List the rows that may go to each group."""
    start, callers = network.start, network.callers
    n, most = places.shape
    for i in range(n):
        for m in range(most):
            if costs[i, m] < np.inf:
                start[places[i, m]] += 1
    for group in range(1, start.size):
        start[group] += start[group - 1]
    # Where the entries of a group end; as they are entered from the last one on, it becomes where they begin.
    for i in range(n - 1, -1, -1):
        for m in range(most - 1, -1, -1):
            if costs[i, m] < np.inf:
                start[places[i, m]] -= 1
                callers[start[places[i, m]]] = i * most + m


@inner_loop
def _way(places: Rows, costs: Floats, chosen: Rows, network: _Network, lacking: int, k: int) -> int:
    """Find the cheapest path to a group that lacks a row, raise prices, and return the group where it begins."""
    start, callers, counts, prices, lengths, onward, movers, seen, keys, heap = network
    most = places.shape[1]
    lengths[lacking], seen[0], known = 0.0, lacking, 1
    keys[0], heap[0], size = 0.0, lacking, 1
    here = lacking
    while True:
        length, here = keys[0], heap[0]
        size = _pop(keys, heap, size)
        if length > lengths[here]:
            continue
        if counts[here] > k:
            break
        for at in range(start[here], start[here + 1]):
            i, m = callers[at] // most, callers[at] % most
            there = places[i, chosen[i]]
            step = (costs[i, m] - prices[here]) - (costs[i, chosen[i]] - prices[there])
            # Rounding may make the cost of a step slightly negative.
            far = length + max(0.0, step)
            if far < lengths[there]:
                if lengths[there] == np.inf:
                    seen[known] = there
                    known += 1
                lengths[there], onward[there], movers[there] = far, here, callers[at]
                size = _push(keys, heap, size, far, there)
    whole = lengths[here]
    for i in range(known):
        prices[seen[i]] += max(0.0, whole - lengths[seen[i]])
        lengths[seen[i]] = np.inf
    return int(here)


@inner_loop
def _push(keys: Floats, heap: Rows, size: int, key: float, item: int) -> int:
    """Add an item to a heap, the least key at its top and ties to the lowest item; return how many there are."""
    hole = size
    while hole > 0:
        above = (hole - 1) // 2
        if keys[above] < key or (keys[above] == key and heap[above] <= item):
            break
        keys[hole], heap[hole] = keys[above], heap[above]
        hole = above
    keys[hole], heap[hole] = key, item
    return size + 1


@inner_loop
def _pop(keys: Floats, heap: Rows, size: int) -> int:
    """Remove the top of a heap; return how many items are left."""
    size -= 1
    key, item, hole = keys[size], heap[size], 0
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        other = child + 1
        if other < size and (keys[other] < keys[child] or (keys[other] == keys[child] and heap[other] < heap[child])):
            child = other
        if key < keys[child] or (key == keys[child] and item <= heap[child]):
            break
        keys[hole], heap[hole] = keys[child], heap[child]
        hole = child
    keys[hole], heap[hole] = key, item
    return size
