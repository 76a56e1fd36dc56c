"""Cuts: inequalities that hold for every partition but not for fractional ones, which tighten a linear programme.

A group that holds two of the rows i, j, l excludes any other such group: the shares of all groups that hold at least
two of them sum to at most 1. In general, give some rows integer weights w_i and choose a divisor q: the sum of
floor(w(S) / q) over the groups S of a partition, with w(S) the weight of the rows in S, is at most floor(w / q), with w
the weight of all of them. Cuts are sought that a fractional solution violates.

1. From each row in a fractional group, and for each pattern of weights: rows are added one by one that maximize the
   left side.
2. Then single rows are exchanged for others as long as that increases it.
3. Of the violated cuts, the most violated ones are kept, a few per row.

Jepsen, Petersen, Spoorendonk and Pisinger, Subset-row inequalities applied to the vehicle-routing problem with time
windows, Operations Research 56 (2008) 497-511; Pecin, Pessoa, Poggi, Uchoa and Santos, Limited memory rank-1 cuts for
vehicle routing problems, Operations Research Letters 45 (2017) 206-209.
"""

from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import loop

WIDTH = 9  # rows of a cut, at most
LEAST = 0.02  # least violation of a cut worth adding
CUTS_PER_ROW = 6  # new cuts through one row, at most
WHOLE = 1e-6  # a share this near to 0 or 1 is not fractional
PATTERNS = (
    ((1,) * 3, 2),
    ((1,) * 5, 2),
    ((1,) * 7, 2),
    ((1,) * 9, 2),
    ((1,) * 5, 3),
    ((2, 1, 1, 1), 3),
    ((2, 2, 1, 1, 1), 3),
    ((2, 2, 1, 1, 1), 4),
    ((3, 1, 1, 1, 1), 4),
    ((3, 3, 2, 2, 1), 4),
    ((3, 2, 2, 1, 1), 5),
)
_SIZE = np.array([len(weights) for weights, _ in PATTERNS])
_WEIGHT = np.array([(*weights, *(0,) * (WIDTH - len(weights))) for weights, _ in PATTERNS])
_DIVISOR = np.array([divisor for _, divisor in PATTERNS])


class Cuts(NamedTuple):
    """Cuts, and which of them go through a row.

    `rows` and `weight` have shape (cuts, WIDTH): rows ascending, padded with -1, and their weights, padded with 0.
    `right` is the right side: the total weight divided by the divisor, rounded down. The cuts through row i are
    through[start[i]:start[i + 1]].
    """

    rows: Rows
    weight: Rows
    divisor: Rows
    right: Rows
    start: Rows
    through: Rows


def no_cuts(n: int) -> Cuts:
    """Return an empty set of cuts for n rows."""
    empty, none = np.zeros((0, WIDTH), np.int64), np.zeros(0, np.int64)
    return Cuts(empty, empty, none, none, np.zeros(n + 1, np.int64), none)


def index_of(rows: Rows, weight: Rows, divisor: Rows, n: int) -> Cuts:
    """Return cuts with their right sides and the index by row."""
    cut, place = np.nonzero(rows >= 0)
    row = rows[cut, place]
    order = np.argsort(row, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    return Cuts(rows, weight, divisor, weight.sum(axis=1) // divisor, start, cut[order].astype(np.int64))


def violated(groups: Rows, share: Floats, n: int, most: int, known: set[bytes]) -> tuple[Rows, Rows, Rows]:
    """Return rows, weights and divisors of at most `most` cuts that the shares violate, the most violated first.

    `groups` has the rows of each group, padded with -1. `known` are existing cuts; the new ones are added to it.
    """
    fractional = np.flatnonzero((share > WHOLE) & (share < 1 - WHOLE))
    rows, pattern, excess = _search(groups[fractional], share[fractional], n, _SIZE, _WEIGHT, _DIVISOR)
    used = np.zeros(n, np.int64)
    found: list[tuple[Rows, Rows, int]] = []
    for number in np.argsort(-excess, kind="stable"):
        size, divisor = int(_SIZE[pattern[number]]), int(_DIVISOR[pattern[number]])
        order = np.argsort(rows[number, :size])
        own, weight = rows[number, :size][order], _WEIGHT[pattern[number], :size][order]
        key = b"".join((own.tobytes(), weight.tobytes(), bytes([divisor])))
        if key in known or used[own].max() >= CUTS_PER_ROW:
            continue
        known.add(key)
        used[own] += 1
        pad = (0, WIDTH - size)
        found.append((np.pad(own, pad, constant_values=-1), np.pad(weight, pad), divisor))
        if len(found) == most:
            break
    if not found:
        nothing = no_cuts(n)
        return nothing.rows, nothing.weight, nothing.divisor
    return np.array([f[0] for f in found]), np.array([f[1] for f in found]), np.array([f[2] for f in found])


@loop
def coefficients(groups: Rows, cuts: Cuts) -> tuple[Rows, Rows, Floats]:
    """Return the non-zero coefficients of groups in cuts: group, cut and value of each."""
    capacity = _entries(groups, cuts)
    group, cut, value = np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity)
    weight = np.zeros(len(cuts.rows), np.int64)
    count = 0
    for g in range(len(groups)):
        for row in groups[g]:
            if row >= 0:
                for c in cuts.through[cuts.start[row] : cuts.start[row + 1]]:
                    for place in range(WIDTH):
                        if cuts.rows[c, place] == row:
                            weight[c] += cuts.weight[c, place]
        for row in groups[g]:
            if row >= 0:
                for c in cuts.through[cuts.start[row] : cuts.start[row + 1]]:
                    if weight[c] >= cuts.divisor[c]:
                        group[count], cut[count] = g, c
                        value[count] = weight[c] // cuts.divisor[c]
                        count += 1
                    weight[c] = 0
    return group[:count], cut[:count], value[:count]


@loop
def _entries(groups: Rows, cuts: Cuts) -> int:
    """Return an upper limit of the number of coefficients: cuts through the rows of all groups."""
    count = 0
    for g in range(len(groups)):
        for row in groups[g]:
            if row >= 0:
                count += cuts.start[row + 1] - cuts.start[row]
    return count


@loop
def _search(groups: Rows, share: Floats, n: int, size: Rows, weight: Rows, divisor: Rows) -> tuple[Rows, Rows, Floats]:
    """Return the rows of violated cuts, the pattern of each, and by how much it is violated."""
    start, through = _groups_through(groups, n)
    rows = np.full((n * size.size, WIDTH), -1, np.int64)
    pattern, excess = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    held, seen = np.zeros(len(groups), np.int64), np.zeros(len(groups), np.int64)
    near, mark = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    cut = np.full(WIDTH, -1, np.int64)
    stamp, count = 0, 0
    for row in range(n):
        if start[row] == start[row + 1]:
            continue
        for p in range(size.size):
            cut[0] = row
            left, place, last = 0.0, 1, 0
            # Positions 1, 2, ... are filled, then revisited until nothing changes.
            while place < size[p] or place - last < size[p]:
                filling = place < size[p]
                filled = place if filling else size[p]
                at = place if filling else 1 + place % (size[p] - 1)
                stamp += 1
                around = _neighbours(cut, filled, groups, start, through, near, mark, stamp)
                old, best, softest = cut[at], -1, -1.0
                for other in near[:around]:
                    cut[at] = other
                    hard, soft = _left_side(
                        cut, at + 1 if filling else filled, weight[p], divisor[p], start, through, share, held, seen
                    )
                    ahead = hard > left + WHOLE
                    if ahead or (filling and hard > left - WHOLE and soft > softest):
                        left, softest, best = max(hard, left), soft, other
                cut[at] = best if best >= 0 else old
                if filling and best < 0:
                    break
                if best >= 0:
                    last = place
                place += 1
            right = 0
            for w in weight[p]:
                right += w
            right //= divisor[p]
            if place >= size[p] and left > right + LEAST:
                rows[count, : size[p]] = cut[: size[p]]
                pattern[count], excess[count] = p, left - right
                count += 1
    return rows[:count], pattern[:count], excess[:count]


@loop
def _neighbours(
    cut: Rows, filled: int, groups: Rows, start: Rows, through: Rows, near: Rows, mark: Rows, stamp: int
) -> int:
    """List the rows outside the cut that share a group with a row of it; return their number."""
    count = 0
    for row in cut[:filled]:
        mark[row] = stamp
    for row in cut[:filled]:
        for g in through[start[row] : start[row + 1]]:
            for other in groups[g]:
                if other >= 0 and mark[other] != stamp:
                    mark[other] = stamp
                    near[count] = other
                    count += 1
    return count


@loop
def _left_side(
    cut: Rows,
    filled: int,
    weight: Rows,
    divisor: int,
    start: Rows,
    through: Rows,
    share: Floats,
    held: Rows,
    seen: Rows,
) -> tuple[float, float]:
    """Return the left side of a cut, and the same with squared weights, which indicates the cut most likely to grow."""
    count = 0
    for place in range(filled):
        for g in through[start[cut[place]] : start[cut[place] + 1]]:
            if held[g] == 0:
                seen[count] = g
                count += 1
            held[g] += weight[place]
    hard, soft = 0.0, 0.0
    for g in seen[:count]:
        hard += share[g] * (held[g] // divisor)
        soft += share[g] * held[g] * held[g]
        held[g] = 0
    return hard, soft


@loop
def _groups_through(groups: Rows, n: int) -> tuple[Rows, Rows]:
    """Return where the groups of each row start, and the groups, row by row."""
    start = np.zeros(n + 1, np.int64)
    for g in range(len(groups)):
        for row in groups[g]:
            if row >= 0:
                start[row + 1] += 1
    for row in range(n):
        start[row + 1] += start[row]
    through, place = np.empty(start[n], np.int64), start[:n].copy()
    for g in range(len(groups)):
        for row in groups[g]:
            if row >= 0:
                through[place[row]] = g
                place[row] += 1
    return start, through
