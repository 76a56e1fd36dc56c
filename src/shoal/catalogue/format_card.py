"""The card of a file format: how its files are called, told apart, read and written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FormatCard", "file_format"]

Write = Callable[["pa.Table", BinaryIO], None]
Read = Callable[[Path], "pa.Table"]


@dataclass(frozen=True)
class FormatCard:
    """A file format of tables.

    Parameters
    ----------
    name : str
        As in `--format`; a released file is called `data.` and this name.
    endings : tuple of str
        Of file names, in lower case and with their dots.
    magic : bytes
        What every file of this format starts with; empty if nothing.
    called : str
        What people call it.
    text : bool
        Whether cells are written as text, which is read and typed by the rules for CSV files.
    read : callable, optional
        Takes a path and returns the table; none for text. It must not quote a cell in a message.
    summary : str
        The first sentence of the function's docstring.
    function : callable
        Takes a table and an open file, and writes it: the same cells always as the same bytes, and nothing else.
    """

    name: str
    endings: tuple[str, ...]
    magic: bytes
    called: str
    text: bool
    read: Read | None
    summary: str
    function: Write = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, for JSON and tables."""
        shown = {key: value for key, value in vars(self).items() if key not in ("function", "read")}
        return {**shown, "magic": self.magic.hex()}


def file_format(
    name: str,
    *,
    endings: tuple[str, ...],
    called: str,
    magic: bytes = b"",
    text: bool = False,
    read: Read | None = None,
) -> Callable[[Write], Write]:
    """Give the function that writes a format its card."""

    def give(function: Write) -> Write:
        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        function.card = FormatCard(name, endings, magic, called, text, read, summary, function)  # type: ignore[attr-defined]
        return function

    return give
