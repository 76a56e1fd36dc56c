"""Topological collaborative anonymization: maps of several views, and one map of their combined codes.

1. The columns are split into views, each with a map of its own; the maps learn from each other (`som.views`).
2. Every row is coded by the maps of its views: k-TCA by its best matching units, C-TCA by mixtures of these and their
   neighbours.
3. A map of the coded rows has a cell for each of its units.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.catalogue import Whole
from shoal.cluster.declaring import Run
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.finish import as_printed, finished
from shoal.errors import MethodError
from shoal.model.partition import Partition
from shoal.model.progress import part
from shoal.model.sketches import MapSketch, Sketch, ViewsSketch
from shoal.som.mixture import convex_mixture, nnls_mixture
from shoal.som.nearest import nearest
from shoal.som.training import Map, Training, som
from shoal.som.views import Round, View, dealt, maps_of_views

EPOCHS = 15
MAPS = {
    "views": Whole(1, 1000, 3, "Number of views into which columns are split, unless the policy assigns views."),
    "rounds": Whole(0, 100, 1, "Number of rounds in which the views learn from each other."),
    "units": Whole(
        0, 100_000, 0, "Approximate number of units per map; 0: 5 times the square root of the number of rows."
    ),
}


@dataclass(frozen=True, eq=False)
class Topology:
    """The maps of a table.

    `coded` has shape (n, d): the code of each row by the maps of the views. `map` is of the coded rows, `cells` the
    unit of each row, `log` what the views learnt from each other.
    """

    coded: Floats
    map: Map
    cells: Rows
    views: list[View] = field(default_factory=list)
    log: list[Round] = field(default_factory=list)

    def notes(self, who: str) -> tuple[str, ...]:
        """Return a sentence on what the views learnt."""
        kept = sum(one.accepted for one in self.log)
        grid, views = self.map.grid, len(self.views)
        note = f"{who}: {views} view{'s' * (views != 1)}, maps of {grid.rows} x {grid.columns} units"
        learnt = f"; {kept} of {len(self.log)} collaborative updates were kept" if self.log else ""
        return (f"{note}{learnt}.",)

    def sketches(self, k: int) -> tuple[Sketch, ...]:
        """Return figures for pictures of the map and of what the views learnt, without units of fewer than k rows."""
        hits = np.bincount(self.cells, minlength=self.map.grid.units).astype(np.float64)
        hits[hits < k] = 0.0
        grid, prototypes = self.map.grid, self.map.prototypes
        drawn = MapSketch(grid.places, grid.hexagonal, self.map.u_matrix(), hits, prototypes)
        if not self.log:
            return (drawn,)
        views = [one.view for one in self.log]
        before, after = [one.before for one in self.log], [one.after for one in self.log]
        columns = [view.columns.tolist() for view in self.views]
        return drawn, ViewsSketch(columns, views, before, after, [one.accepted for one in self.log])


@dataclass(frozen=True, eq=False)
class Printed:
    """What the papers' own pipeline publishes, without guarantee: a row for each row, and labels of equal ones."""

    published: Floats
    labels: Rows

    @classmethod
    def of(cls, published: Floats) -> "Printed":
        """Number the distinct rows."""
        return cls(published, np.unique(published, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64))

    @property
    def k(self) -> int:
        """The least number of rows published alike."""
        return int(np.bincount(self.labels).min())


def columns_of_views(d: int, view_of: Any, count: int, seed: int, who: str) -> list[Rows]:
    """Return the columns of each view: as given, one number per column, or split at random."""
    if view_of is None:
        return dealt(d, count, seed)
    given = np.asarray(view_of)
    if given.shape != (d,) or given.dtype.kind not in "iu":
        raise MethodError(
            f"{who}: view_of must be {d} whole numbers, one per column; got an array of shape {given.shape}."
        )
    return [np.flatnonzero(given == one) for one in np.unique(given)]


def coded_by_views(X: Floats, views: list[View], mixture: str) -> Floats:
    """Return the code of each row by the maps: best matching units (mixture "none"), or mixtures around them."""
    coded = np.empty_like(X)
    for view in views:
        own = np.ascontiguousarray(X[:, view.columns])
        if mixture == "convex":
            coded[:, view.columns] = convex_mixture(own, view.map, view.cells)
        elif mixture == "nnls":
            coded[:, view.columns] = nnls_mixture(own, view.map)
        else:
            coded[:, view.columns] = view.map.prototypes[view.cells]
    return coded


def topology(
    X: Floats,
    columns: list[Rows],
    mixture: str = "none",
    *,
    rounds: int = 1,
    units: int = 0,
    training: Training | None = None,
    printed: bool = False,
    seed: int = 0,
    threads: int = 1,
) -> Topology:
    """Train maps of the views of a table, and one of the coded rows; 15 epochs each by default.

    `columns` are the columns of each view, `rounds` how often the views learn from each other, `units` the approximate
    units per map, 5 sqrt(n) if 0. With `printed`, views learn as published instead of as derived.
    """
    how = training or Training(EPOCHS)
    with part(0, 2):
        views, log = maps_of_views(X, columns, rounds, how, units=units, printed=printed, seed=seed, threads=threads)
    coded = coded_by_views(X, views, mixture)
    with part(1, 2):
        whole = som(coded, units, how, seed=seed, threads=threads)
    return Topology(coded, whole, whole.cells(coded, threads), views, log)


def tca(
    X: Floats, k: int, mixture: str, views: int, rounds: int, units: int, mode: str, effort: str, run: Run
) -> Partition:
    """Return the groups of k-TCA (mixture "none") or of C-TCA."""
    columns = columns_of_views(X.shape[1], run.view_of, views, run.seed, run.who)
    if mode == "printed":
        if mixture == "none":
            printed = printed_k_tca(X, columns, units=units, seed=run.seed)
        else:
            printed = printed_c_tca(X, columns, k, units=units, seed=run.seed)
        return as_printed(run.who, printed.labels, k, run.limits)
    with part(0, 2):
        found = topology(X, columns, mixture, rounds=rounds, units=units, seed=run.seed, threads=run.threads)
    with part(1, 2):
        labels = finished(X, found.cells, k, effort, limits=run.limits, seed=run.seed, threads=run.threads)
    return Partition.of(labels, found.notes(run.who), sketches=found.sketches(k))


def dissolved(coded: Floats, map_: Map, cells: Rows, k: int) -> Rows:
    """Return cells of at least k rows: rows of smaller ones go to the nearest remaining prototypes."""
    cells = cells.copy()
    left = np.bincount(cells, minlength=map_.grid.units)
    while True:
        small = np.flatnonzero((left > 0) & (left < k))
        if not small.size or (left > 0).sum() == 1:
            return cells
        cell = small[np.argmin(left[small])]
        rows = np.flatnonzero(cells == cell)
        left[cell] = 0
        kept = np.flatnonzero(left)
        cells[rows] = kept[nearest(np.ascontiguousarray(coded[rows]), map_.prototypes[kept])]
        left = np.bincount(cells, minlength=map_.grid.units)


def printed_k_tca(X: Floats, columns: list[Rows], *, units: int = 0, inflated: bool = False, seed: int = 0) -> Printed:
    """Return what k-TCA releases in its published form: the prototypes of the last map, without guarantee.

    Views learn from each other by the derived update, which comes closer to the printed figures than the printed one;
    `inflated` uses the latter.
    """
    found = topology(X, columns, units=units, training=Training(), printed=inflated, seed=seed)
    return Printed.of(found.map.prototypes[found.cells])


def printed_c_tca(
    X: Floats, columns: list[Rows], k: int, *, units: int = 0, inflated: bool = False, seed: int = 0
) -> Printed:
    """Return what C-TCA releases in its published form: prototypes nearest to at least k rows; see `printed_k_tca`."""
    found = topology(X, columns, "nnls", units=units, training=Training(), printed=inflated, seed=seed)
    return Printed.of(found.map.prototypes[dissolved(found.coded, found.map, found.cells, k)])
