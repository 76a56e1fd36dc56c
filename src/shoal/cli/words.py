"""Options of the command line that have a structure: NAME=VALUE, COLUMN=HIERARCHY."""

import math
import re
from collections.abc import Iterable

import typer

Scalar = int | float | str | bool
PLAIN = (  # what libraries say about a wrong option, in words for everyone
    (r"Input should be a valid integer\b.*", "expected a whole number"),
    (r"Input should be a valid number\b.*", "expected a number"),
    (r"Input should be greater than or equal to (\S+)", r"expected a number of at least \1"),
    (r"Input should be less than or equal to (\S+)", r"expected a number of at most \1"),
    (r"^Value error, ", ""),
)


def parameters(given: Iterable[str] | None) -> dict[str, Scalar]:
    """Return parameters of a method from words such as `effort=quick`: integers, numbers, true or false, else text.

    Examples
    --------
    >>> parameters(["restarts=4", "gap=0.5", "diverse=true", "effort=quick"])
    {'restarts': 4, 'gap': 0.5, 'diverse': True, 'effort': 'quick'}
    """
    named = _named(given, "--parameter", "NAME=VALUE, such as effort=quick")
    return {name: _value(value) for name, value in named.items()}


def constraints(given: Iterable[str] | None) -> dict[str, Scalar]:
    """Return constraints from words such as `alpha=0.5`, as `parameters` does."""
    named = _named(given, "--constraint", "NAME=VALUE, such as alpha=0.5")
    return {name: _value(value) for name, value in named.items()}


def hierarchies(given: Iterable[str] | None) -> dict[str, str]:
    """Return the hierarchy of each column, a file or a keyword that builds one, from words such as `zip=mask`.

    Examples
    --------
    >>> hierarchies(["zip=mask", "job=jobs.csv"])
    {'zip': 'mask', 'job': 'jobs.csv'}
    """
    return _named(given, "--hierarchy", "COLUMN=FILE or COLUMN=KEYWORD, such as zip=mask")


def plain_usage(message: str) -> str:
    """Return what a library says about a wrong option in plain words.

    Examples
    --------
    >>> plain_usage("Input should be a valid integer, unable to parse string as an integer")
    'expected a whole number.'
    >>> plain_usage("No such option: --methd")
    'No such option: --methd'
    """
    plain = message
    for pattern, words in PLAIN:
        plain = re.sub(pattern, words, plain)
    return plain if plain == message or plain.endswith(".") else f"{plain}."


def _named(given: Iterable[str] | None, option: str, form: str) -> dict[str, str]:
    """Split each word at its first equals sign into a name and a value."""
    found: dict[str, str] = {}
    for word in given or ():
        name, equals, value = (part.strip() for part in word.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"{option} takes {form}; got {word!r}.")
        if name in found:
            raise typer.BadParameter(f"{option} gives {name!r} twice. Give it once.")
        found[name] = value
    return found


def _value(word: str) -> Scalar:
    """Return a word as an integer, a number or a truth value, if it is written like one."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        return number if math.isfinite(number) else word
    return word
