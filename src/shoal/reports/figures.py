"""Figures: sketches drawn as SVG by Altair.

| file | shows |
| --- | --- |
| `self-organising-map.svg` | ridges between the units of a map, rows of each unit, and its value in every column |
| `densities.svg` | the density of every column, where it is cut, and the peaks that represent the parts |
| `views.svg` | the Davies-Bouldin index of every view before and after it learned from the others |
| `plane.svg` | rows in the plane of the first two principal axes, before and after |
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.model.sketches import CurveSketch, MapSketch, PlaneSketch, Sketch, ViewsSketch
from shoal.reports.charts import ONE, PALE, TWO, alt, rows, svg

NAMES = ("densities.svg", "plane.svg", "self-organising-map.svg", "views.svg")
MOST = 24  # columns shown at most
ACROSS = 4  # columns side by side
POINTS = 300  # of a curve
ENDS = 0.025  # share of rows in each tail of a curve, which is not drawn
FAR = 3.0  # standard deviations; beyond this a curve may show a single row
HEXAGON = "M0,-1L0.866,-0.5L0.866,0.5L0,1L-0.866,0.5L-0.866,-0.5Z"


def pictures(
    sketches: Iterable[Sketch], names: Sequence[str], views: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    """Return the picture of each kind of sketch as SVG, by file name.

    `names` has the table column behind each column of the matrix, `views` the view of each table column.
    """
    given = list(sketches)
    charts: dict[str, Any] = {}
    for sketch in given:
        if isinstance(sketch, MapSketch):
            charts["self-organising-map.svg"] = _map(sketch, names)
        elif isinstance(sketch, ViewsSketch):
            charts["views.svg"] = _views(sketch, names, views or {})
        elif isinstance(sketch, PlaneSketch):
            charts["plane.svg"] = _plane(sketch)
    curves = [sketch for sketch in given if isinstance(sketch, CurveSketch) and sketch.places.size > 2]
    if curves:
        charts["densities.svg"] = _curves(curves, names)
    return {name: svg(chart) for name, chart in sorted(charts.items())}


def _map(sketch: MapSketch, names: Sequence[str]) -> Any:
    """Return the ridges, hits and component planes of a self-organizing map."""
    first = [
        _units(sketch, sketch.ridges, "ridges", "greys"),
        _units(sketch, sketch.hits, "rows", "blues", _ends(sketch.hits)),
    ]
    rest = [_units(sketch, sketch.planes[:, j], _label(names, j), "viridis") for j in _shown(sketch, names)]
    heading = f"{_some(len(rest), sketch.planes.shape[1])} of the matrix, in standard deviations from the mean"
    return alt.concat(*first, *rest, columns=ACROSS, title=heading).resolve_scale(color="independent")


def _shown(sketch: MapSketch, names: Sequence[str]) -> list[int]:
    """Return the columns whose planes are shown, a first one of each table column before further ones."""
    known = [*names, *(f"column {place}" for place in range(len(names), sketch.planes.shape[1]))]
    order = sorted(range(sketch.planes.shape[1]), key=lambda column: (known[:column].count(known[column]), column))
    return order[:MOST]


def _some(shown: int, there: int) -> str:
    """State how many columns are shown."""
    return f"{shown} columns" if shown == there else f"{shown} of {there} columns"


def _ends(counts: NDArray[np.float64]) -> list[float]:
    """Return the smallest and the largest number of rows shown, for the legend."""
    held = counts[counts > 0]
    return sorted({float(held.min()), float(held.max())}) if held.size else []


def _units(
    sketch: MapSketch, values: NDArray[np.float64], title: str, scheme: str, ticks: list[float] | None = None
) -> Any:
    """Return the units of a map, coloured by values."""
    tall, wide = sketch.places.max(axis=0) + 1
    step = min(14.0, 190.0 / wide)
    shape, size = (HEXAGON, (step * 1.1547) ** 2) if sketch.hexagonal else ("square", step**2)
    named = {} if ticks is None else {"values": ticks}
    data = rows(x=sketch.places[:, 1], y=sketch.places[:, 0], value=np.round(values, 4))
    return (
        alt.Chart(data, width=step * wide, height=step * tall, title=title)
        .mark_point(filled=True, opacity=1, shape=shape, size=size, strokeWidth=0, aria=False)
        .encode(
            x=alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, wide - 0.5])),
            y=alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[tall - 0.5, -0.5])),
            color=alt.Color(
                "value:Q", scale=alt.Scale(scheme=scheme), legend=alt.Legend(title=None, gradientLength=70, **named)
            ),
        )
    )


def _curves(sketches: Sequence[CurveSketch], names: Sequence[str]) -> Any:
    """Return the densities of columns side by side."""
    drawn = [_curve(sketch, _label(names, sketch.column)) for sketch in sketches[:MOST]]
    heading = f"{_some(len(drawn), len(sketches))} with more than two values; dashes: cuts, dots: representative values"
    return alt.concat(*drawn, columns=ACROSS, title=heading)


def _curve(sketch: CurveSketch, title: str) -> Any:
    """Return the density of one column, with its cuts and peaks."""
    near = _middle(sketch)
    some = near[np.unique(np.linspace(0, max(near.size - 1, 0), min(POINTS, near.size)).astype(np.int64))]
    scale = alt.Scale(domain=[-FAR, FAR], nice=False)
    x = alt.X("x:Q", title="standard deviations from the mean", axis=alt.Axis(tickCount=5, grid=False), scale=scale)
    y = alt.Y("y:Q", title=None, axis=None)
    line = alt.Chart(rows(x=sketch.places[some], y=sketch.heights[some])).mark_area(
        color=PALE, line={"color": ONE, "strokeWidth": 1.2}, opacity=0.6
    )
    layers = [line.encode(x=x, y=y)]
    low, high = (sketch.places[near[0]], sketch.places[near[-1]]) if near.size else (-FAR, FAR)
    cuts, peaks = (held[(held >= low) & (held <= high)] for held in (sketch.cuts, sketch.peaks))
    if cuts.size:
        layers.append(alt.Chart(rows(x=cuts)).mark_rule(color=TWO, strokeDash=[3, 2]).encode(x=x))
    tops = np.interp(peaks, sketch.places, sketch.heights)
    layers.append(
        alt.Chart(rows(x=peaks, y=tops)).mark_point(filled=True, color=ONE, size=28, opacity=1).encode(x=x, y=y)
    )
    return alt.layer(*layers, width=190, height=110, title=title)


def _middle(sketch: CurveSketch) -> NDArray[np.int64]:
    """Return the positions of a curve without its tails, which would reveal where the outermost row lies."""
    mass = np.cumsum(sketch.heights * np.gradient(sketch.places))
    inside = (mass >= ENDS * mass[-1]) & (mass <= (1 - ENDS) * mass[-1]) & (np.abs(sketch.places) <= FAR)
    return np.flatnonzero(inside)


def _views(sketch: ViewsSketch, names: Sequence[str], views: Mapping[str, str | None]) -> Any:
    """Return the index of each view before and after, one line per update."""
    called = [_called(place, columns, names, views) for place, columns in enumerate(sketch.columns)]
    number = [called[view] for view in sketch.views]
    turn = [list(sketch.views[:place]).count(view) + 1 for place, view in enumerate(sketch.views)]
    ends = [value if np.isfinite(value) else 0.0 for value in (*sketch.before, *sketch.after)]
    kept = ["kept" if one else "not kept" for one in sketch.kept]
    count = len(number)
    data = rows(
        view=[f"{name}, round {n}" for name, n in zip(number, turn, strict=True)] * 2,
        when=["before"] * count + ["after"] * count,
        index=ends,
        kept=kept * 2,
    )
    return (
        alt.Chart(data, width=95, height=160)
        .mark_line(point=True)
        .properties(title=[_members(*view, names) for view in zip(called, sketch.columns, strict=True)])
        .encode(
            x=alt.X("when:N", sort=["before", "after"], title=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y("index:Q", title="Davies-Bouldin index"),
            color=alt.Color("kept:N", scale=alt.Scale(domain=["kept", "not kept"], range=[ONE, TWO]), title=None),
            column=alt.Column("view:N", title=None, sort=None),
        )
    )


def _called(place: int, columns: Sequence[int], names: Sequence[str], views: Mapping[str, str | None]) -> str:
    """Return the name that the policy gives a view, or its number."""
    given = {views.get(names[column]) for column in columns if column < len(names)}
    name = given.pop() if len(given) == 1 else None
    return name or f"view {place + 1}"


def _members(view: str, columns: Sequence[int], names: Sequence[str]) -> str:
    """State which columns a view has."""
    held = list(dict.fromkeys(_label(names, column).split(" (")[0] for column in columns))
    more = f" and {len(held) - 4} more" if len(held) > 4 else ""
    return f"{view}: {', '.join(held[:4])}{more}"


def _plane(sketch: PlaneSketch) -> Any:
    """Return the counts in a plane before and after, side by side and on the same colour scale."""
    most = float(max(sketch.before.max(), sketch.after.max(), 1.0))
    both = [
        _squares(sketch, counts, title, most) for counts, title in ((sketch.before, "before"), (sketch.after, "after"))
    ]
    return alt.hconcat(*both, title="Squares of fewer than k rows are left empty")


def _squares(sketch: PlaneSketch, counts: NDArray[np.float64], title: str, most: float) -> Any:
    """Return the counts in the squares of a plane."""
    place = np.nonzero(counts)
    (left, right), (low, high) = ((edge[at], edge[at + 1]) for edge, at in zip(sketch.edges, place, strict=True))
    scales = [alt.Scale(domain=[float(edge[0]), float(edge[-1])], nice=False, zero=False) for edge in sketch.edges]
    return (
        alt.Chart(rows(x=left, x2=right, y=low, y2=high, rows=counts[place]), width=280, height=240, title=title)
        .mark_rect(aria=False)
        .encode(
            x=alt.X("x:Q", title="first principal axis", scale=scales[0]),
            x2="x2:Q",
            y=alt.Y("y:Q", title="second principal axis", scale=scales[1]),
            y2="y2:Q",
            color=alt.Color(
                "rows:Q",
                scale=alt.Scale(scheme="blues", type="sqrt", domain=[0, most]),
                legend=alt.Legend(title="rows", values=_ends(np.append(sketch.before, sketch.after))),
            ),
        )
    )


def _label(names: Sequence[str], column: int) -> str:
    """Return the name of a matrix column, numbered if several belong to one table column."""
    name = names[column] if column < len(names) else f"column {column + 1}"
    if list(names).count(name) > 1:
        return f"{name} ({list(names[: column + 1]).count(name)})"
    return name
