"""The card of a file format: how its files are named, recognized, read and written."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from shoal.catalogue.card import Card
from shoal.errors import CardError, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[..., None]  # of a table and an open file; of CSV files also their style
Read = Callable[[Path], "pa.Table"]
NAME = re.compile(r"[\w+-]+(\.[\w+-]+)*")


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
        endings, magic = (cast("Any", one) for one in (self.endings, self.magic))
        texts = isinstance(endings, tuple) and all(isinstance(one, str) for one in endings)
        wrong = [one for one in endings if one[:1] != "." or one != one.lower() or one == "."] if texts else []
        if not texts or wrong:
            got = repr(wrong[0]) if wrong else kind_of(endings)
            raise CardError(f"format: the card of {self.name!r} has {got} in endings; expected a tuple like ('.csv',).")
        if not isinstance(magic, bytes):
            raise CardError(f"format: the card of {self.name!r} has {kind_of(magic)} as magic; expected bytes.")
        if not NAME.fullmatch(self.name):
            raise CardError(
                f"format: the name {self.name!r} of a format must consist of letters, digits, '_', '+' and '-', with "
                "single dots between them: it is part of a file name."
            )
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
