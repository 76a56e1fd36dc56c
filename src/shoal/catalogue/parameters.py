"""Parameters of a method: what a policy may set, within which limits, and with which default."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from shoal.errors import listed


@dataclass(frozen=True)
class Whole:
    """A parameter that is a whole number between two limits."""

    low: int
    high: int | None = None
    default: int | None = None
    help: str = ""

    def wrong(self, value: object) -> str | None:
        """Return what was expected, or None if the value is valid."""
        if not isinstance(value, bool) and isinstance(value, Integral):
            number = int(value)
            if self.low <= number and (self.high is None or number <= self.high):
                return None
        return f"a whole number of at least {self.low:,}" + ("" if self.high is None else f" and at most {self.high:,}")


@dataclass(frozen=True)
class Number:
    """A parameter that is a finite number between two limits, or one of a few words instead."""

    low: float
    high: float = math.inf
    default: float | str | None = None
    help: str = ""
    words: tuple[str, ...] = ()

    def wrong(self, value: object) -> str | None:
        """Return what was expected, or None if the value is valid."""
        if isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high:
            return None if math.isfinite(value) else "a finite number"
        if isinstance(value, str) and value in self.words:
            return None
        most = f" and at most {self.high:g}" if math.isfinite(self.high) else ""
        return f"a number of at least {self.low:g}{most}" + (f", or {listed(self.words)}" if self.words else "")


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of a few words; a function supplies them if they depend on the catalogue."""

    words: tuple[str, ...] | Callable[[], tuple[str, ...]]
    default: str | None = None
    help: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The words."""
        return self.words() if callable(self.words) else self.words

    def wrong(self, value: object) -> str | None:
        """Return what was expected, or None if the value is valid."""
        return None if value in self.choices else f"one of {listed(self.choices)}"


@dataclass(frozen=True)
class Flag:
    """A parameter that is true or false."""

    default: bool = False
    help: str = ""

    def wrong(self, value: object) -> str | None:
        """Return what was expected, or None if the value is valid."""
        return None if isinstance(value, bool) else "true or false"


Parameter = Whole | Number | Choice | Flag


def as_dict(parameter: Parameter) -> dict[str, Any]:
    """Return a parameter as plain values, for JSON, tables and forms; None for an unlimited range."""
    shown = {"type": type(parameter).__name__.lower(), **vars(parameter)}
    if isinstance(parameter, Choice):
        shown["words"] = parameter.choices
    if shown.get("high") == math.inf:
        shown["high"] = None
    return shown
