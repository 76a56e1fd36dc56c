"""The distance of two rows, for use inside loops."""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop

Floats = NDArray[np.float64]


@inner_loop
def squared(A: Floats, i: int, B: Floats, j: int) -> float:
    """Return the squared Euclidean distance of row i of A and row j of B."""
    total = 0.0
    for column in range(A.shape[1]):
        gap = A[i, column] - B[j, column]
        total += gap * gap
    return total
