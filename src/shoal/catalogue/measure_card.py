"""The card of a measure: formula, range, direction, what it needs, how it grows, and words for people."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from shoal.model.findings import Finding, Need
from shoal.model.progress import tick

__all__ = ["Better", "MeasureCard", "Requirement", "measure", "taken"]

Better = Literal["low", "high", "neither"]
Requirement = Literal["label", "sensitive", "items", "population", "other", "control"]
Function = Callable[[Any], tuple[Finding, ...]]


@dataclass(frozen=True)
class MeasureCard:
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
    requires : tuple of str
        What there must be beside quasi-identifiers: a "label", a "sensitive" column, a column of "items", a
        "population", an "other" release, "control" rows.
    also : tuple of str
        The names of further findings that describe the whole release.
    by_column : bool
        Whether its findings describe single columns, and none of them the whole release.
    always : bool
        Whether it is taken whenever a release is made, and stands among its findings.
    chance : bool
        Whether it draws random numbers, from the seed of the case: another order of the rows may change the figure.
    bounded : bool
        Whether it looks at a bounded number of rows, however large the table is.
    words : mapping of str to str
        What its findings say, by the name of the finding. Reports list those that have words: measures of the release
        alone as risks, others as what the release is still worth.
    rank : int
        Its place in these lists, the smallest first.
    aliases : tuple of str
        Other names of the same quantity.
    summary : str
        The first sentence of the function's docstring.
    function : callable
        Takes a `Case`, returns findings.
    """

    name: str
    formula: str
    low: float
    high: float
    better: Better
    need: Need
    cost: str
    requires: tuple[Requirement, ...]
    also: tuple[str, ...]
    by_column: bool
    always: bool
    chance: bool
    bounded: bool
    words: Mapping[str, str]
    rank: int
    aliases: tuple[str, ...]
    summary: str
    function: Function = field(repr=False)

    def take(self, case: Any) -> tuple[Finding, ...]:
        """Return what the measure finds, taken once per case.

        A figure of a plug-in that does not say what it counts counts rows.
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


def taken(case: Any, wanted: Sequence[MeasureCard]) -> tuple[Finding, ...]:
    """Take several measures of a case."""
    found: list[Finding] = []
    for number, card in enumerate(wanted):
        tick(number, len(wanted))
        found += card.take(case)
    return tuple(found)


def measure(
    name: str,
    *,
    formula: str,
    low: float = 0.0,
    high: float = math.inf,
    better: Better,
    need: Need,
    cost: str,
    requires: tuple[Requirement, ...] = (),
    also: tuple[str, ...] = (),
    by_column: bool = False,
    always: bool = False,
    chance: bool = False,
    bounded: bool = False,
    words: Mapping[str, str] | None = None,
    rank: int = 1_000,
    aliases: tuple[str, ...] = (),
) -> Callable[[Function], Function]:
    """Give a function its card."""

    def give(function: Function) -> Function:
        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        function.card = MeasureCard(  # type: ignore[attr-defined]
            name,
            formula,
            low,
            high,
            better,
            need,
            cost,
            requires,
            also,
            by_column,
            always,
            chance,
            bounded,
            dict(words or {}),
            rank,
            aliases,
            summary,
            function,
        )
        return function

    return give
