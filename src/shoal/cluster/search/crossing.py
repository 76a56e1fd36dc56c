"""Crossing: combine two partitions of the same rows into one that is better than either.

Groups of one overlap groups of the other. A part is a set of groups that overlap none outside it: both partitions
divide the same rows there, each in its own way. So each part may be taken from either, independently of the other
parts, and the cheaper one is. Two searches that went wrong in different places correct each other.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.groups import numbered, weighted_means
from shoal.kernels.loops import callable_inner_loop, inner_loop

ROUNDING = 1e-12


def better_of_both(X: Floats, one: Rows, two: Rows, weights: Floats) -> Rows:
    """Return groups of `one` and `two`, numbered from 0 without gaps, that form a partition of the least SSE.

    The inputs are numbered likewise; ties go to `one`, and all weights are positive.
    """
    first = int(one.max()) + 1
    second = int(two.max()) + 1
    own, other = _losses_of(X, one, weights, first), _losses_of(X, two, weights, second)
    part = np.arange(first + second)
    _join_parts(one, two, first, part)
    here, there = np.bincount(part[:first], own, part.size), np.bincount(part[first:], other, part.size)
    # Sums of the same squares in another order may differ by rounding.
    cheaper = there < here * (1 - ROUNDING)
    taken = np.where(cheaper[part[one]], first + two, one)
    return numbered(taken)


def _losses_of(X: Floats, labels: Rows, weights: Floats, groups: int) -> Floats:
    """Return the weighted SSE of each group."""
    losses = np.zeros(groups)
    _add_losses(X, labels, weights, weighted_means(X, weights, labels, groups), losses)
    return losses


@callable_inner_loop
def _add_losses(X: Floats, labels: Rows, weights: Floats, means: Floats, losses: Floats) -> None:
    """Add the loss of each row to that of its group."""
    for i in range(labels.size):
        for j in range(X.shape[1]):
            gap = X[i, j] - means[labels[i], j]
            losses[labels[i]] += weights[i] * gap * gap


@callable_inner_loop
def _join_parts(one: Rows, two: Rows, first: int, above: Rows) -> None:
    """Write the part of each group of `one`, then of `two`: groups that share a row are in the same part."""
    for i in range(one.size):
        a, b = _top(above, one[i]), _top(above, first + two[i])
        above[max(a, b)] = min(a, b)
    for group in range(above.size):
        above[group] = _top(above, group)


@inner_loop
def _top(above: Rows, group: int) -> int:
    """Return the lowest group of a part, with path compression."""
    while above[group] != group:
        above[group] = above[above[group]]
        group = above[group]
    return group
