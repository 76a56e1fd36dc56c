"""Intervals: between which shares a counted share may well lie."""

from math import sqrt

__all__ = ["wilson"]

WIDE = 1.959963984540054  # standard deviations on each side that hold 95 % of a normal distribution


def wilson(successes: float, trials: int, wide: float = WIDE) -> tuple[float, float]:
    """Return Wilson's interval of a share: 95 % of such intervals hold the true one; (0, 1) without trials.

    Parameters
    ----------
    successes : float
        Half a success for a guess among two is allowed.
    trials : int
    wide : float
        Standard deviations on each side.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(5, 10)]
    [0.2366, 0.7634]
    """
    if trials == 0:
        return 0.0, 1.0
    share, spread = successes / trials, wide * wide / trials
    middle = (share + spread / 2) / (1 + spread)
    half = wide / (1 + spread) * sqrt(share * (1 - share) / trials + spread / trials / 4)
    # Rounding must not put an end on the wrong side of the share itself.
    low, high = min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))
    return 0.0 if successes == 0 else low, 1.0 if successes == trials else high
