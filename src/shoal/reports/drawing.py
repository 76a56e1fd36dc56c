"""Drawing: the pictures of a report as Altair charts, each made from the plain figures of its facts.

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
| `chart` | chart | an Altair chart |
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.reports.charts import ONE, TWO, alt, plain, rows, svg

WIDE, TALL = 250, 120
LONGEST = 22  # characters of a name


def draw(picture: dict[str, Any]) -> str:
    """Return a picture, given by its kind and the figures that the kind needs, as SVG."""
    if picture["kind"] == "svg":
        return str(picture["svg"])
    if picture["kind"] == "chart":
        return svg(picture["chart"])
    kinds: dict[str, Callable[[dict[str, Any]], Any]] = {
        "steps": _steps,
        "bars": _bars,
        "sizes": _sizes,
        "lengths": _lengths,
        "ranges": _ranges,
        "matrix": _matrix,
        "squares": _squares,
    }
    return svg(kinds[picture["kind"]](picture))


def _steps(picture: dict[str, Any]) -> Any:
    """Return filled steps for the released values, and a line above them for the original ones."""
    limits = picture["limits"]
    places = np.array(limits, "datetime64[D]").astype(np.float64) if picture["dates"] else np.array(limits, np.float64)
    widths = np.diff(places)
    widths /= np.median(widths)
    names = _between(limits)
    kind = "T" if picture["dates"] else "Q"
    # In UTC: the reader's time zone would shift days.
    scale = alt.Scale(type="utc", nice=False) if picture["dates"] else alt.Scale(nice=False, zero=False)
    x = alt.X(f"low:{kind}", title=None, scale=scale, axis=alt.Axis(grid=False, tickCount=5))
    y = alt.Y("height:Q", title=None, axis=None)
    after = np.array(picture["after"], np.float64)
    held = {
        "low": limits[:-1],
        "high": limits[1:],
        "height": after / widths,
        "description": _descriptions(names, picture),
    }
    filled = alt.Chart(rows(**held)).mark_rect(color=ONE, opacity=0.85 if picture["before"] is None else 0.5)
    layers = [filled.encode(x=x, x2="high", y=y, y2=alt.value(TALL), description="description:N")]
    if picture["before"] is not None:
        heights = np.array(picture["before"], np.float64) / widths
        line = {"low": limits, "height": np.append(heights, heights[-1])}
        outline = alt.Chart(rows(**line)).mark_line(color=TWO, strokeWidth=2, interpolate="step-after", aria=False)
        layers.append(outline.encode(x=x, y=y))
    return alt.layer(*layers, width=WIDE, height=TALL)


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


def _bars(picture: dict[str, Any]) -> Any:
    """Return a bar for each category, and a tick for its original length."""
    labels = _short(picture["labels"])
    held = {"name": labels, "after": picture["after"], "description": _descriptions(picture["labels"], picture)}
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=150))
    high = max([*picture["after"], *(picture["before"] or [1])])
    x = alt.X(
        "after:Q", title=None, axis=alt.Axis(tickCount=3, grid=False), scale=alt.Scale(domain=[0, high], nice=True)
    )
    bars = alt.Chart(rows(**held)).mark_bar(color=ONE, opacity=0.85 if picture["before"] is None else 0.5)
    layers = [bars.encode(y=y, x=x, description="description:N")]
    if picture["before"] is not None:
        ticks = alt.Chart(rows(name=labels, before=picture["before"])).mark_tick(
            color=TWO, thickness=3, opacity=1, aria=False
        )
        layers.append(ticks.encode(y=y, x=alt.X("before:Q", title=None)))
    return alt.layer(*layers, width=150, height=alt.Step(17))


def _short(names: Sequence[str]) -> list[str]:
    """Return names cut to fit, but still distinct."""
    found: list[str] = []
    for name in map(plain, names):
        cut = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        while cut in found:
            cut += "\u200b"
        found.append(cut)
    return found


def _sizes(picture: dict[str, Any]) -> Any:
    """Return a bar for each class size."""
    both = zip(picture["labels"], picture["rows"], strict=True)
    descriptions = [f"classes of {size}; {count:,} rows" for size, count in both]
    chart = alt.Chart(rows(size=picture["labels"], count=picture["rows"], description=descriptions), height=170)
    labels = alt.Axis(labelAngle=0, ticks=False)
    return (
        chart.mark_bar(color=ONE, opacity=0.85)
        .encode(
            x=alt.X("size:N", sort=None, title="class size", axis=labels, scale=alt.Scale(paddingInner=0.15)),
            y=alt.Y("count:Q", title="rows", axis=alt.Axis(tickCount=4, domain=False)),
            description="description:N",
        )
        .properties(width=max(80, min(560, 34 * len(picture["labels"]))))
    )


def _lengths(picture: dict[str, Any]) -> Any:
    """Return a bar for each figure."""
    descriptions = [f"{name}; {value:.4g}" for name, value in zip(picture["labels"], picture["values"], strict=True)]
    data = rows(name=_short(picture["labels"]), value=picture["values"], description=descriptions)
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=150))
    x = alt.X("value:Q", title=picture["unit"], axis=alt.Axis(tickCount=4, grid=False))
    bars = alt.Chart(data, width=300, height=alt.Step(19)).mark_bar(color=ONE, opacity=0.85)
    return bars.encode(y=y, x=x, description="description:N")


def _ranges(picture: dict[str, Any]) -> Any:
    """Return a point and its interval for each figure."""
    figures = zip(picture["labels"], picture["values"], picture["low"], picture["high"], strict=True)
    descriptions = [f"{name}; {value:.4g}; 95%: {low:.4g} to {high:.4g}" for name, value, low, high in figures]
    held = {key: picture[key] for key in ("values", "low", "high")}
    data = rows(
        name=picture["labels"], description=descriptions, colour=[ONE] + [TWO] * (len(descriptions) - 1), **held
    )
    y = alt.Y("name:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=230))
    x = alt.X(
        "low:Q", title=picture["unit"], axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=False, nice=True, padding=8)
    )
    colour = alt.Color("colour:N", scale=None)
    whole = alt.Chart(data, width=230, height=alt.Step(26))
    line = whole.mark_rule(strokeWidth=2, aria=False).encode(y=y, x=x, x2="high:Q", color=colour)
    dot = whole.mark_point(filled=True, size=90, opacity=1).encode(
        y=y, x="values:Q", color=colour, description="description:N"
    )
    return alt.layer(line, dot)


def _matrix(picture: dict[str, Any]) -> Any:
    """Return correlations as coloured squares, with figures if there is space."""
    names, values = _short(picture["labels"]), np.array(picture["values"])
    size = len(names)
    across, down = np.tile(names, size), np.repeat(names, size)
    descriptions = [f"{a}, {b}; {value:.2f}" for a, b, value in zip(down, across, values.ravel(), strict=True)]
    data = rows(
        a=across, b=down, value=values.ravel(), description=descriptions, text=[f"{v:.2f}" for v in values.ravel()]
    )
    side = 34 if size <= 8 else 22
    x = alt.X(
        "a:N",
        sort=None,
        title=None,
        axis=alt.Axis(labelAngle=-45, domain=False, ticks=False, labelLimit=90, labelOverlap=False),
    )
    y = alt.Y("b:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelLimit=110))
    scale = alt.Scale(domain=[-1, 0, 1], range=[TWO, "#eef1f2", ONE])
    whole = alt.Chart(data, width=alt.Step(side), height=alt.Step(side))
    ground = whole.mark_rect(stroke=None).encode(
        x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None), description="description:N"
    )
    if size > 8:
        return ground
    pale = alt.condition("abs(datum.value) > 0.6", alt.value("#ffffff"), alt.value("#1c2430"))
    return alt.layer(ground, whole.mark_text(fontSize=10, aria=False).encode(x=x, y=y, text="text:N", color=pale))


def _squares(picture: dict[str, Any]) -> Any:
    """Return the counts in the squares of a plane; squares with too few rows are empty."""
    counts = np.array(picture["rows"], np.float64)
    place = np.nonzero(counts)
    held = counts[place]
    data = rows(x=place[0], y=place[1], count=held, description=[f"{int(one):,} rows" for one in held])
    ends = [alt.Scale(domain=list(range(size))) for size in counts.shape]
    x = alt.X("x:O", title="first principal axis", scale=ends[0], axis=alt.Axis(labels=False, ticks=False))
    y = alt.Y(
        "y:O", title="second principal axis", sort="descending", scale=ends[1], axis=alt.Axis(labels=False, ticks=False)
    )
    colour = alt.Color(
        "count:Q",
        scale=alt.Scale(scheme="blues", type="sqrt", domain=[0, picture["most"]]),
        legend=alt.Legend(title="rows", values=picture["ticks"], gradientLength=90),
    )
    return (
        alt.Chart(data, width=WIDE, height=WIDE)
        .mark_rect(stroke=None)
        .encode(x=x, y=y, color=colour, description="description:N")
    )


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
