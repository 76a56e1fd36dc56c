"""Drawing: the pictures of a report as SVG, each made from the plain figures of its facts.

| kind | figures | shows |
| --- | --- | --- |
| `steps` | limits, after, before | a column of numbers or dates, as a density histogram |
| `bars` | labels, after, before, what | rows (or `what`) of each category |
| `sizes` | labels, rows | rows by the size of their class |
| `lengths` | labels, values, unit | one figure per label |
| `ranges` | labels, values, low, high, unit | figures with their intervals |
| `matrix` | labels, values | correlations |
| `squares` | rows | rows in a plane, counted in squares |
| `svg` | svg | a finished picture |
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.reports.axes import (
    Scale,
    coloured,
    dates_between,
    draw_bottom,
    draw_colours,
    draw_left,
    draw_numbers,
    rounded_out,
)
from shoal.reports.svg import ONE, TWO, Picture, plain

WIDE, TALL = 250, 120
LONGEST = 22  # characters of a name
NAMES = 150  # pixels for the names of bars
DARK, BRIGHT, MIDDLE = "#1c2430", "#ffffff", (238, 241, 242)  # in a matrix
SOLID, BEHIND = 0.85, 0.5  # opacity of bars, alone and with the original figures


def draw(picture: dict[str, Any]) -> str:
    """Return a picture, given by its kind and the figures that the kind needs, as SVG."""
    if picture["kind"] == "svg":
        return str(picture["svg"])
    kinds: dict[str, Callable[[dict[str, Any]], Picture]] = {
        "steps": _steps,
        "bars": _bars,
        "sizes": _sizes,
        "lengths": _lengths,
        "ranges": _ranges,
        "matrix": _matrix,
        "squares": _squares,
    }
    return kinds[picture["kind"]](picture).svg()


def _steps(picture: dict[str, Any]) -> Picture:
    """Return filled steps for the released values, and a line above them for the original ones."""
    limits, before = picture["limits"], picture["before"]
    places = np.array(limits, "datetime64[D]").astype(np.float64) if picture["dates"] else np.array(limits, np.float64)
    with np.errstate(over="ignore"):
        widths = np.diff(places / 4)
    widths /= np.median(widths)
    heights = np.array(picture["after"], np.float64) / widths
    lines = heights if before is None else np.array(before, np.float64) / widths
    x = Scale(float(places[0]), float(places[-1]), 0, WIDE)
    y = Scale(0, max(float(heights.max()), float(lines.max())) or 1.0, TALL, 0)
    drawn, at = Picture(), [x(float(place)) for place in places]
    descriptions = _descriptions(_between(limits), picture)
    for (left, right), height, words in zip(pairwise(at), heights, descriptions, strict=True):
        top = y(float(height))
        opacity = SOLID if before is None else BEHIND
        drawn.rectangle(left, top, right - left, TALL - top, ONE, opacity=opacity, description=words)
    if before is not None:
        tops = [y(float(height)) for height in lines]
        steps = [((left, top), (right, top)) for (left, right), top in zip(pairwise(at), tops, strict=True)]
        drawn.line([end for both in steps for end in both], TWO, wide=2)
    if picture["dates"]:
        days, words_of = dates_between(x.low, x.high, 5)
        draw_bottom(drawn, [(x(day), words) for day, words in zip(days, words_of, strict=True)], (0, WIDE), TALL)
    else:
        draw_numbers(drawn, x, TALL, count=5)
    return drawn


def _descriptions(names: Sequence[str], picture: dict[str, Any]) -> list[str]:
    """Describe each part of a picture: its label and its rows."""
    what = picture.get("what", "rows")
    if picture["before"] is None:
        return [f"{name}; {rows:,} {what}" for name, rows in zip(names, picture["after"], strict=True)]
    both = zip(names, picture["after"], picture["before"], strict=True)
    return [f"{name}; released: {after:,} {what}; before: {before:,} {what}" for name, after, before in both]


def _between(limits: Sequence[Any]) -> list[str]:
    """Return labels for the bins between limits; the first and the last bin are open."""
    if len(limits) == 2:
        return ["all values"]
    for digits in range(6, 18):  # as few as distinguish the limits
        texts = [one if isinstance(one, str) else f"{one:.{digits}g}" for one in limits]
        if len(set(texts)) == len(texts):
            break
    inner = [f"{low} to {high}" for low, high in pairwise(texts[1:-1])]
    return [f"below {texts[1]}", *inner, f"{texts[-2]} and above"]


def _bars(picture: dict[str, Any]) -> Picture:
    """Return a bar for each category, and a tick for its original length."""
    before = picture["before"]
    most = rounded_out(0, max([*picture["after"], *(before or [1])]) or 1, 3)[1]
    drawn, x = Picture(), Scale(0, most, 0, NAMES)
    middles = _down(drawn, _short(picture["labels"]), step=17)
    descriptions = _descriptions(picture["labels"], picture)
    opacity = SOLID if before is None else BEHIND
    for y, value, words in zip(middles, picture["after"], descriptions, strict=True):
        drawn.rectangle(0, y - 7, x(value), 14, ONE, opacity=opacity, description=words)
    for y, value in zip(middles, before or (), strict=False):
        drawn.rectangle(x(value) - 1.5, y - 7, 3, 14, TWO)
    draw_numbers(drawn, x, 17.0 * len(middles), count=3)
    return drawn


def _down(drawn: Picture, names: Sequence[str], *, step: float, most: float = NAMES) -> list[float]:
    """Write names below each other, left of a picture, and return their positions."""
    middles = [step * (place + 0.5) for place in range(len(names))]
    places = list(zip(middles, names, strict=True))
    draw_left(drawn, places, (0, step * len(names)), 0, line=False, ticks=False, most=most)
    return middles


def _short(names: Sequence[str]) -> list[str]:
    """Return names cut to fit."""
    return [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in map(plain, names)]


def _sizes(picture: dict[str, Any]) -> Picture:
    """Return a bar for each class size."""
    sizes, counts = picture["labels"], picture["rows"]
    tall, wide = 170, max(80, min(560, 34 * len(sizes)))
    drawn, step = Picture(), wide / max(1, len(sizes))
    y = Scale(0, rounded_out(0, max(counts, default=1) or 1, 4)[1], tall, 0)
    ticks = y.ticks(4)
    labels = [(y(one), f"{one:,.0f}") for one in ticks if one == int(one)]
    draw_left(drawn, labels, (0, tall), 0, title="rows", grid=wide, line=False)
    middles = [step * (place + 0.5) for place in range(len(sizes))]
    for x, size, count in zip(middles, sizes, counts, strict=True):
        at, high = y(count), tall - y(count)
        words = f"classes of {size}; {count:,} rows"
        drawn.rectangle(x - 0.42 * step, at, 0.84 * step, high, ONE, opacity=SOLID, description=words)
    places = list(zip(middles, map(str, sizes), strict=True))
    draw_bottom(drawn, places, (0, wide), tall, title="class size", ticks=False)
    return drawn


def _lengths(picture: dict[str, Any]) -> Picture:
    """Return a bar for each figure."""
    values = picture["values"]
    low, high = rounded_out(min([0.0, *values]), max([0.0, *values]) or 1.0, 4)
    drawn, x = Picture(), Scale(low, high, 0, 300)
    middles = _down(drawn, _short(picture["labels"]), step=19)
    for y, name, value in zip(middles, picture["labels"], values, strict=True):
        left, right = sorted((x(0), x(value)))
        drawn.rectangle(left, y - 8, right - left, 16, ONE, opacity=SOLID, description=f"{name}; {value:.4g}")
    draw_numbers(drawn, x, 19.0 * len(middles), count=4, title=_title(picture["unit"]))
    return drawn


def _title(words: str) -> str:
    """Return the title of an axis, cut to fit."""
    return words if len(words) <= 60 else f"{words[:59]}…"


def _ranges(picture: dict[str, Any]) -> Picture:
    """Return a point and its interval for each figure."""
    ends = [*picture["low"], *picture["high"], *picture["values"]]
    drawn, x = Picture(), Scale(*rounded_out(min(ends), max(ends), 5), 8, 222)
    middles = _down(drawn, picture["labels"], step=26, most=230)
    tall = 26.0 * len(middles)
    draw_numbers(drawn, x, tall, count=5, title=_title(picture["unit"]), grid=tall)
    figures = zip(middles, picture["labels"], picture["values"], picture["low"], picture["high"], strict=True)
    for place, (y, name, value, low, high) in enumerate(figures):
        colour = ONE if place == 0 else TWO
        drawn.line([(x(low), y), (x(high), y)], colour, wide=2)
        words = f"{name}; {value:.4g}; 95%: {low:.4g} to {high:.4g}"
        drawn.dot(x(value), y, 10, colour, description=words)
    return drawn


def _matrix(picture: dict[str, Any]) -> Picture:
    """Return correlations as coloured squares, with figures if there is space."""
    names, values = _short(picture["labels"]), picture["values"]
    side = 34 if len(names) <= 8 else 22
    drawn = Picture()
    middles = _down(drawn, names, step=side, most=110)
    for y, down, row in zip(middles, picture["labels"], values, strict=True):
        for x, across, value in zip(middles, picture["labels"], row, strict=True):
            words = f"{down}, {across}; {value:.2f}"
            drawn.rectangle(x - side / 2, y - side / 2, side, side, _between_colours(value), description=words)
            if len(names) <= 8:
                drawn.text(x, y, f"{value:.2f}", anchor="middle", size=10, colour=BRIGHT if abs(value) > 0.6 else DARK)
    for x, name in zip(middles, names, strict=True):
        drawn.text(x + 4, side * len(names) + 9, name, anchor="end", turned=-45)
    return drawn


def _between_colours(value: float) -> str:
    """Return the colour of a correlation."""
    end = ONE if value > 0 else TWO
    share = min(1.0, abs(value))
    parts = (int(end[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(MIDDLE, parts, strict=True))


def _squares(picture: dict[str, Any]) -> Picture:
    """Return the counts in the squares of a plane; squares with too few rows are empty."""
    counts = np.array(picture["rows"], np.float64)
    (across, down), most = counts.shape, max(1.0, float(picture["most"]))
    step, colour, drawn = (WIDE / across, WIDE / down), coloured("blues"), Picture()
    for x, y in np.argwhere(counts > 0).tolist():
        held = counts[x, y]
        at = (x * step[0], (down - 1 - y) * step[1])
        drawn.rectangle(*at, *step, colour((held / most) ** 0.5), description=f"{int(held):,} rows")
    draw_bottom(drawn, (), (0, WIDE), WIDE)
    draw_left(drawn, (), (0, WIDE), 0)
    drawn.text(WIDE / 2, WIDE + 12, "first principal axis", anchor="middle")
    drawn.text(-12, WIDE / 2, "second principal axis", anchor="middle", turned=-90)
    ticks = [((one / most) ** 0.5, f"{one:,.0f}") for one in picture["ticks"]]
    draw_colours(drawn, WIDE + 18, 0, "blues", ticks, "rows")
    return drawn


def parts_of(picture: dict[str, Any]) -> tuple[list[str], list[list[object]]]:
    """Return the headings and rows of a picture's figures as a table; no rows for kinds without labels."""
    kind = picture["kind"]
    if kind in ("steps", "bars"):
        names = _between(picture["limits"]) if kind == "steps" else list(picture["labels"])
        columns = [names, picture["after"], *([picture["before"]] if picture["before"] is not None else [])]
        what = picture.get("what", "rows")
        heads = ["value", f">{what} released", *([f">{what} before"] if picture["before"] is not None else [])]
    elif kind == "sizes":
        columns, heads = [picture["labels"], picture["rows"]], ["class size", ">rows"]
    elif kind in ("lengths", "ranges"):
        ends = [picture["low"], picture["high"]] if kind == "ranges" else []
        figures = [[f"{value:.4g}" for value in one] for one in (picture["values"], *ends)]
        columns, heads = [picture["labels"], *figures], ["name", f">{picture['unit']}", *[">from", ">to"][: len(ends)]]
    elif kind == "matrix":
        heads = ["", *(f">{name}" for name in picture["labels"])]
        figures = [[f"{value:.2f}" for value in row] for row in picture["values"]]
        columns = [picture["labels"], *figures]
    else:
        return [], []
    return heads, [list(row) for row in zip(*columns, strict=True)]
