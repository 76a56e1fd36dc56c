"""Axes of pictures: scales, round positions for their ticks, and legends of colours."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.reports.svg import SIZE, Picture, cut, outline, width

FAINT, HALF = 0.12, 0.5  # opacity of grid lines, and of axes and ticks
TICK = 4  # pixels
GAP = 7  # pixels between an axis and its labels
STEPS = (1, 2, 5, 10)  # of round numbers
MONTHS = (1, 3, 6, 12)  # between ticks
BAR = (90, 9)  # pixels of the colour bar of a legend

# A few colours of each scheme, evenly spaced; those between are mixed.
SCHEMES = {
    "blues": ("#e3edf6", "#b5d1e8", "#7db3d8", "#4790c3", "#1f69a9", "#0b4282"),
    "greys": ("#f4f4f4", "#d2d2d2", "#a5a5a5", "#757575", "#454545", "#141414"),
    "viridis": ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"),
}


@dataclass(frozen=True)
class Scale:
    """Positions of numbers along an axis: `low` lies at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the position of a number."""
        span = self.high - self.low
        if not math.isfinite(span):  # between numbers near the limits of floats
            return Scale(self.low / 4, self.high / 4, self.start, self.end)(value / 4)
        share = (value - self.low) / span if span else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, count: int) -> list[float]:
        """Return about this many round numbers within the scale."""
        return round_numbers(self.low, self.high, count)


def round_numbers(low: float, high: float, count: int) -> list[float]:
    """Return about this many numbers between two others, at multiples of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> round_numbers(0, 97, 5)
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    span = high / count - low / count
    if not (span > 0 and math.isfinite(span)):
        return [low]
    power = 10.0 ** math.floor(math.log10(span))
    if power == 0.0:
        return [low, high]
    step = next(one * power for one in STEPS if one * power >= span * 0.7)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return (
        [float(f"{place * step:.12g}") for place in range(first, last + 1)]
        if last - first < 10 * count
        else [low, high]
    )


def rounded_out(low: float, high: float, count: int) -> tuple[float, float]:
    """Return round ends of a scale that hold both numbers."""
    ticks = round_numbers(low, high, count)
    if len(ticks) < 2:
        return low, high
    step = ticks[1] - ticks[0]
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def labels_of(numbers: Sequence[float]) -> list[str]:
    """Return the numbers of ticks as text, with as many decimals as distinguish them.

    Examples
    --------
    >>> labels_of([0.0, 0.5, 1.0]), labels_of([0.0, 2000.0]), labels_of([0.0, 3e9])
    (['0.0', '0.5', '1.0'], ['0', '2,000'], ['0', '3e+09'])
    """
    largest = max(map(abs, numbers), default=0.0)
    gap = min((abs(b - a) for a, b in pairwise(numbers)), default=largest)
    if largest >= 1e7 or 0 < largest < 1e-4:
        texts = ["0" if one == 0 else f"{one:.6g}" for one in numbers]
        return texts if len(set(texts)) == len(texts) else [f"{one:.15g}" for one in numbers]
    for digits in range(9):
        texts = [f"{one:,.{digits}f}" for one in numbers]
        read = [float(text.replace(",", "")) for text in texts]
        if all(abs(a - b) <= gap * 1e-3 for a, b in zip(read, numbers, strict=True)):
            return texts
    return [f"{one:.15g}" for one in numbers]


def dates_between(low: float, high: float, count: int) -> tuple[list[float], list[str]]:
    """Return about this many first days of years or months, or days, as days since 1970, with their labels."""
    first, last = (np.datetime64(int(end), "D") for end in (math.ceil(low), math.floor(high)))
    years = int(last.astype("M8[Y]").astype(int) - first.astype("M8[Y]").astype(int))
    months = int(last.astype("M8[M]").astype(int) - first.astype("M8[M]").astype(int))
    if years >= count - 1:
        start = int(first.astype("M8[Y]").astype(int)) + 1970
        picked = [int(one) for one in round_numbers(start, start + years + 1, count) if one == int(one)]
        days = [np.datetime64(one - 1970, "Y").astype("M8[D]") for one in picked]
        texts = [str(one) for one in picked]
    elif months >= count - 1:
        step = next((one for one in MONTHS if months / one <= count + 1), MONTHS[-1])
        start = int(first.astype("M8[M]").astype(int))
        held = [one for one in range(start, start + months + 2) if one % step == 0]
        days = [np.datetime64(one, "M").astype("M8[D]") for one in held]
        texts = [str(np.datetime64(one, "M")) for one in held]
    else:
        step = max(1, round((high - low) / count))
        days = [first + np.timedelta64(one, "D") for one in range(0, int(high - low) + 1, step)]
        texts = [str(day) for day in days]
    found = [(float(day.astype(int)), text) for day, text in zip(days, texts, strict=True)]
    inside = [(place, text) for place, text in found if low <= place <= high]
    return [place for place, _ in inside], [text for _, text in inside]


def draw_bottom(
    picture: Picture,
    places: Sequence[tuple[float, str]],
    ends: tuple[float, float],
    y: float,
    *,
    title: str = "",
    grid: float = 0.0,
    line: bool = True,
    ticks: bool = True,
) -> None:
    """Draw an axis below a picture: ticks at positions, with labels that do not overlap, and grid lines this long."""
    if grid:
        for x, _ in places:
            picture.line([(x, y - grid), (x, y)], opacity=FAINT)
    if line:
        picture.line([(ends[0], y), (ends[1], y)], opacity=HALF)
    taken = -math.inf
    below = y + GAP + SIZE / 2
    for x, words in sorted(places):
        if ticks:
            picture.line([(x, y), (x, y + TICK)], opacity=HALF)
        half = width(words) / 2
        if x - half > taken:
            picture.text(x, below, words, anchor="middle")
            taken = x + half + TICK
    if title:
        picture.text(sum(ends) / 2, below + SIZE + TICK, title, anchor="middle")


def draw_left(
    picture: Picture,
    places: Sequence[tuple[float, str]],
    ends: tuple[float, float],
    x: float,
    *,
    title: str = "",
    grid: float = 0.0,
    line: bool = True,
    ticks: bool = True,
    most: float = math.inf,
) -> None:
    """Draw an axis to the left of a picture, whose labels are cut to `most` pixels."""
    if grid:
        for y, _ in places:
            picture.line([(x, y), (x + grid, y)], opacity=FAINT)
    if line:
        picture.line([(x, ends[0]), (x, ends[1])], opacity=HALF)
    long = 0.0
    for y, words in places:
        shown = cut(words, most)
        if ticks:
            picture.line([(x - TICK, y), (x, y)], opacity=HALF)
        picture.text(x - GAP, y, shown, anchor="end")
        long = max(long, width(shown))
    if title:
        picture.text(x - 2 * GAP - long - SIZE / 2, sum(ends) / 2, title, anchor="middle", turned=-90)


def draw_numbers(
    picture: Picture, scale: Scale, y: float, *, count: int, title: str = "", grid: float = 0.0, line: bool = True
) -> None:
    """Draw an axis of numbers below a picture."""
    ticks = scale.ticks(count)
    places = [(scale(one), words) for one, words in zip(ticks, labels_of(ticks), strict=True)]
    draw_bottom(picture, places, (scale.start, scale.end), y, title=title, grid=grid, line=line)


def coloured(scheme: str) -> Callable[[float], str]:
    """Return a function from a share between 0 and 1 to its colour; nearly the same shares have the same colour."""
    anchors = [[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in SCHEMES[scheme]]

    def colour(share: float) -> str:
        at = min(1.0, max(0.0, round(share * 60) / 60)) * (len(anchors) - 1)
        low = min(int(at), len(anchors) - 2)
        mixed = (round(a + (b - a) * (at - low)) for a, b in zip(anchors[low], anchors[low + 1], strict=True))
        return "#" + "".join(f"{one:02x}" for one in mixed)

    return colour


def draw_colours(
    picture: Picture, x: float, y: float, scheme: str, ticks: Sequence[tuple[float, str]], title: str = ""
) -> None:
    """Draw the legend of a colour scheme: a bar, from 0 at the bottom to 1 at the top, and labels at shares of it."""
    tall, wide = BAR
    if title:
        picture.text(x, y + SIZE / 2, title)
        y += SIZE + GAP
    pieces = 30
    colour = coloured(scheme)
    for piece in range(pieces):
        at = y + tall * (1 - (piece + 1) / pieces)
        corners = [(x, at), (x + wide, at), (x + wide, at + tall / pieces + 0.5), (x, at + tall / pieces + 0.5)]
        picture.outlines(f"{outline(corners)}z", colour((piece + 0.5) / pieces))
    for share, words in ticks:
        picture.text(x + wide + TICK, y + tall * (1 - share), words)
    picture.hold(x, y, x + wide, y + tall)
