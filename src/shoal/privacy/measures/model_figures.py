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

USUAL_L = 2  # the l of recursive l-diversity, if the policy asks for none
COST = "n log n"


@measure("k-anonymity", formula="min over classes E of size(E)", low=1, better="high", need="release", cost=COST)
def k_anonymity(case: Case) -> tuple[Finding, ...]:
    """Count the rows of the smallest class.

    No finding without rows.
    """
    if not case.n:
        return ()
    least = int(case.sizes.min())
    how = Sentence(
        "rows of the smallest class; {few} of {classes} classes are of this size",
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
    """Measure the largest share of a sensitive value in a class."""

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

    Missing counts as a value.
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
    """Measure the effective number of equally frequent sensitive values in the least diverse class."""
    return _worst(case, "entropy l-diversity", models.entropy, _of("exp of the least entropy of a class"), high=True)


@measure(
    "recursive (c,l)-diversity",
    formula="c = max over classes E of r_1 / (r_l + r_(l+1) + ...), r the counts in E, largest first",
    better="low",
    need="release",
    cost=COST,
    requires=("sensitive",),
)
def recursive_diversity(case: Case) -> tuple[Finding, ...]:
    """Measure the c above which every class is (c,l)-diverse, with the l of the policy, or 2.

    It is infinite if a class has fewer than l values, and the finding says so.
    """
    asked = math.ceil(case.policy.constraints.l or USUAL_L)

    def how(_: Counts, figures: Figures) -> str:
        few = int(np.isinf(figures).sum())
        lacking = Sentence("; infinite, as {few} of {all} classes have fewer values", few=few, all=figures.size)
        tail = lacking if few else ""
        return Sentence("every class is (c,l)-diverse for any c above this figure, l = {l}{tail}", l=asked, tail=tail)

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
    """Measure how far the distribution of sensitive values in a class is from that in the whole release."""

    def how(counts: Counts, _: Figures) -> str:
        if counts.base.size < 2:
            return Sentence("0, as the column has one value only")
        if counts.column.tree is not None:
            return "earth mover's distance along the tree"
        return f"earth mover's distance, {'ordered values' if counts.column.ordered else 'values equally far apart'}"

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
    """Measure the largest relative increase of the share of a sensitive value from the release to a class."""
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
    """Measure the relative increase as basic beta-likeness does, but count at most -ln P(s) for each value s.

    The finding says how many classes exceed the bound: these meet no beta at all.
    """

    def how(counts: Counts, figures: Figures) -> str:
        past = int(models.unbounded(counts).sum())
        text = "the largest relative rise of a share, bounded by -ln P(s), which {past} of {all} classes exceed"
        return Sentence(text, past=past, all=figures.size)

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

    Values missing from a class are counted separately, by `classes that lack a value`.
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
    """Count the classes that lack a sensitive value of the release: strictly, their delta is infinite."""

    def how(counts: Counts, _: Figures) -> str:
        of = counts.sizes.size
        return Sentence("of {all} classes; strictly speaking, their delta-disclosure is infinite", all=of)

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
