"""Re-identification risk: how likely it is that a released row is given its right name.

1. The prosecutor knows that somebody is in the release: a row is found with a chance of 1/size of its class.
2. The journalist does not know it: the class is looked for among all people of the population.
3. The marketer gives a name to every row: what counts is the expected share of right ones.
4. Which columns carry the risk: what is left without each, and what each adds on average over orders in which columns
   come to be known (Shapley).
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.measuring import measure
from shoal.model.findings import Finding
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.population import counted, given_fraction, quasi_names
from shoal.privacy.verdict.classes import Labels

__all__ = [
    "Risk",
    "band_rows",
    "class_sizes",
    "column_contributions",
    "contributions",
    "distinct_rows",
    "histogram",
    "journalist",
    "marketer",
    "prosecutor",
    "risk",
    "risk_bands",
    "risks_without",
    "sample_uniques",
    "without_each",
]

Floats = NDArray[np.float64]
THRESHOLD = 0.2  # the risk of a row in a class of five
BANDS = (1, 2, 3, 5, 10, 20, 50)  # where bands of class sizes begin
SIZES = ("1 row", "2 rows", "3 to 4 rows", "5 to 9 rows", "10 to 19 rows", "20 to 49 rows", "50 rows and more")
RISKS = ("1", "1/2", "1/4 to 1/3", "1/9 to 1/5", "1/19 to 1/10", "1/49 to 1/20", "1/50 and less")
of_risk = partial(Finding, need="release", counts_rows=False)  # probabilities and numbers of classes
OF_CLASS = Sentence("1/size of the class of a row")
EXACT = 6  # columns up to which every set of them is counted
WORK = 128_000_000  # rows that are sorted for contributions beyond that
MOST_ORDERS, LEAST_ORDERS = 512, 4
WIDEST = 1 << 62
COST = "n log n"


class Risk(NamedTuple):
    """The largest risk of a row, the mean risk, and the share of rows whose risk is above a threshold."""

    most: float
    mean: float
    above: float


def risk(sizes: Labels, among: NDArray[np.number] | None = None, threshold: float = THRESHOLD) -> Risk:
    """Return how likely rows are to be found.

    Formula: the risk of a row is 1/size of its class. Range: 0 to 1; low is good. Need: the release.

    Parameters
    ----------
    sizes : int64 array
        The rows of each class of the release; at least one class.
    among : array, optional
        The people among whom the rows of each class are looked for; those of the release if not given.
    threshold : float
    """
    each = 1.0 / (sizes if among is None else among)
    rows = int(sizes.sum())
    above = int(sizes[each > threshold * (1 + 1e-9)].sum())
    return Risk(float(each.max()), min(1.0, float(sizes @ each) / rows), above / rows)


def histogram(sizes: Labels) -> tuple[Labels, Labels]:
    """Return the class sizes that occur, ascending, and the number of classes of each."""
    values, counts = np.unique(sizes, return_counts=True)
    return values.astype(np.int64), counts.astype(np.int64)


def band_rows(sizes: Labels) -> Labels:
    """Return the rows in classes of 1, 2, 3-4, 5-9, 10-19, 20-49 and 50 or more rows."""
    return np.bincount(np.searchsorted(BANDS, sizes, "right") - 1, sizes, len(BANDS)).astype(np.int64)


def without_each(columns: Sequence[Labels]) -> list[int]:
    """Return the number of classes that are left without each column.

    Parameters
    ----------
    columns : sequence of int64 arrays
        The codes of each column; rows that occur more than once may be left out, see `distinct_rows`.
    """
    if not columns:
        return []
    return _without(columns, np.zeros(columns[0].size, np.int64), 1)


def _without(columns: Sequence[Labels], key: Labels, room: int) -> list[int]:
    """Return the number of combinations without each column, beside those of a key: each half is joined once."""
    if len(columns) == 1:
        return [_count(key)]
    half = len(columns) // 2
    found = []
    for mine, others in ((columns[:half], columns[half:]), (columns[half:], columns[:half])):
        joined, wide = key, room
        for codes in others:
            joined, wide = _joined(joined, wide, codes)
        found += _without(mine, joined, wide)
    return found


def contributions(columns: Sequence[Labels], n: int, seed: int = 0) -> tuple[Floats, int]:
    """Return how much each column adds to the mean prosecutor risk, and over how many orders that is a mean.

    Formula: the Shapley value of v(S) = classes by the columns S / n, with v(no column) = 1/n. All add up to
    (classes - 1) / n. Range: 0 to 1; low is good. Exact for up to 6 columns, where the number of orders returned is 0;
    else over random orders and their rotations, as many as the number of rows allows for.

    Parameters
    ----------
    columns : sequence of int64 arrays
        As in `without_each`.
    n : int
        The rows of the release.
    seed : int
        Where chance starts.
    """
    d = len(columns)
    if d <= EXACT:
        return _exact(columns) / n, 0
    rows = columns[0].size
    orders = max(LEAST_ORDERS, min(MOST_ORDERS, WORK // (rows * d)))
    chance, total = np.random.default_rng(seed), np.zeros(d)
    order, whole = np.arange(d), _distinct(columns)
    for turn in range(orders):
        # Turned round once, an order has every column in every place: what a column adds depends on its place most.
        order = np.roll(order, 1) if turn % d else chance.permutation(d)
        total += _added(columns, order.tolist(), whole)
    return total / orders / n, orders


def distinct_rows(case: Case) -> list[Labels]:
    """Return the codes of each released quasi-identifier, one row for each class."""
    firsts = np.unique(case.labels, return_index=True)[1]
    return [column.codes[firsts] for column in case.quasi]


def _exact(columns: Sequence[Labels]) -> Floats:
    """Return the Shapley value of the number of classes, over all sets of columns."""
    d = len(columns)
    counts = {
        some: _distinct([columns[j] for j in some]) for size in range(d + 1) for some in combinations(range(d), size)
    }
    value = np.zeros(d)
    for some, count in counts.items():
        for j in set(range(d)).difference(some):
            weight = factorial(len(some)) * factorial(d - len(some) - 1) / factorial(d)
            value[j] += weight * (counts[tuple(sorted((*some, j)))] - count)
    return value


def _added(columns: Sequence[Labels], order: list[int], whole: int) -> Floats:
    """Return how many classes each column adds when columns come in this order."""
    value, key, room, before = np.zeros(len(columns)), np.zeros(columns[0].size, np.int64), 1, 1
    for j in order:
        key, room = _joined(key, room, columns[j])
        count = _count(key)
        value[j], before = count - before, count
        if count == whole:
            break
    return value


def _distinct(columns: Sequence[Labels]) -> int:
    """Return the number of combinations of values; 1 without columns."""
    if not columns:
        return 1
    key, room = columns[0], int(columns[0].max()) + 1
    for codes in columns[1:]:
        key, room = _joined(key, room, codes)
    return _count(key)


def _joined(key: Labels, room: int, codes: Labels) -> tuple[Labels, int]:
    """Return one number for each combination of two, and a bound above all of them."""
    width = int(codes.max()) + 1
    if room * width > WIDEST:
        key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
        room = int(key.max()) + 1
    return key * width + codes, room * width


def _count(key: Labels) -> int:
    """Return how many different numbers there are."""
    ordered = np.sort(key)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


@measure("prosecutor risk", formula="max over rows of 1/size(E)", high=1, better="low", need="release", cost=COST)
def prosecutor(case: Case) -> tuple[Finding, ...]:
    """Measure how likely a row is found by somebody who knows that the person is in the release.

    Formula: 1/size(E); the largest, the mean (classes / n), and the share of rows above 0.2. Range: 0 to 1; low is
    good. Need: the release.
    """
    return _findings("prosecutor risk", risk(case.sizes), OF_CLASS) if case.n else ()


@measure(
    "journalist risk",
    formula="max over rows of 1/size(E in the population)",
    high=1,
    better="low",
    need="release",
    cost=COST,
)
def journalist(case: Case) -> tuple[Finding, ...]:
    """Measure how likely a row is found by somebody who does not know who is in the release.

    Formula: 1/size(E in the population), or fraction/size(E) if only a sampling fraction is known. Range: 0 to 1; low
    is good. Need: the release, and a population or a fraction; no finding without.
    """
    among = _among(case)
    if among is None:
        return ()
    return _findings("journalist risk", risk(case.sizes, among[0]), among[1])


@measure("marketer risk", formula="mean over rows of 1/size(E)", high=1, better="low", need="release", cost=COST)
def marketer(case: Case) -> tuple[Finding, ...]:
    """Measure which share of the rows somebody who gives a name to each is expected to name rightly.

    Formula: the mean over rows of 1/size(E), counted in the population or by the sampling fraction if one is known.
    Range: 0 to 1; low is good. Need: the release.
    """
    if not case.n:
        return ()
    among, how = _among(case) or (case.sizes, OF_CLASS)
    share = risk(case.sizes, among).mean
    return (
        of_risk("marketer risk", share, Sentence("expected share of rows named rightly; {how}", how=how)),
        of_risk("marketer risk", share * case.n, Sentence("expected number of {n} rows", n=case.n), part="rows"),
    )


@measure("sample uniques %", formula="100 rows with size(E) = 1 / n", high=100, better="low", need="release", cost=COST)
def sample_uniques(case: Case) -> tuple[Finding, ...]:
    """Measure which share of the rows is alone in the release.

    Formula: 100 times the rows in classes of one row, divided by n. Range: 0 to 100; low is good. Need: the release.
    """
    if not case.n:
        return ()
    alone = int((case.sizes == 1).sum())
    how = Sentence("{alone} of {n} rows", alone=Rows(alone), n=case.n)
    return (Finding("sample uniques %", 100 * alone / case.n, how, "release", unit="%", counts_rows=True),)


@measure("class sizes", formula="number of classes; rows by size(E)", better="neither", need="release", cost=COST)
def class_sizes(case: Case) -> tuple[Finding, ...]:
    """Count the classes, and the share of the rows that are in small and in large ones.

    Formula: the number of classes; 100 times the rows in classes of 1, 2, 3-4, 5-9, 10-19, 20-49, 50 or more rows,
    divided by n. Range: classes 1 to n, shares 0 to 100. Need: the release.
    """
    if not case.n:
        return ()
    of = Sentence("classes of {n} rows", n=case.n)
    first = of_risk("class sizes", float(case.sizes.size), of)
    shares = 100 * band_rows(case.sizes) / case.n
    bands = zip(SIZES, shares.tolist(), strict=True)
    how = "share of the rows that are in such classes"
    each = (
        Finding("class sizes", share, how, "release", part=f"{band} %", unit="%", counts_rows=True)
        for band, share in bands
    )
    return (first, *each)


@measure("rows by risk", formula="number of rows by prosecutor risk", better="neither", need="release", cost=COST)
def risk_bands(case: Case) -> tuple[Finding, ...]:
    """Count the rows at the highest risk, and in each band of prosecutor risk.

    Formula: rows with 1/size(E) in each band. Range: 0 to n. Need: the release.
    """
    if not case.n:
        return ()
    least = int(case.sizes.min())
    highest = float(case.sizes[case.sizes == least].sum())
    how = Sentence("rows at the highest risk, 1/{least}, of {n}", least=least, n=case.n)
    found = [Finding("rows by risk", highest, how, "release", counts_rows=True)]
    of = Sentence("of {n} rows", n=case.n)
    for band, rows in zip(RISKS, band_rows(case.sizes).tolist(), strict=True):
        found.append(Finding("rows by risk", float(rows), of, "release", part=band, counts_rows=True))
    return tuple(found)


@measure(
    "risk without a column",
    formula="classes by all other quasi-identifiers / n",
    high=1,
    better="low",
    need="release",
    cost="d^2 n + d n log n",
)
def risks_without(case: Case) -> tuple[Finding, ...]:
    """Measure the mean prosecutor risk that is left without each quasi-identifier.

    Formula: the number of classes by all other columns, divided by n. Range: 1/n to the mean risk; low is good: a
    column without which little is left carries much. Need: the release.
    """
    if not case.n:
        return ()
    names, left = quasi_names(case.released, case.policy), without_each(distinct_rows(case))
    return tuple(
        of_risk(
            "risk without a column",
            count / case.n,
            Sentence("{count} of {classes} classes are left", count=count, classes=case.sizes.size),
            column=name,
        )
        for name, count in zip(names, left, strict=True)
    )


@measure(
    "contribution to risk",
    formula="mean over orders of what a column adds to classes / n when it comes to be known",
    high=1,
    better="low",
    need="release",
    cost="orders d n log n",
)
def column_contributions(case: Case) -> tuple[Finding, ...]:
    """Measure how much of the mean prosecutor risk each quasi-identifier carries.

    Formula: the Shapley value of classes / n; all add up to (classes - 1) / n. Range: 0 to 1; low is good. Exact for up
    to 6 columns, else a mean over random orders with a fixed seed. Need: the release.
    """
    if not case.n or not case.quasi:
        return ()
    value, orders = contributions(distinct_rows(case), case.n)
    by = Sentence("{orders} orders", orders=orders) if orders else "all orders"
    how = Sentence("of a mean risk of {mean:.4g}; {by}", mean=case.sizes.size / case.n, by=by)
    names = quasi_names(case.released, case.policy)
    return tuple(
        of_risk("contribution to risk", float(part), how, column=name) for name, part in zip(names, value, strict=True)
    )


def _findings(name: str, found: Risk, how: str) -> tuple[Finding, ...]:
    """Return the three figures of a risk."""
    return (
        of_risk(name, found.most, Sentence("the largest of all rows; {how}", how=how)),
        of_risk(name, found.mean, Sentence("over all rows; {how}", how=how), part="mean"),
        Finding(
            name,
            100 * found.above,
            Sentence("share of rows; {how}", how=how),
            "release",
            part=f"% of rows above {THRESHOLD:g}",
            unit="%",
            counts_rows=True,
        ),
    )


def _among(case: Case) -> tuple[NDArray[np.number], str] | None:
    """Return the people among whom each class is looked for, and how they were counted; None if nobody knows."""
    if not case.n:
        return None
    counts = counted(case)
    if counts is not None:
        few = int((counts < case.sizes).sum())
        tail = Sentence("; {few} classes are larger in the release, and counted there", few=few) if few else ""
        return np.maximum(counts, case.sizes), Sentence("classes counted in the population{tail}", tail=tail)
    fraction = given_fraction(case)
    if fraction is None:
        return None
    how = Sentence("no population: class sizes divided by the sampling fraction {fraction:g}", fraction=fraction)
    return case.sizes / fraction, how
