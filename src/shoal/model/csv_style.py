"""How a CSV file is written: the separator of its cells, the decimal sign of its numbers, and a byte order mark."""

from typing import Literal, Self

from pydantic import Field, model_validator

from shoal.errors import WriteError, listed, near, shortened
from shoal.model.asking import argument
from shoal.model.column import Strict

MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
NAMES = ("excel", "standard")


class CsvStyle(Strict):
    """The style of a CSV file; by default commas, decimal points and no byte order mark."""

    separator: Literal[",", ";", "\t", "|"] = Field(",", description="Between the cells of a row.")
    decimal: Literal[".", ","] = Field(".", description="The decimal separator of numbers.")
    mark: bool = Field(False, description="Whether the file begins with a byte order mark, by which Excel knows UTF-8.")

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.separator == self.decimal:
            raise ValueError("csv.separator and csv.decimal are both a comma; expected two different characters")
        return self


STANDARD = CsvStyle()


def style_named(name: str | None, usual: CsvStyle) -> CsvStyle:
    """Return the style that a name stands for; `usual` is that of the input, and is used if no name is given.

    Examples
    --------
    >>> style_named("excel", CsvStyle(separator=";", decimal=","))
    CsvStyle(separator=';', decimal=',', mark=True)
    """
    check_style(name)
    if name is None:
        return usual
    return STANDARD if name == "standard" else usual.model_copy(update={"mark": True})


def check_style(name: str | None) -> None:
    """Refuse an unknown name of a style."""
    if name is not None and (not isinstance(name, str) or name not in NAMES):
        raise WriteError(
            f"write: unknown {argument('csv_style')} {shortened(name)}; expected one of {listed(NAMES)}."
            + near(name, NAMES)
        )
