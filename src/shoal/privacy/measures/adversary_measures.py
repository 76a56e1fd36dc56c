"""Measures of what an adversary who sees the release knows; `adversary` has the formulas and explains them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.adversary import (
    DOUBT,
    SCALE,
    TAU,
    bins,
    correlation,
    cross_entropy,
    interval_width,
    mutual_information,
    normalised_variance,
    on_the_scale,
    relative_entropy,
    smoothed,
)
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.space import space
from shoal.privacy.verdict.classes import Labels
from shoal.privacy.verdict.values import read_column

Floats = NDArray[np.float64]
UNIFORM = "uniform over the rows of a class"


@measure(
    "anonymity set size", formula="mean over rows of size(E)", low=1, better="high", need="release", cost="n log n"
)
def anonymity_set_size(case: Case) -> tuple[Finding, ...]:
    """Count the candidates for a row: the rows of its class."""
    return _of_sizes(case, "anonymity set size", lambda sizes: sizes.astype(np.float64), "candidates for a row")


@measure(
    "entropy",
    formula="mean over rows of H = -sum p log2 p",
    better="high",
    need="release",
    cost="n log n",
    aliases=("min-entropy",),
)
def posterior_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how uncertain the adversary is, in bits, about whose row it is."""
    return _of_sizes(case, "entropy", np.log2, f"bits; p {UNIFORM}")


@measure(
    "degree of anonymity", formula="mean over rows of H / log2 n", high=1, better="high", need="release", cost="n log n"
)
def normalised_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure the entropy as a share of that of an adversary who knows nothing."""
    bits = np.log2(max(2, case.n))
    how = f"H / log2 n; p {UNIFORM}" if case.n > 1 else "0, as there is one row only"
    return _of_sizes(case, "degree of anonymity", lambda sizes: np.log2(sizes) / bits, how)


@measure(
    "guesses until success",
    formula="mean over rows of (size(E) + 1) / 2",
    low=1,
    better="high",
    need="release",
    cost="n log n",
)
def guesses_until_success(case: Case) -> tuple[Finding, ...]:
    """Measure how many guesses it takes to find a row."""
    return _of_sizes(case, "guesses until success", lambda sizes: (sizes + 1) / 2, f"expected rank; p {UNIFORM}")


@measure(
    "degree of anonymity class",
    formula="number of rows by p of the true row",
    better="neither",
    need="release",
    cost="n log n",
)
def anonymity_classes(case: Case) -> tuple[Finding, ...]:
    """Count the rows that are exposed, and those at each degree of anonymity."""
    if not case.n:
        return ()
    counts = on_the_scale(1 / case.sizes[case.labels], case.n).tolist()
    name, settings = "degree of anonymity class", f"p {UNIFORM}, d = {DOUBT:g}, tau = {1 - DOUBT:g}"
    how = Sentence("of {n} rows; {settings}", n=case.n, settings=settings)
    exposed = Sentence("exposed or worse, {how}", how=how)
    first = Finding(name, float(sum(counts[4:])), exposed, "release", counts_rows=True)
    steps = zip(SCALE, counts, strict=True)
    each = (Finding(name, float(rows), how, "release", part=step, counts_rows=True) for step, rows in steps)
    return (first, *each)


@measure(
    "cross-entropy",
    formula="H(p, q) = -sum p log2 q per column",
    better="neither",
    need="pair",
    cost="d n log n",
    by_column=True,
)
def column_cross_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how many bits an original value takes in a code that is optimal for the released column.

    Columns published by range, set or tree have no such shares, and are left out.
    """
    return _of_shares(case, "cross-entropy", cross_entropy)


@measure(
    "relative entropy",
    formula="KL = sum p log2(p / q) per column",
    better="neither",
    need="pair",
    cost="d n log n",
    by_column=True,
)
def column_relative_entropy(case: Case) -> tuple[Finding, ...]:
    """Measure how far the shares of the released column are from those of the original."""
    return _of_shares(case, "relative entropy", relative_entropy)


@measure(
    "mutual information",
    formula="I(X; X') = H(X) + H(X') - H(X, X') per column",
    better="low",
    need="pair",
    cost="d n log n",
    by_column=True,
)
def column_information(case: Case) -> tuple[Finding, ...]:
    """Measure how many bits a released value reveals about the original one, and their share of its entropy."""
    found = []
    for column in case.columns if case.n else ():
        before, after = bins(column)
        information, own = mutual_information(before, after)
        sizes = np.unique(before).size, np.unique(after).size
        how = Sentence(
            "{before} bins before, {after} after; H(X) = {own:.4g} bits", before=sizes[0], after=sizes[1], own=own
        )
        how += "" if own > 0 else ": the column has one value, so there is nothing to reveal"
        bits = Sentence("bits; {how}", how=how)
        found.append(Finding("mutual information", information, bits, "pair", column=column.name))
        part = information / own if own > 0 else 0.0
        found.append(Finding("mutual information / H(X)", part, how, "pair", column=column.name))
    return tuple(found)


@measure(
    "correlation",
    formula="Pearson's correlation of X and X' per column",
    low=-1,
    high=1,
    better="neither",
    need="pair",
    cost="d n log n",
    by_column=True,
)
def column_correlation(case: Case) -> tuple[Finding, ...]:
    """Measure how strongly a released column of numbers or dates is correlated with the original.

    No finding for a column that is constant before.
    """
    return _of_numbers(case, "correlation", correlation)


@measure(
    "normalised variance",
    formula="var(X - X') / var(X) per column",
    better="high",
    need="pair",
    cost="d n log n",
    by_column=True,
)
def column_normalised_variance(case: Case) -> tuple[Finding, ...]:
    """Measure the variance of the adversary's error as a share of the variance of the column (numbers or dates).

    No finding for a column that is constant before.
    """
    return _of_numbers(case, "normalised variance", normalised_variance)


@measure(
    "mean squared error of the adversary",
    formula="mean over rows of |x - x'|^2",
    better="high",
    need="pair",
    cost="d n log n",
    counts_changes=True,
)
def adversary_error(case: Case) -> tuple[Finding, ...]:
    """Measure how far the released values are from the true ones, row by row."""
    if not case.n or not case.columns:
        return ()
    name, found = "mean squared error of the adversary", []
    for column in case.columns:
        before, after = space(case, [column.name])
        error = float(np.square(before - after).sum(axis=1).mean())
        found.append(Finding(name, error, "the part of this column", "pair", column=column.name))
    how = "squared distance between original and released rows, columns standardized and added up"
    return (Finding(name, sum(part.value for part in found), how, "pair"), *found)


@measure(
    "confidence interval width",
    formula="mean width of the 95% interval / range",
    high=1,
    better="high",
    need="pair",
    cost="d n log n",
    by_column=True,
)
def column_interval_width(case: Case) -> tuple[Finding, ...]:
    """Measure how wide the 95% interval of the original value is, given the published one.

    Nominal columns, and columns with one value, have none.
    """
    found = []
    for column in case.columns:
        values = column.numbers_before / 2 if column.ordered else np.empty(0)  # differences of halves cannot overflow
        known = ~np.isnan(values)
        if not known.any() or np.ptp(values[known]) == 0:
            continue
        published = np.unique(read_column(column.after).codes[known], return_inverse=True)[1].reshape(-1)
        width = float((interval_width(values[known], published) / np.ptp(values[known]))[published].mean())
        how = Sentence(
            "shortest interval with {tau:.0%} of the original values of a published one, as a share of the range{gone}",
            tau=TAU,
            gone=_gone(known),
        )
        found.append(Finding("confidence interval width", width, how, "pair", column=column.name))
    return tuple(found)


def _gone(known: NDArray[np.bool_]) -> str:
    """Say how many rows are left out."""
    gone = Rows((~known).sum())
    return Sentence("; {gone} rows with a missing cell are left out", gone=gone) if gone else ""


def _of_sizes(case: Case, name: str, figure: Callable[[Labels], Floats], how: str) -> tuple[Finding, ...]:
    """Return the mean over rows, and the least, of a figure of class sizes."""
    if not case.n:
        return ()
    each = figure(case.sizes)
    mean, least = (Sentence("{how}; {of}", how=how, of=of) for of in ("mean over rows", "the smallest of all rows"))
    return (
        Finding(name, float(case.sizes @ each) / case.n, mean, "release", counts_rows=False),
        Finding(name, float(each.min()), least, "release", part="least", counts_rows=False),
    )


def _of_shares(case: Case, name: str, figure: Callable[[Floats, Floats], float]) -> tuple[Finding, ...]:
    """Return a figure of the shares of bins before and after, column by column."""
    found = []
    for column in case.columns if case.n else ():
        if not column.truthful:
            true, p = smoothed(*bins(column))
            how = Sentence("bits; {bins} bins, half a row added to each, before and after", bins=true.size)
            found.append(Finding(name, figure(true, p), how, "pair", column=column.name))
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
        # The numbers of rows with a value, before and after, would reveal how many lost it.
        how = Sentence("original and released values of the rows that have both{gone}", gone=_gone(known))
        how += "; the released column is constant" if np.ptp(other) == 0 else ""
        found.append(Finding(name, figure(one, other), how, "pair", column=column.name))
    return tuple(found)
