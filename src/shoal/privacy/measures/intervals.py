"""Confidence intervals of counted shares."""

from math import sqrt

WIDE = 1.959963984540054  # standard deviations on each side that contain 95% of a normal distribution


def wilson(successes: float, trials: int, wide: float = WIDE) -> tuple[float, float]:
    """Return Wilson's 95% confidence interval of a share; (0, 1) without trials.

    `successes` may be fractional, as for a guess between two. `wide` is in standard deviations on each side.

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
