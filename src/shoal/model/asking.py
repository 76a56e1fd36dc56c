"""How an option is spelled: as a keyword argument in Python, as a flag on the command line.

Errors name the option as the reader wrote it. Notes are stored in files and read in either place: they name both.
"""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["FLAGS", "argument", "either", "on_command_line", "option"]

# The flag of the command line for each keyword argument of the Python functions.
FLAGS = {
    "accept": "--accept",
    "attacks": "--attacks",
    "budget": "--budget",
    "constraints": "--constraint",
    "control": "--control",
    "folds": "--folds",
    "fraction": "--fraction",
    "header": "--header",
    "hierarchies": "--hierarchy",
    "identifiers": "--identifier",
    "jobs": "--jobs",
    "keep": "--keep",
    "label": "--label",
    "longest": "--longest",
    "neighbour": "--neighbour",
    "only": "--only",
    "output": "--output",
    "parameters": "--parameter",
    "private": "--private",
    "protect": "--protect",
    "quasi": "--quasi",
    "report": "--report",
    "seed": "--seed",
    "seeds": "--seeds",
    "sensitive": "--sensitive",
}
PLACEHOLDERS = ("COLUMN", "FILE", "FOLDER")
LISTS = ("accept", "identifiers", "keep", "only", "quasi", "sensitive")

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
    """Return the name of an option as the reader writes it.

    Examples
    --------
    >>> argument("identifiers")
    'identifiers'
    >>> with on_command_line():
    ...     argument("identifiers")
    '--identifier'
    """
    return FLAGS[name] if _flags.get() else name


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
