"""Diagrams of a comparison: the critical-difference diagram, and the figures behind it.

The diagram has an axis of mean ranks with the best on the left. Each method has a dot on it and a line to its name, the
better half on the left and the others on the right. A bar joins methods that do not differ; above the axis lies a ruler
as long as the critical difference. Everything is placed in pixels, so that no name runs over another.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report.charts import ONE, TWO, rows

__all__ = ["COLOURS", "critical_words", "diagram", "figure_chart", "standing_alone"]

# Okabe and Ito's colours, which everybody can tell apart, without the yellow that vanishes on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c8c8c")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MOST_SIGNS = 22  # of a name
SIGN, EDGE, STEP, BAR = 7.0, 10, 20, 10  # pixels: a sign, the margin, between names, between bars
RULER, AXIS = 16, 50  # how far down they lie
INK = "currentColor"
# A file that stands alone has no page to take its colour from.
ALONE = "<style>svg{color:#1c2430}@media(prefers-color-scheme:dark){svg{color:#e3e8ec}}</style>"


def diagram(measure: Mapping[str, Any]) -> Any:
    """Return the critical-difference diagram of one measure.

    Parameters
    ----------
    measure : mapping
        The facts of a measure: `comparison` has methods, mean_ranks, groups and critical.
    """
    import altair as alt

    found = measure["comparison"]
    names, places = list(found["methods"]), list(found["mean_ranks"])
    count, half = len(names), (len(names) + 1) // 2
    shown = [_short(name) for name in names]
    side = EDGE + 8 + SIGN * max(len(name) + 6 for name in shown)
    wide = 200 + 20 * min(count, 12)
    across = [side + (rank - 1) / (count - 1) * wide for rank in places]
    lanes = _lanes(found["groups"], names)
    first = AXIS + 16 + BAR * (max(lanes, default=-1) + 1)
    downs = [first + STEP * (place if place < half else count - 1 - place) for place in range(count)]
    size = (2 * side + wide, max(downs) + EDGE)
    said = [f"{name}: mean rank {rank:.3f}" for name, rank in zip(names, places, strict=True)]
    ends = [side if place < half else size[0] - side for place in range(count)]
    layers = [
        *_axis(count, side, wide, size),
        _lines(across, across, [AXIS] * count, downs, size, said),
        _lines(ends, across, downs, downs, size, said),
        _bars(found["groups"], names, lanes, across, size),
        _dots(across, size, said),
        _names(shown, places, ends, downs, half, size, said),
    ]
    if found["critical"] is not None:
        layers += _ruler(float(found["critical"]), side, wide / (count - 1), size)
    return alt.layer(*(layer for layer in layers if layer is not None), width=size[0], height=size[1])


def critical_words(measure: Mapping[str, Any]) -> str:
    """Say in a sentence or two what the tests of one measure found.

    Parameters
    ----------
    measure : mapping
        The facts of a measure.
    """
    found = measure["comparison"]
    if found["wilcoxon"] is not None:
        p = found["wilcoxon"]["p"]
        first, second = found["methods"]
        head = f"Wilcoxon's test over {found['sets']} data sets: {_chance(p)}."
        if p >= 0.05:
            return f"{head} {_nothing(found)}"
        return f"{head} {first} is better than {second}."
    test = found["friedman"]
    head = f"Friedman's test over {found['sets']} data sets: chi-square {test['statistic']:.3f}, {_chance(test['p'])}."
    if found["critical"] is None:
        return f"{head} {_nothing(found)}"
    apart = f"Two methods differ if their mean ranks are {found['critical']:.3f} or more apart"
    return f"{head} {apart}: {_better(found)}"


def _nothing(found: Mapping[str, Any]) -> str:
    """Say that no difference was found, and whether one could have been."""
    if found["least_p"] < 0.05:
        return "No difference was found, which is not the same as no difference."
    return (
        f"No difference could have been found: with {found['sets']} data sets p is {found['least_p']:.4g} at the "
        "least, even if one method wins on all of them. Take more data sets."
    )


def _better(found: Mapping[str, Any]) -> str:
    """Say which methods are better than which others."""
    pairs = list(zip(found["methods"], found["mean_ranks"], strict=True))
    said = []
    for name, rank in pairs:
        beaten = [other for other, worse in pairs if worse - rank >= found["critical"]]
        said += [f"{name} is better than {', '.join(beaten)}"] if beaten else []
    return "; ".join(said) + "." if said else "no two of them are."


def figure_chart(measure: Mapping[str, Any], *, moving: bool = False) -> Any:
    """Return the figure of every method on every data set, with its interval over seeds.

    Parameters
    ----------
    measure : mapping
        The facts of a measure.
    moving : bool
        Whether a click on the name of a method brings it forward.
    """
    import altair as alt

    figures = measure["figures"]
    methods = list(measure["comparison"]["methods"])
    sets = list(dict.fromkeys(one["set"] for one in figures))
    held = {key: [one[key] for one in figures] for key in ("set", "method", "mean")}
    low, high = ([one[key] if one[key] is not None else one["mean"] for one in figures] for key in ("low", "high"))
    data = rows(**held, low=low, high=high, said=[_said(one) for one in figures])
    # By name, so that a method looks the same whatever is measured.
    taken = [sorted(methods).index(name) for name in methods]
    colour = alt.Scale(domain=methods, range=[COLOURS[place % len(COLOURS)] for place in taken])
    shape = alt.Scale(domain=methods, range=[SHAPES[place % len(SHAPES)] for place in taken])
    legend = alt.Legend(title=None, orient="bottom", columns=3, labelLimit=150, symbolOpacity=1)
    chosen = alt.selection_point(fields=["method"], bind="legend")
    # Nothing starts at 0 by itself: figures are compared with each other, not with nothing.
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
        tooltip="said:N",
        description="said:N",
        **places,
    )
    return alt.layer(spans, points.add_params(chosen) if moving else points)


def standing_alone(picture: str) -> str:
    """Return an SVG as a file of its own: dark on light, and light on dark.

    Parameters
    ----------
    picture : str
        An SVG whose text has the colour of its surroundings.
    """
    head, rest = picture.split(">", 1)
    return f"{head}>{ALONE}{rest}"


def _axis(count: int, side: float, wide: float, size: tuple[float, float]) -> list[Any]:
    """Return the line of ranks with a mark and a number for each."""
    ranks = list(range(1, count + 1))
    ticks = [side + (rank - 1) / (count - 1) * wide for rank in ranks]
    return [
        _lines([side], [side + wide], [AXIS], [AXIS], size),
        _lines(ticks, ticks, [AXIS - 5] * count, [AXIS] * count, size),
        _text([str(rank) for rank in ranks], ticks, [AXIS - 12] * count, size, align="center", fontSize=11),
    ]


def _ruler(critical: float, side: float, unit: float, size: tuple[float, float]) -> list[Any]:
    """Return the critical difference as a length on the axis."""
    end = min(side + critical * unit, size[0] - EDGE)
    said = f"critical difference {critical:.3f}"
    return [
        _lines([side, side, end], [end, side, end], [RULER, RULER - 4, RULER - 4], [RULER, RULER + 4, RULER + 4], size),
        _text([said], [side], [RULER - 12], size, align="left", fontSize=11),
    ]


def _lanes(groups: Sequence[Sequence[str]], names: list[str]) -> list[int]:
    """Return the lane of each bar, counted from the axis: bars that touch get lanes of their own."""
    lanes: list[int] = []
    last: list[int] = []  # the last method of each lane so far
    for group in groups:
        start, end = names.index(group[0]), names.index(group[-1])
        lane = next((place for place, before in enumerate(last) if before < start), len(last))
        last[lane : lane + 1] = [end]
        lanes.append(lane)
    return lanes


def _bars(
    groups: Sequence[Sequence[str]], names: list[str], lanes: list[int], across: list[float], size: tuple[float, float]
) -> Any:
    """Return a bar for each group of methods that do not differ, or None."""
    import altair as alt

    if not groups:
        return None
    starts = [across[names.index(group[0])] - 4 for group in groups]
    ends = [across[names.index(group[-1])] + 4 for group in groups]
    downs = [AXIS + 10 + BAR * lane for lane in lanes]
    said = [f"no difference found: {', '.join(group)}" for group in groups]
    return (
        alt.Chart(rows(x=starts, x2=ends, y=downs, said=said))
        .mark_rule(color=TWO, strokeWidth=5, strokeCap="round")
        .encode(**_places(size, "x2"), tooltip="said:N", description="said:N")
    )


def _dots(across: list[float], size: tuple[float, float], said: list[str]) -> Any:
    """Return a dot on the axis for each method."""
    import altair as alt

    data = rows(x=across, y=[AXIS] * len(across), said=said)
    dots = alt.Chart(data).mark_point(filled=True, color=ONE, size=60, opacity=1)
    return dots.encode(**_places(size), tooltip="said:N", description="said:N")


def _names(
    shown: list[str],
    places: list[float],
    ends: Sequence[float],
    downs: Sequence[float],
    half: int,
    size: tuple[float, float],
    said: list[str],
) -> Any:
    """Return the names with their mean ranks, at the ends of their lines."""
    import altair as alt

    left = [f"{name}  {rank:.2f}" for name, rank in zip(shown[:half], places[:half], strict=True)]
    right = [f"{rank:.2f}  {name}" for name, rank in zip(shown[half:], places[half:], strict=True)]
    parts = [_text(left, [end - 6 for end in ends[:half]], downs[:half], size, said[:half], align="right")]
    if right:
        parts.append(_text(right, [end + 6 for end in ends[half:]], downs[half:], size, said[half:], align="left"))
    return alt.layer(*parts)


def _lines(
    x: list[float],
    x2: list[float],
    y: Sequence[float],
    y2: Sequence[float],
    size: tuple[float, float],
    said: list[str] | None = None,
) -> Any:
    """Return straight lines; those that say nothing are hidden from screen readers."""
    import altair as alt

    data = rows(x=x, x2=x2, y=y, y2=y2, said=said or [""] * len(x))
    lines = alt.Chart(data).mark_rule(color=INK, opacity=0.75, aria=False)
    return lines.encode(**_places(size, "x2", "y2"))


def _text(
    words: list[str],
    x: Sequence[float],
    y: Sequence[float],
    size: tuple[float, float],
    said: list[str] | None = None,
    **look: Any,
) -> Any:
    """Return words."""
    import altair as alt

    data = rows(x=x, y=y, words=words, said=said or words)
    text = alt.Chart(data).mark_text(**{"color": INK, "baseline": "middle", "fontSize": 13, **look})
    return text.encode(**_places(size), text="words:N", description="said:N")


def _places(size: tuple[float, float], *more: str) -> dict[str, Any]:
    """Return the encoding of pixels."""
    import altair as alt

    across = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, size[0]], nice=False))
    down = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[size[1], 0], nice=False))
    return {"x": across, "y": down, **{name: f"{name}:Q" for name in more}}


def _short(name: str) -> str:
    """Return a name that has room."""
    return name if len(name) <= MOST_SIGNS else f"{name[: MOST_SIGNS - 1]}…"


def _said(one: Mapping[str, Any]) -> str:
    """Say one figure in words."""
    between = "" if one["low"] is None else f", {one['low']:.4g} to {one['high']:.4g}"
    return f"{one['method']} on {one['set']}: {one['mean']:.4g}{between}"


def _chance(p: float) -> str:
    """Write a p value."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
