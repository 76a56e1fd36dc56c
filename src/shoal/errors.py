"""The errors of shoal. Each is one sentence that may be shown to anyone: it quotes no cell.

::

    ShoalError
    ├── UseError (also a ValueError)      exit 2   the caller can correct it
    │   ├── ReadError                              a file or frame that cannot be read
    │   ├── PolicyError                            a policy that is inconsistent, or does not fit the table
    │   ├── DataError                              cells that do not fit the kind of their column
    │   ├── MethodError                            an unknown method, or a parameter out of range
    │   └── WriteError                             a location that cannot be written to
    ├── GuaranteeError                    exit 1   a verdict failed, nothing was written
    ├── InfeasibleError (also a ValueError) exit 3 no release can meet these constraints
    └── DrawingError                      exit 3   a chart or a page cannot be drawn

The wording is always *who: what is wrong, with the value given; what was expected. What to do.*
A cell value never appears in a message: counts, column names and positions only.
"""

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

__all__ = [
    "DataError",
    "DrawingError",
    "GuaranteeError",
    "InfeasibleError",
    "MethodError",
    "PolicyError",
    "ReadError",
    "ShoalError",
    "UseError",
    "WriteError",
    "listed",
    "near",
    "place_of",
    "reason_of",
]


class ShoalError(Exception):
    """Base class of all errors of shoal; `exit_code` is the exit status of the command line."""

    exit_code = 2


class UseError(ShoalError, ValueError):
    """Something that the caller gave is wrong and can be corrected."""


class ReadError(UseError):
    """A file or a frame cannot be read as a table."""


class PolicyError(UseError):
    """A policy contradicts itself or the table it is used with."""


class DataError(UseError):
    """Cells do not fit the kind of their column."""


class MethodError(UseError):
    """A method is unknown, or one of its parameters is out of range."""


class WriteError(UseError):
    """A folder or file cannot be written at the given location."""


class GuaranteeError(ShoalError):
    """The judge did not confirm what the policy asks for, so nothing was written."""

    exit_code = 1


class InfeasibleError(ShoalError, ValueError):
    """No release of this table can meet the constraints; the message names the nearest that could."""

    exit_code = 3


class DrawingError(ShoalError):
    """A chart cannot be drawn, for lack of memory or because of a fault in the drawing library."""

    exit_code = 3


def place_of(problem: BaseException) -> str:
    """Return the type and the source line of a fault, without its message, which might quote a cell."""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f", {Path(frames[-1].filename).name} line {frames[-1].lineno}" if frames else ""
    return f"{type(problem).__name__}{place}"


def reason_of(problem: BaseException) -> str:
    """Return why something failed, in a sentence without a cell value."""
    if isinstance(problem, ShoalError):
        return str(problem)
    if isinstance(problem, MemoryError):
        return "memory is not enough for this table."
    return f"a fault in shoal itself ({place_of(problem)}). Please report it."


def near(word: str, words: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the most similar word, or an empty string."""
    by_fold = {known.casefold(): known for known in words}
    found = get_close_matches(word.casefold(), by_fold, n=1, cutoff=0.6)
    return f" Did you mean {by_fold[found[0]]!r}?" if found else ""


def listed(words: Iterable[str], most: int = 12) -> str:
    """Return the words quoted and separated by commas, truncated after `most` of them."""
    every = list(words)
    shown = ", ".join(repr(word) for word in every[:most])
    return shown if len(every) <= most else f"{shown} and {len(every) - most} more"
