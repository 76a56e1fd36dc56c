"""Transactions: records that are sets of items, in two flat arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from shoal.errors import counted


@dataclass(frozen=True, eq=False)
class Transactions:
    """Records, each a set of at least one item, in compressed sparse row form."""

    indptr: NDArray[np.int64]  # where the items of each record begin and end, of shape (n + 1,)
    items: NDArray[np.int32]  # item numbers, ascending and distinct within a record
    labels: tuple[str, ...] = field(repr=False)  # of each number, by `in_order`, so that equal data have equal numbers
    rows: NDArray[np.int64]  # the input record behind each record: inputs without items are dropped
    inputs: int  # records read, including empty ones
    repeated: int = 0  # duplicate items that were dropped
    notes: tuple[str, ...] = ()  # what was taken for records and items, where that was not specified

    @classmethod
    def of(cls, records: Iterable[Iterable[str]]) -> "Transactions":
        """Convert a small collection of records of labels, as in tests and notebooks."""
        given = [list(record) for record in records]
        labels = in_order({item for record in given for item in record})
        number = {label: place for place, label in enumerate(labels)}
        sets = [sorted({number[item] for item in record}) for record in given]
        rows = [row for row, record in enumerate(sets) if record]
        indptr = np.cumsum([0, *(len(sets[row]) for row in rows)], dtype=np.int64)
        items = np.array([item for row in rows for item in sets[row]], np.int32)
        repeated = sum(map(len, given)) - items.size
        return cls(indptr, items, labels, np.array(rows, np.int64), len(given), repeated)

    @property
    def n(self) -> int:
        """The number of records that have items."""
        return self.indptr.size - 1

    @property
    def empty(self) -> int:
        """The number of records that had no items."""
        return self.inputs - self.n

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of items of each record."""
        return np.diff(self.indptr)

    @property
    def supports(self) -> NDArray[np.int64]:
        """The number of records that contain each item."""
        return np.bincount(self.items, minlength=len(self.labels)).astype(np.int64)

    def records(self) -> list[list[str]]:
        """Return the records as lists of labels."""
        cuts = self.indptr.tolist()
        items = self.items.tolist()
        return [[self.labels[item] for item in items[a:b]] for a, b in pairwise(cuts)]

    def __repr__(self) -> str:
        """Describe the data by figures, never by items."""
        size = f"{counted(self.n, 'record')}, {counted(len(self.labels), 'item')}"
        return f"<Transactions: {size}, {counted(self.items.size, 'occurrence')}>"


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels sorted: as integers if all of them are, else by their UTF-8 bytes."""
    every: Sequence[str] = list(labels)
    if all(_is_whole(label) for label in every):
        return tuple(sorted(every, key=int))
    return tuple(sorted(every, key=lambda label: label.encode("utf-8", "surrogatepass")))


def _is_whole(label: str) -> bool:
    """Return whether a label is an integer as Python would write it."""
    digits = label.removeprefix("-")
    return len(label) < 19 and digits.isascii() and digits.isdigit() and str(int(label)) == label
