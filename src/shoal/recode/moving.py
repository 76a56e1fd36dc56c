"""Moving means: a class whose members could be worked out from its rounded means is published a few steps away.

An attacker with a population register can look for the sets of people whose means are those of a class. The farther out
a class lies, the fewer sets fit; if only one does, its members are identified. In tables of few columns this is
prevented:

1. For each class the number of sets of rows that fit it is estimated, as if the table were normal. Where few are
   expected, sets are searched that differ from the class in one, two or three rows, taken from those around it.
2. If no other set fits, the published means are moved towards those of a set nearby, at least a third of the way: then
   neither the class nor the other set fits, and neither is more than twice as far away as the other.
3. The cheapest classes come first, and the search ends when all rounding together costs 1% of SSE.

With many columns no move of acceptable cost helps; the attack `subset sum` measures what is left.
"""

import math
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

FEW = 100  # expected number of fitting sets below which sets are searched
NEAR = 150  # rows around a class that are tried
SETS = 20_000  # most sets that differ from a class in two rows
CLOSEST = 64  # nearest sets that are considered
TOWARDS = 16  # sets that a class may be moved towards
WAYS = (0.0, 1 / 3, 0.5)  # of the way to another set, in each column
STRAIGHT = (1 / 3, 0.36, 0.4, 0.45, 0.5)  # of the way, in all columns
BUDGET = 0.01  # of SSE
MOST_COLUMNS, LARGEST = 6, 10  # columns of a table and rows of a class above which no sets are searched
MOST_CLASSES = 500  # most classes for which sets are searched
FREE_COLUMNS = 4  # columns up to which each moves independently
PRECISE = 2.0**52  # steps that a float can count

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


def moves(X: Floats, labels: Whole, steps: Floats) -> Whole:
    """Return an int64 array (classes, d): by how many steps the rounded mean of each class and column is moved.

    `X` are the columns published by means, NaN where a value is missing; classes with missing values are not moved.
    Means are rounded to multiples of `steps`, halves up.
    """
    count, d = int(labels.max()) + 1, X.shape[1]
    found = np.zeros((count, d), np.int64)
    gaps = np.bincount(labels, ~np.isfinite(X).all(axis=1)) > 0
    rows = np.flatnonzero(~gaps[labels])
    varied = np.flatnonzero(X[rows].min(axis=0) < X[rows].max(axis=0)) if rows.size else np.zeros(0, np.int64)
    if varied.size:
        own = np.cumsum(~gaps) - 1
        found[np.ix_(~gaps, varied)] = _moves(X[np.ix_(rows, varied)], own[labels[rows]], steps[varied])
    return found


def _moves(X: Floats, labels: Whole, steps: Floats) -> Whole:
    """Do the same for classes without missing values and columns with a spread."""
    count, d = int(labels.max()) + 1, X.shape[1]
    found = np.zeros((count, d), np.int64)
    with np.errstate(over="ignore"):
        Z = X / steps
    if d > MOST_COLUMNS or not (np.abs(Z) < PRECISE).all():
        return found
    Z -= np.round(np.mean(Z, axis=0))  # so that a large offset costs no digits
    weights = 1 / np.var(Z, axis=0)  # SSE is counted in standard deviations
    sizes = np.bincount(labels, minlength=count)
    means = np.column_stack([np.bincount(labels, Z[:, j], count) / sizes for j in range(d)])
    published = np.floor(means + 0.5)
    free = BUDGET * float(((Z - means[labels]) ** 2 @ weights).sum())
    free -= float(((published - means) ** 2 @ weights) @ sizes)
    expected = _expected(Z, means, sizes)
    doubtful = np.flatnonzero((expected < math.log(FEW)) & (sizes <= LARGEST))
    if free <= 0 or not doubtful.size:
        return found
    cheapest = doubtful[np.argsort(-expected[doubtful], kind="stable")[:MOST_CLASSES]]
    proposed = _proposed(Z, labels, means, weights, np.sort(cheapest))
    extra = {
        one: float(((there - means[one]) ** 2 - (published[one] - means[one]) ** 2) @ weights) * int(sizes[one])
        for one, there in proposed.items()
    }
    for one in sorted(extra, key=lambda one: (extra[one], one)):
        free -= max(0.0, extra[one])
        if free < 0:
            break
        found[one] = proposed[one] - published[one]
    return found


def _expected(Z: Floats, means: Floats, sizes: Whole) -> Floats:
    """Return the logarithm of how many sets of rows are expected to lie within half a step of each class."""
    n, d = Z.shape
    spread = np.atleast_2d(np.cov(Z.T))
    spread += 1e-9 * np.diag(np.diag(spread))
    centred = means - Z.mean(axis=0)
    squared = np.einsum("ij,ij->i", centred, np.linalg.solve(spread, centred.T).T)
    sets = np.array([math.lgamma(n + 1) - math.lgamma(g + 1) - math.lgamma(n - g + 1) for g in sizes.tolist()])
    density = 0.5 * d * np.log(sizes / (2 * np.pi)) - 0.5 * np.linalg.slogdet(spread)[1] - 0.5 * sizes * squared
    return np.asarray(sets + density)


def _proposed(Z: Floats, labels: Whole, means: Floats, weights: Floats, classes: Whole) -> dict[int, Floats]:
    """Return where each class that alone fits its means should be published instead, in steps."""
    from scipy.spatial import cKDTree

    scale = np.sqrt(weights)
    near = min(NEAR + LARGEST, len(Z))
    around = cKDTree(Z * scale).query(means[classes] * scale, near)[1].reshape(classes.size, near)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], classes)
    ends = np.searchsorted(labels[order], classes, "right")
    found = {}
    for place, one in enumerate(classes.tolist()):
        others = around[place][labels[around[place]] != one][:NEAR]
        changes = _closest(Z[order[starts[place] : ends[place]]], Z[others], weights)
        there = _between(means[one], means[one] + changes, weights)
        if there is not None:
            found[one] = there
    return found


def _closest(members: Floats, others: Floats, weights: Floats) -> Floats:
    """Return how far away the closest sets lie that differ from a class in one, two or, of three, in three rows."""
    size = len(members)
    pairs = max(2, int(math.sqrt(2 * SETS / max(1, math.comb(size, 2)))))
    found = [_exchanges(members, others, 1), _exchanges(members, others[:pairs], 2)]
    near = _first(np.vstack(found), weights)
    if size == 3 and len(others) >= 3 and len(near):
        most = np.maximum(np.abs(near[:TOWARDS]).max(axis=0), size)  # a mean and its multiple are within half a step
        near = _first(np.vstack([near, _triples(members, others, most)]), weights)
    return np.asarray(near / size)


def _first(changes: Floats, weights: Floats) -> Floats:
    """Return the smallest changes."""
    sizes = changes**2 @ weights
    if len(sizes) > CLOSEST:  # to sort all would take most of the time
        small = np.flatnonzero(sizes <= np.partition(sizes, CLOSEST - 1)[CLOSEST - 1])
        changes, sizes = changes[small], sizes[small]
    return changes[np.argsort(sizes, kind="stable")[:CLOSEST]]


def _exchanges(members: Floats, others: Floats, many: int) -> Floats:
    """Return how the sum of a class changes if `many` members are replaced."""
    leaving, coming = (_sums(rows, _sets(len(rows), many)) for rows in (members, others))
    return np.asarray((coming[None] - leaving[:, None]).reshape(-1, members.shape[1]))


def _sums(rows: Floats, sets: Whole) -> Floats:
    """Return the sum of the rows of each set; much faster than a sum over the short axis."""
    return np.asarray(sum((rows[sets[:, place]] for place in range(1, sets.shape[1])), start=rows[sets[:, 0]]))


def _triples(members: Floats, others: Floats, most: Floats) -> Floats:
    """Return how the sum of a class changes if all three rows are replaced, no column changing by more than `most`."""
    chosen = _sets(len(others), 2)
    sums = _sums(others, chosen)
    order = np.argsort(sums[:, 0], kind="stable")
    sums, chosen = sums[order], chosen[order]
    wanted = members.sum(axis=0) - others
    first = np.searchsorted(sums[:, 0], wanted[:, 0] - most[0], "left")
    count = np.searchsorted(sums[:, 0], wanted[:, 0] + most[0], "right") - first
    third = np.repeat(np.arange(len(others)), count)
    pair = np.arange(int(count.sum())) + np.repeat(first - (np.cumsum(count) - count), count)
    once = third < chosen[pair, 0]
    third, pair = third[once], pair[once]
    for j in range(1, members.shape[1]):
        fits = np.abs(sums[pair, j] - wanted[third, j]) <= most[j]
        third, pair = third[fits], pair[fits]
    return np.asarray(sums[pair] - wanted[third])


@cache
def _sets(n: int, many: int) -> Whole:
    """Return all sets of `many` of the numbers below n."""
    return np.array(list(combinations(range(n), many)), np.int64).reshape(-1, many)


def _between(mean: Floats, others: Floats, weights: Floats) -> Floats | None:
    """Return the cheapest place towards another set at which the class does not stand out; None if it need not move."""
    d = len(mean)
    if _hidden(np.floor(mean + 0.5)[None], mean, others).any():
        return None
    ways = np.repeat(np.array(STRAIGHT)[:, None], d, axis=1)
    if d <= FREE_COLUMNS:
        ways = np.vstack([ways, list(product(WAYS, repeat=d))])
    places = np.floor(mean + ways[:, None] * (others[:TOWARDS] - mean) + 0.5).reshape(-1, d)
    hidden = places[_hidden(places, mean, others)]
    return np.asarray(hidden[np.argmin((hidden - mean) ** 2 @ weights)]) if len(hidden) else None


def _hidden(places: Floats, mean: Floats, others: Floats) -> NDArray[np.bool_]:
    """Say of places whether another set fits as well as the class, or neither fits and the other is about as near."""
    own = np.abs(mean - places).max(axis=1)
    farthest = np.zeros((len(places), len(others)))  # column by column, much faster than over the short axis
    for j in range(len(mean)):
        np.maximum(farthest, np.abs(others[:, j] - places[:, j, None]), out=farthest)
    closest = farthest.min(axis=1, initial=np.inf)
    return np.asarray((closest <= 0.5) | ((own > 0.5) & (closest <= 2 * own)))
