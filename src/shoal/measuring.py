"""Measures by name, and the card that each carries: formula, range, direction, need and cost.

The card is the single declaration of a measure: `shoal measures`, the report and the docs table read it. Built-ins are
what the modules named below decorate, loaded on first use; strangers come by the entry point group `shoal.measures`,
through the same door.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from shoal.errors import MethodError, near
from shoal.model.findings import Finding, Need
from shoal.model.progress import tick

__all__ = ["Better", "Measure", "cards", "load_measure", "measure", "taken"]

MODULES = (
    "shoal.privacy.measures.adversary_measures",
    "shoal.privacy.measures.model_figures",
    "shoal.privacy.measures.population",
    "shoal.privacy.measures.risk",
    "shoal.privacy.measures.set_figures",
    "shoal.utility.worth_measures",
    "shoal.utility.fidelity_measures",
    "shoal.utility.loss_measures",
)
GROUP = "shoal.measures"
Better = Literal["low", "high", "neither"]
Function = Callable[[Any], tuple[Finding, ...]]


@dataclass(frozen=True)
class Measure:
    """What a measure is called, how it is counted, and from what.

    Parameters
    ----------
    name : str
        The word on the command line, and the name of its first finding.
    formula : str
        In one line.
    low, high : float
        Between which its figures lie.
    better : {"low", "high", "neither"}
        Which figures are good.
    need : {"release", "pair", "groups"}
        The release alone; the table and the release row by row; the table and the classes of the release.
    cost : str
        How the time grows.
    always : bool
        Whether it is taken whenever a release is made, and stands among its findings.
    chance : bool
        Whether it draws by chance, from the seed of the case: then another order of the rows may give another figure.
    summary : str
        The first sentence of the function's docstring.
    function : callable
        Takes a `Case`, gives findings.
    """

    name: str
    formula: str
    low: float
    high: float
    better: Better
    need: Need
    cost: str
    always: bool
    chance: bool
    summary: str
    function: Function = field(repr=False)

    def take(self, case: Any) -> tuple[Finding, ...]:
        """Return what the measure finds, taken once a case.

        A figure of another package that does not say what it counts counts rows.
        """
        if self.name not in case.taken:
            found = self.function(case)
            if not self.function.__module__.startswith("shoal."):
                found = tuple(replace(one, counts_rows=True) if one.counts_rows is None else one for one in found)
            case.taken[self.name] = found
        held: tuple[Finding, ...] = case.taken[self.name]
        return held

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, for JSON and tables; None for a range without an end."""
        shown = {key: value for key, value in vars(self).items() if key != "function"}
        return {**shown, "high": None if math.isinf(self.high) else self.high}


def measure(
    name: str,
    *,
    formula: str,
    low: float = 0.0,
    high: float = math.inf,
    better: Better,
    need: Need,
    cost: str,
    always: bool = False,
    chance: bool = False,
) -> Callable[[Function], Function]:
    """Give a function its card."""

    def give(function: Function) -> Function:
        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        function.card = Measure(name, formula, low, high, better, need, cost, always, chance, summary, function)  # type: ignore[attr-defined]
        return function

    return give


def cards() -> dict[str, Measure]:
    """Return the cards of all measures, built-in and installed, by name, sorted."""
    functions = [vars(import_module(module)).values() for module in MODULES]
    found = [function.card for own in functions for function in own if isinstance(_card_of(function), Measure)]
    for point in entry_points(group=GROUP):
        card = _card_of(point.load())
        if not isinstance(card, Measure):
            raise MethodError(f"measure: {point.name!r} carries no card. Its author must decorate it with @measure.")
        found.append(card)
    return {card.name: card for card in sorted(found, key=lambda card: card.name)}


def taken(case: Any, wanted: Sequence[Measure]) -> tuple[Finding, ...]:
    """Take measures of a case one after the other."""
    found: list[Finding] = []
    for number, card in enumerate(wanted):
        tick(number, len(wanted))
        found += card.take(case)
    return tuple(found)


def load_measure(name: str) -> Measure:
    """Return the card of the measure with this name."""
    known = cards()
    if name not in known:
        raise MethodError(f"measure: there is no measure {name!r}.{near(name, known)} `shoal measures` lists them all.")
    return known[name]


def _card_of(function: object) -> object:
    """Return the card that a function carries, if it has one."""
    return getattr(function, "card", None)
