"""What the cells of a release say against its policy.

A policy states kinds, forms and steps that a reader relies on, and a schema can carry text of its own. So types must be
plain, numbers and dates must be numbers and dates, rounded numbers multiples of a step that the policy states, and a
policy under which `anonymize` would refuse to publish nearly unique columns does not hold.
"""

from collections.abc import Iterator
from zoneinfo import available_timezones

import pyarrow as pa
import pyarrow.compute as pc

from shoal.certify.checked import Line
from shoal.errors import listed
from shoal.model.exposure import stands_out
from shoal.model.policy import Column, Policy

__all__ = ["contradicted"]

SLACK = 1e-6  # of a step
PRECISION = {pa.float16(): -10, pa.float32(): -23}  # powers of two: twice the relative rounding error
NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
DAY = r"^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}([ T].*)?$"


def contradicted(data: pa.Table, policy: Policy) -> Iterator[Line]:
    """Return a line for each thing that the cells say against the policy; none if there is nothing.

    Parameters
    ----------
    data : pyarrow.Table
        The released cells, without what guards spreadsheets.
    policy : Policy
    """
    # The names of fields are seen in the cells, if there are any.
    cells = dict(zip(data.column_names, data.columns, strict=True))  # a table looks for a name among all of them
    empty = {name for name, column in cells.items() if column.null_count == data.num_rows}
    strange = [name for name, column in cells.items() if not _plain(column.type, named=name not in empty)]
    if strange:
        yield Line("types", "plain ones", f"others, of {listed(strange)}", holds=False)
    other = [name for name in policy.names("quasi") if name in cells and not strange]
    for name in other:
        said = _against(cells[name], policy.columns[name])
        if said:
            yield Line(f"column {name!r}", "as its policy says", said, holds=False)
    names = [name for name in (*policy.names("sensitive"), *policy.names("keep")) if name in cells]
    if names and not strange and "unique-kept" not in policy.accept and stands_out(_alone(data, names), data.num_rows):
        yield Line("unchanged columns", "few unique rows", "too many, and not accepted by name", holds=False)


def _plain(kind: pa.DataType, *, named: bool) -> bool:
    """Say whether a type carries no text of its own: no zones that are none, and names of fields only if `named`."""
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
    """Say what is wrong with the cells of a quasi-identifier, or nothing."""
    if given.step is not None and given.kind not in ("numeric", "date"):
        return "a step without numbers"
    if given.form not in ("mean", "median", "representative") or given.kind not in ("numeric", "date"):
        return ""
    text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    if text:
        wanted = NUMBER if given.kind == "numeric" else DAY
        fits = pc.all(pc.match_substring_regex(cells, wanted)).as_py()
        if fits is False:
            return f"cells that are no {'numbers' if given.kind == 'numeric' else 'dates'}"
    if given.step is None:
        return "rounded values without a step" if pc.count_distinct(cells, mode="only_valid").as_py() > 1 else ""
    if given.form == "representative" or given.kind == "date":
        return ""
    times = pc.divide(cells.cast(pa.float64(), safe=False), given.step)
    precision = 2.0 ** PRECISION.get(cells.type, -51)
    slack = pc.add(pc.multiply(pc.abs(times), precision), SLACK)
    near = pc.less(pc.abs(pc.subtract(times, pc.round(times))), slack)
    return "" if pc.all(near).as_py() is not False else "numbers that are no multiples of its step"


def _alone(data: pa.Table, names: list[str]) -> int:
    """Return how many rows are unique in some columns together."""
    cells = {
        str(place): column.cast(pa.string()) if not pa.types.is_nested(column.type) else _texts(column)
        for place, column in enumerate(data.column(name) for name in names)
    }
    counts = pa.table(cells).group_by(list(cells)).aggregate([([], "count_all")]).column("count_all")
    return int(pc.sum(pc.equal(counts, 1)).as_py() or 0)


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists as text."""
    return pa.chunked_array([pa.array([None if cell is None else repr(cell) for cell in column.to_pylist()])])
