"""The commands that list the catalogue: methods, models, measures, attacks and file formats."""

import shlex
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from shoal.cli import show
from shoal.cli.options import Constraints, Json

if TYPE_CHECKING:
    from shoal.catalogue import ModelCard


def add_to(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (methods, models, measures, attacks, formats):
        app.command()(command)


def methods(
    name: Annotated[str | None, typer.Argument(help="A method to show in full.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """List the methods with their parameters, or show one in full: `shoal methods`, `shoal methods mdav`."""
    from shoal.catalogue import methods as section

    if name is None:
        show.methods(_all(section), json=json)
    else:
        show.method(section.load(name), json=json)


def models(json: Json = False) -> None:
    """List the privacy models, what each guarantees and what it leaves open: `shoal models`."""
    from shoal.catalogue import models as section

    heads = ("model", "set by", "guarantees", "leaves open")
    cards = _all(section)
    lines = [(card, requested(card), _plain(card), card.leaves_open) for card in cards]
    show.cards(heads, lines, json=json)


def measures(json: Json = False) -> None:
    """List the measures with formula, range and required data: `shoal measures`."""
    from shoal.catalogue import measures as section

    show.measures(_all(section), json=json)


def attacks(json: Json = False) -> None:
    """List the attacks and what each requires: `shoal attacks`."""
    from shoal.catalogue import attacks as section
    from shoal.catalogue.measure_card import NEEDS

    heads = ("attack", "aim", "requires")
    rows = [(card, card.summary, ", ".join(NEEDS[one] for one in card.requires)) for card in _all(section)]
    show.cards(heads, rows, json=json)


def formats(json: Json = False) -> None:
    """List the file formats: `shoal formats`."""
    from shoal.catalogue import formats as section

    heads, cards = ("format", "extensions", "what is written"), _all(section)
    ours = {ending: card.name for card in cards if card.name in section.built_in for ending in card.endings}
    for card in cards:
        for ending in () if card.name in section.built_in else card.endings:
            if ending in ours:
                show.error(
                    f"plug-in: files that end in {ending!r} are read as {ours[ending]!r}, which is built in, and not "
                    f"as {card.name!r}."
                )
    show.cards(heads, [(card, " ".join(card.endings), card.summary) for card in cards], json=json)


def _all(section: Any) -> list[Any]:
    """Return the cards of a section, and say on stderr which plug-ins cannot be loaded or are not used."""
    for sentence in (*section.broken().values(), *section.ignored()):
        show.error(sentence)
    return list(section.cards().values())


def requested(card: "ModelCard") -> str:
    """Return how a model is requested on the command line."""
    words = []
    for name, _, fixed in (key.partition("=") for key in card.set_by):
        value = fixed or _placeholder(name).upper()
        own = name in get_type_hints(Constraints)
        option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        words.append(f"{option} {value}" if own else f"--constraint {shlex.quote(f'{name}={value}')}")
    return " ".join(words)


def _plain(card: "ModelCard") -> str:
    """Return the guarantee of a model, with letters instead of figures."""
    return card.promise.format(asked=_placeholder(card.set_by[0]), column="a sensitive column")


def _placeholder(name: str) -> str:
    """Return what stands for the value of a constraint: its own name, unless a plug-in may have chosen it."""
    from shoal.model.policy import Constraints as Keys

    return name if name in Keys.model_fields else "VALUE"
