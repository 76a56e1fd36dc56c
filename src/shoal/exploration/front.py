"""The Pareto front of risk and utility, with uncertainty taken into account.

A point has a risk, where lower is better, and a utility. **One point dominates another** only if

1. it is at least as good in both figures, and
2. in one of them its whole 95% interval lies on the better side of the other's interval.

A figure without an interval is exact, and is its own interval. Points that no other dominates form the Pareto front,
so two points whose difference may be due to chance both stay, as do points with the same figures.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.exploration.aims import Figure


def front(*aims: tuple[Sequence[Figure], bool]) -> NDArray[np.bool_]:
    """Return whether each point is on the Pareto front; an aim is a figure per point, and whether higher is better.

    Examples
    --------
    >>> risks = [Figure(0.2), Figure(0.2), Figure(0.1)], False
    >>> front(risks, ([Figure(80.0), Figure(70.0), Figure(60.0)], True)).tolist()
    [True, False, True]
    >>> front(risks, ([Figure(80.0, 72.0, 88.0), Figure(70.0, 65.0, 75.0), Figure(60.0)], True)).tolist()
    [True, True, True]
    """
    count = len(aims[0][0])
    no_worse, clearly = np.ones((count, count), bool), np.zeros((count, count), bool)  # [one, other]: one than other
    for figures, higher in aims:
        value = np.array([one.value for one in figures])
        low = np.array([one.value if one.low is None else one.low for one in figures])
        high = np.array([one.value if one.high is None else one.high for one in figures])
        if not higher:
            value, low, high = -value, -high, -low
        no_worse &= value[:, None] >= value
        clearly |= low[:, None] > high
    return np.asarray(~(no_worse & clearly).any(axis=0))
