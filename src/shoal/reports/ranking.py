"""Findings in groups: risk, information loss, classes; the most telling first, by the cards of their measures."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shoal.catalogue import MeasureCard, attacks, measures
from shoal.catalogue.measure_card import GROUPS, Group
from shoal.model.findings import Finding


class _Place(NamedTuple):
    """The place of a finding among others: a main figure of its card or not, the rank of the card."""

    aside: bool
    rank: int


def grouped(findings: Iterable[Finding], most: int | None = None) -> tuple[list[tuple[Group, list[Finding]]], int]:
    """Return at most `most` findings, the most telling ones, by group; and how many are left out."""
    known = {name: card for card in _always() for name in (card.name, *card.also, *card.words)}
    ranked = sorted(findings, key=lambda one: _place(one, known.get(one.measure)))
    shown = ranked[:most]
    groups = [(group, [one for one in shown if _group(one, known.get(one.measure)) == group]) for group in GROUPS]
    return [(group, held) for group, held in groups if held], len(ranked) - len(shown)


def _always() -> Sequence[MeasureCard]:
    """Return the cards of the findings of every release, except those of methods and attacks."""
    return [measures.load(name) for name in measures.having("always")]


def _place(one: Finding, card: MeasureCard | None) -> _Place:
    """Return the place of a finding; those of attacks come first, those of methods last."""
    if card is None:
        return _Place(aside=False, rank=0) if one.measure in attacks.built_in else _Place(aside=True, rank=0)
    return _Place(aside=one.name != card.name and one.name not in card.words, rank=card.rank)


def _group(one: Finding, card: MeasureCard | None) -> Group:
    """Return the group of a finding."""
    if card is not None:
        return card.group
    if one.measure in attacks.built_in:
        return "risk"
    return "classes" if one.need == "release" else "information loss"
