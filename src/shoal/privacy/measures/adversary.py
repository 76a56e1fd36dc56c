"""Adversary measures: how uncertain an adversary who sees the release remains, and how far from the truth.

The formulas; `adversary_measures` has the measures.

1. **Who?** For each row the adversary has candidates, each with a probability: the posterior p. Here p is uniform over
   the rows of the class of the row, so these figures need the release alone. The functions take any p.
2. **What?** The adversary takes the released value for the true one. The error is measured column by column,
   from the pair: in bits on a shared binning, and in standard deviations of the original column.

Numbers, dates and levels are cut into at most 20 bins of equal frequency of the original column, or into its values if
there are fewer; categories stay as they are; missing is a separate bin. Logarithms have base 2.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.values import read_column

Floats = NDArray[np.float64]
PARTS = 20
SMOOTHING = 0.5  # rows added to each bin
TAU, DOUBT = 0.95, 0.05  # coverage of an interval; probability left for other candidates of an exposed row
INNOCENT = ("absolute privacy", "beyond suspicion", "probable innocence", "possible innocence")
SCALE = (*INNOCENT, "exposed", "provably exposed")


def entropy(p: Floats) -> Floats:
    """Return -sum p log2 p over the last axis: 0 (certain) to log2 of the candidates, high is good; 0 log 0 is 0."""
    safe = np.where(p > 0, p, 1.0)
    return np.asarray(-(safe * np.log2(safe)).sum(axis=-1)) + 0.0


def relative_entropy(true: Floats, p: Floats) -> float:
    """Return KL = sum true log2(true / p): 0 if they are equal, infinite if p rules out what is true."""
    there = true > 0
    if (p[there] == 0).any():
        return float("inf")
    return max(0.0, float((true[there] * np.log2(true[there] / p[there])).sum()))


def cross_entropy(true: Floats, p: Floats) -> float:
    """Return H(true) + KL(true to p): at least the entropy of what is true, infinite if p rules it out."""
    return float(entropy(true)) + relative_entropy(true, p)


def on_the_scale(p: Floats, n: int, doubt: float = DOUBT) -> Labels:
    """Count the rows on the scale of degrees of anonymity, from absolute privacy to provably exposed.

    Formula: p = 0; p = 1/n; p <= 1/2; p < 1 - d; p >= tau = 1 - d; p = 1. A row counts for the first that fits it,
    provably exposed before all others. p is the probability that the adversary assigns to the true one of n candidates,
    and d the doubt, above 0 and at most 1/2.
    """
    slack = 1e-12
    place = np.select(
        [p >= 1 - slack, p <= slack, p <= 1 / n + slack, p <= 0.5 + slack, p < 1 - doubt], [5, 0, 1, 2, 3], 4
    )
    return np.bincount(place, minlength=len(SCALE)).astype(np.int64)


def bins(column: Pair) -> tuple[Labels, Labels]:
    """Return the bin of each cell before and after; in a truthful form, each released text is a bin."""
    if not column.ordered:
        if column.truthful:
            return read_column(column.before).codes, read_column(column.after).codes
        return column.codes
    before = column.numbers_before
    known = np.unique(before[~np.isnan(before)])
    limits = known[:-1]
    if known.size > PARTS:
        limits = np.unique(np.nanquantile(before, np.arange(1, PARTS) / PARTS, method="lower"))

    def cut(cells: Floats) -> Labels:
        return np.where(np.isnan(cells), PARTS, np.searchsorted(limits, cells, "left")).astype(np.int64)

    return cut(before), read_column(column.after).codes if column.truthful else cut(column.numbers[1])


def smoothed(before: Labels, after: Labels) -> tuple[Floats, Floats]:
    """Return the shares of the bins that occur, before and after, with half a row added to each bin of both."""
    both = np.unique(np.concatenate([before, after]), return_inverse=True)[1].reshape(-1)
    width = int(both.max()) + 1
    one, other = (np.bincount(part, minlength=width) + SMOOTHING for part in (both[: before.size], both[before.size :]))
    return one / one.sum(), other / other.sum()


def mutual_information(before: Labels, after: Labels) -> tuple[float, float]:
    """Return I(X; X') = H(X) + H(X') - H(X, X') in bits, and H(X); 0 (reveals nothing) to H(X), low is good."""
    joint = classes([before, after], before.size)
    own, other, both = (float(entropy(np.bincount(part) / part.size)) for part in (before, after, joint))
    return min(max(0.0, own + other - both), own), own


def correlation(before: Floats, after: Floats) -> float:
    """Return Pearson's correlation: -1 to 1, near 0 is good; 0 if either does not vary."""
    one, other = before - before.mean(), after - after.mean()
    scale = float(np.sqrt((one @ one) * (other @ other))) if np.ptp(before) > 0 and np.ptp(after) > 0 else 0.0
    return min(1.0, max(-1.0, float(one @ other) / scale)) if scale > 0 else 0.0


def normalised_variance(before: Floats, after: Floats) -> float:
    """Return var(X - X') / var(X): 0 (all is revealed) up, high is good; X must vary."""
    return float((before - after).var() / before.var())


def interval_width(values: Floats, published: Labels, tau: float = TAU) -> Floats:
    """Return, for each published value, the width of the shortest interval with a share tau of the true values.

    Range: 0 (certain) to the range of the column; high is good. Need: the pair. No true value is missing, and
    `published` numbers the published value of each row from 0 without gaps.
    """
    order = np.lexsort((values, published))
    ascending, owner, sizes = values[order], published[order], np.bincount(published)
    start = np.cumsum(sizes) - sizes
    held = np.ceil(sizes * tau - 1e-9).astype(np.int64)
    last = np.arange(order.size) + held[owner] - 1
    inside = last < (start + sizes)[owner]
    width = np.where(inside, ascending[np.minimum(last, order.size - 1)] - ascending, np.inf)
    return np.asarray(np.minimum.reduceat(width, start))
