"""Where the cells of a release contradict its policy.

Readers rely on the kinds, forms and steps that a policy states, and a schema can carry text of its own. So types must
be plain, columns of numbers or dates must contain nothing else, and rounded numbers must be multiples of the step that
the policy states. Columns so nearly unique that `anonymize` would refuse to publish them fail as well.
"""

import re
from collections.abc import Iterator
from zoneinfo import available_timezones

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.certify.checked import Line
from shoal.errors import listed
from shoal.model.exposure import stands_out
from shoal.model.options import UNIQUE_KEPT
from shoal.model.policy import TRUTHFUL_FORMS, Column, Policy

SLACK = 1e-6  # of a step
PRECISION = {pa.float16(): -10, pa.float32(): -23}  # powers of two: twice the relative rounding error
NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
DAY = r"^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$"
MIDNIGHT = r"00:00(:00([.]0*)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?"
RANGE = r"^'?[0-9eE.+:TZ *–-]+( or missing)?$"  # of numbers or dates: it cannot contain a word
WRITTEN = {"numeric": NUMBER, "date": DAY}
WORDS = {"numeric": "numbers", "date": "dates"}
types = pa.types
NUMBERS = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean, types.is_null)
DATES = (types.is_date, types.is_timestamp, types.is_null)
PLAIN = (*NUMBERS, *DATES, types.is_time)
SUITING = {"numeric": NUMBERS, "date": DATES}


def contradicted(data: pa.Table, policy: Policy) -> Iterator[Line]:
    """Yield a failing line for each contradiction between the policy and the cells, without spreadsheet guards."""
    # The field names of structs show in their cells, unless all cells of a column are missing.
    cells = dict(zip(data.column_names, data.columns, strict=True))  # a lookup by name in a table is linear
    empty = {name for name, column in cells.items() if column.null_count == data.num_rows}
    unexpected = [name for name, column in cells.items() if not _plain(column.type, named=name not in empty)]
    if unexpected:
        yield Line("types", "plain ones only", f"others in {listed(unexpected)}", holds=False)
    for name in policy.names("quasi"):
        if name in cells and not unexpected and (fault := _against(cells[name], policy.columns[name])):
            yield Line(f"column {name!r}", "as its policy says", fault, holds=False)
    names = [name for name in (*policy.names("sensitive"), *policy.names("keep")) if name in cells]
    if (
        names
        and not unexpected
        and UNIQUE_KEPT not in policy.accept
        and stands_out(_alone([cells[name] for name in names]), data.num_rows)
    ):
        yield Line(
            "unchanged columns", "few unique rows", "too many, and the policy does not accept unique-kept", holds=False
        )


def _plain(kind: pa.DataType, *, named: bool) -> bool:
    """Return whether a type carries no text of its own: only real time zones, and field names only if `named`."""
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type, named=named)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        offset = kind.tz.replace(":", "")
        return kind.tz in available_timezones() or (offset[:1] in "+-" and offset[1:].isdigit() and len(offset) == 5)
    if pa.types.is_nested(kind):
        inner = [kind.field(place) for place in range(kind.num_fields)]
        lists = all(field.name in ("item", "element") for field in inner)
        return (named or lists) and all(_plain(field.type, named=named) for field in inner)
    return True


def _against(cells: pa.ChunkedArray, given: Column) -> str:
    """Say what is wrong with the cells of a quasi-identifier; an empty string if nothing is."""
    if given.step is not None and given.kind not in ("numeric", "date"):
        return "a step, though it has no numbers or dates"
    cells = cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
    if wrong := _unsuited(cells, given):
        return wrong
    if given.form not in ("mean", "median", "representative") or given.kind not in ("numeric", "date"):
        return ""
    if given.step is None:
        return (
            "no step, though its values are rounded" if pc.count_distinct(cells, mode="only_valid").as_py() > 1 else ""
        )
    if given.form == "representative":
        return ""
    near = _are_multiples(cells, given.step) if given.kind == "numeric" else _are_steps_of_days(cells, given.step)
    return "" if near else f"{WORDS[given.kind]} that are not multiples of its step"


def _unsuited(cells: pa.ChunkedArray, given: Column) -> str:
    """Say whether cells have a type or notation that their kind and form do not allow."""
    text, truthful = _is_text(cells.type), given.form in TRUTHFUL_FORMS
    if not text and (truthful or not any(suits(cells.type) for suits in SUITING.get(given.kind or "", PLAIN))):
        return "a type that does not suit its kind and form"
    wanted = RANGE if given.form == "range" else None if truthful else WRITTEN.get(given.kind or "")
    if not text or wanted is None or given.kind not in WORDS:
        return ""
    if pc.all(pc.match_substring_regex(cells, wanted)).as_py() is not False:
        return ""
    return f"cells that are not {'ranges of ' * truthful}{WORDS[given.kind]}"


def _is_text(kind: pa.DataType) -> bool:
    """Return whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _are_multiples(cells: pa.ChunkedArray, step: float) -> bool:
    """Return whether numbers are multiples of a step, to the precision of their type."""
    times = pc.divide(cells.cast(pa.float64(), safe=False), step)
    precision = 2.0 ** PRECISION.get(cells.type, -51)
    slack = pc.add(pc.multiply(pc.abs(times), precision), SLACK)
    near = pc.less(pc.abs(pc.subtract(times, pc.round(times))), slack)
    return pc.all(near).as_py() is not False


def _are_steps_of_days(cells: pa.ChunkedArray, step: float) -> bool:
    """Return whether dates and starts of days are multiples of a step in days, counted from 1970."""
    if pa.types.is_timestamp(cells.type):
        moments = pc.local_timestamp(cells) if cells.type.tz else cells
        cells = moments.cast(pa.date32(), safe=False)
        if pc.any(pc.not_equal(cells.cast(moments.type), moments)).as_py():
            return False
    texts = cells.unique().drop_null().cast(pa.string()).to_pylist()
    parts = [re.split("[ T]", text, maxsplit=1) for text in texts]
    if any(len(part) > 1 and not re.fullmatch(MIDNIGHT, part[1]) for part in parts):
        return False
    try:
        days = np.array([np.datetime64(part[0], "D").astype(np.int64) for part in parts], np.int64)
    except ValueError:  # not a calendar day; not quoted
        return False
    return not (days % max(1, round(step))).any()


def _alone(columns: list[pa.ChunkedArray]) -> int:
    """Return how many rows are unique in these columns together."""
    cells = {str(place): _comparable(column) for place, column in enumerate(columns)}
    counts = pa.table(cells).group_by(list(cells)).aggregate([([], "count_all")]).column("count_all")
    return int(pc.sum(pc.equal(counts, 1)).as_py() or 0)


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells in a type that Arrow can count."""
    kind = column.type
    if not pa.types.is_nested(kind):
        binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
        return column if binary else column.cast(pa.string())
    return pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
