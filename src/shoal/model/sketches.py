"""Sketches: figures behind a picture of what a method saw, made from the original rows: for the holder alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CurveSketch", "MapSketch", "PlaneSketch", "Sketch", "ViewsSketch"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MapSketch:
    """A map: where its units stand, how far each is from its neighbours, its rows, and its value in every column.

    Parameters
    ----------
    places : float64 array of shape (units, 2)
        Row and column of each unit, in the lengths of a picture.
    hexagonal : bool
    ridges, hits : float64 arrays of shape (units,)
        The mean distance to the neighbours, and the number of rows.
    planes : float64 array of shape (units, d)
    """

    places: Floats
    hexagonal: bool
    ridges: Floats
    hits: Floats
    planes: Floats


@dataclass(frozen=True, eq=False)
class CurveSketch:
    """The density of a column of the matrix, where it is cut, and what stands for each part."""

    column: int
    places: Floats
    heights: Floats
    cuts: Floats
    peaks: Floats


@dataclass(frozen=True, eq=False)
class ViewsSketch:
    """The Davies-Bouldin index of each view before and after it learnt from the others, and whether that was kept.

    Parameters
    ----------
    columns : sequence of sequences of int
        The columns of the matrix that each view has.
    views, before, after, kept : sequences
        One entry an update.
    """

    columns: Sequence[Sequence[int]]
    views: Sequence[int]
    before: Sequence[float]
    after: Sequence[float]
    kept: Sequence[bool]


@dataclass(frozen=True, eq=False)
class PlaneSketch:
    """Rows in the plane of the first two principal axes, counted in squares, before and after.

    Parameters
    ----------
    edges : pair of float64 arrays
        Where squares begin and end, along both axes.
    before, after : float64 arrays of shape (squares, squares)
        Rows of each square; none where there are fewer than k.
    """

    edges: tuple[Floats, Floats]
    before: Floats
    after: Floats


Sketch = MapSketch | CurveSketch | ViewsSketch | PlaneSketch
