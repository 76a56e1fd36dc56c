"""Words of the command line that are more than words: NAME=VALUE, COLUMN=HIERARCHY."""

import math
from collections.abc import Iterable

import typer

__all__ = ["hierarchies", "settings"]


def settings(
    given: Iterable[str], option: str = "--set", example: str = "effort=quick"
) -> dict[str, int | float | str | bool]:
    """Return parameters of a method from words such as `effort=quick`, each value as what it looks like.

    Parameters
    ----------
    given : iterable of str
        NAME=VALUE; a whole number, a number, true or false, else a word.
    option, example : str
        For the sentence that says how it is written.

    Returns
    -------
    dict

    Examples
    --------
    >>> settings(["restarts=4", "gap=0.5", "diverse=true", "effort=quick"])
    {'restarts': 4, 'gap': 0.5, 'diverse': True, 'effort': 'quick'}
    """
    return {name: _value(value) for name, value in _named(given, option, f"NAME=VALUE, such as {example}").items()}


def hierarchies(given: Iterable[str]) -> dict[str, str]:
    """Return the hierarchy of each column, a file or a word that builds one, from words such as `zip=mask`.

    Examples
    --------
    >>> hierarchies(["zip=mask", "job=jobs.csv"])
    {'zip': 'mask', 'job': 'jobs.csv'}
    """
    return _named(given, "--hierarchy", "COLUMN=FILE or COLUMN=WORD, such as zip=mask")


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


def _value(word: str) -> int | float | str | bool:
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
