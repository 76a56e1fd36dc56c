"""Candidates: for each row, the rows near it, nearest first; their groups are where it might go.

1. For each group, the nearest other groups by their means: all against all, in blocks of 64 and in single precision,
   since candidates need not be exact.
2. For each row, the nearest rows of its own and of these groups.
3. The local scale of a row is its squared distance to the (k - 1)th of them; a scale below the 2% quantile is raised
   to it, so that equal rows do not freeze.

Cost: g^2 + n a s distances, for g groups of s rows with a groups around, instead of n^2 for rows against rows.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats
from shoal.cluster.search.state import State, Whole
from shoal.kernels.loops import callable_inner_loop, inner_loop, loop

WIDTH = 64
TINY = 2.0**-46  # the square of the resolution of single precision
Singles = NDArray[np.float32]


def candidates(state: State, k: int, around: int, keep: int) -> tuple[Whole, Floats]:
    """Return up to `keep` rows near each row, and the local scale of each row, for a state of at least two rows.

    Candidates come from a row's own group and the `around` groups near it.
    """
    used = np.flatnonzero(state.size).astype(np.int32)
    around = min(around, used.size - 1)
    # Squares of very large or small numbers do not fit single precision: the largest number is scaled to 1.
    unit = float(np.abs(state.x).max(initial=0.0)) or 1.0
    beside = _beside(*_middles(state, used, unit), around) if around > 0 else np.empty((used.size, 0), np.int32)
    sizes = np.sort(state.size[used])
    keep = int(min(keep, sizes[: around + 1].sum() - 1))
    n, d = state.x.shape
    capacity = int(sizes[-1]) * (beside.shape[1] + 1)
    pool, order = np.empty(capacity, np.int32), np.empty(keep, np.int32)
    block, squares = np.empty((d, capacity), np.float32), np.empty(capacity, np.float32)
    near, scale, rank = np.empty((n, keep), np.int32), np.empty(n), min(k - 2, keep - 1)
    _narrow(state.x / unit, state.members, state.size, used, beside, rank, near, scale, pool, block, squares, order)
    positive = scale[scale > 0]
    floor = float(np.quantile(scale, 0.02)) or (float(positive.min()) if positive.size else TINY)
    return near, np.maximum(scale, floor) * unit * unit * state.weight


def _middles(state: State, used: Whole, unit: float) -> tuple[Singles, Singles]:
    """Return the means of the groups, in blocks and one by one."""
    centres = (state.total[used] / state.mass[used, None] / unit).astype(np.float32)
    blocks = np.full((-(-used.size // WIDTH), centres.shape[1], WIDTH), np.float32(np.inf))
    for b in range(len(blocks)):
        part = centres[b * WIDTH : (b + 1) * WIDTH]
        blocks[b, :, : len(part)] = part.T
    return blocks, centres


@loop
def _beside(blocks: Singles, centres: Singles, around: int) -> Whole:
    """Return for each group the numbers of the nearest others, unordered."""
    g = len(centres)
    found = np.empty((g, around), np.int32)
    squares = np.empty(WIDTH, np.float32)
    gaps = np.empty(around, np.float32)
    for a in range(g):
        gaps[:] = np.inf
        found[a, :] = -1
        worst = 0
        home = a // WIDTH
        for turn in range(len(blocks)):
            # The group's own block comes first: neighbouring groups have neighbouring numbers.
            b = home if turn == 0 else turn - 1 if turn <= home else turn
            if not _measure(blocks, b, centres, a, gaps[worst], squares):
                continue
            for w in range(WIDTH):
                other = b * WIDTH + w
                if squares[w] < gaps[worst] and other != a:
                    gaps[worst], found[a, worst] = squares[w], other
                    for i in range(around):
                        if gaps[i] > gaps[worst]:
                            worst = i
        # Rows too far for single precision leave entries unfilled: any other group will do there.
        for i in range(around):
            if found[a, i] < 0:
                found[a, i] = (a + 1 + i) % g
    return found


@inner_loop
def _measure(blocks: Singles, b: int, centres: Singles, a: int, limit: np.float32, squares: Singles) -> bool:
    """Write the squared distance of a mean to each entry of a block; return whether any is below the limit."""
    d = centres.shape[1]
    for w in range(WIDTH):
        squares[w] = np.float32(0.0)
    whole = d - d % 2
    for j in range(0, whole, 2):
        p, q = centres[a, j], centres[a, j + 1]
        for w in range(WIDTH):
            e = blocks[b, j, w] - p
            f = blocks[b, j + 1, w] - q
            squares[w] += e * e + f * f
    for j in range(whole, d):
        p = centres[a, j]
        for w in range(WIDTH):
            e = blocks[b, j, w] - p
            squares[w] += e * e
    below = 0
    for w in range(WIDTH):
        below += squares[w] < limit
    return below > 0


@callable_inner_loop
def _narrow(
    x: Floats,
    members: Whole,
    size: Whole,
    used: Whole,
    beside: Whole,
    rank: int,
    near: Whole,
    scale: Floats,
    pool: Whole,
    block: Singles,
    squares: Singles,
    order: Whole,
) -> None:
    """Write the nearest rows of each row, nearest first, and the squared distance of the one at `rank`."""
    keep = order.size
    for a in range(used.size):
        count = _gather(x, members, size, used, beside, a, pool, block)
        for place in range(size[used[a]]):
            row = pool[place]
            for i in range(count):
                squares[i] = np.float32(0.0)
            for j in range(x.shape[1]):
                value = block[j, place]
                for i in range(count):
                    e = block[j, i] - value
                    squares[i] += e * e
            kept = 0
            for i in range(count):
                if i != place and (kept < keep or squares[i] < squares[order[kept - 1]]):
                    hole = min(kept, keep - 1)
                    while hole > 0 and squares[order[hole - 1]] > squares[i]:
                        order[hole] = order[hole - 1]
                        hole -= 1
                    order[hole] = i
                    kept = min(kept + 1, keep)
            for i in range(keep):
                near[row, i] = pool[order[i]]
            scale[row] = squares[order[rank]]


@inner_loop
def _gather(
    x: Floats, members: Whole, size: Whole, used: Whole, beside: Whole, a: int, pool: Whole, block: Singles
) -> int:
    """Put the rows of a group and of those beside it into a pool, column by column; return their number."""
    count = 0
    for i in range(beside.shape[1] + 1):
        group = used[a] if i == 0 else used[beside[a, i - 1]]
        for place in range(size[group]):
            pool[count] = members[group, place]
            for j in range(x.shape[1]):
                block[j, count] = x[pool[count], j]
            count += 1
    return count
