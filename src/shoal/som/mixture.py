"""Mixture: a row as a weighted mean of prototypes, closer to it than any one of them.

- **convex**: of its best matching unit and the neighbours of that, with non-negative weights that sum to 1; found by 40
  steps of projected gradient descent from the best matching unit.
- **nnls**: of all prototypes, with non-negative weights, as published. On centred columns the prototypes surround the
  origin, and the mixture is the row itself: it hides nothing.
"""

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import inner_loop, loop
from shoal.som.training import Map

STEPS = 40


def convex_mixture(X: Floats, map_: Map, cells: Rows) -> Floats:
    """Return the mixture nearest to each row of its best matching unit, given by `cells`, and its neighbours."""
    around = np.column_stack([np.arange(map_.grid.units), map_.grid.neighbours])
    return np.asarray(_mixed(X, map_.prototypes, cells, np.argsort(cells, kind="stable"), around))


def nnls_mixture(X: Floats, map_: Map) -> Floats:
    """Return the mixture of all prototypes with non-negative weights that is nearest to each row."""
    from scipy.optimize import nnls

    turned = np.ascontiguousarray(map_.prototypes.T)
    return np.array([turned @ nnls(turned, row, maxiter=30 * turned.shape[1])[0] for row in X]).reshape(X.shape)


@loop
def _mixed(X: Floats, prototypes: Floats, cells: Rows, order: Rows, around: Rows) -> Floats:
    """Return convex mixtures, in the order of the cells, relative to the best matching unit."""
    d, most = X.shape[1], around.shape[1]
    result = np.empty(X.shape)
    ways, gram = np.zeros((most, d)), np.empty((most, most))
    own, share, moved = np.empty(most), np.empty(most), np.empty(most)
    known, count, length = -1, 0, 0.0
    for row in order:
        best = cells[row]
        if best != known:
            known = best
            count = 0
            for unit in around[best]:
                count += unit >= 0
            length = _ways(prototypes, around[best], count, ways, gram)
        for a in range(count):
            own[a] = 0.0
            for j in range(d):
                own[a] += ways[a, j] * (X[row, j] - prototypes[best, j])
            share[a] = 0.0
        share[0] = 1.0
        if length > 0.0:
            _descend(gram, own, share, moved, count, 1.0 / length)
        for j in range(d):
            result[row, j] = prototypes[best, j]
            for a in range(1, count):
                result[row, j] += share[a] * ways[a, j]
    return result


@inner_loop
def _ways(prototypes: Floats, units: Rows, count: int, ways: Floats, gram: Floats) -> float:
    """Write the differences from the first of some prototypes to all, and their products; return the trace of these."""
    length = 0.0
    for a in range(count):
        for j in range(prototypes.shape[1]):
            ways[a, j] = prototypes[units[a], j] - prototypes[units[0], j]
        for b in range(a + 1):
            total = 0.0
            for j in range(prototypes.shape[1]):
                total += ways[a, j] * ways[b, j]
            gram[a, b] = gram[b, a] = total
        length += gram[a, a]
    return length


@inner_loop
def _descend(gram: Floats, own: Floats, share: Floats, moved: Floats, count: int, step: float) -> None:
    """Move the weights towards those of the least distance, in 40 steps."""
    for _ in range(STEPS):
        highest = -np.inf
        for a in range(count):
            slope = -own[a]
            for b in range(count):
                slope += gram[a, b] * share[b]
            moved[a] = share[a] - step * slope
            highest = max(highest, moved[a])
        # Projection onto the simplex (Michelot 1986), relative to the highest weight so that it is 0.
        level, held, before = -1.0, count + 1, count + 2
        while held < before:
            before, held, total = held, 0, -1.0
            for a in range(count):
                if moved[a] - highest > level:
                    total += moved[a] - highest
                    held += 1
            level = total / held
        for a in range(count):
            share[a] = max(moved[a] - highest - level, 0.0)
