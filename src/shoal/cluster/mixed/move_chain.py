"""The chain of moves and swaps that `gower` runs in each cell."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.mixed.near_cells import Cell
from shoal.cluster.search.limits import Rules, meets_in
from shoal.kernels.columns import Columns, pair_loss
from shoal.kernels.loops import callable_inner_loop, inner_loop
from shoal.kernels.random_streams import uniform

Whole = NDArray[np.int32]


class State(NamedTuple):
    """Groups of one cell: their rows, and the sums of the distances between these."""

    label: Whole
    members: Whole
    size: Whole
    total: Floats


@callable_inner_loop
def move_chain(
    cell: Cell, state: State, steps: int, hot: float, cold: float, k: int, rows: Rows, values: Whole
) -> None:
    """Move and swap rows while the temperature falls."""
    columns, _, near, rules, random_state = cell
    label, members, size, total = state
    n, most = label.size, members.shape[1]
    for row in range(n):
        if label[row] >= 0:
            group = label[row]
            total[group] += _sum(columns, members, size, group, row)
            members[group, size[group]] = row
            size[group] += 1
    fall = (cold / hot) ** (1 / max(1, steps))
    heat = hot
    for _ in range(steps):
        heat *= fall
        row = int(uniform(random_state) * n)
        draw = uniform(random_state)
        other = near[row, int(draw * draw * near.shape[1])]
        if other < 0 or label[row] < 0 or label[other] < 0 or label[row] == label[other]:
            continue
        a, b = label[row], label[other]
        before = total[a] / size[a] + total[b] / size[b]
        own, new = _sum(columns, members, size, a, row), _sum(columns, members, size, b, row)
        limit = before - heat * np.log(max(uniform(random_state), 1e-300))
        if size[a] > k and size[b] < most:
            after = (total[a] - own) / (size[a] - 1) + (total[b] + new) / (size[b] + 1)
            if after < limit and _may(rules, state, a, b, row, -1, rows, values):
                total[a] -= own
                total[b] += new
                _leave(members, size, a, row)
                members[b, size[b]] = row
                size[b] += 1
                label[row] = b
                continue
        mate = members[b, int(uniform(random_state) * size[b])]
        if mate == other:
            continue
        gap = pair_loss(columns, row, mate, np.inf)
        theirs, there = _sum(columns, members, size, b, mate), _sum(columns, members, size, a, mate)
        one, two = total[a] - own + there - gap, total[b] - theirs + new - gap
        if one / size[a] + two / size[b] < limit and _may(rules, state, a, b, row, mate, rows, values):
            total[a], total[b] = one, two
            _leave(members, size, a, row)
            _leave(members, size, b, mate)
            members[a, size[a]], members[b, size[b]] = mate, row
            size[a] += 1
            size[b] += 1
            label[row], label[mate] = b, a


@inner_loop
def _sum(columns: Columns, members: Whole, size: Whole, group: int, row: int) -> float:
    """Return the sum of the distances of a row to those of a group."""
    total = 0.0
    for i in range(size[group]):
        total += pair_loss(columns, members[group, i], row, np.inf)
    return total


@inner_loop
def _leave(members: Whole, size: Whole, group: int, row: int) -> None:
    """Remove a row from the list of its group."""
    for i in range(size[group]):
        if members[group, i] == row:
            members[group, i] = members[group, size[group] - 1]
            break
    size[group] -= 1


@inner_loop
def _may(rules: Rules | None, state: State, a: int, b: int, row: int, mate: int, rows: Rows, values: Whole) -> bool:
    """Return whether both groups meet the limits when a row goes from a to b, and its mate the other way."""
    if rules is None:
        return True
    for turn in range(2):
        group, leaves, joins = (a, row, mate) if turn == 0 else (b, mate, row)
        count = 0
        for i in range(state.size[group]):
            if state.members[group, i] != leaves:
                rows[count] = state.members[group, i]
                count += 1
        if joins >= 0:
            rows[count] = joins
            count += 1
        if not meets_in(rules, rows, count, values):
            return False
    return True
