"""Dates and numbers stored as text in a frame, a Parquet or a Feather file, read as in a CSV file.

As categories, dates and amounts would be lost: few rows share one, and what few rows share is not published. So a text
column that may be a quasi-identifier is read by `csv_types` if

- all its values are dates or timestamps, or
- all its values are numbers, too many to be categories: more than 20; or the policy calls it numeric.

Columns with another role, another kind, levels or a hierarchy stay text, and so do categories.
"""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from shoal.catalogue import formats
from shoal.io.csv_types import BLANKS, typed
from shoal.io.files import read
from shoal.model.policy import Column, Policy
from shoal.model.table import Table

FEW = 20  # numbers as text that may be categories: grades, districts


def read_for(source: Any, policy: Policy) -> Table:
    """Read a file or a frame as a policy says (missing values, header), converting dates and numbers stored as text."""
    return with_types(read(source, policy.null_words, header=policy.header), policy)


def with_types(table: Table, policy: Policy) -> Table:
    """Return a table with dates and numbers stored as text converted, and a note for each such column.

    Examples
    --------
    >>> table = with_types(Table.of(pa.table({"born": ["2021-03-04", None]})), Policy.of(k=2))
    >>> table.column("born").type, table.origin.notes
    (DataType(date32[day]), ("text read as dates in column 'born' (kind nominal keeps text)",))
    """
    if table.origin.format != "frame" and formats.declared(table.origin.format, "text"):
        return table
    data, notes = table.data, []
    for place, name in enumerate(table.names):
        given = policy.columns.get(name) or Column()
        if not _may_be_typed(table, name, given):
            continue
        found = _read(data.column(name), policy, given)
        if found is not None:
            data = data.set_column(place, name, found)
            what = "dates" if pa.types.is_temporal(found.type) else "numbers"
            notes.append(f"text read as {what} in column {name!r} (kind nominal keeps text)")
    if not notes:
        return table
    return replace(table, data=data, origin=replace(table.origin, notes=(*table.origin.notes, *notes)))


def _may_be_typed(table: Table, name: str, given: Column) -> bool:
    """Whether a column is text that may be a quasi-identifier, and the policy says nothing that needs its text."""
    held = table.column(name).type
    text = pa.types.is_string(held) or pa.types.is_large_string(held)
    open_ = given.role == "quasi" and given.kind in (None, "date", "numeric")
    return text and open_ and name not in table.categorical and given.order is None and given.hierarchy is None


def _read(column: pa.ChunkedArray, policy: Policy, given: Column) -> pa.ChunkedArray | None:
    """Return text as dates or numbers, or None if some cell is neither."""
    cells = column.cast(pa.string())
    codes = [code for code in given.missing_codes if isinstance(code, str)]
    words = pa.array([*policy.null_words, *codes], pa.string())
    gaps = pc.is_in(pc.ascii_trim(cells, characters=BLANKS), words)
    cells = pc.if_else(gaps, pa.scalar(None, pa.string()), cells)
    found, _ = typed(cells, empty_is_gap=True, commas=True)
    if pa.types.is_temporal(found.type):
        return found if given.kind in (None, "date") else None
    if not (pa.types.is_integer(found.type) or pa.types.is_floating(found.type)) or given.kind == "date":
        return None
    many = given.kind == "numeric" or len(pc.unique(found.drop_null())) > FEW
    return found if many else None
