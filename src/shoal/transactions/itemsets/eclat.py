"""Eclat: all frequent itemsets, grown item by item from lists of their occurrences.

1. Infrequent items are left out. The others are ranked by support, the rarest first, and each record lists its items by
   rank.
2. An itemset is extended by items of higher rank only, so that each is found once. For every itemset, the positions of
   its last item in the records are known; scanning from there to the ends of the records counts all possible
   extensions.
3. Frequent extensions are extended in turn, depth first, so that only one branch is in memory.

Occurrence lists as in Zaki, Scalable algorithms for association mining, IEEE Transactions on Knowledge and Data
Engineering 12 (2000) 372-390; counting by scans as in Uno, Asai, Uchida and Arimura, LCM, FIMI 2003.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError
from shoal.kernels.loops import inner_loop, loop
from shoal.model.transactions import Transactions

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

MOST_CELLS = 100_000_000  # items of all itemsets together, or positions of one branch
LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Itemsets with their supports, as flat arrays.

    Itemset i has the items `items[indptr[i]:indptr[i + 1]]`, ascending, and is held by `supports[i]` records.
    """

    indptr: Longs
    items: Ints
    supports: Longs

    @property
    def n(self) -> int:
        """The number of itemsets."""
        return int(self.supports.size)

    @property
    def sizes(self) -> Longs:
        """The number of items of each itemset."""
        return np.diff(self.indptr)

    def of_size(self, size: int) -> tuple[Ints, Longs]:
        """Return the itemsets of one size as rows of a matrix, and their supports."""
        chosen = np.flatnonzero(self.sizes == size)
        return self.items[self.indptr[chosen][:, None] + np.arange(size)], self.supports[chosen]

    def tuples(self) -> list[tuple[int, ...]]:
        """Return each itemset as a tuple of item numbers."""
        cuts, items = self.indptr.tolist(), self.items.tolist()
        return [tuple(items[a:b]) for a, b in pairwise(cuts)]

    def __repr__(self) -> str:
        """Describe the itemsets by their number and size, never by their items."""
        return f"<Itemsets: {self.n} itemsets of up to {int(self.sizes.max(initial=0))} items>"


def grown(data: Transactions, least: int, longest: int | None = None, most: int | None = None) -> Itemsets:
    """Find all itemsets held by at least `least` records, by size, then in lexicographic order.

    Refuses if there are more than `most` itemsets, or too many items in them. Time is proportional to the items of all
    records that hold an itemset, summed over all itemsets found; memory to the result and one branch.
    """
    supports = data.supports
    frequent = np.flatnonzero(supports >= least)
    ranked = frequent[np.argsort(supports[frequent], kind="stable")]
    walks = _by_rank(data, ranked)
    deepest = int(data.lengths.max(initial=0))
    deepest = deepest if longest is None else min(longest, deepest)
    limit = MOST_CELLS if most is None else most
    indptr, items, counts, whole = _grow(walks, ranked.size, least, max(1, deepest), limit, MOST_CELLS)
    if not whole:
        raise MethodError(
            f"mining: more than {limit} itemsets, or {MOST_CELLS} items in all of them, have a support of {least} or "
            "more. Require a higher support, or shorter itemsets."
        )
    return _in_order(Itemsets(indptr, ranked[items].astype(np.int32), counts), len(data.labels))


def _by_rank(data: Transactions, ranked: Longs) -> Ints:
    """Return the ranks of the frequent items of each record, ascending, with -1 after each record."""
    rank = np.full(len(data.labels), -1, np.int64)
    rank[ranked] = np.arange(ranked.size)
    ranks = rank[data.items]
    here = ranks >= 0
    records = np.repeat(np.arange(data.n), data.lengths)[here]
    keys = records * max(1, ranked.size) + ranks[here]
    keys.sort()
    records, ranks = np.divmod(keys, max(1, ranked.size))
    walks = np.full(ranks.size + data.n, -1, np.int32)
    walks[np.arange(ranks.size) + records] = ranks
    return walks


def _in_order(found: Itemsets, d: int) -> Itemsets:
    """Return the itemsets by size and in lexicographic order, their items ascending."""
    items, counts, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [np.zeros(1, np.int64)]
    for size in range(1, int(found.sizes.max(initial=0)) + 1):
        rows, supports = found.of_size(size)
        rows.sort(axis=1)
        if d**size < LARGEST_KEY:
            order = np.argsort(rows @ (d ** np.arange(size - 1, -1, -1, dtype=np.int64)))
        else:
            order = np.lexsort(rows.T[::-1])
        items.append(rows[order].reshape(-1))
        counts.append(supports[order])
        sizes.append(np.full(order.size, size, np.int64))
    return Itemsets(np.cumsum(np.concatenate(sizes)), np.concatenate(items), np.concatenate(counts))


@loop
def _grow(  # noqa: PLR0912, PLR0915 - a traversal of all branches is best read in one piece
    walks: Ints, d: int, least: int, deepest: int, most: int, cells: int
) -> tuple[Longs, Ints, Longs, bool]:
    """Return all frequent itemsets of ranks as flat arrays, depth first, and whether they are complete."""
    indptr, items, supports = np.zeros(1024, np.int64), np.empty(4096, np.int32), np.empty(1024, np.int64)
    found = 0
    # Extensions of the itemset at each depth: a rank, and where its positions lie in the pool.
    pool, bounds = _roots(walks, d)
    grower, first, last = np.arange(d + 1).astype(np.int32), bounds.copy(), np.append(bounds[1:], bounds[-1:])
    counts, touched, cursor = np.zeros(d, np.int64), np.empty(d, np.int32), np.empty(d, np.int64)
    turn, stop, top = np.zeros(deepest, np.int64), np.zeros(deepest, np.int64), np.zeros(deepest, np.int64)
    stop[0], top[0] = d, bounds[d]
    itemset = np.empty(deepest, np.int32)
    depth = 0
    while depth >= 0:
        if turn[depth] == stop[depth]:
            depth -= 1
            continue
        own = turn[depth]
        turn[depth] += 1
        itemset[depth] = grower[own]
        new = kept = positions = 0
        if depth + 1 < deepest:
            new = _count(walks, pool, first[own], last[own], counts, touched)
            kept, positions = _frequent(counts, touched, new, least)
        leaves = kept if depth + 2 == deepest else 0
        end = indptr[found] + depth + 1 + leaves * (depth + 2)
        if found + 1 + leaves > most or end > cells or top[depth] + positions > cells + top[0]:
            return indptr[: found + 1], items[: indptr[found]], supports[:found], False
        while found + leaves + 2 > indptr.size:
            indptr, supports = _longer(indptr), _longer(supports)
        while end > items.size:
            items = _longer(items)
        found = _write(indptr, items, supports, found, itemset, depth + 1, last[own] - first[own])
        if depth + 2 >= deepest:
            # At the last item only the counts are needed, not the positions.
            for rank in touched[:new]:
                if counts[rank] >= least:
                    itemset[depth + 1] = rank
                    found = _write(indptr, items, supports, found, itemset, depth + 2, counts[rank])
                counts[rank] = 0
            continue
        while stop[depth] + kept > grower.size:
            grower, first, last = _longer(grower), _longer(first), _longer(last)
        while top[depth] + positions > pool.size:
            pool = _longer(pool)
        entry, at = stop[depth], top[depth]
        for rank in touched[:new]:
            cursor[rank] = -1
            if counts[rank] >= least:
                grower[entry], first[entry], last[entry] = rank, at, at + counts[rank]
                cursor[rank] = at
                at += counts[rank]
                entry += 1
            counts[rank] = 0
        if kept:
            _place(walks, pool, first[own], last[own], cursor)
            depth += 1
            turn[depth], stop[depth], top[depth] = stop[depth - 1], entry, at
    return indptr[: found + 1], items[: indptr[found]], supports[:found], True


@loop
def _roots(walks: Ints, d: int) -> tuple[Longs, Longs]:
    """Return the positions of every rank, rank after rank, and where those of each begin."""
    bounds = np.zeros(d + 1, np.int64)
    for rank in walks:
        if rank >= 0:
            bounds[rank + 1] += 1
    for rank in range(d):
        bounds[rank + 1] += bounds[rank]
    cursor = bounds.copy()
    pool = np.empty(2 * walks.size + 64, np.int64)
    for place in range(walks.size):
        if walks[place] >= 0:
            pool[cursor[walks[place]]] = place
            cursor[walks[place]] += 1
    return pool, bounds


@inner_loop
def _count(walks: Ints, pool: Longs, first: int, last: int, counts: Longs, touched: Ints) -> int:
    """Count the ranks after each of the positions, list those that occur, and return their number."""
    new = 0
    for at in range(first, last):
        place = pool[at] + 1
        while walks[place] >= 0:
            if counts[walks[place]] == 0:
                touched[new] = walks[place]
                new += 1
            counts[walks[place]] += 1
            place += 1
    return new


@inner_loop
def _frequent(counts: Longs, touched: Ints, new: int, least: int) -> tuple[int, int]:
    """Return how many ranks are frequent enough, and how many positions they have."""
    kept = positions = 0
    for number in range(new):
        if counts[touched[number]] >= least:
            kept += 1
            positions += counts[touched[number]]
    return kept, positions


@inner_loop
def _place(walks: Ints, pool: Longs, first: int, last: int, cursor: Longs) -> None:
    """Write the positions of the ranks that have a cursor, after each of the given positions, into the pool."""
    for at in range(first, last):
        place = pool[at] + 1
        while walks[place] >= 0:
            if cursor[walks[place]] >= 0:
                pool[cursor[walks[place]]] = place
                cursor[walks[place]] += 1
            place += 1


@inner_loop
def _write(indptr: Longs, items: Ints, supports: Longs, found: int, itemset: Ints, size: int, support: int) -> int:
    """Append one itemset and return the new number of itemsets."""
    start = indptr[found]
    for place in range(size):
        items[start + place] = itemset[place]
    supports[found] = support
    indptr[found + 1] = start + size
    return found + 1


@loop
def _longer(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array of twice the length that begins with the same values."""
    longer = np.empty(2 * values.size, values.dtype)
    for place in range(values.size):
        longer[place] = values[place]
    return longer
