"""The commands that list the catalogue: methods, models, measures, attacks and file formats."""

from typing import Annotated, Any

import typer

from shoal.cli import show
from shoal.cli.options import Json

__all__ = ["add_to"]


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
        show.methods(list(section.cards().values()), json=json)
    else:
        show.method(section.load(name), json=json)


def models(json: Json = False) -> None:
    """List the privacy models, what each guarantees and what it leaves open: `shoal models`."""
    from shoal.catalogue import models as section

    heads = ("model", "option", "guarantees", "leaves open")
    show.cards(
        heads, [(card, card.symbol, _plain(card.promise), card.leaves_open) for card in _all(section)], json=json
    )


def measures(json: Json = False) -> None:
    """List the measures with formula, range and required data: `shoal measures`."""
    from shoal.catalogue import measures as section

    show.measures(list(section.cards().values()), json=json)


def attacks(json: Json = False) -> None:
    """List the attacks and what each requires: `shoal attacks`."""
    from shoal.catalogue import attacks as section

    heads = ("attack", "aim", "requires")
    show.cards(heads, [(card, card.summary, ", ".join(card.requires)) for card in _all(section)], json=json)


def formats(json: Json = False) -> None:
    """List the file formats: `shoal formats`."""
    from shoal.catalogue import formats as section

    heads = ("format", "extensions", "what is written")
    show.cards(heads, [(card, " ".join(card.endings), card.summary) for card in _all(section)], json=json)


def _all(section: Any) -> list[Any]:
    """Return the cards of a section."""
    return list(section.cards().values())


def _plain(promise: str) -> str:
    """Return a promise without figures."""
    return promise.format(asked="the number asked for", column="a sensitive column")
