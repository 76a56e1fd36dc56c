"""The sections of the catalogue: methods, models, measures, attacks and file formats, found and loaded the same way.

Built-in cards are found in the source of the packages named below, and loaded on first use. Plug-ins register a
decorated function as an entry point of the section's group, under the name of its card.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from shoal.catalogue.attack_card import AttackCard
from shoal.catalogue.card import Card
from shoal.catalogue.format_card import FormatCard
from shoal.catalogue.measure_card import MeasureCard
from shoal.catalogue.method_card import MethodCard
from shoal.catalogue.model_card import ModelCard
from shoal.catalogue.source_index import Declaration, declarations
from shoal.errors import MethodError, PolicyError, ShoalError, WriteError, listed, near

__all__ = ["Section", "attacks", "formats", "measures", "methods", "models"]


C = TypeVar("C", bound=Card[Any])


@dataclass(frozen=True)
class Section(Generic[C]):
    """One kind of card.

    Built-in cards are declared in `packages`; `error` is raised for an unknown name. `decorators` attach a card to a
    function; plug-ins use the first.
    """

    kind: str
    card: type[C]
    packages: tuple[str, ...]
    error: type[ShoalError]
    decorators: tuple[str, ...]

    @property
    def group(self) -> str:
        """The group of entry points under which plug-ins register."""
        return f"shoal.{self.kind}s"

    @property
    def built_in(self) -> dict[str, Declaration]:
        """The built-in declarations by name, without loading them."""
        return declarations(self.decorators, self.packages)

    @property
    def aliases(self) -> dict[str, str]:
        """Alternative names of built-in cards."""
        return {alias: name for name, one in self.built_in.items() for alias in one.keywords.get("aliases", ())}

    def names(self) -> list[str]:
        """Return all names, of built-in cards and plug-ins, sorted."""
        return sorted({*self.built_in, *self._installed()})

    def load(self, name: str) -> C:
        """Return the card of this name or alias."""
        built_in = self.built_in
        name = self.aliases.get(name, name)
        if name in built_in:
            return self._card(getattr(import_module(built_in[name].module), built_in[name].function), name)
        installed = self._installed()
        if name in installed:
            return self._card(_loaded(installed[name], self.error), name)
        known = self.names()
        raise self.error(f"{self.kind}: unknown {self.kind} {name!r}. Known: {listed(known, 30)}.{near(name, known)}")

    def cards(self) -> dict[str, C]:
        """Return all cards by name, sorted."""
        return {name: self.load(name) for name in self.names()}

    def declared(self, name: str, keyword: str) -> Any:
        """Return a plain attribute of a card, without loading a built-in one."""
        name = self.aliases.get(name, name)
        built_in = self.built_in.get(name)
        return getattr(self.load(name), keyword) if built_in is None else built_in.keywords.get(keyword)

    def _installed(self) -> Mapping[str, EntryPoint]:
        """Return the entry points of plug-ins by name."""
        return _entry_points(self.group, tuple(sys.path))

    def _card(self, function: object, name: str) -> C:
        """Return the card of a function, or raise an error if it has none."""
        card = getattr(function, "card", None)
        if not isinstance(card, self.card) or card.name != name:
            raise self.error(
                f"{self.kind}: the plug-in {name!r} has no card of this name. "
                f"Its author must decorate it with @{self.decorators[0]}({name!r}, ...) of shoal.catalogue."
            )
        return card


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:  # noqa: ARG001 - part of the key
    """Return the entry points of a group by name, looked up once for each search path."""
    return {point.name: point for point in entry_points(group=group)}


def _loaded(point: EntryPoint, error: type[ShoalError]) -> object:
    """Return the target of an entry point; the message of a failing import is hidden, as it might quote a cell."""
    try:
        return point.load()
    except (ImportError, AttributeError) as problem:
        raise error(
            f"plug-in: {point.name!r} cannot be loaded ({type(problem).__name__}). Reinstall its package."
        ) from None


methods = Section(
    "method",
    MethodCard,
    ("shoal.cluster.methods", "shoal.density", "shoal.som"),
    MethodError,
    ("method", "numeric_method", "mixed_method"),
)
measures = Section("measure", MeasureCard, ("shoal.privacy.measures", "shoal.utility"), MethodError, ("measure",))
attacks = Section("attack", AttackCard, ("shoal.privacy.attacks",), MethodError, ("attack",))
models = Section("model", ModelCard, ("shoal.privacy.verdict",), PolicyError, ("model",))
formats = Section("format", FormatCard, ("shoal.io",), WriteError, ("file_format",))
