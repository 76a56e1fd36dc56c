"""Aims: which risk and which utility an exploration weighs, and how each is measured with an interval.

| a figure | its 95% interval |
| --- | --- |
| from held-out rows (honest separability, honest) and attacks | their own |
| that compares table and release, such as a loss | delete-a-group jackknife |
| counted in the release alone, such as a class size | none: it is exact |

For the jackknife, whole classes are assigned to folds, and the figure is computed without each fold in turn. Over
several seeds the figure is the mean, and the variation between seeds widens the interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, sqrt
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from shoal.catalogue import MeasureCard, attacks, measures
from shoal.catalogue.measure_card import NEEDS
from shoal.errors import MethodError, near, shortened
from shoal.exploration.trials import HONEST, honest
from shoal.io.text_columns import read_for
from shoal.model.findings import Finding
from shoal.model.policy import Policy
from shoal.pipeline.judging import measure
from shoal.privacy.attacks.attack import Clock, profiles
from shoal.privacy.attacks.linkage import record_linkage_of
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson

SEPARABLE, LOSS, RISK = "honest separability %", "cell loss %", "marketer risk"
ABSENT = ("population", "other", "control")  # what explorations do not have
Kind = Literal["measure", "attack", "honest"]


@dataclass(frozen=True)
class Aim:
    """A figure to be compared: its name, its origin, and whether higher is better."""

    name: str
    kind: Kind
    higher: bool
    how: str
    exact: bool = False
    bounded: bool = False


@dataclass(frozen=True)
class Figure:
    """A measured figure, and the ends of its 95% interval unless it is exact."""

    value: float
    low: float | None = None
    high: float | None = None


def aim_of(name: str | None, what: Literal["utility", "risk"], policy: Policy) -> Aim:
    """Return what is compared, or raise `MethodError` before anything is run.

    `name` is a measure, one of its findings, an attack, or "honest": the accuracy of a tree trained on releases of the
    other folds. By default the risk is the marketer risk, and the utility is honest separability if the policy has a
    label, otherwise the cell loss.
    """
    if name is not None and not isinstance(name, str):
        raise MethodError(f"explore: the {what} must be the name of a measure or an attack; got {shortened(name)}.")
    usual = RISK if what == "risk" else LOSS if policy.label is None else SEPARABLE
    wanted = usual if name is None else name
    if wanted == HONEST:
        _refuse_impossible(wanted, ("label",), policy)
        return Aim(HONEST, "honest", True, "% of held-out original rows that a tree trained on a release of the others "
                   "predicts correctly")  # fmt: skip
    if wanted in attacks.names():
        found = attacks.load(wanted)
        _refuse_impossible(wanted, found.requires, policy)
        return Aim(wanted, "attack", False, found.summary)
    card = _measure_of(wanted)
    if card is None:
        every = [*measures.names(), *attacks.names(), HONEST]
        raise MethodError(
            f"explore: unknown {what} {wanted!r}.{near(wanted, every)} `shoal measures` lists all measures."
        )
    _refuse_impossible(wanted, card.requires, policy)
    if card.by_column:
        raise MethodError(f"explore: {wanted!r} describes single columns, not a release. Choose another measure.")
    if card.better == "neither":
        raise MethodError(
            f"explore: {wanted!r} cannot be the {what}: neither high nor low figures are better. Choose another."
        )
    how = card.formula if card.name == wanted else f"measured together with {card.name}"
    return Aim(wanted, "measure", card.better == "high", how, card.need == "release", card.bounded)


def _measure_of(name: str) -> MeasureCard | None:
    """Return the measure that has a finding of this name, if any."""
    return next((card for card in measures.cards().values() if name in (card.name, *card.also)), None)


def _refuse_impossible(name: str, requires: Sequence[str], policy: Policy) -> None:
    """Refuse a figure that no release under this policy has, before anything is run."""
    there = {"label": policy.label is not None, "sensitive": policy.names("sensitive"), "items": policy.names("items")}
    for one in requires:
        if not there.get(one):
            why = ", which explorations do not have" if one in ABSENT else ""
            raise MethodError(f"explore: {name!r} needs {NEEDS[one]}{why}. Choose another measure or attack.")


def figure_of(aim: Aim, case: Case, source: Any, folds: int) -> Figure | None:
    """Measure one figure of a release; None if this table has none.

    `case` has table and release, row by row; `source` is the table, for "honest". `folds` are those of the jackknife
    and of "honest"; a measure that deals rows itself keeps its own, so that it gives the figure of `shoal measure`.
    """
    if aim.kind == "attack":
        found = attacks.load(aim.name).function(case, profiles(case)["all"], Clock())
        if found.rate is None or found.interval is None:
            return None
        return Figure(found.rate, *found.interval)
    if aim.kind == "honest":
        table = read_for(source, case.policy)
        share = honest(table, case.policy, folds, case.seed)
        low, high = wilson(share * table.n, table.n)
        return Figure(100 * share, 100 * low, 100 * high)
    card = _measure_of(aim.name)
    finding = None if card is None else _finding(card, aim.name, case)
    if card is None or finding is None or not np.isfinite(finding.value):
        return None
    if finding.interval is not None:
        return Figure(finding.value, *finding.interval)
    if aim.exact:
        return Figure(finding.value)
    half, value = _jackknife(card, aim.name, case, folds), finding.value
    if half is None:
        return Figure(value)
    return Figure(value, max(min(card.low, value), value - half), min(max(card.high, value), value + half))


def linked_sample(case: Case, most: int) -> Figure | None:
    """Return the rate of record linkage for at most this many random rows, with its interval."""
    found = record_linkage_of(case, profiles(case)["all"], Clock(), most)
    return None if found.rate is None or found.interval is None else Figure(found.rate, *found.interval)


def references(aim: Aim, source: Any, policy: Policy) -> dict[str, float]:
    """Return reference figures of the utility by name: of the table itself, and of a prediction without any table.

    Only honest separability has them.
    """
    if aim.name != SEPARABLE:
        return {}
    found = {one.name: one.value for one in measure(source, source, policy=policy, only=[SEPARABLE])}
    names = {SEPARABLE: "the table itself", "majority rate %": "the most frequent label alone"}
    return {name: found[finding] for finding, name in names.items() if finding in found}


def averaged(figures: Sequence[Figure]) -> Figure:
    """Return the mean over seeds; the variation between seeds widens the interval.

    Examples
    --------
    >>> averaged([Figure(2.0, 1.0, 3.0)])
    Figure(value=2.0, low=1.0, high=3.0)
    >>> averaged([Figure(2.0), Figure(2.0)])
    Figure(value=2.0, low=2.0, high=2.0)
    """
    from scipy.stats import t

    if len(figures) == 1:
        return figures[0]
    values = np.array([one.value for one in figures])
    middle = float(values.mean())
    between = float(t.ppf(0.975, len(values) - 1)) * float(values.std(ddof=1)) / sqrt(len(values))
    below = float(np.mean([one.value - (one.value if one.low is None else one.low) for one in figures]))
    above = float(np.mean([(one.value if one.high is None else one.high) - one.value for one in figures]))
    return Figure(middle, middle - hypot(below, between), middle + hypot(above, between))


def _finding(card: MeasureCard, name: str, case: Case) -> Finding | None:
    """Return the finding of this name, if the measure has one for this table."""
    return next((one for one in card.take(case) if one.name == name), None)


def _jackknife(card: MeasureCard, name: str, case: Case, folds: int) -> float | None:
    """Return half the width of a figure's interval, or None if there are too few classes."""
    from scipy.stats import t

    classes = int(case.sizes.size)
    parts = min(folds, classes)
    if parts < 2:
        return None
    dealt = np.random.default_rng((case.seed, 41)).permutation(classes) % parts
    values = []
    for part in range(parts):
        rows = np.flatnonzero(dealt[case.labels] != part)
        left = replace(case, released=case.released.take(pa.array(rows)), original=case.before.take(rows), places=None)
        finding = _finding(card, name, left)
        if finding is None or not np.isfinite(finding.value):
            return None
        values.append(finding.value)
    spread = float(np.square(np.array(values) - np.mean(values)).sum()) * (parts - 1) / parts
    return float(t.ppf(0.975, parts - 1)) * sqrt(spread)
