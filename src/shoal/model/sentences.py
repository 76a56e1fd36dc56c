"""Sentences that know what their numbers count, so that a page can leave out numbers of fewer than k rows.

A number of rows, cells or people is written into a sentence as `Rows`, a percentage of the rows as `RowShare`. As text
the sentence has every number; `suppressed` writes it for a page that must not show numbers of rows from 1 to k - 1. No
code searches for numbers in text. A plain text with a digit contains a number of unknown kind: `for_page` omits it.
"""

import math
from typing import Any, SupportsIndex

__all__ = ["RowShare", "Rows", "Sentence", "few", "for_page", "plain_figure"]


class Rows(int):
    """A number of rows, cells, records or people."""


class RowShare(float):
    """A percentage of the rows."""


class _Written(str):
    """A number that is already formatted, whatever format is requested."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        """Return the text as it is."""
        return str(self)


class Sentence(str):
    """A text that knows the numbers in it.

    `template` has a name in braces for each number, as in `str.format`; digits in the template itself are the same for
    every table. The numbers `given` are `Rows` and `RowShare` if they may be suppressed, plain ones otherwise, and
    sentences.

    Examples
    --------
    >>> sentence = Sentence("{alone} of {n} rows", alone=Rows(3), n=100)
    >>> str(sentence), sentence.suppressed(100, 5)
    ('3 of 100 rows', 'fewer than 5 of 100 rows')
    """

    template: str
    given: dict[str, Any]

    def __new__(cls, template: str, **given: Any) -> "Sentence":
        """Write the sentence with all its numbers."""
        made = super().__new__(cls, template.format(**given))
        made.template, made.given = template, given
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        """Return the parts of the sentence, so that it survives pickling."""
        return (self.template,), self.given

    def __add__(self, more: str) -> "Sentence":
        """Return a longer sentence."""
        return Sentence("{one}{more}", one=self, more=more)

    def __getitem__(self, place: SupportsIndex | slice) -> str:
        """Return a part of the text, as a plain string."""
        return str(self)[place]

    def suppressed(self, n: int, k: int) -> str:
        """Return the text without numbers that reveal fewer than k rows, for a release of n rows."""
        return self.template.format(**{name: _suppressed(value, n, k) for name, value in self.given.items()})

    @staticmethod
    def joined(parts: list[str], between: str = "; ") -> "Sentence":
        """Return sentences and plain texts as one sentence."""
        names = [f"part{place}" for place in range(len(parts))]
        return Sentence(between.join(f"{{{name}}}" for name in names), **dict(zip(names, parts, strict=True)))


def for_page(text: str, n: int, k: int) -> str:
    """Return a text as a page may show it: empty, if it contains a number whose meaning is not stated.

    Examples
    --------
    >>> for_page("the mean of all cells", 100, 5), for_page("3 records of the file have it", 100, 5)
    ('the mean of all cells', '')
    """
    if isinstance(text, Sentence):
        return text.suppressed(n, k)
    return "" if any(letter.isdigit() for letter in text) else text


def few(rows: float, n: int, k: int) -> str:
    """Write a number of rows or cells, unless it or the remainder reveals fewer than k.

    Examples
    --------
    >>> few(3, 100, 5), few(98, 100, 5), few(40, 100, 5)
    ('fewer than 5', 'all but fewer than 5', '40')
    """
    if 0 < rows < k:
        return f"fewer than {k}"
    return f"all but fewer than {k}" if n - k < rows < n else plain_figure(rows)


def plain_figure(value: float) -> str:
    """Write a figure as the commands do: a count as an integer, a large figure with two digits, others with six."""
    if not math.isfinite(value):
        return "none" if math.isnan(value) else "without limit"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}" if abs(value) < 1000 else f"{value:,.2f}"


def _suppressed(value: Any, n: int, k: int) -> Any:
    """Return the text of a value in a sentence."""
    if isinstance(value, Sentence):
        return _Written(value.suppressed(n, k))
    if isinstance(value, Rows):
        return _Written(few(int(value), n, k)) if 0 < value < n else value
    if isinstance(value, RowShare) and 0 < value * n / 100 < k - 1e-6:
        return _Written(f"below {plain_figure(100 * k / n)}")
    return value
