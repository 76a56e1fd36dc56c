"""Count the itemsets of sets, level by level: how often each set of at most m items occurs.

1. Sets belong to owners (the chunks of a release; all records of plain data belong to one). Itemsets are counted
   separately for each owner.
2. Each itemset of j items keeps the sets that contain it. Each such set offers its later items: together they
   are the itemsets of j + 1 items, counted by sorting or, where they are dense, in a table.
3. Itemsets are processed in blocks, so that memory does not grow with their number.

No bitsets and no compiled loops: the code that makes releases counts in another way.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError

BLOCK = 1 << 19  # occurrences processed together: they fit into the processor's cache
MOST_STEPS = 4e8  # most occurrences that are counted

Ints = NDArray[np.int64]


class Family(NamedTuple):
    """Sets of items with owners and weights.

    `place` numbers the items of an owner from 0; `domain` has the item of each place, and `first` says where the domain
    of an owner begins.
    """

    ptr: Ints
    place: Ints
    owner: Ints
    weight: Ints
    domain: Ints
    first: Ints


class Counted(NamedTuple):
    """Itemsets of one size: a row of items each, the owner, and the weight of the sets that contain it."""

    sets: Ints
    owner: Ints
    support: Ints


class _Level(NamedTuple):
    """Itemsets with the sets that contain them; the occurrences of one itemset are adjacent, as `itemset` says.

    From `after` to `end` are the items of a set that are later than those of the itemset.
    """

    sets: Ints
    owner: Ints
    itemset: Ints
    after: Ints
    end: Ints
    weight: Ints


def family(ptr: Ints, items: NDArray[np.integer], owner: Ints, weight: Ints, n_items: int) -> Family:
    """Return sets of items in the form in which they are counted.

    Items may be in any order; one that occurs twice in a set counts once. Owners ascend from 0, one per set.
    """
    number = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    pairs = number * n_items + items
    if not (np.diff(pairs) > 0).all():
        pairs = np.unique(pairs)
        number = pairs // n_items
    lengths = np.bincount(number, minlength=ptr.size - 1)
    held, place = np.unique(owner[number] * n_items + pairs % n_items, return_inverse=True)
    owners = int(owner[-1]) + 1 if owner.size else 0
    first = np.searchsorted(held // n_items, np.arange(owners + 1))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return Family(ends, place - first[owner[number]], owner, weight, held % n_items, first)


def steps(lengths: Ints, m: int) -> NDArray[np.float64]:
    """Return how many itemsets of at most m items sets of these lengths have; infinite if far too many."""
    found, place = np.unique(lengths, return_inverse=True)
    return np.array([_subsets(length, m) for length in found.tolist()], np.float64)[place]


def itemsets(given: Family, m: int) -> Iterator[Counted]:
    """Count every itemset of at most m items that occurs, in blocks of one size each.

    Blocks of one size come in lexicographic order of owner and items. Time grows with the occurrences of itemsets, up
    to a logarithm; InfeasibleError is raised if there are far too many. Memory is that of some m blocks.
    """
    total = float(steps(np.diff(given.ptr), m).sum())
    if total > MOST_STEPS:
        raise InfeasibleError(
            f"verify: itemsets of at most m={m} items occur some {total:.0e} times; at most {MOST_STEPS:.0e} "
            "are counted. Lower m, or split long records."
        )
    owners = given.first.size - 1
    start = _Level(
        np.empty((owners, 0), np.int64), np.arange(owners), given.owner, given.ptr[:-1], given.ptr[1:], given.weight
    )
    yield from _deeper(given, start, m)


def _subsets(length: int, m: int) -> float:
    """Return the number of non-empty subsets of at most m elements of a set."""
    total = 0.0
    for size in range(1, min(length, m) + 1):
        total += math.comb(length, size)
        if total > MOST_STEPS:
            return math.inf
    return total


def _deeper(given: Family, level: _Level, m: int) -> Iterator[Counted]:
    """Count the itemsets that are one item longer than those of a level, and then longer ones."""
    size = level.sets.shape[1] + 1
    for part in _blocks(level):
        counted, longer = _extended(given, part, last=size == m)
        if counted.support.size:
            yield counted
            if longer is not None:
                yield from _deeper(given, longer, m)


def _blocks(level: _Level) -> Iterator[_Level]:
    """Cut a level into blocks of itemsets that can be extended together."""
    n = level.owner.size
    work = np.cumsum(np.bincount(level.itemset, level.end - level.after, minlength=n))
    low = 0
    while low < n:
        before = work[low - 1] if low else 0.0
        high = max(low + 1, int(np.searchsorted(work, before + BLOCK, side="right")))
        a, b = np.searchsorted(level.itemset, (low, high))
        yield _Level(
            level.sets[low:high],
            level.owner[low:high],
            level.itemset[a:b] - low,
            level.after[a:b],
            level.end[a:b],
            level.weight[a:b],
        )
        low = high


def _extended(given: Family, level: _Level, *, last: bool) -> tuple[Counted, _Level | None]:
    """Extend each itemset of a block by each later item of the sets that contain it."""
    lengths = level.end - level.after
    total = int(lengths.sum())
    starts = np.cumsum(lengths) - lengths
    where = np.arange(total) + np.repeat(level.after - starts, lengths)
    place = given.place[where]
    width = int(place.max()) + 1 if total else 1
    key = np.repeat(level.itemset * width, lengths) + place
    weight = np.repeat(level.weight, lengths)
    if last and level.owner.size * width <= 8 * total:
        table = np.bincount(key, weight)
        found = np.flatnonzero(table)
        support = table[found].astype(np.int64)
        return _named(given, level, found, width, support), None
    order = np.argsort(key, kind="stable")
    key = key[order]
    turns = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if total else np.empty(0, np.int64)
    found, weight = key[turns], weight[order]
    support = np.add.reduceat(weight, turns) if total else np.empty(0, np.int64)
    counted = _named(given, level, found, width, support)
    if last:
        return counted, None
    itemset = np.repeat(np.arange(turns.size), np.diff(np.append(turns, total)))
    end = np.repeat(level.end, lengths)[order]
    return counted, _Level(counted.sets, counted.owner, itemset, where[order] + 1, end, weight)


def _named(given: Family, level: _Level, found: Ints, width: int, support: Ints) -> Counted:
    """Return itemsets by their items."""
    parent, place = np.divmod(found, width)
    owner = level.owner[parent]
    item = given.domain[given.first[owner] + place]
    return Counted(np.column_stack([level.sets[parent], item]), owner, support)
