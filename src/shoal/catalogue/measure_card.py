"""The card of a measure: formula, range, direction, requirements, cost, and explanations for readers of a report."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from shoal.catalogue.card import Card
from shoal.errors import DataError, LeftOut, MethodError, ShoalError, kind_of
from shoal.model.findings import Finding, Need
from shoal.model.progress import tick
from shoal.model.sentences import has_number

Better = Literal["low", "high", "neither"]
Group = Literal["risk", "information loss", "classes"]
Requirement = Literal["label", "sensitive", "items", "population", "other", "control"]

GROUPS: tuple[Group, ...] = get_args(Group)
NEEDS = {  # what a measure or an attack requires, in words
    "label": "a label",
    "sensitive": "a sensitive column",
    "items": "a column of sets",
    "population": "a population",
    "other": "another release",
    "control": "control rows",
}


@dataclass(frozen=True, kw_only=True)
class MeasureCard(Card[Callable[[Any], tuple[Finding, ...]]]):
    """A measure: a function that takes a `Case` and returns findings.

    Parameters
    ----------
    name : str
        The name on the command line, and that of its first finding.
    formula : str
        In one line.
    low, high : float
        The range of its figures.
    better : {"low", "high", "neither"}
        Which figures are good.
    need : {"release", "pair", "groups"}
        Whether it uses the release alone, table and release row by row, or the table and the classes of the release.
    cost : str
        How the time grows.
    requires : tuple of str
        What it needs besides quasi-identifiers: a "label", a "sensitive" column, a column of "items", a "population",
        an "other" release, "control" rows.
    also : tuple of str
        The names of further findings about the whole release.
    by_column : bool
        Whether all of its findings are about single columns.
    always : bool
        Whether it is computed for every release, and included in its findings.
    chance : bool
        Whether it draws random numbers, from the seed of the case: another order of the rows may change the figure.
    bounded : bool
        Whether it uses a bounded number of rows, however large the table is.
    counts_changes : bool
        Whether the number of changed cells follows from it: reports leave it out where few cells of a column changed.
    words : mapping of str to str
        Explanations of its findings, by name. Reports list findings that have one: those of the release alone under
        risk, others under utility.
    rank : int
        Its position in these lists, and among the findings that commands print, the smallest first.
    about : {"risk", "information loss", "classes"}, optional
        The heading under which commands print its findings; by default risk for those of the release alone.
    aliases : tuple of str
        Other names of the same quantity.
    """

    formula: str
    low: float = 0.0
    high: float = math.inf
    better: Better
    need: Need
    cost: str
    requires: tuple[Requirement, ...] = ()
    also: tuple[str, ...] = ()
    by_column: bool = False
    always: bool = False
    chance: bool = False
    bounded: bool = False
    counts_changes: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    rank: int = 1_000
    about: Group | None = None
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field_, given, known in (("better", self.better, Better), ("need", self.need, Need)):
            self._check_words(field_, [given], get_args(known))
        self._check_words("requires", self.requires, NEEDS)
        self._check_words("about", [] if self.about is None else [self.about], GROUPS)

    @property
    def group(self) -> Group:
        """The heading under which commands print its findings."""
        return self.about or ("risk" if self.need == "release" else "information loss")

    def take(self, case: Any) -> tuple[Finding, ...]:
        """Return the findings of the measure, computed once per case.

        A plug-in's figure that does not declare what it counts is treated as counting rows, and its name must not
        have a number or a cell in it: reports show it.
        """
        if self.name in case.faults:
            raise MethodError(case.faults[self.name])
        if self.name not in case.taken:
            found = tuple(self.function(case))
            if not self.built_in:
                found = of_plug_in(found, f"measure {self.name!r}", (self.name, *self.also), case.policy.columns)
            case.taken[self.name] = found
        held: tuple[Finding, ...] = case.taken[self.name]
        return held

    @staticmethod
    def misfit(part: str, result: Any) -> str:
        """Say what is wrong with what the measure returned; empty if nothing."""
        if part != "function":
            return ""
        if not isinstance(result, tuple | list):
            return f"it returned {kind_of(result)} instead of a tuple of findings"
        for one in result:
            if not isinstance(one, Finding):
                return f"it returned {kind_of(one)} among its findings"
        return ""

    def misnamed(self, one: Finding, case: Any) -> str:
        """Return what is wrong with the name of a plug-in's finding; an empty text if nothing."""
        return _misnamed(one, (self.name, *self.also), case.policy.columns)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values; None for an unlimited range."""
        return {**super().as_dict(), "high": None if math.isinf(self.high) else self.high}


measure = MeasureCard


def of_plug_in(
    found: Iterable[Finding], who: str, names: Collection[str], columns: Collection[str]
) -> tuple[Finding, ...]:
    """Return findings of a plug-in, which count rows unless they declare otherwise, or refuse a name; see `take`."""
    held = tuple(found)
    for one in held:
        if wrong := _misnamed(one, names, columns):
            raise MethodError(f"{who}: {wrong}.")
    return tuple(replace(one, counts_rows=True) if one.counts_rows is None else one for one in held)


def _misnamed(one: Finding, names: Collection[str], columns: Collection[str]) -> str:
    """Return what is wrong with the name of a plug-in's finding, whose card has these names."""
    if has_number(one.part):
        return "the `part` of a finding must not contain a number"
    if one.measure not in names and has_number(one.measure):
        return "the name of a finding that contains a number must be that of the card, or one of its `also`"
    known = one.column is None or one.column in columns
    return "" if known else "the `column` of a finding must be the name of a column"


def taken(case: Any, wanted: Sequence[MeasureCard]) -> tuple[Finding, ...]:
    """Return the findings of several measures; a plug-in's that fails is left out with a warning, also in `faults`.

    A plug-in's finding that has the name of a built-in one is left out as well: a reader would take it for that one.
    """
    found: list[Finding] = []
    for number, card in enumerate(wanted):
        tick(number, len(wanted))
        try:
            found += card.take(case)
        except (ShoalError, OSError) as problem:
            if card.built_in:
                raise
            if card.name not in case.faults:
                case.faults[card.name] = str(problem)
                warnings.warn(f"measure: {card.name!r} was left out. {problem}", LeftOut, stacklevel=2)
    known = {one.name for card in wanted if card.built_in for one in card.take(case)}
    others = [card for card in wanted if not card.built_in and card.name not in case.faults]
    shadows = {id(one): card.name for card in others for one in card.take(case) if one.name in known}
    for name in sorted({*shadows.values()}):
        told = f"measure: {name!r} has findings with names of shoal, which were left out."
        warnings.warn(told, LeftOut, stacklevel=2)
    return tuple(one for one in found if id(one) not in shadows)


def refuse_empty(lacking: Sequence[MeasureCard]) -> None:
    """Refuse measures that were asked for and have no figure, and say what each needs."""
    if not lacking:
        return
    needs = [f"{card.name!r}, which needs {_needs(card)}" for card in lacking]
    raise DataError(f"measure: this table and release have no figure for {'; '.join(needs)}.")


def _needs(card: MeasureCard) -> str:
    """Return what a measure needs besides quasi-identifiers."""
    return " and ".join(NEEDS[one] for one in card.requires) or "columns of another kind, such as two numeric ones"
