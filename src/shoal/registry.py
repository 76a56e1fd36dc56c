"""Methods by name, and the card that each method carries.

The card is the single declaration of a method: parameter checks, `--help`, forms and the docs
table read it. Built-ins stand in a plain table of names and modules and are loaded on first use;
strangers come by the entry point group `shoal.methods`, through the same door.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from importlib.metadata import entry_points
from inspect import signature
from numbers import Integral
from typing import Any

from shoal.errors import MethodError, listed, near
from shoal.model.partition import Partition

__all__ = ["Card", "Choice", "Flag", "Number", "Whole", "is_mixed", "load", "method", "names"]

BUILT_IN = {
    "anneal": "shoal.cluster.methods.anneal",
    "auto": "shoal.cluster.methods.auto",
    "bisection": "shoal.cluster.methods.bisection",
    "blocks": "shoal.cluster.methods.blocks",
    "c_tca": "shoal.som.methods",
    "c_tca_pp": "shoal.som.methods",
    "cover": "shoal.cluster.methods.cover",
    "exact": "shoal.cluster.methods.exact",
    "gower": "shoal.cluster.methods.gower",
    "grow": "shoal.cluster.methods.grow",
    "hac": "shoal.cluster.methods.hac",
    "k_member": "shoal.cluster.methods.k_member",
    "k_tca": "shoal.som.methods",
    "k_tca_pp": "shoal.som.methods",
    "kde": "shoal.density.kde",
    "kde_pp": "shoal.som.methods",
    "kmeans": "shoal.cluster.methods.kmeans",
    "md": "shoal.cluster.methods.md",
    "mdav": "shoal.cluster.methods.mdav",
    "mondrian": "shoal.cluster.methods.mondrian",
    "one_pass": "shoal.cluster.methods.one_pass",
    "tfrp": "shoal.cluster.methods.tfrp",
    "univariate": "shoal.cluster.methods.univariate",
    "vmdav": "shoal.cluster.methods.vmdav",
}
ALIASES = {"constrained_cmvm": "c_tca", "k_cmvm": "k_tca"}  # other names in the literature
MIXED = frozenset({"cover", "gower", "grow"})  # those of them that work on columns of any kind
GROUP = "shoal.methods"


@dataclass(frozen=True)
class Whole:
    """A parameter that is a whole number between two limits."""

    low: int
    high: int | None = None
    default: int | None = None
    help: str = ""

    def wrong(self, value: object) -> str | None:
        """Say what was expected, or nothing if the value will do."""
        if not isinstance(value, bool) and isinstance(value, Integral):
            number = int(value)
            if self.low <= number and (self.high is None or number <= self.high):
                return None
        return f"a whole number of at least {self.low}" + (f" and at most {self.high}" if self.high else "")


@dataclass(frozen=True)
class Number:
    """A parameter that is a finite number between two limits, or one of a few words instead."""

    low: float
    high: float = math.inf
    default: float | str | None = None
    help: str = ""
    words: tuple[str, ...] = ()

    def wrong(self, value: object) -> str | None:
        """Say what was expected, or nothing if the value will do."""
        if isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high:
            return None if math.isfinite(value) else "a finite number"
        if isinstance(value, str) and value in self.words:
            return None
        most = f" and at most {self.high:g}" if math.isfinite(self.high) else ""
        return f"a number of at least {self.low:g}{most}" + (f", or {listed(self.words)}" if self.words else "")


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of a few words."""

    words: tuple[str, ...]
    default: str | None = None
    help: str = ""

    def wrong(self, value: object) -> str | None:
        """Say what was expected, or nothing if the value will do."""
        return None if value in self.words else f"one of {listed(self.words)}"


@dataclass(frozen=True)
class Flag:
    """A parameter that is true or false."""

    default: bool = False
    help: str = ""

    def wrong(self, value: object) -> str | None:
        """Say what was expected, or nothing if the value will do."""
        return None if isinstance(value, bool) else "true or false"


Parameter = Whole | Number | Choice | Flag
USES = ("label", "limits", "seed", "threads", "view_of", "weights")


@dataclass(frozen=True)
class Card:
    """What a method is called, eats, promises and may be told.

    Parameters
    ----------
    name : str
        The word in policies and on the command line.
    data : str
        "numeric" for a matrix of numbers, "mixed" for columns of any kind, "sets" for transactions.
    ensures : frozenset of str
        The constraints that hold without `enforce`.
    params : mapping of str to Whole, Number, Choice or Flag
        Every parameter that a policy may set, and `k`.
    uses : frozenset of str
        What else of the run it is handed by name: "seed" (where chance starts), "threads" (how many may
        work), "weights" (how much each row counts), "limits" (what sensitive values must meet), "label" (the class of
        each row), "view_of" (the view that the policy puts each column of the matrix in).
    summary : str
        The first sentence of the function's docstring.
    function : callable
        Takes the matrix and the parameters by name, checks them, gives a Partition.
    """

    name: str
    data: str
    ensures: frozenset[str]
    params: Mapping[str, Parameter]
    uses: frozenset[str]
    summary: str
    function: Callable[..., Partition] = field(repr=False)

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with defaults filled in, or raise MethodError."""
        for name in given:
            if name not in self.params:
                raise MethodError(
                    f"{self.name}: there is no parameter {name!r}. "
                    f"It has {listed(self.params)}.{near(name, self.params)}"
                )
        checked: dict[str, Any] = {}
        for name, parameter in self.params.items():
            value = given.get(name, parameter.default)
            if value is None:
                raise MethodError(f"{self.name}: parameter {name!r} is missing.")
            expected = parameter.wrong(value)
            if expected:
                raise MethodError(f"{self.name}: {name} must be {expected}; got {value!r}.")
            checked[name] = value
        return checked

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, for JSON, tables and forms."""
        parameters = {
            name: {"type": type(parameter).__name__.lower(), **vars(parameter)}
            for name, parameter in self.params.items()
        }
        for shown in parameters.values():
            if shown.get("high") == math.inf:
                shown["high"] = None
        return {
            "name": self.name,
            "data": self.data,
            "ensures": sorted(self.ensures),
            "uses": sorted(self.uses),
            "summary": self.summary,
            "params": parameters,
        }


def method(
    name: str, *, data: str, ensures: set[str], params: Mapping[str, Parameter], uses: set[str] | None = None
) -> Callable[[Callable[..., Partition]], Callable[..., Partition]]:
    """Give a function its card, and have its parameters checked by it whoever calls."""
    strange = (uses or set()) - {*USES}
    if strange:
        raise MethodError(f"method: {name!r} uses {listed(sorted(strange))}; a run has {listed(USES)}.")

    def give(function: Callable[..., Partition]) -> Callable[..., Partition]:
        known = signature(function)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Partition:
            given = known.bind(*args, **kwargs).arguments
            return function(**{**given, **card.check({key: given[key] for key in given if key in card.params})})

        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        card = Card(name, data, frozenset(ensures), dict(params), frozenset(uses or ()), summary, checked)
        checked.card = card  # type: ignore[attr-defined]
        return checked

    return give


def names() -> list[str]:
    """Return the names of all methods, built-in and installed, sorted."""
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def load(name: str) -> Card:
    """Return the card of the method with this name or alias, loading its module on first use."""
    name = ALIASES.get(name, name)
    if name in BUILT_IN:
        return _card(getattr(import_module(BUILT_IN[name]), name), name)
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _card(point.load(), name)
    known = names()
    raise MethodError(f"method: there is no method {name!r}. There are {listed(known)}.{near(name, known)}")


def is_mixed(name: str) -> bool:
    """Say whether a method works on columns of any kind; built-ins are not loaded for it."""
    return name in MIXED or (name not in BUILT_IN and load(name).data == "mixed")


def _card(function: object, name: str) -> Card:
    """Return the card of a function, or say that it has none."""
    card = getattr(function, "card", None)
    if not isinstance(card, Card):
        raise MethodError(f"method: {name!r} carries no card. Its author must decorate it with shoal.method.")
    return card
