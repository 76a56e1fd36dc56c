"""KDE: every column is cut at the minima of its density, and rows in the same parts of all columns start a group.

1. Each column is cut at the minima of its kernel density estimate, and coded by the peaks between them
   (`density.curve`); a peak represents at least k rows.
2. Rows with the same codes in all columns are a cell. With many columns most cells hold one row: coding column by
   column protects nobody, and as published that is all there is.
3. The cells are cut and merged into groups of at least k rows, and a search moves rows between them (`search.finish`).

The attribute-oriented method of Zouinina et al. (2020), with a final step that ensures its guarantee.
"""

from dataclasses import dataclass

import numpy as np

from shoal.catalogue import Choice, Growth, Number
from shoal.cluster.declaring import Parameter, Run, numeric_method
from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.finish import FINISHING, as_printed, finished
from shoal.density.bandwidth import BANDWIDTHS
from shoal.density.curve import KERNELS, Curve, curve
from shoal.kernels.groups import numbered
from shoal.kernels.threads import each
from shoal.model.partition import Partition
from shoal.model.progress import part
from shoal.model.sketches import CurveSketch

POINTS = 200  # of a curve in a picture


@dataclass(frozen=True, eq=False)
class Coding:
    """A table coded column by column: a curve per column, and the part of each cell, shape (n, d)."""

    curves: list[Curve]
    parts: Rows

    @property
    def published(self) -> Floats:
        """The peak that represents each cell."""
        return np.column_stack([one.peaks[own] for one, own in zip(self.curves, self.parts.T, strict=True)])

    @property
    def cells(self) -> Rows:
        """The number of each row's combination of codes."""
        found = np.zeros(len(self.parts), np.int64)
        for own in self.parts.T:
            found = numbered(found * (int(own.max()) + 1) + own)
        return found

    def sketches(self, X: Floats, k: int) -> tuple[CurveSketch, ...]:
        """Return figures for pictures of the columns, without anything based on fewer than k rows."""
        return tuple(_sketch(number, one, X[:, number], k) for number, one in enumerate(self.curves))


def _sketch(number: int, found: Curve, x: Floats, k: int) -> CurveSketch:
    """Return the density of a column between its k outermost values, 0 where fewer than k rows are near."""
    held = np.sort(x)
    low, high = float(held[k - 1]), float(held[-k])
    if found.places.size <= 2 or not high - low > POINTS * np.spacing(max(abs(low), abs(high))):
        return CurveSketch(number, found.places[:2], found.heights[:2], found.cuts, found.peaks)
    places = np.linspace(low, high, POINTS)
    near = max(found.width, (high - low) / POINTS)
    rows = np.searchsorted(held, places + near, "right") - np.searchsorted(held, places - near)
    heights = np.where(rows < k, 0.0, np.interp(places, found.places, found.heights))
    cuts, peaks = (values[(values > low) & (values < high)] for values in (found.cuts, found.peaks))
    return CurveSketch(number, places, heights, cuts, peaks)


def coding(
    X: Floats,
    kernel: str = "gaussian",
    bandwidth: str = "silverman",
    width: float = 1.0,
    least: int = 1,
    threads: int = 1,
) -> Coding:
    """Code every column of a table by the peaks of its density.

    Parameters
    ----------
    X : float64 array of shape (n, d), no missing values
    kernel : {"gaussian", "epanechnikov", "uniform", "biweight", "triweight", "triangular"}
        Shape of the kernel.
    bandwidth : {"silverman", "scott", "isj", "lscv", "bcv"}
        Rule for choosing the bandwidth.
    width : float
        Factor by which the bandwidth of the rule is multiplied.
    least : int
        Minimum number of rows per part of a column.
    threads : int
        Number of threads. The result does not depend on it.

    Returns
    -------
    Coding
        `.curves` has the density of each column, `.parts` the part of each cell, and `.published` its peak.

    Cost
    ----
    O(n + G log G) per column with G bins.
    """
    columns = [np.ascontiguousarray(column) for column in X.T]

    def one(column: Floats) -> tuple[Curve, Rows]:
        found = curve(column, kernel, bandwidth, width, least)
        return found, found.parts(column)

    found = each(one, columns, threads)
    return Coding([each_[0] for each_ in found], np.column_stack([each_[1] for each_ in found]))


def density_cards(width: float) -> dict[str, Parameter]:
    """Return the parameter cards of a density estimate, given the default of its relative width."""
    return {
        "kernel": Choice(KERNELS, "gaussian", "Shape of the kernel."),
        "bandwidth": Choice(tuple(BANDWIDTHS), "silverman", "Rule for choosing the bandwidth."),
        "width": Number(0.01, 100.0, width, "Factor by which the bandwidth of the rule is multiplied."),
    }


@numeric_method(
    "kde",
    ensures={"k", "l", "t"},
    params={**density_cards(1.0), **FINISHING},
    uses={"limits", "seed", "threads"},
    growth=Growth(1.1, seconds=0.18),
)
def kde(X: Floats, k: int, kernel: str, bandwidth: str, width: float, mode: str, effort: str, *, run: Run) -> Partition:
    """Cut every column at the minima of its estimated density, and group the rows in the same parts.

    Returns
    -------
    Partition
        Its notes say how many peaks the columns have.

    Guarantee
    ---------
    Every group holds at least k rows, and meets the limits if the whole table does. The result does not depend on the
    number of threads. With mode="printed", GuaranteeError is raised unless every cell has at least k rows.

    Cost
    ----
    O(n + G log G) per column with G bins, up to 131,072; then that of `search.finish`.

    Examples
    --------
    >>> kde([[0.0], [1.0], [9.0], [10.0]], k=2).labels
    array([0, 0, 1, 1])
    """
    with part(0, 2):
        found = coding(X, kernel, bandwidth, width, k if mode == "strict" else 1, run.threads)
    peaks = np.array([one.peaks.size for one in found.curves])
    least, most = int(peaks.min()), int(peaks.max())
    many = f"{least}" if least == most else f"{least} to {most}"
    notes = (f"kde: columns have {many} peak{'s' * (most > 1)}.",)
    if mode == "printed":
        return as_printed("kde", found.cells, k, run.limits, notes)
    with part(1, 2):
        labels = finished(X, found.cells, k, effort, limits=run.limits, seed=run.seed, threads=run.threads)
    return Partition.of(labels, notes, sketches=found.sketches(X, k))
