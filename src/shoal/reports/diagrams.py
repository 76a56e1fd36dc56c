"""Diagrams of a comparison: the critical-difference diagram, and the figures behind it.

The diagram has an axis of mean ranks with the best on the left. Each method has a dot on it and a line to its name, the
better half on the left and the others on the right. A bar joins methods that do not differ significantly; above the
axis lies a ruler as long as the critical difference. Positions are in pixels, so that names never overlap.

All functions take the facts of one measure, as in `MethodComparison.as_dict`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.charts import ONE, TWO, alt, rows
from shoal.utility.rank_tests import p_words

# Okabe and Ito's colour-blind safe palette, without the yellow that vanishes on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c8c8c")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
LONGEST = 22  # characters of a name
LETTER, EDGE, STEP, BAR = 7.0, 10, 20, 10  # pixels: character width, margin, between names, between bars
RULER, AXIS = 16, 50  # pixels from the top
SMALL, LARGE = 11, 13  # text sizes
INK = "currentColor"
Row = dict[str, Any]
# A separate file has no page to inherit its colour from.
ALONE = "<style>svg{color:#1c2430}@media(prefers-color-scheme:dark){svg{color:#e3e8ec}}</style>"


def diagram(measure: Mapping[str, Any]) -> Any:
    """Return the critical-difference diagram of one measure."""
    found = measure["comparison"]
    names, ranks = list(found["methods"]), list(found["mean_ranks"])
    count, half = len(names), (len(names) + 1) // 2
    shown = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names]
    side = EDGE + 8 + LETTER * max(len(name) + 6 for name in shown)
    wide = 200 + 20 * min(count, 12)
    unit = wide / (count - 1)
    lanes = _lanes(found["groups"], names)
    first = AXIS + 16 + BAR * (max(lanes, default=-1) + 1)
    ys = [first + STEP * (place if place < half else count - 1 - place) for place in range(count)]
    size = (2 * side + wide, max(ys) + EDGE)
    across = [side + (rank - 1) * unit for rank in ranks]
    lines = [_line(side, AXIS, side + wide, AXIS)]
    texts: dict[str, list[Row]] = {"center": [], "left": [], "right": []}
    for rank in range(1, count + 1):
        tick = side + (rank - 1) * unit
        lines.append(_line(tick, AXIS - 5, tick, AXIS))
        texts["center"].append(_text(str(rank), tick, AXIS - 12))
    dots = []
    for place, (name, rank, x, y) in enumerate(zip(shown, ranks, across, ys, strict=True)):
        description = f"{names[place]}: mean rank {rank:.3f}"
        end = side if place < half else size[0] - side
        lines += [_line(x, AXIS, x, y, description), _line(end, y, x, y, description)]
        dots.append({"x": x, "y": AXIS, "description": description})
        if place < half:
            texts["right"].append(_text(f"{name}  {rank:.2f}", end - 6, y, description, LARGE))
        else:
            texts["left"].append(_text(f"{rank:.2f}  {name}", end + 6, y, description, LARGE))
    if found["critical"] is not None:
        end = min(side + found["critical"] * unit, size[0] - EDGE)
        lines.append(_line(side, RULER, end, RULER))
        lines += [_line(x, RULER - 4, x, RULER + 4) for x in (side, end)]
        texts["left"].append(_text(f"critical difference {found['critical']:.3f}", side, RULER - 12))
    bars = []
    for group, lane in zip(found["groups"], lanes, strict=True):
        start, end = (across[names.index(name)] for name in (group[0], group[-1]))
        description = f"no difference found: {', '.join(group)}"
        bars.append({"x": start - 4, "x2": end + 4, "y": AXIS + 10 + BAR * lane, "description": description})
    at = {
        "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, size[0]], nice=False)),
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[size[1], 0], nice=False)),
    }
    channels = {"tooltip": "description:N", "description": "description:N"}
    layers = [_chart(lines).mark_rule(color=INK, opacity=0.75, aria=False).encode(**at, x2="x2:Q", y2="y2:Q")]
    if bars:
        thick = _chart(bars).mark_rule(color=TWO, strokeWidth=5, strokeCap="round")
        layers.append(thick.encode(**at, x2="x2:Q", **channels))
    layers.append(_chart(dots).mark_point(filled=True, color=ONE, size=60, opacity=1).encode(**at, **channels))
    letters = alt.Size("size:Q", scale=None, legend=None)
    for align, held in texts.items():
        if held:
            words = _chart(held).mark_text(color=INK, baseline="middle", align=align)
            layers.append(words.encode(**at, size=letters, text="words:N", description="description:N"))
    return alt.layer(*layers, width=size[0], height=size[1])


def critical_words(measure: Mapping[str, Any]) -> str:
    """State in a sentence or two what the tests of one measure found."""
    found = measure["comparison"]
    if found["wilcoxon"] is not None:
        p = found["wilcoxon"]["p"]
        verdict = _nothing(found) if p >= 0.05 else "{} is better than {}.".format(*found["methods"])
        return f"Wilcoxon's test over {found['sets']} data sets: {p_words(p)}. {verdict}"
    test = found["friedman"]
    head = f"Friedman's test over {found['sets']} data sets: chi-square {test['statistic']:.3f}, {p_words(test['p'])}."
    if found["critical"] is None:
        return f"{head} {_nothing(found)}"
    rule = f"Two methods differ if their mean ranks are at least {found['critical']:.3f} apart"
    return f"{head} {rule}: {_better(found)}"


def _nothing(found: Mapping[str, Any]) -> str:
    """State that no difference was found, and whether one could have been."""
    if found["least_p"] < 0.05:
        return "No difference was found, which does not mean that there is none."
    return (
        f"No difference could have been found: with {found['sets']} data sets p is at least {found['least_p']:.4g}, "
        "even if one method wins on all of them. Use more data sets."
    )


def _better(found: Mapping[str, Any]) -> str:
    """State which methods are better than which others."""
    pairs = list(zip(found["methods"], found["mean_ranks"], strict=True))
    better = []
    for name, rank in pairs:
        beaten = [other for other, worse in pairs if worse - rank >= found["critical"]]
        better += [f"{name} is better than {', '.join(beaten)}"] if beaten else []
    return "; ".join(better) + "." if better else "no two of them do."


def figure_chart(measure: Mapping[str, Any], *, moving: bool = False) -> Any:
    """Return the figure of every method on every data set, with its interval over seeds.

    If it is `moving`, a click on a method in the legend highlights it.
    """
    figures = measure["figures"]
    methods = list(measure["comparison"]["methods"])
    sets = list(dict.fromkeys(one["set"] for one in figures))
    held = {key: [one[key] for one in figures] for key in ("set", "method", "mean")}
    low, high = ([one[key] if one[key] is not None else one["mean"] for one in figures] for key in ("low", "high"))
    data = rows(**held, low=low, high=high, description=[_description(one) for one in figures])
    # By name, so that a method looks the same for every measure.
    taken = [sorted(methods).index(name) for name in methods]
    colour = alt.Scale(domain=methods, range=[COLOURS[place % len(COLOURS)] for place in taken])
    shape = alt.Scale(domain=methods, range=[SHAPES[place % len(SHAPES)] for place in taken])
    legend = alt.Legend(title=None, orient="bottom", columns=3, labelLimit=150, symbolOpacity=1)
    chosen = alt.selection_point(fields=["method"], bind="legend")
    # Axes need not start at 0: figures are compared with each other.
    x = alt.X("mean:Q", title=measure["title"], scale=alt.Scale(zero=False, nice=True))
    places = {
        "y": alt.Y("set:N", title=None, sort=sets, axis=alt.Axis(labelLimit=110, grid=True)),
        "yOffset": alt.YOffset("method:N", sort=methods, scale=alt.Scale(paddingOuter=0.3)),
        "opacity": alt.condition(chosen, alt.value(1), alt.value(0.15)) if moving else alt.value(1),
    }
    chart = alt.Chart(data, width=330, height=len(sets) * (10 * len(methods) + 8))
    hue = alt.Color("method:N", scale=colour, legend=legend)
    spans = chart.mark_rule(strokeWidth=1.5, aria=False).encode(x=alt.X("low:Q"), x2="high:Q", color=hue, **places)
    points = chart.mark_point(filled=True, size=45).encode(
        x=x,
        color=hue,
        shape=alt.Shape("method:N", scale=shape, legend=legend),
        tooltip="description:N",
        description="description:N",
        **places,
    )
    return alt.layer(spans, points.add_params(chosen) if moving else points)


def standing_alone(picture: str) -> str:
    """Return an SVG that takes its colour from the page as one to be saved by itself, for light and dark screens."""
    head, rest = picture.split(">", 1)
    return f"{head}>{ALONE}{rest}"


def _lanes(groups: Sequence[Sequence[str]], names: list[str]) -> list[int]:
    """Return the lane of each bar, counted from the axis; overlapping bars get different lanes."""
    lanes: list[int] = []
    last: list[int] = []  # the last method of each lane so far
    for group in groups:
        start, end = names.index(group[0]), names.index(group[-1])
        lane = next((place for place, before in enumerate(last) if before < start), len(last))
        last[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


def _chart(held: list[Row]) -> Any:
    """Return a chart of these rows, without a mark."""
    return alt.Chart(alt.Data(values=held))


def _line(x: float, y: float, x2: float, y2: float, description: str = "") -> Row:
    """Return a straight line, hidden from screen readers."""
    return {"x": x, "y": y, "x2": x2, "y2": y2, "description": description}


def _text(words: str, x: float, y: float, description: str = "", size: int = SMALL) -> Row:
    """Return text at a position, described to screen readers by `description` or by itself."""
    return {"words": words, "x": x, "y": y, "description": description or words, "size": size}


def _description(one: Mapping[str, Any]) -> str:
    """Describe one figure in words."""
    between = "" if one["low"] is None else f", {one['low']:.4g} to {one['high']:.4g}"
    return f"{one['method']} on {one['set']}: {one['mean']:.4g}{between}"
