"""Classes, labels and fidelity as measures with cards: thin adaptors from a `Case`."""

import numpy as np

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.privacy.attacks.unchanged import exposed_by
from shoal.privacy.measures.case import Case
from shoal.utility import fidelity
from shoal.utility.honest_accuracy import honest_accuracy

Found = tuple[Finding, ...]


@measure(
    "classes",
    formula="number of classes",
    better="high",
    need="release",
    cost="n",
    also=("smallest class", "mean class", "largest class"),
    rank=4,
    about="classes",
    always=True,
)
def class_count(case: Case) -> Found:
    """Count the classes of a release and their rows."""
    if not case.n:
        return ()
    sizes = case.sizes
    each = {"smallest class": sizes.min(), "mean class": sizes.mean(), "largest class": sizes.max()}
    return (
        Finding(
            "classes",
            float(sizes.size),
            "sets of rows that agree in all quasi-identifiers",
            "release",
            counts_rows=False,
        ),
        *(Finding(name, float(value), "rows", "release", counts_rows=False) for name, value in each.items()),
    )


@measure(
    "rows unique in unchanged columns %",
    formula="100 x rows unique in the sensitive and kept columns / n",
    high=100.0,
    better="low",
    need="release",
    cost="n log n",
    rank=6,
    words={
        "rows unique in unchanged columns %": "Rows that are unique in the unchanged columns, as a percentage.",
    },
    always=True,
)
def unchanged_uniques(case: Case) -> Found:
    """Count the rows that are unique in what is published unchanged."""
    found = exposed_by(case)
    if not case.n or not found.columns:
        return ()
    name, how = "rows unique in unchanged columns %", "sensitive and kept columns together"
    return (Finding(name, 100 * found.alone / case.n, how, "release", unit="%", counts_rows=True),)


@measure(
    "classes of one label %",
    formula="100 x classes with one label / classes",
    high=100.0,
    better="low",
    need="release",
    cost="n log n",
    requires=("label",),
    rank=4,
    always=True,
)
def labels_disclosed(case: Case) -> Found:
    """Count the classes that disclose the label of all their rows."""
    if case.label is None or not case.n:
        return ()
    width = int(case.label.max()) + 1
    pairs = np.unique(case.labels * width + case.label) // width
    share = float((np.bincount(pairs) == 1).mean() * 100)
    return (Finding("classes of one label %", share, "they disclose the label of their rows", "release", unit="%"),)


@measure(
    "rank error %",
    formula="100 x mean over cells of |rank - rank'| / number of cells in the column",
    high=100.0,
    better="low",
    need="pair",
    cost="n d log n",
    rank=17,
    words={
        "rank error %": "How far values move in the rank order of their column, on average.",
    },
    always=True,
)
def rank_errors(case: Case) -> Found:
    """Measure how far cells move in the ranking of their column."""
    return fidelity.rank_errors(case.columns)


@measure(
    "1-way total variation %",
    formula="100 x mean over frequency tables of half the sum of |share - share'|",
    high=100.0,
    better="low",
    need="pair",
    cost="n d^2",
    also=("2-way total variation %",),
    rank=16,
    words={
        "1-way total variation %": "How far the distributions of single columns are from the original ones.",
        "2-way total variation %": "The same for pairs of columns.",
    },
    always=True,
)
def tables(case: Case) -> Found:
    """Measure how far the frequency tables of one column, and of two, are from the original ones."""
    return fidelity.variations(case.columns)


@measure(
    "invented combinations %",
    formula="100 x released rows whose combination no original row has / n",
    high=100.0,
    better="low",
    need="pair",
    cost="n d",
    rank=18,
    always=True,
)
def invented_combinations(case: Case) -> Found:
    """Count the released rows whose combination of values no row of the table has."""
    return fidelity.inventions(case.columns)


@measure(
    "honest accuracy %",
    formula="100 x correct predictions of gradient boosting for original held-out rows / n",
    high=100.0,
    better="high",
    need="pair",
    cost="six classifiers",
    chance=True,
    requires=("label",),
    rank=8,
    words={
        "honest accuracy %": "Like honest separability, by gradient boosting.",
        "accuracy of the original %": "The same trained on original rows: the best that could be achieved.",
        "majority rate %": "Always predicting the most frequent label.",
    },
)
def accuracy(case: Case) -> Found:
    """Measure how often gradient boosting trained on released rows is right about original held-out rows."""
    if case.policy.label is None:
        return ()
    # A classifier cannot use a column without any value, and learns nothing from one that is published so.
    present = [one for one in case.columns if max(one.before.null_count, one.after.null_count) < case.n]
    return honest_accuracy(present, case.released.column(case.policy.label), case.seed)
