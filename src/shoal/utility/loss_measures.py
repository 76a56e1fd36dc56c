"""Information loss as measures with cards: thin adaptors from a `Case` to the other modules of this package."""

from math import comb

import numpy as np

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.sentences import Rows, Sentence
from shoal.prepare.encode import matrix_columns, row_weights
from shoal.privacy.measures.case import Case, once_per_case
from shoal.privacy.measures.pairs import Pair
from shoal.utility import distortion, moments
from shoal.utility.cell_loss import cell_losses
from shoal.utility.fidelity import pmse, sampled_pairs, total_variation
from shoal.utility.loss import partition_loss, rounding_loss

Found = tuple[Finding, ...]
FEW = 6  # rows below which three folds of a classifier mean nothing


@measure(
    "information loss %",
    formula="100 SSE / SST on the encoded columns",
    high=100.0,
    better="low",
    need="groups",
    cost="n d",
    also=("partition SSE", "partition SST"),
    rank=15,
    words={
        "information loss %": "The share of the variance that is within groups and therefore lost, in per cent.",
    },
    always=True,
)
def information_loss(case: Case) -> Found:
    """Measure the squared distances of rows to the means of their groups, as a share of those to the overall mean."""
    if not case.before.n:
        return ()
    columns = matrix_columns(case.before, case.policy) if case.matrix is None else case.matrix.T
    groups = Partition.of(case.labels if case.groups is None else case.groups)
    within, whole, loss = partition_loss(columns, groups, row_weights(case.before, case.policy)[0])
    return loss, within, whole


@measure(
    "loss by rounding %",
    formula="100 (SSE with rounded means / SSE - 1)",
    better="low",
    need="groups",
    cost="n d",
    rank=15,
    always=True,
)
def loss_by_rounding(case: Case) -> Found:
    """Measure how much SSE rises because means are rounded to their step."""
    rise = rounding_loss(case.columns, case.labels if case.groups is None else case.groups)
    how = "rise of SSE because means are rounded to their step"
    return () if rise is None else (Finding("loss by rounding %", rise, how, "groups", unit="%", counts_rows=False),)


@measure(
    "cell loss %",
    formula="100 x mean over cells of width / range, or (categories - 1) / (all categories - 1)",
    high=100.0,
    better="low",
    need="pair",
    cost="n d",
    also=("class loss %", "cell loss % as in ARX"),
    rank=14,
    words={
        "cell loss %": "How imprecise a cell is on average, from 0 (exact) to 100 (any value of its column).",
        "class loss %": "How wide the ranges and sets of classes are on average, as a percentage of the whole column.",
    },
    always=True,
)
def cell_loss(case: Case) -> Found:
    """Measure how imprecise published cells are, from an exact value to any value of the column."""
    return cell_losses(case.columns)


@measure(
    "minimal distortion",
    formula="number of cells changed",
    better="low",
    need="pair",
    cost="n d",
    rank=18,
    counts_changes=True,
    words={"cells changed %": "Changed cells, as a percentage of all cells of quasi-identifiers."},
)
def minimal_distortion(case: Case) -> Found:
    """Count the changed cells of quasi-identifiers."""
    cells = case.n * len(case.columns)
    if not cells:
        return ()
    return (
        Finding(
            "minimal distortion",
            float(_changed(case)),
            Sentence("of {cells:,} cells of quasi-identifiers", cells=cells),
            "pair",
            counts_rows=True,
            whole=cells,
        ),
    )


@measure(
    "cells changed %",
    formula="100 x cells changed / cells",
    high=100.0,
    better="low",
    need="pair",
    cost="n d",
    rank=18,
    always=True,
    counts_changes=True,
)
def changed_cells(case: Case) -> Found:
    """Measure the share of changed cells of quasi-identifiers."""
    cells = case.n * len(case.columns)
    if not cells:
        return ()
    return (Finding("cells changed %", 100 * _changed(case) / cells, "of the quasi-identifiers", "pair", unit="%"),)


@measure(
    "taxonomy information loss",
    formula="sum of size(E) (sum of range(E)/range + sum of height(common ancestor)/height)",
    better="low",
    need="pair",
    cost="n d",
)
def taxonomy_loss(case: Case) -> Found:
    """Measure how far apart the values in a class are: by range, by tree, or by number of categories."""
    columns = case.columns
    if not case.n or not columns:
        return ()
    total = distortion.taxonomy_loss(columns, case.labels, case.trees)
    how = Sentence("summed over {n:,} rows and {d} columns", n=case.n, d=len(columns))
    share = 100 * total / (case.n * len(columns))
    return (
        Finding("taxonomy information loss", total, how, "pair"),
        Finding("taxonomy information loss %", share, "of rows x columns", "pair", unit="%"),
    )


@measure(
    "discernibility",
    formula="sum over classes of size(E)^2, or of n size(E) if size(E) < k",
    better="low",
    need="release",
    cost="n",
)
def discernibility(case: Case) -> Found:
    """Add up, over all rows, the size of the class, or the number of all rows if the class has fewer than k."""
    if not case.n:
        return ()
    k = case.policy.constraints.k
    small = int(case.sizes[case.sizes < k].sum())
    how = Sentence("sum of squared class sizes; {small:,} rows in classes below k count n each", small=Rows(small))
    return (Finding("discernibility", distortion.discernibility(case.sizes, k), how, "release"),)


@measure(
    "normalised average class size",
    formula="n / (classes k)",
    better="low",
    need="release",
    cost="n",
    about="classes",
)
def average_class_size(case: Case) -> Found:
    """Measure how large classes are on average, in multiples of k."""
    if not case.n:
        return ()
    value = distortion.average_size(case.sizes, case.policy.constraints.k)
    return (Finding("normalised average class size", value, "mean class size as a multiple of k", "release"),)


@measure(
    "classification metric",
    formula="share of rows in classes of fewer than k rows, or without the most frequent label of their class",
    high=1.0,
    better="low",
    need="release",
    cost="n log n",
    requires=("label",),
)
def classification_metric(case: Case) -> Found:
    """Measure how many rows do not have the most frequent label of their class."""
    if case.label is None or not case.n:
        return ()
    value = distortion.classification_metric(case.labels, case.label, case.policy.constraints.k)
    how = "share of rows without the most frequent label of their class"
    return (Finding("classification metric", value, how, "release", counts_rows=True, share=True),)


@measure(
    "trade-off score",
    formula="InfoGain / (AnonymLoss + 1), of entropies in bits",
    high=1.0,
    better="high",
    need="release",
    cost="n log n",
    requires=("label",),
)
def trade_off(case: Case) -> Found:
    """Measure what classes reveal about the label against what they reveal about identity."""
    if case.label is None or not case.n:
        return ()
    value, gain, lost = distortion.trade_off(case.labels, case.label)
    return (
        Finding("trade-off score", value, Sentence("InfoGain / (AnonymLoss + 1)"), "release"),
        Finding("information gain", gain, "bits that classes reveal about the label", "release"),
        Finding("anonymity loss", lost, "bits that classes reveal about identity", "release"),
    )


@once_per_case
def numeric_columns(case: Case) -> moments.Numbers | None:
    """Return the numeric columns before and after, with the moments computed from them so far."""
    return moments.numbers_of(case.columns)


def _compared(case: Case, of: str) -> Found:
    """Compare moments of numeric columns before and after."""
    numbers = numeric_columns(case)
    found = None if numbers is None else moments.errors(numbers, of)
    if numbers is None or found is None:
        return ()
    how = Sentence(
        "of {of}, columns scaled by their original standard deviations{left_out}", of=of, left_out=numbers.left_out
    )
    absolute = Sentence("mean absolute difference {how}", how=how)
    more: Found = (Finding(f"MAE of {of}", found.mae, absolute, "pair"),)
    if found.variation is not None:
        more += (Finding(f"mean variation of {of}", found.variation, "|after - before| / |before|, mean", "pair"),)
    squared = Sentence("mean squared difference {how}", how=how)
    return (Finding(f"MSE of {of}", found.mse, squared, "pair"), *more)


@measure("MSE of values", formula="mean of (after - before)^2 of values", better="low", need="pair", cost="n d^2")
def of_values(case: Case) -> Found:
    """Measure how far values of numeric columns are from the original ones."""
    return _compared(case, "values")


@measure("MSE of means", formula="mean of (after - before)^2 of means", better="low", need="pair", cost="n d^2")
def of_means(case: Case) -> Found:
    """Measure how far means of numeric columns are from the original ones."""
    return _compared(case, "means")


@measure(
    "MSE of covariances", formula="mean of (after - before)^2 of covariances", better="low", need="pair", cost="n d^2"
)
def of_covariances(case: Case) -> Found:
    """Measure how far covariances of numeric columns are from the original ones."""
    return _compared(case, "covariances")


@measure(
    "MSE of correlations", formula="mean of (after - before)^2 of correlations", better="low", need="pair", cost="n d^2"
)
def of_correlations(case: Case) -> Found:
    """Measure how far correlations of numeric columns are from the original ones."""
    return _compared(case, "correlations")


@measure("MSE of loadings", formula="mean of (after - before)^2 of loadings", better="low", need="pair", cost="n d^2")
def of_loadings(case: Case) -> Found:
    """Measure how far loadings of numeric columns are from the original ones."""
    return _compared(case, "loadings")


@measure("MSE of scores", formula="mean of (after - before)^2 of scores", better="low", need="pair", cost="n d^2")
def of_scores(case: Case) -> Found:
    """Measure how far scores of numeric columns are from the original ones."""
    return _compared(case, "scores")


@measure("IL1s", formula="mean of |x - x'| / (sqrt(2) standard deviation)", better="low", need="pair", cost="n d")
def il1s(case: Case) -> Found:
    """Measure how far numbers move, in standard deviations of their columns."""
    numbers = numeric_columns(case)
    if numbers is None:
        return ()
    how = Sentence("mean of |x - x'| / (√2 s){left_out}", left_out=numbers.left_out)
    return (Finding("IL1s", moments.il1s(numbers), how, "pair"),)


@measure(
    "eigenvalue difference",
    formula="sum of |eigenvalue - eigenvalue'| / sum of eigenvalues",
    better="low",
    need="pair",
    cost="n d^2 + d^3",
)
def eigenvalues(case: Case) -> Found:
    """Measure how far the variances along the principal axes are from the original ones."""
    numbers = numeric_columns(case)
    if numbers is None:
        return ()
    how = Sentence("of covariance matrices, as a share of the variance{left_out}", left_out=numbers.left_out)
    return (Finding("eigenvalue difference", moments.eigenvalue_difference(numbers), how, "pair"),)


@measure(
    "contingency distance %",
    formula="100 x mean total variation of all tables of one and of two nominal columns",
    high=100.0,
    better="low",
    need="pair",
    cost="n d^2",
)
def contingency_distance(case: Case) -> Found:
    """Measure how far the tables of one and of two nominal columns are from the original ones."""
    names = [column for column in case.columns if _named(column)]
    if not names or not case.n:
        return ()
    some = sampled_pairs(names)
    each = [total_variation([column.codes]) for column in names]
    each += [total_variation([first.codes, second.codes]) for first, second in some]
    how = Sentence(
        "total variation, mean of {one} tables of one column and {two} of two{sample}",
        one=len(names),
        two=len(some),
        sample=", a sample" if len(some) < comb(len(names), 2) else "",
    )
    return (
        Finding("contingency distance %", 100 * float(np.mean(each)), how, "pair", unit="%"),
        Finding("largest contingency distance %", 100 * max(each), "of the same tables", "pair", unit="%"),
    )


@measure(
    "entropy loss",
    formula="H(X | X') in bits, per nominal column",
    better="low",
    need="pair",
    cost="n log n",
    by_column=True,
)
def entropy_loss(case: Case) -> Found:
    """Measure the conditional entropy of each nominal column, given its published values."""
    return tuple(
        Finding(
            "entropy loss",
            distortion.entropy_loss(column.before, column.after),
            "H(X | X'), bits",
            "pair",
            column=column.name,
        )
        for column in case.columns
        if not column.ordered and len(column.before)
    )


@measure(
    "pMSE",
    formula="mean of (p - 1/2)^2 x 4, p from a classifier of released against original rows",
    high=1.0,
    better="low",
    need="pair",
    cost="three classifiers",
    chance=True,
    rank=12,
    words={
        "pMSE": "How well a classifier tells released rows from original ones; 0 means not at all.",
    },
)
def propensity(case: Case) -> Found:
    """Measure how well a classifier tells released rows from original ones."""
    # A classifier cannot use a column without any value.
    plain = [column for column in case.columns if not column.truthful and not _empty(column)]
    return (pmse(plain, case.seed),) if plain and case.n >= FEW else ()


@once_per_case
def _changed(case: Case) -> int:
    """Return the number of changed cells of quasi-identifiers."""
    return distortion.cells_changed(case.columns)


def _named(column: Pair) -> bool:
    """Say whether a column has categories that can be counted."""
    return not column.ordered and not column.truthful


def _empty(column: Pair) -> bool:
    """Say whether a column has a value neither before nor after."""
    return bool(column.before.null_count == len(column.before) and column.after.null_count == len(column.after))
