"""Plan: which releases an exploration tries.

A grid combines every method with every k, l and t, and with every value given for its parameters. A method that cannot
work on this table at all is left out, with the reason.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from numbers import Integral, Real
from typing import Any

from shoal.catalogue import MethodCard
from shoal.catalogue import methods as known_methods
from shoal.errors import MethodError, PolicyError, listed, near, shortened
from shoal.exploration.asked import MOST
from shoal.model.asking import one_or_several
from shoal.model.policy import BLIND, Policy

EVERY = "all"
USUAL_K = (3, 5, 10, 20)
COUNTED = 1_000_000  # values of k, l or t
LARGEST = 10**15  # beyond it not all whole numbers are floats

Value = int | float | str | bool


@dataclass(frozen=True)
class Skipped:
    """A method or point that was not tried, and the reason; `late` if it was only for lack of time."""

    name: str
    reason: str
    late: bool = False


@dataclass(frozen=True)
class Point:
    """A point of the grid.

    `name` is also that of its policy file: "mdav-k5". `policy` has the first seed once the point is `started`; `runs`
    is the number of seeds, 1 for a method that uses none; `varied` are the parameters given for the grid.
    """

    name: str
    policy: Policy
    runs: int
    varied: tuple[tuple[str, Value], ...] = ()

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.policy.method.name

    @property
    def k(self) -> int:
        """The minimum class size."""
        return self.policy.constraints.k

    @property
    def line(self) -> str:
        """The method with its parameters: points that differ in k, l and t alone form one line."""
        return ", ".join([self.method, *(f"{name} {_written(value)}" for name, value in self.varied)])

    @property
    def seeds(self) -> tuple[int, ...]:
        """The random seeds: that of the policy, and its successors."""
        return tuple(range(self.policy.start, self.policy.start + self.runs))

    def started(self, seed: int) -> "Point":
        """Return the point with this as its first seed, unless its policy names one."""
        return self if self.policy.seed is not None else replace(self, policy=self.seeded(seed))

    def seeded(self, seed: int) -> Policy:
        """Return the policy with another seed."""
        return Policy.of(self.policy, seed=seed)


def grid(
    base: Policy,
    methods: str | Iterable[str] = EVERY,
    *,
    k: Any = None,
    l: Any = None,  # noqa: E741
    t: Any = None,
    parameters: Mapping[str, Any] | None = None,
    seeds: int = 1,
) -> tuple[list[Point], list[Skipped]]:
    """Return the points of a grid, and the methods that are left out of it.

    `base` is the policy that all points share; its l and t apply where none are given, and k is 3, 5, 10 and 20 by
    default. `parameters` has one value or several by parameter name, for every method that has it, or by METHOD.NAME.
    """
    cards, skipped = _cards(base, methods)
    sizes = [int(one) for one in numbers(USUAL_K if k is None else k, "k", whole=True)]
    others = ([None] if one is None else numbers(one, name) for one, name in ((l, "l"), (t, "t")))
    asked = list(product(sizes, *others))
    given = _given({} if parameters is None else parameters, cards)
    _refuse_many(len(asked) * sum(math.prod(len(values) for values in given[card.name].values()) for card in cards))
    points: list[Point] = []
    for card in cards:
        runs = seeds if "seed" in card.uses else 1
        for chosen in product(*given[card.name].values()):
            varied = tuple(zip(given[card.name], chosen, strict=True))
            for rows, diversity, closeness in asked:
                overrides: dict[str, Any] = {"k": rows, "l": diversity, "t": closeness}
                policy = Policy.of(base, method=card.name, parameters=dict(varied) or None, **overrides)
                card.check({**policy.method.parameters, "k": rows})
                points.append(Point(_name(card.name, policy, varied), policy, runs, varied))
    if not points:
        raise MethodError(f"explore: no method remains. {' '.join(one.reason for one in skipped)}")
    return _with_distinct_names(points), skipped


def numbers(given: Any, what: str, *, whole: bool = False) -> list[float]:
    """Return one number or several as a sorted list without repeats, or raise `PolicyError`."""
    alone = isinstance(given, Real | str) or not isinstance(given, Iterable)
    every = [given] if alone else list(islice(given, COUNTED))
    kind: Any = Integral if whole else Real
    for one in every:
        number = isinstance(one, kind) and not isinstance(one, bool)
        if not number or not abs(one) <= LARGEST:
            most = f" of at most {LARGEST:,}" if number else ""
            expected = "whole numbers" if whole else "numbers"
            raise PolicyError(f"explore: {what} must be {expected}{most}; got {shortened(one)}.")
    if not every:
        raise PolicyError(f"explore: {what} is empty. Give at least one value.")
    if len(every) == COUNTED:
        _refuse_many(COUNTED)
    return sorted({float(one) for one in every})


def _refuse_many(points: int) -> None:
    """Refuse a very large grid before it is built."""
    if points > MOST:
        raise PolicyError(f"explore: the grid has {points:,} points; at most {MOST:,} are possible. Reduce it.")


def _cards(base: Policy, methods: str | Iterable[str]) -> tuple[list[MethodCard], list[Skipped]]:
    """Return the cards of the methods that can work on a table with this policy, and why others cannot."""
    everything = isinstance(methods, str) and methods == EVERY
    named = one_or_several(methods, "explore", "methods", MethodError)
    if not named:
        raise MethodError(f"explore: no method is named. Name at least one, or {EVERY!r}.")
    cards, skipped = [], []
    for name in known_methods.cards() if everything else dict.fromkeys(named):
        card = known_methods.load(name)
        if card.data == "sets":
            skipped.append(Skipped(card.name, f"{card.name}: it works on sets of items, not on tables."))
        elif base.protect is not None and card.name not in ("auto", BLIND):
            reason = f"{card.name}: the policy asks for protection from {base.protect}, which only {BLIND} gives."
            skipped.append(Skipped(card.name, reason))
        elif "label" in card.uses and base.label is None:
            skipped.append(Skipped(card.name, f"{card.name}: it needs a label, and the policy names none."))
        elif everything and card.name == "auto":
            skipped.append(Skipped("auto", "auto: it only chooses one of the other methods."))
        else:
            cards.append(card)
    return list({card.name: card for card in cards}.values()), skipped


def _given(parameters: Mapping[str, Any], cards: Sequence[MethodCard]) -> dict[str, dict[str, list[Value]]]:
    """Return the values of each parameter of each method; refuse a parameter that none of them has."""
    found: dict[str, dict[str, list[Value]]] = {card.name: {} for card in cards}
    if not isinstance(parameters, Mapping) or not all(isinstance(key, str) for key in parameters):
        raise MethodError(f"explore: parameters must be a mapping of names to values; got {shortened(parameters)}.")
    for key, value in parameters.items():
        several = isinstance(value, Iterable) and not isinstance(value, str)
        values = list(islice(value, COUNTED)) if several else [value]
        if not all(isinstance(one, str | Real) for one in values):
            raise MethodError(f"explore: the parameter {key!r} must be text, numbers, true or false.")
        values = list(dict.fromkeys(values))
        method, dot, name = key.rpartition(".")
        owners = [card for card in cards if name in card.params and name != "k" and (not dot or card.name == method)]
        if not owners or not values:
            known = sorted({one for card in cards for one in card.params} - {"k"})
            there = f"Known: {listed(known, 30)}.{near(name, known)}"
            raise MethodError(f"explore: none of the methods has a parameter {key!r}. {there}")
        for card in owners:
            found[card.name][name] = values
    return found


def _name(method: str, policy: Policy, varied: Iterable[tuple[str, Value]]) -> str:
    """Return a name that is also valid as a file name."""
    asked = policy.constraints
    parts = [method, f"k{asked.k}"]
    parts += [f"l{asked.l:g}"] if asked.l is not None else []
    parts += [f"t{asked.t:g}"] if asked.t is not None else []
    parts += [f"{name}-{_written(value)}" for name, value in varied]
    return re.sub(r"[^A-Za-z0-9_.-]", "_", "-".join(parts))[:120]


def _with_distinct_names(points: Sequence[Point]) -> list[Point]:
    """Number the points that share a name."""
    found: dict[str, Point] = {}
    for point in points:
        name, number = point.name, 1
        while name in found:
            number += 1
            name = f"{point.name}-{number}"
        found[name] = replace(point, name=name)
    return list(found.values())


def _written(value: Value) -> str:
    """Format the value of a parameter as in a policy."""
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
