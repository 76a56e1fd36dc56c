"""The page of an exploration: risk against utility, the front, every point, and what was left out.

It takes the facts of `Exploration.as_dict`: figures of whole releases, and never a row. Pictures are drawn by
`frontier` and `lines`.
"""

import html
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.report.charts import moving, svg
from shoal.report.frontier import interactive, lines, overview
from shoal.report.render import page

__all__ = ["explore_card", "explore_chart", "explore_html"]

Facts = Mapping[str, Any]
Table = dict[str, Any]

EYES = "For your eyes only: these figures are of the table and its releases together, and the policies hold seeds."
READ = (
    "How to read it: to the right is more utility, further down less risk; the best corner is the lower right. A blue "
    "dot is on the front, and its number is that of the table below; a pale one is clearly beaten. Lines through a dot "
    "are 95 % intervals; a figure without one is exact."
)
DASHED = " Dashed lines are what releases are to be compared with: see «How it was measured»."
READ_LINES = (
    "How to read them: as above, one picture for each method. The line joins its points in the order of k; pale dots "
    "are the front of all methods. A line that runs far from the pale dots has little to offer for this table."
)
BESIDE = (
    "A release below the commonest label teaches a tree nothing; one above the table itself keeps a tree from learning "
    "rows by heart, and does not know more."
)
SHOWN = {
    "prosecutor risk": "highest risk",
    "marketer risk": "mean risk",
    "record linkage": "record linkage",
    "information loss %": "information loss %",
    "cell loss %": "cell loss %",
    "class loss %": "class loss %",
    "2-way total variation %": "2-way variation %",
    "classes": "classes",
}
MOST_NOTES = 12
GENERAL = ("column ", "columns ", "read with ", "sensitive columns ")  # notes of the table, and not of a method


def explore_html(facts: Facts) -> str:
    """Return an exploration as one HTML file.

    Parameters
    ----------
    facts : mapping
        As from `Exploration.as_dict`.
    """
    done = [one for one in facts["points"] if _known(one)]
    front = _front(facts)
    parts = [("front", "The front"), ("methods", "Method by method"), ("points", "Every point")]
    attacked = _attacks(facts)
    parts += [("attacks", "Attacks")] if attacked else []
    parts += [("left-out", "What was left out"), ("how", "How it was measured"), ("choose", "Before you choose")]
    return page(
        "explore.html.j2",
        title=_title(facts),
        kicker="shoal: exploration",
        sections=[{"id": name, "title": title} for name, title in parts],
        lead=_lead(facts),
        eyes=EYES,
        overview=_picture("Risk against utility", overview(facts), f"{READ}{DASHED if facts['beside'] else ''}")
        if done
        else None,
        front=_front_table(facts, front),
        lines=[{"title": name, "picture": svg(chart)} for name, chart in lines(facts)],
        read_lines=READ_LINES,
        points=_points_table(facts),
        failed=_failed(facts),
        attacks=attacked,
        left_out=_left_out(facts),
        how=_how(facts),
        notes=_notes(facts),
        channel=facts["channel"],
        command=_command(facts, front),
    )


def explore_card(facts: Facts) -> str:
    """Return an exploration as a piece of HTML for a notebook.

    Parameters
    ----------
    facts : mapping
        As from `Exploration.as_dict`.
    """
    parts = [f"<p><b>{html.escape(_title(facts))}</b><br><small>{html.escape(_lead(facts))}</small></p>"]
    if any(_known(one) for one in facts["points"]):
        parts += [svg(overview(facts)), _plain(_front_table(facts, _front(facts)))]
    gone = _left_out(facts)
    parts += [f"<details><summary>Left out</summary>{_plain(gone)}</details>"] if gone else []
    parts.append(f"<p><small>{html.escape(facts['channel'])}</small></p>")
    return f'<div style="max-width:60em">{"".join(parts)}</div>'


def explore_chart(facts: Facts) -> Any:
    """Return risk against utility as an Altair chart that can be moved, with a line for each method.

    Parameters
    ----------
    facts : mapping
        As from `Exploration.as_dict`.
    """
    return moving(interactive(facts))


def _title(facts: Facts) -> str:
    """Say what was explored."""
    of = f" of {facts['source']}" if facts["source"] else ""
    return f"{_many(len(facts['points']), 'release')}{of}, weighed"


def _lead(facts: Facts) -> str:
    """Say what came out."""
    done = sum(_known(one) for one in facts["points"])
    said = f"{facts['rows']:,} rows. {_many(done, 'release')} of {len(facts['points'])} verified and measured"
    on = f"{len(facts['front'])} on the front between risk and utility"
    return f"{said}; {on}. Nothing has been chosen: that is yours to do."


def _front(facts: Facts) -> list[Facts]:
    """Return the points of the front, in their order."""
    by_name = {one["name"]: one for one in facts["points"]}
    return [by_name[name] for name in facts["front"]]


def _front_table(facts: Facts, front: Sequence[Facts]) -> Table:
    """Return the points of the front as a table, numbered as in the picture."""
    heads = [">", "point", ">k", *_asked(facts), f">{facts['utility']['name']}", f">{facts['risk']['name']}"]
    others = [name for name in ("prosecutor risk", "record linkage") if name != facts["risk"]["name"]]
    heads += [f">{SHOWN[name]}" for name in others]
    rows = []
    for number, one in enumerate(front):
        row = [str(number + 1), one["name"], str(one["k"]), *_wishes(facts, one)]
        row += [_with_interval(one["utility"]), _with_interval(one["risk"])]
        rows.append([*row, *(_value(one["figures"].get(name)) for name in others)])
    return {
        "caption": f"The front, the least risk first. Each has a policy file of its name.{_twins(facts)}",
        "heads": heads,
        "rows": rows,
    }


def _twins(facts: Facts) -> str:
    """Say which points are not in the table because their release is that of another one."""
    said = [f"{one['name']} as {one['twin']}" for one in facts["points"] if one["twin"] in facts["front"]]
    return f" Others make the same release, byte for byte: {'; '.join(said)}." if said else ""


def _points_table(facts: Facts) -> Table:
    """Return every point that was released."""
    done = [one for one in facts["points"] if one["status"] == "done"]
    weighed = [facts["utility"]["name"], facts["risk"]["name"]]
    names = [name for name in SHOWN if name not in weighed and any(name in one["figures"] for one in done)]
    heads = ["point", ">k", *_asked(facts), *(f">{name}" for name in (*weighed, *(SHOWN[one] for one in names)))]
    rows = []
    for one in done:
        row = [one["name"], str(one["k"]), *_wishes(facts, one)]
        row += [_with_interval(one[what]) for what in ("utility", "risk")]
        row += [_value(one["figures"].get(name)) for name in names]
        on = "yes" if one["front"] else "" if one["twin"] is None else f"as {one['twin']}"
        rows.append([*row, f"{one['seconds']:.1f}", on])
    return {"caption": "Every point that was released", "heads": [*heads, ">seconds", "front"], "rows": rows}


def _failed(facts: Facts) -> Table | None:
    """Return the points that were not released, or lack a figure, and why."""
    rows = [[one["name"], one["status"], one["reason"]] for one in facts["points"] if one["reason"]]
    heads = ["point", "status", "why"]
    return {"caption": "Points that are not weighed", "heads": heads, "rows": rows} if rows else None


def _attacks(facts: Facts) -> Table | None:
    """Return how far attacks on the points of the front got, if there were any."""
    rows = []
    for one in _front(facts):
        for tried in one["attacks"]:
            figures = ("–", "–", "–")
            if tried["interval"] is not None:
                figures = (f"{tried['rate']:.3f}", _ends(*tried["interval"]), f"{tried['bound']:.3f}")
            rows.append([one["name"], tried["name"], *figures, tried["outcome"]])
    heads = ["point", "attack", ">rate", ">95 % interval", ">bound", "outcome"]
    said = "Attacks on the points of the front, by somebody who knows all quasi-identifiers"
    return {"caption": said, "heads": heads, "rows": rows} if rows else None


def _left_out(facts: Facts) -> Table | None:
    """Return what was left out, and why."""
    rows = [[one["name"], one["reason"]] for one in facts["left_out"]]
    return {"caption": "Left out before anything was run", "heads": ["what", "why"], "rows": rows} if rows else None


def _how(facts: Facts) -> list[tuple[str, str]]:
    """Say what is weighed, and how sure it is."""
    words = []
    for what in ("utility", "risk"):
        aim = facts[what]
        better = "More is better." if aim["higher_is_better"] else "Less is better."
        words.append((f"{what.capitalize()}: {aim['name']}", f"{aim['how']}. {better}"))
    sure = (
        "Figures of held-out rows and of attacks have intervals of their own. Figures of table and release together "
        f"have one by a delete-a-group jackknife over {facts['folds']} parts of whole classes. What is counted in the "
        "release alone is exact."
    )
    if facts["beside"]:
        given = ", ".join(f"{name} {value:.4g}" for name, value in facts["beside"].items())
        words.append(("To compare", f"{given}. {BESIDE}"))
    words += [("Intervals", sure), ("The front", facts["rule"])]
    return [*words, ("Expected of what was left to run", f"{facts['estimate']['said']}.")]


def _notes(facts: Facts) -> list[str]:
    """Return what was said of the table, each sentence once."""
    said = dict.fromkeys(note for one in facts["points"] for note in one["notes"] if note.startswith(GENERAL))
    return list(said)[:MOST_NOTES]


def _command(facts: Facts, front: Sequence[Facts]) -> str:
    """Return the command that makes one of the releases."""
    name = front[0]["name"] if len(front) == 1 else "NAME"
    source = facts["source"] or "FILE"
    file = shlex.quote(f"./{source}" if source.startswith("-") else source)
    return f"shoal anonymize {file} --policy front/{name}.toml -o release --private mine"


def _asked(facts: Facts) -> list[str]:
    """Return the heads of l and t, where points differ in them; else the names of points say them."""
    return [f">{name}" for name in ("l", "t") if len({one[name] for one in facts["points"]}) > 1]


def _wishes(facts: Facts, one: Facts) -> list[str]:
    """Return l and t of a point."""
    return ["" if one[head[1:]] is None else f"{one[head[1:]]:g}" for head in _asked(facts)]


def _picture(title: str, chart: Any, caption: str) -> dict[str, str]:
    """Return a figure for a template."""
    return {"title": title, "picture": svg(chart), "caption": caption}


def _known(one: Facts) -> bool:
    """Say whether a point has both figures."""
    return one["status"] == "done" and one["utility"] is not None and one["risk"] is not None


def _with_interval(figure: Facts | None) -> str:
    """Write a figure with the ends of its interval."""
    if figure is None:
        return "none"
    ends = "" if figure["low"] is None else f" [{_ends(figure['low'], figure['high'])}]"
    return f"{figure['value']:.4g}{ends}"


def _ends(low: float, high: float) -> str:
    """Write the ends of an interval."""
    return f"{low:.4g}, {high:.4g}"


def _value(figure: Facts | None) -> str:
    """Write a figure alone."""
    return "" if figure is None else f"{figure['value']:.4g}" if figure["value"] < 1e4 else f"{figure['value']:,.0f}"


def _many(count: int, noun: str) -> str:
    """Write a number with its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _plain(table: Table) -> str:
    """Return a table as HTML, for notebooks."""
    cells: Iterable[str] = (f"<th>{html.escape(head.removeprefix('>'))}</th>" for head in table["heads"])
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table["rows"])
    return f"<table><thead><tr>{''.join(cells)}</tr></thead><tbody>{body}</tbody></table>"
