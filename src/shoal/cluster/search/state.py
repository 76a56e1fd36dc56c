"""State: groups during a search, with everything needed to compute changes of SSE.

SSE = sum w |x|^2 - sum |S_g|^2 / W_g, with S_g the weighted sum and W_g the weight of group g. The first sum never
changes, so only the `worth` |S_g|^2 / W_g of groups matters, and a row that goes from one group to another changes two
of them. Columns are first centred at their medians: far from zero the difference of two large worths would lose
precision.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import callable_inner_loop, inner_loop

Whole = NDArray[np.int32]


class State(NamedTuple):
    """A partition that can be changed row by row.

    `y` is the rows times their weights, `square` is |y|^2. `label` and `place` are the group of each row and its index
    among the members, of which only the first `size` count. By group, `mass` is the weight W, `power` |S|^2 and `total`
    S. `free` has the number of empty groups, then their numbers; the last one is used first.
    """

    x: Floats
    y: Floats
    weight: Floats
    square: Floats
    label: Whole
    place: Whole
    members: Whole
    size: Whole
    mass: Floats
    power: Floats
    total: Floats
    free: Whole


class Workspace(NamedTuple):
    """Working arrays of one chain.

    `journal` lists moved rows and the groups that they came from, `around` groups around a row, `rows` and `values` the
    rows of a group and their sensitive values.
    """

    journal: Whole
    around: Whole
    rows: NDArray[np.int64]
    values: Whole

    @classmethod
    def of(cls, most: int, asked: int) -> "Workspace":
        """Return arrays for groups of at most `most` rows, of which `asked` are considered around a row."""
        return cls(
            np.empty((2 * most + 2, 2), np.int32),
            np.empty(asked + 1, np.int32),
            np.empty(2 * most + 1, np.int64),
            np.empty(2 * most + 1, np.int32),
        )


def begin(X: Floats, weights: Floats, labels: Rows, groups: int, most: int) -> State:
    """Return the state of a partition with space for `groups` groups of at most `most` rows, temporarily twice that."""
    n, d = X.shape
    x = np.ascontiguousarray(X - np.median(X, axis=0))
    plain = bool((weights == 1.0).all())
    y = x if plain else x * weights[:, None]
    state = State(
        x,
        y,
        np.ascontiguousarray(weights, np.float64),
        np.einsum("ij,ij->i", y, y),
        np.asarray(labels).astype(np.int32),
        np.zeros(n, np.int32),
        np.full((groups, 2 * most), -1, np.int32),
        np.zeros(groups, np.int32),
        np.zeros(groups),
        np.zeros(groups),
        np.zeros((groups, d)),
        np.zeros(groups + 1, np.int32),
    )
    _fill(state)
    return state


@inner_loop
def worth(power: float, mass: float) -> float:
    """Return |S|^2 / W, 0 for an empty group."""
    return power / mass if mass > 0.0 else 0.0


@inner_loop
def transfer(state: State, row: int, target: int) -> float:
    """Move a row into another group; return the change of SSE."""
    source, w = state.label[row], state.weight[row]
    y, total, mass, power = state.y, state.total, state.mass, state.power
    before = worth(power[source], mass[source]) + worth(power[target], mass[target])
    left, joined = 0.0, 0.0
    last = state.size[source] == 1
    for j in range(y.shape[1]):
        # An empty group has a sum of exactly zero, despite earlier rounding.
        less = 0.0 if last else total[source, j] - y[row, j]
        more = total[target, j] + y[row, j]
        total[source, j], total[target, j] = less, more
        left += less * less
        joined += more * more
    power[source], power[target] = left, joined
    mass[source] = 0.0 if last else mass[source] - w
    mass[target] += w
    _relabel(state, row, source, target)
    return before - worth(left, mass[source]) - worth(joined, mass[target])


@inner_loop
def rebuild(state: State) -> None:
    """Recompute the sums of every group, so that rounding errors do not accumulate."""
    y, label, total, mass = state.y, state.label, state.total, state.mass
    for group in range(mass.size):
        mass[group] = 0.0
        for j in range(y.shape[1]):
            total[group, j] = 0.0
    for row in range(label.size):
        mass[label[row]] += state.weight[row]
        for j in range(y.shape[1]):
            total[label[row], j] += y[row, j]
    for group in range(mass.size):
        power = 0.0
        for j in range(y.shape[1]):
            power += total[group, j] * total[group, j]
        state.power[group] = power


@inner_loop
def _relabel(state: State, row: int, source: int, target: int) -> None:
    """Move a row from the members of one group to those of another."""
    hole, end = state.place[row], state.size[source] - 1
    moved = state.members[source, end]
    state.members[source, hole] = moved
    state.place[moved] = hole
    state.size[source] = end
    if state.size[target] == 0:
        state.free[0] -= 1
    if end == 0:
        state.free[0] += 1
        state.free[state.free[0]] = source
    state.members[target, state.size[target]] = row
    state.place[row] = state.size[target]
    state.size[target] += 1
    state.label[row] = target


@callable_inner_loop
def _fill(state: State) -> None:
    """Enter every row among the members of its group, and compute the sums."""
    label, size, free = state.label, state.size, state.free
    for row in range(label.size):
        group = label[row]
        state.members[group, size[group]] = row
        state.place[row] = size[group]
        size[group] += 1
    for group in range(size.size - 1, -1, -1):
        if size[group] == 0:
            free[0] += 1
            free[free[0]] = group
    rebuild(state)
