"""The page of an exploration: risk against utility, the Pareto front, every point, and what was left out.

It takes the facts of `Exploration.as_dict`: figures of whole releases, and never a row. `frontier` draws the charts.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report import blocks
from shoal.report.blocks import Block
from shoal.report.frontier import lines, overview
from shoal.report.notebook import card
from shoal.report.render import as_html

__all__ = ["explore_card", "explore_html"]

Facts = Mapping[str, Any]

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
READ_ATTACKS = (
    "A leak has its whole interval above the bound: what luck, a control or the policy (1/k) gives anyway. An attack "
    "that fails proves nothing; one that succeeds does."
)
POLICIES = (
    "Each point of the front has a policy in the folder `front`. The same table and that policy give the same bytes "
    "again:"
)
MOST_NOTES = 12


def explore_html(facts: Facts) -> str:
    """Return an exploration as one HTML file."""
    front, attacked = _front(facts), _attacks(facts)
    parts: list[tuple[str, str, list[Block | None]]] = [
        ("front", "The front", front or [blocks.text("No point has both figures, so that there is nothing to weigh.")]),
        ("methods", "Method by method", [_lines(facts)]),
        ("points", "Every point", [_points(facts), _failed(facts)]),
        ("attacks", "Attacks", [attacked, blocks.text(READ_ATTACKS)] if attacked else []),
        (
            "left-out",
            "What was left out",
            [_left_out(facts) or blocks.text("Nothing: everything asked for was tried.")],
        ),
        ("how", "How it was measured", [blocks.terms(_how(facts)), *_notes(facts)]),
        ("choose", "Before you choose", [blocks.note(facts["channel"]), blocks.text(POLICIES), _command(facts)]),
    ]
    return as_html(
        {
            "title": _title(facts),
            "kicker": "shoal: exploration",
            "lead": _lead(facts),
            "head": [blocks.note(EYES)],
            "sections": [blocks.section(*part) for part in parts if part[2]],
        }
    )


def explore_card(facts: Facts) -> str:
    """Return an exploration as a piece of HTML for a notebook."""
    gone = _left_out(facts)
    shown = [*_front(facts), blocks.more("Left out", [gone]) if gone else None, blocks.text(facts["channel"])]
    return card(_title(facts), _lead(facts), shown)


def _title(facts: Facts) -> str:
    """Say what was explored."""
    of = f" of {facts['source']}" if facts["source"] else ""
    return f"{_many(len(facts['points']), 'release')}{of}, weighed"


def _lead(facts: Facts) -> str:
    """Say what came out."""
    done = sum(one["weighed"] for one in facts["points"])
    said = f"{facts['rows']:,} rows. {_many(done, 'release')} of {len(facts['points'])} verified and measured"
    on = f"{len(facts['front'])} on the front between risk and utility"
    return f"{said}; {on}. Nothing has been chosen: that is yours to do."


def _front(facts: Facts) -> list[Block | None]:
    """Return the picture of all points, and those of the front as a table, numbered as in the picture."""
    if not any(one["weighed"] for one in facts["points"]):
        return []
    by_name = {one["name"]: one for one in facts["points"]}
    front = [by_name[name] for name in facts["front"]]
    numbered = {name: str(number + 1) for number, name in enumerate(facts["front"])}
    same = [f"{one['name']} as {one['twin']}" for one in facts["points"] if one["twin"] in facts["front"]]
    twins = f" Others make the same release, byte for byte: {'; '.join(same)}." if same else ""
    said = f"The front, the least risk first. Each has a policy file of its name.{twins}"
    columns = {">": lambda one: numbered[one["name"]], **_columns(facts, front, facts["risks"])}
    return [
        blocks.chart("Risk against utility", overview(facts), f"{READ}{DASHED if facts['beside'] else ''}"),
        _table(said, columns, front),
    ]


def _points(facts: Facts) -> Block:
    """Return every point that was released, with all its figures."""
    done = [one for one in facts["points"] if one["status"] == "done"]
    columns = {
        **_columns(facts, done, dict.fromkeys(name for one in done for name in one["figures"])),
        ">seconds": lambda one: f"{one['seconds']:.1f}",
        "front": lambda one: "yes" if one["front"] else "" if one["twin"] is None else f"as {one['twin']}",
    }
    return _table("Every point that was released", columns, done)


def _columns(facts: Facts, points: Sequence[Facts], figures: Any) -> dict[str, Any]:
    """Return the columns of points: what was asked, what is weighed, and other figures; each with how it is written.

    There are l and t only where points differ in them; else the names of points say them.
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


def _lines(facts: Facts) -> Block | None:
    """Return a small picture for each method."""
    return blocks.figures([blocks.chart(name, one, f"k = {asked}") for name, asked, one in lines(facts)], READ_LINES)


def _failed(facts: Facts) -> Block | None:
    """Return the points that were not released, or lack a figure, and why."""
    rows = [[one["name"], one["status"], one["reason"]] for one in facts["points"] if one["reason"]]
    return blocks.table(["point", "status", "why"], rows, "Points that are not weighed") if rows else None


def _attacks(facts: Facts) -> Block | None:
    """Return how far attacks on the points of the front got, if there were any."""
    rows = []
    for one in (one for one in facts["points"] if one["front"]):
        for tried in one["attacks"]:
            figures = ("–", "–", "–")
            if tried["interval"] is not None:
                figures = (f"{tried['rate']:.3f}", _ends(*tried["interval"]), f"{tried['bound']:.3f}")
            rows.append([one["name"], tried["name"], *figures, tried["outcome"]])
    heads = ["point", "attack", ">rate", ">95 % interval", ">bound", "outcome"]
    said = "Attacks on the points of the front, by somebody who knows all quasi-identifiers"
    return blocks.table(heads, rows, said) if rows else None


def _left_out(facts: Facts) -> Block | None:
    """Return what was left out, and why."""
    rows = [[one["name"], one["reason"]] for one in facts["left_out"]]
    return blocks.table(["what", "why"], rows, "Left out before anything was run") if rows else None


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


def _notes(facts: Facts) -> list[Block | None]:
    """Return what was noted of releases, but for what methods say of themselves; what most releases share first."""
    said = Counter(note for one in facts["points"] for note in one["notes"] if note not in one["method_notes"])
    shown = [note for note, _ in said.most_common(MOST_NOTES)]
    return [blocks.text("What was noticed about the table:"), blocks.items(shown)] if shown else []


def _command(facts: Facts) -> Block:
    """Return the command that makes one of the releases."""
    name = facts["front"][0] if len(facts["front"]) == 1 else "NAME"
    source = facts["source"] or "FILE"
    file = shlex.quote(f"./{source}" if source.startswith("-") else source)
    return blocks.code(f"shoal anonymize {file} --policy front/{name}.toml -o release --private mine")


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
