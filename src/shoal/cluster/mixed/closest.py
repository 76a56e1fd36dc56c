"""Closest: for each row of a mixed table, rows whose hull with it loses little.

1. Sort the rows by all columns, several times, each time in another order of the columns.
2. Compare each row with the next few in that order, and keep the closest of all compared.
3. Under limits on sensitive values, also compare each row with the next few that have another value.

Rows that agree in most columns are near each other in most of the orders, whatever the kinds of columns; a tree of
boxes could not handle sets and taxonomies.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.limits import Limits
from shoal.kernels.columns import Columns, pair_loss
from shoal.kernels.loops import callable_inner_loop, inner_loop
from shoal.kernels.threads import each
from shoal.model.progress import tick

SORTS = 24
WINDOW = 8  # rows compared with a row in each order, on either side
BITS = 62
MOST = 20_000_000  # rows kept, by all threads together

Near = NDArray[np.int32]


def closest(
    columns: Columns, keep: int, seed: tuple[int, ...], limits: Limits | None = None, threads: int = 1
) -> tuple[Near, Floats]:
    """Return the `keep` closest rows found for each row, the closest first, and the losses with them.

    `seed` decides the orders of the columns. With limits, half as many rows with other sensitive values follow in
    `near`, the closest of them first. Missing entries are -1, with infinite loss. The result does not depend on the
    threads.
    """
    n, d = columns.codes.shape
    rng = np.random.default_rng(seed)
    orders = []
    for turn in range(SORTS):
        order = rng.permutation(d)
        # Each column comes last in turn: rows that differ only in it are then neighbours.
        last = turn % max(d, 1)
        orders.append((turn, np.concatenate([order[order != last], [last]]) if d else order))
    parts = max(1, min(threads, MOST // max(1, n * keep)))
    found, *more = each(lambda own: _kept(columns, own, keep, limits), [orders[i::parts] for i in range(parts)], parts)
    for one in more:
        for (near, distances), (other, farther) in zip(found, one, strict=True):
            _unite(near, distances, other, farther)
    near, distances = found[0]
    return (near, distances) if limits is None else (np.hstack([near, found[1][0]]), distances)


def _kept(
    columns: Columns, orders: list[tuple[int, Rows]], keep: int, limits: Limits | None
) -> list[tuple[Near, Floats]]:
    """Return the closest rows found by some orders, and those with other sensitive values if there are limits."""
    n = len(columns.codes)
    near, distances = np.full((n, keep), -1, np.int32), np.full((n, keep), np.inf)
    others, farther = np.full((n, keep // 2), -1, np.int32), np.full((n, keep // 2), np.inf)
    for place, (turn, order) in enumerate(orders):
        tick(place, len(orders))
        rows = sorted_by(columns, order)
        _compare(columns, rows, near, distances)
        if limits is not None:
            value = limits.codes[:, turn % limits.codes.shape[1]]
            _compare_others(columns, rows, value, _next_other(value[rows]), others, farther)
    return [(near, distances), (others, farther)][: 1 if limits is None else 2]


def _next_other(values: NDArray[np.int32]) -> Rows:
    """Return for each position the next one with another value; the number of positions if there is none."""
    starts = np.flatnonzero(np.diff(values)) + 1
    return np.append(starts, values.size)[np.searchsorted(starts, np.arange(values.size), side="right")]


def sorted_by(columns: Columns, order: Rows) -> Rows:
    """Return the rows sorted by the columns in this order, as far as one 64-bit key can distinguish them."""
    key, combinations = np.zeros(len(columns.codes), np.int64), 1
    for j in order:
        size = int(columns.width[j]) + 1
        if combinations * size >= 1 << BITS:
            break
        key = key * size + columns.codes[:, j]
        combinations *= size
    return np.argsort(key, kind="stable")


@callable_inner_loop
def _compare(columns: Columns, order: Rows, near: Near, distances: Floats) -> None:
    """Compare each row with the next ones in the order, and let each keep the other if it is close."""
    n, last = order.size, near.shape[1] - 1
    for place in range(n):
        one = order[place]
        for other in range(place + 1, min(place + 1 + WINDOW, n)):
            two = order[other]
            gap = pair_loss(columns, one, two, max(distances[one, last], distances[two, last]))
            _keep(near, distances, one, two, gap)
            _keep(near, distances, two, one, gap)


@callable_inner_loop
def _compare_others(
    columns: Columns, order: Rows, value: NDArray[np.int32], ahead: Rows, near: Near, distances: Floats
) -> None:
    """Compare each row with the next ones that have another sensitive value."""
    last = near.shape[1] - 1
    for place in range(order.size):
        one, other, count = order[place], ahead[place], 0
        while other < order.size and count < WINDOW:
            two = order[other]
            if value[two] != value[one]:
                gap = pair_loss(columns, one, two, max(distances[one, last], distances[two, last]))
                _keep(near, distances, one, two, gap)
                _keep(near, distances, two, one, gap)
                count += 1
                other += 1
            else:
                other = ahead[other]


@inner_loop
def _keep(near: Near, distances: Floats, row: int, other: int, gap: float) -> None:
    """Insert a row among the closest of another, unless it is there; ties are ordered by number."""
    place = near.shape[1] - 1
    if gap > distances[row, place] or (gap == distances[row, place] and other >= near[row, place] >= 0):
        return
    for i in range(near.shape[1]):
        if near[row, i] == other:
            return
        if distances[row, i] > gap:
            break
    while place > 0 and (
        distances[row, place - 1] > gap or (distances[row, place - 1] == gap and near[row, place - 1] > other)
    ):
        near[row, place], distances[row, place] = near[row, place - 1], distances[row, place - 1]
        place -= 1
    near[row, place], distances[row, place] = other, gap


@callable_inner_loop
def _unite(near: Near, distances: Floats, other: Near, farther: Floats) -> None:
    """Merge what another search has found for each row."""
    for row in range(len(near)):
        for i in range(other.shape[1]):
            if other[row, i] < 0:
                break
            _keep(near, distances, row, other[row, i], farther[row, i])
