"""The card of a method: its parameters, what it ensures, what it is given, and how its cost grows."""

import sys
from collections.abc import Callable, Mapping, Set
from dataclasses import asdict, dataclass, replace
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from shoal.catalogue.card import Card, first_paragraph
from shoal.catalogue.growth import Cost, Costing, Growth, Task
from shoal.catalogue.parameters import Parameter, as_dict
from shoal.errors import CardError, MethodError, kind_of, listed, near, shortened
from shoal.model.constraints import Constraints
from shoal.model.partition import Partition

Method = Callable[..., Partition]
USUAL = Growth()  # of a method that does not state its growth
DATA = ("numeric", "mixed")
USES = {  # what a run can give to a method, and its name for people
    "label": "the label",
    "limits": "l, t and alpha with the sensitive values",
    "seed": "the random seed",
    "threads": "several threads",
    "view_of": "the views that the policy names",
    "weights": "the row weights",
}
SUITS = ("categories", "hierarchies", "label", "numbers")  # what tables and policies have


@dataclass(frozen=True, kw_only=True)
class MethodCard(Card[Method]):
    """A method: a function that takes the table and the parameters by name, and returns a `Partition`.

    Its parameters are checked at every call.

    Parameters
    ----------
    name : str
        As in policies and on the command line.
    data : str
        "numeric" for a matrix of numbers, "mixed" for columns of any kind.
    ensures : set of str
        The constraints that its groups meet without `enforce`.
    params : mapping of str to Whole, Number, Choice or Flag
        Every parameter that a policy may set, and `k`.
    uses : set of str
        What else it receives by name: "seed" (the random seed), "threads" (how many may run at once), "weights" (of
        rows), "limits" (constraints on sensitive values), "label" (the label of each row), "view_of" (the view to which
        the policy assigns each column of the matrix).
    growth : Growth, or function of a Task that returns a Cost
        How time and memory grow with the number of rows.
    ends_early : bool
        Whether its search ends with the best groups so far when a time budget is used up.
    most_rows : int, optional
        Maximum number of rows; larger tables are refused.
    in_cells : bool
        Whether `blocks` may run it inside the cells of a large table.
    suits : set of str
        For which tables an exploration tries it unless methods are named: those with "categories" or of "numbers"
        alone, and those whose policy has "hierarchies" or a "label".
    aliases : tuple of str
        Other names in the literature.
    words : str
        What it does, for readers of a report; by default the first paragraph of its module.
    """

    data: str
    ensures: Set[str]
    params: Mapping[str, Parameter]
    uses: Set[str] = frozenset()
    growth: Costing = USUAL
    ends_early: bool = False
    most_rows: int | None = None
    in_cells: bool = False
    suits: Set[str] = frozenset()
    aliases: tuple[str, ...] = ()
    words: str = ""

    def __post_init__(self) -> None:
        self._check_words("data", [self.data], DATA)
        self._check_words("ensures", sorted(self.ensures), Constraints.model_fields)
        self._check_words("uses", sorted(self.uses), USES)
        self._check_words("suits", sorted(self.suits), SUITS)
        wrong = [name for name, one in self.params.items() if not isinstance(one, Parameter)]
        if wrong or "k" not in self.params:
            fault = f"the parameter {wrong[0]!r} is not a Whole, Number, Choice or Flag" if wrong else "no parameter k"
            raise CardError(f"method: the card of {self.name!r} is wrong: {fault}.")

    def __call__(self, function: Method) -> Method:
        """Attach the card to a function, and return the function with checks of its parameters."""
        known = signature(function)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Partition:
            given = known.bind(*args, **kwargs).arguments
            return function(**{**given, **self.check({key: given[key] for key in given if key in self.params})})

        if not self.words:
            self._set("words", first_paragraph(sys.modules[function.__module__].__doc__))
        return super().__call__(checked)

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
                raise MethodError(f"{self.name}: {name} must be {expected}; got {shortened(value)}.")
            checked[name] = value
        return checked

    @staticmethod
    def misfit(part: str, result: Any) -> str:
        """Say what is wrong with what the method returned; empty if nothing."""
        if part != "function":
            return ""
        if not isinstance(result, Partition):
            return f"it returned {kind_of(result)} instead of a Partition"
        labels = result.labels
        sound = isinstance(labels, np.ndarray) and labels.dtype == np.int64 and labels.ndim == 1
        sound = sound and (not labels.size or bool(labels.min() == 0 and np.bincount(labels).all()))
        return "" if sound else "its Partition was not made by `Partition.of`: groups are numbered from 0, without gaps"

    def cost(self, task: Task) -> Cost:
        """Return the approximate cost of a task; parameters that it does not give have their defaults."""
        defaults = {name: one.default for name, one in self.params.items()}
        return self.growth(replace(task, parameters={**defaults, **task.parameters}))

    def inputs(self) -> str:
        """Return a sentence on what the method uses besides the table and its parameters."""
        return f"Also uses: {', '.join(USES[name] for name in sorted(self.uses))}." if self.uses else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values."""
        return {
            "name": self.name,
            "aliases": list(self.aliases),
            "data": self.data,
            "ensures": sorted(self.ensures),
            "uses": sorted(self.uses),
            "growth": asdict(self.growth) if isinstance(self.growth, Growth) else {},
            "ends_early": self.ends_early,
            "most_rows": self.most_rows,
            "in_cells": self.in_cells,
            "suits": sorted(self.suits),
            "words": self.words,
            "summary": self.summary,
            "params": {name: as_dict(parameter) for name, parameter in self.params.items()},
        }


method = MethodCard
