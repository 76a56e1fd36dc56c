"""The chain of pools that `rebuild` runs in each cell."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.mixed.joining_rules import may_join
from shoal.cluster.mixed.near_cells import Cell
from shoal.cluster.search.limits import Rules, meets_in
from shoal.kernels.columns import Hulls, add, clear, join_loss
from shoal.kernels.loops import callable_inner_loop, inner_loop
from shoal.kernels.random_streams import uniform

CAP = 4  # times k: larger groups are not rebuilt
ONE_LESS = 0.3  # probability that a pool is rebuilt into one group fewer
TRIES = 8  # draws of a row before a step is given up
BEYOND = 8.0  # temperatures above the old cost at which building is given up

Whole = NDArray[np.int32]


class State(NamedTuple):
    """Groups of one cell: their rows, and the loss of one of these."""

    label: Whole
    members: Whole
    size: Whole
    lost: Floats
    spare: Whole  # numbers of empty groups
    spares: Rows  # how many there are


class Workspace(NamedTuple):
    """Working arrays, reused."""

    hulls: Hulls
    pool: Whole
    chosen: Rows
    ends: Rows
    lost: Floats
    least: Floats  # lower bound of the loss if a row of the pool joined
    rows: Rows
    values: Whole


@callable_inner_loop
def rebuild_chain(
    cell: Cell, state: State, workspace: Workspace, steps: int, hot: float, cold: float, k: int, reach: int
) -> None:
    """Rebuild pools while the temperature falls."""
    random_state = cell.random_state
    fall = (cold / hot) ** (1 / max(1, steps)) if hot > 0 else 0.0
    heat = hot
    for _ in range(steps):
        heat *= fall
        groups = _drawn(cell, state, workspace, reach)
        if groups < 2:
            continue
        m, old = 0, 0.0
        for g in range(groups):
            group = workspace.chosen[g]
            old += state.size[group] * state.lost[group]
            for i in range(state.size[group]):
                workspace.pool[m] = state.members[group, i]
                m += 1
        built, cost = _built(cell, workspace, m, old + BEYOND * heat, k, uniform(random_state) < ONE_LESS)
        if built == 0 or (cost > old and (heat <= 0 or uniform(random_state) >= np.exp((old - cost) / heat))):
            continue
        _put(state, workspace, groups, built)


@inner_loop
def _drawn(cell: Cell, state: State, workspace: Workspace, reach: int) -> int:
    """Draw the groups of a pool; return their number."""
    near, random_state = cell.near, cell.random_state
    label, members, size, lost, _, _ = state
    chosen, n, row = workspace.chosen, label.size, -1
    for _ in range(TRIES):
        one = int(uniform(random_state) * n)
        if label[one] >= 0 and lost[label[one]] > 0:
            row = one
            break
    if row < 0:
        return 0
    chosen[0], groups = label[row], 1
    wanted = 2 + int(uniform(random_state) * (reach - 1))
    for _ in range(3 * wanted):
        if groups == wanted:
            break
        group = chosen[int(uniform(random_state) * groups)]
        one = members[group, int(uniform(random_state) * size[group])]
        other = near[one, int(uniform(random_state) * near.shape[1])]
        if other >= 0 and label[other] >= 0:
            new = True
            for g in range(groups):
                new = new and chosen[g] != label[other]
            if new:
                chosen[groups] = label[other]
                groups += 1
    return groups


@inner_loop
def _built(cell: Cell, workspace: Workspace, m: int, most: float, k: int, fewer: bool) -> tuple[int, float]:
    """Build groups from the pool, one after the other; return their number and cost."""
    columns, rules, random_state = cell.columns, cell.rules, cell.random_state
    pool, ends, hulls, lost = workspace.pool, workspace.ends, workspace.hulls, workspace.lost
    groups = m // k - (1 if fewer and m // k > 1 else 0)
    done, built, cost = 0, 0, 0.0
    ends[0] = 0
    while built < groups and m - done >= k:
        pick = done + int(uniform(random_state) * (m - done))
        pool[done], pool[pick] = pool[pick], pool[done]
        clear(columns, hulls, built)
        add(columns, hulls, built, pool[done])
        for i in range(done, m):
            workspace.least[i] = 0.0
        start, now = done, 0.0
        done += 1
        while done < m and (done - start < k or not _meets(rules, workspace, start, done)):
            if done - start == (CAP - 1) * k:
                return 0, cost
            best, place = _best(cell, workspace, built, start, done, m, k)
            if best == np.inf:
                return 0, cost
            pool[done], pool[place] = pool[place], pool[done]
            workspace.least[place] = workspace.least[done]
            add(columns, hulls, built, pool[done])
            done, now = done + 1, best
        if rules is not None and not _meets(rules, workspace, start, done):
            return 0, cost
        lost[built] = now
        cost += (done - start) * now
        built += 1
        ends[built] = done
        if cost > most:
            return 0, cost
    return built, _with_rest(cell, workspace, m, done, built, cost, most, k)


@inner_loop
def _best(cell: Cell, workspace: Workspace, hull: int, start: int, done: int, m: int, k: int) -> tuple[float, int]:
    """Return the least loss after adding a row of the pool, and the position of that row.

    The loss of a hull never falls when rows join, so an earlier loss with a row is a lower bound of the present one.
    """
    pool, least = workspace.pool, workspace.least
    best, place, first = np.inf, done, done
    for i in range(done, m):
        first = i if least[i] < least[first] else first
    for turn in range(done - 1, m):
        i = first if turn < done else turn
        if least[i] < best and (turn < done or i != first):
            least[i] = join_loss(cell.columns, workspace.hulls, hull, pool[i], best)
            if least[i] < best and may_join(cell.rules, pool, start, done - start, pool[i], k):
                best, place = least[i], i
    return best, place


@inner_loop
def _with_rest(
    cell: Cell, workspace: Workspace, m: int, done: int, built: int, cost: float, most: float, k: int
) -> float:
    """Let the remaining rows join where they cost least; return the total cost, or infinity if that fails."""
    columns, rules = cell.columns, cell.rules
    pool, ends, hulls, lost = workspace.pool, workspace.ends, workspace.hulls, workspace.lost
    for one in range(done, m):
        best, place, rise = np.inf, -1, 0.0
        for g in range(built):
            size = ends[g + 1] - ends[g]
            joined = join_loss(columns, hulls, g, pool[one], np.inf)
            more = (size + 1) * joined - size * lost[g]
            if more < best and size < CAP * k:
                best, place, rise = more, g, joined
        cost += best
        if cost > most:
            return np.inf
        add(columns, hulls, place, pool[one])
        lost[place] = rise
        # The row goes to the end of its group, and the groups after it shift by one.
        row = pool[one]
        for i in range(one, ends[place + 1], -1):
            pool[i] = pool[i - 1]
        pool[ends[place + 1]] = row
        for g in range(place + 1, built + 1):
            ends[g] += 1
    if rules is not None:
        for g in range(built):
            if not _meets(rules, workspace, ends[g], ends[g + 1]):
                return np.inf
    return cost


@inner_loop
def _meets(rules: Rules | None, workspace: Workspace, start: int, stop: int) -> bool:
    """Return whether the rows of the pool from start to stop meet the limits."""
    if rules is None:
        return True
    for i in range(start, stop):
        workspace.rows[i - start] = workspace.pool[i]
    return bool(meets_in(rules, workspace.rows, stop - start, workspace.values))


@inner_loop
def _put(state: State, workspace: Workspace, groups: int, built: int) -> None:
    """Replace the groups of the pool by the new ones."""
    label, members, size, lost, spare, spares = state
    for g in range(groups):
        size[workspace.chosen[g]] = 0
        if g >= built:
            spare[spares[0]] = workspace.chosen[g]
            spares[0] += 1
    for g in range(built):
        if g < groups:
            group = workspace.chosen[g]
        else:
            spares[0] -= 1
            group = spare[spares[0]]
        lost[group] = workspace.lost[g]
        for i in range(workspace.ends[g], workspace.ends[g + 1]):
            members[group, size[group]] = workspace.pool[i]
            label[workspace.pool[i]] = group
            size[group] += 1
