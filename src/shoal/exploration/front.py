"""The front: what is not clearly worse than something else.

A point has a risk, where less is better, and a utility. **One point beats another** only if

1. it is at least as good in both, by the figures themselves, and
2. in one of them its whole 95 % interval lies on the better side of the other's interval.

A figure without an interval is exact, and is its own interval. What nothing beats is on the front. So two points whose
difference may be luck both stay, and points with the same figures do too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spot", "front"]


@dataclass(frozen=True)
class Spot:
    """A figure and the ends of its interval, which are the figure itself if it is exact.

    Examples
    --------
    >>> Spot.of(0.2), Spot.of(0.2, 0.1, 0.3).low
    (Spot(value=0.2, low=0.2, high=0.2), 0.1)
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, low: float | None = None, high: float | None = None) -> "Spot":
        """Return a spot; an end that is not given is the value."""
        return cls(value, value if low is None else low, value if high is None else high)

    @property
    def turned(self) -> "Spot":
        """The same where more is worse, as a figure where more is better, or the other way round."""
        return Spot(-self.value, -self.high, -self.low)


def front(risks: Sequence[Spot], utilities: Sequence[Spot]) -> NDArray[np.bool_]:
    """Say which points are on the front.

    Parameters
    ----------
    risks : sequence of Spot
        Less is better.
    utilities : sequence of Spot
        More is better: turn a loss first.

    Returns
    -------
    bool array

    Examples
    --------
    >>> risks = [Spot.of(0.2), Spot.of(0.2), Spot.of(0.1)]
    >>> front(risks, [Spot.of(80.0), Spot.of(70.0), Spot.of(60.0)]).tolist()
    [True, False, True]
    >>> front(risks, [Spot.of(80.0, 72.0, 88.0), Spot.of(70.0, 65.0, 75.0), Spot.of(60.0)]).tolist()
    [True, True, True]
    """
    goods = [
        np.array([[s.value, s.low, s.high] for s in spots]).reshape(-1, 3)
        for spots in ([risk.turned for risk in risks], utilities)
    ]
    kept = np.ones(len(risks), bool)
    for place in range(len(risks)):
        no_worse = np.ones(len(risks), bool)
        clearly = np.zeros(len(risks), bool)
        for good in goods:
            value, _, high = good[place]
            no_worse &= good[:, 0] >= value
            clearly |= good[:, 1] > high
        kept[place] = not (no_worse & clearly).any()
    return kept
