"""The axes along which rows vary most."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def principal_axes(X: Floats) -> tuple[Floats, Floats]:
    """Return the first two principal axes as columns, and the variance along them; one of each for one column.

    An axis has no sign of its own: its largest entry is made positive.

    Examples
    --------
    >>> axes, variance = principal_axes(np.array([[-2.0, 0.0], [2.0, 0.0], [0.0, -1.0], [0.0, 1.0]]))
    >>> axes, variance
    (array([[1., 0.],
           [0., 1.]]), array([2. , 0.5]))
    """
    spread, axes = np.linalg.eigh(np.atleast_2d(np.cov(X.T, ddof=0)))
    axes = axes[:, ::-1][:, :2]
    signs = np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return axes * signs, np.maximum(spread[::-1][:2], 0.0)
