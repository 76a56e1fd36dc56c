"""The card of a file format: how its files are named, recognized, read and written."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.catalogue.card import Card
from shoal.errors import CardError, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[..., None]  # of a table and an open file; of CSV files also their style
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
        Whether the files are delimited text, which is read and typed by the rules for CSV files. A plug-in's function
        is given the text of each cell as a CSV file has it, before quoting, and null for a missing cell.
    read : callable, optional
        Takes a path and returns the table; none for text. It must not quote a cell in a message.
    """

    endings: tuple[str, ...]
    magic: bytes = b""
    called: str
    text: bool = False
    read: Read | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        wrong = [one for one in self.endings if not one.startswith(".") or one != one.lower()]
        if wrong:
            raise CardError(f"format: the card of {self.name!r} has {wrong[0]!r} in endings; expected one like '.csv'.")
        if self.text is (self.read is not None):
            fault = "two ways to be read: leave out `read` or" if self.text else "no way to be read: give it `read`, or"
            more = "" if self.text else " if it is delimited text, which is read by the rules for CSV files"
            raise CardError(f"format: the format {self.name!r} has {fault} text=True{more}.")

    @staticmethod
    def misfit(part: str, result: Any) -> str:
        """Say what is wrong with what the function that reads returned; empty if nothing."""
        import pyarrow as pa

        wrong = part == "read" and not isinstance(result, pa.Table)
        return f"its `read` returned {kind_of(result)} instead of a table of pyarrow" if wrong else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, with `magic` in hexadecimal."""
        return {**super().as_dict(), "magic": self.magic.hex()}


file_format = FormatCard
