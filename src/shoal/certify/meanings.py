"""What the cells of a sensitive column mean, and how meanings are ordered: the verifier's own implementation.

The rules are those of docs/judge/models.md, section Spellings, which the judge implements in another package. Here a
column becomes an Arrow column of meanings, in which cells are equal if and only if they count as one value:

- text becomes folded text, and a number in it the canonical notation of that number;
- both floating-point zeros become one, and NaN becomes missing;
- cells inside lists, maps and structs mean what they would mean by themselves; in lists and maps neither order nor
  repetition counts, and empty ones are missing; bytes mean the text that they encode;
- other types mean themselves.

Only the distinct cells of a column are folded. ASCII text is folded by Arrow, all other text character by character.
"""

import re
import unicodedata
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.model.policy import NULL_WORDS

LONG = 500  # characters; Unicode normalization is quadratic in a run of accents
DIGITS, POWER = 400, 10**6  # numbers with more significant digits or a larger power of ten count as text
NUMBER = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,9}))?")
INFINITY = re.compile(r"([+-]?)[iI][nN][fF](?:[iI][nN][iI][tT][yY])?")
# Blank by Unicode's Default_Ignorable_Code_Point though not of category Cf, and the blank of Braille.
BLANK = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xFFF0, 0xFFF9),
            *range(0xE0000, 0xE1000),
        ),
    )
)
# Types that Arrow cannot group by or compare, and equivalent ones that it can.
GROUPED = {
    pa.null(): pa.string(),
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
    pa.float16(): pa.float32(),
}
TIMES = [(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")]


def plain(column: pa.ChunkedArray) -> pa.Array:
    """Return the cells of a column in a type that Arrow can group by; lists and other nested cells as text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind):
        return pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()], pa.string())
    return column.cast(GROUPED.get(kind, kind)).combine_chunks()


def meanings(column: pa.ChunkedArray, *, exact: bool) -> pa.Array:
    """Return a column in which two cells are equal if and only if they count as one value.

    With `exact`, cells count as written, so that `Flu` and `flu` are two values.
    """
    cells = plain(column)
    if exact:
        return cells
    if pa.types.is_nested(_plain_type(column.type)):
        cells = pa.array([_nested(cell) or None for cell in column.to_pylist()], pa.string())
    elif _is_binary(cells.type):
        cells = _decoded(cells)
    if pa.types.is_floating(cells.type):
        zero = pc.equal(cells, pa.scalar(0.0, cells.type))
        one = pc.if_else(zero, pa.scalar(0.0, cells.type), cells)
        return pc.replace_with_mask(one, pc.is_nan(one), pa.scalar(None, cells.type))
    if not _is_text(cells.type):
        return cells
    coded = cells.dictionary_encode()
    return _folded(coded.dictionary).take(coded.indices)


def ascending(values: pa.Array, kind: str | None, *, exact: bool) -> pa.Array:
    """Return distinct, non-missing values in ascending order; `kind` is that of the column.

    Text in a column of dates is ordered by time, if all of it can be parsed; other text has numbers first, by value,
    and then the rest by code points. With `exact`, the values are cells as written, not meanings.
    """
    if not _is_text(values.type):
        return values.take(pc.array_sort_indices(values))
    if kind == "date":
        moments = _moments(values if exact else pc.utf8_upper(values))
        if moments is not None:
            return _by({"moment": moments, "text": values})
    if pc.all(pc.match_substring_regex(values, r"^-?[0-9]{1,40}(\.[0-9]{1,40})?$")).as_py():
        # Rounding to doubles is monotonic: if the doubles differ, their order is that of the numbers.
        number = values.cast(pa.float64())
        if len(number.unique()) == len(values):
            return _by({"number": number, "text": values})
    return pa.array(sorted(values.to_pylist(), key=_key), values.type)


def canonical(text: str) -> str:
    """Return the canonical notation of the number that a text is, or else the text.

    Examples
    --------
    >>> [canonical(text) for text in ("+01.50", "-0", "15e-1", "1e99", "one")]
    ['1.5', '0', '1.5', '1e99', 'one']
    """
    infinite = INFINITY.fullmatch(text)
    if infinite:
        return "-inf" if infinite[1] == "-" else "inf"
    parts = _parts(text)
    if parts is None:
        return text
    minus, digits, point = parts
    if not digits:
        return "0"
    if not -20 <= point <= 40:
        return f"{minus}{digits}e{point - len(digits)}"
    whole, rest = digits[: max(point, 0)].ljust(point, "0"), "0" * -point + digits[max(point, 0) :]
    return f"{minus}{whole or '0'}" + (f".{rest}" if rest else "")


def _parts(text: str) -> tuple[str, str, int] | None:
    """Return sign, digits and point of a number, which is sign 0.digits x 10^point; no digits for zero."""
    found = NUMBER.fullmatch(text)
    if found is None:
        return None
    sign, whole, after, only, power = found.groups()
    whole, rest = whole or "", only or after or ""
    digits = (whole + rest).lstrip("0")
    point = len(digits) - len(rest) + int(power or 0)
    digits = digits.rstrip("0")
    if not digits:
        return "", "", 0
    return ("-" if sign == "-" else "", digits, point) if len(digits) <= DIGITS and abs(point) <= POWER else None


def _key(text: str) -> tuple[int, int, int, str, str]:
    """Return the sort key of a text: numbers by value, then other text; equal numbers by their text."""
    infinite = INFINITY.fullmatch(text)
    if infinite:
        return 0, -2 if infinite[1] == "-" else 2, 0, "", text
    parts = _parts(text)
    if parts is None:
        return 1, 0, 0, "", text
    minus, digits, point = parts
    if not digits:
        return 0, 0, 0, "", text
    if not minus:
        return 0, 1, point, digits, text
    # Of negative numbers the longer one is smaller, digit by digit.
    return 0, -1, -point, "".join(str(9 - int(digit)) for digit in digits) + ":", text


def _folded(texts: pa.Array) -> pa.Array:
    """Return the meaning of each text; missing where it means a missing value."""
    odd = pc.or_(pc.invert(pc.string_is_ascii(texts)), pc.match_substring_regex(texts, "[\x00-\x1f\x7f]"))
    short = pc.replace_substring_regex(pc.ascii_trim(pc.ascii_lower(texts), " "), " +", " ")
    if pc.any(odd).as_py():
        letters = [_by_characters(text) for text in texts.filter(odd).to_pylist()]
        short = pc.replace_with_mask(short, odd, pa.array(letters, texts.type))
    # Integers and decimals in the usual notation only need their redundant zeros removed.
    short = pc.replace_substring_regex(short, r"^(-?[0-9]{1,19})\.0$", r"\1")
    usual = pc.match_substring_regex(short, r"^-?(0|[1-9][0-9]{0,18})(\.[0-9]{0,18}[1-9])?$|^[^0-9.+-]*[^0-9.+fy-]$")
    rare = pc.or_(pc.invert(usual), pc.equal(short, "-0"))
    if pc.any(rare).as_py():
        written = [canonical(text) for text in short.filter(rare).to_pylist()]
        short = pc.replace_with_mask(short, rare, pa.array(written, texts.type))
    gone = pc.or_(pc.is_in(short, MISSING.cast(texts.type)), pc.match_substring_regex(short, "^[+-]?s?nan$"))
    return pc.replace_with_mask(short, gone, pa.scalar(None, texts.type))


def _nested(cell: Any) -> str:
    """Return the meaning of a nested cell, as text without order and repetition of lists; empty if it is empty."""
    if isinstance(cell, dict):
        inner = [f"{key}: {inside}" for key, value in cell.items() if (inside := _nested(value))]
        return f"{{{', '.join(inner)}}}" if inner else ""
    if isinstance(cell, tuple):  # an entry of a map
        return f"({', '.join(map(_nested, cell))})"
    if isinstance(cell, list):
        different = set(cell) if cell and isinstance(cell[0], str | bytes | int | float) else cell
        parts = sorted({_nested(one) for one in different} - {""})
        return f"[{', '.join(parts)}]" if parts else ""
    if cell is None:
        return ""
    text = canonical(_by_characters(cell.decode(errors="backslashreplace") if isinstance(cell, bytes) else str(cell)))
    return "" if text in MISSING_WORDS or re.fullmatch("[+-]?s?nan", text) else text


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the value type of categories, and any other type unchanged."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_binary(kind: pa.DataType) -> bool:
    """Return whether a type is bytes."""
    return any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary))


def _decoded(cells: pa.Array) -> pa.Array:
    """Return bytes as UTF-8 text; those that are not UTF-8 are written as hexadecimal escapes."""
    texts = [None if cell is None else cell.decode(errors="backslashreplace") for cell in cells.to_pylist()]
    return pa.array(texts, pa.string())


def _by_characters(text: str) -> str:
    """Return text without case, invisible characters and redundant space, by the tables of Unicode."""
    if len(text) > LONG:
        return re.sub(r"\s+", " ", text.lower()).strip()
    seen = filter(lambda one: one.isspace() or not (one in BLANK or unicodedata.category(one) in ("Cc", "Cf")), text)
    done = unicodedata.normalize("NFD", "".join(seen))
    for _ in range(2):
        done = unicodedata.normalize("NFKC", done.casefold())
    return re.sub(r"\s+", " ", done).strip()


MISSING_WORDS = frozenset(_by_characters(word) for word in NULL_WORDS)
MISSING = pa.array(sorted(MISSING_WORDS), pa.string())


def _moments(texts: pa.Array) -> pa.Array | None:
    """Return texts as timestamps, or None if one of them is not."""
    for unit, zone in TIMES:
        try:
            return texts.cast(pa.timestamp(unit, zone))
        except pa.ArrowInvalid:
            continue
    return None


def _by(columns: dict[str, Any]) -> pa.Array:
    """Return the texts of columns, sorted by each column in turn."""
    order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    return columns["text"].take(order)


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text."""
    return kind in (pa.string(), pa.large_string(), pa.string_view())
