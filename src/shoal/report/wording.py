"""Words of a report: they stand in `templates/words.toml`, for people who answer for data and do not read programs.

Also how figures are written; what a page may show of one follows from what it counts.
"""

import ast
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.model.sentences import few
from shoal.model.sentences import plain_figure as figure
from shoal.registry import ALIASES, BUILT_IN

__all__ = ["few", "figure", "method_words", "promise", "say", "shown", "wish", "words"]


@cache
def words() -> dict[str, Any]:
    """Return the words of `templates/words.toml`, by section."""
    return tomllib.loads((Path(__file__).parent / "templates" / "words.toml").read_text(encoding="utf-8"))


def say(key: str, **given: object) -> str:
    """Return a paragraph by its name, with figures put in."""
    return str(words()["says"][key]).format(**given)


def shown(finding: Finding, n: int, k: int) -> str:
    """Write the value of a finding, unless it tells of fewer than k rows.

    Parameters
    ----------
    finding : Finding
    n, k : int
        The rows of the release, and what it asks for.
    """
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


def wish(verdict: Verdict, policy: Policy) -> str:
    """Say in a few signs what was asked: «k = 5», «t = 0.2 for 'ill'»."""
    letter = {"k-anonymity": "k", "t-closeness": "t", "(alpha,k)-anonymity": "alpha", "delta-disclosure": "delta"}
    name = letter.get(verdict.model)
    if name is None and "l-diversity" in verdict.model:
        name = "l" if verdict.model.startswith("distinct") else verdict.model.removesuffix("-diversity")
    elif name is None and verdict.model.startswith("recursive"):
        name = f"l = {policy.constraints.l:g}, c"
    elif name is None:
        name = "beta" if "beta" in verdict.model else verdict.model
    of = f" for {verdict.column}" if verdict.column else ""
    return f"{name} = {verdict.asked:g}{of}"


def promise(verdict: Verdict) -> tuple[str, str]:
    """Return what a constraint promises and what it does not, in plain words."""
    known = words()["promises"]
    says, leaves = known.get(verdict.model, known["other"])
    column = f"the column «{verdict.column}»"
    return says.format(asked=f"{verdict.asked:g}", column=column), leaves


def method_words(name: str) -> str:
    """Return what a method does, in its own first words; its module is read, not loaded."""
    known = ALIASES.get(name, name)
    place = find_spec(BUILT_IN[known]) if known in BUILT_IN else None
    if place is None or place.origin is None:
        return f"The method is called «{name}»."
    said = ast.get_docstring(ast.parse(Path(place.origin).read_text(encoding="utf-8"))) or name
    return said.split("\n\n", 1)[0].replace("\n", " ")
