"""Diagrams of a comparison: the critical-difference diagram, and the figures behind it.

The diagram has an axis of mean ranks with the best on the left. Each method has a dot on it and a line to its name, the
better half on the left and the others on the right. A bar joins methods that do not differ significantly; above the
axis lies a ruler as long as the critical difference. Positions are in pixels, so that names never overlap.

All functions take the facts of one measure, as in `MethodComparison.as_dict`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.axes import Scale, draw_left, draw_numbers, rounded_out
from shoal.reports.svg import COLOURS, ONE, TWO, Picture, cut, width
from shoal.utility.rank_tests import one_set_words, p_words

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
LONGEST = 150.0  # pixels of a name
EDGE, STEP, BAR = 10, 20, 10  # pixels: margin, between names, between bars
RULER, AXIS = 16, 50  # pixels from the top
LARGE = 13  # text size of names
THIN = 0.75  # opacity of lines
FIGURES = 330  # pixels across


def diagram(measure: Mapping[str, Any]) -> Picture:
    """Return the critical-difference diagram of one measure."""
    found = measure["comparison"]
    names, ranks = list(found["methods"]), list(found["mean_ranks"])
    count, half = len(names), (len(names) + 1) // 2
    shown = [cut(name, LONGEST) for name in names]
    side = EDGE + 8 + max(width(f"{name}  00.00", LARGE) for name in shown)
    wide = 200 + 20 * min(count, 12)
    unit = wide / (count - 1)
    lanes = _lanes(found["groups"], names)
    first = AXIS + 16 + BAR * (max(lanes, default=-1) + 1)
    ys = [first + STEP * (place if place < half else count - 1 - place) for place in range(count)]
    right = 2 * side + wide
    across = [side + (rank - 1) * unit for rank in ranks]
    drawn = Picture()
    drawn.line([(side, AXIS), (side + wide, AXIS)], opacity=THIN)
    for rank in range(1, count + 1):
        tick = side + (rank - 1) * unit
        drawn.line([(tick, AXIS - 5), (tick, AXIS)], opacity=THIN)
        drawn.text(tick, AXIS - 12, str(rank), anchor="middle")
    for place, (x, y) in enumerate(zip(across, ys, strict=True)):
        end = side if place < half else right - side
        drawn.line([(x, AXIS), (x, y), (end, y)], opacity=THIN)
    if found["critical"] is not None:
        end = min(side + found["critical"] * unit, right - EDGE)
        drawn.line([(side, RULER), (end, RULER)], opacity=THIN)
        for x in (side, end):
            drawn.line([(x, RULER - 4), (x, RULER + 4)], opacity=THIN)
        drawn.text(side, RULER - 12, f"critical difference {found['critical']:.3f}")
    for group, lane in zip(found["groups"], lanes, strict=True):
        start, end = (across[names.index(name)] for name in (group[0], group[-1]))
        y = AXIS + 10 + BAR * lane
        words = f"no difference found: {', '.join(group)}"
        drawn.line([(start - 4, y), (end + 4, y)], TWO, wide=5, round_ends=True, description=words)
    for place, (name, rank, x, y) in enumerate(zip(shown, ranks, across, ys, strict=True)):
        words = f"{names[place]}: mean rank {rank:.3f}"
        drawn.dot(x, AXIS, 8, ONE, description=words)
        if place < half:
            drawn.text(side - 6, y, f"{name}  {rank:.2f}", anchor="end", size=LARGE, description=words)
        else:
            drawn.text(right - side + 6, y, f"{rank:.2f}  {name}", size=LARGE, description=words)
    return drawn


def critical_words(measure: Mapping[str, Any]) -> str:
    """State in a sentence or two what the tests of one measure found."""
    found = measure["comparison"]
    if found["sets"] == 1:
        return one_set_words(len(found["methods"]))
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


def figure_chart(measure: Mapping[str, Any]) -> Picture:
    """Return the figure of every method on every data set, with its interval over seeds, and a legend below."""
    figures = measure["figures"]
    methods = list(measure["comparison"]["methods"])
    sets = list(dict.fromkeys(one["set"] for one in figures))
    held = {(one["set"], one["method"]): one for one in figures}
    # By name, so that a method looks the same for every measure.
    taken = [sorted(methods).index(name) for name in methods]
    looks = [(COLOURS[place % len(COLOURS)], SHAPES[place % len(SHAPES)]) for place in taken]
    ends = [one[key] for one in figures for key in ("low", "mean", "high") if one[key] is not None]
    drawn, x = Picture(), Scale(*rounded_out(min(ends), max(ends), 6), 0, FIGURES)  # need not start at 0
    tall = 10 * len(methods) + 8
    middles = [tall * (place + 0.5) for place in range(len(sets))]
    bottom = float(tall * len(sets))
    draw_left(drawn, list(zip(middles, sets, strict=True)), (0, bottom), 0, grid=FIGURES, most=110)
    draw_numbers(drawn, x, bottom, count=6, title=measure["title"], grid=bottom)
    legend = bottom + 48
    column = 28 + max(width(cut(name, LONGEST)) for name in methods)
    for number, (name, (colour, shape)) in enumerate(zip(methods, looks, strict=True)):
        own = Picture()
        for place, called in enumerate(sets):
            one = held[called, name]
            y = tall * place + 9 + 10 * number
            if one["low"] is not None:
                own.line([(x(one["low"]), y), (x(one["high"]), y)], colour, wide=1.5)
            own.dot(x(one["mean"]), y, 8, colour, shape=shape, description=_description(one))
        at = (column * (number % 3), legend + 16 * (number // 3))
        own.dot(*at, 8, colour, shape=shape)
        own.text(at[0] + 9, at[1], cut(name, LONGEST))
        drawn.place(own, group=name)
    return drawn


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


def _description(one: Mapping[str, Any]) -> str:
    """Describe one figure in words."""
    between = "" if one["low"] is None else f", {one['low']:.4g} to {one['high']:.4g}"
    return f"{one['method']} on {one['set']}: {one['mean']:.4g}{between}"
