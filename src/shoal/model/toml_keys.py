"""Long dotted keys in the text of a TOML file, found before it is parsed.

`tomllib` takes time and memory quadratic in the parts of a key, so that a file of a few hundred kilobytes would exhaust
the memory. Keys are found in one pass over any text: strings and comments are skipped as a whole, to the end of the
line or of the text if they are not closed.
"""

import re

MOST_PARTS = 100  # of a key: more than a hierarchy has levels

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\[^\n])*+"?|'[^'\n]*+'?)"""
_DOT = r"[ \t]*+\.[ \t]*+"
_TOKENS = re.compile(
    rf'''
    """(?:[^"\\]|\\.|"(?!""))*+"{{0,5}}+
    | \'\'\'(?:[^']|'(?!\'\'))*+'{{0,5}}+
    | \#[^\n]*+
    | (?P<long>(?:{_PART}{_DOT}){{{MOST_PARTS}}})
    | {_PART}(?:{_DOT}{_PART})*+
    | [^\w"'\#-]++
    ''',
    re.VERBOSE | re.DOTALL,
)


def has_long_key(text: str) -> bool:
    """Return whether a key in the text of a TOML file has more than `MOST_PARTS` parts.

    Examples
    --------
    >>> has_long_key("a.b.c = 1")
    False
    >>> has_long_key("a." * MOST_PARTS + "b = 1")
    True
    """
    return any(token.lastgroup == "long" for token in _TOKENS.finditer(text))
