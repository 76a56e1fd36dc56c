"""Sentences that know what their numbers count, so that a page can leave out numbers of fewer than k rows.

A number of rows, cells or people is written into a sentence as `Rows`, a percentage of the rows as `RowShare`. As text
the sentence has every number; `suppressed` writes it for a page that must not show numbers of rows from 1 to k - 1. No
code searches for numbers in text. A plain text with a digit, or another sign for a number such as Ⅲ, contains a number
of unknown kind: `for_page` omits it.
"""

import math
from typing import Any, SupportsIndex

EDGE = 1e-6  # rows: a smaller difference is rounding
MOST_DIGITS = 1e15  # figures from here on are written with an exponent


class Rows(int):
    """A number of rows, cells, records or people."""


class RowShare(float):
    """A percentage of the rows."""


class Share(float):
    """The share of a number of rows or people, from 0 to 1, that have something in common."""

    of: int

    def __new__(cls, share: float, of: int) -> "Share":
        """Keep the number beside the share."""
        made = super().__new__(cls, share)
        made.of = of
        return made

    def __getnewargs__(self) -> tuple[float, int]:  # type: ignore[override]
        """Return the parts, so that it survives pickling."""
        return float(self), self.of


class _Written(str):
    """A number that is already formatted, whatever format is requested."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        """Return the text as it is."""
        return str(self)


class _Grouped(int):
    """An integer that is written with separators of thousands unless another format is requested."""

    def __format__(self, form: str) -> str:
        """Return the integer as text."""
        return format(int(self), form or ",")


class Sentence(str):
    """A text that knows the numbers in it.

    `template` has a name in braces for each number, as in `str.format`; digits in the template itself are the same for
    every table. Integers are written with separators of thousands. The numbers `given` are `Rows`, `RowShare`
    and `Share` if they may be suppressed, plain ones otherwise, and sentences.

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
        made = super().__new__(cls, template.format(**{name: _grouped(value) for name, value in given.items()}))
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
        return self.template.format(**{name: _grouped(_suppressed(value, n, k)) for name, value in self.given.items()})

    @staticmethod
    def joined(parts: list[str], between: str = "; ") -> "Sentence":
        """Return sentences and plain texts as one sentence."""
        names = [f"part{place}" for place in range(len(parts))]
        return Sentence(between.join(f"{{{name}}}" for name in names), **dict(zip(names, parts, strict=True)))


def for_page(text: str, n: int, k: int) -> str:
    """Return a text as a page may show it: empty, if it contains a number whose meaning is not stated.

    A subclass of str or Sentence is omitted as well, since it may write numbers in its own way.

    Examples
    --------
    >>> for_page("the mean of all cells", 100, 5), for_page("3 records of the file have it", 100, 5)
    ('the mean of all cells', '')
    """
    if type(text) is Sentence:
        return text.suppressed(n, k)
    return "" if type(text) is not str or has_number(text) else text


def has_number(text: str) -> bool:
    """Return whether a text has a digit or another sign for a number, such as ½ or Ⅲ."""
    return any(letter.isnumeric() for letter in text)


def few(rows: float, n: int, k: int) -> str:
    """Write a number of rows or cells, unless it or the remainder reveals fewer than k; the sign does not matter.

    Examples
    --------
    >>> few(3, 100, 5), few(98, 100, 5), few(40, 100, 5)
    ('fewer than 5', 'all but fewer than 5', '40')
    """
    size = abs(rows)
    if 0 < size < k:
        return f"fewer than {k}"
    return f"all but fewer than {k}" if n - k < size < n else plain_figure(rows)


def few_of(share: float, of: int, k: int) -> str:
    """Write what is shown instead of a share that stands for fewer than k, or all but so few; empty if it may be shown.

    Examples
    --------
    >>> few_of(0.04, 100, 5), few_of(0.97, 100, 5), few_of(0.4, 100, 5), few_of(0.5, 4, 5)
    ('below 0.050', 'above 0.950', '', 'withheld')
    """
    counted, edge = share * of, k - EDGE
    if EDGE < counted < edge:
        return f"below {k / of:.3f}" if k < of else "withheld"
    if EDGE < of - counted < edge:
        return f"above {1 - k / of:.3f}" if k < of else "withheld"
    return ""


def plain_figure(value: float) -> str:
    """Write a figure as the commands do: an integer without decimals, a large figure with two, others to six digits.

    Examples
    --------
    >>> plain_figure(1234567.0), plain_figure(1234.5), plain_figure(1e300)
    ('1,234,567', '1,234.50', '1e+300')
    """
    if not math.isfinite(value):
        return "none" if math.isnan(value) else "without limit"
    if abs(value) >= MOST_DIGITS:
        return f"{value:.6g}"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.6g}" if abs(value) < 1000 else f"{value:,.2f}"


def _grouped(value: Any) -> Any:
    """Return an integer so that it is written with separators of thousands, and anything else as it is."""
    return _Grouped(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _suppressed(value: Any, n: int, k: int) -> Any:
    """Return a value of a sentence as a page may show it."""
    if isinstance(value, Sentence):
        return _Written(Sentence.suppressed(value, n, k))  # a subclass may not write it in its own way
    if isinstance(value, Rows):
        return _Written(few(int(value), n, k)) if 0 < abs(value) < n else value
    if isinstance(value, Share):
        hidden = few_of(value, value.of, k)
        return _Written(hidden) if hidden else value
    if isinstance(value, RowShare) and n:
        rows, edge = abs(value) * n / 100, k - EDGE
        if 0 < rows < edge:
            return _Written(f"below {plain_figure(100 * k / n)}")
        if EDGE < n - rows < edge:
            return _Written(f"above {plain_figure(100 * (1 - k / n))}")
    return value
