"""Mining: the itemsets that many records hold, their supports, and the rules between them.

Itemsets are grown by `eclat`. A rule takes one item out of a frequent itemset: what is left is frequent as well,
so its support is known and only has to be found.

Agrawal, Imielinski and Swami, Mining association rules between sets of items in large databases, SIGMOD 1993.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError
from shoal.kernels.loops import inner_loop, loop
from shoal.model.transactions import Transactions
from shoal.transactions.itemsets.eclat import Ints, Itemsets, Longs, grown

__all__ = ["Itemsets", "Rule", "frequent_itemsets", "itemset_supports", "pair_supports", "rules", "triple_supports"]

MOST_ITEMSETS = 5_000_000


@dataclass(frozen=True)
class Rule:
    """Records that hold the antecedent mostly hold the consequent, too.

    Parameters
    ----------
    antecedent : tuple of int
        Item numbers, ascending.
    consequent : int
    support : int
        The number of records that hold all these items.
    confidence : float
        Their share among the records that hold the antecedent.
    lift : float
        How many times as high that is as the share of the consequent among all records.
    """

    antecedent: tuple[int, ...]
    consequent: int
    support: int
    confidence: float
    lift: float


def frequent_itemsets(
    data: Transactions, support: float, *, most: int | None = None, longest: int | None = None
) -> Itemsets:
    """Find all itemsets that many records hold.

    Parameters
    ----------
    support : int or float
        The least number of records, as a whole number of at least 1; or their least share, as a float above 0 and up
        to 1. The number 1 is one record, the share 1.0 is all of them.
    most : int, optional
        At most so many itemsets: the first ones.
    longest : int, optional
        The most items of an itemset.

    Returns
    -------
    Itemsets
        By size, then support, the highest first, then item numbers; with `most`, by support before size.

    Raises
    ------
    MethodError
        If support is out of range, or there are more than five million itemsets.

    Cost
    ----
    O(s) time for s the number of items in all records that hold an itemset, summed over all itemsets found; memory of
    the result and of one branch.

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
    """Count all pairs of items that occur.

    Returns
    -------
    pairs : int32 array of shape (p, 2)
        Item numbers, ascending within a pair; pairs in lexicographic order.
    supports : int64 array of shape (p,)
        The number of records that hold each pair. `np.argsort(-supports, kind="stable")` ranks them.

    Raises
    ------
    MethodError
        If there are more than 50 million pairs.

    Cost
    ----
    O(sum of squared record lengths + p log p) time, O(p) memory.

    Examples
    --------
    >>> pairs, supports = pair_supports(Transactions.of([["a", "b"], ["a", "b", "c"]]))
    >>> pairs.tolist(), supports.tolist()
    ([[0, 1], [0, 2], [1, 2]], [2, 1, 1])
    """
    return _of_size(data, 1, 2)


def triple_supports(data: Transactions, least: float) -> tuple[Ints, Longs]:
    """Count the triples of items that many records hold.

    Parameters
    ----------
    least : int or float
        The least number of records, or their least share, as in `frequent_itemsets`.

    Returns
    -------
    triples : int32 array of shape (p, 3)
        Item numbers, ascending within a triple; triples in lexicographic order.
    supports : int64 array of shape (p,)

    Raises
    ------
    MethodError
        If least is out of range, or there are more than some 30 million triples.

    Cost
    ----
    O(sum of cubed record lengths) time at worst, O(p) memory.
    """
    return _of_size(data, _least(least, data.n), 3)


def itemset_supports(data: Transactions, itemsets: Sequence[Any] | NDArray[Any] | Itemsets) -> Longs:
    """Count the records that hold each of the itemsets given.

    Parameters
    ----------
    itemsets : sequence of int arrays, a matrix with an itemset a row, or Itemsets
        Item numbers in any order. -1 stands for an item that the data do not have.

    Returns
    -------
    int64 array
        A support for each itemset. All records hold the empty one.

    Raises
    ------
    MethodError
        If an item number is neither -1 nor one of the data.

    Cost
    ----
    O(i s log r) time for i items in all itemsets, s the support of the rarest in its set, r the length of a record.

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
    """Find the rules with one item as their consequent.

    Parameters
    ----------
    support : int or float
        The least number or share of records that hold all items of a rule, as in `frequent_itemsets`.
    confidence : float, above 0 and up to 1
        The least share among the records that hold the antecedent.
    most : int, optional
        At most so many rules: the first ones. None for all.

    Returns
    -------
    list of Rule
        By support, then confidence, the highest first, then antecedent and consequent. No antecedent is empty.

    Raises
    ------
    MethodError
        If support or confidence are out of range, or there are more than five million itemsets.

    Cost
    ----
    That of `frequent_itemsets`, and O(i log f) for i items in all f frequent itemsets.

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
    """Return the least number of records that a share or a number asks for, exactly as it is written."""
    if isinstance(support, int | np.integer) and not isinstance(support, bool) and support >= 1:
        return int(support)
    if isinstance(support, float) and 0 < support <= 1:
        return max(1, math.ceil(Fraction(repr(float(support))) * n))
    raise MethodError(
        f"mining: support must be a whole number of at least 1, or a share above 0 and up to 1; got {support!r}."
    )


def _of_size(data: Transactions, least: int, size: int) -> tuple[Ints, Longs]:
    """Return the itemsets of one size in lexicographic order, and their supports."""
    return grown(data, least, size, None).of_size(size)


def _canonical(found: Itemsets, *, by_support: bool) -> Longs:
    """Return the order by size and support, the highest first; what is alike stays in lexicographic order."""
    keys = (found.sizes, -found.supports) if by_support else (-found.supports, found.sizes)
    return np.lexsort(keys)


def _keys(levels: list[tuple[Ints, Longs]], d: int) -> list[Longs]:
    """Return a number for each frequent itemset of each size, ascending: the place of all but its last item, and that.

    All but the last item of a frequent itemset are frequent, too, so they have a place among those of their size.
    """
    keys: list[Longs] = []
    for rows, _ in levels:
        keys.append(_places(rows[:, :-1], keys, d) * d + rows[:, -1])
    return keys


def _places(rows: Ints, keys: list[Longs], d: int) -> Longs:
    """Return where each row stands among the frequent itemsets of its size."""
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
    """Say whether a record holds all items of an itemset, one of which it is known to hold."""
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
