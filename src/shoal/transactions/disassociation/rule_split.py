"""Split of a rule's records: by the other rules that they hold first, then by their items.

1. A segment of at most delta records is a leaf.
2. Otherwise, while more than delta of its records are left: the rarest other rule held by at least k of them, but not
   all, splits off its records as a segment of its own; without such a rule, the most frequent item does. What is in all
   records cannot split them, so the path to a segment need not be remembered.
3. The remainder is a leaf, or even blocks of at most delta records if nothing splits it.
4. A leaf of fewer than k records is merged into the one before it (the first into the next), and so is one of fewer
   than 2k where the two have at most delta: neighbouring leaves have rules in common. Leaves beyond delta are cut
   evenly.

Taking the rarest rule first, here as among the clusters, is what preserves rules of every frequency.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.lexical import Places, Whole

Flags = NDArray[np.bool_]


class Held(NamedTuple):
    """Which rules each record r holds, ascending: `rules[ptr[r]:ptr[r + 1]]`; and the support of each rule."""

    ptr: Places
    rules: Whole
    supports: Places


def split(
    indptr: Places,
    items: Whole,
    n_items: int,
    held: Held,
    members: Places,
    starts: Places,
    owners: Places,
    k: int,
    delta: int,
) -> Places:
    """Order `members` in place within each rule, and return the cuts between clusters of k to delta records.

    `members` are the records of the rules `owners` (at least k each) from `starts[i]` to `starts[i + 1]`; a rule does
    not split its own records. Takes O(L d) for L items in all records and d the depth of the splits, plus one look at
    every frequent item of a segment for each group that it splits off.
    """
    n_rules = held.supports.size
    ptr, tokens = _tokens(indptr, items, held, members, np.repeat(owners, np.diff(starts)))
    cut = _recursion(ptr, tokens, n_rules, n_rules + n_items, members, starts, k, delta)
    return _mended(cut, starts, k, delta)


@loop
def _tokens(indptr: Places, items: Whole, held: Held, members: Places, owner: Places) -> tuple[Places, Whole]:
    """Return what can split each member: its other rules, then its items, numbered after the rules."""
    rule_ptr, rules, supports = held
    ptr = np.zeros(members.size + 1, np.int64)
    size = 0
    for r in members:
        size += rule_ptr[r + 1] - rule_ptr[r] + indptr[r + 1] - indptr[r]
    tokens = np.empty(size, np.int32)
    at = 0
    for a in range(members.size):
        r = members[a]
        for b in range(rule_ptr[r], rule_ptr[r + 1]):
            if rules[b] != owner[a]:
                tokens[at] = rules[b]
                at += 1
        for b in range(indptr[r], indptr[r + 1]):
            tokens[at] = supports.size + items[b]
            at += 1
        ptr[a + 1] = at
    return ptr, tokens[:at]


@inner_loop
def _post(
    ptr: Places,
    tokens: Whole,
    place: Places,
    start: int,
    stop: int,
    counts: Places,
    begin: Places,
    seen: Places,
    posts: Places,
) -> int:
    """List the members of a segment by token; return how many tokens there are."""
    distinct = 0
    for a in range(start, stop):
        for b in range(ptr[place[a]], ptr[place[a] + 1]):
            if counts[tokens[b]] == 0:
                seen[distinct] = tokens[b]
                distinct += 1
            counts[tokens[b]] += 1
    at = 0
    for a in range(distinct):
        begin[seen[a]] = at
        at += counts[seen[a]]
        counts[seen[a]] = 0
    for a in range(start, stop):
        for b in range(ptr[place[a]], ptr[place[a] + 1]):
            posts[begin[tokens[b]] + counts[tokens[b]]] = place[a]
            counts[tokens[b]] += 1
    return distinct


@inner_loop
def _choose(counts: Places, seen: Places, useful: int, alive: int, n_rules: int, k: int) -> tuple[int, int]:
    """Return the token that splits next, or -1, and how many are still useful: these come first."""
    best, a = -1, 0
    while a < useful:
        token = seen[a]
        count = counts[token]
        if count < k:
            useful -= 1
            seen[a], seen[useful] = seen[useful], token
            continue
        a += 1
        if count == alive:
            continue
        if best < 0 or (best < n_rules) != (token < n_rules):
            better = best < 0 or token < n_rules
        elif count != counts[best]:
            better = (count < counts[best]) == (token < n_rules)
        else:
            better = token < best
        if better:
            best = token
    return best, useful


@loop
def _recursion(  # noqa: PLR0912 - copies are written out: slices take seconds to compile
    ptr: Places, tokens: Whole, n_rules: int, n_tokens: int, members: Places, starts: Places, k: int, delta: int
) -> Flags:
    """Order the members in place, and mark where leaves begin."""
    n = members.size
    cut = np.zeros(n + 1, np.bool_)
    for start in starts:
        cut[start] = True
    place, moved = np.arange(n), np.empty(n, np.int64)  # which member is at a position of the order
    counts, begin, seen = np.zeros(n_tokens, np.int64), np.zeros(n_tokens, np.int64), np.empty(n_tokens, np.int64)
    posts = np.empty(tokens.size, np.int64)
    taken = np.zeros(n, np.bool_)
    # Pending segments do not overlap.
    low, high = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    waiting = starts.size - 1
    for leaf in range(waiting):
        low[leaf], high[leaf] = starts[leaf], starts[leaf + 1]
    while waiting > 0:
        waiting -= 1
        start, stop = low[waiting], high[waiting]
        if stop - start <= delta:
            continue
        distinct = _post(ptr, tokens, place, start, stop, counts, begin, seen, posts)
        useful, at = distinct, start
        while stop - at > delta:
            best, useful = _choose(counts, seen, useful, stop - at, n_rules, k)
            if best < 0:
                break
            cut[at] = True
            low[waiting] = at
            b = begin[best]
            while counts[best] > 0:
                one = posts[b]
                b += 1
                if not taken[one]:
                    taken[one] = True
                    moved[at] = one
                    at += 1
                    for c in range(ptr[one], ptr[one + 1]):
                        counts[tokens[c]] -= 1
            high[waiting] = at
            waiting += 1
        counts[seen[:distinct]] = 0
        rest = stop - at
        blocks = (rest + delta - 1) // delta
        for b in range(blocks):
            cut[at + b * (rest // blocks) + min(b, rest % blocks)] = True
        for a in range(start, stop):
            if not taken[place[a]]:
                moved[at] = place[a]
                at += 1
        for a in range(start, stop):
            taken[place[a]] = False
            place[a] = moved[a]
    for a in range(n):
        moved[a] = members[place[a]]
    for a in range(n):
        members[a] = moved[a]
    return cut


@loop
def _mended(cut: Flags, starts: Places, k: int, delta: int) -> Places:
    """Merge small leaves into their neighbours, and cut those beyond delta evenly."""
    ends = np.zeros(cut.size, np.int64)
    filled = 1
    for group in range(starts.size - 1):
        begin, a, end = starts[group], starts[group], starts[group + 1]
        while begin < end:
            a = _behind(cut, a, end)
            size, following = a - begin, _behind(cut, a, end) - a
            small = size + following <= delta and min(size, following) < 2 * k
            if a < end and (size < k or following < k or small):
                continue
            blocks = (size + delta - 1) // delta
            for block in range(1, blocks + 1):
                ends[filled] = begin + block * (size // blocks) + min(block, size % blocks)
                filled += 1
            begin = a
    return ends[:filled].copy()


@inner_loop
def _behind(cut: Flags, a: int, end: int) -> int:
    """Return where the leaf that begins at a ends."""
    a += 1
    while a < end and not cut[a]:
        a += 1
    return a
