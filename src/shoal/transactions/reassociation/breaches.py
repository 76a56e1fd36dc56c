"""Breaches: which occurrences of items belong to itemsets held by too few records.

Itemsets are enumerated depth first, items ascending: the records that hold a prefix are listed, the items that follow
in them are counted, and prefixes held by enough records are extended. Only itemsets that occur are counted, in one
array with a number per item, and no itemset is examined beyond a prefix that is already rare.
"""

import numpy as np

from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.distinct import Distinct
from shoal.transactions.lexical import Places, by_item

INITIAL_SIZE = 1024  # initial size of a stack
LIGHT = 1 << 40  # more than there are occurrences
WHERE, ABOVE, RARE, FRAGILE = 0, 1, 2, 3  # of an entry: its occurrence, the entry of the shorter prefix, two counts
ITEM, WEIGHT, UNTIL = 0, 1, 2  # of an item that follows: its number, its support, the end of its entries
# Of a prefix: entries, rest of the stack, items; and how many occurrences were examined, in the first place alone.
FIRST, LAST, FREE, ITEMS, STOP, CURSOR, WORK = 0, 1, 2, 3, 4, 5, 6


@loop
def breaches(records: Distinct, count: int, k: int, m: int, most: int) -> tuple[Places, Places, int]:
    """Return for every occurrence how many rare and how many fragile itemsets of at most m items it belongs to.

    The third number is the work done: how many occurrences were examined. If it exceeds `most`, counting ends and the
    other two are meaningless.

    Records are distinct and weighted. An itemset is rare if records of less weight than k hold it, and counted if none
    of its prefixes is rare; it is fragile for a record if it would be rare without it. Records of weight k and more
    hold no rare itemsets, and their fragile ones are not all counted.
    """
    items, weights = records.items, records.weights
    found = np.zeros((2, items.size), np.int64)
    owner, support = _indexed(records, count)
    ends, index = by_item(items, count)
    _mark_single(records, owner, support, k, found)
    # Stacks of lists: the entries of each prefix, and the items that follow it.
    entries, following = np.zeros((4, INITIAL_SIZE), np.int64), np.zeros((3, INITIAL_SIZE), np.int64)
    path = np.zeros((7, m + 1), np.int64)
    path[WORK, 0] = items.size + count
    tally, begin = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for root in range(count if m > 1 else 0):
        size = ends[root + 1] - ends[root]
        if support[root] < k or not _light(weights, owner, index[ends[root] : ends[root + 1]], k):
            continue
        entries = _enlarged(entries, size)
        for at in range(size):
            entries[WHERE, at] = index[ends[root] + at]
            entries[RARE, at], entries[FRAGILE, at] = 0, 0
        path[LAST, 1], path[FREE, 0] = size, size
        depth, fresh = 1, True
        while depth > 0:
            if fresh:
                following = _enlarged(following, path[STOP, depth - 1] + count)
                before = path[WORK, 0]
                safe = _follow(records, owner, k, entries, following, path, tally, depth)
                last = safe or depth + 1 == m
                # Marking, dividing and listing each take as long as following.
                path[WORK, 0] += (path[WORK, 0] - before) * (0 if safe else 1 if last else 3)
                if path[WORK, 0] > most:
                    return found[0], found[1], path[WORK, 0]
                if not safe:
                    _mark(records, owner, k, entries, path, tally, depth, found)
                path[FREE, depth] = path[FREE, depth - 1]
                if last:
                    path[CURSOR, depth] = path[STOP, depth]
                else:
                    _divide(records, owner, k, entries, following, path, begin, depth)
                    entries = _enlarged(entries, path[FREE, depth])
                    _list(records, owner, entries, path, begin, depth)
                for place in range(path[ITEMS, depth], path[STOP, depth]):
                    tally[following[ITEM, place]] = 0
            fresh = _longer(following, path, depth)
            if fresh:
                depth += 1
            else:
                _add_to_prefix(entries, path, depth, found)
                depth -= 1
    return found[0], found[1], path[WORK, 0]


@loop
def _indexed(records: Distinct, count: int) -> tuple[Places, Places]:
    """Return the record of each occurrence, and the support of each item."""
    owner, support = np.empty(records.items.size, np.int64), np.zeros(count, np.int64)
    for record in range(records.weights.size):
        for at in range(records.indptr[record], records.indptr[record + 1]):
            owner[at] = record
            support[records.items[at]] += records.weights[record]
    return owner, support


@inner_loop
def _mark_single(records: Distinct, owner: Places, support: Places, k: int, found: Places) -> None:
    """Mark the occurrences of items that are rare or fragile by themselves."""
    for at in range(records.items.size):
        held = support[records.items[at]]
        if held < k:
            found[0, at] = 1
        elif held < k + records.weights[owner[at]]:
            found[1, at] = 1


@inner_loop
def _light(weights: Places, owner: Places, index: Places, k: int) -> bool:
    """Return whether some of these occurrences are in a record of weight below k; others cannot hold a rare itemset."""
    light = 0
    for at in index:
        light += weights[owner[at]] < k
    return light > 0


@loop
def _enlarged(stack: Places, needed: int) -> Places:
    """Return the stack if it is large enough, otherwise a copy twice as large as needed."""
    if stack.shape[1] >= needed:
        return stack
    larger = np.zeros((stack.shape[0], 2 * needed), np.int64)
    for level in range(stack.shape[0]):
        for at in range(stack.shape[1]):
            larger[level, at] = stack[level, at]
    return larger


@inner_loop
def _follow(
    records: Distinct,
    owner: Places,
    k: int,
    entries: Places,
    following: Places,
    path: Places,
    tally: Places,
    depth: int,
) -> bool:
    """Count the items that follow a prefix; return whether one record shows that nothing below is rare or fragile."""
    indptr, items, weights = records
    start = path[STOP, depth - 1]
    stop, widest = start, 0
    for entry in range(path[FIRST, depth], path[LAST, depth]):
        record = owner[entries[WHERE, entry]]
        rest, end = entries[WHERE, entry] + 1, indptr[record + 1]
        path[WORK, 0] += 1 + end - rest
        # With weight 2k - 1 an itemset is not rare even without a record of weight k - 1.
        if weights[record] >= 2 * k - 1 and end - rest > widest:
            widest = end - rest
        for at in range(rest, end):
            if tally[items[at]] == 0:
                following[ITEM, stop] = items[at]
                stop += 1
            tally[items[at]] += weights[record]
    for place in range(start, stop):
        following[WEIGHT, place] = tally[following[ITEM, place]]
    path[ITEMS, depth], path[STOP, depth], path[CURSOR, depth] = start, stop, start
    return bool(widest == stop - start)


@inner_loop
def _mark(
    records: Distinct, owner: Places, k: int, entries: Places, path: Places, tally: Places, depth: int, found: Places
) -> None:
    """Mark the occurrences that make a prefix rare or fragile, and count them for its entries."""
    indptr, items, weights = records
    for entry in range(path[FIRST, depth], path[LAST, depth]):
        record = owner[entries[WHERE, entry]]
        for at in range(entries[WHERE, entry] + 1, indptr[record + 1]):
            held = tally[items[at]]
            if held < k:
                found[0, at] += 1
                entries[RARE, entry] += 1
            elif held < k + weights[record]:
                found[1, at] += 1
                entries[FRAGILE, entry] += 1


@inner_loop
def _divide(
    records: Distinct,
    owner: Places,
    k: int,
    entries: Places,
    following: Places,
    path: Places,
    begin: Places,
    depth: int,
) -> None:
    """Reserve a range of entries for every item that follows often enough and in a light record."""
    indptr, items, weights = records
    for place in range(path[ITEMS, depth], path[STOP, depth]):
        begin[following[ITEM, place]] = 0
    for entry in range(path[FIRST, depth], path[LAST, depth]):
        record = owner[entries[WHERE, entry]]
        one = 1 + LIGHT if weights[record] < k else 1
        for at in range(entries[WHERE, entry] + 1, indptr[record + 1]):
            begin[items[at]] += one
    top = path[FREE, depth]
    for place in range(path[ITEMS, depth], path[STOP, depth]):
        item = following[ITEM, place]
        size = begin[item] % LIGHT
        if following[WEIGHT, place] >= k and begin[item] > LIGHT:
            begin[item] = top
            top += size
        else:
            begin[item] = -1
        following[UNTIL, place] = top
    path[FREE, depth] = top


@inner_loop
def _list(records: Distinct, owner: Places, entries: Places, path: Places, begin: Places, depth: int) -> None:
    """List the occurrences of each item that has a range reserved."""
    indptr, items, _ = records
    for entry in range(path[FIRST, depth], path[LAST, depth]):
        for at in range(entries[WHERE, entry] + 1, indptr[owner[entries[WHERE, entry]] + 1]):
            to = begin[items[at]]
            if to >= 0:
                entries[WHERE, to], entries[ABOVE, to], entries[RARE, to], entries[FRAGILE, to] = at, entry, 0, 0
                begin[items[at]] += 1


@inner_loop
def _longer(following: Places, path: Places, depth: int) -> bool:
    """Advance to the next longer prefix that has entries; return whether there is one."""
    while path[CURSOR, depth] < path[STOP, depth]:
        place = path[CURSOR, depth]
        path[CURSOR, depth] += 1
        before = path[FREE, depth - 1] if place == path[ITEMS, depth] else following[UNTIL, place - 1]
        if following[UNTIL, place] > before:
            path[FIRST, depth + 1], path[LAST, depth + 1] = before, following[UNTIL, place]
            return True
    return False


@inner_loop
def _add_to_prefix(entries: Places, path: Places, depth: int, found: Places) -> None:
    """Add what was found below a prefix to its last item and to the prefix that is shorter by it."""
    for entry in range(path[FIRST, depth], path[LAST, depth]):
        found[0, entries[WHERE, entry]] += entries[RARE, entry]
        found[1, entries[WHERE, entry]] += entries[FRAGILE, entry]
        if depth > 1:
            entries[RARE, entries[ABOVE, entry]] += entries[RARE, entry]
            entries[FRAGILE, entries[ABOVE, entry]] += entries[FRAGILE, entry]
