"""Combinations: no class is published as a combination of values that fewer than k rows of the table have.

A class that is published as one person's whole combination tells anyone who knows this person that they are in the
table. So a class whose published quasi-identifiers, taken together, are those of some rows, but of fewer than k, gets
another value in one cell:

1. Categories are replaced by another category of the class; numbers, dates and levels by another value of the class or
   one near the published value. At least k rows of the table must have the new value. A mean is moved by a few steps.
2. The new combination must occur in no row of the table, or in k rows. Of the candidates, the one is chosen that keeps
   most cells of the class, moves numbers little, and prefers values that are published too rarely so far.
3. If there is none, the most frequent values of the table are tried as well. If that fails, cells of the class are
   suppressed, column by column.
4. A combination from which exactly one row of the table differs in one cell would almost reveal that row. If another
   replacement of about the same cost avoids this, it is used; otherwise a second cell is replaced, and a third.
5. Finally, another cell is replaced where that brings a class closer to its rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.progress import check_limits
from shoal.recode.groups import Groups, as_places
from shoal.recode.holders import Holders, Sums, marks_of, total

NEAR, FAR = 8, 64  # values tried on either side of a published number, at first and if need be
FREQUENT = 50  # categories of the table that are tried if need be
BALANCE, MOVED = 1.0, 0.03  # costs, in cells, of imbalance of values and of one standard deviation per row
TURNS = 64  # batches of classes; each sees how those before it changed the balance
TRIED = 8  # cheapest replacements of a class that are checked for almost revealing a row
LOOKED = 2 * TRIED  # cheapest replacements that are looked up at first: nearly all are possible
MORE = 3  # further cells that are replaced if a class almost reveals a row

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Offers = tuple[Whole, Whole, Whole, Floats]


@dataclass(frozen=True, eq=False)
class Cells:
    """A quasi-identifier: its cells in the table, and the value published for each class.

    `moved` are functions that return alternatives to `published`, such as means moved by a step. If there are any,
    values of rows are not used.
    """

    column: pa.ChunkedArray
    published: pa.Array
    kind: str = "nominal"
    order: tuple[str, ...] | None = None
    moved: Sequence[Callable[[], pa.Array]] = ()


def without_small_combinations(
    columns: Sequence[Cells], groups: Groups, *, keep_distinct: bool = False
) -> tuple[list[pa.Array], int]:
    """Replace cells of classes that are published as the combination of fewer than k rows.

    `columns` are the quasi-identifiers that are published as values of their own type. With `keep_distinct`, no class
    may become equal to another one. Returns the published values of each column, and how many classes were changed.

    Guarantee
    ---------
    A combination of all columns that some row of the table has is published only if k rows have it, or if it has no
    value at all. A single column is not a combination and is left unchanged.

    Cost
    ----
    O(n d) time and memory.
    """
    if len(columns) < 2 or not _may_be_held(columns).any():
        return [one.published for one in columns], 0
    coded = [_Coded(one, groups, place) for place, one in enumerate(columns)]
    work = _Exchange(coded, groups, keep_distinct=keep_distinct)
    small = work.small()
    left = work.exchange(work.exchange(small), wide=True)
    work.empty(left)
    for _ in range(MORE):
        work.exchange(np.setdiff1d(work.singled_out(), left))
    work.exchange(np.setdiff1d(small, left), better=True)
    return [one.values() for one in coded], int(small.size)


def _may_be_held(columns: Sequence[Cells]) -> Flags:
    """Flag the classes of which all published values, or all but one, occur in their columns; means hardly ever do."""
    others = np.zeros(len(columns[0].published), np.int64)
    for one in columns:
        known = pc.is_in(one.published, value_set=one.column.combine_chunks())
        others += ~np.asarray(known.to_numpy(zero_copy_only=False), np.bool_)
        if (others > 1).all():
            break
    return others <= 1


class _Coded:
    """A column as codes: equal values have equal codes, and a missing value has the last code."""

    def __init__(self, one: Cells, groups: Groups, number: int) -> None:
        parts = [one.column.combine_chunks(), one.published, *(move() for move in one.moved)]
        coded = pa.chunked_array(parts, one.column.type).combine_chunks().dictionary_encode()
        self.dictionary = coded.dictionary
        self.gap = len(coded.dictionary)
        codes = coded.indices.fill_null(self.gap).to_numpy(zero_copy_only=False)
        self.rows, own, *moved = np.split(codes, np.cumsum([len(part) for part in parts])[:-1])
        self.own, self.moved = own.astype(np.int64), [one.astype(np.int64) for one in moved]
        self.counts = np.bincount(self.rows, minlength=self.gap + 1)
        self.released = np.bincount(self.own, groups.sizes, minlength=self.gap + 1)
        self.usable = (self.counts >= groups.k) & (not self.moved)
        for other in self.moved:
            self.usable[other] = True
        self.usable[-1] = False
        self.marks = marks_of(self.gap + 1, number)
        self.ordered = one.kind in ("numeric", "date", "ordinal")
        self.place = as_places(self.dictionary, self.counts[:-1], one.kind, one.order)

    def others(self, classes: Whole, *, wide: bool) -> Iterator[tuple[Whole, Whole]]:
        """Return the values, beside those of their rows, that these classes may be published with, by place in them."""
        every = np.arange(classes.size)
        if self.moved:
            yield from ((every, codes[classes]) for codes in self.moved)
            return
        common = np.flatnonzero(self.usable)
        if not self.ordered:
            most = common[np.argsort(-self.counts[common], kind="stable")][:FREQUENT]
            yield from ((every, np.full(classes.size, code)) for code in (most if wide else ()))
            return
        common = common[np.argsort(self.place[common], kind="stable")]
        here = np.searchsorted(self.place[common], self.place[self.own[classes]])
        for shift in range(-(FAR if wide else NEAR), (FAR if wide else NEAR) + 1):
            there = here + shift
            inside = (there >= 0) & (there < common.size)
            yield every[inside], common[there[inside]]

    def replace(self, classes: Whole, codes: Whole, sizes: Whole) -> None:
        """Publish these classes with other values."""
        np.subtract.at(self.released, self.own[classes], sizes[classes])
        np.add.at(self.released, codes, sizes[classes])
        self.own[classes] = codes

    def values(self) -> pa.Array:
        """Return the published value of each class."""
        gone = self.own == self.gap
        return self.dictionary.take(pa.array(np.where(gone, 0, self.own), mask=gone))


class _Exchange:
    """Classes on their way to combinations that no row, or at least k rows, of the table have."""

    def __init__(self, columns: Sequence[_Coded], groups: Groups, *, keep_distinct: bool) -> None:
        self.columns, self.groups, self.keep_distinct = columns, groups, keep_distinct
        self.holders = Holders([one.marks[one.rows] for one in columns])
        self.sums = total([one.marks[one.own] for one in columns])
        self.order = np.argsort(groups.labels, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(groups.sizes)])

    def small(self) -> Whole:
        """Return the classes whose combination some rows have, but fewer than k."""
        rows = self.holders.of(self.sums)
        return np.flatnonzero((rows > 0) & (rows < self.groups.k))

    def singled_out(self) -> Whole:
        """Return the classes whose combination no row has, and from which exactly one row differs in one cell."""
        beside = self.holders.beside(self.sums, [one.marks[one.own] for one in self.columns])
        return np.flatnonzero((beside == 1) & (self.holders.of(self.sums) == 0))

    def exchange(self, classes: Whole, *, wide: bool = False, better: bool = False) -> Whole:
        """Replace one cell of each of these classes, and return those for which there is no replacement.

        With `wide`, the most frequent values of the whole table are tried too. With `better`, only replacements that
        bring the class closer to its rows are made.
        """
        left = []
        for some in np.array_split(classes, min(TURNS, max(1, classes.size))):
            check_limits()
            offers = self._offers(some, wide=wide)
            if better:
                offers = _picked(offers, offers[3] < 0)
            (owner, column, code, cost), made = self._cheapest(offers, some)
            alone = self._beside(owner, column, code, made) == 1
            chosen = np.flatnonzero(~alone) if better else np.arange(owner.size)
            chosen = chosen[np.lexsort((cost[chosen], alone[chosen], owner[chosen]))]
            chosen = chosen[np.unique(owner[chosen], return_index=True)[1]]
            if self.keep_distinct:
                chosen = chosen[np.unique(made[chosen], return_index=True)[1]]
            for number, one in enumerate(self.columns):
                mine = chosen[column[chosen] == number]
                one.replace(owner[mine], code[mine], self.groups.sizes)
            self.sums[owner[chosen]] = made[chosen]
            left.append(np.setdiff1d(some, owner[chosen]))
        return np.concatenate(left)

    def _cheapest(self, offers: Offers, classes: Whole) -> tuple[Offers, Sums]:
        """Return the cheapest replacements of each class that are possible, at most `TRIED`, and what they lead to.

        Only the cheapest are looked up; where too few of them are possible, all are.
        """
        place = np.searchsorted(classes, offers[0])
        cheap = _cheapest_of_each(place, offers[3], classes.size)
        found, made = self._possible(_picked(offers, cheap))
        enough = np.bincount(np.searchsorted(classes, found[0]), minlength=classes.size) >= TRIED
        every = np.bincount(place, minlength=classes.size) == np.bincount(place[cheap], minlength=classes.size)
        short = ~(enough | every)
        if short.any():
            kept = ~short[np.searchsorted(classes, found[0])]
            more, of_more = self._possible(_picked(offers, short[place]))
            parts = zip(_picked(found, kept), more, strict=True)
            owner, column, code, cost = (np.concatenate(part) for part in parts)
            found, made = (owner, column, code, cost), np.concatenate([made[kept], of_more])
        ranked = np.lexsort((found[3], found[0]))
        ranked = ranked[_number_in_turn(found[0][ranked]) < TRIED]
        return _picked(found, ranked), made[ranked]

    def _possible(self, offers: Offers) -> tuple[Offers, Sums]:
        """Return the replacements that lead to a combination of no row or of k rows, and these combinations."""
        owner, column, code, _ = offers
        made = self.sums[owner] - self._marks(owner, column) + self._marks(owner, column, code)
        rows = self.holders.of(made)
        possible = (rows == 0) | (rows >= self.groups.k)
        if self.keep_distinct:
            possible &= ~np.isin(made, self.sums)
        return _picked(offers, possible), made[possible]

    def empty(self, classes: Whole) -> None:
        """Suppress cells of these classes, column by column, until no row or k rows match what is left."""
        for one in self.columns:
            rows = self.holders.of(self.sums[classes])
            classes = classes[(rows > 0) & (rows < self.groups.k)]
            self.sums[classes] += one.marks[one.gap] - one.marks[one.own[classes]]
            one.replace(classes, np.full(classes.size, one.gap), self.groups.sizes)

    def _offers(self, classes: Whole, *, wide: bool) -> Offers:
        """Return the possible replacements: class, column, new code, and cost in cells of the class."""
        ends = self.starts[classes + 1]
        rows = np.concatenate([self.order[:0], *map(self.order.__getitem__, map(slice, self.starts[classes], ends))])
        sizes, found = self.groups.sizes[classes], []
        of_row = np.repeat(np.arange(classes.size), sizes)
        for number, one in enumerate(self.columns):
            bits = int(one.gap).bit_length()
            pairs, counts = np.unique(of_row << bits | one.rows[rows], return_counts=True)
            more = [place << bits | code for place, code in one.others(classes, wide=wide)]
            offered = _distinct(np.concatenate([pairs, *more]))
            place, code = offered >> bits, offered & (2**bits - 1)
            times = np.zeros(offered.size)
            times[np.searchsorted(offered, pairs)] = counts
            own = one.own[classes]
            now, size, same = own[place], sizes[place], np.zeros(classes.size)
            same[place[code == now]] = times[code == now]
            far = np.nan_to_num(np.abs(one.place[code] - one.place[now])) if one.ordered else (times == 0).astype(float)
            extra = one.released - one.counts  # how much too often each value is published
            gain = (2 * extra[code] + size) / one.counts[code].clip(1)
            gain -= ((2 * extra[own] - sizes) / one.counts[own].clip(1))[place]
            cost = same[place] - times + MOVED * far * size + BALANCE * gain
            fits = one.usable[code] & (code != now)
            found.append((classes[place[fits]], np.full(int(fits.sum()), number), code[fits], cost[fits]))
        owner, column, code, cost = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return owner, column, code, cost

    def _marks(self, owner: Whole, column: Whole, code: Whole | None = None) -> Sums:
        """Return the random numbers of these values, or of the values published for these classes in these columns."""
        found = np.zeros(column.size, np.uint64)
        for number, one in enumerate(self.columns):
            mine = column == number
            found[mine] = one.marks[one.own[owner[mine]] if code is None else code[mine]]
        return found

    def _beside(self, owner: Whole, column: Whole, code: Whole, made: Sums) -> Whole:
        """Return how many rows differ in one cell from what these classes would become."""
        marks = [one.marks[np.where(column == number, code, one.own[owner])] for number, one in enumerate(self.columns)]
        return self.holders.beside(made, marks)


def _picked(offers: Offers, which: Flags | Whole) -> Offers:
    """Return some of the replacements."""
    owner, column, code, cost = offers
    return owner[which], column[which], code[which], cost[which]


def _cheapest_of_each(place: Whole, cost: Floats, classes: int) -> Flags:
    """Flag the `LOOKED` cheapest entries of each class, and others of the same cost; `place` is its number."""
    counts = np.bincount(place, minlength=classes)
    width = int(counts.max(initial=0))
    if width <= LOOKED:
        return np.ones(cost.size, np.bool_)
    by_class = np.argsort(place.astype(np.uint16) if classes < 2**16 else place, kind="stable")
    table = np.full((classes, width), np.inf)
    table[place[by_class], _number_in_turn(place[by_class])] = cost[by_class]
    return np.asarray(cost <= np.partition(table, LOOKED - 1, axis=1)[place, LOOKED - 1])


def _distinct(numbers: Whole) -> Whole:
    """Return the distinct numbers in order; numpy's own search by a hash table takes three times as long."""
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])[: ordered.size]])


def _number_in_turn(owner: Whole) -> Whole:
    """Number the entries of each class from 0; those of a class must be adjacent."""
    first = np.append(True, owner[1:] != owner[:-1])[: owner.size]
    return np.arange(owner.size) - np.flatnonzero(first)[np.cumsum(first) - 1] if owner.size else owner
