"""The card of a file format: how its files are named, recognized, read and written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from shoal.catalogue.card import Card

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[["pa.Table", BinaryIO], None]
Read = Callable[[Path], "pa.Table"]


@dataclass(frozen=True, kw_only=True)
class FormatCard(Card[Write]):
    """A file format: a function that writes a table to an open file, equal cells always as equal bytes.

    Parameters
    ----------
    name : str
        As in `--format`; a released file is named `data.` followed by this name.
    endings : tuple of str
        File name endings, in lower case and with their dots.
    magic : bytes
        The first bytes of every file of this format; empty if they vary.
    called : str
        The usual name of the format.
    text : bool
        Whether cells are written as text, which is read and typed by the rules for CSV files.
    read : callable, optional
        Takes a path and returns the table; none for text. It must not quote a cell in a message.
    """

    endings: tuple[str, ...]
    magic: bytes = b""
    called: str
    text: bool = False
    read: Read | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, with `magic` in hexadecimal."""
        return {**super().as_dict(), "magic": self.magic.hex()}


file_format = FormatCard
