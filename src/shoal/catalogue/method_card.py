"""The card of a method: parameters, what it ensures, what it is given, and how its cost grows."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any

from shoal.catalogue.parameters import Parameter, as_dict
from shoal.errors import MethodError, listed, near
from shoal.model.partition import Partition

__all__ = ["Growth", "MethodCard", "method"]

USES = ("label", "limits", "seed", "threads", "view_of", "weights")


@dataclass(frozen=True)
class Growth:
    """How time and memory of a method grow with the number of rows n.

    Parameters
    ----------
    power : float
        Time grows as n to this power.
    linear_beyond : int, optional
        From so many rows on the table is cut into cells, and time and memory grow as n.
    bytes_per_pair : float
        Memory for each pair of rows, beside what every method takes for a table.
    """

    power: float = 2.0
    linear_beyond: int | None = None
    bytes_per_pair: float = 0.0


@dataclass(frozen=True)
class MethodCard:
    """What a method is called, takes, ensures and costs, and which parameters it has.

    Parameters
    ----------
    name : str
        As in policies and on the command line.
    data : str
        "numeric" for a matrix of numbers, "mixed" for columns of any kind.
    ensures : frozenset of str
        The constraints that hold without `enforce`.
    params : mapping of str to Whole, Number, Choice or Flag
        Every parameter that a policy may set, and `k`.
    uses : frozenset of str
        What else of the run it is given by name: "seed" (the random seed), "threads" (how many may run at once),
        "weights" (of rows), "limits" (constraints on sensitive values), "label" (the class of each row), "view_of" (the
        view that the policy puts each column of the matrix in).
    growth : Growth
        Of time and memory.
    most_rows : int, optional
        It refuses larger tables.
    in_cells : bool
        Whether `blocks` may run it inside the cells of a large table.
    aliases : tuple of str
        Other names in the literature.
    words : str
        What it does, for readers of a report: if not given, the first paragraph of its module.
    summary : str
        The first sentence of the function's docstring.
    function : callable
        Takes the matrix and the parameters by name, checks them, returns a Partition.
    """

    name: str
    data: str
    ensures: frozenset[str]
    params: Mapping[str, Parameter]
    uses: frozenset[str]
    growth: Growth
    most_rows: int | None
    in_cells: bool
    aliases: tuple[str, ...]
    words: str
    summary: str
    function: Callable[..., Partition] = field(repr=False)

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with defaults filled in, or raise MethodError."""
        for name in given:
            if name not in self.params:
                raise MethodError(
                    f"{self.name}: unknown parameter {name!r}. It has {listed(self.params)}.{near(name, self.params)}"
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
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "data": self.data,
            "ensures": sorted(self.ensures),
            "uses": sorted(self.uses),
            "growth": vars(self.growth),
            "most_rows": self.most_rows,
            "in_cells": self.in_cells,
            "words": self.words,
            "summary": self.summary,
            "params": {name: as_dict(parameter) for name, parameter in self.params.items()},
        }


def method(
    name: str,
    *,
    data: str,
    ensures: set[str],
    params: Mapping[str, Parameter],
    uses: set[str] | None = None,
    growth: Growth | None = None,
    most_rows: int | None = None,
    in_cells: bool = False,
    aliases: tuple[str, ...] = (),
    words: str = "",
) -> Callable[[Callable[..., Partition]], Callable[..., Partition]]:
    """Give a function its card; its parameters are checked by it whoever calls."""
    unknown = (uses or set()) - {*USES}
    if unknown:
        raise MethodError(f"method: {name!r} uses {listed(sorted(unknown))}; a run has {listed(USES)}.")

    def give(function: Callable[..., Partition]) -> Callable[..., Partition]:
        known = signature(function)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Partition:
            given = known.bind(*args, **kwargs).arguments
            return function(**{**given, **card.check({key: given[key] for key in given if key in card.params})})

        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        card = MethodCard(
            name,
            data,
            frozenset(ensures),
            dict(params),
            frozenset(uses or ()),
            growth or Growth(),
            most_rows,
            in_cells,
            aliases,
            words or (sys.modules[function.__module__].__doc__ or "").split("\n\n", 1)[0].replace("\n", " "),
            summary,
            checked,
        )
        checked.card = card  # type: ignore[attr-defined]
        return checked

    return give
