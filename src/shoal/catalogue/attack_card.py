"""The card of an attack: what it tries, and what it needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shoal.catalogue.measure_card import Requirement
from shoal.model.findings import Attack

__all__ = ["AttackCard", "attack"]

Function = Callable[[Any, Any, Any], Attack]


@dataclass(frozen=True)
class AttackCard:
    """What an attack is called, and what it tries, in a sentence.

    Parameters
    ----------
    name : str
    requires : tuple of str
        What there must be beside quasi-identifiers, as for a measure.
    control : bool
        Whether it uses control rows where there are any.
    repeats : bool
        Whether it repeats the making of the release many times, and so takes that much longer.
    summary : str
        The first sentence of the function's docstring.
    function : callable
        Takes a `Case`, a `Profile` and a `Clock`, returns an `Attack`.
    """

    name: str
    requires: tuple[Requirement, ...]
    control: bool
    repeats: bool
    summary: str
    function: Function = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, for JSON and tables."""
        return {key: value for key, value in vars(self).items() if key != "function"}


def attack(
    name: str, *, requires: tuple[Requirement, ...] = (), control: bool = False, repeats: bool = False
) -> Callable[[Function], Function]:
    """Give a function its card."""

    def give(function: Function) -> Function:
        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        function.card = AttackCard(name, requires, control, repeats, summary, function)  # type: ignore[attr-defined]
        return function

    return give
