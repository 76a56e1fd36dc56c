"""How an option is spelled: as a keyword argument in Python, as a flag on the command line.

Errors name the option as the reader wrote it. Notes are stored in files and read in either place: they name both.
"""

import math
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from numbers import Integral, Number, Real
from typing import Any

from shoal.errors import MethodError, PolicyError, UseError, kind_of, shortened

# The flag of the command line for each keyword argument of the Python functions.
FLAGS = {
    "accept": "--accept",
    "attacks": "--attacks",
    "budget": "--budget",
    "column": "--column",
    "constraints": "--constraint",
    "control": "--control",
    "csv_style": "--csv-style",
    "folds": "--folds",
    "fraction": "--fraction",
    "header": "--header",
    "hierarchies": "--hierarchy",
    "identifiers": "--identifier",
    "item": "--item",
    "items": "--items",
    "jobs": "--jobs",
    "k": "-k",
    "keep": "--keep",
    "l": "-l",
    "l_kind": "--l-kind",
    "label": "--label",
    "longest": "--longest",
    "m": "-m",
    "memory": "--memory",
    "method": "--method",
    "missing": "--missing",
    "neighbour": "--neighbour",
    "only": "--only",
    "other": "--other",
    "output": "--output",
    "parameters": "--parameter",
    "private": "--private",
    "protect": "--protect",
    "quasi": "--quasi",
    "record": "--record",
    "refine": "--refine",
    "report": "--report",
    "seed": "--seed",
    "seeds": "--seeds",
    "sensitive": "--sensitive",
    "strict": "--strict",
    "strict_notes": "--strict-note",
    "t": "-t",
    "weight": "--weight",
}
PLACEHOLDERS = ("COLUMN", "FILE", "FOLDER")
LISTS = ("accept", "identifiers", "items", "keep", "only", "quasi", "sensitive", "strict_notes")

UNITS = {"MB": 1.0, "GB": 1e3, "TB": 1e6, "MIB": 2**20 / 1e6, "GIB": 2**30 / 1e6, "TIB": 2**40 / 1e6}  # in megabytes
AMOUNT = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(UNITS)})\s*", re.IGNORECASE | re.ASCII)

_flags = ContextVar("flags", default=False)  # whether errors name flags


@contextmanager
def on_command_line() -> Iterator[None]:
    """Make errors name flags instead of keyword arguments."""
    before = _flags.set(True)
    try:
        yield
    finally:
        _flags.reset(before)


def argument(name: str) -> str:
    """Return the name of an option as the reader writes it; an option without a flag keeps its name.

    Examples
    --------
    >>> argument("identifiers")
    'identifiers'
    >>> with on_command_line():
    ...     argument("identifiers")
    '--identifier'
    """
    return FLAGS.get(name, name) if _flags.get() else name


def one_or_several(given: Any, who: str, name: str, error: type[UseError] = PolicyError) -> list[Any]:
    """Return one name or several as a list, and none as an empty one; `who` begins the message that refuses others.

    A column of a frame is refused: its cells would be taken for names, and be quoted in messages.

    Examples
    --------
    >>> one_or_several("age", "mine", "quasi"), one_or_several(("age", "sex"), "mine", "quasi")
    (['age'], ['age', 'sex'])
    """
    column = type(given).__name__ == "Series"  # of pandas or polars; neither is imported here
    if not isinstance(given, Iterable | None) or isinstance(given, Mapping | bytes) or column:
        raise error(f"{who}: {argument(name)} must be one or more names; got {kind_of(given)}.")
    names = [] if given is None else [given] if isinstance(given, str) else list(given)
    for one in names:
        if not isinstance(one, str | Number):
            raise error(f"{who}: {argument(name)} must be one or more names; one of them is {kind_of(one)}.")
    return names


def check_number(value: object, who: str, name: str, *, whole: bool = False, least: float = -math.inf) -> None:
    """Refuse what is not a number, not a whole one, or too small; `who` begins the message.

    Examples
    --------
    >>> check_number(0, "mine", "most", whole=True, least=1)
    Traceback (most recent call last):
    shoal.errors.MethodError: mine: most must be a whole number of at least 1; got 0.
    """
    number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not number or not value >= least:  # type: ignore[operator]
        what = "a whole number" if whole else "a number"
        from_ = "" if math.isinf(least) else f" of at least {least:g}"
        raise MethodError(f"{who}: {name} must be {what}{from_}; got {shortened(value)}.")


def in_seconds(value: Any, who: str, name: str = "budget") -> float:
    """Return a valid number of seconds; `who` begins the message that refuses any other value."""
    try:
        seconds = float(value) if not isinstance(value, bool) and isinstance(value, Real) else math.nan
    except OverflowError:
        seconds = math.inf
    if not 0 < seconds < math.inf:
        raise PolicyError(f"{who}: {argument(name)} must be a number of seconds above 0; got {shortened(value)}.")
    return seconds


def in_megabytes(value: Any, who: str, name: str = "memory") -> float:
    """Return an amount of memory in megabytes, given as text with a unit or as a number of bytes.

    Examples
    --------
    >>> in_megabytes("2GB", "mine"), in_megabytes("1.5 GiB", "mine"), in_megabytes(3e8, "mine")
    (2000.0, 1610.612736, 300.0)
    """
    found, size = (AMOUNT.fullmatch(value) if isinstance(value, str) else None), math.nan
    if found is not None:
        size = float(found[1]) * UNITS[found[2].upper()]
    elif not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):
            size = float(value) / 1e6
    if not 0 < size < math.inf:
        raise PolicyError(f"{who}: {argument(name)} must be an amount of memory such as 2GB; got {shortened(value)}.")
    return size


def option(name: str, value: str | bool) -> str:
    """Return how to set an option, as the reader writes it; a value in `PLACEHOLDERS` stands for the reader's own.

    Examples
    --------
    >>> option("accept", "unique-kept")
    "accept=['unique-kept']"
    >>> with on_command_line():
    ...     option("accept", "unique-kept")
    '--accept unique-kept'
    """
    return _flag(name, value) if _flags.get() else _keyword(name, value)


def constraint(name: str) -> str:
    """Return how to set a constraint that has no option of its own, as the reader writes it.

    Examples
    --------
    >>> constraint("alpha")
    'constraints={"alpha": ...}'
    """
    return f"{FLAGS['constraints']} {name}=NUMBER" if _flags.get() else f'constraints={{"{name}": ...}}'


def either(name: str, value: str | bool) -> str:
    """Return how to set an option in both places, for notes that are stored.

    Examples
    --------
    >>> either("header", False)
    'header=False in Python, --no-header on the command line'
    >>> either("private", "FOLDER")
    'private=FOLDER in Python, --private FOLDER on the command line'
    """
    return f"{_keyword(name, value)} in Python, {_flag(name, value)} on the command line"


def _keyword(name: str, value: str | bool) -> str:
    """Return the keyword argument."""
    word = str(value) if isinstance(value, bool) or value in PLACEHOLDERS else repr(value)
    return f"{name}=[{word}]" if name in LISTS else f"{name}={word}"


def _flag(name: str, value: str | bool) -> str:
    """Return the flag of the command line."""
    flag = FLAGS[name]
    if isinstance(value, bool):
        return flag if value else flag.replace("--", "--no-", 1)
    return f"{flag} {shlex.quote(value)}"
