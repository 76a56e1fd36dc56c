"""Which columns carry the risk.

Two figures: the risk that is left without a column, and what a column adds on average over all orders in which columns
may become known (Shapley).
"""

from collections.abc import Sequence
from itertools import combinations
from math import factorial

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.sentences import Sentence
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.risk import of_risk
from shoal.privacy.verdict.classes import Labels
from shoal.privacy.verdict.values import quasi_names

Floats = NDArray[np.float64]
EXACT = 6  # columns up to which every subset is counted
WORK = 128_000_000  # rows that are sorted for contributions of more columns
MOST_ORDERS, LEAST_ORDERS = 512, 4
WIDEST = 1 << 62


def without_each(columns: Sequence[Labels]) -> list[int]:
    """Return the number of classes that are left without each column of codes; repeated rows may be left out."""
    if not columns:
        return []
    return _without(columns, np.zeros(columns[0].size, np.int64), 1)


def _without(columns: Sequence[Labels], key: Labels, bound: int) -> list[int]:
    """Return the number of combinations without each column, beside those of a key; each half is joined once."""
    if len(columns) == 1:
        return [_count(key)]
    half = len(columns) // 2
    found = []
    for mine, others in ((columns[:half], columns[half:]), (columns[half:], columns[:half])):
        joined, wide = key, bound
        for codes in others:
            joined, wide = _joined(joined, wide, codes)
        found += _without(mine, joined, wide)
    return found


def contributions(columns: Sequence[Labels], n: int, seed: int = 0) -> tuple[Floats, int]:
    """Return how much each column adds to the mean prosecutor risk, and over how many orders that is a mean.

    Formula: the Shapley value of v(S) = classes by the columns S / n, with v(no column) = 1/n. All add up to (classes -
    1) / n. Range: 0 to 1; low is good. Exact for up to 6 columns, where the number of orders returned is 0; otherwise
    over random orders and their rotations, as many as the number of rows allows. `columns` are as in `without_each`,
    and `n` counts all rows of the release.
    """
    d = len(columns)
    if d <= EXACT:
        return _exact(columns) / n, 0
    rows = columns[0].size
    orders = max(LEAST_ORDERS, min(MOST_ORDERS, WORK // (rows * d)))
    rng, total = np.random.default_rng(seed), np.zeros(d)
    order, whole = np.arange(d), _distinct(columns)
    for turn in range(orders):
        # The rotations of an order put every column in every place, which matters most for what it adds.
        order = np.roll(order, 1) if turn % d else rng.permutation(d)
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
    value, key, bound, before = np.zeros(len(columns)), np.zeros(columns[0].size, np.int64), 1, 1
    for j in order:
        key, bound = _joined(key, bound, columns[j])
        count = _count(key)
        value[j], before = count - before, count
        if count == whole:
            break
    return value


def _distinct(columns: Sequence[Labels]) -> int:
    """Return the number of combinations of values; 1 without columns."""
    if not columns:
        return 1
    key, bound = columns[0], int(columns[0].max()) + 1
    for codes in columns[1:]:
        key, bound = _joined(key, bound, codes)
    return _count(key)


def _joined(key: Labels, bound: int, codes: Labels) -> tuple[Labels, int]:
    """Return one number for each combination of two, and a bound above all of them."""
    width = int(codes.max()) + 1
    if bound * width > WIDEST:
        key = np.unique(key, return_inverse=True)[1].reshape(-1).astype(np.int64)
        bound = int(key.max()) + 1
    return key * width + codes, bound * width


def _count(key: Labels) -> int:
    """Return the number of distinct numbers."""
    ordered = np.sort(key)
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))


@measure(
    "risk without a column",
    formula="number of classes by all other quasi-identifiers / n",
    high=1,
    better="low",
    need="release",
    cost="d^2 n + d n log n",
    by_column=True,
)
def risks_without(case: Case) -> tuple[Finding, ...]:
    """Measure the mean prosecutor risk that would remain without each quasi-identifier."""
    if not case.n:
        return ()
    names, left = quasi_names(case.released, case.policy), without_each(distinct_rows(case))
    return tuple(
        of_risk(
            "risk without a column",
            count / case.n,
            Sentence("{count} of {classes} classes remain", count=count, classes=case.sizes.size),
            column=name,
        )
        for name, count in zip(names, left, strict=True)
    )


@measure(
    "contribution to risk",
    formula="Shapley value: mean over orders of the columns of the increase in classes / n by this one",
    high=1,
    better="low",
    need="release",
    cost="orders d n log n",
    by_column=True,
)
def column_contributions(case: Case) -> tuple[Finding, ...]:
    """Measure how much each quasi-identifier contributes to the mean prosecutor risk."""
    if not case.n or not case.quasi:
        return ()
    value, orders = contributions(distinct_rows(case), case.n)
    by = Sentence("over {orders} orders of the columns", orders=orders) if orders else "over all orders of the columns"
    how = Sentence("part of the mean risk, {mean:.4g}; {by}", mean=case.sizes.size / case.n, by=by)
    names = quasi_names(case.released, case.policy)
    return tuple(
        of_risk("contribution to risk", float(part), how, column=name) for name, part in zip(names, value, strict=True)
    )
