"""The figures of findings and attacks, checked where they are made: plain numbers within their range, plain texts.

Measures and attacks may come from plug-ins, and reports are written from what they return. Figures of numpy and of
`decimal` become numbers of Python; anything else than a number is refused, by a sentence that names its type only.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, NoReturn

from shoal.errors import MethodError, kind_of

NOISE = 1e-9  # rates are sums of fractions


def plain_number(value: object) -> int | float | None:
    """Return a number as an int or a float of Python, None if it is none.

    Examples
    --------
    >>> plain_number(Decimal("0.5")), plain_number(3), plain_number("3"), plain_number(True)
    (0.5, 3, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        return int(value) if isinstance(value, Integral) else float(value)
    except (OverflowError, ValueError):
        return None


@dataclass(frozen=True)
class Checked:
    """The fields of a finding or an attack; `who` begins each message."""

    held: Any
    who: str

    def texts(self, *names: str, optional: bool = False) -> None:
        """Refuse fields that are not text."""
        for name, value in self._given(names, optional=optional):
            if not isinstance(value, str):
                self._refuse(name, "text", value)

    def words(self, name: str, known: tuple[str, ...]) -> None:
        """Refuse a field that is not one of these words."""
        value = getattr(self.held, name)
        if type(value) is not str or value not in known:
            self._refuse(name, f"one of {', '.join(map(repr, known))}")

    def flags(self, *names: str, optional: bool = False) -> None:
        """Refuse fields that are not exactly True or False."""
        expected = "True, False or None" if optional else "True or False"
        for name, value in self._given(names, optional=optional):
            if type(value) is not bool:
                self._refuse(name, expected, value)

    def whole_numbers(self, *names: str, least: int, optional: bool = False) -> None:
        """Turn fields into integers of Python, or refuse them."""
        for name, value in self._given(names, optional=optional):
            found = plain_number(value)
            if not isinstance(found, int):
                self._refuse(name, "a whole number", value)
            if found < least:
                self._refuse(name, f"at least {least}")
            self._set(name, found)

    def numbers(self, *names: str, low: float = -math.inf, high: float = math.inf, optional: bool = False) -> None:
        """Turn fields into numbers of Python, or refuse them; with limits they must be finite and within them."""
        for name, value in self._given(names, optional=optional):
            self._set(name, self._number(name, value, low, high))

    def interval(self, *, low: float = -math.inf, high: float = math.inf) -> None:
        """Turn the interval into a pair of numbers, or refuse it; one without two finite ends is none."""
        given = self.held.interval
        if given is None:
            return
        ends = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else ()
        if len(ends) != 2:
            self._refuse("interval", "a pair of numbers or None", given)
        one, other = (self._number("interval", end, low, high) for end in ends)
        self._set("interval", (one, other) if math.isfinite(one) and math.isfinite(other) else None)

    def _number(self, name: str, value: object, low: float, high: float) -> float:
        """Return a number of Python within limits."""
        found = plain_number(value)
        if found is None:
            self._refuse(name, "a number", value)
        limited = math.isfinite(low)
        if limited and not (math.isfinite(found) and low - NOISE <= found <= high * (1 + NOISE)):
            self._refuse(name, f"from {low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g} and finite")
        return min(max(found, low), high) if limited else found

    def _given(self, names: Iterable[str], *, optional: bool) -> list[tuple[str, Any]]:
        """Return the fields of these names; those that are None are left out if they may be."""
        held = [(name, getattr(self.held, name)) for name in names]
        return [(name, value) for name, value in held if not (optional and value is None)]

    def _set(self, name: str, value: object) -> None:
        """Replace a field of a frozen dataclass while it is being made."""
        object.__setattr__(self.held, name, value)

    def _refuse(self, name: str, expected: str, value: object = ...) -> NoReturn:
        """Raise the error for a field; it says the type of a value, never the value."""
        got = "" if value is ... else f"; got {kind_of(value)}"
        raise MethodError(f"{self.who}: {name} must be {expected}{got}.")
