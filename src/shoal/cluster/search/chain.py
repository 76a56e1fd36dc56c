"""Annealing: a chain of small changes to a partition, each accepted or rejected by chance and temperature.

1. A proposal picks a row i of group A and one of the rows near it, of group B. If the sizes allow it, the row moves to
   B in half of the proposals; otherwise it is swapped with a row of B.
2. A few proposals change the structure instead: a group is created or dissolved (`search.structure`), under limits also
   merged or split (`search.splitting`).
3. A proposal that adds `delta` to SSE is accepted if delta <= -T s_i ln(u), with T the temperature, falling from hot to
   cold, s_i the local scale of the row and u a random number. The local scale makes one schedule fit dense and sparse
   regions alike.
4. Group sizes stay within k and `most`, and a group that meets the limits on sensitive values continues to do so: a
   proposal that would violate one is never accepted.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats
from shoal.cluster.search.limits import Rules, meets_in
from shoal.cluster.search.splitting import restructure_within
from shoal.cluster.search.state import State, Whole, Workspace, rebuild, transfer, worth
from shoal.cluster.search.structure import restructure
from shoal.kernels.loops import callable_inner_loop, inner_loop
from shoal.kernels.random_streams import uniform

STEP = 1024  # proposals at one temperature
REBUILD = 1 << 16  # proposals between two rebuilds of the sums
STRETCH = 1500  # rows on which proposals concentrate for a while
VISIT = 8  # proposals per row before the next stretch
HOPELESS = 40.0  # -ln(u) is at most 53 ln 2 = 36.7


@callable_inner_loop
def anneal_chain(  # noqa: PLR0912 - one turn of the chain is best read in one piece
    state: State,
    rules: Rules | None,
    near: Whole,
    scale: Floats,
    random_state: NDArray[np.uint64],
    proposals: int,
    hot: float,
    cold: float,
    k: int,
    most: int,
    structural: float,
    steep: bool,
    workspace: Workspace,
) -> None:
    """Make this many proposals, at temperatures that fall from hot to cold; `steep` favours the nearest more."""
    n, choices = near.shape
    # The loop below runs hundreds of millions of times: the arrays are taken out of the state once.
    label, size, members = state.label, state.size, state.members
    y, weight, square = state.y, state.weight, state.square
    total, mass, power = state.total, state.mass, state.power
    fall = (cold / hot) ** (STEP / max(proposals, 1))
    temperature = hot
    stretch = min(n, STRETCH)
    visit = VISIT * stretch
    start = 0
    for turn in range(proposals):
        if turn % STEP == 0 and turn > 0:
            temperature *= fall
            if turn % REBUILD == 0:
                rebuild(state)
        if turn % visit == 0:
            # Neighbouring rows are stored near each other: what a stretch of them touches stays in the cache.
            start = (start + stretch) % n
        row = start + int(uniform(random_state) * stretch)
        row = row - n if row >= n else row
        u = uniform(random_state)
        other = near[row, int(choices * (u * u * u if steep else u * u))]
        one, two = label[row], label[other]
        limit = temperature * scale[row]
        if uniform(random_state) < structural:
            if rules is None:
                restructure(state, near, row, limit, random_state, k, most, workspace)
            else:
                restructure_within(state, rules, near, row, other, limit, random_state, k, most, workspace)
        elif one == two:
            continue
        elif size[one] > k and size[two] < most and uniform(random_state) < 0.5:
            delta = _moving(y, weight[row], square[row], total, mass, power, row, one, two)
            if _taken(delta, limit, random_state) and (
                rules is None
                or (
                    _may_change(rules, members[one], size[one], row, -1, workspace)
                    and _may_change(rules, members[two], size[two], -1, row, workspace)
                )
            ):
                transfer(state, row, two)
        else:
            pick = int(uniform(random_state) * size[two])
            other = members[two, pick]
            alike = rules is None or _alike(rules.codes, row, other)
            if rules is not None and not alike and uniform(random_state) < 0.5:
                # A partner with the same sensitive values never violates a limit.
                partner = _look_alike(rules.codes, members[two], size[two], row, pick)
                alike = partner >= 0
                other = partner if alike else other
            delta = _swapping(y, weight[other] - weight[row], total, mass, power, row, other, one, two)
            if _taken(delta, limit, random_state) and (
                rules is None
                or alike
                or (
                    _may_change(rules, members[one], size[one], row, other, workspace)
                    and _may_change(rules, members[two], size[two], other, row, workspace)
                )
            ):
                _exchange(state, row, other)


@inner_loop
def _moving(
    y: Floats, w: float, square: float, total: Floats, mass: Floats, power: Floats, row: int, one: int, two: int
) -> float:
    """Return what a row adds to SSE by moving from group one to group two."""
    d = y.shape[1]
    even = d - d % 2
    a, b, c, e = 0.0, 0.0, 0.0, 0.0
    # Two columns per iteration: four independent sums. The last column is a loop, not a condition: Numba counts
    # references to arrays used under a condition, which takes longer than all the rest.
    for j in range(0, even, 2):
        a += y[row, j] * total[one, j]
        b += y[row, j] * total[two, j]
        c += y[row, j + 1] * total[one, j + 1]
        e += y[row, j + 1] * total[two, j + 1]
    for j in range(even, d):
        a += y[row, j] * total[one, j]
        b += y[row, j] * total[two, j]
    return (
        worth(power[one], mass[one])
        + worth(power[two], mass[two])
        - worth(power[one] - 2.0 * (a + c) + square, mass[one] - w)
        - worth(power[two] + 2.0 * (b + e) + square, mass[two] + w)
    )


@inner_loop
def _swapping(
    y: Floats, shift: float, total: Floats, mass: Floats, power: Floats, row: int, other: int, one: int, two: int
) -> float:
    """Return what two rows of groups one and two add to SSE by changing places."""
    d = y.shape[1]
    even = d - d % 2
    a, b, square = 0.0, 0.0, 0.0
    c, e, more = 0.0, 0.0, 0.0
    for j in range(0, even, 2):
        gap, next_gap = y[other, j] - y[row, j], y[other, j + 1] - y[row, j + 1]
        a += gap * total[one, j]
        b += gap * total[two, j]
        square += gap * gap
        c += next_gap * total[one, j + 1]
        e += next_gap * total[two, j + 1]
        more += next_gap * next_gap
    for j in range(even, d):
        gap = y[other, j] - y[row, j]
        a += gap * total[one, j]
        b += gap * total[two, j]
        square += gap * gap
    square += more
    return (
        worth(power[one], mass[one])
        + worth(power[two], mass[two])
        - worth(power[one] + 2.0 * (a + c) + square, mass[one] + shift)
        - worth(power[two] - 2.0 * (b + e) + square, mass[two] - shift)
    )


@inner_loop
def _look_alike(codes: Whole, members: Whole, size: int, row: int, start: int) -> int:
    """Return a member with the same sensitive values as a row, searching from a position on; -1 if there is none."""
    for step in range(size):
        place = start + step
        other = members[place - size if place >= size else place]
        if _alike(codes, row, other):
            return int(other)
    return -1


@inner_loop
def _may_change(rules: Rules, members: Whole, size: int, leaves: int, joins: int, workspace: Workspace) -> bool:
    """Return whether a group would meet the rules after one row has left and another has joined; -1 is none."""
    count = 0
    for place in range(size):
        if members[place] != leaves:
            workspace.rows[count] = members[place]
            count += 1
    if joins >= 0:
        workspace.rows[count] = joins
        count += 1
    return meets_in(rules, workspace.rows, count, workspace.values)


@inner_loop
def _exchange(state: State, row: int, other: int) -> None:
    """Swap two rows of different groups."""
    label, place, y, total = state.label, state.place, state.y, state.total
    one, two = label[row], label[other]
    here, there = place[row], place[other]
    state.members[one, here], state.members[two, there] = other, row
    place[row], place[other] = there, here
    label[row], label[other] = two, one
    shift = state.weight[other] - state.weight[row]
    state.mass[one] += shift
    state.mass[two] -= shift
    first, second = 0.0, 0.0
    for j in range(y.shape[1]):
        gap = y[other, j] - y[row, j]
        plus, minus = total[one, j] + gap, total[two, j] - gap
        total[one, j], total[two, j] = plus, minus
        first += plus * plus
        second += minus * minus
    state.power[one], state.power[two] = first, second


@inner_loop
def _taken(delta: float, limit: float, random_state: NDArray[np.uint64]) -> bool:
    """Return whether a proposal that adds delta to SSE is accepted."""
    if delta <= 0.0:
        return True
    if delta >= HOPELESS * limit:
        return False
    return bool(delta <= -limit * np.log(1.0 - uniform(random_state)))


@inner_loop
def _alike(codes: Whole, row: int, other: int) -> bool:
    """Return whether two rows have the same sensitive values."""
    same = True
    for column in range(codes.shape[1]):
        same = same and codes[row, column] == codes[other, column]
    return same
