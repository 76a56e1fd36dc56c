"""The charts of an exploration: risk against utility, with one dot per release.

Utility grows to the right and risk upwards, whatever their own direction: the axis of a loss is reversed. Colours are
those of the report; Pareto-optimal points are blue, others pale, and nothing is conveyed by colour alone. All functions
take the facts of `Exploration.as_dict`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.axes import Scale, draw_bottom, draw_left, labels_of
from shoal.reports.svg import COLOURS, ONE, PALE, Picture, cut

MOST_POINTS = 1_500  # drawn
MOST_LINES = 36
MOST_BEHIND = 40  # points of the Pareto front behind the line of a method
MOST_TOGETHER = 6  # numbers at one position
CLOSE = (34.0, 14.0)  # pixels
WIDE, TALL, SMALL = 620, 400, (230, 150)

Facts = Mapping[str, Any]


def overview(facts: Facts) -> Picture:
    """Return every point with its intervals; Pareto-optimal points are numbered."""
    known = [one for one in _known(facts) if one["same_as"] is None][:MOST_POINTS]
    order = {name: place for place, name in enumerate(facts["front"])}
    front = sorted((one for one in known if one["front"]), key=lambda one: order[one["name"]])
    plane = _Plane(facts, known, WIDE, TALL)
    plane.draw_references()
    for some, colour, size in (([one for one in known if not one["front"]], PALE, 7), (front, ONE, 9)):
        plane.draw_spans(some, colour)
        plane.draw_dots(some, colour, size)
    for x, y, words in _numbers(plane, front):
        plane.drawn.text(x + 6, y - 10, words, size=10)
    return plane.drawn


def lines(facts: Facts) -> list[tuple[str, str, Picture]]:
    """Return name, k and a small chart of each method with its parameters, its points joined in order of k."""
    known = _known(facts)
    front = [one for one in known if one["front"]][:MOST_BEHIND]
    found = []
    line_of = _lines_of(facts)
    for line in list(dict.fromkeys(line_of[one["name"]] for one in known))[:MOST_LINES]:
        own = sorted((one for one in known if line_of[one["name"]] == line), key=_order)
        plane = _Plane(facts, known, *SMALL, short=True)
        plane.draw_dots(front, PALE, 6, described=False)
        plane.draw_line(own, ONE)
        plane.draw_spans(own, ONE)
        plane.draw_dots(own, ONE, 7)
        asked = ", ".join(str(k) for k in dict.fromkeys(one["k"] for one in own))
        found.append((line, asked, plane.drawn))
    return found


def by_method(facts: Facts) -> Picture:
    """Return every point in the colour of its method, joined in order of k, with a legend.

    Pareto-optimal points are dots, others crosses.
    """
    known = _known(facts)
    plane, line_of = _Plane(facts, known, WIDE, TALL), _lines_of(facts)
    drawn = plane.drawn
    plane.draw_references()
    drawn.text(WIDE + 20, 6, "method; ● Pareto-optimal, ✚ dominated")
    for number, line in enumerate(dict.fromkeys(line_of[one["name"]] for one in known)):
        own = sorted((one for one in known if line_of[one["name"]] == line), key=_order)
        colour, at = COLOURS[number % len(COLOURS)], 24 + 16 * number
        plane.drawn = Picture()
        plane.draw_line(own, colour)
        plane.draw_dots([one for one in own if not one["front"]], colour, 7, shape="cross")
        plane.draw_dots([one for one in own if one["front"]], colour, 9)
        plane.drawn.dot(WIDE + 25, at, 8, colour)
        plane.drawn.text(WIDE + 34, at, cut(line, 220))
        drawn.place(plane.drawn, group=line)
    return drawn


class _Plane:
    """Axes of utility and risk, and what is drawn between them: better is to the right, and further down."""

    def __init__(self, facts: Facts, known: Sequence[Facts], wide: float, tall: float, *, short: bool = False) -> None:
        self.facts, self.tall, self.drawn = facts, tall, Picture()
        ends, titles = [], []
        for what, arrow, size in (("utility", "→", wide), ("risk", "↓", tall)):
            aim = facts[what]
            better = "higher" if aim["higher_is_better"] else "lower"
            titles.append(aim["name"] if short else f"{aim['name']} ({better} is better {arrow})")
            # The better end is on the right and at the bottom.
            ends.append((0.0, size) if aim["higher_is_better"] else (size, 0.0))
        self.x = Scale(*_domain(facts, known, "utility"), *ends[0])
        self.y = Scale(*_domain(facts, known, "risk"), *ends[1])
        count = 4 if short else 8
        across, down = self.x.ticks(count), self.y.ticks(count)
        left = [*zip(map(self.y, down), labels_of(down), strict=True)]
        below = [*zip(map(self.x, across), labels_of(across), strict=True)]
        most = wide + tall  # pixels of a title at most
        draw_left(self.drawn, left, (0, tall), 0, title=cut(titles[1], most), grid=wide)
        draw_bottom(self.drawn, below, (0, wide), tall, title=cut(titles[0], most), grid=tall)

    def at(self, one: Facts) -> tuple[float, float]:
        """Return the position of a point."""
        return self.x(one["utility"]["value"]), self.y(one["risk"]["value"])

    def draw_references(self) -> None:
        """Draw a labelled dashed line for each reference figure."""
        for name, value in self.facts["references"].items():
            words, x = f"{name}: {value:.4g}", self.x(value)
            self.drawn.line([(x, 0), (x, self.tall)], opacity=0.6, dashes="4 3", description=words)
            self.drawn.text(x - 8, 4, words, anchor="end", size=10, turned=-90)

    def draw_dots(
        self, some: Sequence[Facts], colour: str, size: float, *, shape: str = "circle", described: bool = True
    ) -> None:
        """Draw a dot for each point, with a description unless it is hidden from screen readers."""
        for one in some:
            words = _description(self.facts, one) if described else ""
            self.drawn.dot(*self.at(one), size, colour, shape=shape, description=words)

    def draw_line(self, own: Sequence[Facts], colour: str) -> None:
        """Join points by a line."""
        if len(own) > 1:
            self.drawn.line([self.at(one) for one in own], colour, wide=1.5)

    def draw_spans(self, some: Sequence[Facts], colour: str) -> None:
        """Draw the intervals of points as thin lines; an exact figure has none."""
        for one in some:
            x, y = self.at(one)
            for what, scale in (("utility", self.x), ("risk", self.y)):
                if one[what]["low"] is not None and one[what]["high"] > one[what]["low"]:
                    low, high = (scale(one[what][end]) for end in ("low", "high"))
                    ends = [(low, y), (high, y)] if what == "utility" else [(x, low), (x, high)]
                    self.drawn.line(ends, colour, wide=1.2)


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


def _domain(facts: Facts, known: Sequence[Facts], what: str) -> tuple[float, float]:
    """Return the ends of an axis: slightly beyond all figures and intervals, but not below 0 for that reason."""
    ends = list(facts["references"].values()) if what == "utility" else []
    ends += [end for one in known for end in one[what].values() if end is not None]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    edge = 0.05 * (high - low) or 0.5
    return (low - edge if low - edge > 0 or low < 0 else 0.0), high + edge


def _numbers(plane: _Plane, front: Sequence[Facts]) -> list[tuple[float, float, str]]:
    """Return the positions of the numbers of the Pareto front; dots close together share one."""
    held: list[tuple[tuple[float, float], list[str]]] = []
    for number, one in enumerate(front):
        at = plane.at(one)
        near = (words for place, words in held if all(abs(p - a) < c for p, a, c in zip(place, at, CLOSE, strict=True)))
        words = next(near, None)
        if words is None:
            held.append((at, words := []))
        words.append(str(number + 1))
    return [
        (*place, ", ".join([*words[:MOST_TOGETHER], *(["…"] if len(words) > MOST_TOGETHER else [])]))
        for place, words in held
    ]


def _description(facts: Facts, one: Facts) -> str:
    """Describe a dot."""
    parts = [one["name"]]
    for what in ("utility", "risk"):
        figure = one[what]
        ends = "" if figure["low"] is None else f" ({figure['low']:.4g} to {figure['high']:.4g})"
        parts.append(f"{facts[what]['name']} {figure['value']:.4g}{ends}")
    beaten = "clearly worse than another" if one["same_as"] is None else f"the same release as {one['same_as']}"
    return "; ".join([*parts, "Pareto-optimal" if one["front"] else beaten])
