"""What single cells look like, in whatever column: patterns of values that identify or date a person."""

import re
import unicodedata
from collections.abc import Collection

NUMBERS = (
    r"\d{3}-\d{2}-\d{4}|[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]|\d{8}-?[A-Z]|"
    r"\d{3}\.\d{3}\.\d{3}-\d{2}|756\.\d{4}\.\d{4}\.\d{2}|\d{6}(?:\d{2})?[-+]\d{4}"
)
PHONES = (
    r"\+[1-9][\d ()./-]{6,18}\d|\(\d{2,5}\)[\d ./-]{5,12}|0\d{1,4}[ /-]\d[\d ./-]{4,10}\d|"
    r"\d{3}[-. ]\d{3}[-. ]\d{4}"
)
DATES = r"\d{4}([-/.])\d{1,2}\1\d{1,2}(?:[T ].*)?|\d{1,2}([-/.])\d{1,2}\2(?:\d{2}|\d{4})(?:[T ].*)?"
DIRECT = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.[^@\s]{2,}",
    "random identifiers": r"\{?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}?|[0-9a-fA-F]{32,128}",
    "bank account numbers": r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?",
    "identity numbers": NUMBERS,
    "network addresses": r"(?:\d{1,3}\.){3}\d{1,3}",
    "phone numbers": PHONES,
}
# Common lower-case words for a missing value, whether or not a policy names them.
BLANKS = "unknown unbekannt inconnu desconocido unk missing none nil nan na n/a n.a. null ? - -- . -9 -99 -999 -9999"
BLANK_WORDS = frozenset(BLANKS.split())
NUMBER = r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)[eE][-+]?\d+"
LONG = 200  # matching a pattern may take quadratic time


def looks_like_a_value(text: str, null_words: Collection[str] = ()) -> bool:
    """Return whether a text looks like the value of a cell rather than the name of a column.

    Numbers in any notation, dates, truth values, addresses and keys do, and so do the words that mean a missing value.

    Examples
    --------
    >>> [looks_like_a_value(text, ["NA"]) for text in ("39", "01.02.1980", "x@y.org", "NA", "age", "2nd visit")]
    [True, True, True, True, False, False]
    """
    start = text[:LONG]
    if text in null_words or text.lower() in ("true", "false"):
        return True
    if re.search(r"\d", start) and not re.search(r"[^\W\d]", start):
        return True
    return any(re.fullmatch(form, start) for form in (NUMBER, DATES, *DIRECT.values()))


def is_full_name(text: str) -> bool:
    """Return whether a text is two to four capitalised words, such as a first name and a surname.

    Examples
    --------
    >>> [is_full_name(text) for text in ("Anna Berg", "O'Neill, José-Luis", "Anna", "Ward 7", "oat milk")]
    [True, True, False, False, False]
    """
    parts = _words(text)
    return 2 <= len(parts) <= 4 and all(
        part[:1].isupper() and part.replace("-", "").replace("'", "").replace("’", "").rstrip(".").isalpha()
        for part in parts
    )


def recombine(texts: Collection[str]) -> bool:
    """Return whether the same words begin, and the same words end, at least two distinct texts on average.

    First names and surnames recombine; in towns, products or titles often only the first or only the last words do.

    Examples
    --------
    >>> recombine(["Anna Berg", "Anna Koch", "Paul Berg", "Paul Koch"])
    True
    >>> recombine(["New York", "New Orleans", "San Diego", "San Marino"])
    False
    """
    ends = {(parts[0], parts[-1]) for parts in map(_words, texts) if len(parts) > 1}
    return all(2 * len({end[place] for end in ends}) <= len(texts) for place in (0, 1)) and bool(ends)


def _words(text: str) -> list[str]:
    """Return the words of a text, split at spaces and commas; accents are composed with their letters."""
    return re.split(r"[ ,]+", unicodedata.normalize("NFC", text[:LONG].strip()))


def shape_of(text: str) -> str:
    """Return a text with every letter as "a" and every digit as "0".

    Examples
    --------
    >>> shape_of("P00-17b")
    'a00-00a'
    """
    return re.sub(r"[^\W\d_]", "a", re.sub(r"\d", "0", text))
