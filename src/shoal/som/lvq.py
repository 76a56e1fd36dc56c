"""wLVQ2 (pLVQ2): prototypes of classes that learn class borders and the relevance of columns.

1. Each class gets up to ten prototypes, at most one for seven rows, by k-means on its rows.
2. Rows come in random order. Where the nearest prototype m_i is of another class, the second nearest m_j of the row's
   own, and the row lies in a window between them: m_j is pulled towards w x, m_i is pushed away from it, and the weight
   of each column moves by -beta x (m_i - m_j). This descends |w x - m_j|^2 - |w x - m_i|^2.
3. Both rates fall linearly to zero, and weights stay between 0.05 and 5.

As printed, the first two of these updates use the wrong prototype, and training unlearns: that form is kept for
comparison. Kohonen's LVQ2 with weights, as in Zouinina et al. (2020).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.cluster.inputs import Floats, Rows, finite
from shoal.errors import MethodError, shortened
from shoal.kernels.loops import inner_loop, loop
from shoal.som.nearest import cell_sums, least_of, nearest
from shoal.som.training import means_of

PROTOTYPES = 10
EACH = 7  # rows per prototype, at least
STARTS = 3  # of k-means, of which the best is kept
WINDOW = 0.3
LEAST, MOST = 0.05, 5.0  # weights of columns
HUGE = 1e100  # numbers whose squares might overflow
DIVERGED = "wlvq2: training diverged. Bring the columns to one scale, or lower the rate."
LLOYD = 12  # rounds of k-means, at most


@dataclass(frozen=True, eq=False)
class Codebook:
    """A classifier: prototypes in the weighted space, shape (m, d), the class of each, and the weights of columns."""

    prototypes: Floats
    classes: NDArray[Any]
    weights: Floats

    def cells(self, X: Floats, threads: int = 1) -> Rows:
        """Return the nearest prototype of each row, whatever its class."""
        return nearest(np.ascontiguousarray(X * self.weights), self.prototypes, threads)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row's nearest prototype."""
        return np.asarray(self.classes[self.cells(np.asarray(X, np.float64))])


def wlvq2(
    X: ArrayLike,
    y: ArrayLike,
    *,
    prototypes: int = PROTOTYPES,
    epochs: int = 20,
    rate: float = 0.05,
    weight_rate: float = 0.03,
    printed: bool = False,
    seed: int = 0,
) -> Codebook:
    """Learn prototypes of classes and weights of columns by wLVQ2.

    Parameters
    ----------
    X : array of shape (n, d), no missing values
        Columns on comparable scales, such as z-scores.
    y : array of shape (n,)
        The class of each row.
    prototypes : int
        Maximum number of prototypes per class, at most one for every seven rows.
    epochs : int
        Number of passes over the rows.
    rate, weight_rate : float
        Initial learning rates of prototypes and weights. With a weight rate of 0 this is LVQ2.
    printed : bool
        Whether prototypes are moved by the published formulas, whose signs are wrong.
    seed : int
        Random seed.

    Returns
    -------
    Codebook

    Cost
    ----
    O(epochs n m d) time for m prototypes.

    Examples
    --------
    >>> X = np.array([[0.0, 0.3], [0.1, 0.9], [1.0, 0.2], [1.1, 0.7]])
    >>> wlvq2(X, ["a", "a", "b", "b"]).predict(X)
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """
    numbers = finite(X, "wlvq2")
    names, codes = np.unique(np.asarray(y), return_inverse=True)
    codes = codes.reshape(-1)
    if len(numbers) != codes.size or not codes.size:
        raise MethodError(f"wlvq2: X must have as many rows as y, at least one; got {len(numbers)} and {codes.size}.")
    if not rate > 0:
        raise MethodError(f"wlvq2: rate must be above 0; got {shortened(rate)}.")
    if not np.abs(numbers).max(initial=0.0) < HUGE:
        raise MethodError(DIVERGED)
    rng = np.random.default_rng((seed, 5))
    found = [_codebook(numbers[codes == one], prototypes, rng) for one in range(names.size)]
    owner = np.repeat(np.arange(names.size), [len(one) for one in found])
    book, weights = np.vstack(found), np.ones(numbers.shape[1])
    turned = np.ascontiguousarray(book.T)
    for epoch in range(epochs):
        left = 1.0 - epoch / epochs
        next_ = 1.0 - (epoch + 1) / epochs
        order = rng.permutation(codes.size)
        _learn(numbers, codes, order, turned, owner, weights, rate * left, rate * next_, weight_rate / rate, printed)
        if not np.abs(turned).max(initial=0.0) < HUGE:
            raise MethodError(DIVERGED)
    return Codebook(np.ascontiguousarray(turned.T), names[owner], weights)


def _codebook(X: Floats, most: int, rng: np.random.Generator) -> Floats:
    """Return up to this many means of the rows of a class, the best of several runs of k-means."""
    most = max(1, min(most, len(X) // EACH))
    different = np.unique(X, axis=0)
    if len(different) <= most:
        return different
    found = [_means(X, most, rng) for _ in range(STARTS if most > 1 else 1)]
    return min(found, key=lambda means: float(((X - means[nearest(X, means)]) ** 2).sum()))


def _means(X: Floats, most: int, rng: np.random.Generator) -> Floats:
    """Return this many means of rows, starting from random rows that are far apart."""
    first = int(rng.integers(len(X)))
    means = X[_spread_out(X, first, rng.random(most - 1))]
    for _ in range(LLOYD):
        moved = means_of(cell_sums(X, nearest(X, means), most), means)
        if np.array_equal(moved, means):
            break
        means = moved
    return means


@loop
def _spread_out(X: Floats, first: int, draws: Floats) -> Rows:
    """Return a row and one more for each draw, with probability by squared distance from those before."""
    n, d = X.shape
    chosen = np.empty(draws.size + 1, np.int64)
    chosen[0] = first
    squares = np.full(n, np.inf)
    for turn in range(draws.size):
        height = 0.0
        for row in range(n):
            total = 0.0
            for j in range(d):
                gap = X[row, j] - X[chosen[turn], j]
                total += gap * gap
            squares[row] = min(squares[row], total)
            height += squares[row]
        mark, height, row = draws[turn] * height, 0.0, -1
        while row < n - 1 and height <= mark:
            row += 1
            height += squares[row]
        chosen[turn + 1] = row
    return chosen


@loop
def _learn(
    X: Floats,
    codes: Rows,
    order: Rows,
    turned: Floats,
    owner: Rows,
    weights: Floats,
    first: float,
    last: float,
    ratio: float,
    printed: bool,
) -> None:
    """Present all rows once; changes the weights and the prototypes, one per column of `turned`."""
    d, n = X.shape[1], order.size
    bound = ((1.0 - WINDOW) / (1.0 + WINDOW)) ** 2
    point, squares = np.empty(d), np.empty(owner.size)
    for place in range(n):
        row = order[place]
        rate = first + (last - first) * (place / n)
        for j in range(d):
            point[j] = weights[j] * X[row, j]
        _measure(point, turned, squares)
        one = least_of(squares)
        least, squares[one] = squares[one], np.inf
        two = least_of(squares)
        # The window: of two distances, the shorter one is not much shorter.
        if owner[one] == codes[row] or owner[two] != codes[row] or least <= bound * squares[two]:
            continue
        for j in range(d):
            wrong, right = turned[j, one], turned[j, two]
            if printed:
                turned[j, one] = wrong + rate * (point[j] - right)
                turned[j, two] = right - rate * (point[j] - right)
            else:
                turned[j, two] = right + rate * (point[j] - right)
                turned[j, one] = wrong - rate * (point[j] - wrong)
            weights[j] = min(MOST, max(LEAST, weights[j] - ratio * rate * X[row, j] * (wrong - right)))


@inner_loop
def _measure(point: Floats, turned: Floats, squares: Floats) -> None:
    """Write the squared distance of every prototype from a point, vectorized over prototypes."""
    d, m = turned.shape
    squares[:] = 0.0
    q = 0
    while q + 4 <= d:
        a, b, c, e = point[q], point[q + 1], point[q + 2], point[q + 3]
        for unit in range(m):
            f, g = a - turned[q, unit], b - turned[q + 1, unit]
            h, i = c - turned[q + 2, unit], e - turned[q + 3, unit]
            squares[unit] = squares[unit] + f * f + g * g + h * h + i * i
        q += 4
    while q < d:
        for unit in range(m):
            gap = point[q] - turned[q, unit]
            squares[unit] += gap * gap
        q += 1
