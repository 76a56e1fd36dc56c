"""The remaining rows, laid out in blocks: what makes MDAV and similar methods fast without changing their answers.

- Rows are stored in blocks of 32, column by column, in falling order of their distance from a fixed centre. By the
  triangle inequality that order shows which blocks cannot contain a row far or near enough; and a block is abandoned as
  soon as no row of it can be near enough any more.
- Every comparison ends with the row number, and the distance from the mean is compared as `|m x - S|`, with S the sum
  of the m remaining rows: on integers nothing is ever rounded, so ties are recognized.
- A row that is taken leaves NaN in its place, and no comparison with NaN holds.
"""

from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import callable_inner_loop, inner_loop, loop

WIDTH = 32  # rows in a block
STRIDE = 16  # columns between two checks whether a block can be abandoned
PIECE = 1 << 28  # differences of cells between two progress ticks
ROUNDING = 2.0**-49  # times d + 4: exceeds the error of any distance, so that no row is missed


class Layout(NamedTuple):
    """Rows in blocks, outermost first: the row of each place, its distance from their centre, and the sum of all."""

    blocks: Floats
    rows: Rows
    reach: Floats
    centre: Floats
    total: Floats


@loop
def laid_out(X: Floats, rows: Rows) -> Layout:
    """Return the rows in blocks, outermost first."""
    total, centre, reach = spread(X, rows)
    outermost, scratch = np.empty(rows.size, np.int64), np.empty(rows.size, np.int64)
    descending(reach, rows.size, outermost, scratch)
    number = -(-rows.size // WIDTH)
    blocks, sorted_reach = np.empty((number, X.shape[1], WIDTH)), np.empty(number * WIDTH)
    placed = np.empty(rows.size, np.int64)
    for i in range(number * WIDTH):
        place = outermost[i if i < rows.size else rows.size - 1]
        sorted_reach[i] = reach[place]
        if i < rows.size:
            placed[i] = rows[place]
        for j in range(X.shape[1]):
            # The last block is padded with NaN, and no comparison with NaN holds.
            blocks[i // WIDTH, j, i % WIDTH] = X[rows[place], j] if i < rows.size else np.nan
    return Layout(blocks, placed, sorted_reach, centre, total)


@inner_loop
def descending(values: Floats, count: int, order: Rows, other: Rows) -> None:
    """Write the places of the first values, greatest first, ties in order; NumPy's `argsort` takes seconds to compile.

    `other` is a working array.
    """
    for i in range(count):
        order[i] = i
    width = 1
    while width < count:  # runs of this length are sorted, and are merged in pairs
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            left, right = low, middle
            for i in range(low, high):
                if left < middle and (right == high or values[order[left]] >= values[order[right]]):
                    other[i] = order[left]
                    left += 1
                else:
                    other[i] = order[right]
                    right += 1
        for i in range(count):
            order[i] = other[i]
        width *= 2


@loop
def spread(X: Floats, rows: Rows) -> tuple[Floats, Floats, Floats]:
    """Return the sum and the mean of the rows and the distance of each from the mean."""
    total = np.zeros(X.shape[1])
    for row in rows:
        for j in range(X.shape[1]):
            total[j] += X[row, j]
    centre = total / rows.size
    reach = np.zeros(rows.size)
    for i in range(rows.size):
        for j in range(X.shape[1]):
            gap = X[rows[i], j] - centre[j]
            reach[i] += gap * gap
    return total, centre, np.sqrt(reach)


@callable_inner_loop
def fill(blocks: Floats, X: Floats, rows: Rows) -> None:
    """Copy the rows into their places."""
    for i in range(rows.size):
        for j in range(X.shape[1]):
            blocks[i // WIDTH, j, i % WIDTH] = X[rows[i], j]


@loop
def farthest_from_mean(layout: Layout, left: int) -> int:
    """Return the place of the row farthest from the mean of the remaining rows."""
    blocks, rows, reach, centre, total = layout
    slack = ROUNDING * (total.size + 4)
    drift = 0.0
    for j in range(total.size):
        gap = abs(total[j] / left - centre[j]) + slack * abs(centre[j])
        drift += gap * gap
    drift = np.sqrt(drift)
    squares = np.empty(WIDTH)
    best, far = -1.0, 0
    for b in range(len(blocks)):
        most = left * (reach[b * WIDTH] + drift) * (1 + slack)
        if most * most < best:
            break
        measure(blocks[b], float(left), total, np.inf, squares)
        best, far = _farther(squares, rows, b * WIDTH, best, far)
    return far


@loop
def look_around(layout: Layout, seed: int, point: Floats, count: int, opposite: bool) -> tuple[Rows, int]:
    """Return the places of the rows nearest to the point and, on request, of the farthest one."""
    blocks, rows, reach, _, _ = layout
    slack = ROUNDING * (point.size + 4)
    squares = np.empty(WIDTH)
    near, places = np.full(count, np.inf), np.zeros(count, np.int64)
    best, far = (-1.0 if opposite else np.inf), 0
    home, own = seed // WIDTH, reach[seed]
    for turn in range(len(blocks) + 1):
        # The seed's own block comes first: it sets a limit that prunes others.
        b = home if turn == 0 else turn - 1
        if turn > 0 and b == home:
            continue
        high, low = reach[b * WIDTH], reach[b * WIDTH + WIDTH - 1]
        most = (own + high) * (1 + slack)
        farther = most * most >= best
        gap = max(own - high, low - own) - slack * (own + high)
        nearer = gap <= 0 or gap * gap * (1 - slack) <= near[0]
        if not farther and not nearer:
            if high < own:
                break
            continue
        if not measure(blocks[b], 1.0, point, np.inf if farther else near[0], squares):
            continue
        for w in range(WIDTH):
            place = b * WIDTH + w
            if squares[w] <= near[0] and (squares[w] < near[0] or rows[place] < rows[places[0]]):
                replace_worst(near, places, rows, squares[w], place)
        if farther:
            best, far = _farther(squares, rows, b * WIDTH, best, far)
    return places, far


@inner_loop
def measure(block: Floats, scale: float, point: Floats, limit: float, squares: Floats) -> bool:
    """Write |scale x - point|^2 for each row x of a block; return False as soon as all exceed the limit."""
    d = len(block)
    whole = d - d % 4
    squares[:] = 0.0
    for j in range(0, whole, 4):
        if j % STRIDE == 0 and j > 0:
            within = 0
            for w in range(WIDTH):
                within += squares[w] <= limit
            if within == 0:
                return False
        # Four columns per iteration keep the sums in registers; they are added in the order of the columns.
        for w in range(WIDTH):
            e = scale * block[j, w] - point[j]
            f = scale * block[j + 1, w] - point[j + 1]
            g = scale * block[j + 2, w] - point[j + 2]
            h = scale * block[j + 3, w] - point[j + 3]
            squares[w] = squares[w] + e * e + f * f + g * g + h * h
    for j in range(whole, d):
        for w in range(WIDTH):
            e = scale * block[j, w] - point[j]
            squares[w] += e * e
    return True


@inner_loop
def _farther(squares: Floats, rows: Rows, start: int, best: float, far: int) -> tuple[float, int]:
    """Return the greatest square so far and its place, ties to the lowest row."""
    for w in range(WIDTH):
        if squares[w] >= best and (squares[w] > best or rows[start + w] < rows[far]):
            best, far = squares[w], start + w
    return best, far


@inner_loop
def replace_worst(near: Floats, places: Rows, rows: Rows, square: float, place: int) -> None:
    """Replace the worst of the nearest, the top of a heap, by another row."""
    hole = 0
    while 2 * hole + 1 < near.size:
        child = 2 * hole + 1
        other = child + 1
        if other < near.size and (
            near[other] > near[child] or (near[other] == near[child] and rows[places[other]] > rows[places[child]])
        ):
            child = other
        if near[child] < square or (near[child] == square and rows[places[child]] < rows[place]):
            break
        near[hole], places[hole] = near[child], places[child]
        hole = child
    near[hole], places[hole] = square, place


@inner_loop
def take(layout: Layout, place: int) -> None:
    """Mark a row as taken: no comparison with NaN holds."""
    layout.blocks[place // WIDTH, 0, place % WIDTH] = np.nan


@inner_loop
def drop(layout: Layout, place: int, labels: Rows, group: int) -> None:
    """Assign a row to its group and remove it from the remaining rows."""
    b, w = place // WIDTH, place % WIDTH
    for j in range(layout.total.size):
        layout.total[j] -= layout.blocks[b, j, w]
    take(layout, place)
    labels[layout.rows[place]] = group


def places_of(order: Rows, rows: Rows, n: int) -> Rows:
    """Return the place in `rows` of each row of `order`."""
    place = np.empty(n, np.int64)
    place[rows] = np.arange(rows.size)
    return place[order]


def piece(left: int, cells: int, k: int) -> int:
    """Return how many groups to make until the next layout of the rows; each examines `cells` of every row."""
    return min(16 + left // (4 * k), 1 + PIECE // (left * cells))


@loop
def gather(layout: Layout, Z: Floats, seed: int, members: Rows) -> None:
    """Write the places of a seed and of the free rows nearest to it, and mark them as taken."""
    members[0] = seed
    take(layout, seed)
    near = look_around(layout, seed, Z[layout.rows[seed]], members.size - 1, False)[0]
    for i in range(near.size):
        members[i + 1] = near[i]
        take(layout, int(near[i]))
