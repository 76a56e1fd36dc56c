"""Checks of what every method receives: a numeric matrix, k, and row weights."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import InfeasibleError, MethodError

LARGEST = 2.0**300  # numbers beyond would overflow when squared

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def matrix(X: ArrayLike, k: int, who: str) -> Floats:
    """Return X as a matrix of at least one column whose squares do not overflow, or refuse it.

    A matrix without columns gets a constant one; very large or very small numbers are scaled by a power of two, which
    is exact. The result is float64 in C order, and not a copy if X is already so.
    """
    numbers = finite(X, who)
    n, d = numbers.shape
    enough_rows(n, k, who)
    if d == 0:
        return np.zeros((n, 1))
    largest = max(float(numbers.max()), -float(numbers.min()))
    if largest and not 1 / LARGEST < largest < LARGEST:
        numbers = np.ldexp(numbers, -int(np.frexp(largest)[1]))
    return numbers


def enough_rows(n: int, k: int, who: str) -> None:
    """Refuse a table of fewer than k rows."""
    if n < k:
        remedy = f"Lower k to {n} or less." if n >= 2 else "At least 2 rows are needed."
        raise InfeasibleError(f"{who}: k is {k}, but the table has {n} row{'s' * (n != 1)}. {remedy}")


def finite(X: ArrayLike, who: str) -> Floats:
    """Return X as a matrix of finite numbers, or refuse it."""
    given = np.asarray(X)
    if given.ndim != 2 or given.dtype.kind not in "biuf":
        raise MethodError(
            f"{who}: X must be a matrix of numbers with 2 dimensions; "
            f"got {given.ndim} of type {given.dtype.name}. Encode the table first."
        )
    numbers = np.ascontiguousarray(given, np.float64)
    wrong = numbers.size - int(np.count_nonzero(np.isfinite(numbers)))
    if wrong:
        raise MethodError(
            f"{who}: X must hold finite numbers only; {wrong} of its {numbers.size} cells are missing or "
            f"infinite. Fill them or leave out their rows."
        )
    return numbers


def row_weights(weights: ArrayLike | None, n: int, who: str) -> Floats:
    """Return the weight of each row, with mean 1; all ones by default.

    A weight of 0 is raised to a millionth of the mean, so that a group of such rows still has a mean.
    """
    if weights is None:
        return np.ones(n)
    given = np.asarray(weights, np.float64)
    if given.shape != (n,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise MethodError(
            f"{who}: weights must be {n} finite numbers of at least 0, one per row and not all 0; "
            f"got an array of shape {given.shape}."
        )
    scaled = given / given.max()
    scaled /= scaled.mean()
    return np.asarray(np.maximum(scaled, 1e-6))
