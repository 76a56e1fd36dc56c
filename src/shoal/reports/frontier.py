"""The charts of an exploration: risk against utility, with one dot per release.

Utility grows to the right and risk upwards, whatever their own direction: the axis of a loss is reversed. Colours are
those of the report; Pareto-optimal points are blue, others pale, and nothing is conveyed by colour alone. All functions
take the facts of `Exploration.as_dict`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.reports.charts import ONE, PALE, alt, rows

MOST_POINTS = 1_500  # drawn
MOST_LINES = 36
MOST_BEHIND = 40  # points of the Pareto front behind the line of a method
MOST_TOGETHER = 6  # numbers at one position
CLOSE = (34.0, 14.0)  # pixels
WIDE, TALL, SMALL = 620, 400, (230, 150)
AXES = (("x", "utility"), ("y", "risk"))

Facts = Mapping[str, Any]


def overview(facts: Facts) -> Any:
    """Return every point with its intervals; Pareto-optimal points are numbered."""
    known = [one for one in _known(facts) if one["same_as"] is None][:MOST_POINTS]
    order = {name: place for place, name in enumerate(facts["front"])}
    front = sorted((one for one in known if one["front"]), key=lambda one: order[one["name"]])
    axes = _axes(facts, known)
    layers = _references(facts, axes["x"])
    for some, colour, size in (([one for one in known if not one["front"]], PALE, 36), (front, ONE, 64)):
        if some:
            layers += [*_spans(some, axes, colour), _dots(facts, some, axes, colour, size)]
    if front:
        numbers = alt.Chart(_numbers(facts, known, front)).mark_text(
            dy=-10, dx=6, fontSize=10, align="left", aria=False
        )
        layers.append(numbers.encode(**axes, text="number:N"))
    return alt.layer(*layers, width=WIDE, height=TALL)


def lines(facts: Facts) -> list[tuple[str, str, Any]]:
    """Return name, k and a small chart of each method with its parameters, its points joined in order of k."""
    known = _known(facts)
    front = [one for one in known if one["front"]][:MOST_BEHIND]
    axes = _axes(facts, known, short=True)
    found = []
    line_of = _lines_of(facts)
    for line in list(dict.fromkeys(line_of[one["name"]] for one in known))[:MOST_LINES]:
        own = sorted((one for one in known if line_of[one["name"]] == line), key=_order)
        joined = alt.Chart(_data(facts, own)).mark_line(color=ONE, strokeWidth=1.5, aria=False)
        layers = [_dots(facts, front, axes, PALE, 30, aria=False)] if front else []
        layers += [joined.encode(**axes, order="place:Q"), *_spans(own, axes, ONE), _dots(facts, own, axes, ONE, 34)]
        asked = ", ".join(str(k) for k in dict.fromkeys(one["k"] for one in own))
        found.append((line, asked, alt.layer(*layers, width=SMALL[0], height=SMALL[1])))
    return found


def interactive(facts: Facts) -> Any:
    """Return a chart for a notebook, with zoom and pan; a click in the legend highlights one method."""
    known = _known(facts)
    axes = _axes(facts, known)
    line_of = _lines_of(facts)
    data = _data(facts, sorted(known, key=lambda one: (line_of[one["name"]], *_order(one))))
    chosen = alt.selection_point(fields=["line"], bind="legend")
    look = {
        "color": alt.Color("line:N", title="method", scale=alt.Scale(scheme="tableau20")),
        "opacity": alt.when(chosen).then(alt.value(1)).otherwise(alt.value(0.12)),
    }
    line = alt.Chart(data).mark_line(strokeWidth=1).encode(**axes, **look, order="place:Q")
    shape = alt.Shape("on:N", title="Pareto-optimal", scale=alt.Scale(domain=["yes", "no"], range=["circle", "cross"]))
    dots = alt.Chart(data).mark_point(filled=True, size=60)
    drawn = dots.encode(**axes, **look, shape=shape, tooltip=["name:N", "description:N"])
    return alt.layer(line, drawn, width=WIDE, height=TALL).add_params(chosen).interactive()


def _known(facts: Facts) -> list[Facts]:
    """Return the points that have both figures."""
    return [one for one in facts["points"] if one["compared"]]


def _lines_of(facts: Facts) -> dict[str, str]:
    """Return the label of each point's line: its method with parameters, and l and t where points differ in them."""
    varied = [name for name in ("l", "t") if len({one[name] for one in facts["points"]}) > 1]
    return {
        one["name"]: ", ".join([one["line"], *(f"{name} = {one[name]:g}" for name in varied if one[name] is not None)])
        for one in facts["points"]
    }


def _order(one: Facts) -> tuple[float, float, float]:
    """Return the sort key of points on a line."""
    return one["k"], one["l"] or 0.0, one["t"] or 0.0


def _axes(facts: Facts, known: Sequence[Facts], *, short: bool = False) -> dict[str, Any]:
    """Return the axes: better is to the right, and further down."""
    found = {}
    for letter, what in AXES:
        aim = facts[what]
        better, arrow = "higher" if aim["higher_is_better"] else "lower", "→" if letter == "x" else "↓"
        title = aim["name"] if short else f"{aim['name']} ({better} is better {arrow})"
        turned = aim["higher_is_better"] != (letter == "x")
        scale = alt.Scale(domain=_domain(facts, known, what), reverse=turned, nice=False, zero=False)
        channel = alt.X if letter == "x" else alt.Y
        found[letter] = channel(f"{letter}:Q", scale=scale, axis=alt.Axis(tickCount=4 if short else 8, title=title))
    return found


def _domain(facts: Facts, known: Sequence[Facts], what: str) -> list[float]:
    """Return the ends of an axis: slightly beyond all figures and intervals, but not below 0 for that reason."""
    ends = list(facts["references"].values()) if what == "utility" else []
    ends += [end for one in known for end in one[what].values() if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    edge = 0.05 * (high - low) or 0.5
    return [low - edge if low - edge > 0 or low < 0 else 0.0, high + edge]


def _references(facts: Facts, x: Any) -> list[Any]:
    """Return a labelled dashed line for each reference figure."""
    if not facts["references"]:
        return []
    descriptions = [f"{name}: {value:.4g}" for name, value in facts["references"].items()]
    data = rows(x=list(facts["references"].values()), description=descriptions)
    line = alt.Chart(data).mark_rule(color="currentColor", opacity=0.6, strokeDash=[4, 3])
    words = alt.Chart(data).mark_text(angle=270, align="right", dx=-4, dy=-6, fontSize=10, aria=False)
    return [
        line.encode(x=x, tooltip="description:N", description="description:N"),
        words.encode(x=x, y=alt.value(0), text="description:N"),
    ]


def _dots(facts: Facts, some: Sequence[Facts], axes: Facts, colour: str, size: int, *, aria: bool = True) -> Any:
    """Return a dot for each point, with a description unless it is hidden from screen readers."""
    channels = {"tooltip": "description:N", "description": "description:N"} if aria else {}
    silent = {} if aria else {"aria": False}
    dots = alt.Chart(_data(facts, some)).mark_point(filled=True, opacity=1, color=colour, size=size, **silent)
    return dots.encode(**axes, **channels)


def _spans(some: Sequence[Facts], axes: Facts, colour: str) -> Iterable[Any]:
    """Yield the intervals of points as thin lines; an exact figure has none."""
    for (along, what), (across, other) in (AXES, AXES[::-1]):
        own = [one for one in some if one[what]["low"] is not None and one[what]["high"] > one[what]["low"]]
        if own:
            ends = {along: [one[what]["low"] for one in own], "end": [one[what]["high"] for one in own]}
            data = rows(**ends, **{across: [one[other]["value"] for one in own]})
            rule = alt.Chart(data).mark_rule(color=colour, strokeWidth=1.2, aria=False)
            yield rule.encode(**axes, **{f"{along}2": "end"})


def _numbers(facts: Facts, known: Sequence[Facts], front: Sequence[Facts]) -> Any:
    """Return the positions of the numbers of the Pareto front; dots close together share one."""
    scales = [(_domain(facts, known, what), size) for what, size in (("utility", WIDE), ("risk", TALL))]
    held: list[tuple[tuple[float, float], list[float], list[str]]] = []
    for number, one in enumerate(front):
        values = one["utility"]["value"], one["risk"]["value"]
        at = [(v - ends[0]) / (ends[1] - ends[0]) * size for v, (ends, size) in zip(values, scales, strict=True)]
        near = (
            words for _, place, words in held if all(abs(p - a) < c for p, a, c in zip(place, at, CLOSE, strict=True))
        )
        words = next(near, None)
        if words is None:
            held.append((values, at, words := []))
        words.append(str(number + 1))
    written = [[*words[:MOST_TOGETHER], *(["…"] if len(words) > MOST_TOGETHER else [])] for _, _, words in held]
    places = {letter: [values[side] for values, _, _ in held] for side, (letter, _) in enumerate(AXES)}
    return rows(**places, number=[", ".join(words) for words in written])


def _data(facts: Facts, some: Sequence[Facts]) -> Any:
    """Return points as chart data, each with its description."""
    line_of = _lines_of(facts)
    return rows(
        x=[one["utility"]["value"] for one in some],
        y=[one["risk"]["value"] for one in some],
        place=list(range(len(some))),
        name=[one["name"] for one in some],
        line=[line_of[one["name"]] for one in some],
        on=["yes" if one["front"] else "no" for one in some],
        description=[_description(facts, one) for one in some],
    )


def _description(facts: Facts, one: Facts) -> str:
    """Describe a dot."""
    parts = [one["name"]]
    for what in ("utility", "risk"):
        figure = one[what]
        ends = "" if figure["low"] is None else f" ({figure['low']:.4g} to {figure['high']:.4g})"
        parts.append(f"{facts[what]['name']} {figure['value']:.4g}{ends}")
    beaten = "clearly worse than another" if one["same_as"] is None else f"the same release as {one['same_as']}"
    return "; ".join([*parts, "Pareto-optimal" if one["front"] else beaten])
