"""The errors of shoal. Each is one sentence that may be shown to anyone: it quotes no cell.

::

    ShoalError
    ├── UseError (also a ValueError)      exit 2   the caller can correct it
    │   ├── ReadError                              a file or frame that cannot be read
    │   ├── PolicyError                            a policy that is inconsistent, or does not fit the table
    │   ├── DataError                              cells that do not fit, or tables that do not belong together
    │   ├── MethodError                            an unknown method, measure or attack, or a parameter out of range
    │   └── WriteError                             a location that cannot be written to
    ├── GuaranteeError                    exit 1   a verdict failed, nothing was written
    └── InfeasibleError (also a ValueError) exit 3 no release can meet these constraints

The wording is always *who: what is wrong, with the value given; what was expected. What to do.*
A cell value never appears in a message: counts, column names and positions only.
"""

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from errno import ENOMEM
from numbers import Number
from os import PathLike
from pathlib import Path

__all__ = [
    "DataError",
    "GuaranteeError",
    "InfeasibleError",
    "MethodError",
    "PolicyError",
    "ReadError",
    "ShoalError",
    "UseError",
    "WriteError",
    "counted",
    "is_out_of_memory",
    "kind_of",
    "listed",
    "near",
    "place_of",
    "reason_of",
    "shortened",
]


LONG = 60  # characters of a value that a message shows
# What systems, Arrow and Python say where memory cannot be allocated, mapped or given to a thread.
NO_MEMORY = (
    "cannot allocate",
    "failed to allocate",
    "out of memory",
    "failed to launch worker thread",
    "failed to map",
    "can't start new thread",
    "alloc of size",
)
VOWELS = (*"AEIOUaeiou", "nd")  # an int, an ndarray


class ShoalError(Exception):
    """Base class of all errors of shoal; `exit_code` is the exit status of the command line."""

    exit_code = 2


class UseError(ShoalError, ValueError):
    """An argument, a file or a table is wrong, and the caller can correct it."""


class ReadError(UseError):
    """A file or a frame cannot be read as a table."""


class PolicyError(UseError):
    """A policy contradicts itself or the table it is used with."""


class DataError(UseError):
    """Cells do not fit the kind of their column, or tables do not belong together."""


class MethodError(UseError):
    """A method, measure or attack is unknown, or a parameter is out of range."""


class WriteError(UseError):
    """A folder or file cannot be written at the given location."""


class GuaranteeError(ShoalError):
    """The judge did not confirm what the policy asks for, so nothing was written."""

    exit_code = 1


class InfeasibleError(ShoalError, ValueError):
    """No release of this table can meet the constraints; the message names the nearest ones that can be met."""

    exit_code = 3


class CardError(MethodError):
    """A card of the catalogue contradicts itself, or has a word that is not known."""


class PlugInError(UseError):
    """A function of a plug-in failed; users catch it as a UseError."""


class MisfitError(PlugInError, MethodError):
    """A function of a plug-in returned something else than it should."""


class LeftOut(UserWarning):
    """Something from a plug-in failed and was left out; the sentence says what."""


class Stopped(SystemExit):
    """The command line was asked to stop by a signal; unlike another SystemExit, it is let through by plug-ins."""


def place_of(problem: BaseException) -> str:
    """Return the type and the source line of an error, without its message, which might quote a cell."""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f", {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}{place}"


def is_out_of_memory(problem: BaseException) -> bool:
    """Return whether an error, or one that led to it, means that the system has no memory to give.

    Examples
    --------
    >>> is_out_of_memory(MemoryError()), is_out_of_memory(OSError(12, "Cannot allocate memory"))
    (True, True)
    >>> is_out_of_memory(ImportError("x.so: failed to map segment from shared object")), is_out_of_memory(OSError())
    (True, False)
    """
    seen: BaseException | None = problem
    while seen is not None:
        # Arrow raises its base class itself where the system refuses; its other errors may quote cells.
        system = isinstance(seen, OSError | ImportError | RuntimeError) or type(seen).__name__ == "ArrowException"
        number = getattr(seen, "errno", None)  # where the system gives one, the text has a path, which may say anything
        words = str(seen).lower() if system and number is None else ""
        if isinstance(seen, MemoryError) or number == ENOMEM or any(sign in words for sign in NO_MEMORY):
            return True
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return False


def reason_of(problem: BaseException) -> str:
    """Return why something failed, in a sentence without a cell value."""
    if isinstance(problem, ShoalError):
        return str(problem)
    if is_out_of_memory(problem):
        return "there is not enough memory for this table."
    return f"an internal error of shoal ({place_of(problem)}). Please report it."


def failed(name: str, how: str) -> str:
    """Return the sentence that says that something from a plug-in failed, and how."""
    return f"plug-in: {name!r} failed ({how}). Report this to its authors."


def near(word: object, words: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the most similar word, or an empty string."""
    if not isinstance(word, str):
        return ""
    by_fold = {known.casefold(): known for known in words}
    found = get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.6)
    return f" Did you mean {by_fold[found[0]]!r}?" if found else ""


def kind_of(thing: object) -> str:
    """Return the type of an object with its article: a message names the type, never the value.

    Examples
    --------
    >>> kind_of(5), kind_of([]), kind_of(None)
    ('an int', 'a list', 'None')
    """
    if thing is None:
        return "None"
    name = type(thing).__name__
    return f"{'an' if name.startswith(VOWELS) else 'a'} {name}"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: 1 row, 2,000 rows.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row"), counted(3, "class", "classes")
    ('1 row', '2,000 rows', '3 classes')
    """
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def listed(words: Iterable[str], most: int = 12) -> str:
    """Return the words quoted and separated by commas, truncated after `most` of them."""
    every = list(words)
    shown = ", ".join(repr(word) for word in every[:most])
    return shown if len(every) <= most else f"{shown} and {len(every) - most} more"


def shortened(value: object) -> str:
    """Return a given value as a message shows it, cut if long; of a table or list, which may hold cells, its type.

    Examples
    --------
    >>> shortened("x"), shortened(10**300)[:8], shortened(["x"])
    ("'x'", '10000000', 'a list')
    """
    if not isinstance(value, str | Number | PathLike):
        return kind_of(value)
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of very many digits
        return "a number of very many digits"
    return text if len(text) <= LONG else f"{text[:LONG]}..."
