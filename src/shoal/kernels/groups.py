"""Loops over groups: their means, and the cost of merging two of them.

Merging groups a and b raises the sum of squared distances to the group means by `W_a W_b / (W_a + W_b) |c_a - c_b|^2`
(Ward, 1963), so the rows need not be read again. The mass W of a group is the sum of the weights of its rows, their
number if unweighted; always float64, so that each loop is compiled once.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import callable_inner_loop, inner_loop

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def numbered(labels: NDArray[np.integer]) -> Labels:
    """Return the labels renumbered from 0 without gaps, in the same order."""
    return np.asarray(np.unique(labels, return_inverse=True)[1].reshape(-1), np.int64)


@callable_inner_loop
def cheapest(centres: Floats, masses: Floats, alive: Bools, a: int) -> tuple[int, float]:
    """Return the live group that is cheapest to merge with a, ties to the lowest, and the cost; or (-1, inf)."""
    best, least = -1, np.inf
    for b in range(len(centres)):
        if alive[b] and b != a:
            cost = _increase(centres, masses, a, b, least)
            if best < 0 or cost < least:
                best, least = b, cost
    return best, least


def increases(centres: Floats, masses: Floats, others: Labels, a: int) -> Floats:
    """Return what merging group a with each of the others adds to SSE."""
    costs = np.empty(others.size)
    _increases(centres, masses, others, a, costs)
    return costs


@callable_inner_loop
def _increases(centres: Floats, masses: Floats, others: Labels, a: int, costs: Floats) -> None:
    """Write what merging group a with each of the others adds to SSE."""
    for i in range(others.size):
        costs[i] = _increase(centres, masses, a, others[i], np.inf)


def centres(X: Floats, labels: Labels, groups: int) -> Floats:
    """Return the mean of each group; NaN for a group without rows."""
    means, offsets = np.full((groups, X.shape[1]), np.nan), np.zeros((groups, X.shape[1]))
    _centres(X, labels, means, np.full(groups, -1), np.zeros(groups, np.int64), offsets)
    return means


def weighted_means(X: Floats, weights: Floats, labels: Labels, groups: int) -> Floats:
    """Return the weighted mean of each group, none of which is empty."""
    sums, masses = np.zeros((groups, X.shape[1])), np.zeros(groups)
    _weighted_sums(X, weights, labels, sums, masses)
    return sums / masses[:, None]


@callable_inner_loop
def _centres(X: Floats, labels: Labels, means: Floats, first: Labels, sizes: Labels, offsets: Floats) -> None:
    """Write the mean of each group that has rows."""
    d = X.shape[1]
    for i in range(len(X)):
        group = labels[i]
        if first[group] < 0:
            first[group] = i
        sizes[group] += 1
        # Offsets from a member are small, so a mean far from zero loses no digits.
        for j in range(d):
            offsets[group, j] += X[i, j] - X[first[group], j]
    for group in range(sizes.size):
        if sizes[group] > 0:
            for j in range(d):
                means[group, j] = X[first[group], j] + offsets[group, j] / sizes[group]


@callable_inner_loop
def _weighted_sums(X: Floats, weights: Floats, labels: Labels, sums: Floats, masses: Floats) -> None:
    """Add the rows of each group times their weights, and these."""
    for i in range(len(X)):
        masses[labels[i]] += weights[i]
        for j in range(X.shape[1]):
            sums[labels[i], j] += weights[i] * X[i, j]


@inner_loop
def _increase(centres: Floats, masses: Floats, a: int, b: int, limit: float) -> float:
    """Return what merging groups a and b adds to SSE, or any value above the limit if that exceeds it."""
    weight = masses[a] * masses[b] / (masses[a] + masses[b])
    square = 0.0
    for j in range(centres.shape[1]):
        gap = centres[a, j] - centres[b, j]
        square += gap * gap
        # The sum only grows, so a group that is too expensive after some columns stays so.
        if j % 4 == 3 and weight * square > limit:
            break
    return float(weight * square)
