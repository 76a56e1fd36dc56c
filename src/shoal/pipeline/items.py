"""A set column of a table: its sets are reshuffled within the groups of rows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from shoal.certify.released import is_text
from shoal.errors import InfeasibleError, WriteError
from shoal.io.item_columns import from_list_column
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.policy import MOST_KNOWN, SEPARATOR, Policy
from shoal.model.release import Change
from shoal.model.sentences import Sentence
from shoal.model.table import Table
from shoal.recode.table import Recoded

MULTIPLE = 10  # minimum rows of a group, as a multiple of k, if the policy does not say


def grouped(policy: Policy, n: int) -> Policy:
    """Return the policy with a k large enough for a set column to keep some of its items."""
    names = policy.names("items")
    if not names:
        return policy
    k, wanted = policy.constraints.k, policy.columns[names[0]].group
    if wanted is not None and wanted > n:
        raise InfeasibleError(
            f"cluster: column {names[0]!r} requires groups of {wanted} rows, but there are only {n}. Lower `group`."
        )
    least = max(k, min(wanted or MULTIPLE * k, n))
    return policy.model_copy(update={"constraints": policy.constraints.model_copy(update={"k": least})})


def exchange_items(
    table: Table, recoded: Recoded, partition: Partition, policy: Policy
) -> tuple[Recoded, tuple[Finding, ...]]:
    """Reshuffle the items of a set column within each group; also return findings of what was lost.

    `recoded` has the original sets; the new ones keep the type of the column.
    """
    names = policy.names("items")
    if not names:
        return recoded, ()
    from shoal.transactions.reassociation.inside import exchanged

    name, asked = names[0], policy.constraints
    column, separator = table.column(name), policy.columns[name].separator or SEPARATOR
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
        Change(name, "items", "reshuffled", partition.n, 0, 0) if change.column == name else change
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
    """Return a released table as it is written: in a text file, lists of items are text with the policy's separator."""
    for name in policy.names("items") if is_text(format) else ():
        column, separator = data.column(name), policy.columns[name].separator or SEPARATOR
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            continue
        cells = column.cast(pa.list_(pa.string())).to_pylist()
        inside = sum(separator in word for cell in cells for word in cell or ())
        if inside:
            raise WriteError(
                f"write: {inside} items of column {name!r} contain the separator {separator!r}. Set another one in the "
                "policy, or choose the format parquet."
            )
        text = pa.array([separator.join(cell or ()) for cell in cells], pa.string())
        data = data.set_column(data.column_names.index(name), name, pa.chunked_array([text]))
    return data
