"""Comparing methods over data sets: ranks, the Friedman test, Nemenyi's critical difference, and Wilcoxon for two.

1. On each data set methods are ranked, the best first; equal figures share the mean of their ranks.
2. Friedman: could the mean ranks be this far apart by chance, if all methods were equal?
3. If not, Nemenyi: two methods differ, at 5% for all pairs together, if their mean ranks are at least CD apart:
   CD = q sqrt(m (m + 1) / (6 N)) for m methods and N data sets, with q the 95% point of the studentized range of m
   means, divided by sqrt(2).
4. Two methods alone: Wilcoxon's signed-rank test, computed exactly.

Demšar (2006). A mean rank says nothing without N: with few data sets, CD is large and no difference is found.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError

LEVEL = 0.05
SAME = 1e-12  # differences due to rounding

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Friedman:
    """The Friedman test."""

    statistic: float  # chi-square, corrected for ties
    plain: float  # chi-square without the correction, as in Demšar (2006)
    f: float  # Iman and Davenport's F of the plain statistic; infinite if the order is the same everywhere
    p: float  # by chi-square with m - 1 degrees of freedom


@dataclass(frozen=True)
class Wilcoxon:
    """Wilcoxon's signed-rank test."""

    first: float  # sum of the ranks where the first method is better; a rank of 0 is halved
    second: float
    p: float  # two-sided, over all ways to make each difference positive or negative


@dataclass(frozen=True)
class Comparison:
    """Methods over data sets."""

    methods: tuple[str, ...]  # best mean rank first
    mean_ranks: tuple[float, ...]  # 1 is best
    sets: int  # number of data sets
    scores: tuple[float, ...] | None  # see `score`; None unless higher figures are better and all are positive
    friedman: Friedman | None  # for three methods or more
    critical: float | None  # Nemenyi's critical difference, if Friedman's test rejects that all are equal
    groups: tuple[tuple[str, ...], ...]  # methods that do not differ: the bars of a critical-difference diagram
    wilcoxon: Wilcoxon | None  # for two methods, in the order of `methods`
    pairs: tuple[tuple[float, ...], ...] | None = None  # Nemenyi's p of every two methods, if there is `critical`
    least_p: float = 0.0  # p if the order is the same on every data set: above 0.05, nothing can be found

    def __str__(self) -> str:
        """Return a summary of a few lines."""
        if self.sets == 1:
            return "\n".join([f"best first: {', '.join(self.methods)}", *self.results()])
        ranked = zip(self.methods, self.mean_ranks, strict=True)
        return "\n".join(
            [*(f"{name}: mean rank {rank:.3f} over {self.sets} data sets" for name, rank in ranked), *self.results()]
        )

    def results(self) -> list[str]:
        """Return the results of the tests, one per line."""
        if self.sets == 1:
            return [one_set_words(len(self.methods))]
        lines = []
        if self.friedman is not None:
            lines.append(f"Friedman: chi-square {self.friedman.statistic:.3f}, {p_words(self.friedman.p)}")
        if self.critical is not None:
            lines.append(f"Nemenyi: critical difference {self.critical:.3f} at 5%")
        if self.wilcoxon is not None:
            lines.append(f"Wilcoxon: {p_words(self.wilcoxon.p)}")
        lines += [f"no difference found: {', '.join(group)}" for group in self.groups]
        if self.least_p >= LEVEL:
            lines.append(f"{self.sets} data sets are too few: p is at least {self.least_p:.4g}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON: None for an infinite F."""
        found = asdict(self)
        if self.friedman is not None and np.isinf(self.friedman.f):
            found["friedman"]["f"] = None
        return found


def compare(values: ArrayLike, methods: Sequence[str], *, higher: bool = True) -> Comparison:
    """Compare methods by one figure on several data sets; on one, only order them.

    `values` has shape (methods, data sets); `higher` says whether higher figures are better.
    """
    figures = _checked(values, methods)
    placed = ranks(figures, higher=higher)
    number, sets = figures.shape
    mean = placed.mean(axis=1)
    order = np.argsort(mean, kind="stable")
    names = tuple(methods[place] for place in order)
    scores = score(figures)[order] if higher and (figures > 0).all() else None
    tested = friedman(placed) if number > 2 and sets > 1 else None
    two = wilcoxon(figures[order[0]], figures[order[1]], higher=higher) if number == 2 and sets > 1 else None
    p = tested.p if tested is not None else two.p if two is not None else 1.0
    critical = critical_difference(number, sets) if tested is not None and p < LEVEL else None
    whole = [(0, number)] if p >= LEVEL and sets > 1 else []
    groups = whole if critical is None else alike(mean[order], critical)
    return Comparison(
        methods=names,
        mean_ranks=tuple(mean[order].tolist()),
        sets=sets,
        scores=None if scores is None else tuple(scores.tolist()),
        friedman=tested,
        critical=critical,
        groups=tuple(names[first:last] for first, last in groups),
        wilcoxon=two,
        pairs=None if critical is None else tuple(tuple(line) for line in nemenyi(mean[order], sets).tolist()),
        least_p=least_p(number, sets),
    )


def least_p(methods: int, sets: int) -> float:
    """Return the least p that the test of this many methods can give: if their order is the same on every data set.

    Examples
    --------
    >>> least_p(2, 5), round(least_p(3, 3), 4)
    (0.0625, 0.0498)
    """
    from scipy.stats import chi2

    return 2.0 ** (1 - sets) if methods == 2 else float(chi2.sf(sets * (methods - 1), methods - 1))


def least_sets(methods: int) -> int:
    """Return the number of data sets from which the test of this many methods can find a difference.

    Examples
    --------
    >>> [least_sets(methods) for methods in (2, 3, 6)]
    [6, 3, 3]
    """
    return next(sets for sets in count(2) if least_p(methods, sets) < LEVEL)


def one_set_words(methods: int) -> str:
    """Say what one data set shows and what it cannot."""
    return (
        "One data set gives figures, but no test of whether the methods differ in general: that needs at least "
        f"{least_sets(methods)} data sets for {methods} methods."
    )


def ranks(values: ArrayLike, *, higher: bool = True) -> Floats:
    """Return the rank of each method on each data set, 1 for the best; equal figures share the mean of their ranks.

    Figures that differ by less than 1e-12 of the largest of their data set are equal: means of the same numbers in
    another order may differ in the last bit.

    Examples
    --------
    >>> ranks([[(70 + 66.7 + 73.3) / 3], [(66.7 + 73.3 + 70) / 3], [50.0]]).ravel().tolist()
    [1.5, 1.5, 3.0]
    """
    from scipy.stats import rankdata

    figures = np.asarray(values, np.float64)
    largest = np.abs(figures).max(axis=0)
    figures = np.round(figures / np.where(largest > 0, largest, 1.0), 12)
    return np.asarray(rankdata(-figures if higher else figures, axis=0), np.float64)


def friedman(placed: Floats) -> Friedman:
    """Test whether mean ranks, as from `ranks`, differ by more than chance; p is 1 if all methods tie everywhere."""
    from scipy.stats import chi2

    m, n = placed.shape
    plain = 12 * n / (m * (m + 1)) * (float((placed.mean(axis=1) ** 2).sum()) - m * (m + 1) ** 2 / 4)
    plain = max(0.0, plain)
    # Ties reduce the variance: divide by the variance of the ranks, as a share of that without ties.
    left = float(((placed - (m + 1) / 2) ** 2).sum()) / (n * m * (m * m - 1) / 12)
    if left <= SAME:
        return Friedman(0.0, 0.0, 0.0, 1.0)
    rest = n * (m - 1) - plain
    f = (n - 1) * plain / rest if rest > SAME else float("inf")
    return Friedman(plain / left, plain, f, float(chi2.sf(plain / left, m - 1)))


def critical_difference(methods: int, sets: int, level: float = LEVEL) -> float:
    """Return how far apart mean ranks must be for two methods to differ; `level` is for all pairs together."""
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - level, methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * sets)))


def nemenyi(mean_ranks: Floats, sets: int) -> Floats:
    """Return, for every two methods, the probability of mean ranks this far apart anywhere if all methods are equal.

    It is 1 on the diagonal. Two methods that are exactly the critical difference apart have 0.05.
    """
    from scipy.stats import studentized_range

    m = len(mean_ranks)
    statistics = np.abs(mean_ranks[:, None] - mean_ranks) / np.sqrt(m * (m + 1) / (6 * sets))
    found = np.eye(m)
    first, second = np.triu_indices(m, 1)
    found[first, second] = studentized_range.sf(statistics[first, second] * np.sqrt(2), m, np.inf)
    return np.maximum(found, found.T)


def alike(mean_ranks: Floats, critical: float) -> list[tuple[int, int]]:
    """Return the longest runs of methods less than the critical difference apart, as first and last + 1.

    Mean ranks must ascend.
    """
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(mean_ranks):
        last = int(np.searchsorted(mean_ranks, rank + critical - SAME, "left"))
        if last - first > 1 and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def wilcoxon(first: ArrayLike, second: ArrayLike, *, higher: bool = True) -> Wilcoxon:
    """Test whether one of two methods is better, by the ranks of their differences; exact, with or without ties.

    Differences of 0 are ranked too, and their ranks split between both. p is 1 if all are 0. Unlike this test, that of
    scipy is not exact with ties.
    """
    from scipy.stats import rankdata

    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    # Differences of decimals that are equal on paper may differ in the last bit.
    scale = max(float(np.abs(first).max()), float(np.abs(second).max())) or 1.0
    differences = np.round(differences / scale, 12) * (1 if higher else -1)
    placed = rankdata(np.abs(differences))
    none = float(placed[differences == 0].sum()) / 2
    better, worse = float(placed[differences > 0].sum()) + none, float(placed[differences < 0].sum()) + none
    doubled = np.round(2 * placed[differences != 0]).astype(np.int64)
    # Probability of each sum of the ranks of positive differences: each rank is included with probability one half.
    likely = np.ones(1)
    for rank in doubled:
        likely = np.append(likely, np.zeros(rank)) / 2 + np.append(np.zeros(rank), likely) / 2
    least = round(2 * (min(better, worse) - none))
    return Wilcoxon(better, worse, min(1.0, 2 * float(likely[: least + 1].sum())))


def score(values: ArrayLike) -> Floats:
    """Return the score of each method: the sum over data sets of its figure / the best figure there.

    From 0 to the number of data sets, high is good; figures must be such that higher is better, and positive.
    """
    figures = np.asarray(values, np.float64)
    if figures.ndim != 2 or not figures.size or not np.isfinite(figures).all() or (figures <= 0).any():
        raise DataError("score: every method needs a positive figure on every data set.")
    return np.asarray((figures / figures.max(axis=0)).sum(axis=1))


def p_words(p: float) -> str:
    """Write a p value."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def _checked(values: ArrayLike, methods: Sequence[str]) -> Floats:
    """Return the figures as a matrix, or refuse them."""
    figures = np.asarray(values, np.float64)
    if figures.ndim != 2 or len(figures) != len(methods):
        raise DataError(
            f"compare: figures must have a row for each of the {len(methods)} methods and a column for each data set; "
            f"got the shape {figures.shape}."
        )
    if len(set(methods)) < len(methods):
        raise DataError("compare: two methods have the same name. Give each a different one.")
    if figures.shape[0] < 2 or figures.shape[1] < 1:
        got = f"{figures.shape[0]} and {figures.shape[1]}"
        raise DataError(f"compare: at least two methods and one data set are needed; got {got}.")
    missing = int((~np.isfinite(figures)).sum())
    if missing:
        raise DataError(
            f"compare: {missing} of {figures.size} figures are missing or infinite. "
            "Ranks need every method on every data set: measure them, or leave the data set out."
        )
    return figures
