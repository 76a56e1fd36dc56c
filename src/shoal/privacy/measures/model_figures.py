"""The privacy models as measures: what a release achieves in each, whatever the policy asks.

The judge says whether a figure is good enough; here is the figure alone. Each is counted on the release, for its worst
class. If several columns are sensitive, the worst of them comes first, and then each of them.
"""

import math
from collections.abc import Callable

import numpy as np

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.sentences import Sentence
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict import models
from shoal.privacy.verdict.classes import Counts, Figures

__all__ = [
    "alpha_k_anonymity",
    "basic_beta_likeness",
    "delta_disclosure",
    "distinct_diversity",
    "enhanced_beta_likeness",
    "entropy_diversity",
    "k_anonymity",
    "lacking_classes",
    "recursive_diversity",
    "t_closeness",
]

USUAL_L = 2  # the l of recursive diversity, if the policy asks for none
COST = "n log n"


@measure("k-anonymity", formula="min over classes E of size(E)", low=1, better="high", need="release", cost=COST)
def k_anonymity(case: Case) -> tuple[Finding, ...]:
    """Count the rows of the smallest class.

    Formula: k = min over E of size(E). Range: 1 to n; high is good. Need: the release. No finding without rows.
    """
    if not case.n:
        return ()
    least = int(case.sizes.min())
    how = Sentence(
        "rows of the smallest class; {few} of {classes} classes are so small",
        few=int((case.sizes == least).sum()),
        classes=case.sizes.size,
    )
    return (Finding("k-anonymity", float(least), how, "release", counts_rows=False),)


@measure(
    "(alpha,k)-anonymity",
    formula="alpha = max over classes E, values s of P_E(s)",
    high=1,
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def alpha_k_anonymity(case: Case) -> tuple[Finding, ...]:
    """Measure the largest share of a sensitive value in a class.

    Formula: alpha = max over E, s of P_E(s). Range: above 0, up to 1; low is good. Need: the release.
    """

    def how(counts: Counts, _: Figures) -> str:
        return Sentence("the largest share of a value in a class; with k = {k}", k=int(counts.sizes.min()))

    return _worst(case, "(alpha,k)-anonymity", models.alpha, how)


@measure(
    "distinct l-diversity",
    formula="min over classes E of the number of values in E",
    low=1,
    better="high",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def distinct_diversity(case: Case) -> tuple[Finding, ...]:
    """Count the sensitive values of the class with the fewest.

    Formula: l = min over E of the number of distinct values in E. Range: 1 up; high is good. Need: the release. Missing
    counts as a value.
    """
    return _worst(case, "distinct l-diversity", models.distinct, _of("values of the class with the fewest"), high=True)


@measure(
    "entropy l-diversity",
    formula="min over classes E of exp(H(P_E))",
    low=1,
    better="high",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def entropy_diversity(case: Case) -> tuple[Finding, ...]:
    """Measure the effective number of equally frequent sensitive values in the least diverse class.

    Formula: l = min over E of exp(-sum P_E ln P_E). Range: 1 to the distinct l; high is good. Need: the release.
    """
    return _worst(case, "entropy l-diversity", models.entropy, _of("exp of the least entropy of a class"), high=True)


@measure(
    "recursive (c,l)-diversity",
    formula="c = max over classes E of r_1 / (r_l + r_l+1 + ...), r the counts in E, largest first",
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def recursive_diversity(case: Case) -> tuple[Finding, ...]:
    """Measure above which c every class is (c,l)-diverse, with the l of the policy, or 2.

    Formula: c = max over E of r_1 / (r_l + r_l+1 + ...). Range: above 0; low is good. Need: the release. It is infinite
    if a class has fewer than l values, and the finding says so.
    """
    asked = math.ceil(case.policy.constraints.l or USUAL_L)

    def how(_: Counts, figures: Figures) -> str:
        few = int(np.isinf(figures).sum())
        lacking = Sentence("; infinite, as {few} of {all} classes have fewer values", few=few, all=figures.size)
        tail = lacking if few else ""
        return Sentence("every class is (c,l)-diverse for any c above it, l = {l}{tail}", l=asked, tail=tail)

    return _worst(case, "recursive (c,l)-diversity", lambda counts: models.recursive(counts, asked), how)


@measure(
    "t-closeness",
    formula="max over classes E of the earth mover's distance of P_E from P",
    high=1,
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def t_closeness(case: Case) -> tuple[Finding, ...]:
    """Measure how far the sensitive values of a class are from those of the whole release.

    Formula: t = max over E of EMD(P_E, P), by ordered distance for numbers, dates and levels, along the tree for a
    column that has one, and by equal distance for categories. Range: 0 to 1; low is good. Need: the release.
    """

    def how(counts: Counts, _: Figures) -> str:
        if counts.base.size < 2:
            return Sentence("0, as the column has one value only")
        if counts.column.tree is not None:
            return "earth mover's distance along the tree"
        return f"earth mover's distance, {'ordered' if counts.column.ordered else 'equal'}"

    return _worst(case, "t-closeness", models.closeness, how)


@measure(
    "basic beta-likeness",
    formula="max over classes E, values s of (P_E(s) - P(s)) / P(s)",
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def basic_beta_likeness(case: Case) -> tuple[Finding, ...]:
    """Measure by how much a sensitive value is more frequent in a class than in the release.

    Formula: beta = max over E, s with P_E(s) > P(s) of (P_E(s) - P(s)) / P(s); 0 if no share rises. Range: 0 up; low is
    good. Need: the release.
    """
    return _worst(case, "basic beta-likeness", models.likeness, _of("the largest relative rise of a share"))


@measure(
    "enhanced beta-likeness",
    formula="max over classes E, values s of min((P_E(s) - P(s)) / P(s), -ln P(s))",
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def enhanced_beta_likeness(case: Case) -> tuple[Finding, ...]:
    """Measure the rise of a share as basic beta-likeness does, each bounded by -ln P(s).

    Formula: beta = max over E, s of min((P_E(s) - P(s)) / P(s), -ln P(s)); 0 if no share rises. Range: 0 up; low is
    good. Need: the release. The finding says how many classes exceed the bound: these meet no beta at all.
    """

    def how(counts: Counts, figures: Figures) -> str:
        past = int(models.unbounded(counts).sum())
        return Sentence("rises bounded by -ln P(s), which {past} of {all} classes pass", past=past, all=figures.size)

    return _worst(case, "enhanced beta-likeness", lambda counts: models.likeness(counts, enhanced=True), how)


@measure(
    "delta-disclosure",
    formula="max over classes E, values s in E of |ln(P_E(s) / P(s))|",
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def delta_disclosure(case: Case) -> tuple[Finding, ...]:
    """Measure how far the logarithm of a share in a class is from that in the release.

    Formula: delta = max over E and s with P_E(s) > 0 of |ln(P_E(s) / P(s))|. Range: 0 up; low is good. Need: the
    release. Values missing from a class are counted separately, by «classes that lack a value».
    """
    return _worst(case, "delta-disclosure", models.disclosure, _of("over the values that a class has"))


@measure(
    "classes that lack a value",
    formula="number of classes E with P_E(s) = 0 and P(s) > 0 for some s",
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def lacking_classes(case: Case) -> tuple[Finding, ...]:
    """Count the classes that lack a sensitive value of the release: strictly, their delta is infinite.

    Formula: the number of E with P_E(s) = 0 for an s with P(s) > 0. Range: 0 to the number of classes; low is good.
    Need: the release.
    """

    def how(counts: Counts, _: Figures) -> str:
        of = counts.sizes.size
        return Sentence("of {all} classes; strictly, the delta-disclosure of these is infinite", all=of)

    def count(counts: Counts) -> Figures:
        return np.array([models.lacking(counts).sum()], np.float64)

    return _worst(case, "classes that lack a value", count, how)


def _of(text: str) -> Callable[[Counts, Figures], str]:
    """Return a function that gives the same `how` for every column."""
    return lambda counts, _: Sentence("{text}; {all} classes", text=text, all=counts.sizes.size)


def _worst(
    case: Case,
    name: str,
    figures: Callable[[Counts], Figures],
    how: Callable[[Counts, Figures], str],
    *,
    high: bool = False,
) -> tuple[Finding, ...]:
    """Return the worst figure of all sensitive columns, and, if there are several, that of each."""
    if not case.n or not case.counts:
        return ()
    found = []
    for column, counts in case.counts.items():
        each = figures(counts)
        value = float(each.min() if high else each.max())
        found.append(Finding(name, value, how(counts, each), "release", column=column, counts_rows=False))
    worst = (min if high else max)(found, key=lambda finding: finding.value)
    several = Sentence(", the worst of {many} sensitive columns", many=len(found)) if len(found) > 1 else ""
    sentence = Sentence("of {column!r}{several}: {how}", column=worst.column, several=several, how=worst.how)
    first = Finding(name, worst.value, sentence, "release", counts_rows=False)
    return (first, *found) if len(found) > 1 else (first,)
