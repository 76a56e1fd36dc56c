"""The sections of the catalogue: methods, models, measures, attacks and file formats, found and loaded the same way.

Built-in cards are found in the source of the packages named below, and loaded on first use. Plug-ins register a
decorated function as an entry point of the section's group, under the name of its card.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from copy import copy
from dataclasses import dataclass, fields, replace
from errno import errorcode
from functools import cache, cached_property, wraps
from importlib import import_module
from importlib.metadata import EntryPoint
from os import strerror
from typing import Any, Generic, TypeVar

from shoal import errors
from shoal.catalogue.attack_card import AttackCard
from shoal.catalogue.card import Card
from shoal.catalogue.format_card import FormatCard
from shoal.catalogue.growth import Growth
from shoal.catalogue.measure_card import MeasureCard
from shoal.catalogue.method_card import MethodCard
from shoal.catalogue.model_card import ModelCard
from shoal.catalogue.parameters import Choice
from shoal.catalogue.source_index import Declaration, declarations
from shoal.errors import (
    CardError,
    MethodError,
    MisfitError,
    PlugInError,
    PolicyError,
    ShoalError,
    Stopped,
    WriteError,
    failed,
    kind_of,
    listed,
    near,
)
from shoal.model.plug_ins import Twins, installed
from shoal.model.policy import Policy

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

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Alternative names of built-in cards."""
        return {alias: name for name, one in self.built_in.items() for alias in one.keywords.get("aliases", ())}

    def names(self) -> list[str]:
        """Return all names, of built-in cards and plug-ins, sorted."""
        return sorted({*self.built_in, *self._installed()})

    def load(self, name: str) -> C:
        """Return the card of this name or alias."""
        if not isinstance(name, str):
            raise self.error(f"{self.kind}: the name of a {self.kind} must be text; got {kind_of(name)}.")
        built_in = self.built_in
        name = self.aliases.get(name, name)
        if name in built_in:
            card = self._card(getattr(import_module(built_in[name].module), built_in[name].function), name)
            card._set("built_in", True)
            return card
        points = self._installed()
        if name in points:
            return _without_cells(self._card(_loaded(points[name], self.error), name))
        known = self.names()
        raise self.error(f"{self.kind}: unknown {self.kind} {name!r}. Known: {listed(known, 30)}.{near(name, known)}")

    def cards(self) -> dict[str, C]:
        """Return all cards by name, sorted, without plug-ins that cannot be loaded; these are in `broken`."""
        broken = self.broken()
        return {name: self.load(name) for name in self.names() if name not in broken}

    def broken(self) -> dict[str, str]:
        """Return the plug-ins that cannot be loaded or listed, and for each a sentence that names it."""
        found = {}
        for name in sorted(self._installed()):
            try:
                self.load(name).as_dict()
            except ShoalError as problem:
                found[name] = str(problem)
            except Exception as problem:  # noqa: BLE001 - attributes of a plug-in's card may have any type
                kind = type(problem).__name__
                found[name] = f"plug-in: the card of {name!r} cannot be listed ({kind}). Report this to its authors."
        return found

    def ignored(self) -> list[str]:
        """Return a sentence for each plug-in that has the name of a built-in card, which is used instead."""
        every = installed(self.group)
        return [
            f"plug-in: the {self.kind} {name!r} of another package is ignored, as shoal has one of this name. "
            "Its authors must rename it."
            for name in sorted(every.keys() - self._installed().keys())
        ]

    def declared(self, name: str, keyword: str) -> Any:
        """Return a plain attribute of a card, without loading a built-in one."""
        name = self.aliases.get(name, name)
        built_in = self.built_in.get(name)
        return getattr(self.load(name), keyword) if built_in is None else built_in.keywords.get(keyword)

    def having(self, keyword: str) -> list[str]:
        """Return the names of the cards with a true attribute, sorted, without loading built-in ones."""
        found = {name: one.keywords.get(keyword) for name, one in self.built_in.items()}
        broken = self.broken()
        for name in self._installed().keys() - broken.keys():
            found[name] = getattr(self.load(name), keyword)
        return sorted(name for name, value in found.items() if value)

    def _installed(self) -> Mapping[str, EntryPoint]:
        """Return the entry points of plug-ins by name, without those that have the name of a built-in card."""
        built_in, aliases = self.built_in, self.aliases
        every = installed(self.group)
        return {name: point for name, point in every.items() if name not in built_in and name not in aliases}

    def _card(self, function: object, name: str) -> C:
        """Return the card of a function, or raise an error if it has none."""
        card = getattr(function, "card", None)
        if not isinstance(card, self.card) or card.name != name:
            raise self.error(
                f"{self.kind}: the plug-in {name!r} has no card of this name. "
                f"Its author must decorate it with @{self.decorators[0]}({name!r}, ...) of shoal.catalogue."
            )
        return card


def _loaded(point: EntryPoint, error: type[ShoalError]) -> object:
    """Return the target of an entry point; the message of a failing import is hidden, as it might quote a cell."""
    if isinstance(point, Twins):
        raise error(f"plug-in: {point.name!r} is provided by two packages. Uninstall one of them.")
    try:
        with redirect_stdout(sys.stderr):
            return point.load()
    except (KeyboardInterrupt, Stopped):
        raise
    except CardError as problem:  # of shoal, about a declaration: there are no cells yet
        refusal = error(f"plug-in: {point.name!r} cannot be loaded. {problem} Report this to its authors.")
    except BaseException as problem:  # noqa: BLE001 - a plug-in may fail in any way, and must not end the process
        refusal = error(f"plug-in: {point.name!r} cannot be loaded ({type(problem).__name__}). Reinstall its package.")
    raise refusal


def _without_cells(card: C) -> C:
    """Return the card of a plug-in whose functions fail without the text of their errors, which might quote a cell."""
    guarded = copy(card)
    for one in fields(card):
        function = getattr(card, one.name)
        if callable(function) and not isinstance(function, Growth):  # which is ours, and sees no cells
            guarded._set(one.name, _guarded(function, card.name, card.misfit, one.name))
    if isinstance(card, MethodCard):
        params = {name: _with_guarded_words(one, card.name) for name, one in card.params.items()}
        guarded._set("params", params)
    return guarded


def _with_guarded_words(parameter: Any, name: str) -> Any:
    """Return a parameter of a plug-in whose words, if a function supplies them, are texts or an error of shoal."""
    supply = parameter.words if isinstance(parameter, Choice) else None
    if not callable(supply):
        return parameter

    def words() -> tuple[str, ...]:
        found = tuple(supply())
        if not all(isinstance(word, str) for word in found):
            raise TypeError
        return found

    return replace(parameter, words=_guarded(words, name))


@cache
def _guarded(
    function: Callable[..., Any], name: str, misfit: Callable[[str, Any], str] = Card.misfit, part: str = ""
) -> Callable[..., Any]:
    """Return a function of a plug-in that raises errors of shoal; lack of memory or disk space is reported as such.

    Errors of shoal keep their type, and lose their text. What an iterator yields is taken here, where its errors are.
    `misfit` says what is wrong with what the function, the attribute `part` of its card, returned. What the plug-in
    prints goes to stderr: on stdout it would spoil the JSON of a command.
    """

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            with redirect_stdout(sys.stderr):
                result = function(*args, **kwargs)
                result = tuple(result) if isinstance(result, Iterator) else result
            if not (wrong := misfit(part, result)):
                return result
            failure: Exception = MisfitError(failed(name, wrong))
        except (KeyboardInterrupt, Stopped):
            raise
        except BaseException as problem:  # noqa: BLE001 - a plug-in may fail in any way, and must not end the process
            failure = _failure(problem, name)
        raise failure from None

    return guarded


def _failure(problem: BaseException, name: str) -> Exception:
    """Return what is raised instead of an error of a plug-in: nothing of its text, only its type or number."""
    if isinstance(problem, MemoryError):
        return MemoryError()
    kind = type(problem)
    number = problem.errno if isinstance(problem, OSError) else None
    if type(number) is int and number in errorcode:
        return OSError(number, strerror(number))
    reason = failed(name, kind.__name__)
    if isinstance(problem, ShoalError) and kind in vars(errors).values():
        return type(problem)(reason)
    return PlugInError(reason)


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


def parameters_of(given: Mapping[str, Any]) -> set[str]:
    """Return the parameters of the methods that keyword arguments choose, except k; none for an unknown method."""
    try:
        chosen = given.get("methods") or Policy.of(given.get("policy"), method=given.get("method")).method.name
        names = [chosen] if isinstance(chosen, str) else list(chosen)
        names = [name for one in names for name in (methods.names() if one == "all" else [one])]
        return {key for name in names for key in methods.load(name).params} - {"k"}
    except (ShoalError, TypeError, ValueError):  # a table in the place of names has no truth value
        return set()


def requested_model(name: str) -> ModelCard:
    """Return the card of a model that a policy requests in `constraints.others`.

    PolicyError is raised unless it is a plug-in's model of sensitive values: another one would lead to no verdict.
    """
    if name in models.built_in:
        keys = listed(f"constraints.{key}" for key in models.load(name).set_by)
        raise PolicyError(
            f"policy: constraints.others is for the models of plug-ins, and {name!r} is built in. Use {keys} instead."
        )
    card = models.load(name)
    if card.about != "sensitive":
        raise PolicyError(
            f"policy: constraints.others: the model {name!r} of a plug-in is about {card.about}, and only models about "
            "sensitive values are judged. Leave it out."
        )
    return card
