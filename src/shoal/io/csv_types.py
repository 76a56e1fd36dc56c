"""The types of CSV columns, inferred from the text of their cells.

The first type that fits every cell of a column is used: integer, number, boolean, date, timestamp, text. A number with
a leading zero or plus stays text, as it is a label: a postcode, a telephone number. Dates are ISO dates or, where day
and month are unambiguous, of the form 31.12.1999. Decimal commas are read where the comma is not the delimiter; where
they are known to be the only decimal sign, as in a released file, no thousands are suspected.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

BLANKS = " \t"
WHOLE = r"^-?(?:0|[1-9][0-9]*)$"
LONG = r"^-?[0-9]{16,}$"
INFINITE = r"^-?(?:inf|Inf|INF|infinity|Infinity)$"
NUMBER = r"^-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$|^(?:nan|NaN)$|" + INFINITE
BOOLEANS = ("true", "false", "True", "False", "TRUE", "FALSE")
ZONE = r"(?P<zone>Z|[+-][0-9]{2}(?::?[0-9]{2})?)$"
COMMA = r"^-?(?:(?:0|[1-9][0-9]*)|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,[0-9]+)?$"
DOTTED = r"^(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4})$"
GROUPED = r"^-?(?:0|[1-9][0-9]{0,2}(?:\.[0-9]{3})*)$"
COMMAS = "decimal commas"


def typed_together(
    columns: list[pa.ChunkedArray], *, empty_is_gap: bool, commas: bool, decimal: str = ""
) -> list[tuple[pa.ChunkedArray, str]]:
    """Return each column in its type, with a note on anything unusual about it.

    Where one column has decimal commas, points that separate thousands in another are not decimal points.
    """
    found = [typed(column, empty_is_gap=empty_is_gap, commas=commas, decimal=decimal) for column in columns]
    if any(note == COMMAS for _, note in found):
        for place, column in enumerate(columns):
            if pa.types.is_floating(found[place][0].type) and (whole := _grouped_whole(column)) is not None:
                found[place] = (whole, "points between thousands, left out,")
    return found


def typed(
    column: pa.ChunkedArray, *, empty_is_gap: bool, commas: bool, decimal: str = ""
) -> tuple[pa.ChunkedArray, str]:
    """Return a text column in the first type that fits all its cells, and a note on anything unusual about it.

    `empty_is_gap` makes empty cells of columns that are not text missing; `commas` allows decimal commas, and `decimal`
    is the decimal sign if it is known.
    """
    if column.null_count == len(column):
        return column, ""
    number = _number_with_comma if decimal == "," else _number
    ways = [(way, "") for way in (_whole, number, _boolean, _date, _moment)]
    ways += [(_dotted_date, "dates with dots, written as ISO dates,")]
    ways += [(_comma_number, COMMAS)] if commas and not decimal else []
    beginning = _trimmed(column.slice(0, 1000), empty_is_gap)
    trimmed = None
    for converted, note in ways:
        if converted(beginning) is not None:
            trimmed = _trimmed(column, empty_is_gap) if trimmed is None else trimmed
            if trimmed.null_count < len(trimmed) and (result := converted(trimmed)) is not None:
                return result, note
    return column, ""


def fits(name: str, kind: pa.DataType) -> bool:
    """Return whether a name could be a cell of a column of this type."""
    own = typed(pa.chunked_array([pa.array([name])]), empty_is_gap=False, commas=True)[0].type
    return bool(own == kind or (pa.types.is_integer(own) and pa.types.is_floating(kind)))


def written_like(column: pa.ChunkedArray, cells: list[str]) -> pa.ChunkedArray:
    """Return dates, timestamps or numbers as text, in the notation of some of the cells they were read from.

    Examples
    --------
    >>> written_like(pa.chunked_array([pa.array([18690], pa.date32())]), ["31.12.1999"]).to_pylist()
    ['04.03.2021']
    """
    kind = column.type
    if pa.types.is_date(kind):
        dotted = any(re.fullmatch(DOTTED, cell.strip()) for cell in cells)
        return pc.strftime(column, "%d.%m.%Y") if dotted else column.cast(pa.string())
    if pa.types.is_timestamp(kind):
        joined = "T" if any("T" in cell for cell in cells) else " "
        seconds = _cast(column, pa.timestamp("s", kind.tz))
        zone = "%z" if kind.tz else ""
        return pc.strftime(column if seconds is None else seconds, f"%Y-%m-%d{joined}%H:%M:%S{zone}")
    comma = not any("." in cell for cell in cells) and any("," in cell for cell in cells)
    text = column.cast(pa.string())
    return pc.replace_substring(text, ".", ",") if comma else text


def _trimmed(column: pa.ChunkedArray, empty_is_gap: bool) -> pa.ChunkedArray:
    """Return the cells without surrounding spaces; one that is then empty was quoted, and is not a number."""
    trimmed = pc.ascii_trim(column, characters=BLANKS)
    if not empty_is_gap:
        return trimmed
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def _all(cells: pa.ChunkedArray, pattern: str) -> bool:
    """Return whether every cell that is not missing matches the pattern."""
    return bool(pc.all(pc.match_substring_regex(cells, pattern), min_count=0).as_py())


def _cast(cells: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    """Return the cells as this type, or None if one does not fit."""
    try:
        return cells.cast(kind)
    except pa.ArrowInvalid:
        return None


def _whole(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return integers that fit 64 bits."""
    return _cast(cells, pa.int64()) if _all(cells, WHOLE) else None


def _number(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return numbers, unless one is a long integer (a key, which rounding would change) or too large."""
    if not _all(cells, NUMBER) or pc.any(pc.match_substring_regex(cells, LONG)).as_py():
        return None
    if pc.all(pc.match_substring_regex(cells, "^[0-9]+[eE][0-9]+$")).as_py() and len(cells) > cells.null_count:
        return None  # 2E10 in every cell is a code
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
    """Return ISO timestamps, in microseconds if that is precise enough, in the time zone common to all."""
    for unit in ("us", "ns"):
        if (naive := _cast(cells, pa.timestamp(unit))) is not None:
            return naive
        if (zoned := _cast(cells, pa.timestamp(unit, "UTC"))) is not None:
            zones = pc.struct_field(pc.extract_regex(cells, ZONE), "zone").drop_null().unique().to_pylist()
            zone = zones[0].replace(":", "") if len(zones) == 1 and zones[0] != "Z" else ""
            return zoned.cast(pa.timestamp(unit, f"{zone[:3]}:{zone[3:] or '00'}" if zone else "UTC"))
    return None


def _dotted_date(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return dates written as day, month and year separated by dots."""
    if not _all(cells, DOTTED):
        return None
    parts = pc.extract_regex(cells, DOTTED)
    day, month, year = (pc.utf8_lpad(pc.struct_field(parts, part), 2, "0") for part in ("day", "month", "year"))
    return _cast(pc.binary_join_element_wise(year, month, day, "-"), pa.date32())


def _comma_number(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return numbers with decimal commas; at least one cell must have a comma."""
    if not _all(cells, COMMA) or not pc.any(pc.match_substring(cells, ",")).as_py():
        return None
    if _all(cells, r"^-?[0-9]{1,3}(?:,[0-9]{3})*$"):
        return None  # commas before three digits each time may as well set off thousands
    plain = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
    return _cast(plain, pa.float64())


def _number_with_comma(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return numbers whose decimal sign is known to be a comma."""
    points = pc.any(pc.match_substring(cells, ".")).as_py()
    return None if points else _number(pc.replace_substring(cells, ",", "."))


def _grouped_whole(cells: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return integers with points between thousands; at least one cell must have a point."""
    trimmed = pc.ascii_trim(cells, characters=BLANKS)
    if not _all(trimmed, GROUPED) or not pc.any(pc.match_substring(trimmed, ".")).as_py():
        return None
    return _cast(pc.replace_substring(trimmed, ".", ""), pa.int64())
