"""Correlation of two rankings of the same length, with ties; None if one of them is constant."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

PIECE = 1 << 22  # pairs compared at once


def spearman(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Spearman's rho, the correlation of mean ranks, in O(n log n).

    Examples
    --------
    >>> spearman([1, 2, 3], [10, 30, 20])
    0.5
    """
    a, b = _ranks(np.asarray(first)), _ranks(np.asarray(second))
    a, b = a - a.mean() if a.size else a, b - b.mean() if b.size else b
    spread = float((a @ a) * (b @ b))
    return float(a @ b) / spread**0.5 if spread > 0 else None


def kendall(first: ArrayLike, second: ArrayLike) -> float | None:
    """Return Kendall's tau-b, concordant less discordant pairs over those without ties, in O(n^2) and some megabytes.

    Examples
    --------
    >>> kendall([1, 2, 3], [10, 30, 20])
    0.3333333333333333
    """
    a, b = np.asarray(first), np.asarray(second)
    both, in_a, in_b = 0, 0, 0
    step = max(1, PIECE // max(1, a.size))
    for start in range(0, a.size, step):
        signs_a = np.sign(a[start : start + step, None] - a)
        signs_b = np.sign(b[start : start + step, None] - b)
        both += int((signs_a * signs_b).sum())
        in_a += int(np.count_nonzero(signs_a))
        in_b += int(np.count_nonzero(signs_b))
    return both / (in_a * in_b) ** 0.5 if in_a and in_b else None


def _ranks(values: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return ranks from 1; tied values get their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return middle[place]
