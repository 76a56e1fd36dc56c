"""Classes, labels and fidelity as measures with cards: thin adaptors from a `Case`."""

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.privacy.measures.case import Case
from shoal.utility.fidelity import fidelity
from shoal.utility.honest_accuracy import honest_accuracy
from shoal.utility.labels import one_label
from shoal.utility.loss import class_sizes, kept_uniques

__all__ = [
    "accuracy",
    "class_count",
    "invented_combinations",
    "labels_disclosed",
    "rank_errors",
    "tables",
    "unchanged_uniques",
]

Found = tuple[Finding, ...]


@measure("classes", formula="number of classes", better="high", need="release", cost="n")
def class_count(case: Case) -> Found:
    """Count the classes of a release and their rows."""
    return class_sizes(case.released, case.policy) if case.n else ()


@measure(
    "rows unique in unchanged columns %",
    formula="100 x rows alone in sensitive and kept columns / n",
    high=100.0,
    better="low",
    need="release",
    cost="n log n",
    rank=6,
    words={
        "rows unique in unchanged columns %": "Rows that are unique in the unchanged columns, in per cent of all.",
    },
)
def unchanged_uniques(case: Case) -> Found:
    """Count the rows that are alone in what is published as it is."""
    return kept_uniques(case.released, case.policy) if case.n else ()


@measure(
    "classes of one label %",
    formula="100 x classes with one label / classes",
    high=100.0,
    better="low",
    need="release",
    cost="n log n",
    requires=("label",),
)
def labels_disclosed(case: Case) -> Found:
    """Count the classes that disclose the label of all their rows."""
    return one_label(case.released, case.policy) if case.n else ()


@measure(
    "rank error %",
    formula="100 x mean shift among the ranks of a column",
    high=100.0,
    better="low",
    need="pair",
    cost="n d log n",
    rank=17,
    words={
        "rank error %": "How far values move among the ranks of their column.",
    },
)
def rank_errors(case: Case) -> Found:
    """Measure how far cells move among the ranks of their column."""
    return _of_fidelity(case, "rank error %")


@measure(
    "1-way total variation %",
    formula="100 x half the sum of differences of shares, mean of all tables",
    high=100.0,
    better="low",
    need="pair",
    cost="n d^2",
    also=("2-way total variation %",),
    rank=16,
    words={
        "1-way total variation %": "How far the tables of single columns are from what they were.",
        "2-way total variation %": "The same of pairs of columns.",
    },
)
def tables(case: Case) -> Found:
    """Measure how far the tables of one column, and of two, are from what they were."""
    return _of_fidelity(case, "1-way total variation %", "2-way total variation %")


@measure(
    "invented combinations %",
    formula="100 x released rows whose combination no original row has / n",
    high=100.0,
    better="low",
    need="pair",
    cost="n d",
)
def invented_combinations(case: Case) -> Found:
    """Count the released rows whose combination of values no row of the table has."""
    return _of_fidelity(case, "invented combinations %")


@measure(
    "honest accuracy %",
    formula="100 x right answers of gradient boosting about original rows / n",
    high=100.0,
    better="high",
    need="pair",
    cost="six classifiers",
    chance=True,
    requires=("label",),
    rank=8,
    words={
        "honest accuracy %": "As honest separability, by gradient boosting.",
        "accuracy of the original %": "The same learned from original rows: what could be had at best.",
        "majority rate %": "Always saying the most frequent label.",
    },
)
def accuracy(case: Case) -> Found:
    """Measure how often gradient boosting that learned from released rows is right about original ones."""
    if case.policy.label is None:
        return ()
    # A classifier cannot look at a column without any value, and learns nothing from one that is published so.
    told = [one for one in case.columns if max(one.before.null_count, one.after.null_count) < case.n]
    return honest_accuracy(told, case.released.column(case.policy.label), case.seed)


def _of_fidelity(case: Case, *names: str) -> Found:
    """Return the findings of fidelity with these names."""
    return tuple(finding for finding in fidelity(case.columns) if finding.name in names)
