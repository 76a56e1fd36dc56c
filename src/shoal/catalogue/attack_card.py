"""The card of an attack: what it tries, and what it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from shoal.catalogue.card import Card
from shoal.catalogue.measure_card import Requirement
from shoal.errors import MethodError, kind_of
from shoal.model.findings import Attack


@dataclass(frozen=True, kw_only=True)
class AttackCard(Card[Callable[[Any, Any, Any], Attack]]):
    """An attack: a function that takes a `Case`, a `Profile` and a `Clock`, and returns an `Attack`.

    Parameters
    ----------
    name : str
    requires : tuple of str
        What it needs besides quasi-identifiers, as for a measure.
    control : bool
        Whether it uses control rows if there are any.
    repeats : bool
        Whether it repeats the release many times, and takes that much longer.
    """

    requires: tuple[Requirement, ...] = ()
    control: bool = False
    repeats: bool = False

    def __post_init__(self) -> None:
        self._check_words("requires", self.requires, get_args(Requirement))

    @staticmethod
    def misfit(part: str, result: Any) -> str:
        """Say what is wrong with what the attack returned; empty if nothing."""
        wrong = part == "function" and not isinstance(result, Attack)
        return f"it returned {kind_of(result)} instead of an Attack" if wrong else ""

    def refuse_unless_named(self, found: Attack, profile: Any) -> None:
        """Refuse what the attack of a plug-in returned if its name or its profile is not its own: reports show both."""
        if not self.built_in and (found.name, found.profile) != (self.name, profile.name):
            raise MethodError(
                f"attack {self.name!r}: the Attack that it returns must have the name of the card, and the name of the "
                "profile that it was given. Report this to its authors."
            )


attack = AttackCard
