"""Information loss: how far the rows are from what is published of them."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.release import Change
from shoal.privacy.models import classes
from shoal.privacy.values import quasi_columns, read_column

__all__ = ["class_sizes", "kept_uniques", "ledger_share", "partition_loss", "sse", "sst"]

Matrix = NDArray[np.float64]


def sse(X: Matrix, labels: NDArray[np.int64]) -> float:
    """Return the sum of squared distances of the rows to the means of their groups."""
    sizes = np.bincount(labels)
    total = 0.0
    for column in X.T:
        away = column - (np.bincount(labels, column) / sizes)[labels]
        total += float(away @ away)
    return total


def sst(X: Matrix) -> float:
    """Return the sum of squared distances of the rows to the mean of all."""
    away = X - X.mean(axis=0)
    return float(np.einsum("ij,ij->", away, away))


def partition_loss(X: Matrix, partition: Partition) -> tuple[Finding, ...]:
    """Measure SSE, SST and IL = 100 SSE/SST on the standardised columns; IL is 0 where all rows are equal."""
    within, whole = sse(X, partition.labels), sst(X)
    loss = 100 * within / whole if whole > 0 else 0.0
    return (
        Finding("partition SSE", within, "squared distances to the group means, standardised columns", "groups"),
        Finding("partition SST", whole, "squared distances to the mean of all rows", "groups"),
        Finding("information loss %", loss, "100 SSE/SST", "groups"),
    )


def class_sizes(data: pa.Table, policy: Policy) -> tuple[Finding, ...]:
    """Count the classes of a release and their rows."""
    sizes = np.bincount(classes([column.codes for column in quasi_columns(data, policy)], data.num_rows))
    return (
        Finding("classes", float(sizes.size), "rows alike in every quasi-identifier", "release"),
        Finding("smallest class", float(sizes.min()), "rows", "release"),
        Finding("mean class", float(sizes.mean()), "rows", "release"),
        Finding("largest class", float(sizes.max()), "rows", "release"),
    )


def kept_uniques(data: pa.Table, policy: Policy) -> tuple[Finding, ...]:
    """Count the rows that are alone in what is published as it is: sensitive and kept columns together."""
    names = [*policy.names("sensitive"), *policy.names("keep")]
    if not names:
        return ()
    labels = classes([read_column(data.column(name)).codes for name in names], data.num_rows)
    alone = float((np.bincount(labels) == 1).mean() * np.bincount(labels).size / data.num_rows * 100)
    return (Finding("rows unique in unchanged columns %", alone, "sensitive and kept columns together", "release"),)


def ledger_share(ledger: tuple[Change, ...], n: int) -> tuple[Finding, ...]:
    """Measure the share of quasi-identifier cells that are not what they were."""
    lines = [line for line in ledger if line.role == "quasi"]
    touched = sum(line.changed + line.filled + line.emptied for line in lines)
    return (Finding("cells changed %", 100 * touched / (n * len(lines)), "of the quasi-identifiers", "pair"),)
