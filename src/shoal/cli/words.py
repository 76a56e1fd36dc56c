"""Words of the command line that are more than words: NAME=VALUE, COLUMN=HIERARCHY."""

import math
from collections.abc import Iterable

import typer

__all__ = ["constraints", "hierarchies", "parameters"]

Scalar = int | float | str | bool


def parameters(given: Iterable[str] | None) -> dict[str, Scalar]:
    """Return parameters of a method from words such as `effort=quick`, each value as what it looks like.

    Parameters
    ----------
    given : iterable of str, optional
        NAME=VALUE; a whole number, a number, true or false, else a word.

    Examples
    --------
    >>> parameters(["restarts=4", "gap=0.5", "diverse=true", "effort=quick"])
    {'restarts': 4, 'gap': 0.5, 'diverse': True, 'effort': 'quick'}
    """
    return _values(given, "--parameter", "effort=quick")


def constraints(given: Iterable[str] | None) -> dict[str, Scalar]:
    """Return constraints from words such as `alpha=0.5`, as `parameters` does."""
    return _values(given, "--constraint", "alpha=0.5")


def hierarchies(given: Iterable[str] | None) -> dict[str, str]:
    """Return the hierarchy of each column, a file or a word that builds one, from words such as `zip=mask`.

    Examples
    --------
    >>> hierarchies(["zip=mask", "job=jobs.csv"])
    {'zip': 'mask', 'job': 'jobs.csv'}
    """
    return _named(given or (), "--hierarchy", "COLUMN=FILE or COLUMN=WORD, such as zip=mask")


def _values(given: Iterable[str] | None, option: str, example: str) -> dict[str, Scalar]:
    """Return each value as what it looks like, by its name."""
    return {
        name: _value(value) for name, value in _named(given or (), option, f"NAME=VALUE, such as {example}").items()
    }


def _named(given: Iterable[str], option: str, form: str) -> dict[str, str]:
    """Return what stands behind the first equals sign of each word, by what stands before it."""
    found: dict[str, str] = {}
    for word in given:
        name, equals, value = (part.strip() for part in word.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"{option} takes {form}; got {word!r}.")
        if name in found:
            raise typer.BadParameter(f"{option} gives {name!r} twice. Give it once.")
        found[name] = value
    return found


def _value(word: str) -> Scalar:
    """Return a word as a whole number, a number or a truth value, if it is written like one."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        return number if math.isfinite(number) else word
    return word
