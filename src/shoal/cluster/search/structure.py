"""Structure: proposals that create a group or dissolve one.

Each is tried on the state itself, row by row, with a journal of moves. At the end it is accepted if SSE allows it;
otherwise the journal is undone backwards.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.search.limits import Rules, meets_in
from shoal.cluster.search.state import State, Whole, Workspace, transfer, worth
from shoal.kernels.loops import inner_loop
from shoal.kernels.random_streams import uniform

ASKED = 12  # groups around a row that may give or take rows


@inner_loop
def restructure(
    state: State,
    near: Whole,
    row: int,
    limit: float,
    random_state: NDArray[np.uint64],
    k: int,
    most: int,
    workspace: Workspace,
) -> None:
    """Propose to create a group around a row, or to dissolve its group."""
    group = state.label[row]
    draw = uniform(random_state)
    allowed = -limit * np.log(1.0 - uniform(random_state))
    if state.size[group] > k and draw < 0.9:
        steps, delta = create(state, near, row, k, workspace)
    elif state.size[group] <= k + 1:
        steps, delta = dissolve(state, None, near, group, allowed, most, workspace)
    else:
        return
    if not delta <= allowed:
        undo(state, workspace.journal, steps)


@inner_loop
def undo(state: State, journal: Whole, steps: int) -> None:
    """Undo the steps of a journal, the last one first."""
    for step in range(steps - 1, -1, -1):
        transfer(state, journal[step, 0], journal[step, 1])


@inner_loop
def create(state: State, near: Whole, row: int, k: int, workspace: Workspace) -> tuple[int, float]:
    """Create a group: a row and the nearest rows whose groups can spare them."""
    if state.free[0] == 0:
        return 0, 0.0
    target, journal = state.free[state.free[0]], workspace.journal
    journal[0, 0], journal[0, 1] = row, state.label[row]
    delta = transfer(state, row, target)
    steps = 1
    for c in range(near.shape[1]):
        other = near[row, c]
        group = state.label[other]
        if steps < k and group != target and state.size[group] > k:
            journal[steps, 0], journal[steps, 1] = other, group
            delta += transfer(state, other, target)
            steps += 1
    return steps, delta if steps == k else np.inf


@inner_loop
def dissolve(
    state: State, rules: Rules | None, near: Whole, one: int, allowed: float, most: int, workspace: Workspace
) -> tuple[int, float]:
    """Send each row of a group to the near group where it costs least; give up if that adds more than allowed."""
    # What the rows add elsewhere can only grow; at the end the SSE of their group is saved.
    saved = -worth(state.power[one], state.mass[one])
    for place in range(state.size[one]):
        member = state.members[one, place]
        saved += state.square[member] / state.weight[member]
    steps, delta, added = 0, 0.0, 0.0
    journal, around = workspace.journal, workspace.around
    while state.size[one] > 0:
        row = state.members[one, state.size[one] - 1]
        best, least = -1, np.inf
        for i in range(_around(state, near, row, around)):
            group = around[i]
            if group == one or state.size[group] >= most:
                continue
            cost = joining(state, row, group)
            if cost < least and (rules is None or meets_with(state, rules, group, row, workspace)):
                best, least = group, cost
        added += least
        if best < 0 or not added - saved <= allowed:
            return steps, np.inf
        journal[steps, 0], journal[steps, 1] = row, one
        delta += transfer(state, row, best)
        steps += 1
    return steps, delta


@inner_loop
def _around(state: State, near: Whole, row: int, found: Whole) -> int:
    """List the group of a row and those of the rows near it, each once; return their number."""
    found[0] = state.label[row]
    count = 1
    for c in range(min(ASKED, near.shape[1])):
        group = state.label[near[row, c]]
        new = True
        for i in range(count):
            new = new and found[i] != group
        if new:
            found[count] = group
            count += 1
    return count


@inner_loop
def joining(state: State, row: int, group: int) -> float:
    """Return what a row adds to SSE by joining another group, apart from its own group."""
    w, mass = state.weight[row], state.mass[group]
    dot = 0.0
    for j in range(state.y.shape[1]):
        dot += state.y[row, j] * state.total[group, j]
    gap = state.square[row] / (w * w) - 2.0 * dot / (w * mass) + state.power[group] / (mass * mass)
    return float(gap * w * mass / (w + mass))


@inner_loop
def meets_with(state: State, rules: Rules, group: int, row: int, workspace: Workspace) -> bool:
    """Return whether a group would meet the rules with one more row."""
    for place in range(state.size[group]):
        workspace.rows[place] = state.members[group, place]
    workspace.rows[state.size[group]] = row
    return meets_in(rules, workspace.rows, state.size[group] + 1, workspace.values)
