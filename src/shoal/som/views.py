"""Views: several maps of the same rows, each of some columns, that learn from each other.

1. The columns are split into disjoint views. All views have the same grid and begin with their columns of one common
   start, so that a unit means the same place in all maps.
2. Each map is trained by itself. Then, in some rounds, each view k is compared with every other view l: with K_ij how
   near unit j is to the best matching unit of row i, L = (K[k] - K[l])^2 says where the two disagree.
3. The strength lambda of a pair grows by sum K / (2 sum L), between 1 and 10, and the prototypes become the means of
   the rows by the weights K + sum of lambda^2 L: where the gradient of the common objective is zero.
4. They are kept if the Davies-Bouldin index of the map falls; otherwise the map stays as it was.

As printed, prototypes are moved by the mean instead of to it, and lambda is not squared. That inflates them: the index
falls, and the error of the map rises. Zouinina et al. (2020); `docs/methods/k_tca.md` lists the corrections.
"""

from dataclasses import dataclass

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.loops import callable_inner_loop
from shoal.model.progress import part, silently
from shoal.som.grid import Grid, grid_for
from shoal.som.nearest import cell_sums, nearest
from shoal.som.training import Map, Training, laid_out, means_of, train

WEAKEST, STRONGEST = 1.0, 10.0
CLOSE = 1e-12  # lower limit of the distance of two prototypes


@dataclass(frozen=True, eq=False)
class View:
    """Some columns, their map, and the best matching unit of each row."""

    columns: Rows
    map: Map
    cells: Rows


@dataclass(frozen=True)
class Round:
    """What one view learnt in one round: the Davies-Bouldin index before and after, and whether it was kept."""

    view: int
    number: int
    before: float
    after: float
    accepted: bool
    strength: tuple[float, ...]


def dealt(d: int, views: int, seed: int) -> list[Rows]:
    """Return the columns of each view, split at random into parts of almost equal size.

    As many views as requested, but each of at least two columns; fewer than four columns are one view.
    """
    parts = min(views, max(1, d // 2)) if d >= 4 else 1
    order = np.random.default_rng((seed, 3)).permutation(d)
    return [np.sort(some) for some in np.array_split(order, parts)]


def maps_of_views(
    X: Floats,
    columns: list[Rows],
    rounds: int = 1,
    training: Training | None = None,
    *,
    units: int = 0,
    printed: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> tuple[list[View], list[Round]]:
    """Train a map of each view, let them learn from each other in some rounds, and return a log of that.

    `columns` are the columns of each view, `training` that of each map by itself, `units` the approximate units per
    map, 5 sqrt(n) if 0. With `printed`, prototypes move as published instead of as derived.
    """
    how = training or Training()
    grid = grid_for(X, units)
    start = laid_out(X, grid, how.start, seed)
    views = []
    for number, some in enumerate(columns):
        with part(number, len(columns)):
            own = np.ascontiguousarray(X[:, some])
            map_ = train(own, Map(grid, np.ascontiguousarray(start[:, some])), how, seed, threads)
        views.append(View(some, map_, map_.cells(own, threads)))
    log: list[Round] = []
    if len(views) > 1:
        kernel = grid.kernel(1.0)
        strength = np.ones((len(views), len(views)))
        with silently():
            for turn in range(rounds):
                for number in range(len(views)):
                    views[number], measured = _learn(X, views, number, kernel, strength[number], printed, threads)
                    log.append(Round(number, turn, *measured, tuple(np.delete(strength[number], number))))
    return views, log


def _learn(
    X: Floats, views: list[View], own: int, kernel: Floats, strength: Floats, printed: bool, threads: int
) -> tuple[View, tuple[float, float, bool]]:
    """Return a view after learning from the others, with its index before and after; updates `strength`."""
    view = views[own]
    numbers, grid = np.ascontiguousarray(X[:, view.columns]), view.map.grid
    sums = grid.spread(kernel, cell_sums(numbers, view.cells, grid.units))
    near = float(sums[:, -1].sum())
    for other, there in enumerate(views):
        if other != own:
            difference = disagreement(numbers, view.cells, there.cells, grid, kernel)
            far = float(difference[:, -1].sum())
            grown = strength[other] + near / (2.0 * far) if far > 0 else STRONGEST
            strength[other] = min(STRONGEST, max(WEAKEST, grown))
            sums = sums + (strength[other] if printed else strength[other] ** 2) * difference
    moved = means_of(sums, view.map.prototypes)
    if printed:
        moved = view.map.prototypes + moved
    cells = nearest(numbers, moved, threads)
    before = davies_bouldin(numbers, view.map.prototypes, view.cells)
    after = davies_bouldin(numbers, moved, cells)
    if after < before:
        return View(view.columns, Map(grid, moved), cells), (before, after, True)
    return view, (before, after, False)


def disagreement(X: Floats, here: Rows, there: Rows, grid: Grid, kernel: Floats) -> Floats:
    """Return for each unit the rows summed by how differently near it is to them in two maps, and these weights."""
    pairs, which = np.unique(here * grid.units + there, return_inverse=True)
    sums = cell_sums(X, which.reshape(-1), pairs.size)
    one, two = np.divmod(pairs, grid.units)
    result = np.zeros((grid.units, sums.shape[1]))
    _disagree(sums, one, two, kernel, grid.rows, grid.columns, result)
    return result


@callable_inner_loop
def _disagree(sums: Floats, one: Rows, two: Rows, kernel: Floats, rows: int, columns: int, result: Floats) -> None:
    """Add the result of `disagreement`, from the sums of rows with the same two units."""
    for pair in range(one.size):
        row1, column1 = one[pair] // columns, one[pair] % columns
        row2, column2 = two[pair] // columns, two[pair] % columns
        if one[pair] == two[pair]:
            continue
        for row in range(rows):
            for column in range(columns):
                near = kernel[row1 % 2, column1, row - row1 + rows - 1, column]
                gap = near - kernel[row2 % 2, column2, row - row2 + rows - 1, column]
                weight = gap * gap
                if weight > 0.0:
                    unit = row * columns + column
                    for j in range(sums.shape[1]):
                        result[unit, j] += weight * sums[pair, j]


def davies_bouldin(X: Floats, prototypes: Floats, cells: Rows) -> float:
    """Return the Davies-Bouldin index of cells around their prototypes; infinity for fewer than two cells.

    The mean over cells of the worst (s_a + s_b) / d_ab, with s the mean distance of a cell's rows to its prototype, and
    d that of two prototypes.
    """
    held, own = np.unique(cells, return_inverse=True)
    if held.size < 2:
        return float("inf")
    own = own.reshape(-1)
    distances = np.sqrt(((X - prototypes[cells]) ** 2).sum(axis=1))
    wide = np.bincount(own, distances) / np.bincount(own)
    worst = np.zeros(held.size)
    return float(_worst_pairs(np.ascontiguousarray(prototypes[held]), wide, worst) / held.size)


@callable_inner_loop
def _worst_pairs(prototypes: Floats, wide: Floats, worst: Floats) -> float:
    """Return the sum over prototypes of the worst ratio to another one; `worst` is zero."""
    m, d = prototypes.shape
    total = 0.0
    for a in range(m):
        for b in range(a + 1, m):
            square = 0.0
            for j in range(d):
                gap = prototypes[a, j] - prototypes[b, j]
                square += gap * gap
            ratio = (wide[a] + wide[b]) / max(np.sqrt(square), CLOSE)
            worst[a] = max(worst[a], ratio)
            worst[b] = max(worst[b], ratio)
    for a in range(m):
        total += worst[a]
    return total
