"""Fidelity: how well a release represents the table, column by column and in pairs of columns.

For columns that keep their type, by mean, median, mode or medoid: a range or a set is not a value that could be
counted.

1. **Rank error**: how far cells move in the ranking of their column, from 0 to 1, on average.
2. **Total variation** of all tables of one column, and of two: half the sum of the differences of shares. Columns of
   numbers or dates with more than 100 values are first cut into 20 bins of equal frequency.
3. **Invented combinations**: released rows whose combination of values no row of the table has.
4. **pMSE**: how well a classifier tells released rows from original ones, from 0 (not at all) to 1.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.model.findings import Finding
from shoal.model.seeds import for_sklearn
from shoal.model.sentences import Sentence
from shoal.privacy.measures.pairs import Codes, Pair
from shoal.privacy.verdict.classes import classes
from shoal.utility.boosting import boosted

MANY = 100  # values of a column that are distinguished
PARTS = 20
MOST_PAIRS = 1_000
MOST_ROWS = 50_000

Floats = NDArray[np.float64]
One = TypeVar("One")


def fidelity(columns: Sequence[Pair]) -> tuple[Finding, ...]:
    """Measure what is fast to measure: rank error, total variation and invented combinations."""
    return (*rank_errors(columns), *variations(columns), *inventions(columns))


def rank_errors(columns: Sequence[Pair]) -> tuple[Finding, ...]:
    """Measure how far cells move in the ranking of their column."""
    ordered = [column for column in _plain(columns) if column.ordered]
    if not ordered:
        return ()
    error = float(np.mean([rank_error(column) for column in ordered]))
    return (Finding("rank error %", 100 * error, "mean shift in rank within a column", "pair", unit="%"),)


def variations(columns: Sequence[Pair]) -> tuple[Finding, ...]:
    """Measure how far the tables of one column, and of two, are from the original ones."""
    cut = [_cut(column) for column in _plain(columns)]
    if not cut:
        return ()
    one = float(np.mean([total_variation([column]) for column in cut]))
    how = Sentence("mean over the frequency tables of one column")
    found = [Finding("1-way total variation %", 100 * one, how, "pair", unit="%")]
    some = sampled_pairs(cut)
    if some:
        both = float(np.mean([total_variation(pair) for pair in some]))
        how = Sentence("mean over the frequency tables of two columns")
        how += f", a sample of {MOST_PAIRS:,} of them" if len(some) < comb(len(cut), 2) else ""
        found.append(Finding("2-way total variation %", 100 * both, how, "pair", unit="%"))
    return tuple(found)


def sampled_pairs(columns: Sequence[One]) -> list[tuple[One, One]]:
    """Return all pairs of columns, or 1,000 of them at even intervals if there are more."""
    pairs = list(combinations(columns, 2))
    return pairs if len(pairs) <= MOST_PAIRS else [pairs[i * len(pairs) // MOST_PAIRS] for i in range(MOST_PAIRS)]


def inventions(columns: Sequence[Pair]) -> tuple[Finding, ...]:
    """Measure how many released rows have a combination that no original row has."""
    plain = _plain(columns)
    if not plain:
        return ()
    how = "rows with a combination of values that no original row has"
    return (Finding("invented combinations %", 100 * invented(plain), how, "pair", unit="%"),)


def _plain(columns: Sequence[Pair]) -> list[Pair]:
    """Return the columns that keep their type, if they have rows."""
    return [column for column in columns if not column.truthful and len(column.before)]


def rank_error(column: Pair) -> float:
    """Return how far cells of a column with an order move, as a share of all its ranks; 0 if none has a value."""
    before, after = column.numbers
    both = ~(np.isnan(before) | np.isnan(after))
    if not both.any():
        return 0.0
    known = np.sort(before[~np.isnan(before)])
    first, second = (_ranks(known, values[both]) for values in (before, after))
    return float(np.abs(first - second).mean())


def _ranks(known: Floats, values: Floats) -> Floats:
    """Return the mean rank of each value among sorted numbers, as a share of them."""
    distinct, place = np.unique(values, return_inverse=True)  # a search in order is ten times faster
    both = np.searchsorted(known, distinct, "left") + np.searchsorted(known, distinct, "right")
    return np.asarray((both / 2 / known.size)[place.reshape(-1)])


def total_variation(columns: Sequence[tuple[Codes, Codes]]) -> float:
    """Return half the sum of the differences between the shares of each combination, before and after."""
    n = len(columns[0][0])
    labels = classes((np.concatenate(column) for column in columns), 2 * n)
    size = int(labels.max()) + 1
    before, after = np.bincount(labels[:n], minlength=size), np.bincount(labels[n:], minlength=size)
    return float(np.abs(before - after).sum()) / 2 / n


def invented(columns: Sequence[Pair]) -> float:
    """Return the share of released rows whose combination of values no row of the table has."""
    n = len(columns[0].before)
    labels = classes((np.concatenate(column.codes) for column in columns), 2 * n)
    known = np.zeros(int(labels.max()) + 1, bool)
    known[labels[:n]] = True
    return float((~known[labels[n:]]).mean())


def pmse(columns: Sequence[Pair], seed: int = 0) -> Finding:
    """Measure how well a classifier tells released rows from original ones, cross-fitted in three parts.

    Columns of truthful forms are left out. Of more than 50,000 rows a random sample is taken.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    X, Y = features([column for column in columns if not column.truthful])
    how = Sentence("how well a classifier distinguishes released rows from original ones, 0 to 1, cross-fitted")
    if len(X) > MOST_ROWS:
        how += Sentence(", {rows} random rows of {n}", rows=MOST_ROWS, n=len(X))
        rows = np.sort(np.random.default_rng(seed).choice(len(X), MOST_ROWS, replace=False))
        X, Y = X[rows], Y[rows]
    labels = np.repeat([0, 1], len(X))
    folds = StratifiedKFold(3, shuffle=True, random_state=for_sklearn(seed))
    with boosted(len(labels), seed) as model:
        probability = cross_val_predict(model, np.vstack([X, Y]), labels, cv=folds, method="predict_proba")[:, 1]
    value = float(((probability - 0.5) ** 2).mean() / 0.25)
    return Finding("pMSE", value, how, "pair")


def features(columns: Sequence[Pair]) -> tuple[Floats, Floats]:
    """Return the columns as matrices before and after, NaN where a value is missing; categories as codes."""
    found: list[tuple[Floats, Floats]] = []
    for column in columns:
        if column.ordered:
            found.append(column.numbers)
        else:
            before, after = column.codes
            found.append((before.astype(float), after.astype(float)))
    return np.column_stack([pair[0] for pair in found]), np.column_stack([pair[1] for pair in found])


def _cut(column: Pair) -> tuple[Codes, Codes]:
    """Return the cells of a column as codes, in bins if there are very many values with an order."""
    if not column.ordered or column.distinct + (column.before.null_count > 0) <= MANY:
        return column.codes
    before, after = column.numbers
    known = before[~np.isnan(before)]
    limits = np.unique(np.quantile(known, np.arange(1, PARTS) / PARTS, method="lower"))
    # NaN is beyond every limit, and gets a separate bin.
    bins = [np.where(np.isnan(cells), PARTS, np.searchsorted(limits, cells, "left")) for cells in (before, after)]
    return bins[0].astype(np.int64), bins[1].astype(np.int64)
