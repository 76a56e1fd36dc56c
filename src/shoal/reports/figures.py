"""Figures: sketches drawn as SVG.

| file | shows |
| --- | --- |
| `self-organising-map.svg` | ridges between the units of a map, rows of each unit, and its value in every column |
| `densities.svg` | the density of every column, where it is cut, and the peaks that represent the parts |
| `views.svg` | the Davies-Bouldin index of every view before and after it learned from the others |
| `plane.svg` | rows in the plane of the first two principal axes, before and after |
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.model.sketches import CurveSketch, MapSketch, PlaneSketch, Sketch, ViewsSketch
from shoal.reports.axes import (
    Scale,
    coloured,
    draw_bottom,
    draw_colours,
    draw_left,
    draw_numbers,
    labels_of,
    rounded_out,
)
from shoal.reports.svg import ONE, PALE, SIZE, TWO, Picture, cut, outline

NAMES = ("densities.svg", "plane.svg", "self-organising-map.svg", "views.svg")
MOST = 24  # columns shown at most
ACROSS = 4  # columns side by side
POINTS = 300  # of a curve
ENDS = 0.025  # share of rows in each tail of a curve, which is not drawn
FAR = 3.0  # standard deviations; beyond this a curve may show a single row
HEXAGON = ((0.0, -1.0), (0.866, -0.5), (0.866, 0.5), (0.0, 1.0), (-0.866, 0.5), (-0.866, -0.5))
SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
TITLE = 12  # text size
LINE, APART = 20, 18  # pixels: below a title, between pictures


def pictures(
    sketches: Iterable[Sketch], names: Sequence[str], views: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    """Return the picture of each kind of sketch as SVG, by file name.

    `names` has the table column behind each column of the matrix, `views` the view of each table column.
    """
    given = list(sketches)
    charts: dict[str, Picture] = {}
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
    return {name: chart.svg() for name, chart in sorted(charts.items())}


def _map(sketch: MapSketch, names: Sequence[str]) -> Picture:
    """Return the ridges, hits and component planes of a self-organizing map."""
    first = [
        _units(sketch, sketch.ridges, "ridges", "greys"),
        _units(sketch, sketch.hits, "rows", "blues", _ends(sketch.hits)),
    ]
    rest = [_units(sketch, sketch.planes[:, j], _label(names, j), "viridis") for j in _shown(sketch, names)]
    heading = f"{_some(len(rest), sketch.planes.shape[1])} of the matrix, in standard deviations from the mean"
    return _side_by_side([*first, *rest], heading)


def _side_by_side(pictures: Sequence[Picture], heading: str, across: int = ACROSS) -> Picture:
    """Return pictures in rows under a heading."""
    whole = Picture()
    whole.text(0, 0, heading, size=TITLE)
    wide = max(one.right for one in pictures) + APART
    tall = max(one.bottom for one in pictures) + APART
    left = -min(one.left for one in pictures)
    for place, one in enumerate(pictures):
        whole.place(one, left + (wide + left) * (place % across), LINE + tall * (place // across))
    return whole


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
) -> Picture:
    """Return the units of a map, coloured by values, with one path for each colour."""
    tall, wide = (int(one) + 1 for one in sketch.places.max(axis=0))
    step = min(14.0, 190.0 / wide)
    corners = np.array(HEXAGON) * 0.5774 if sketch.hexagonal else np.array(SQUARE) * 0.5
    low, high = float(values.min()), float(values.max())
    shares = (values - low) / (high - low) if high > low else np.full(values.shape, 0.5)
    colour, paths = coloured(scheme), dict[str, str]()
    for (down, across), share in zip(sketch.places.tolist(), shares.tolist(), strict=True):
        unit = (np.array([across + 0.5, down + 0.5]) + corners) * step
        paths[colour(share)] = paths.get(colour(share), "") + outline(unit.tolist()) + "z"
    drawn = Picture()
    drawn.text(0, SIZE / 2, cut(title, 190, TITLE), size=TITLE)
    units = Picture()
    for fill, path in paths.items():
        units.outlines(path, fill)
    units.hold(0, 0, step * wide, step * tall)
    drawn.place(units, 0, LINE)
    named = [low, high] if ticks is None else ticks
    words = [f"{one:,.0f}" for one in named] if ticks is not None else labels_of([float(f"{one:.2g}") for one in named])
    at = [0.5 if high == low else (one - low) / (high - low) for one in named]
    draw_colours(drawn, step * wide + 12, LINE + SIZE / 2, scheme, list(zip(at, words, strict=True)))
    return drawn


def _curves(sketches: Sequence[CurveSketch], names: Sequence[str]) -> Picture:
    """Return the densities of columns side by side."""
    drawn = [_curve(sketch, _label(names, sketch.column)) for sketch in sketches[:MOST]]
    heading = f"{_some(len(drawn), len(sketches))} with more than two values; dashes: cuts, dots: representative values"
    return _side_by_side(drawn, heading)


def _curve(sketch: CurveSketch, title: str) -> Picture:
    """Return the density of one column, with its cuts and peaks."""
    near = _middle(sketch)
    some = near[np.unique(np.linspace(0, max(near.size - 1, 0), min(POINTS, near.size)).astype(np.int64))]
    places, heights = sketch.places[some], sketch.heights[some]
    x, y = Scale(-FAR, FAR, 0, 190), Scale(0, float(heights.max(initial=0.0)) or 1.0, 110, 0)
    line = [(x(float(a)), y(float(b))) for a, b in zip(places, heights, strict=True)]
    drawn, curve = Picture(), Picture()
    drawn.text(0, SIZE / 2, cut(title, 190, TITLE), size=TITLE)
    if line:
        curve.area([(line[0][0], 110), *line, (line[-1][0], 110)], PALE, opacity=0.6)
        curve.line(line, ONE, wide=1.2)
    low, high = (sketch.places[near[0]], sketch.places[near[-1]]) if near.size else (-FAR, FAR)
    cuts, peaks = (held[(held >= low) & (held <= high)] for held in (sketch.cuts, sketch.peaks))
    for one in cuts.tolist():
        curve.line([(x(one), 0), (x(one), 110)], TWO, dashes="3 2")
    tops = np.interp(peaks, sketch.places, sketch.heights)
    for one, top in zip(peaks.tolist(), tops.tolist(), strict=True):
        curve.dot(x(one), y(top), 6, ONE)
    draw_numbers(curve, x, 110, count=5, title="standard deviations from the mean")
    drawn.place(curve, 0, LINE)
    return drawn


def _middle(sketch: CurveSketch) -> NDArray[np.int64]:
    """Return the positions of a curve without its tails, which would reveal where the outermost row lies."""
    mass = np.cumsum(sketch.heights * np.gradient(sketch.places))
    inside = (mass >= ENDS * mass[-1]) & (mass <= (1 - ENDS) * mass[-1]) & (np.abs(sketch.places) <= FAR)
    return np.flatnonzero(inside)


def _views(sketch: ViewsSketch, names: Sequence[str], views: Mapping[str, str | None]) -> Picture:
    """Return the index of each view before and after, one line per update."""
    called = [_called(place, columns, names, views) for place, columns in enumerate(sketch.columns)]
    turn = [list(sketch.views[:place]).count(view) + 1 for place, view in enumerate(sketch.views)]
    both = [[value if np.isfinite(value) else 0.0 for value in ends] for ends in (sketch.before, sketch.after)]
    y = Scale(*rounded_out(0.0, max([*both[0], *both[1], 1e-9]), 5), 160, 0)
    wide, ticks = 95, y.ticks(5)
    drawn = Picture()
    for place, (view, columns) in enumerate(zip(called, sketch.columns, strict=True)):
        drawn.text(0, (place - len(called)) * 16 - 12, _members(view, columns, names), size=TITLE)
    labels = [(y(one), words) for one, words in zip(ticks, labels_of(ticks), strict=True)]
    draw_left(drawn, labels, (0, 160), 0, title="Davies-Bouldin index")
    for place, (view, n, before, after, kept) in enumerate(zip(sketch.views, turn, *both, sketch.kept, strict=True)):
        left, colour = place * (wide + 20), ONE if kept else TWO
        ends = [(left + 20, y(before)), (left + wide - 20, y(after))]
        for tick, _ in labels:
            drawn.line([(left, tick), (left + wide, tick)], opacity=0.12)
        drawn.text(left + wide / 2, -9, cut(f"{called[view]}, round {n}", wide + 16), anchor="middle")
        drawn.line(ends, colour, wide=2)
        for end in ends:
            drawn.dot(*end, 6, colour)
        draw_bottom(drawn, [(left + 20, "before"), (left + wide - 20, "after")], (left, left + wide), 160)
    right = len(turn) * (wide + 20)
    for place, (words, colour) in enumerate((("kept", ONE), ("not kept", TWO))):
        drawn.dot(right, 10 + 16 * place, 8, colour)
        drawn.text(right + 9, 10 + 16 * place, words)
    return drawn


def _called(place: int, columns: Sequence[int], names: Sequence[str], views: Mapping[str, str | None]) -> str:
    """Return the name that the policy gives a view, or its number."""
    given = {views.get(names[column]) for column in columns if column < len(names)}
    name = given.pop() if len(given) == 1 else None
    return name or f"view {place + 1}"


def _members(view: str, columns: Sequence[int], names: Sequence[str]) -> str:
    """State which columns a view has."""
    held = list(dict.fromkeys(_name(names, column) for column in columns))
    more = f" and {len(held) - 4} more" if len(held) > 4 else ""
    return f"{view}: {', '.join(held[:4])}{more}"


def _plane(sketch: PlaneSketch) -> Picture:
    """Return the counts in a plane before and after, side by side and on the same colour scale."""
    most = float(max(sketch.before.max(), sketch.after.max(), 1.0))
    both = [
        _squares(sketch, counts, title, most) for counts, title in ((sketch.before, "before"), (sketch.after, "after"))
    ]
    ticks = _ends(np.append(sketch.before, sketch.after))
    shares = [((one / most) ** 0.5, f"{one:,.0f}") for one in ticks]
    draw_colours(both[1], 280 + 18, LINE, "blues", shares, "rows")
    return _side_by_side(both, "Squares of fewer than k rows are left empty")


def _squares(sketch: PlaneSketch, counts: NDArray[np.float64], title: str, most: float) -> Picture:
    """Return the counts in the squares of a plane."""
    edges = [edge.tolist() for edge in sketch.edges]
    x, y = Scale(edges[0][0], edges[0][-1], 0, 280), Scale(edges[1][0], edges[1][-1], 240, 0)
    colour, drawn, plane = coloured("blues"), Picture(), Picture()
    drawn.text(0, SIZE / 2, title, size=TITLE)
    for across, down in np.argwhere(counts > 0).tolist():
        left, right = (x(edges[0][across + more]) for more in (0, 1))
        low, high = (y(edges[1][down + more]) for more in (0, 1))
        plane.rectangle(left, high, right - left, low - high, colour((counts[across, down] / most) ** 0.5))
    draw_numbers(plane, x, 240, count=6, title="first principal axis")
    ticks = y.ticks(6)
    places = [(y(one), words) for one, words in zip(ticks, labels_of(ticks), strict=True)]
    draw_left(plane, places, (0, 240), 0, title="second principal axis")
    drawn.place(plane, 0, LINE)
    return drawn


def _name(names: Sequence[str], column: int) -> str:
    """Return the name of the table column behind a matrix column."""
    return names[column] if column < len(names) else f"column {column + 1}"


def _label(names: Sequence[str], column: int) -> str:
    """Return the name of a matrix column, numbered if several belong to one table column."""
    name = _name(names, column)
    if list(names).count(name) > 1:
        return f"{name} ({list(names[: column + 1]).count(name)})"
    return name
