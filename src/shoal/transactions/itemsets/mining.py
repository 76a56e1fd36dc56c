"""Mining: frequent itemsets, their supports, and the association rules between them.

Itemsets are found by `eclat`. A rule takes one item out of a frequent itemset: the rest is frequent as well, so its
support is known and only has to be looked up. Results are refused beyond some millions of itemsets.

Agrawal, Imielinski and Swami, Mining association rules between sets of items in large databases, SIGMOD 1993.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError, shortened
from shoal.kernels.loops import inner_loop, loop
from shoal.model.transactions import Transactions
from shoal.transactions.itemsets.eclat import Ints, Itemsets, Longs, grown

__all__ = ["Itemsets", "Rule", "frequent_itemsets", "itemset_supports", "pair_supports", "rules", "triple_supports"]

MOST_ITEMSETS = 5_000_000


@dataclass(frozen=True)
class Rule:
    """Most records that hold the antecedent (item numbers, ascending) hold the consequent too.

    `support` is the number of records that hold all these items, `confidence` their share among the records that hold
    the antecedent, `lift` that share relative to the consequent's share among all records.
    """

    antecedent: tuple[int, ...]
    consequent: int
    support: int
    confidence: float
    lift: float


def frequent_itemsets(
    data: Transactions, support: float, *, most: int | None = None, longest: int | None = None
) -> Itemsets:
    """Find all itemsets held by at least `support` records (a whole number) or that share of them (a float).

    The share is above 0 and at most 1.0, so 1 means one record and 1.0 all of them. Itemsets are ordered by size, then
    support, the highest first, then item numbers; with `most`, by support before size. `longest` limits their size.
    Costs as of `eclat.grown`.

    Examples
    --------
    >>> data = Transactions.of([["a", "b"], ["a", "b", "c"], ["a"]])
    >>> found = frequent_itemsets(data, 2)
    >>> found.tuples(), found.supports.tolist()
    ([(0,), (1,), (0, 1)], [3, 2, 2])
    """
    least = _least(support, data.n)
    for name, value in (("most", most), ("longest", longest)):
        if value is not None and value < 1:
            raise MethodError(f"mining: {name} must be a whole number of at least 1; got {value}.")
    found = grown(data, least, longest, MOST_ITEMSETS)
    order = _canonical(found, by_support=most is not None)[:most]
    sizes = found.sizes[order]
    indptr = np.zeros(order.size + 1, np.int64)
    np.cumsum(sizes, out=indptr[1:])
    places = np.repeat(found.indptr[order] - indptr[:-1], sizes) + np.arange(indptr[-1])
    return Itemsets(indptr, found.items[places], found.supports[order])


def pair_supports(data: Transactions) -> tuple[Ints, Longs]:
    """Return all pairs of items that occur, in lexicographic order, shape (p, 2), and their supports.

    Takes O(sum of squared record lengths + p log p) time and O(p) memory.

    Examples
    --------
    >>> pairs, supports = pair_supports(Transactions.of([["a", "b"], ["a", "b", "c"]]))
    >>> pairs.tolist(), supports.tolist()
    ([[0, 1], [0, 2], [1, 2]], [2, 1, 1])
    """
    return _of_size(data, 1, 2)


def triple_supports(data: Transactions, least: float) -> tuple[Ints, Longs]:
    """Return the frequent triples of items in lexicographic order, shape (p, 3), and their supports.

    `least` is a number or share of records as in `frequent_itemsets`. O(sum of cubed record lengths) time at worst,
    O(p) memory.
    """
    return _of_size(data, _least(least, data.n), 3)


def itemset_supports(data: Transactions, itemsets: Sequence[Any] | NDArray[Any] | Itemsets) -> Longs:
    """Count the records that hold each itemset; -1 stands for an item that the data do not contain.

    Items may come in any order; all records hold the empty itemset. O(i s log r) time for i items in all itemsets, s
    the support of the rarest in its set, r the length of a record.

    Examples
    --------
    >>> data = Transactions.of([["a", "b"], ["a", "b", "c"], ["a"]])
    >>> itemset_supports(data, [[0, 1], [2], [], [0, -1]]).tolist()
    [2, 1, 3, 0]
    """
    if isinstance(itemsets, Itemsets):
        items, indptr = itemsets.items, itemsets.indptr
    elif isinstance(itemsets, np.ndarray) and itemsets.ndim == 2:
        items = itemsets.astype(np.int32).reshape(-1)
        indptr = np.arange(len(itemsets) + 1, dtype=np.int64) * itemsets.shape[1]
    else:
        parts = [np.asarray(itemset, np.int32).reshape(-1) for itemset in itemsets]
        items = np.concatenate([*parts, np.empty(0, np.int32)])
        indptr = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
    if items.size and not (items.min() >= -1 and items.max() < len(data.labels)):
        raise MethodError(
            f"mining: an item number lies outside 0 to {len(data.labels) - 1}, the items of the data. Number the items "
            "of the itemsets by the labels of these data, and those that they lack by -1."
        )
    supports = data.supports
    holders = np.repeat(np.arange(data.n, dtype=np.int64), data.lengths)[np.argsort(data.items, kind="stable")]
    starts = np.zeros(supports.size + 1, np.int64)
    np.cumsum(supports, out=starts[1:])
    return _counted(data.indptr, data.items, holders, starts, items, indptr)


def rules(data: Transactions, support: float = 0.001, confidence: float = 0.8, most: int | None = 50) -> list[Rule]:
    """Find the rules with a single item as consequent and a non-empty antecedent.

    They are ordered by support, then confidence, the highest first, then antecedent and consequent; `most` keeps the
    first ones. `support` is as in `frequent_itemsets`. Costs as there, plus O(i log f) for i items in all f frequent
    itemsets.

    Examples
    --------
    >>> rules(Transactions.of([["a", "b"], ["a", "b"], ["a"], ["c"]]), 2, 0.8)
    [Rule(antecedent=(1,), consequent=0, support=2, confidence=1.0, lift=1.3333333333333333)]
    """
    if not 0 < confidence <= 1:
        raise MethodError(f"mining: confidence must be above 0 and up to 1; got {confidence}.")
    if most is not None and most < 1:
        raise MethodError(f"mining: most must be a whole number of at least 1, or None; got {most}.")
    found = grown(data, _least(support, data.n), None, MOST_ITEMSETS)
    levels = [found.of_size(size) for size in range(1, int(found.sizes.max(initial=0)) + 1)]
    single, d = data.supports, len(data.labels)
    keys = _keys(levels, d)
    kept: list[tuple[int, float, tuple[int, ...], int]] = []
    for size, (rows, supports) in enumerate(levels[1:], 1):
        for place in range(size + 1):
            left = np.delete(rows, place, axis=1)
            shares = supports / levels[size - 1][1][_places(left, keys, d)]
            good = np.flatnonzero(shares >= confidence)
            known = (-supports[good]).tolist(), (-shares[good]).tolist()
            kept += zip(*known, map(tuple, left[good].tolist()), rows[good, place].tolist(), strict=True)
    kept.sort()
    return [
        Rule(antecedent, consequent, -count, -share, -share * data.n / int(single[consequent]))
        for count, share, antecedent, consequent in kept[:most]
    ]


def _least(support: float, n: int) -> int:
    """Return the least number of records that a share or number requires, taking the decimal as written."""
    if isinstance(support, int | np.integer) and not isinstance(support, bool) and support >= 1:
        return int(support)
    if isinstance(support, float) and 0 < support <= 1:
        return max(1, math.ceil(Fraction(repr(float(support))) * n))
    raise MethodError(
        "mining: support must be a whole number of at least 1, or a share above 0 and up to 1; got "
        f"{shortened(support)}."
    )


def _of_size(data: Transactions, least: int, size: int) -> tuple[Ints, Longs]:
    """Return the itemsets of one size in lexicographic order, and their supports."""
    return grown(data, least, size, None).of_size(size)


def _canonical(found: Itemsets, *, by_support: bool) -> Longs:
    """Return the order by size and support, the highest first; ties stay in lexicographic order."""
    keys = (found.sizes, -found.supports) if by_support else (-found.supports, found.sizes)
    return np.lexsort(keys)


def _keys(levels: list[tuple[Ints, Longs]], d: int) -> list[Longs]:
    """Return an ascending key for each frequent itemset of each size: the position of all but its last item, and that.

    All but the last item of a frequent itemset form a frequent itemset, so they have a position among those of their
    size.
    """
    keys: list[Longs] = []
    for rows, _ in levels:
        keys.append(_places(rows[:, :-1], keys, d) * d + rows[:, -1])
    return keys


def _places(rows: Ints, keys: list[Longs], d: int) -> Longs:
    """Return the position of each row among the frequent itemsets of its size."""
    places = np.zeros(len(rows), np.int64)
    for size in range(rows.shape[1]):
        places = np.searchsorted(keys[size], places * d + rows[:, size])
    return places


@loop
def _counted(indptr: Longs, items: Ints, holders: Longs, starts: Longs, wanted: Ints, cuts: Longs) -> Longs:
    """Count for each itemset, among the records that hold its rarest item, those that hold the others."""
    supports = np.zeros(cuts.size - 1, np.int64)
    for number in range(cuts.size - 1):
        first, last = cuts[number], cuts[number + 1]
        rarest, least = -1, indptr.size
        for item in wanted[first:last]:
            support = starts[item + 1] - starts[item] if item >= 0 else 0
            if support < least:
                rarest, least = item, support
        if first == last:
            supports[number] = indptr.size - 1
        elif least > 0:
            for at in range(starts[rarest], starts[rarest + 1]):
                begin, end = indptr[holders[at]], indptr[holders[at] + 1]
                supports[number] += _holds(items, begin, end, wanted, first, last, rarest)
    return supports


@inner_loop
def _holds(items: Ints, begin: int, end: int, wanted: Ints, first: int, last: int, known: int) -> bool:
    """Return whether a record holds all items of an itemset, given that it holds the item `known`."""
    for place in range(first, last):
        if wanted[place] == known:
            continue
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if items[middle] < wanted[place]:
                low = middle + 1
            else:
                high = middle
        if low == end or items[low] != wanted[place]:
            return False
    return True
