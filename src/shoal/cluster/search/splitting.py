"""Splitting: proposals under limits on sensitive values, where groups differ in size and need each other's rows.

1. Split: a part is grown from a row inside its group, of k rows, half of them or any number.
2. Split again: the same out of two groups together, which keep their sizes or not.
3. Merge two groups; create one; dissolve one (`search.structure`). Merging and dissolving are rare: they are seldom
   undone at random, and groups would only grow.

A part is grown such that it is likely to meet the limits; whether all groups concerned do is checked at the end.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats
from shoal.cluster.search.limits import Rules, meets_in
from shoal.cluster.search.state import State, Whole, Workspace, transfer
from shoal.cluster.search.structure import create, dissolve, undo
from shoal.kernels.distance import squared
from shoal.kernels.loops import inner_loop, loop
from shoal.kernels.random_streams import uniform

MERGES = 0.03  # of the proposals that treat two groups as one
DISSOLVES = 0.02  # of all proposals that change the structure


@loop
def restructure_within(
    state: State,
    rules: Rules,
    near: Whole,
    row: int,
    other: int,
    limit: float,
    random_state: NDArray[np.uint64],
    k: int,
    most: int,
    workspace: Workspace,
) -> None:
    """Propose a change of structure around a row, within the limits."""
    one, two = state.label[row], state.label[other]
    size, journal = state.size[one], workspace.journal
    draw = uniform(random_state)
    allowed = -limit * np.log(1.0 - uniform(random_state))
    if size >= 2 * k and draw < 0.5:
        steps, delta = _split(state, rules, row, one, _part_size(size, k, random_state), journal)
    elif one != two and draw < 0.7:
        both = size + state.size[two]
        if both <= most and uniform(random_state) < MERGES:
            steps, delta = _merge(state, one, two, journal)
        else:
            want = size if uniform(random_state) < 0.5 else _part_size(both, k, random_state)
            steps, delta = _split(state, rules, row, two, want, journal)
    elif draw < 1.0 - DISSOLVES:
        if size <= k:
            return
        steps, delta = create(state, near, row, k, workspace)
    elif size <= k + 1:
        steps, delta = dissolve(state, rules, near, one, allowed, most, workspace)
    else:
        return
    if not delta <= allowed or not _sound(state, rules, k, most, workspace, steps):
        undo(state, journal, steps)


@loop
def _split(state: State, rules: Rules, row: int, two: int, want: int, journal: Whole) -> tuple[int, float]:
    """Grow a part of `want` rows from a row, out of its group and group two; the part becomes its group.

    If group two is the row's own, the part goes to an empty group. Return steps of the journal and the change of SSE.
    """
    one = state.label[row]
    target = one
    if one == two:
        if state.free[0] == 0:
            return 0, 0.0
        target = state.free[state.free[0]]
    pool = np.empty(state.size[one] + (state.size[two] if one != two else 0), np.int32)
    gaps = np.empty(pool.size)
    count = 0
    for turn in range(1 if one == two else 2):
        group = one if turn == 0 else two
        for place in range(state.size[group]):
            pool[count] = state.members[group, place]
            gaps[count] = -1.0 if pool[count] == row else squared(state.x, pool[count], state.x, row)
            count += 1
    order = _ascending(gaps)
    chosen = np.zeros(count, np.bool_)
    if not choose(rules, pool, order, want, chosen):
        return 0, 0.0
    steps, delta = 0, 0.0
    for i in range(count):
        goal = target if chosen[i] else two
        if state.label[pool[i]] != goal:
            journal[steps, 0], journal[steps, 1] = pool[i], state.label[pool[i]]
            delta += transfer(state, pool[i], goal)
            steps += 1
    return steps, delta


@loop
def choose(rules: Rules, pool: Whole, order: NDArray[np.int64], want: int, chosen: NDArray[np.bool_]) -> bool:
    """Mark `want` rows of a pool, in this order, such that they are likely to meet the rules; False if impossible."""
    columns = rules.bins.shape[1]
    held = np.zeros(rules.bin_share.size, np.int64)
    excess = np.zeros(columns)
    kinds = np.zeros(columns, np.int64)
    seen = np.empty((want, columns), np.int32)
    least = np.ceil(rules.asked[0] - 1e-9)
    taken = 0
    for i in order:
        if taken == want:
            break
        row = pool[i]
        fits = True
        for c in range(columns):
            new = _new(seen, taken, c, rules.codes[row, c])
            crowded = (
                rules.bin_limit[c] < 1.0 and excess[c] + _more(rules, held, row, c, want) > rules.bin_limit[c] + 1e-9
            )
            if crowded or (not new and least - kinds[c] >= want - taken):
                fits = False
                break
        if not fits:
            continue
        for c in range(columns):
            kinds[c] += _new(seen, taken, c, rules.codes[row, c])
            seen[taken, c] = rules.codes[row, c]
            excess[c] += _more(rules, held, row, c, want)
            held[rules.bin_start[c] + rules.bins[row, c]] += 1
        chosen[i] = True
        taken += 1
    return taken == want


@inner_loop
def _new(seen: Whole, taken: int, c: int, code: int) -> bool:
    """Return whether none of the rows taken has this value in a column."""
    earlier = 0
    while earlier < taken and seen[earlier, c] != code:
        earlier += 1
    return earlier == taken


@inner_loop
def _more(rules: Rules, held: NDArray[np.int64], row: int, c: int, want: int) -> float:
    """Return by how much one more row would raise the excess of its bin over its share."""
    bin_ = rules.bin_start[c] + rules.bins[row, c]
    share = rules.bin_share[bin_]
    return float(max(0.0, (held[bin_] + 1) / want - share) - max(0.0, held[bin_] / want - share))


@loop
def _part_size(size: int, k: int, random_state: NDArray[np.uint64]) -> int:
    """Return the size of a part: k, half of the rows, or any number that leaves k."""
    draw = uniform(random_state)
    if draw < 1 / 3:
        return k
    if draw < 2 / 3:
        return size // 2
    return k + int(uniform(random_state) * (size - 2 * k + 1))


@loop
def _merge(state: State, one: int, two: int, journal: Whole) -> tuple[int, float]:
    """Move all rows of group two into group one."""
    steps, delta = 0, 0.0
    while state.size[two] > 0:
        row = state.members[two, state.size[two] - 1]
        journal[steps, 0], journal[steps, 1] = row, two
        delta += transfer(state, row, one)
        steps += 1
    return steps, delta


@loop
def _sound(state: State, rules: Rules, k: int, most: int, workspace: Workspace, steps: int) -> bool:
    """Return whether every group that the journal touches is empty, or of k to `most` rows that meet the rules."""
    journal, rows = workspace.journal, workspace.rows
    touched = np.empty(2 * steps, np.int32)
    count = 0
    for step in range(steps):
        for group in (journal[step, 1], state.label[journal[step, 0]]):
            new = True
            for i in range(count):
                if touched[i] == group:
                    new = False
                    break
            if not new:
                continue
            touched[count] = group
            count += 1
            size = state.size[group]
            if size > most or 0 < size < k:
                return False
            if size > 0:
                for place in range(size):
                    rows[place] = state.members[group, place]
                if not meets_in(rules, rows, size, workspace.values):
                    return False
    return True


@loop
def _ascending(values: Floats) -> NDArray[np.int64]:
    """Return the order of a few values, smallest first."""
    order = np.arange(values.size)
    for i in range(1, values.size):
        item, j = order[i], i
        while j > 0 and values[order[j - 1]] > values[item]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = item
    return order
