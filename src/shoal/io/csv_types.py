"""The types of CSV columns, found in the text of their cells.

The first that fits every cell of a column is taken, of whole number, number, boolean, date, time stamp, text. A number
with a leading zero or plus stays text, for it names something: a postcode, a telephone. Dates are ISO dates or, without
any doubt about day and month, of the form 31.12.1999. Decimal commas are read where the comma is not the delimiter.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["BLANKS", "alike_cells", "typed"]

BLANKS = " \t"
WHOLE = r"^-?(?:0|[1-9][0-9]*)$"
LONG = r"^-?[0-9]{16,}$"
INFINITE = r"^-?(?:inf|Inf|INF|infinity|Infinity)$"
NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$|^(?:nan|NaN)$|" + INFINITE
BOOLEANS = ("true", "false", "True", "False", "TRUE", "FALSE")
ZONE = r"(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)$"
COMMA = r"^-?(?:(?:0|[1-9][0-9]*)|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,[0-9]+)?$"
DOTTED = r"^(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4})$"
YEAR = r"^[12][0-9]{3}$"


def typed(column: pa.ChunkedArray, *, empty_is_gap: bool, commas: bool) -> tuple[pa.ChunkedArray, str]:
    """Return a column of text in the first type that fits all its cells, and what was unusual about it.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
        Text.
    empty_is_gap : bool
        Whether an empty cell of a column that is no text is missing.
    commas : bool
        Whether a comma may stand before the decimals of a number.

    Returns
    -------
    pyarrow.ChunkedArray, str
    """
    if column.null_count == len(column):
        return column, ""
    ways = [(way, "") for way in (_whole, _number, _boolean, _date, _moment)]
    ways += [(_dotted_date, "dates with dots, written as ISO dates,")]
    ways += [(_comma_number, "decimal commas, written as points,")] if commas else []
    beginning = _trimmed(column.slice(0, 1000), empty_is_gap)
    trimmed = None
    for converted, note in ways:
        if converted(beginning) is not None:
            trimmed = _trimmed(column, empty_is_gap) if trimmed is None else trimmed
            if trimmed.null_count < len(trimmed) and (result := converted(trimmed)) is not None:
                return result, note
    return column, ""


def alike_cells(names: list[str], columns: list[pa.ChunkedArray]) -> int:
    """Return how many cells of a header look like the rows below it, if that is enough to doubt that it is one.

    A number or date above a column of such is enough, unless it is a year or the column's own position; so are two
    names that stand in their own columns too.
    """
    certain = likely = 0
    for position, (name, column) in enumerate(zip(names, columns, strict=True)):
        if pa.types.is_string(column.type):
            likely += bool(pc.any(pc.equal(column, name)).as_py())
        elif not re.match(YEAR, name) and name not in (str(position), str(position + 1)):
            cell = pa.chunked_array([pa.array([name])])
            certain += typed(cell, empty_is_gap=False, commas=True)[0].type == column.type
    return certain + likely if certain or likely > 1 else 0


def _trimmed(column: pa.ChunkedArray, empty_is_gap: bool) -> pa.ChunkedArray:
    """Return the cells without blanks around them; one that is empty then was quoted, and is no number."""
    trimmed = pc.ascii_trim(column, characters=BLANKS)
    if not empty_is_gap:
        return trimmed
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _all(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Tell whether every cell that is there matches the pattern."""
    return bool(pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py())


def _cast(cells: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    """Return the cells as this type, or None if one does not fit."""
    try:
        return cells.cast(kind)
    except pa.ArrowInvalid:
        return None


def _whole(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return whole numbers that fit 64 bits."""
    return _cast(cells, pa.int64()) if _all(cells, WHOLE) else None


def _number(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return numbers, unless one is long and whole (a key, which rounding would change) or too large."""
    if not _all(cells, NUMBER) or pc.any(pc.match_substring_regex(cells, LONG)).as_py():
        return None
    numbers = cells.cast(pa.float64())
    written = pc.fill_null(pc.match_substring_regex(cells, INFINITE), False)
    infinite = pc.fill_null(pc.is_inf(numbers), False)
    words_alone = pc.all(pc.match_substring_regex(cells, "^[^0-9]*$")).as_py() and len(cells) > cells.null_count
    return None if words_alone or not infinite.equals(written) else numbers


def _boolean(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return booleans."""
    known = pc.is_in(cells, pa.array(BOOLEANS), skip_nulls=True)
    fits = pc.all(pc.or_(known, pc.is_null(cells)), min_count=0).as_py()
    return pc.equal(pc.ascii_lower(cells), "true") if fits else None


def _date(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return ISO dates."""
    return _cast(cells, pa.date32())


def _moment(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return ISO time stamps, in microseconds if that is fine enough, in the zone that all are written in."""
    for unit in ("us", "ns"):
        if (naive := _cast(cells, pa.timestamp(unit))) is not None:
            return naive
        if (zoned := _cast(cells, pa.timestamp(unit, "UTC"))) is not None:
            zones = pc.struct_field(pc.extract_regex(cells, ZONE), "zone").drop_null().unique().to_pylist()
            zone = zones[0].replace(":", "") if len(zones) == 1 and zones[0] != "Z" else ""
            return zoned.cast(pa.timestamp(unit, f"{zone[:3]}:{zone[3:] or '00'}" if zone else "UTC"))
    return None


def _dotted_date(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return dates that are written as day, month and year with dots between them."""
    if not _all(cells, DOTTED):
        return None
    parts = pc.extract_regex(cells, DOTTED)
    day, month, year = (pc.utf8_lpad(pc.struct_field(parts, part), 2, "0") for part in ("day", "month", "year"))
    return _cast(pc.binary_join_element_wise(year, month, day, "-"), pa.date32())


def _comma_number(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return numbers with a comma before their decimals; at least one must have it."""
    if not _all(cells, COMMA) or not pc.any(pc.match_substring(cells, ",")).as_py():
        return None
    plain = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
    return _cast(plain, pa.float64())
