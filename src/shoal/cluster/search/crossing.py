"""Crossing: combine two partitions of the same rows into one that is better than either.

Groups of one overlap groups of the other. A part is a set of groups that overlap none outside it: both partitions
divide the same rows there, each in its own way. So each part may be taken from either, independently of the other
parts, and the cheaper one is. Two searches that went wrong in different places correct each other.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.groups import numbered
from shoal.kernels.loops import loop

ROUNDING = 1e-12


def better_of_both(X: Floats, one: Rows, two: Rows, weights: Floats) -> Rows:
    """Return groups of `one` and `two`, numbered from 0 without gaps, that form a partition of the least SSE.

    The inputs are numbered likewise; ties go to `one`, and all weights are positive.
    """
    first = int(one.max()) + 1
    second = int(two.max()) + 1
    own, other = _losses(X, one, weights, first), _losses(X, two, weights, second)
    part = _parts(one, two, first, second)
    here, there = np.bincount(part[:first], own, part.size), np.bincount(part[first:], other, part.size)
    # Sums of the same squares in another order may differ by rounding.
    cheaper = there < here * (1 - ROUNDING)
    taken = np.where(cheaper[part[one]], first + two, one)
    return numbered(taken)


@loop
def _losses(X: Floats, labels: Rows, weights: Floats, groups: int) -> Floats:
    """Return the weighted SSE of each group."""
    d = X.shape[1]
    masses, means, losses = np.zeros(groups), np.zeros((groups, d)), np.zeros(groups)
    for i in range(labels.size):
        masses[labels[i]] += weights[i]
        for j in range(d):
            means[labels[i], j] += weights[i] * X[i, j]
    for group in range(groups):
        for j in range(d):  # assigning a whole row at once would take a second longer to compile
            means[group, j] /= masses[group]
    for i in range(labels.size):
        for j in range(d):
            gap = X[i, j] - means[labels[i], j]
            losses[labels[i]] += weights[i] * gap * gap
    return losses


@loop
def _parts(one: Rows, two: Rows, first: int, second: int) -> Rows:
    """Return the part of each group of `one`, then of `two`: groups that share a row are in the same part."""
    above = np.arange(first + second)
    for i in range(one.size):
        a, b = _top(above, one[i]), _top(above, first + two[i])
        above[max(a, b)] = min(a, b)
    for group in range(above.size):
        above[group] = _top(above, group)
    return above


@loop
def _top(above: Rows, group: int) -> int:
    """Return the lowest group of a part, with path compression."""
    while above[group] != group:
        above[group] = above[above[group]]
        group = above[group]
    return group
