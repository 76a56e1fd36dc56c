"""A set column of a table: its sets are put together anew inside the groups of the rows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.errors import InfeasibleError, WriteError
from shoal.io.item_columns import from_list_column
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.policy import MOST_KNOWN, Policy
from shoal.model.release import Change
from shoal.model.sentences import Sentence
from shoal.model.table import Table
from shoal.recode.table import Recoded

__all__ = ["exchange_items", "grouped", "spelt"]

ROOM = 10  # times k: rows of a group at the least, if the policy does not say


def grouped(policy: Policy, n: int) -> Policy:
    """Return the policy with the k that groups must have, so that a set column keeps some of its items."""
    names = policy.names("items")
    if not names:
        return policy
    k, wanted = policy.constraints.k, policy.columns[names[0]].group
    if wanted is not None and wanted > n:
        raise InfeasibleError(
            f"cluster: column {names[0]!r} asks for groups of {wanted} rows, and there are {n} rows. Lower `group`."
        )
    least = max(k, min(wanted or ROOM * k, n))
    return policy.model_copy(update={"constraints": policy.constraints.model_copy(update={"k": least})})


def exchange_items(
    table: Table, recoded: Recoded, partition: Partition, policy: Policy
) -> tuple[Recoded, tuple[Finding, ...]]:
    """Put the sets of a column together anew inside each group.

    Parameters
    ----------
    table : Table
        Arranged.
    recoded : Recoded
        With the sets as they are.
    partition : Partition
        Of the rows.
    policy : Policy
        With every column named.

    Returns
    -------
    recoded : Recoded
        With other sets, in the type that the column had.
    findings : tuple of Finding
        What was lost by it.
    """
    names = policy.names("items")
    if not names:
        return recoded, ()
    from shoal.transactions.reassociation.inside import exchanged

    name, asked = names[0], policy.constraints
    column, separator = table.column(name), policy.columns[name].separator or "|"
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    data = from_list_column(column, f"column {name!r}", separator if text else None)
    rows, items = exchanged(data, partition.labels, asked.k, asked.m or MOST_KNOWN, policy.start)
    ends = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=partition.n))))
    words = pa.array(data.labels, pa.string()).take(pa.array(items))
    sets: pa.Array = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), words)
    if text:
        sets = pa.array([separator.join(cell) for cell in sets.to_pylist()], column.type)
    elif sets.type != column.type:
        sets = pa.array(sets.to_pylist(), pa.list_(pa.string())).cast(column.type)
    place = recoded.data.column_names.index(name)
    released = recoded.data.set_column(place, name, pa.chunked_array([sets]))
    ledger = tuple(
        Change(name, "items", "put together anew", partition.n, 0, 0) if change.column == name else change
        for change in recoded.ledger
    )
    kept = 100.0 * items.size / max(1, data.items.size)
    used = 100.0 * np.unique(items).size / max(1, len(data.labels))
    findings = (
        Finding(
            "items kept %", kept, Sentence("of the items of all sets of column {name!r}", name=name), "pair", unit="%"
        ),
        Finding("different items kept %", used, Sentence("of those of column {name!r}", name=name), "pair", unit="%"),
    )
    return replace(recoded, data=released, ledger=ledger), findings


def spelt(data: pa.Table, policy: Policy, format: str) -> pa.Table:  # noqa: A002
    """Return a released table as it is written: in a CSV file, lists of items are text with the policy's separator."""
    for name in policy.names("items") if format.startswith("csv") else ():
        column, separator = data.column(name), policy.columns[name].separator or "|"
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            continue
        cells = column.cast(pa.list_(pa.string())).to_pylist()
        inside = sum(separator in word for cell in cells for word in cell or ())
        if inside:
            raise WriteError(
                f"write: {inside} items of column {name!r} hold the separator {separator!r}. Name another one in the "
                "policy, or choose the format parquet."
            )
        text = pa.array([separator.join(cell or ()) for cell in cells], pa.string())
        data = data.set_column(data.column_names.index(name), name, pa.chunked_array([text]))
    return data
