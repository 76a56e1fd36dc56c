"""Spellings: which texts of a sensitive column mean the same, so that models count them once.

Two texts have the same meaning if they are equal after these steps:

1. Invisible characters are dropped: controls, zero-width characters, soft hyphens, variation selectors.
2. Unicode compatibility normalization and case folding (NFKC, UAX #15; caseless matching, Unicode 3.13, D147).
3. White space at both ends is dropped, and any inside becomes one space.
4. Empty text, one of the usual words for a missing value, and not a number (`NaN`) mean a missing value.
5. Decimal numbers are equal if their values are: `1`, `1.0`, `01`, `+1` and `1e0`.

In text of more than 500 characters only case and white space are ignored.

The verifier has its own implementation of the same rules (`certify.meanings`); tests keep the two consistent.
"""

import re
import unicodedata
from decimal import Decimal
from typing import Any

from shoal.model.policy import NULL_WORDS

Meaning = Decimal | str | None

LONG = 500  # characters above which text is not normalized
DIGITS, POWER = 400, 10**6  # numbers with more significant digits or a larger power of ten are text
FLAGS = re.ASCII | re.IGNORECASE
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,9})?", FLAGS)
ENDLESS = re.compile(r"([+-]?)inf(?:inity)?", FLAGS)
NO_NUMBER = re.compile(r"[+-]?s?nan", FLAGS)
# Letters, marks and unassigned characters of Unicode's Default_Ignorable_Code_Point, and the Braille blank.
BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def meaning(text: str) -> Meaning:
    """Return what a text means: None for a missing value, a number, or folded text.

    Examples
    --------
    >>> [meaning(text) for text in ("Flu ", "01.0", " ", "n/a")]
    ['flu', Decimal('1.0'), None, None]
    """
    folded = _folded(text)
    return None if folded in MISSING or NO_NUMBER.fullmatch(folded) else exactly(folded)


def exactly(text: str) -> Decimal | str:
    """Return a text as a number if it is one as written, otherwise the text."""
    if NUMBER.fullmatch(text):
        digits = re.sub("[eE].*|[^0-9]", "", text).strip("0")
        number = Decimal(text) if digits else Decimal(0)
        # The power is that of 0.digits x 10^power.
        return number if not digits or (len(digits) <= DIGITS and abs(number.adjusted() + 1) <= POWER) else text
    endless = ENDLESS.fullmatch(text)
    return Decimal(f"{endless[1]}Infinity") if endless else text


def text_of(cell: Any) -> str | None:
    """Return what bytes or a nested cell mean, as text; None if they mean a missing value.

    Nested values mean what they would mean alone. In lists and maps neither order nor repetition counts.

    Examples
    --------
    >>> text_of(b"Flu"), text_of(["b", "A", "a"]), text_of([None, ""]), text_of({"d": ["1.0"]})
    ('Flu', '[a|b]', None, '<d=[1]>')
    """
    if isinstance(cell, bytes):
        return cell.decode(errors="backslashreplace")
    return _inside(cell)


def _inside(cell: Any) -> str | None:
    """Return what a nested value means."""
    match cell:
        case dict():
            named = ((key, _inside(value)) for key, value in cell.items())
            parts = [f"{key}={text}" for key, text in named if text is not None]
            return f"<{'|'.join(parts)}>" if parts else None
        case tuple():
            return f"<{'|'.join(_inside(one) or '' for one in cell)}>"
        case list():
            simple = bool(cell) and isinstance(cell[0], str | bytes | int | float)
            texts = {_inside(one) for one in (set(cell) if simple else cell)} - {None}
            return f"[{'|'.join(sorted(str(one) for one in texts))}]" if texts else None
        case bytes():
            return _inside(cell.decode(errors="backslashreplace"))
        case None:
            return None
    known = meaning(str(cell))
    return format(known.normalize()) if isinstance(known, Decimal) else known


def rank(value: Meaning) -> tuple[int, Decimal, str]:
    """Return a sort key: numbers, then text, then missing values."""
    if value is None:
        return 2, Decimal(0), ""
    return (1, Decimal(0), value) if isinstance(value, str) else (0, value, "")


def _folded(text: str) -> str:
    """Return text without case, invisible characters and superfluous space."""
    if len(text) > LONG or (text.isascii() and text.isprintable()):
        return " ".join(text.lower().split())
    printed = "".join(one for one in BLANKS.sub("", text) if one.isspace() or unicodedata.category(one) not in DROPPED)
    once = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", printed).casefold())
    return " ".join(unicodedata.normalize("NFKC", once.casefold()).split())


DROPPED = ("Cc", "Cf")
MISSING = frozenset(map(_folded, NULL_WORDS))
