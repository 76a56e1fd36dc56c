"""The conditions on the chunks of a disassociated data set, C1 to C5, counted on what is published alone."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.model.disassociated import Disassociated
from shoal.privacy.verdict.km_counts import MOST_STEPS, Family, family, itemsets, steps
from shoal.privacy.verdict.km_form import Check, bad

HEAVY = 1e6  # itemsets of one chunk above which it is reduced first
BLOCK = 1 << 22
MOST_PLACES = 2e8  # pairs of an item of a shared chunk and a cluster of its joint

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Parts(NamedTuple):
    """The chunks of a release, laid out for the checks.

    `chunk`, `item` and `support` have one entry for each item of each chunk; `size` is the number of sub-records of a
    chunk, `records` that of the records that it belongs to; `has_empty` flags chunks that are empty or have an empty
    sub-record.
    """

    sets: Family
    chunk: Ints
    item: Ints
    support: Ints
    size: Ints
    records: Ints
    has_empty: Bools
    own: Bools
    term_keys: Ints


class Rare(NamedTuple):
    """Itemsets of some chunks: how many there are, how many are in fewer than k records, how rare, and where."""

    n_checked: int
    n_bad: int
    least: int
    where: tuple[int, ...]
    undecided: int


def parts(p: Disassociated) -> Parts:
    """Lay out the chunks of a release."""
    labels = max(1, len(p.labels))
    owner = np.repeat(np.arange(p.chunks), np.diff(p.chunk_ptr))
    sets = family(p.sub_ptr, p.items.astype(np.int64), owner, p.counts, labels)
    lengths = np.diff(sets.ptr)
    entry = sets.first[np.repeat(owner, lengths)] + sets.place
    support = np.bincount(entry, np.repeat(p.counts, lengths), minlength=sets.domain.size).astype(np.int64)
    first = np.append(sets.first, np.full(p.chunks + 1 - sets.first.size, sets.domain.size))
    chunk = np.repeat(np.arange(p.chunks), np.diff(first))
    size = np.bincount(owner, p.counts, minlength=p.chunks).astype(np.int64)
    total = np.concatenate([[0], np.cumsum(p.sizes[p.joint_clusters])])
    joint = np.append(total[p.joint_ptr[1:]] - total[p.joint_ptr[:-1]], 0)
    own = p.chunk_cluster >= 0
    records = np.where(own, np.append(p.sizes, 0)[p.chunk_cluster], joint[p.chunk_joint])
    has_empty = np.diff(p.chunk_ptr) == 0
    has_empty[owner[lengths == 0]] = True
    placed = p.term_cluster >= 0
    keys = np.unique(p.term_cluster[placed].astype(np.int64) * labels + p.term_item[placed])
    return Parts(sets, chunk, sets.domain, support, size, records, has_empty, own, keys)


def rare(given: Parts, chosen: Bools, k: int, m: int) -> Rare:
    """Count the itemsets of at most m items of the chosen chunks, each chunk separately (C1, and C4 for shared chunks).

    A chunk with very many itemsets is first reduced: items that always occur together count as one. If it still has too
    many, it is undecided, which counts as a failure.
    """
    if k <= 1 or not chosen.any():
        return Rare(0, 0, k, (), 0)
    lengths = np.diff(given.sets.ptr)
    work = np.bincount(given.sets.owner, steps(lengths, m), minlength=chosen.size)
    heavy = chosen & (work > HEAVY)
    checked, wrong, least, undecided = 0, 0, np.iinfo(np.int64).max, 0
    where: set[int] = set()
    for counted in itemsets(_of(given.sets, chosen & ~heavy), m) if (chosen & ~heavy).any() else ():
        checked += counted.support.size
        below = counted.support < k
        wrong += int(below.sum())
        least = min(least, int(counted.support.min()))
        where.update(counted.owner[below].tolist())
    for chunk in np.flatnonzero(heavy).tolist():
        found = _heavy(_of(given.sets, np.arange(chosen.size) == chunk), m)
        if found is None:
            undecided += 1
            where.add(chunk)
            continue
        checked += found.size
        wrong += int((found < k).sum())
        least = min(least, int(found.min()))
        where.update([chunk] if (found < k).any() else [])
    if undecided:
        least = 0
    elif not checked:
        least = k
    return Rare(checked + undecided, wrong + undecided, int(least), tuple(sorted(where)[:10]), undecided)


def disjoint(p: Disassociated, given: Parts) -> Check:
    """Check C2: chunks of a cluster share no item with each other or its terms, fit into it, and have no empty set."""
    labels = max(1, len(p.labels))
    mine = given.own[given.chunk]
    keys = p.chunk_cluster[given.chunk].astype(np.int64) * labels + given.item
    _, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    twice = mine & ((times[place] > 1) | np.isin(keys, given.term_keys))
    wrong = given.has_empty | (given.size > given.records)
    wrong[given.chunk[twice]] = True
    numbers = np.flatnonzero(given.own)
    places = numbers[wrong[numbers]]
    what = "chunks of a cluster share no item and fit into it"
    return Check("C2", what, int(numbers.size), int(places.size), tuple(places[:10].tolist()))


def cover(p: Disassociated, given: Parts) -> Check:
    """Check C3: the chunks of a cluster that is not opened can fill all its records, however they are combined.

    Where terms are published by cluster, a cluster that has some must be opened. One that is opened need not have any:
    terms that are in no chunk of the release are not named.
    """
    mine = p.chunk_cluster[given.own]
    chunks = np.bincount(mine, minlength=p.clusters)
    filled = np.bincount(mine, given.size[given.own], minlength=p.clusters)
    needed = p.sizes + float(p.k) * (np.minimum(chunks, p.m) - 1)
    wrong = ~p.opened & ((chunks == 0) | (filled < needed))
    if p.terms in ("cluster", "suppress"):
        has = np.zeros(p.clusters, bool)
        has[p.term_cluster[p.term_cluster >= 0]] = True
        wrong |= has & ~p.opened
    return bad("C3", "chunks of a closed cluster cover it", wrong)


def shared(p: Disassociated, given: Parts) -> Check:
    """Check C4: items of a shared chunk are in no other chunk, and no term, of any cluster of its joint; it fits.

    Joints name their clusters in ascending order.
    """
    member = _member(p)
    unsorted = (np.diff(p.joint_clusters) <= 0) & (np.diff(member) == 0)
    unexpected = np.diff(p.joint_ptr) == 0
    unexpected[member[1:][unsorted]] = True
    wrong = (given.has_empty | (given.size > given.records)) & ~given.own
    wrong |= _elsewhere(p, given)
    what = "items of shared chunks are in no other chunk of the joint"
    return bad("C4 joints", what, np.concatenate([wrong[~given.own], unexpected]))


def forced(p: Disassociated, given: Parts) -> Check:
    """Check C5: no cluster names a term beside an item that all its records have, which ties the two together."""
    universal = given.support >= given.records[given.chunk]
    sure = np.zeros(p.clusters, bool)
    sure[p.chunk_cluster[given.chunk[universal & given.own[given.chunk]]]] = True
    for joint in np.unique(p.chunk_joint[given.chunk[universal & ~given.own[given.chunk]]]).tolist():
        sure[p.joint_clusters[p.joint_ptr[joint] : p.joint_ptr[joint + 1]]] = True
    named = np.unique(p.term_cluster[p.term_cluster >= 0])
    places = named[sure[named]]
    what = "no term beside an item of all records"
    return Check("C5", what, int(named.size), int(places.size), tuple(places[:10].tolist()))


def terms(p: Disassociated) -> Check:
    """Check that terms are published as the policy for them says: never, without a cluster, or with one."""
    wrong = (p.term_cluster >= 0) == (p.terms == "global")
    # With fewer than k records, no published term can be shared by k of them.
    wrong |= p.terms == "drop" or p.n < p.k
    return bad("terms", "terms are published as their policy says", wrong)


def _member(p: Disassociated) -> Ints:
    """Return the joint of each cluster that a joint names."""
    return np.repeat(np.arange(p.joint_ptr.size - 1), np.diff(p.joint_ptr))


def _of(sets: Family, chosen: Bools) -> Family:
    """Return the sets of the chosen owners; owners keep their numbers."""
    keep = chosen[sets.owner]
    lengths = np.diff(sets.ptr)
    ptr = np.concatenate([[0], np.cumsum(lengths[keep])])
    return Family(
        ptr, sets.place[np.repeat(keep, lengths)], sets.owner[keep], sets.weight[keep], sets.domain, sets.first
    )


def _heavy(sets: Family, m: int) -> Ints | None:
    """Return supports that decide whether one chunk is k^m-anonymous, or None if that takes too long."""
    number = np.repeat(np.arange(sets.owner.size), np.diff(sets.ptr))
    held: dict[int, list[int]] = {}
    for place, of in zip(sets.place.tolist(), number.tolist(), strict=True):
        held.setdefault(place, []).append(of)
    # Items of the same sub-records have the same supports: one of them represents all.
    kept = np.array(sorted({tuple(of): place for place, of in reversed(held.items())}.values()), np.int64)
    stays = np.isin(sets.place, kept)
    lengths = np.bincount(number[stays], minlength=sets.owner.size)
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    small = sets._replace(ptr=ptr, place=sets.place[stays])
    if m >= int(lengths.max()):
        if float(lengths.size) * float(lengths.sum()) > MOST_STEPS / 10:
            return None
        # Every subset of a sub-record occurs at least as often as the whole of it.
        whole = [frozenset(small.place[a:b].tolist()) for a, b in zip(ptr[:-1].tolist(), ptr[1:].tolist(), strict=True)]
        weights = sets.weight.tolist()
        return np.array([sum(w for other, w in zip(whole, weights, strict=True) if one <= other) for one in whole])
    if float(steps(lengths, m).sum()) > MOST_STEPS / 4:
        return None
    return np.concatenate([counted.support for counted in itemsets(small, m)])


def _elsewhere(p: Disassociated, given: Parts) -> Bools:
    """Say of each shared chunk whether an item of it is in another chunk, or a term, of a cluster of its joint."""
    labels = max(1, len(p.labels))
    wrong = np.zeros(p.chunks, bool)
    mine = given.own[given.chunk]
    keys = p.chunk_cluster[given.chunk[mine]].astype(np.int64) * labels + given.item[mine]
    taken = np.unique(np.concatenate([keys, given.term_keys]))
    # Item by item, so that two joints that share an item and a cluster are in one block.
    entries = np.flatnonzero(~mine)
    entries = entries[np.argsort(given.item[entries], kind="stable")]
    chunk, item = given.chunk[entries], given.item[entries]
    joint = p.chunk_joint[chunk]
    # A cluster that a joint names twice counts once.
    whose, member = np.divmod(np.unique(_member(p) * max(1, p.clusters) + p.joint_clusters), max(1, p.clusters))
    ptr = np.searchsorted(whose, np.arange(p.joint_ptr.size))
    width = np.diff(ptr)[joint]
    work = np.cumsum(width)
    if work.size and work[-1] > MOST_PLACES:
        wrong[chunk] = True
        return wrong
    turns = np.append(np.flatnonzero(np.diff(item, prepend=-1)), item.size)
    low = 0
    while low < turns.size - 1:
        done = work[turns[low] - 1] if turns[low] else 0
        high = max(low + 1, int(np.searchsorted(work[turns[1:] - 1], done + BLOCK, side="right")))
        part = slice(turns[low], turns[high])
        span = width[part]
        starts = np.cumsum(span) - span
        where = np.arange(int(span.sum())) + np.repeat(ptr[joint[part]] - starts, span)
        keys = member[where] * labels + np.repeat(item[part], span)
        _, place, times = np.unique(keys, return_inverse=True, return_counts=True)
        wrong[np.repeat(chunk[part], span)[(times[place] > 1) | np.isin(keys, taken)]] = True
        low = high
    return wrong
