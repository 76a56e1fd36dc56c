"""The page of a comparison: its facts as HTML, as Markdown, and as the small card of a notebook."""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report.charts import svg
from shoal.report.diagrams import critical_words, diagram, figure_chart
from shoal.report.render import page

__all__ = ["compare_card", "compare_html", "compare_words"]

READ_DIAGRAM = "How to read it: the axis has the mean rank over the data sets, 1 is the best, on the left."
READ_BAR = "A bar joins methods between which no difference was found at 5 %."
READ_RULER = "The ruler is the critical difference: methods whose mean ranks are that far apart differ."
READ_SEEDS = "How to read it: a mark is the mean over seeds, a line its 95 % interval over seeds (Student's t)."
READ_ONE = "How to read it: a mark is the figure of a method on a data set, from one seed."
LIMITS = (
    "No difference found is not the same as no difference: with few data sets the critical difference is large.",
    "Ranks forget sizes: to be better by a hair on every data set beats being far better on most.",
    "Data sets must be independent. Seeds of one table are no more data sets: their mean is taken first.",
    "Who chose parameters or methods on these tables has tuned on them, and proves little by them.",
    "Each measure is tested by itself at 5 %: of many measures, some differ by luck.",
)
EYES = "These figures come from the original tables. They are for the holder's eyes."
Table = dict[str, Any]


def compare_html(facts: Mapping[str, Any]) -> str:
    """Return a comparison as one HTML file.

    Parameters
    ----------
    facts : mapping
        As from `MethodComparison.as_dict`.
    """
    measures = []
    for number, one in enumerate(facts["measures"]):
        measures.append(
            {
                "id": f"measure-{number + 1}",
                "title": _capital(one["title"]),
                "how": one["how"],
                "words": critical_words(one),
                "figures": [
                    {"title": "Mean ranks", "picture": svg(diagram(one)), "caption": _read_diagram(one)},
                    {"title": "Figures", "picture": svg(figure_chart(one)), "caption": _read_figures(one)},
                ],
                "tables": [table for table in (_ranks(one), _figures(one), _pairs(one)) if table],
            }
        )
    ids = [(one["id"], one["title"]) for one in measures]
    ids += [("sets", "Data sets"), ("limits", "What it does not tell")]
    return page(
        "compare.html.j2",
        title=_title(facts),
        kicker="shoal: comparison of methods",
        sections=[{"id": name, "title": title} for name, title in ids],
        lead=[f"{one['title']}: {one['words']}" for one in measures],
        how=_how(facts),
        eyes=EYES,
        measures=measures,
        sets=_sets(facts),
        left_out=_left_out(facts),
        limits=LIMITS,
    )


def compare_words(facts: Mapping[str, Any]) -> str:
    """Return a comparison as Markdown.

    Parameters
    ----------
    facts : mapping
        As from `MethodComparison.as_dict`.
    """
    lines = [f"# {_plain(_title(facts))}", "", _plain(_how(facts)), "", EYES]
    for one in facts["measures"]:
        lines += ["", f"## {_plain(_capital(one['title']))}", "", _plain(critical_words(one))]
        for table in (_ranks(one), _figures(one), _pairs(one)):
            lines += ["", *_marked_down(table)] if table else []
    lines += ["", "## Data sets", "", *_marked_down(_sets(facts))]
    gone = _left_out(facts)
    lines += ["", *_marked_down(gone)] if gone else []
    lines += ["", "## What it does not tell", "", *(f"- {one}" for one in LIMITS)]
    return "\n".join(lines) + "\n"


def compare_card(facts: Mapping[str, Any]) -> str:
    """Return a comparison as a piece of HTML for a notebook.

    Parameters
    ----------
    facts : mapping
        As from `MethodComparison.as_dict`.
    """
    parts = [f"<p><b>{html.escape(_title(facts))}</b><br><small>{html.escape(_how(facts))}</small></p>"]
    for one in facts["measures"]:
        parts.append(f"<p><b>{html.escape(one['title'])}</b>: {html.escape(critical_words(one))}</p>")
        parts += [svg(diagram(one)), _table(_ranks(one))]
        parts.append(f"<details><summary>Figures</summary>{_table(_figures(one))}</details>")
    gone = _left_out(facts)
    parts += [_table(gone)] if gone else []
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def _title(facts: Mapping[str, Any]) -> str:
    """Say what was compared."""
    return f"{len(facts['methods'])} methods on {len(facts['sets'])} data sets, k = {facts['k']}"


def _how(facts: Mapping[str, Any]) -> str:
    """Say how it was compared."""
    seeds = "one seed" if facts["seeds"] == 1 else f"the mean over {facts['seeds']} seeds"
    said = [f"Every method released every data set at k = {facts['k']}; a figure is {seeds}."]
    names = {one["name"] for one in facts["measures"]}
    if names & {"honest", "combined"}:
        said.append(f"Honest accuracy: a decision tree learned from released rows, {facts['folds']} folds.")
    if "combined" in names:
        said.append(f"Combined utility: {facts['alpha']:g} x honest accuracy + {1 - facts['alpha']:g} x structure.")
    return " ".join(said)


def _read_diagram(one: Mapping[str, Any]) -> str:
    """Say how the diagram is read: nothing is said of what is not in it."""
    found = one["comparison"]
    said = [READ_DIAGRAM, *([READ_BAR] if found["groups"] else []), *([READ_RULER] if found["critical"] else [])]
    return " ".join(said)


def _read_figures(one: Mapping[str, Any]) -> str:
    """Say how the chart of figures is read."""
    read = READ_ONE if one["figures"][0]["low"] is None else READ_SEEDS
    return f"{read} {'More is better.' if one['higher'] else 'Less is better.'}"


def _ranks(one: Mapping[str, Any]) -> Table:
    """Return the methods with mean ranks and scores, best first."""
    found = one["comparison"]
    heads, columns = ["method", ">mean rank"], [found["methods"], [f"{rank:.3f}" for rank in found["mean_ranks"]]]
    if found["scores"] is not None:
        heads.append(">score")
        columns.append([f"{value:.3f}" for value in found["scores"]])
    said = "Mean ranks, 1 is best"
    said += f"; score: sum over {found['sets']} data sets of figure / best figure there" if found["scores"] else ""
    return {"caption": said, "heads": heads, "rows": [list(row) for row in zip(*columns, strict=True)]}


def _figures(one: Mapping[str, Any]) -> Table:
    """Return a line for each data set and a column for each method, the best figure with a star."""
    methods = list(one["comparison"]["methods"])
    held = {(figure["set"], figure["method"]): figure for figure in one["figures"]}
    rows = []
    for name in dict.fromkeys(figure["set"] for figure in one["figures"]):
        line = [held[name, method] for method in methods]
        best = (max if one["higher"] else min)(figure["mean"] for figure in line)
        rows.append([name, *(_cell(figure, best=figure["mean"] == best) for figure in line)])
    spread = ": mean ± half the 95 % interval over seeds" if one["figures"][0]["low"] is not None else ""
    said = f"{one['title']}{spread}; * best of the data set"
    return {"caption": said, "heads": ["data set", *(f">{method}" for method in methods)], "rows": rows}


def _cell(figure: Mapping[str, Any], *, best: bool) -> str:
    """Write a figure with its interval."""
    star = " *" if best else ""
    if figure["low"] is None:
        return f"{_number(figure['mean'])}{star}"
    half = max(figure["high"] - figure["mean"], figure["mean"] - figure["low"])
    # Digits beyond the second of an interval say nothing, nor do those of the figure beyond them.
    places = min(6, max(0, 1 - math.floor(math.log10(half)))) if half > 1e-9 * abs(figure["mean"]) else None
    if places is None:
        return f"{_number(figure['mean'])} ± 0{star}"
    return f"{figure['mean']:,.{places}f} ± {half:,.{places}f}{star}"


def _pairs(one: Mapping[str, Any]) -> Table | None:
    """Return Nemenyi's p of every two methods, if there was something to look for."""
    found = one["comparison"]
    if found["pairs"] is None:
        return None
    rows = [
        [name, *("" if place == column else _chance(p) for column, p in enumerate(line))]
        for place, (name, line) in enumerate(zip(found["methods"], found["pairs"], strict=True))
    ]
    return {
        "caption": "Nemenyi's p of every two methods, for all pairs together",
        "heads": ["", *(f">{name}" for name in found["methods"])],
        "rows": rows,
    }


def _sets(facts: Mapping[str, Any]) -> Table:
    """Return the data sets with their sizes."""
    rows = [[one["name"], f"{one['rows']:,}", f"{one['columns']:,}"] for one in facts["sets"]]
    said = "Columns: quasi-identifiers, without the label"
    return {"caption": said, "heads": ["data set", ">rows", ">columns"], "rows": rows}


def _left_out(facts: Mapping[str, Any]) -> Table | None:
    """Return the data sets that were left out, and why."""
    rows = [[one["set"], one["method"], one["reason"]] for one in facts["left_out"]]
    said = "Left out, because a method could not release or measure them"
    return {"caption": said, "heads": ["data set", "method", "reason"], "rows": rows} if rows else None


def _table(table: Table) -> str:
    """Return a table for a notebook, all of it escaped."""
    sides = ["right" if head.startswith(">") else "left" for head in table["heads"]]
    cells = "padding:.2em .9em .2em 0;border-bottom:1px solid rgba(128,128,128,.3)"
    head = "".join(
        f'<th style="text-align:{side};{cells}">{html.escape(one.removeprefix(">"))}</th>'
        for one, side in zip(table["heads"], sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side};{cells}">{html.escape(cell)}</td>'
            for cell, side in zip(row, sides, strict=True)
        )
        + "</tr>"
        for row in table["rows"]
    )
    said = f'<caption style="text-align:left;caption-side:top"><small>{html.escape(table["caption"])}</small></caption>'
    return f'<table style="border-collapse:collapse;margin:.3em 0 .6em">{said}<tr>{head}</tr>{body}</table>'


def _marked_down(table: Table) -> list[str]:
    """Return a table as lines of Markdown."""
    heads = [_plain(head.removeprefix(">")) for head in table["heads"]]
    sides = ["---:" if head.startswith(">") else "---" for head in table["heads"]]
    lines: list[Sequence[str]] = [heads, sides, *([_plain(cell) for cell in row] for row in table["rows"])]
    return [f"{_plain(table['caption'])}.", "", *(f"| {' | '.join(line)} |" for line in lines)]


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is."""
    kept = "".join(f"\\{sign}" if sign in "\\`*_{}[]<>#|!" else sign for sign in text)
    return " ".join(kept.split())


def _capital(text: str) -> str:
    """Return a title that starts large, unless it is a symbol."""
    return text[:1].upper() + text[1:]


def _number(value: float) -> str:
    """Write a figure with four digits that count."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _chance(p: float) -> str:
    """Write a p value."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
