"""Self-organizing maps: prototypes on a grid that adapt to the rows, neighbours close to neighbours.

1. Start: the grid is laid into the plane of the first two principal axes, one standard deviation each way; or each
   prototype is a random row.
2. Batch training: every row goes to its nearest prototype, and every prototype to the mean of all rows, weighted by how
   near their prototype is on the grid: exp(-d^2 / (2 sigma^2)), with sigma falling from a quarter of the longer side to
   1, exponentially or linearly.
3. Online training: rows come one by one, at random, and pull the prototypes towards them, less and less.

Beyond 50,000 rows, or ten per unit if that is more, training uses a sample of them. A prototype that no row is near
stays where it is. Kohonen (1982, 2013).
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.cluster.inputs import Floats, Rows, finite
from shoal.errors import MethodError
from shoal.kernels.axes import principal_axes
from shoal.kernels.loops import loop
from shoal.kernels.random_streams import stream, uniform
from shoal.model.progress import tick
from shoal.som.grid import Grid, grid_for
from shoal.som.nearest import cell_sums, nearest, two_nearest

TRAINED = 50_000  # rows beyond which training uses a sample
EACH = 10  # the same per unit, if that is more
FAST, SLOW = 0.5, 0.01  # how far a row pulls a prototype, at first and at last


@dataclass(frozen=True)
class Training:
    """How a map is trained.

    `epochs` is the number of passes of batch training, `start` is "pca" or "random". With `online`, rows are presented
    one by one. The neighbourhood width sigma falls from `wide` (0: a quarter of the longer side) to `last`, linearly
    with `linear`, otherwise exponentially.
    """

    epochs: int = 30
    start: str = "pca"
    online: bool = False
    linear: bool = False
    wide: float = 0.0
    last: float = 1.0

    def sigma(self, share: float, grid: Grid) -> float:
        """Return the width of the neighbourhood after this share of the training."""
        wide = self.wide or float(max(1, ceil(max(grid.rows, grid.columns) / 4)))
        return wide + (self.last - wide) * share if self.linear else float(wide * (self.last / wide) ** share)


@dataclass(frozen=True, eq=False)
class Map:
    """A self-organizing map: a grid of units, and the prototype of each, shape (units, d)."""

    grid: Grid
    prototypes: Floats

    def cells(self, X: Floats, threads: int = 1) -> Rows:
        """Return the best matching unit of each row."""
        return nearest(X, self.prototypes, threads)

    def errors(self, X: Floats) -> tuple[float, float]:
        """Return quantization and topographic error.

        These are the mean distance to the nearest prototype, and the share of rows whose two nearest prototypes are not
        neighbours on the grid.
        """
        first, second = two_nearest(X, self.prototypes)
        distances = np.sqrt(((X - self.prototypes[first]) ** 2).sum(axis=1))
        return float(distances.mean()), float(1.0 - self.grid.adjacent(first, second).mean())

    def hits(self, X: Floats) -> Rows:
        """Return how many rows each unit is nearest to."""
        return np.bincount(self.cells(X), minlength=self.grid.units)

    def u_matrix(self) -> Floats:
        """Return the U-matrix: the mean distance of each prototype from its neighbours. Ridges separate clusters."""
        around = self.grid.neighbours
        gaps = np.sqrt(((self.prototypes[around] - self.prototypes[:, None, :]) ** 2).sum(axis=2))
        held = around >= 0
        return np.asarray((gaps * held).sum(axis=1) / np.maximum(1, held.sum(axis=1)))


def som(
    X: ArrayLike,
    units: int = 0,
    training: Training | None = None,
    *,
    hexagonal: bool = True,
    steps: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> Map:
    """Fit a self-organizing map to a table whose columns are on comparable scales.

    Parameters
    ----------
    X : array of shape (n, d), no missing values
    units : int
        Approximate number of units; 0: 5 times the square root of the number of rows.
    training : Training, optional
        Number of epochs, start, and course of the neighbourhood width; by default 30 epochs of batch training.
    hexagonal : bool
        Whether units have six neighbours, or are on a rectangular grid.
    steps : bool
        Whether distances on the grid are counted in steps instead of being Euclidean.
    seed : int
        Random seed of a random start and of online training, and of the sample on which a map of a large table is
        trained.
    threads : int
        Number of threads. The result does not depend on it.

    Returns
    -------
    Map

    Examples
    --------
    >>> flat = np.random.default_rng(0).normal(size=(500, 2))
    >>> quantization, topographic = som(flat).errors(flat)
    >>> round(quantization, 1), topographic < 0.1
    (0.2, True)
    """
    how, numbers = training or Training(), finite(X, "som")
    if not numbers.size:
        raise MethodError(f"som: X must have rows and columns; got an array of shape {numbers.shape}.")
    grid = grid_for(numbers, units, hexagonal=hexagonal, steps=steps)
    return train(numbers, Map(grid, laid_out(numbers, grid, how.start, seed)), how, seed, threads)


def laid_out(X: Floats, grid: Grid, start: str = "pca", seed: int = 0) -> Floats:
    """Return the initial prototypes."""
    n, d = X.shape
    rng = np.random.default_rng(seed)
    if start == "random":
        return X[rng.choice(n, grid.units, replace=grid.units > n)].copy()
    mean = X.mean(axis=0)
    axes, spread = principal_axes(X)
    lengths = np.sqrt(spread)
    along, across = (np.linspace(-1, 1, side) if side > 1 else np.zeros(1) for side in (grid.rows, grid.columns))
    result = mean + np.repeat(along, grid.columns)[:, None] * (lengths[0] * axes[:, 0])
    if d > 1:
        result += np.tile(across, grid.rows)[:, None] * (lengths[1] * axes[:, 1])
    return np.ascontiguousarray(result)


def train(X: Floats, start: Map, how: Training, seed: int = 0, threads: int = 1) -> Map:
    """Return a map after training from a start."""
    grid, most = start.grid, max(TRAINED, EACH * start.grid.units)
    if len(X) > most:
        X = X[np.sort(np.random.default_rng((seed, 1)).choice(len(X), most, replace=False))]
    if how.online:
        return Map(grid, _online(X, start, how, seed))
    prototypes = start.prototypes
    for epoch in range(how.epochs):
        kernel = grid.kernel(how.sigma(epoch / max(1, how.epochs - 1), grid))
        sums = grid.spread(kernel, cell_sums(X, nearest(X, prototypes, threads), grid.units))
        prototypes = means_of(sums, prototypes)
        tick(epoch + 1, how.epochs)
    return Map(grid, prototypes)


def means_of(sums: Floats, before: Floats) -> Floats:
    """Return weighted means from weighted sums followed by the weights; the value before where all weights are 0."""
    weight = sums[:, -1:]
    return np.ascontiguousarray(np.where(weight > 0, sums[:, :-1] / np.where(weight > 0, weight, 1.0), before))


def _online(X: Floats, start: Map, how: Training, seed: int) -> Floats:
    """Return prototypes after online training."""
    grid, prototypes = start.grid, start.prototypes.copy()
    total, random_state = max(20 * len(X), 200 * grid.units), stream(seed, 2)
    for part in range(100):
        first, last = part * total // 100, (part + 1) * total // 100
        # Sigma changes in a hundred steps, the pull with every row.
        _pull(X, prototypes, grid.squared, random_state, first, last, total, how.sigma(part / 99, grid))
        tick(part + 1, 100)
    return prototypes


@loop
def _pull(
    X: Floats,
    prototypes: Floats,
    squared: Floats,
    random_state: NDArray[np.uint64],
    first: int,
    last: int,
    total: int,
    sigma: float,
) -> None:
    """Let random rows pull the prototypes near theirs."""
    m, d = prototypes.shape
    columns = squared.shape[1]
    rows = m // columns
    for step in range(first, last):
        row = int(uniform(random_state) * len(X))
        rate = FAST * (SLOW / FAST) ** (step / max(1, total - 1))
        best, least = 0, np.inf
        for unit in range(m):
            square = 0.0
            for j in range(d):
                gap = X[row, j] - prototypes[unit, j]
                square += gap * gap
            if square < least:
                best, least = unit, square
        up, across = best // columns, best % columns
        for unit in range(m):
            squared_steps = squared[up % 2, across, unit // columns - up + rows - 1, unit % columns]
            pull = rate * np.exp(-squared_steps / (2.0 * sigma * sigma))
            if pull > 1e-6:
                for j in range(d):
                    prototypes[unit, j] += pull * (X[row, j] - prototypes[unit, j])
