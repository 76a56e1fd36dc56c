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

import heapq

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.layout import WIDTH, fill, measure
from shoal.kernels.distance import squared
from shoal.kernels.loops import loop

NEAR = 16  # centres that a row may go to, besides its own
MOST = 0.9  # cap on a row's share of its group's weight


def assign(X: Floats, weights: Floats, centres: Floats, home: Rows, eager: float, k: int) -> Rows:
    """Return the centre of each row so that each has at least k rows and the total cost is least.

    A row of weight w costs w |x - c|^2 at centre c. `home` is the present centre of each row; each has at least k rows.
    At home, among rows of total weight W, a row costs (W + eager w) / (W - eager w) times as much: `eager` is how ready
    rows are to leave.
    """
    masses = np.bincount(home, weights, len(centres))
    blocks = np.full((-(-len(centres) // WIDTH), centres.shape[1], WIDTH), np.nan)
    fill(blocks, centres, np.arange(len(centres)))
    places = np.column_stack([home, _nearest(X, blocks, min(NEAR, len(centres)))])
    costs = _costs(X, weights, centres, places, eager / masses)
    return _filled(places, costs, len(centres), k)


@loop
def _nearest(X: Floats, blocks: Floats, count: int) -> Rows:
    """Return the nearest centres of each row, nearest first, ties to the lowest; centres are stored in blocks."""
    found, near, squares = np.zeros((len(X), count), np.int64), np.empty(count), np.empty(WIDTH)
    for i in range(len(X)):
        near[:] = np.inf
        for b in range(len(blocks)):
            if not measure(blocks[b], 1.0, X[i], near[-1], squares):
                continue
            for w in range(WIDTH):
                if squares[w] < near[-1]:
                    hole = count - 1
                    while hole > 0 and near[hole - 1] > squares[w]:
                        near[hole], found[i, hole] = near[hole - 1], found[i, hole - 1]
                        hole -= 1
                    near[hole], found[i, hole] = squares[w], b * WIDTH + w
    return found


@loop
def _costs(X: Floats, weights: Floats, centres: Floats, places: Rows, eager: Floats) -> Floats:
    """Return the cost of each row at each of its places, the first of which is its home; infinity where home recurs."""
    costs = np.empty(places.shape)
    for i in range(len(places)):
        home = places[i, 0]
        for m in range(places.shape[1]):
            costs[i, m] = (
                weights[i] * squared(X, i, centres, places[i, m]) if m == 0 or places[i, m] != home else np.inf
            )
        part = min(weights[i] * eager[home], MOST)
        costs[i, 0] *= (1.0 + part) / (1.0 - part)
    return costs


@loop
def _filled(places: Rows, costs: Floats, groups: int, k: int) -> Rows:
    """Return the cheapest assignment of rows to their places that gives every group at least k rows."""
    n, most = places.shape
    chosen, counts = np.zeros(n, np.int64), np.zeros(groups, np.int64)
    for i in range(n):
        for m in range(1, most):
            best = chosen[i]
            better = costs[i, m] < costs[i, best]
            if better or (best > 0 and costs[i, m] == costs[i, best] and places[i, m] < places[i, best]):
                chosen[i] = m
        counts[places[i, chosen[i]]] += 1
    start, callers = _callers(places, costs, groups)
    prices, lengths = np.zeros(groups), np.full(groups, np.inf)
    onward, movers = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    for lacking in range(groups):
        while counts[lacking] < k:
            donor = _way(places, costs, chosen, counts, start, callers, prices, lengths, onward, movers, lacking, k)
            counts[donor] -= 1
            counts[lacking] += 1
            place = donor
            while place != lacking:
                chosen[movers[place] // most] = movers[place] % most
                place = onward[place]
    labels = np.empty(n, np.int64)
    for i in range(n):
        labels[i] = places[i, chosen[i]]
    return labels


@loop
def _callers(places: Rows, costs: Floats, groups: int) -> tuple[Rows, Rows]:
    """Return which rows may go to a group g, as entries of `places` from start[g] up to start[g + 1]."""
    n, most = places.shape
    start = np.zeros(groups + 1, np.int64)
    for i in range(n):
        for m in range(most):
            if costs[i, m] < np.inf:
                start[places[i, m] + 1] += 1
    for group in range(groups):
        start[group + 1] += start[group]
    callers, at = np.empty(start[-1], np.int64), start.copy()
    for i in range(n):
        for m in range(most):
            if costs[i, m] < np.inf:
                callers[at[places[i, m]]] = i * most + m
                at[places[i, m]] += 1
    return start, callers


@loop
def _way(
    places: Rows,
    costs: Floats,
    chosen: Rows,
    counts: Rows,
    start: Rows,
    callers: Rows,
    prices: Floats,
    lengths: Floats,
    onward: Rows,
    movers: Rows,
    lacking: int,
    k: int,
) -> int:
    """Find the cheapest path to a group that lacks a row, raise prices, and return the group where it begins.

    The path goes from group to group by `onward`; `movers` gives the row and the place that it moves to.
    """
    most = places.shape[1]
    lengths[lacking] = 0.0
    heap, seen = [(0.0, lacking)], [lacking]
    here = lacking
    while True:
        length, here = heapq.heappop(heap)
        if length > lengths[here]:
            continue
        if counts[here] > k:
            break
        for entry in callers[start[here] : start[here + 1]]:
            i, m = entry // most, entry % most
            there = places[i, chosen[i]]
            step = (costs[i, m] - prices[here]) - (costs[i, chosen[i]] - prices[there])
            # Rounding may make the cost of a step slightly negative.
            far = length + max(0.0, step)
            if far < lengths[there]:
                if lengths[there] == np.inf:
                    seen.append(there)
                lengths[there], onward[there], movers[there] = far, here, entry
                heapq.heappush(heap, (far, there))
    whole = lengths[here]
    for place in seen:
        prices[place] += max(0.0, whole - lengths[place])
        lengths[place] = np.inf
    return here
