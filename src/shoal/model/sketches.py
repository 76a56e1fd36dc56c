"""Sketches: figures behind a picture of what a method saw, made from the original rows: for the holder only."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MapSketch:
    """A map: positions of its units, distances to their neighbours, their rows, and their value in every column."""

    places: Floats  # row and column of each unit in the picture, of shape (units, 2)
    hexagonal: bool
    ridges: Floats  # mean distance of each unit to its neighbours
    hits: Floats  # rows of each unit
    planes: Floats  # of shape (units, d)


@dataclass(frozen=True, eq=False)
class CurveSketch:
    """The density of a column of the matrix, where it is cut, and what represents each part."""

    column: int
    places: Floats
    heights: Floats
    cuts: Floats
    peaks: Floats


@dataclass(frozen=True, eq=False)
class ViewsSketch:
    """The Davies-Bouldin index of each view before and after learning from the others, and whether that was kept.

    `columns` are the matrix columns of each view; the others have one entry per update.
    """

    columns: Sequence[Sequence[int]]
    views: Sequence[int]
    before: Sequence[float]
    after: Sequence[float]
    kept: Sequence[bool]


@dataclass(frozen=True, eq=False)
class PlaneSketch:
    """Rows in the plane of the first two principal components, counted in squares, before and after."""

    edges: tuple[Floats, Floats]  # limits of the squares along both axes
    before: Floats  # rows of each square, 0 where there are fewer than k
    after: Floats
    sampled: bool = False  # whether only some classes are drawn


Sketch = MapSketch | CurveSketch | ViewsSketch | PlaneSketch
