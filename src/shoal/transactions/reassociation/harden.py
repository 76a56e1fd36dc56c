"""Hardening: suppress occurrences of items until every set of m items is in at least k records or in none.

1. For itemsets of one item, then of up to two, and so on up to m: while some are rare, that is held by fewer than k
   records, choose for every record the item to remove. It is the one whose removal repairs most for its cost: with r
   rare itemsets of the record that contain the item and f fragile ones, which its removal would make rare, the score is
   r (r + f) / (r + k f), because a removal that makes others rare costs about k of them. Ties go to the item of lower
   support, then to the higher number.
2. Only records whose item scores at least half as much as the best of all lose it; then itemsets are counted again.
   Occurrences decrease each time, so it terminates.
3. Occurrences that have become safe because others were suppressed too are restored, in the order of records and items,
   until no single one can be.

Equal records are treated alike. k^m-anonymity is that of Terrovitis, Mamoulis and Kalnis, Privacy-preserving
anonymization of set-valued data, PVLDB 1 (2008) 115-125; greedy suppression by what repairs most is common, the
weighting by cost and the restoring are shoal's own.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError, MethodError
from shoal.kernels.loops import inner_loop, loop
from shoal.model.progress import tick
from shoal.model.transactions import Transactions, in_order
from shoal.transactions.distinct import Distinct, distinct
from shoal.transactions.lexical import Places, Whole, by_item, gathered, lexical_order
from shoal.transactions.reassociation.breaches import breaches

Flags = NDArray[np.bool_]
ENDLESS = 1 << 60
SORTING, LISTING = 50, 1000  # the work of sorting an occurrence, and of building the lists for an item to be restored


@dataclass(frozen=True, eq=False)
class Hardened:
    """Data of which every m items are in k records or in none, and what that cost.

    `data` is in lexicographic order, without the labels of items that are gone; `suppressed` of the `occurrences` are
    gone, after counting itemsets `rounds` times.
    """

    data: Transactions
    suppressed: int
    rounds: int
    occurrences: int

    @property
    def share(self) -> float:
        """The share of occurrences that were suppressed, from 0 to 1."""
        return self.suppressed / max(1, self.occurrences)


def harden_km(data: Transactions, k: int, m: int, most: float | None = None) -> Hardened:
    """Suppress occurrences until every set of at most m items is in k records or in none.

    `most` limits the work, about the number of times an occurrence may be examined, some 250 million per second; beyond
    it an InfeasibleError is raised. The work depends on the records, k and m alone.

    Guarantee
    ---------
    Every set of one to m items is held by no record or by at least k. Nothing is added. Of the suppressed occurrences,
    no single one (with those of equal records) could be restored. The result depends on the records, k and m alone, not
    on their order.

    Cost
    ----
    A round takes time proportional to the itemsets of up to m items that records hold, and there are about as many
    rounds as items that the worst record loses. BMS1 after re-association takes a second at k = 3, m = 2, and eight at
    k = m = 3.

    Examples
    --------
    >>> data = Transactions.of([["a", "b"], ["a", "b"], ["a", "c"], ["b"]])
    >>> harden_km(data, k=2, m=2).data.records()
    [['a'], ['a', 'b'], ['a', 'b'], ['b']]
    """
    for name, value in (("k", k), ("m", m)):
        if value < 1:
            raise MethodError(f"harden: {name} must be a whole number of at least 1; got {value}.")
    given, work = distinct(data.indptr, data.items)[0], _Work(most)
    kept, rounds = np.ones(given.items.size, np.bool_), 0
    deepest = min(m, int(np.diff(given.indptr).max(initial=0)))
    for size in range(1, deepest + 1):
        mended = False
        while not mended:
            tick(size - 1, deepest)
            mended = _mend(given, kept, len(data.labels), k, size, work)
            rounds += 1
    owner = np.repeat(np.arange(given.weights.size), np.diff(given.indptr))
    back = int(not kept.all())
    while back:  # until a whole pass restores nothing
        back, taken = _give_back(given, owner, len(data.labels), kept, k, deepest, work.left)
        work.add(taken)
    left = np.repeat(given.weights, np.diff(given.indptr))[kept].sum()
    return Hardened(_written(given, kept, data), int(data.items.size - left), rounds, int(data.items.size))


class _Work:
    """The work done so far, and its limit."""

    def __init__(self, most: float | None) -> None:
        self.left = int(min(most if most is not None else ENDLESS, ENDLESS))

    def add(self, work: int) -> None:
        """Add some work, and give up beyond the limit."""
        self.left -= work
        if self.left < 0:
            raise InfeasibleError("harden: suppressing rare itemsets takes more work than allowed. Lower m.")


def _mend(given: Distinct, kept: Flags, count: int, k: int, m: int, work: _Work) -> bool:
    """Remove one item from each record where that repairs most; return whether nothing was rare."""
    heads = np.concatenate(([0], np.cumsum(kept)))
    now, number = distinct(heads[given.indptr], given.items[kept], given.weights)
    work.add(SORTING * (now.items.size + now.weights.size))
    rare, fragile, taken = breaches(now, count, k, m, work.left)
    work.add(taken)
    if not rare.any():
        return True
    support = np.zeros(count, np.int64)
    np.add.at(support, now.items, np.repeat(now.weights, np.diff(now.indptr)))
    gone = _chosen(now.indptr, now.items, support, rare, fragile, k)
    kept &= given.items != np.repeat(gone[number], np.diff(given.indptr))
    return False


def _written(given: Distinct, kept: Flags, data: Transactions) -> Transactions:
    """Return what is kept as new data in lexicographic order, without labels of items that are gone."""
    held = np.unique(given.items[kept])
    labels = in_order(data.labels[item] for item in held.tolist())
    place = {label: number for number, label in enumerate(labels)}
    fresh = np.zeros(len(data.labels), np.int32)
    fresh[held] = [place[data.labels[item]] for item in held.tolist()]
    items = fresh[given.items[kept]]
    heads = np.concatenate(([0], np.cumsum(kept)))[given.indptr]
    if np.any(np.diff(fresh[held]) < 0):
        # Labels that are now all numbers sort differently than among words.
        items = items[np.lexsort((items, np.repeat(np.arange(given.weights.size), np.diff(heads))))]
    rows = np.repeat(np.arange(given.weights.size), given.weights)
    rows = rows[np.diff(heads)[rows] > 0]
    indptr, items = gathered(heads, items, rows)
    indptr, items = gathered(indptr, items, lexical_order(indptr, items))
    n = indptr.size - 1
    return Transactions(indptr, items, labels, np.arange(data.inputs - n, data.inputs), data.inputs)


@loop
def _chosen(indptr: Places, items: Whole, support: Places, rare: Places, fragile: Places, k: int) -> Places:
    """Return the item that each record loses, or -1."""
    n = indptr.size - 1
    chosen, worth = np.full(n, -1, np.int64), np.zeros(n)
    for record in range(n):
        for at in range(indptr[record], indptr[record + 1]):
            if rare[at] == 0:
                continue
            item, best = items[at], chosen[record]
            value = rare[at] * (rare[at] + fragile[at]) / (rare[at] + k * fragile[at])
            # Items ascend, so among ties the last is taken.
            if value > worth[record] or (value == worth[record] and support[item] <= support[best]):
                chosen[record], worth[record] = item, value
    best_worth = 0.0
    for record in range(n):
        best_worth = max(best_worth, worth[record])
    for record in range(n):
        if worth[record] < best_worth / 2:
            chosen[record] = -1
    return chosen


@loop
def _give_back(given: Distinct, owner: Places, count: int, kept: Flags, k: int, m: int, most: int) -> tuple[int, int]:
    """Restore, one after the other, occurrences that make nothing rare; return their number and the work done."""
    indptr, items, weights = given
    ends, index = by_item(items, count)
    place, back, work = np.zeros(count, np.int64), 0, items.size + count
    for lost in range(items.size):
        if work > most:
            break
        if kept[lost]:
            continue
        record, item = owner[lost], items[lost]
        holders = index[ends[item] : ends[item + 1]]
        length = 0
        for at in range(indptr[record], indptr[record + 1]):
            if kept[at]:
                length += 1
                place[items[at]] = length
        tally = np.full(length + 1, weights[record], np.int64)
        size, met = _meet(given, owner, kept, holders, place, tally)
        work += met + indptr[record + 1] - indptr[record]
        safe = True
        for at in range(length + 1):
            safe = safe and tally[at] >= k
        if safe and m > 2:
            # What each holder of the item shares with the record: an itemset that is rare here is rare with the item.
            heads, parts = np.zeros(holders.size + 2, np.int64), np.empty(size + length, np.int32)
            mass = np.zeros(holders.size + 1, np.int64)
            for at in range(length):
                parts[at] = at
            heads[1], mass[0] = length, weights[record]
            n = _share(given, owner, kept, holders, place, heads, parts, mass)
            rare, _, taken = breaches(Distinct(heads[: n + 1], parts, mass[:n]), length, k, m - 1, most - work)
            for at in range(rare.size):
                safe = safe and rare[at] == 0
            work += LISTING + met + taken
        for at in range(indptr[record], indptr[record + 1]):
            place[items[at]] = 0
        if safe:
            kept[lost] = True
            back += 1
    return back, work


@inner_loop
def _meet(
    given: Distinct, owner: Places, kept: Flags, holders: Places, place: Places, tally: Places
) -> tuple[int, int]:
    """Count each placed item in the records that hold an item; return their number, and how many were examined."""
    indptr, items, weights = given
    size, seen = 0, holders.size
    for holder in holders:
        if kept[holder]:
            other = owner[holder]
            tally[0] += weights[other]
            seen += indptr[other + 1] - indptr[other]
            for at in range(indptr[other], indptr[other + 1]):
                if kept[at] and place[items[at]] > 0:
                    tally[place[items[at]]] += weights[other]
                    size += 1
    return size, seen


@inner_loop
def _share(
    given: Distinct,
    owner: Places,
    kept: Flags,
    holders: Places,
    place: Places,
    heads: Places,
    parts: Whole,
    mass: Places,
) -> int:
    """Write, after the first record, the placed items of records that hold an item; return the number of records."""
    indptr, items, weights = given
    n = 1
    for holder in holders:
        if kept[holder]:
            other, to = owner[holder], heads[n]
            for at in range(indptr[other], indptr[other + 1]):
                if kept[at] and place[items[at]] > 0:
                    parts[to] = place[items[at]] - 1
                    to += 1
            heads[n + 1], mass[n] = to, weights[other]
            n += 1
    return n
