"""Adversary measures: how unsure somebody stays who looks at the release, and how far from the truth.

1. **Who?** For each row the adversary has candidates, each with a probability: the posterior p. Here p is uniform over
   the rows of the class of the row, so these figures need the release alone. The functions take any p.
2. **What?** The adversary takes the released value for the true one. How far that leads is measured column by column,
   from the pair: in bits on a shared binning, and in standard deviations of the original column.

Numbers, dates and levels are cut into at most 20 parts of equal frequency of the original column, or into its values if
these are fewer; names stay as they are; missing is a bin of its own. Logarithms have base 2.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.measuring import measure
from shoal.model.findings import Finding
from shoal.privacy.case import Case
from shoal.privacy.classes import Labels, classes
from shoal.privacy.intervals import wilson
from shoal.privacy.pairs import Pair
from shoal.privacy.space import space
from shoal.privacy.values import read_column

__all__ = [
    "SCALE",
    "bins",
    "correlation",
    "cross_entropy",
    "degree_of_anonymity",
    "entropy",
    "guesses",
    "interval_width",
    "min_entropy",
    "mutual_information",
    "normalised_variance",
    "on_the_scale",
    "relative_entropy",
    "smoothed",
]

Floats = NDArray[np.float64]
PARTS = 20
SMOOTHING = 0.5  # rows that are added to each bin
TAU, DOUBT = 0.95, 0.05  # of an interval; what is left for others with a row that is exposed
INNOCENT = ("absolute privacy", "beyond suspicion", "probable innocence", "possible innocence")
SCALE = (*INNOCENT, "exposed", "provably exposed")
UNIFORM = "uniform over the rows of a class"

of_release = partial(measure, need="release", cost="n log n")
of_pair = partial(measure, need="pair", cost="d n log n")


def entropy(p: Floats) -> Floats:
    """Return -sum p log2 p over the last axis: 0 (sure) to log2 of the candidates, high is good; 0 log 0 is 0."""
    safe = np.where(p > 0, p, 1.0)
    return np.asarray(-(safe * np.log2(safe)).sum(axis=-1)) + 0.0


def degree_of_anonymity(p: Floats) -> Floats:
    """Return the entropy over log2 of the number of candidates: 0 (sure) to 1 (knows nothing); 0 for one candidate."""
    return entropy(p) / np.log2(p.shape[-1]) if p.shape[-1] > 1 else np.zeros(p.shape[:-1])


def min_entropy(p: Floats) -> Floats:
    """Return -log2 of the largest p: 0 (sure) to log2 of the candidates; at most the entropy; high is good."""
    return np.asarray(-np.log2(p.max(axis=-1))) + 0.0


def relative_entropy(true: Floats, p: Floats) -> float:
    """Return KL = sum true log2(true / p): 0 if they are equal, infinite if p rules out what is true."""
    there = true > 0
    if (p[there] == 0).any():
        return float("inf")
    return max(0.0, float((true[there] * np.log2(true[there] / p[there])).sum()))


def cross_entropy(true: Floats, p: Floats) -> float:
    """Return H(true) + KL(true to p): at least the entropy of what is true, infinite if p rules it out."""
    return float(entropy(true)) + relative_entropy(true, p)


def guesses(p: Floats, true: int) -> float:
    """Return the expected rank of the true candidate in a list by falling p, ties by chance: 1 up, high is good."""
    return 1.0 + float((p > p[true]).sum()) + (float((p == p[true]).sum()) - 1) / 2


def on_the_scale(p: Floats, n: int, doubt: float = DOUBT) -> Labels:
    """Count the rows on the scale of degrees of anonymity, from absolute privacy to provably exposed.

    Formula: p = 0; p = 1/n; p <= 1/2; p < 1 - d; p >= tau = 1 - d; p = 1. A row counts for the first that fits it,
    provably exposed before all others.

    Parameters
    ----------
    p : float64 array
        The probability that the adversary gives to the true candidate of each row, of n candidates.
    n : int
    doubt : float
        d; above 0, at most 1/2.
    """
    slack = 1e-12
    place = np.select(
        [p >= 1 - slack, p <= slack, p <= 1 / n + slack, p <= 0.5 + slack, p < 1 - doubt], [5, 0, 1, 2, 3], 4
    )
    return np.bincount(place, minlength=len(SCALE)).astype(np.int64)


def bins(column: Pair) -> tuple[Labels, Labels]:
    """Return the bin of each cell before and after; of a truthful form, each text after is a bin of its own."""
    if not column.ordered:
        if column.truthful:
            return read_column(column.before).codes, read_column(column.after).codes
        return column.codes
    before = _numbers(column)
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
    """Return I(X; X') = H(X) + H(X') - H(X, X') in bits, and H(X); 0 (tells nothing) to H(X), low is good."""
    joint = classes([before, after], before.size)
    own, other, both = (float(entropy(np.bincount(part) / part.size)) for part in (before, after, joint))
    return min(max(0.0, own + other - both), own), own


def correlation(before: Floats, after: Floats) -> float:
    """Return Pearson's correlation: -1 to 1, near 0 is good; 0 where one of both does not vary."""
    one, other = before - before.mean(), after - after.mean()
    scale = float(np.sqrt((one @ one) * (other @ other))) if np.ptp(before) > 0 and np.ptp(after) > 0 else 0.0
    return min(1.0, max(-1.0, float(one @ other) / scale)) if scale > 0 else 0.0


def normalised_variance(before: Floats, after: Floats) -> float:
    """Return var(X - X') / var(X): 0 (all is told) up, high is good; X must vary."""
    return float((before - after).var() / before.var())


def interval_width(values: Floats, published: Labels, tau: float = TAU) -> Floats:
    """Return, for each published value, the width of the shortest interval that holds tau of the true ones.

    Range: 0 (sure) to the range of the column; high is good. Need: the pair.

    Parameters
    ----------
    values : float64 array
        The true values, none missing.
    published : int64 array
        The number of the published value of each row, from 0 up without gaps.
    tau : float
        At least this share of the rows of a published value lies inside.
    """
    order = np.lexsort((values, published))
    ascending, owner, sizes = values[order], published[order], np.bincount(published)
    start = np.cumsum(sizes) - sizes
    held = np.ceil(sizes * tau - 1e-9).astype(np.int64)
    last = np.arange(order.size) + held[owner] - 1
    inside = last < (start + sizes)[owner]
    width = np.where(inside, ascending[np.minimum(last, order.size - 1)] - ascending, np.inf)
    return np.asarray(np.minimum.reduceat(width, start))


@of_release("anonymity set size", formula="mean over rows of size(E)", low=1, better="high")
def anonymity_set_size(case: Case) -> tuple[Finding, ...]:
    """Count the candidates for a row: the rows of its class.

    Formula: size(E), the mean over rows and the least. Range: 1 to n; high is good. Need: the release.
    """
    return _of_sizes(case, "anonymity set size", lambda sizes: sizes.astype(np.float64), "candidates for a row")


@of_release("entropy", formula="mean over rows of H = -sum p log2 p", better="high")
def posterior_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how many bits the adversary lacks about who a row is.

    Formula: H = -sum p log2 p, which is log2 size(E). Range: 0 to log2 n; high is good. Need: the release.
    """
    return _of_sizes(case, "entropy", np.log2, f"bits; p {UNIFORM}")


@of_release("degree of anonymity", formula="mean over rows of H / log2 n", high=1, better="high")
def normalised_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure the entropy as a part of that of somebody who knows nothing.

    Formula: H / log2 n, all rows being candidates. Range: 0 to 1; high is good. Need: the release.
    """
    bits = np.log2(max(2, case.n))
    how = f"H / log2 n; p {UNIFORM}" if case.n > 1 else "0, as there is one row only"
    return _of_sizes(case, "degree of anonymity", lambda sizes: np.log2(sizes) / bits, how)


@of_release("min-entropy", formula="mean over rows of -log2 max p", better="high")
def posterior_min_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how many bits protect a row against the best single guess.

    Formula: -log2 max p, here log2 size(E). Range: 0 to log2 n; high is good. Need: the release.
    """
    return _of_sizes(case, "min-entropy", np.log2, f"bits; p {UNIFORM}")


@of_release("guesses until success", formula="mean over rows of (size(E) + 1) / 2", low=1, better="high")
def guesses_until_success(case: Case) -> tuple[Finding, ...]:
    """Measure after how many guesses a row is found.

    Formula: the expected rank of the true row, (size(E) + 1) / 2. Range: 1 up; high is good. Need: the release.
    """
    return _of_sizes(case, "guesses until success", lambda sizes: (sizes + 1) / 2, f"expected rank; p {UNIFORM}")


@of_release("success rate", formula="mean over rows of 1/size(E)", high=1, better="low")
def success_rate(case: Case) -> tuple[Finding, ...]:
    """Measure which share of the rows is linked rightly by guessing inside the class, beside chance.

    Formula: mean of 1/size(E), with Wilson's interval; chance is 1/n. Range: 0 to 1; low is good. Need: the release.
    """
    if not case.n:
        return ()
    right = case.sizes.size
    how = f"a guess inside the class; {right} of {case.n} rows are expected to be right"
    return (
        Finding("success rate", right / case.n, how, "release", wilson(right, case.n)),
        Finding("success rate, chance", 1 / case.n, "a guess among all rows, without the release", "release"),
    )


@of_release("degree of anonymity class", formula="rows by p of the true row", better="neither")
def anonymity_classes(case: Case) -> tuple[Finding, ...]:
    """Count the rows that are exposed, and those on each step of the scale of anonymity.

    Formula: that of `on_the_scale`, with p = 1/size(E), n rows and d = 0.05. Range: 0 to n. Need: the release.
    """
    if not case.n:
        return ()
    counts = on_the_scale(1 / case.sizes[case.labels], case.n).tolist()
    name, how = "degree of anonymity class", f"of {case.n} rows; p {UNIFORM}, d = {DOUBT:g}, tau = {1 - DOUBT:g}"
    first = Finding(name, float(sum(counts[4:])), f"exposed or worse, {how}", "release")
    steps = zip(SCALE, counts, strict=True)
    return (first, *(Finding(f"{name}, {step}", float(rows), how, "release") for step, rows in steps))


@of_pair("cross-entropy", formula="H(p) + KL(p to q) per column", better="neither")
def column_cross_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how many bits a value costs in a code that is made for the released column.

    Formula: -sum p log2 q, p the shares of bins before and q after, half a row added to each bin of both. Range: H(p)
    up. Need: the pair. Columns that are published by range, set or tree have no such shares, and are left out.
    """
    return _of_shares(case, "cross-entropy", cross_entropy)


@of_pair("relative entropy", formula="KL = sum p log2(p / q) per column", better="neither")
def column_relative_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how far the shares of the released column are from those of the original.

    Formula: sum p log2(p / q), as in cross-entropy. Range: 0 (equal) up. Need: the pair.
    """
    return _of_shares(case, "relative entropy", relative_entropy)


@of_pair("mutual information", formula="I(X; X') = H(X) + H(X') - H(X, X') per column", better="low")
def column_information(case: Case) -> tuple[Finding, ...]:
    """Measure how many bits of a cell its released value tells, and which part of all of its bits that is.

    Formula: I(X; X') on the bins of both, and I(X; X') / H(X), 0 if H(X) is 0. Range: 0 to H(X), and 0 to 1; low is
    good for privacy. Need: the pair.
    """
    found = []
    for column in case.columns if case.n else ():
        before, after = bins(column)
        told, own = mutual_information(before, after)
        how = f"{np.unique(before).size} bins before, {np.unique(after).size} after; H(X) = {own:.4g} bits"
        how += "" if own > 0 else ": the column has one value, so there is nothing to tell"
        found.append(Finding(f"mutual information, {column.name}", told, f"bits; {how}", "pair"))
        part = told / own if own > 0 else 0.0
        found.append(Finding(f"mutual information / H(X), {column.name}", part, how, "pair"))
    return tuple(found)


@of_pair("correlation", formula="Pearson's correlation of X and X' per column", low=-1, high=1, better="neither")
def column_correlation(case: Case) -> tuple[Finding, ...]:
    """Measure how far a released column of numbers or dates goes along with the original.

    Formula: cov(X, X') / sqrt(var(X) var(X')), a range standing for its middle; 0 if the released column is constant.
    Range: -1 to 1; near 0 is good for privacy. Need: the pair. No finding for a column that is constant before.
    """
    return _of_numbers(case, "correlation", correlation)


@of_pair("normalised variance", formula="var(X - X') / var(X) per column", better="high")
def column_normalised_variance(case: Case) -> tuple[Finding, ...]:
    """Measure the variance of the adversary's error, as a part of that of the column of numbers or dates.

    Formula: var(X - X') / var(X), a range standing for its middle. Range: 0 up; high is good for privacy. Need: the
    pair. No finding for a column that is constant before.
    """
    return _of_numbers(case, "normalised variance", normalised_variance)


@of_pair("mean squared error of the adversary", formula="mean over rows of |x - x'|^2", better="high")
def adversary_error(case: Case) -> tuple[Finding, ...]:
    """Measure how far the released values are from the true ones, row by row.

    Formula: the mean over rows of squared distances, added up over columns. Numbers, dates and levels count in standard
    deviations of the original column, a wrong name counts 1. Range: 0 up; high is good for privacy. Need: the pair.
    """
    if not case.n or not case.columns:
        return ()
    found = []
    for column in case.columns:
        before, after = space(case, [column.name])
        error = float(np.square(before - after).sum(axis=1).mean())
        found.append(Finding(f"mean squared error of the adversary, {column.name}", error, "its part", "pair"))
    how = "squared distance of a row from what is released of it, standardised; its columns added up"
    return (Finding("mean squared error of the adversary", sum(part.value for part in found), how, "pair"), *found)


@of_pair("confidence interval width", formula="mean width of the 95 % interval / range", high=1, better="high")
def column_interval_width(case: Case) -> tuple[Finding, ...]:
    """Measure in how wide an interval the true value lies, given the published one.

    Formula: the width of the shortest interval that holds 95 % of the true values of the rows with the same published
    value, mean over rows, divided by the range of the column. Range: 0 to 1; high is good for privacy. Need: the pair.
    Columns of names have none, nor do columns with one value.
    """
    found = []
    for column in case.columns:
        values = _numbers(column) / 2 if column.ordered else np.empty(0)  # of halves no difference overflows
        known = ~np.isnan(values)
        if not known.any() or np.ptp(values[known]) == 0:
            continue
        published = np.unique(read_column(column.after).codes[known], return_inverse=True)[1].reshape(-1)
        width = float((interval_width(values[known], published) / np.ptp(values[known]))[published].mean())
        how = f"shortest interval with {TAU:.0%} of the values of a published one, as a part of the range{_gone(known)}"
        found.append(Finding(f"confidence interval width, {column.name}", width, how, "pair"))
    return tuple(found)


def _numbers(column: Pair) -> Floats:
    """Return the original cells of a column with an order as numbers; what is released may be text."""
    return replace(column, after=column.before).numbers[0]


def _gone(known: NDArray[np.bool_]) -> str:
    """Say how many rows are left out."""
    return "" if known.all() else f"; {int((~known).sum())} rows with a missing cell are left out"


def _of_sizes(case: Case, name: str, figure: Callable[[Labels], Floats], how: str) -> tuple[Finding, ...]:
    """Return the mean over rows, and the least, of a figure of class sizes."""
    if not case.n:
        return ()
    each = figure(case.sizes)
    mean = Finding(name, float(case.sizes @ each) / case.n, f"{how}; mean over rows", "release")
    return mean, Finding(f"{name}, least", float(each.min()), f"{how}; the least of all rows", "release")


def _of_shares(case: Case, name: str, figure: Callable[[Floats, Floats], float]) -> tuple[Finding, ...]:
    """Return a figure of the shares of bins before and after, column by column."""
    found = []
    for column in case.columns if case.n else ():
        if not column.truthful:
            true, p = smoothed(*bins(column))
            how = f"bits; {true.size} bins, half a row added to each, before and after"
            found.append(Finding(f"{name}, {column.name}", figure(true, p), how, "pair"))
    return tuple(found)


def _of_numbers(case: Case, name: str, figure: Callable[[Floats, Floats], float]) -> tuple[Finding, ...]:
    """Return a figure of numbers and dates before and after, column by column."""
    found = []
    for column in case.columns if case.n else ():
        if column.kind not in ("numeric", "date"):
            continue
        before, after = space(case, [column.name])
        known = np.asarray(~np.hstack([before[:, 1:], after[:, 1:]]).any(axis=1))
        one, other = before[known, 0], after[known, 0]
        if one.size < 2 or np.ptp(one) == 0:
            continue
        how = f"original and released values of {one.size} rows{_gone(known)}"
        how += "; the released column is constant" if np.ptp(other) == 0 else ""
        found.append(Finding(f"{name}, {column.name}", figure(one, other), how, "pair"))
    return tuple(found)
