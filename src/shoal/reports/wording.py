"""Texts of a report, kept in `templates/words.toml` for readers who are not programmers, and the format of figures.

What a page may show of a figure depends on what the figure counts.
"""

import tomllib
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from shoal.catalogue import measures, methods, models
from shoal.catalogue.model_card import OTHER
from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.model.sentences import few
from shoal.model.sentences import plain_figure as figure

__all__ = [
    "asked_for",
    "few",
    "figure",
    "legend",
    "measure_words",
    "method_words",
    "promise",
    "say",
    "shown",
    "shown_figure",
    "shown_interval",
    "words",
]


@cache
def words() -> dict[str, Any]:
    """Return the texts of `templates/words.toml`, by section."""
    return tomllib.loads((Path(__file__).parent / "templates" / "words.toml").read_text(encoding="utf-8"))


def say(key: str, **given: object) -> str:
    """Return a paragraph by its key, with figures filled in."""
    return str(words()["says"][key]).format(**given)


def legend(key: str) -> str:
    """Return how to read the pictures that the paragraph of this key explains; Markdown has none."""
    return str(words()["legends"][key])


def shown(finding: Finding, n: int, k: int) -> str:
    """Format the value of a finding, unless it counts fewer than k of n rows.

    A share that is not between 0 and 1, or a percentage not between 0 and 100, is treated as a number of rows.
    """
    value, one, whole = finding.value, 100.0 if finding.unit == "%" else 1.0, finding.whole or n
    if finding.counts_rows is False:
        return figure(value)
    share, edge = finding.share or finding.unit == "%", 1e-9 * one
    if (finding.counts_rows and not share) or (share and not -edge <= value <= one + edge):
        return few(value, whole, k)
    if not whole or not 0 < value < one:
        return figure(value)
    rows = value * whole / one
    if not finding.counts_rows and abs(rows - round(rows)) >= 1e-9 * whole:
        return figure(value)  # no whole number of rows has this share
    if rows < k - 0.5:
        return f"below {figure(one * k / whole)}"
    return f"above {figure(one * (1 - k / whole))}" if whole - rows < k - 0.5 else figure(value)


def shown_interval(finding: Finding, n: int, k: int) -> tuple[float, float] | None:
    """Return the interval of a finding, unless the value or an end of the interval must not be shown."""
    held = (finding.value, *(finding.interval or ()))
    return finding.interval if all(shown(replace(finding, value=one), n, k) == figure(one) for one in held) else None


def shown_figure(verdict: Verdict, value: float, n: int, k: int) -> str:
    """Format a figure of a verdict. That of a plug-in model may count rows, and is treated as if it did."""
    return figure(value) if verdict.model in models.built_in else few(value, n, k)


def asked_for(verdict: Verdict, policy: Policy, *, of_column: bool = True) -> str:
    """Return in short what was requested: k = 5, t = 0.2 for ill."""
    card = models.load(verdict.model) if verdict.model in models.built_in else None
    name = verdict.model if card is None else card.short(policy.constraints)
    of = f" for {verdict.column}" if verdict.column and of_column else ""
    return f"{name} = {verdict.asked:g}{of}"


def measure_words(needs: Collection[str], *, built_in: bool) -> dict[str, str]:
    """Return explanations of findings in the order in which a report lists them.

    With `built_in`, plug-ins are left out: a public report must render identically where they are not installed.
    """
    every = [measures.load(name) for name in measures.built_in] if built_in else measures.cards().values()
    cards = sorted(every, key=lambda card: card.rank)
    return {name: text for card in cards if card.need in needs for name, text in card.words.items()}


def promise(verdict: Verdict, column: str = "") -> tuple[str, str]:
    """Return what a constraint guarantees and what it does not, in plain words; `column` stands for its column.

    A plug-in's own words are left out, because a report must render identically where the plug-in is not installed.
    """
    card = models.load(verdict.model) if verdict.model in models.built_in else None
    says, leaves = OTHER if card is None else (card.promise, card.leaves_open)
    name = column or f"the column “{verdict.column}”"
    return says.format(asked=f"{verdict.asked:g}", column=name), leaves


def method_words(name: str) -> str:
    """Return what a method does, from the first paragraph of its module, which is read but not imported."""
    name = methods.aliases.get(name, name)
    declared = methods.built_in.get(name)
    explained = "" if declared is None else f" ({declared.words.removesuffix('.')})"
    return f"The groups were formed by the method “{name}”{explained}."
