"""Sets of records as 64-bit words: how many records there are, and whether some itemset is rare among them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop
from shoal.transactions.lexical import Places

Words = NDArray[np.uint64]

ONE = np.uint64(1)
CLEAR, RARE, SPENT = 0, 1, 2  # result of `rare`: no rare itemset, one, or budget exhausted


def ones(word: np.uint64) -> int:
    """Return the number of set bits of a word."""
    return int(word).bit_count()


def _ones_typed(_context: Any, _word: Any) -> tuple[Any, Callable[..., Any]]:
    """Declare the processor's population count to numba."""

    def generate(_ctx: Any, builder: Any, _signature: Any, args: Any) -> Any:
        """Emit the instruction."""
        return builder.ctpop(args[0])

    return types.int64(types.uint64), generate


_ones_compiled: Any = intrinsic(_ones_typed)


def _ones_for(word: Any) -> Callable[[Any], Any]:  # noqa: ARG001, numba compares the names
    """Return the implementation of `ones` inside compiled loops."""

    def compiled(word: Any) -> Any:
        """Count the bits of a word."""
        return _ones_compiled(word)

    return compiled


overload(ones, inline="always")(_ones_for)


class Looking(NamedTuple):
    """The search for an itemset of at most m items held by fewer than k records, and its working arrays.

    Sets of records are stored one after another in `held`. Depth first, `path` holds the sets being intersected,
    `meets` their intersections. Every step costs one unit of the budget.
    """

    k: int
    m: int
    depth: int
    held: Words
    path: Places
    meets: Words
    budget: Places


@inner_loop
def rare(looking: Looking, sets: int, words: int) -> int:
    """Return whether 2 to `depth` of the sets share 1 to k - 1 records; each set has k records or more."""
    k, _, depth, held, path, meets, budget = looking
    if depth < 2 or sets < 2:
        return CLEAR
    for first in range(sets - 1):
        total = 0
        for w in range(words):
            meets[w] = held[first * words + w]
            total += ones(meets[w])
        path[0], path[1] = total, first + 1
        level = 1
        # Two numbers per level: how many records its sets have in common, and which set to intersect next.
        while level > 0:
            here = path[2 * level - 1]
            if here == sets:
                level -= 1
                continue
            path[2 * level - 1] = here + 1
            budget[0] -= 1
            if budget[0] < 0:
                return SPENT
            base = (level - 1) * words
            total = 0
            for w in range(words):
                both = meets[base + w] & held[here * words + w]
                meets[base + words + w] = both
                total += ones(both)
            if 0 < total < k:
                return RARE
            # A set that removes no record adds nothing new: what lies below it is also examined without it.
            if total > 0 and total < path[2 * level - 2] and level + 1 < depth:
                path[2 * level], path[2 * level + 1] = total, here + 1
                level += 1
    return CLEAR


@inner_loop
def fits(looking: Looking, bits: Words, wide: int, c: int, members: Places, joined: int) -> int:
    """Return whether a candidate makes no rare itemset with the members of a chunk, or the budget is exhausted."""
    k, m, _, held, _, _, budget = looking
    kept = 0
    alone = 0
    for w in range(wide):
        alone += ones(bits[c * wide + w])
    for t in range(joined):
        budget[0] -= 1
        if budget[0] < 0:
            return SPENT
        total = 0
        for w in range(wide):
            both = bits[c * wide + w] & bits[members[t] * wide + w]
            held[kept * wide + w] = both
            total += ones(both)
        if 0 < total < k:
            return RARE
        # A member held by all records of the candidate makes no itemset rarer.
        if 0 < total < alone:
            kept += 1
    if m < 3:
        return CLEAR
    return rare(looking, kept, wide)
