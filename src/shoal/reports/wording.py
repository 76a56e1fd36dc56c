"""Texts of a report, kept in `templates/words.toml` for readers who are not programmers, and the format of figures.

What a page may show of a figure depends on what the figure counts.
"""

import tomllib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

from shoal.catalogue import measures, methods, models
from shoal.catalogue.model_card import OTHER
from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.model.sentences import few
from shoal.model.sentences import plain_figure as figure

__all__ = ["asked_for", "few", "figure", "measure_words", "method_words", "promise", "say", "shown", "words"]


@cache
def words() -> dict[str, Any]:
    """Return the texts of `templates/words.toml`, by section."""
    return tomllib.loads((Path(__file__).parent / "templates" / "words.toml").read_text(encoding="utf-8"))


def say(key: str, **given: object) -> str:
    """Return a paragraph by its key, with figures filled in."""
    return str(words()["says"][key]).format(**given)


def shown(finding: Finding, n: int, k: int) -> str:
    """Format the value of a finding, unless it counts fewer than k of n rows."""
    value, percent = finding.value, finding.unit == "%"
    if finding.counts_rows is False:
        return figure(value)
    if finding.counts_rows and not (percent or finding.share):
        return few(value, finding.whole or n, k)
    one, whole = 100.0 if percent else 1.0, finding.whole or n
    if not whole or not 0 < value < one:
        return figure(value)
    rows = value * whole / one
    if not finding.counts_rows and abs(rows - round(rows)) >= 1e-9 * whole:
        return figure(value)  # no whole number of rows has this share
    if rows < k - 0.5:
        return f"below {figure(one * k / whole)}"
    return f"above {figure(one * (1 - k / whole))}" if whole - rows < k - 0.5 else figure(value)


def asked_for(verdict: Verdict, policy: Policy) -> str:
    """Return in short what was requested: k = 5, t = 0.2 for ill."""
    card = models.load(verdict.model) if verdict.model in models.built_in else None
    name = verdict.model if card is None else card.short(policy.constraints)
    of = f" for {verdict.column}" if verdict.column else ""
    return f"{name} = {verdict.asked:g}{of}"


def measure_words(needs: Collection[str], *, built_in: bool) -> dict[str, str]:
    """Return explanations of findings in the order in which a report lists them.

    With `built_in`, plug-ins are left out: a public report must render identically where they are not installed.
    """
    names = measures.built_in if built_in else measures.names()
    cards = sorted((measures.load(name) for name in names), key=lambda card: card.rank)
    return {name: text for card in cards if card.need in needs for name, text in card.words.items()}


def promise(verdict: Verdict) -> tuple[str, str]:
    """Return what a constraint guarantees and what it does not, in plain words.

    A plug-in's own words are left out, because a report must render identically where the plug-in is not installed.
    """
    card = models.load(verdict.model) if verdict.model in models.built_in else None
    says, leaves = OTHER if card is None else (card.promise, card.leaves_open)
    column = f"the column “{verdict.column}”"
    return says.format(asked=f"{verdict.asked:g}", column=column), leaves


def method_words(name: str) -> str:
    """Return what a method does, from the first paragraph of its module, which is read but not imported."""
    declared = methods.built_in.get(methods.aliases.get(name, name))
    return f"The method is called “{name}”." if declared is None else declared.words
