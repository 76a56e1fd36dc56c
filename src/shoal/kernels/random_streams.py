"""Random numbers inside loops: a stream from two words of state, the same on every machine."""

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.loops import inner_loop

LEFT, RIGHT, ACROSS, TOP = np.uint64(23), np.uint64(17), np.uint64(26), np.uint64(11)
UNIT = 2.0**-53


def stream(*seed: int) -> NDArray[np.uint64]:
    """Return the state of a stream that depends on all of these numbers."""
    return np.random.SeedSequence(seed).generate_state(2, np.uint64) | np.uint64(1)


@inner_loop
def uniform(state: NDArray[np.uint64]) -> float:
    """Return the next number of a stream, from 0 up to but not including 1 (xorshift, Marsaglia 2003)."""
    one, two = state[0], state[1]
    one ^= one << LEFT
    one ^= one >> RIGHT
    one ^= two ^ (two >> ACROSS)
    state[0], state[1] = two, one
    return float((one >> TOP) * UNIT)
