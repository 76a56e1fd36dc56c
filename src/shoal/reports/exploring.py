"""The page of an exploration: risk against utility, the Pareto front, every point, and what was left out.

It takes the facts of `Exploration.as_dict`: figures of whole releases, never a row. `frontier` draws the charts.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import counted
from shoal.reports import blocks
from shoal.reports.blocks import Block
from shoal.reports.frontier import lines, overview
from shoal.reports.notebook import card
from shoal.reports.render import as_html

Facts = Mapping[str, Any]

EYES = "Confidential: these figures use the original table, and the policies contain random seeds."
READ = (
    "How to read it: utility increases to the right and risk decreases downwards; the best corner is the lower right. "
    "Blue dots are Pareto-optimal and numbered as in the table below; pale ones are dominated. Lines through a dot are "
    "95% intervals; a figure without one is exact."
)
DASHED = " Dashed lines are reference figures: see “How it was measured”."
READ_LINES = (
    "How to read them: as above, one picture per method. The line joins its points in order of k; pale dots are the "
    "Pareto front of all methods. A method whose line stays far from the pale dots has little to offer for this table."
)
BESIDE = (
    "If a figure is below that of the most frequent label alone, the tree has learned nothing from the release. If it "
    "is above that of the table itself, the release does not contain more information: it keeps the tree from "
    "overfitting."
)
READ_ATTACKS = (
    "An attack shows a leak if its whole interval lies above the bound, the rate that guessing, the control or the "
    "policy (1/k) permits anyway. An attack without evidence of a leak does not prove that there is none."
)
POLICIES = (
    "The folder `front` has a policy for each Pareto-optimal point, which gives the same bytes again for this table:"
)
RELOAD = 10  # seconds
MOST_NOTES = 12


def explore_html(facts: Facts) -> str:
    """Return an exploration as one HTML file."""
    front, attacked = _front(facts), _attacks(facts)
    by_method = [blocks.chart(name, one, f"k = {asked}") for name, asked, one in lines(facts)]
    parts: list[tuple[str, str, list[Block | None]]] = [
        ("front", "Pareto front", front or [blocks.text("No point has both figures, so there is nothing to compare.")]),
        ("methods", "Method by method", [blocks.figures(by_method, READ_LINES)]),
        ("points", "Every point", [_points(facts), _failed(facts)]),
        ("attacks", "Attacks", [attacked, blocks.text(READ_ATTACKS)] if attacked else []),
        ("left-out", "What was left out", [_left_out(facts) or blocks.text("Nothing: everything requested was run.")]),
        ("how", "How it was measured", [blocks.terms(_how(facts)), *_notes(facts)]),
        ("choose", "Before you choose", [blocks.note(facts["caution"]), blocks.text(POLICIES), _command(facts)]),
    ]
    return as_html(
        {
            "title": _title(facts),
            "kicker": "shoal: exploration",
            "lead": _lead(facts),
            "head": [*_progress(facts), blocks.note(EYES)],
            "reload": RELOAD if facts["waiting"] else None,
            "sections": [blocks.section(*part) for part in parts if part[2]],
        }
    )


def explore_card(facts: Facts) -> str:
    """Return an exploration as an HTML fragment for a notebook."""
    gone = _left_out(facts)
    shown = [
        *_progress(facts),
        *_front(facts),
        blocks.more("Left out", [gone]) if gone else None,
        blocks.text(facts["caution"]),
    ]
    return card(_title(facts), _lead(facts), shown)


def _title(facts: Facts) -> str:
    """State what was explored."""
    of = f" of {facts['source']}" if facts["source"] else ""
    return f"{counted(len(facts['points']), 'release')}{of}: risk against utility"


def _lead(facts: Facts) -> str:
    """Summarize the result."""
    done = sum(one["compared"] for one in facts["points"])
    summary = f"{facts['rows']:,} rows. {counted(done, 'release')} of {len(facts['points'])} verified and measured"
    on = f"{len(facts['front'])} on the Pareto front of risk and utility"
    return f"{summary}; {on}. Nothing has been chosen: the choice is yours."


def _progress(facts: Facts) -> list[Block]:
    """State how many points are complete, if some are not for lack of time."""
    done, waiting, late = len(facts["points"]), len(facts["waiting"]), facts["late"]
    if waiting:
        return [
            blocks.note(
                f"In progress: {done} of {done + waiting} points on {facts['written']}. This page is replaced as "
                f"points arrive, and read again every {RELOAD} seconds. If the time stands still, the run was stopped: "
                "the same command continues it."
            )
        ]
    if late:
        return [
            blocks.note(
                f"{done} of {done + len(late)} points: the others were left out for lack of time (the budget was "
                f"{facts['budget']:g} s), see “What was left out”. The same command continues with them."
            )
        ]
    return []


def _front(facts: Facts) -> list[Block | None]:
    """Return the chart of all points, and the Pareto front as a table with the numbers of the chart."""
    if not any(one["compared"] for one in facts["points"]):
        return []
    by_name = {one["name"]: one for one in facts["points"]}
    front = [by_name[name] for name in facts["front"]]
    numbered = {name: str(number + 1) for number, name in enumerate(facts["front"])}
    same = [f"{one['name']} as {one['same_as']}" for one in facts["points"] if one["same_as"] in facts["front"]]
    twins = f" Others give the same release, byte for byte: {'; '.join(same)}." if same else ""
    caption = f"Pareto front, lowest risk first. Each point has a policy file of the same name.{twins}"
    columns = {">": lambda one: numbered[one["name"]], **_columns(facts, front, facts["risks"])}
    return [
        blocks.chart("Risk against utility", overview(facts), f"{READ}{DASHED if facts['references'] else ''}"),
        _table(caption, columns, front),
    ]


def _points(facts: Facts) -> Block:
    """Return every released point with all its figures."""
    done = [one for one in facts["points"] if one["status"] == "done"]
    columns = {
        **_columns(facts, done, dict.fromkeys(name for one in done for name in one["figures"])),
        ">seconds": lambda one: f"{one['seconds']:.1f}",
        "front": lambda one: "yes" if one["front"] else "" if one["same_as"] is None else f"as {one['same_as']}",
    }
    return _table("Every point that was released", columns, done)


def _columns(facts: Facts, points: Sequence[Facts], figures: Any) -> dict[str, Any]:
    """Return a function that formats each column: what was requested, the compared figures, and others.

    l and t have columns only if points differ in them; otherwise the names of points include them.
    """
    found: dict[str, Any] = {"point": lambda one: one["name"], ">k": lambda one: str(one["k"])}
    for name in ("l", "t"):
        if len({one[name] for one in facts["points"]}) > 1:
            found[f">{name}"] = lambda one, name=name: "" if one[name] is None else f"{one[name]:g}"
    for what in ("utility", "risk"):
        found[f">{facts[what]['name']}"] = lambda one, what=what: _with_interval(one[what])
    for name in figures:
        if f">{name}" not in found and any(name in one["figures"] for one in points):
            found[f">{name}"] = lambda one, name=name: _value(one["figures"].get(name))
    return found


def _table(caption: str, columns: Mapping[str, Any], points: Sequence[Facts]) -> Block:
    """Return points as a table in small type."""
    rows = [[write(one) for write in columns.values()] for one in points]
    return {**blocks.table(list(columns), rows, caption), "tight": True}


def _failed(facts: Facts) -> Block | None:
    """Return the points that were not released or lack a figure, with reasons."""
    rows = [[one["name"], one["status"], one["reason"]] for one in facts["points"] if one["reason"]]
    return blocks.table(["point", "status", "why"], rows, "Points without a release or a figure") if rows else None


def _attacks(facts: Facts) -> Block | None:
    """Return how successful attacks on the Pareto-optimal points were, if there were any."""
    rows = []
    for one in (one for one in facts["points"] if one["front"]):
        for tried in one["attacks"]:
            figures = ("–", "–", "–")
            if tried["interval"] is not None:
                figures = (f"{tried['rate']:.3f}", _ends(*tried["interval"]), f"{tried['bound']:.3f}")
            rows.append([one["name"], tried["name"], *figures, tried["outcome"]])
    heads = ["point", "attack", ">rate", ">95% interval", ">bound", "outcome"]
    caption = "Attacks on the Pareto-optimal points, by an attacker who knows all quasi-identifiers"
    return blocks.table(heads, rows, caption) if rows else None


def _left_out(facts: Facts) -> Block | None:
    """Return what was left out, with reasons."""
    rows = [[one["name"], one["reason"]] for one in facts["left_out"]]
    return blocks.table(["what", "why"], rows, "Left out") if rows else None


def _how(facts: Facts) -> list[tuple[str, str]]:
    """Explain what is compared, and how certain it is."""
    words = []
    for what in ("utility", "risk"):
        aim = facts[what]
        better = "Higher is better." if aim["higher_is_better"] else "Lower is better."
        words.append((f"{what.capitalize()}: {aim['name']}", f"{aim['how']}. {better}"))
    sure = (
        "Figures from held-out rows and attacks have their own intervals. Figures that compare table and release have "
        f"intervals from a delete-a-group jackknife over {facts['folds']} groups of whole classes. What is counted in "
        "the release alone is exact."
    )
    if facts["references"]:
        given = ", ".join(f"{name} {value:.4g}" for name, value in facts["references"].items())
        words.append(("Reference figures", f"{given}. {BESIDE}"))
    words += [("Intervals", sure), ("Pareto front", facts["rule"])]
    return [*words, ("Expected cost of the remaining runs", f"{facts['estimate']['summary']}.")]


def _notes(facts: Facts) -> list[Block | None]:
    """Return notes about releases, the most frequent first, without those that methods give about themselves."""
    counts = Counter(note for one in facts["points"] for note in one["notes"] if note not in one["method_notes"])
    shown = [note for note, _ in counts.most_common(MOST_NOTES)]
    return [blocks.text("Notes about the table:"), blocks.items(shown)] if shown else []


def _command(facts: Facts) -> Block:
    """Return the command that makes one of the releases."""
    name = facts["front"][0] if len(facts["front"]) == 1 else "NAME"
    source = facts["source"] or "FILE"
    file = shlex.quote(f"./{source}" if source.startswith("-") else source)
    return blocks.code(f"shoal anonymize {file} --policy front/{name}.toml -o release --private mine")


def _with_interval(figure: Facts | None) -> str:
    """Format a figure with its interval."""
    if figure is None:
        return "none"
    ends = "" if figure["low"] is None else f" [{_ends(figure['low'], figure['high'])}]"
    return f"{figure['value']:.4g}{ends}"


def _ends(low: float, high: float) -> str:
    """Format the ends of an interval."""
    return f"{low:.4g}, {high:.4g}"


def _value(figure: Facts | None) -> str:
    """Format a figure without its interval."""
    return "" if figure is None else f"{figure['value']:.4g}" if figure["value"] < 1e4 else f"{figure['value']:,.0f}"
