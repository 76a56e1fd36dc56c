"""The page of a comparison: the facts of `MethodComparison.as_dict` as HTML, Markdown or a notebook card."""

import math
from collections.abc import Mapping
from typing import Any

from shoal.errors import counted
from shoal.reports import blocks
from shoal.reports.blocks import Block
from shoal.reports.diagrams import critical_words, diagram, figure_chart
from shoal.reports.notebook import card
from shoal.reports.render import as_html, as_markdown
from shoal.utility.rank_tests import p_words

READ_DIAGRAM = "How to read it: the axis shows the mean rank over the data sets; 1, on the left, is best."
READ_BAR = "A bar joins methods that do not differ significantly at the 5% level."
READ_RULER = "The ruler is the critical difference: methods whose mean ranks are at least that far apart differ."
READ_SEEDS = "How to read it: a mark is the mean over seeds, a line its 95% interval (Student's t)."
READ_ONE = "How to read it: a mark is the figure of a method on a data set, from a single seed."
LIMITS = (
    "Finding no difference does not mean that there is none: with few data sets the critical difference is large.",
    "Ranks ignore effect sizes: slightly better on every data set beats far better on most.",
    "Data sets must be independent. Seeds of one table are not further data sets: they are averaged first.",
    "If parameters or methods were chosen on these tables, the comparison is tuned to them and proves little.",
    "Each measure is tested separately at the 5% level: of many measures, some differ by chance.",
)
EYES = "These figures use the original tables. They are for the data holder only."
Facts = Mapping[str, Any]


def compare_html(facts: Facts) -> str:
    """Return a comparison as one HTML file."""
    return as_html(_page(facts))


def compare_words(facts: Facts) -> str:
    """Return a comparison as Markdown."""
    return as_markdown(_page(facts))


def compare_card(facts: Facts) -> str:
    """Return a comparison as an HTML fragment for a notebook."""
    shown: list[Block | None] = []
    for one in facts["measures"]:
        ranks = [_diagram(one), _ranks(one)] if one["comparison"]["sets"] > 1 else []
        shown += [blocks.text(_found(one)), *ranks, blocks.more("Figures", [_figures(one)])]
    return card(_title(facts), _how(facts), [*shown, _left_out(facts)])


def _page(facts: Facts) -> dict[str, Any]:
    """Return the page of a comparison as blocks."""
    sections = [
        blocks.section(f"measure-{number + 1}", _capital(one["title"]), _measure(one))
        for number, one in enumerate(facts["measures"])
    ]
    sections.append(blocks.section("sets", "Data sets", [_sets(facts), _left_out(facts)]))
    sections.append(blocks.section("limits", "Limitations", [blocks.items(LIMITS)]))
    return {
        "title": _title(facts),
        "kicker": "shoal: comparison of methods",
        "lead": " ".join(_found(one) for one in facts["measures"]),
        "head": [blocks.text(_how(facts)), blocks.note(EYES)],
        "sections": sections,
    }


def _measure(one: Facts) -> list[Block | None]:
    """Return one measure: the test results, the diagram, the figures and the tables behind them."""
    read = READ_ONE if one["figures"][0]["low"] is None else READ_SEEDS
    better = "Higher is better." if one["higher"] else "Lower is better."
    chart = blocks.chart("Figures", figure_chart(one), better, read)
    sentences = blocks.text(f"{critical_words(one)} Measured as: {one['how']}.")
    if one["comparison"]["sets"] == 1:
        return [sentences, chart, _figures(one)]
    return [sentences, _diagram(one), chart, _ranks(one), _figures(one), _pairs(one)]


def _found(one: Facts) -> str:
    """State the test results of one measure."""
    return f"{_capital(one['title'])}: {critical_words(one)}"


def _diagram(one: Facts) -> Block:
    """Return the diagram and an explanation of what is in it."""
    found = one["comparison"]
    sentences = [READ_DIAGRAM, *([READ_BAR] if found["groups"] else []), *([READ_RULER] if found["critical"] else [])]
    return blocks.chart("Mean ranks", diagram(one), "", " ".join(sentences))


def _title(facts: Facts) -> str:
    """State what was compared."""
    return f"{len(facts['methods'])} methods on {counted(len(facts['sets']), 'data set')}, k = {facts['k']}"


def _how(facts: Facts) -> str:
    """State how it was compared."""
    seeds = "one seed" if facts["seeds"] == 1 else f"the mean over {facts['seeds']} seeds"
    sentences = [f"Every method released every data set at k = {facts['k']}; each figure is from {seeds}."]
    names = {one["name"] for one in facts["measures"]}
    if names & {"honest", "combined"}:
        sentences.append(f"Honest accuracy: a decision tree trained on released rows, {facts['folds']} folds.")
    if "combined" in names:
        sentences.append(
            f"Combined utility: {facts['alpha']:g} x honest accuracy + {1 - facts['alpha']:g} x structure."
        )
    return " ".join(sentences)


def _ranks(one: Facts) -> Block:
    """Return the methods with mean ranks and scores, best first."""
    found = one["comparison"]
    heads, columns = ["method", ">mean rank"], [found["methods"], [f"{rank:.3f}" for rank in found["mean_ranks"]]]
    if found["scores"] is not None:
        heads.append(">score")
        columns.append([f"{value:.3f}" for value in found["scores"]])
    caption = "Mean ranks; 1 is best"
    caption += f"; score: sum over {found['sets']} data sets of figure / best figure there" if found["scores"] else ""
    return blocks.table(heads, zip(*columns, strict=True), caption)


def _figures(one: Facts) -> Block:
    """Return one row per data set and one column per method; an asterisk marks the best figure."""
    methods = list(one["comparison"]["methods"])
    held = {(figure["set"], figure["method"]): figure for figure in one["figures"]}
    rows = []
    for name in dict.fromkeys(figure["set"] for figure in one["figures"]):
        line = [held[name, method] for method in methods]
        best = (max if one["higher"] else min)(figure["mean"] for figure in line)
        rows.append([name, *(_cell(figure, best=figure["mean"] == best) for figure in line)])
    spread = ": mean ± half the 95% interval over seeds" if one["figures"][0]["low"] is not None else ""
    caption = f"{one['title']}{spread}; * marks the best on a data set"
    return blocks.table(["data set", *(f">{method}" for method in methods)], rows, caption)


def _cell(figure: Facts, *, best: bool) -> str:
    """Format a figure with its interval."""
    star = " *" if best else ""
    if figure["low"] is None:
        return f"{_number(figure['mean'])}{star}"
    half = max(figure["high"] - figure["mean"], figure["mean"] - figure["low"])
    # The second digit of an interval is the last meaningful one, also of its figure.
    places = min(6, max(0, 1 - math.floor(math.log10(half)))) if half > 1e-9 * abs(figure["mean"]) else None
    if places is None:
        return f"{_number(figure['mean'])} ± 0{star}"
    return f"{figure['mean']:,.{places}f} ± {half:,.{places}f}{star}"


def _pairs(one: Facts) -> Block | None:
    """Return Nemenyi's p-value of every two methods, if the tests got that far."""
    found = one["comparison"]
    if found["pairs"] is None:
        return None
    rows = [
        [name, *("" if place == column else p_words(p) for column, p in enumerate(line))]
        for place, (name, line) in enumerate(zip(found["methods"], found["pairs"], strict=True))
    ]
    heads = ["", *(f">{name}" for name in found["methods"])]
    return blocks.table(heads, rows, "Nemenyi's p-value of every two methods, adjusted for all pairs")


def _sets(facts: Facts) -> Block:
    """Return the data sets with their sizes."""
    rows = [[one["name"], f"{one['rows']:,}", f"{one['columns']:,}"] for one in facts["sets"]]
    caption = "Columns: number of quasi-identifiers"
    return blocks.table(["data set", ">rows", ">columns"], rows, caption)


def _left_out(facts: Facts) -> Block | None:
    """Return the data sets that were left out, with reasons."""
    rows = [[one["set"], one["method"], one["reason"]] for one in facts["left_out"]]
    caption = "Left out, because a method could not release or measure them"
    return blocks.table(["data set", "method", "reason"], rows, caption) if rows else None


def _capital(text: str) -> str:
    """Return a title with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def _number(value: float) -> str:
    """Format a figure with four significant digits."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
