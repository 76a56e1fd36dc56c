"""Coarsening: classes of wide spread are rounded to more than one step, so that their members cannot be worked out.

Somebody with a register of people can look for the sets of people whose means are those of a class. The more columns
there are, and the farther out a class lies, the fewer sets fit. A rounder mean lets more of them fit, and costs little
where the rows of a class differ much from each other:

1. A class is rounded to the largest 2^p steps that are at most 0.34 times the standard deviation inside it, which
   raises its SSE by at most 1 %.
2. For each class the number of sets of rows is estimated that fit it, as if the table were normal. Where that is below
   10, p grows by up to 3 until one row of the class could be exchanged for another one of the table without a change
   of any rounded mean: then at least two sets fit. The cheapest classes come first, and it ends when all rounding
   together costs 1 % of SSE.

With many columns no rounding of a bearable cost helps; the attack «subset sum» measures what is left.
"""

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["coarsened"]

SHARE = 0.34  # of the standard deviation inside a class: a step costs its square / 12 of variance
ENOUGH = 10  # sets of rows that fit a class
EXTRA = 3  # times that a step may be doubled so that a row can be exchanged
BUDGET = 0.01  # of SSE
NEAR = 40  # rows around each row of a class that are tried
MOST_COLUMNS, MOST_ROWS = 6, 200_000  # beyond which no rows are tried

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def coarsened(X: Floats, labels: Whole, steps: Floats) -> Whole:
    """Return for each class and column how often the step is doubled.

    Parameters
    ----------
    X : float64 array of shape (n, d)
        The columns that are published by means; NaN where a value is missing.
    labels : int64 array of shape (n,)
    steps : float64 array of shape (d,)

    Returns
    -------
    int64 array of shape (classes, d)
    """
    count, d = int(labels.max()) + 1, X.shape[1]
    largest = np.nanmax(np.abs(X), axis=0)  # squares of huge numbers would overflow
    X, steps = X / largest, steps / largest
    spread = np.nanstd(X, axis=0)
    # Moved by so many of the largest steps, so that neither a large offset costs digits nor the grid is another one.
    grid = steps * 2.0**30
    Z, unit = (X - np.round(np.nanmean(X, axis=0) / grid) * grid) / spread, steps / spread
    sizes = np.bincount(labels, minlength=count)
    means, within = np.zeros((count, d)), np.zeros((count, d))
    for j in range(d):
        held = ~np.isnan(Z[:, j])
        rows = np.maximum(np.bincount(labels[held], minlength=count), 1)
        means[:, j] = np.bincount(labels[held], Z[held, j], count) / rows
        within[:, j] = np.bincount(labels[held], (Z[held, j] - means[labels[held], j]) ** 2, count) / rows
    own = np.sqrt(within.mean(axis=1))[:, None]
    powers: Whole = np.floor(np.log2(np.maximum(SHARE * own / unit, 1))).astype(np.int64)
    if d <= MOST_COLUMNS and not np.isnan(Z).any():
        doubtful = np.flatnonzero(_fitting(means, sizes, Z, unit * 2.0**powers) < math.log(ENOUGH))
        if 0 < sizes[doubtful].sum() <= MOST_ROWS:
            cost = _cost(means, sizes, unit * 2.0**powers)
            budget = BUDGET * float((within * sizes[:, None]).sum()) - float(cost.sum())
            _exchangeable(powers, doubtful, Z, labels, means, sizes, unit, budget)
    return np.asarray(powers)


def _fitting(means: Floats, sizes: Whole, Z: Floats, units: Floats) -> Floats:
    """Return the logarithm of how many sets of rows are expected to fit each class."""
    n, d = Z.shape
    spread = np.atleast_2d(np.cov(Z.T)) + 1e-9 * np.eye(d)
    centred = means - Z.mean(axis=0)
    away = np.einsum("ij,ij->i", centred, np.linalg.solve(spread, centred.T).T)
    sets = np.array([math.lgamma(n + 1) - math.lgamma(g + 1) - math.lgamma(n - g + 1) for g in sizes.tolist()])
    density = -0.5 * sizes * away + 0.5 * d * np.log(sizes / (2 * np.pi)) - 0.5 * np.linalg.slogdet(spread)[1]
    return np.asarray(sets + density + np.log(units).sum(axis=1))


def _cost(means: Floats, sizes: Whole, units: Floats) -> Floats:
    """Return how much each class adds to SSE by being rounded."""
    away = _rounded(means, units) - means
    return np.asarray((away**2).sum(axis=1) * sizes)


def _rounded(means: Floats, units: Floats) -> Floats:
    """Return means as multiples of a unit."""
    return np.asarray(np.floor(means / units + 0.5) * units)


def _exchangeable(
    powers: Whole,
    classes: Whole,
    Z: Floats,
    labels: Whole,
    means: Floats,
    sizes: Whole,
    unit: Floats,
    budget: float,
) -> None:
    """Double the steps of these classes until a row can be exchanged, as long as the budget allows."""
    from scipy.spatial import cKDTree

    mine = np.flatnonzero(np.isin(labels, classes))
    near = min(NEAR + 1, len(Z))
    others = np.atleast_2d(cKDTree(Z).query(Z[mine], near)[1]).reshape(mine.size, near)
    row, other = np.repeat(mine, near), others.ravel()
    apart = labels[row] != labels[other]
    row, other = row[apart], other[apart]
    owner = labels[row]
    exchanged = means[owner] + (Z[other] - Z[row]) / sizes[owner][:, None]
    before = _cost(means, sizes, unit * 2.0**powers)
    found: dict[int, tuple[float, int]] = {}
    for extra in range(EXTRA + 1):
        units = unit * 2.0 ** (powers + extra)
        cost = _cost(means, sizes, units) - before
        same = np.abs(_rounded(exchanged, units[owner]) - _rounded(means[owner], units[owner])) < units[owner] / 2
        for group in np.unique(owner[same.all(axis=1)]).tolist():
            found.setdefault(group, (float(cost[group]), extra))
    for group, (cost_of, extra) in sorted(found.items(), key=lambda item: item[1]):
        if cost_of > budget:
            break
        powers[group] += extra
        budget -= max(0.0, cost_of)
