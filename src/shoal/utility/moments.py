"""Moments: how far means, variances, correlations and principal components of a release are from those of the table.

For numeric columns that keep their type. A column that is constant in the table is left out, as it has no standard
deviation; so are rows with a missing number before or after. All figures are in standard deviations of the original
columns, so that units do not matter. Each comparison gives

1. **MSE**, the mean squared difference;
2. **MAE**, the mean absolute difference;
3. **mean variation**, the mean of |after - before| / |before|, over what is not 0 before.

Domingo-Ferrer and Torra (2001) list what is compared: values, means, covariances, correlations, loadings and scores of
principal components. The sign of an axis is arbitrary: it is set to that of the table. Axes count by their share of the
variance of the table, since the last ones are mostly noise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.pairs import Pair

NOTHING = 1e-9  # standard deviations; smaller values count as 0 in mean variation
STILL = 1e-12  # share of the total variance
OBJECTS = ("values", "means", "covariances", "correlations", "loadings", "scores")

Floats = NDArray[np.float64]


class Errors(NamedTuple):
    """How far one object is from another; `variation` is None if all of it was 0 before."""

    mse: float
    mae: float
    variation: float | None


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numeric columns before and after, divided by the standard deviations of the columns before."""

    before: Floats
    after: Floats
    rows: int = 0  # left out because a number is missing
    constant: int = 0  # columns left out because they are constant

    @property
    def left_out(self) -> str:
        """A clause on what was left out; empty if nothing was."""
        rows = (
            Sentence("; rows left out for missing values: {rows:,}", rows=Rows(self.rows))
            if self.rows
            else Sentence("")
        )
        return rows + (f"; constant columns left out: {self.constant:,}" if self.constant else "")

    @cached_property
    def covariances(self) -> tuple[Floats, Floats]:
        """The covariance matrices."""
        return _covariance(self.before), _covariance(self.after)

    @cached_property
    def correlations(self) -> tuple[Floats, Floats]:
        """The correlation matrices; a column that is constant after correlates with nothing."""
        return _correlation(self.covariances[0]), _correlation(self.covariances[1])

    @cached_property
    def axes(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """The variances along the principal axes, largest first, and the axes as columns, oriented as before."""
        first, second = (_axes(matrix) for matrix in self.covariances)
        turn = np.where((first[1] * second[1]).sum(axis=0) < 0, -1.0, 1.0)
        # The direction of an axis without any variance is arbitrary: it keeps that of the table.
        still = second[0] <= STILL * first[0].sum()
        return first, (second[0], np.where(still, first[1], second[1] * turn))


def numbers_of(columns: Sequence[Pair]) -> Numbers | None:
    """Return the numeric columns that keep their type, or None if there is none, or no complete row."""
    plain = [column.numbers for column in columns if column.kind == "numeric" and not column.truthful]
    if not plain:
        return None
    before, after = (np.column_stack([pair[side] for pair in plain]) for side in (0, 1))
    whole = np.isfinite(before).all(axis=1) & np.isfinite(after).all(axis=1)
    before, after = before[whole], after[whole]
    if not len(before):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        spread = before.std(axis=0)
    moving = (before.max(axis=0) > before.min(axis=0)) & np.isfinite(spread) & (spread > 0)
    if not moving.any():
        return None
    spread = spread[moving]
    left, constant = int((~whole).sum()), int((~moving).sum())
    return Numbers(before[:, moving] / spread, after[:, moving] / spread, left, constant)


def errors(numbers: Numbers, of: str) -> Errors | None:
    """Return MSE, MAE and mean variation of one of `OBJECTS`: at least 0, low is good, needs the pair.

    None without two columns to correlate.
    """
    before, after = numbers.before, numbers.after
    if of == "values":
        return _compared(before, after)
    if of == "means":
        return _compared(before.mean(axis=0), after.mean(axis=0))
    if of == "covariances":
        places = np.triu_indices(before.shape[1])
        return _compared(numbers.covariances[0][places], numbers.covariances[1][places])
    if of == "correlations":
        places = np.triu_indices(before.shape[1], 1)
        return _compared(numbers.correlations[0][places], numbers.correlations[1][places]) if places[0].size else None
    (large, axes), (other, turned) = numbers.axes
    share = large / large.sum()
    if of == "loadings":
        return _compared(axes * np.sqrt(large), turned * np.sqrt(other), share)
    middle = before.mean(axis=0)
    return _compared((before - middle) @ axes, (after - middle) @ turned, share)


def il1s(numbers: Numbers) -> float:
    """Return the mean over cells of |x - x'| / (sqrt(2) x deviation of the column): at least 0, low is good.

    Needs the pair. Mateo-Sanz, Domingo-Ferrer and Sebé (2005).
    """
    return float(np.abs(numbers.after - numbers.before).mean() / np.sqrt(2))


def eigenvalue_difference(numbers: Numbers) -> float:
    """Return the sum of |l_i - l'_i| / the sum of l_i, of the covariance matrices: at least 0, low is good.

    l_i are the eigenvalues before, largest first, l'_i those after. Needs the pair.
    """
    (before, _), (after, _) = numbers.axes
    return float(np.abs(before - after).sum() / before.sum())


def _compared(before: Floats, after: Floats, weights: Floats | None = None) -> Errors:
    """Compare two arrays, each column counting by its weight."""
    if weights is None:
        weights = np.ones(before.shape[-1]) / before.shape[-1]
    error = np.abs(after - before)
    nonzero = np.abs(before) > NOTHING
    count = np.broadcast_to(weights, before.shape) * nonzero
    relative = np.divide(error, np.abs(before), out=np.zeros_like(error), where=nonzero)
    variation = float((relative * count).sum() / count.sum()) if count.sum() > 0 else None
    rows = before.size / before.shape[-1]
    return Errors(float((error**2 @ weights).sum() / rows), float((error @ weights).sum() / rows), variation)


def _covariance(X: Floats) -> Floats:
    """Return the covariance matrix, divided by n."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred.T @ centred / len(X))


def _correlation(covariance: Floats) -> Floats:
    """Return the correlations of a covariance matrix, 0 for a column without variance."""
    spread = np.sqrt(np.diag(covariance))
    scale = np.where(spread > NOTHING, spread, 1.0)
    found = covariance / np.outer(scale, scale) * np.outer(spread > NOTHING, spread > NOTHING)
    return np.asarray(np.clip(found, -1.0, 1.0))


def _axes(covariance: Floats) -> tuple[Floats, Floats]:
    """Return the variances along the principal axes, largest first, and the axes as columns."""
    large, axes = np.linalg.eigh(covariance)
    return np.maximum(large[::-1], 0.0), axes[:, ::-1]
