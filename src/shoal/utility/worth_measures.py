"""Utility as measures with cards: thin adaptors from a `Case` to the other modules of this package.

Those of information loss are in `loss_measures`, those of single classes and cells in `fidelity_measures`.
"""

import numpy as np

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.case import Case, once_per_case
from shoal.utility import structure, validity
from shoal.utility.loss_measures import numeric_columns
from shoal.utility.separability import Accuracy, Separability, separability

ALPHA = 0.5

Found = tuple[Finding, ...]


@measure(
    "honest separability %",
    formula="100 x correct predictions of a decision tree for original held-out rows / n",
    high=100.0,
    better="high",
    need="pair",
    cost="20 trees per repetition",
    chance=True,
    requires=("label",),
    bounded=True,
    rank=7,
    words={
        "honest separability %": (
            "Correct predictions, in per cent, of a decision tree trained on the release and tested on original rows. "
            "This is what an analyst gets."
        ),
        "separability as published %": (
            "The same, but tested on released rows, as in many papers: usually too high, as rows of a class are alike."
        ),
        "separability of random numbers %": (
            "The same if every class had random numbers as values: what class membership alone gives."
        ),
    },
)
def separable(case: Case) -> Found:
    """Measure how often a decision tree trained on released rows is right about original held-out rows."""
    found = _separability(case)
    if found is None:
        return ()
    unseen = Sentence("{unseen:,} answers on classes not learned from", unseen=Rows(found.unseen))
    seen = unseen if found.unseen else "equal: published values make no difference"
    seen = Sentence("the same for random numbers in each class; {seen}", seen=seen)
    return (
        _share("honest separability %", found.honest, Sentence("tested on original rows; {how}", how=found.how)),
        _share("separability as published %", found.published, "tested on released rows: it sees classes, not values"),
        _share("separability of random numbers %", found.control, seen),
        _share("majority rate %", found.majority, "the most frequent label alone"),
    )


@measure(
    "structural utility",
    formula="median over columns of 1 - W1 / range",
    high=1.0,
    better="high",
    need="pair",
    cost="n d log n",
    rank=10,
    words={
        "structural utility": (
            "How well the distributions of columns are preserved; 1 means perfectly. The median over columns."
        ),
    },
)
def structural(case: Case) -> Found:
    """Measure how well the distribution of each column is preserved, and the median of all."""
    return _structural(_kept(case), "range", "structural utility")


@measure(
    "structural utility by deviation",
    formula="median over columns of 1 - W1 / standard deviation",
    high=1.0,
    better="high",
    need="pair",
    cost="n d log n",
)
def structural_by_deviation(case: Case) -> Found:
    """Measure structural utility in standard deviations, which separates good releases from better ones."""
    kept = structure.structural_utility(case.columns, "deviation")
    return _structural(kept, "deviation", "structural utility by deviation")


@measure(
    "joint utility",
    formula="1 - mean of |r - r'| / 2 over pairs of numeric columns",
    high=1.0,
    better="high",
    need="pair",
    cost="n d^2",
    rank=11,
    words={
        "joint utility": "How well correlations of numeric columns are preserved; 1 means perfectly.",
    },
)
def joint(case: Case) -> Found:
    """Measure how well the correlations of numeric columns are preserved."""
    numbers = numeric_columns(case)
    value = None if numbers is None else structure.joint_utility(numbers)
    if numbers is None or value is None:
        return ()
    how = Sentence("1 - mean of |r - r'| / 2{left_out}", left_out=numbers.left_out)
    return (Finding("joint utility", value, how, "pair"),)


@measure(
    "combined utility",
    formula="alpha separability + (1 - alpha) structural utility, alpha = 1/2",
    high=1.0,
    better="high",
    need="pair",
    cost="as separability",
    chance=True,
    requires=("label",),
    rank=9,
    words={
        "combined utility": "Half honest separability, half structural utility.",
        "combined utility as published": "The same with separability as published.",
    },
)
def combined(case: Case) -> Found:
    """Combine honest separability and structural utility, and give the same with separability as published."""
    found, kept = _separability(case), _kept(case)
    if found is None or not kept:
        return ()
    middle = float(np.median(list(kept.values())))
    honest, as_published = (
        structure.combined_utility(one.share, middle, ALPHA) for one in (found.honest, found.published)
    )
    return (
        Finding("combined utility", honest, Sentence("alpha = {a:g}, honest separability", a=ALPHA), "pair"),
        Finding(
            "combined utility as published",
            as_published,
            Sentence("alpha = {a:g}, separability as published", a=ALPHA),
            "pair",
        ),
    )


@measure(
    "Davies-Bouldin index",
    formula="mean over classes of max (s_i + s_j) / d_ij",
    better="low",
    need="groups",
    cost="n d + classes^2 d",
    chance=True,
)
def davies_bouldin(case: Case) -> Found:
    """Measure the spread within classes relative to the distance between them, on the original columns."""
    found = validity.davies_bouldin(validity.standardized(case.columns), case.labels, case.seed)
    if found is None:
        return ()
    sampled = Sentence(", a random sample of {classes} against all", classes=found.of)
    how = Sentence("classes as clusters{some}", some=sampled if found.interval else "")
    return (Finding("Davies-Bouldin index", found.value, how, "groups", found.interval),)


@measure(
    "silhouette",
    formula="mean of (b - a) / max(a, b)",
    low=-1.0,
    high=1.0,
    better="high",
    need="groups",
    cost="n^2 d; a sample above 20,000 rows",
    chance=True,
)
def silhouette(case: Case) -> Found:
    """Measure how much nearer rows are to their own class than to the next, on the original columns."""
    found = validity.silhouette(validity.standardized(case.columns), case.labels, case.seed)
    if found is None:
        return ()
    sampled = Sentence(" of {rows:,} random rows against all {n:,}", rows=Rows(found.of), n=case.n)
    how = Sentence("classes as clusters{some}", some=sampled if found.interval else "")
    return (Finding("silhouette", found.value, how, "groups", found.interval),)


@measure(
    "Calinski-Harabasz index",
    formula="(SSB / (classes - 1)) / (SSE / (n - classes))",
    better="high",
    need="groups",
    cost="n d",
)
def calinski_harabasz(case: Case) -> Found:
    """Measure the variance between classes relative to that within them, on the original columns."""
    value = validity.calinski_harabasz(validity.standardized_columns(case.columns), case.labels)
    return () if value is None else (Finding("Calinski-Harabasz index", value, "classes as clusters", "groups"),)


@measure(
    "query error %",
    formula="100 x median of |count - count'| / max(count, n/100) of random queries",
    better="low",
    need="pair",
    cost="1,000 n",
    chance=True,
    rank=13,
    words={
        "query error %": (
            "How far counts in the release are from those in the original table, for random queries; the median."
        ),
    },
)
def queries(case: Case) -> Found:
    """Measure how far counts of random queries on the release are from those on the table."""
    errors = structure.query_errors(case.columns, case.seed)
    if not errors.size:
        return ()
    how = Sentence(
        "median over {many:,} counting queries on 1 to 3 columns, each matched by 1 to 20% of the rows",
        many=errors.size,
    )
    return (Finding("query error %", 100 * float(np.median(errors)), how, "pair", unit="%", counts_rows=False),)


@once_per_case
def _separability(case: Case) -> Separability | None:
    """Return what trees get right, if the policy names a label."""
    return None if case.label is None else separability(case.columns, case.label, seed=case.seed)


@once_per_case
def _kept(case: Case) -> dict[str, float]:
    """Return the structural utility of each column, by its range."""
    return structure.structural_utility(case.columns)


def _structural(kept: dict[str, float], by: structure.By, name: str) -> Found:
    """Return the median over columns, and each column."""
    if not kept:
        return ()
    middle = float(np.median(list(kept.values())))
    how, of_all = Sentence("1 - W1 / {by}", by=by), Sentence("median of {many} columns", many=len(kept))
    each = (Finding(name, value, how, "pair", column=column) for column, value in kept.items())
    return (Finding(name, middle, of_all, "pair"), *each)


def _share(name: str, found: Accuracy, how: str) -> Finding:
    """Return a share in per cent."""
    low, high = found.interval
    return Finding(name, 100 * found.share, how, "pair", (100 * low, 100 * high), unit="%")
