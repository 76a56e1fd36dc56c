"""MDAV on few rows, with every distance computed: the answer of `carving`, from a loop that compiles quickly.

Rows are stored column by column, outermost first. Rounding is the same as with the blocks of `search.layout`: distances
are examined in the same order, because the rows of a group are subtracted from the sum in the order in which they are
found.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.layout import WIDTH, descending, replace_worst
from shoal.kernels.loops import callable_inner_loop, inner_loop

THIRDS = 2_000  # rows up to which the rest is laid out again when a third has gone; of more rows, when a quarter has


def carve_few(X: Floats, labels: Rows, k: int, pairs: int) -> int:
    """Label group after group while 2k rows are left, in pairs while `pairs` rows are; return the number of groups."""
    n, d = X.shape
    # Loops are compiled once for numbers that may be written to, and not again for others.
    X = X if X.flags.writeable else X.copy()
    places, near = np.empty(k - 1, np.int64), np.empty(k - 1)
    scratch = *np.empty((3, n), np.int64), places, *np.empty((2, n)), *np.empty((3, d)), near
    parts = 3 if n <= THIRDS else 4
    return int(_carve(X, labels, k, pairs, parts, np.empty((d, n)), *scratch))


@callable_inner_loop
def _carve(
    X: Floats,
    labels: Rows,
    k: int,
    pairs: int,
    parts: int,
    columns: Floats,
    placed: Rows,
    order: Rows,
    other: Rows,
    places: Rows,
    reach: Floats,
    squares: Floats,
    total: Floats,
    centre: Floats,
    point: Floats,
    near: Floats,
) -> int:
    """Do as `carve_few`; rows are laid out again when one of `parts` has gone. Arrays after it are working arrays."""
    group, left = 0, len(X)
    while left >= 2 * k:
        count, least = left, max(2 * k, (parts - 1) * left // parts)
        _lay_out(X, labels, columns, placed, order, other, reach, total, centre)
        while left >= least:
            _measure(columns, count, float(left), total, squares)
            seed = _farthest(squares, placed, count)
            seeds = 2 if left >= pairs else 1
            for turn in range(seeds):
                for j in range(point.size):
                    point[j] = columns[j, seed]
                _drop(columns, total, labels, placed, seed, group)
                _measure(columns, count, 1.0, point, squares)
                _find_nearest(squares, placed, count, seed // WIDTH * WIDTH, near, places)
                for i in range(near.size):
                    _drop(columns, total, labels, placed, places[i], group)
                if turn + 1 < seeds:
                    seed = _farthest(squares, placed, count)
                    if labels[placed[seed]] >= 0:
                        # All rows are equally far from the first seed: the tie goes to the lowest remaining one.
                        for place in range(count):
                            if labels[placed[place]] < 0 and (
                                labels[placed[seed]] >= 0 or placed[place] < placed[seed]
                            ):
                                seed = place
                group += 1
                left -= k
    return group


@inner_loop
def _lay_out(
    X: Floats,
    labels: Rows,
    columns: Floats,
    placed: Rows,
    order: Rows,
    other: Rows,
    reach: Floats,
    total: Floats,
    centre: Floats,
) -> None:
    """Store the remaining rows column by column, outermost first, and their sum."""
    count = 0
    for j in range(total.size):
        total[j] = 0.0
    for row in range(labels.size):
        if labels[row] < 0:
            placed[count] = row
            count += 1
            for j in range(total.size):
                total[j] += X[row, j]
    for j in range(total.size):
        centre[j] = total[j] / count
    for i in range(count):
        square = 0.0
        for j in range(total.size):
            gap = X[placed[i], j] - centre[j]
            square += gap * gap
        reach[i] = np.sqrt(square)
    descending(reach, count, order, other)
    for i in range(count):
        other[i] = placed[order[i]]
    for i in range(count):
        placed[i] = other[i]
        for j in range(total.size):
            columns[j, i] = X[placed[i], j]


@inner_loop
def _measure(columns: Floats, count: int, scale: float, point: Floats, squares: Floats) -> None:
    """Write |scale x - point|^2 for each row x."""
    for i in range(count):
        squares[i] = 0.0
    for j in range(point.size):
        for i in range(count):
            gap = scale * columns[j, i] - point[j]
            squares[i] += gap * gap


@inner_loop
def _farthest(squares: Floats, placed: Rows, count: int) -> int:
    """Return the place of the greatest square, ties to the lowest row."""
    best, far = -1.0, 0
    for i in range(count):
        if squares[i] >= best and (squares[i] > best or placed[i] < placed[far]):
            best, far = squares[i], i
    return far


@inner_loop
def _find_nearest(squares: Floats, placed: Rows, count: int, home: int, near: Floats, places: Rows) -> None:
    """Write the places of the nearest rows; those of the seed's own block, which begins at `home`, come first."""
    for i in range(near.size):
        near[i], places[i] = np.inf, 0
    for turn in range(2):
        first, last = (home, min(home + WIDTH, count)) if turn == 0 else (0, count)
        for place in range(first, last):
            near_enough = squares[place] < near[0] or (squares[place] == near[0] and placed[place] < placed[places[0]])
            if near_enough and (turn == 0 or not home <= place < home + WIDTH):
                replace_worst(near, places, placed, squares[place], place)


@inner_loop
def _drop(columns: Floats, total: Floats, labels: Rows, placed: Rows, place: int, group: int) -> None:
    """Assign a row to its group and remove it from the remaining rows: no comparison with NaN holds."""
    for j in range(total.size):
        total[j] -= columns[j, place]
    columns[0, place] = np.nan
    labels[placed[place]] = group
