"""Carving: the loops of MDAV, which take groups of k rows off a table pair by pair.

How it is made fast without changing the answer:

- Many rows: a tree (`tree_search`) finds the few that may be nearest or farthest, and double precision decides among
  these. Equal rows are one point of the tree.
- Fewer rows are stored in the blocks of `search.layout`, whose order and early exits spare most distances.
- Few rows need none of this: a short loop (`carving_few`) compiles in a fraction of the time.
- Every comparison ends with the row number, and the distance from the mean is compared as `|m x - S|`, with S the sum
  of the m remaining rows: on integers nothing is ever rounded, so ties are recognized.
- Whenever a part of the rows has gone, the rest is laid out again and summed from scratch.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.carving_few import carve_few
from shoal.cluster.search.layout import WIDTH, Layout, drop, farthest_from_mean, laid_out, look_around, spread
from shoal.cluster.search.tree import Points, Singles, Sketch, Tree, built_tree, forget, points_of, sketch
from shoal.cluster.search.tree_search import farthest, nearest, place_mean
from shoal.kernels.loops import callable_inner_loop, loop
from shoal.model.progress import tick

MANY = 10_000  # rows from which a tree is faster than blocks
FEW = 5_000  # rows up to which distances need not be spared
RETURNED = 32  # a tree pays as long as it returns at most one row in this many
PIECE = 1 << 30  # differences of cells between two progress ticks, without pruning


def carved(numbers: Floats, k: int, pairs: int) -> Rows:
    """Return the group of each row; groups are made in pairs while this many rows are left."""
    n, d = numbers.shape
    labels = np.full(n, -1, np.int64)
    groups, left = 0, n
    if n <= FEW:
        groups = carve_few(numbers, labels, k, pairs)
        left = n - groups * k
    make_tree = _tree_layout(numbers, k) if n >= MANY else None
    while left >= 2 * k:
        rows = np.flatnonzero(labels < 0)
        layout = make_tree(rows) if make_tree else laid_out(numbers, rows)
        least = max(2 * k, 2 * left // 3 if make_tree else 3 * left // 4)
        while left >= least:
            # The remaining work is about the square of the remaining rows; a piece takes a fraction of a second.
            tick(n * n - left * left, n * n)
            stop = max(least, left + 1 - max(2 * k, PIECE * k // (left * d)))
            carve: Callable[..., tuple[int, int]] = _carve_tree if make_tree else _carve
            groups, left = carve(layout, labels, k, pairs, groups, left, stop)
            if left >= stop:
                # The tree gave up: it cannot resolve small clusters that are far apart.
                make_tree = None
                break
    rows = np.flatnonzero(labels < 0)
    if rows.size >= k:
        labels[rows] = groups
    else:
        _join(numbers, labels, rows, k)
    return labels


class TreeLayout(NamedTuple):
    """The remaining rows as a tree, their sum, and working arrays."""

    X: Floats
    thin: Sketch
    points: Points
    tree: Tree
    total: Floats
    near: Floats
    rows: Rows
    q: Singles


def _tree_layout(X: Floats, k: int) -> Callable[[Rows], TreeLayout]:
    """Return the function that lays out the remaining rows as a tree."""
    # Loops are compiled once for numbers that may be written to, and not again for others.
    X = X if X.flags.writeable else X.copy()
    points = points_of(X)
    thin = sketch(X[points.members[points.lowest]])
    place = np.empty(len(thin.P), np.int64)
    scratch = np.empty(k - 1), np.empty(k, np.int64), np.zeros(thin.P.shape[1] - 1, np.float32)

    def tree_layout(rows: Rows) -> TreeLayout:
        tree = built_tree(thin.P, np.flatnonzero(points.rest), place)
        return TreeLayout(X, thin, points, tree, spread(X, rows)[0], *scratch)

    return tree_layout


def _join(X: Floats, labels: Rows, rows: Rows, k: int) -> None:
    """Let each of these rows join a group, the closest pair of row and mean first."""
    groups = np.argsort(labels, kind="stable")[rows.size :].reshape(-1, k)
    groups = groups[np.argsort(groups[:, 0])]
    sums, sizes, waiting = X[groups].sum(axis=1), np.full(len(groups), k), np.ones(rows.size, np.bool_)
    squares = np.array([((k * X[row] - sums) ** 2).sum(axis=1) for row in rows])
    for _ in rows:
        pairs = []
        for size in np.unique(sizes):
            # Squares are |s x - S|^2 with s the size of the group, which keeps integers exact.
            some = np.flatnonzero(sizes == size)
            i, g = divmod(int(np.argmin(squares[:, some])), some.size)
            pairs.append((Fraction(squares[i, some[g]]) / int(size) ** 2, i, some[g]))
        _, i, g = min(pairs)
        labels[rows[i]] = labels[groups[g, 0]]
        waiting[i], sizes[g], sums[g] = False, sizes[g] + 1, sums[g] + X[rows[i]]
        squares[:, g] = ((sizes[g] * X[rows] - sums[g]) ** 2).sum(axis=1)
        squares[~waiting] = np.inf


@callable_inner_loop
def _carve_tree(
    layout: TreeLayout, labels: Rows, k: int, pairs: int, group: int, left: int, least: int
) -> tuple[int, int]:
    """Do the same as `_carve`, or less of it if the tree is of little use."""
    X, thin, points, tree, total, near, rows, q = layout
    _, lowest, rest, point = points
    P, centre = thin.P, tree.centre
    credit = len(P)
    while left >= least and credit >= 0:
        blur = place_mean(thin, centre, total, left, q)
        seed = farthest(tree, points, X, q, float(left), total, blur)
        seeds = 2 if left >= pairs else 1
        for turn in range(seeds):
            own = point[seed]
            for j in range(q.size):
                q[j] = P[own, j] - centre[j]
            # The seed is the lowest remaining row of its point, and so is every row when it is taken.
            lowest[own] += 1
            rest[own] -= 1
            rows[k - 1] = seed
            forget(tree, point, rest, rows[k - 1 :])
            credit += left // RETURNED - nearest(tree, points, X, q, seed, near, rows)
            for i in range(k - 1):
                lowest[point[rows[i]]] += 1
                rest[point[rows[i]]] -= 1
            for i in range(k):
                labels[rows[i]] = group
                for j in range(total.size):
                    total[j] -= X[rows[i], j]
            forget(tree, point, rest, rows)
            group += 1
            left -= k
            if turn + 1 < seeds:
                seed = farthest(tree, points, X, q, 1.0, X[seed], 0.0)
    return group, left


@loop
def _carve(layout: Layout, labels: Rows, k: int, pairs: int, group: int, left: int, least: int) -> tuple[int, int]:
    """Label group after group while `least` rows are left; return the numbers of groups and of remaining rows."""
    rows = layout.rows
    while left >= least:
        seed = farthest_from_mean(layout, left)
        seeds = 2 if left >= pairs else 1
        for turn in range(seeds):
            opposite = turn + 1 < seeds
            point = layout.blocks[seed // WIDTH, :, seed % WIDTH].copy()
            drop(layout, seed, labels, group)
            places, far = look_around(layout, seed, point, k - 1, opposite)
            for i in range(k - 1):
                drop(layout, int(places[i]), labels, group)
            seed = far
            if opposite and labels[rows[seed]] >= 0:
                # All rows are equally far from the first seed: the tie goes to the lowest remaining one.
                for place in range(rows.size):
                    if labels[rows[place]] < 0 and (labels[rows[seed]] >= 0 or rows[place] < rows[seed]):
                        seed = place
            group += 1
            left -= k
    return group, left
