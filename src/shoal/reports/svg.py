"""Pictures: marks, lines and text, drawn as SVG.

Text takes the colour of the page (`currentColor`), the background is transparent, and marks have one of three colours
that the page adapts to dark screens: `ONE`, `TWO` and `PALE`. Blue and orange are distinguishable for colour-blind
readers. A mark with a description has it as its `aria-label`, which screen readers read out and the page's script
displays.

A picture has the size of what is drawn in it, text included. The width of text is that of Arial and of fonts with the
same metrics, estimated for characters outside ASCII. So the same picture has the same bytes on every machine.
"""

import html
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence

ONE, TWO, PALE = "#2a6f9e", "#c9671c", "#b9d2e3"
# Okabe and Ito's palette for colour-blind readers, without the yellow that vanishes on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c8c8c")
INK = "currentColor"
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
SIZE = 11  # of text
EDGE = 5.0  # pixels around what is drawn
LAST_TWO = "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000))
NO_CHARACTERS = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef{LAST_TWO}]")

# Thousandths of the text size that characters are wide in Arial.
WIDTHS = {
    **dict.fromkeys("'", 191),
    **dict.fromkeys("ijl", 222),
    **dict.fromkeys("|", 260),
    **dict.fromkeys(" !,./:;I[\\]ft", 278),
    **dict.fromkeys("()-`r", 333),
    **dict.fromkeys("{}", 334),
    **dict.fromkeys('"', 355),
    **dict.fromkeys("*", 389),
    **dict.fromkeys("^", 469),
    **dict.fromkeys("Jcksvxyz", 500),
    **dict.fromkeys("#$0123456789?_L", 556),
    **dict.fromkeys("abdeghnopqu", 556),
    **dict.fromkeys("+<=>~", 584),
    **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("&ABEKPSVXY", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("Mm", 833),
    **dict.fromkeys("%", 889),
    **dict.fromkeys("W", 944),
    **dict.fromkeys("@", 1015),
}
OTHER, FULL = 600, 1000


class Picture:
    """A picture in the making: what was drawn so far, and the rectangle that holds it.

    Positions are in pixels, to the right and down. Parts that are drawn later cover earlier ones.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = self._top = math.inf
        self._right = self._bottom = -math.inf

    def rectangle(
        self, x: float, y: float, wide: float, tall: float, colour: str, *, opacity: float = 1, description: str = ""
    ) -> None:
        """Draw a filled rectangle."""
        self.hold(x, y, x + wide, y + tall)
        at = f'x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(tall)}"'
        self._draw("rect", f"{at} {_filled(colour, opacity)}", description)

    def line(
        self,
        points: Sequence[tuple[float, float]],
        colour: str = INK,
        *,
        wide: float = 1,
        opacity: float = 1,
        dashes: str = "",
        round_ends: bool = False,
        description: str = "",
    ) -> None:
        """Draw straight lines from point to point."""
        self._hold_all(points)
        look = f'stroke="{colour}" stroke-width="{number(wide)}"' + _seen("stroke", opacity)
        look += f' stroke-dasharray="{dashes}"' if dashes else ""
        look += ' stroke-linecap="round"' if round_ends else ""
        self._draw("path", f'd="{outline(points)}" fill="none" {look}', description)

    def area(self, points: Sequence[tuple[float, float]], colour: str, *, opacity: float = 1) -> None:
        """Fill the area inside a line."""
        self._hold_all(points)
        self._draw("path", f'd="{outline(points)}z" {_filled(colour, opacity)}', "")

    def outlines(self, path: str, colour: str) -> None:
        """Fill outlines given as a path, inside of what is drawn otherwise."""
        self._draw("path", f'd="{path}" fill="{colour}"', "")

    def dot(
        self, x: float, y: float, wide: float, colour: str, *, shape: str = "circle", description: str = ""
    ) -> None:
        """Draw a filled dot of a shape of `SHAPES`, this wide."""
        half = wide / 2
        self.hold(x - half, y - half, x + half, y + half)
        if shape == "circle":
            at = f'cx="{number(x)}" cy="{number(y)}" r="{number(half)}"'
            self._draw("circle", f'{at} fill="{colour}"', description)
        else:
            corners = "L".join(
                f"{number(x + half * across)},{number(y + half * down)}" for across, down in SHAPES[shape]
            )
            self._draw("path", f'd="M{corners}z" fill="{colour}"', description)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        anchor: str = "start",
        size: int = SIZE,
        colour: str = INK,
        turned: int = 0,
        description: str = "",
    ) -> None:
        """Write text whose middle line passes through a point, where it starts, ends or has its middle.

        `turned` is the angle in degrees by which it is turned clockwise around that point.
        """
        words = plain(words)
        long = width(words, size)
        start = x - {"start": 0.0, "middle": long / 2, "end": long}[anchor]
        angle = math.radians(turned)
        corners = [(start + more - x, side * size / 2) for more in (0, long) for side in (-1, 1)]
        across = [x + a * math.cos(angle) - b * math.sin(angle) for a, b in corners]
        down = [y + a * math.sin(angle) + b * math.cos(angle) for a, b in corners]
        self.hold(min(across), min(down), max(across), max(down))
        look = f'x="{number(x)}" y="{number(y)}" dy="0.35em" fill="{colour}"'
        look += f' text-anchor="{anchor}"' if anchor != "start" else ""
        look += f' font-size="{size}"' if size != SIZE else ""
        look += f' transform="rotate({turned} {number(x)} {number(y)})"' if turned else ""
        self._draw("text", look, description, html.escape(words))

    def place(self, other: "Picture", x: float = 0, y: float = 0, *, group: str = "") -> None:
        """Draw another picture whose origin comes to this point, as part of a group that readers can highlight."""
        if other._parts:
            self.hold(other._left + x, other._top + y, other._right + x, other._bottom + y)
            named = f' data-group="{html.escape(plain(group))}"' if group else ""
            moved = f' transform="translate({number(x)},{number(y)})"' if x or y else ""
            self._parts += [f"<g{named}{moved}>", *other._parts, "</g>"]

    def svg(self) -> str:
        """Return the picture as the text of an SVG element."""
        if self._left > self._right:
            self.hold(0, 0, 0, 0)
        left, top, (wide, tall) = self._left - EDGE, self._top - EDGE, self.size
        box = f'width="{wide}" height="{tall}" viewBox="{number(left)} {number(top)} {wide} {tall}"'
        look = f'font-family="{FONT}" font-size="{SIZE}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {look}>{"".join(self._parts)}</svg>'

    def _hold_all(self, points: Sequence[tuple[float, float]]) -> None:
        """Make the picture large enough for points."""
        across, down = zip(*points, strict=True)
        self.hold(min(across), min(down), max(across), max(down))

    def _draw(self, tag: str, attributes: str, description: str, inside: str = "") -> None:
        """Add an element; one without a description is hidden from screen readers, unless it is text."""
        if description:
            words = html.escape(plain(description))
            attributes += f' role="graphics-symbol" aria-roledescription="{tag}" aria-label="{words}"'
        elif tag != "text":
            attributes += ' aria-hidden="true"'
        self._parts.append(f"<{tag} {attributes}>{inside}</{tag}>" if inside else f"<{tag} {attributes}/>")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return math.ceil(self._right - self._left + 2 * EDGE), math.ceil(self._bottom - self._top + 2 * EDGE)

    @property
    def left(self) -> float:
        """The smallest x of what was drawn."""
        return self._left

    @property
    def right(self) -> float:
        """The largest x of what was drawn."""
        return self._right

    @property
    def bottom(self) -> float:
        """The largest y of what was drawn."""
        return self._bottom

    def hold(self, left: float, top: float, right: float, bottom: float) -> None:
        """Make the picture large enough for a rectangle."""
        self._left, self._top = min(self._left, left), min(self._top, top)
        self._right, self._bottom = max(self._right, right), max(self._bottom, bottom)


# Corners of dots, for a half width of 1.
SHAPES: dict[str, Sequence[tuple[float, float]]] = {
    "circle": (),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "triangle-up": ((0, -1), (1, 0.8), (-1, 0.8)),
    "diamond": ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),
    "cross": (
        *((-0.4, -1), (0.4, -1), (0.4, -0.4), (1, -0.4), (1, 0.4), (0.4, 0.4)),
        *((0.4, 1), (-0.4, 1), (-0.4, 0.4), (-1, 0.4), (-1, -0.4), (-0.4, -0.4)),
    ),
    "triangle-down": ((-1, -0.8), (1, -0.8), (0, 1)),
}


def plain(text: str) -> str:
    r"""Return a text in which control characters, unpaired surrogates and unassigned code points are shown as U+FFFD.

    Examples
    --------
    >>> plain("as\x01thma")
    'as�thma'
    """
    return NO_CHARACTERS.sub("\ufffd", text)


def width(text: str, size: int = SIZE) -> float:
    """Return the approximate width of a text in pixels."""
    return sum(map(_wide, text)) * size / 1000


def cut(text: str, most: float, size: int = SIZE) -> str:
    """Return a text, cut and with an ellipsis if it is wider than this many pixels."""
    if width(text, size) <= most:
        return text
    left = most - width("…", size)
    kept = 0
    for kept, letter in enumerate(text):  # noqa: B007 - the number of letters that fit
        left -= _wide(letter) * size / 1000
        if left < 0:
            break
    return f"{text[:kept]}…"


def outline(points: Iterable[tuple[float, float]]) -> str:
    """Return a path of straight lines from point to point."""
    return "M" + "L".join(f"{number(x)},{number(y)}" for x, y in points)


def number(value: float) -> str:
    """Return a position with up to two decimals.

    Examples
    --------
    >>> number(2.50), number(-0.001), number(100)
    ('2.5', '0', '100')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _wide(letter: str) -> int:
    """Return the width of a character in thousandths of the text size."""
    known = WIDTHS.get(letter)
    if known is not None:
        return known
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Cf", "Mn", "Me"):
        return 0
    return FULL if unicodedata.east_asian_width(letter) in "WF" else OTHER


def _filled(colour: str, opacity: float) -> str:
    """Return the attributes of a filled shape."""
    return f'fill="{colour}"{_seen("fill", opacity)}'


def _seen(what: str, opacity: float) -> str:
    """Return the attribute of an opacity other than 1."""
    return f' {what}-opacity="{number(opacity)}"' if opacity != 1 else ""
