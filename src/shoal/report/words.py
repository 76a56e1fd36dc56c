"""Words of a report: they stand in `templates/words.toml`, for people who answer for data and do not read programs.

Also how figures are written, and how a sentence loses numbers that would tell of fewer than k rows.
"""

import ast
import math
import re
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.model.findings import Finding, Verdict
from shoal.model.policy import Policy
from shoal.registry import ALIASES, BUILT_IN

__all__ = ["discreet", "few", "figure", "method_words", "promise", "say", "shown", "wish", "words"]

# Findings that count rows or cells, by themselves or in per cent.
COUNTED = (
    "class sizes, ",
    "degree of anonymity class",
    "minimal distortion",
    "prosecutor risk, % of rows above",
    "journalist risk, % of rows above",
    "rows by risk",
    "rows unique in unchanged columns %",
    "sample uniques %",
)


# Shares of classes and not of rows, and what is asked of a release: they may be as small as they are.
EXACT = (
    "prosecutor risk",
    "journalist risk",
    "marketer risk",
    "success rate",
    "t-closeness",
    "basic beta",
    "enhanced beta",
    "delta-",
    "(alpha,k)",
    "contribution to risk",
    "risk without a column",
)


@cache
def words() -> dict[str, Any]:
    """Return the words of `templates/words.toml`, by section."""
    return tomllib.loads((Path(__file__).parent / "templates" / "words.toml").read_text(encoding="utf-8"))


def say(key: str, **given: object) -> str:
    """Return a paragraph by its name, with figures put in."""
    return str(words()["says"][key]).format(**given)


def figure(value: float) -> str:
    """Write a figure as the commands do: a count whole, a large figure with two digits, others with six."""
    if not math.isfinite(value):
        return "none" if math.isnan(value) else "without limit"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}" if abs(value) < 1000 else f"{value:,.2f}"


def few(rows: int, n: int, k: int) -> str:
    """Write a number of rows or cells, unless it would tell of fewer than k, by itself or by what is left.

    Examples
    --------
    >>> few(3, 100, 5), few(98, 100, 5), few(40, 100, 5)
    ('fewer than 5', 'all but fewer than 5', '40')
    """
    if 0 < rows < k:
        return f"fewer than {k}"
    return f"all but fewer than {k}" if n - k < rows < n else f"{rows:,}"


def shown(finding: Finding, n: int, k: int) -> str:
    """Write the value of a finding, unless it counts fewer than k rows.

    Parameters
    ----------
    finding : Finding
    n, k : int
        The rows of the release, and what it asks for.
    """
    value, share = finding.value, "%" in finding.name
    if finding.name.startswith(COUNTED):
        rows = value * n / 100 if share else value
        if 0 < rows < k - 1e-6:
            return f"below {figure(100 * k / n)}" if share else f"fewer than {k}"
    whole = 100.0 if share else 1.0
    if n and 0 < value < whole and not finding.name.startswith(EXACT):
        rows = value * n / whole
        if abs(rows - round(rows)) < 1e-9 * n:  # the share of a whole number of rows, perhaps
            if rows < k - 0.5:
                return f"below {figure(whole * k / n)}"
            if n - rows < k - 0.5:
                return f"above {figure(whole * (1 - k / n))}"
    return figure(value)


def discreet(text: str, n: int, k: int) -> str:
    """Return a sentence in which numbers of rows and cells are written as `few` writes them.

    Examples
    --------
    >>> discreet("97 rows of 100; rows left out for gaps: 3; 2 % of the rows are unique", 100, 5)
    'all but fewer than 5 rows of 100; rows left out for gaps: fewer than 5; below 5 % of the rows are unique'
    """

    def shared(found: re.Match[str]) -> str:
        rows = float(found["share"]) * n / 100
        return f"below {figure(100 * k / n)} % of the rows" if 0 < rows < k - 1e-6 else found.group()

    def written(found: re.Match[str]) -> str:
        rows = int(found["many"].replace(",", ""))
        return f"{found['head']}{few(rows, n, k)}" if 0 < rows < n else found.group()

    # How many rows have a value, beside how many had one, tells how many lost it.
    text = re.sub(r"values of (?!the)[\d,]+ rows", "values of the rows that have both", text)
    text = re.sub(r"(?P<share>\d+(?:\.\d+)?) % of the rows", shared, text)
    number = r"(?P<many>\d[\d,]*)(?![\d.,]*\d)"
    before = rf"(?P<head>(?<![\w.,=]))({number})(?= (?:of [\d,]+ )?(?:rows?|cells?|people|answers|targets|control)\b)"
    behind = rf"(?P<head>(?:gaps|rows|cells): ){number}"
    for pattern in (before, behind):
        text = re.sub(pattern, written, text)
    return text


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
