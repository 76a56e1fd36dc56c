"""Bandwidths: how wide the kernel of a density estimate is, by the spread of a column or by its shape.

| name | rule |
| --- | --- |
| `silverman` | 0.9 min(sd, IQR / 1.34) n^(-1/5) |
| `scott` | 1.06 sd n^(-1/5) |
| `isj` | the fixed point of Botev, Grotowski and Kroese (2010), on 1,024 bins; Silverman's where there is none |
| `lscv` | least-squares cross-validation: the least estimated integrated squared error (Rudemo 1982, Bowman 1984) |
| `bcv` | biased cross-validation: the same by an estimate of the curvature (Scott and Terrell 1987) |

They are those of a Gaussian kernel; another kernel's are as much wider as makes it smooth as much (Marron and Nolan
1988). Cross-validation looks between a tenth of the bandwidth that smooths most and that one.
"""

from collections.abc import Callable
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 1024  # for isj
FINE = 4096  # for cross-validation
# Canonical bandwidths: the factor by which a kernel smooths as much as the Gaussian.
WIDER = {
    "gaussian": 1.0,
    "epanechnikov": 15.0**0.2 * (4 * pi) ** 0.1,
    "uniform": 4.5**0.2 * (4 * pi) ** 0.1,
    "biweight": 35.0**0.2 * (4 * pi) ** 0.1,
    "triweight": (9450.0 / 143.0) ** 0.2 * (4 * pi) ** 0.1,
    "triangular": 24.0**0.2 * (4 * pi) ** 0.1,
}


def bandwidth(x: Floats, rule: str = "silverman", kernel: str = "gaussian") -> float:
    """Return the bandwidth of a column that is not constant; the kernel is one of `WIDER`.

    Examples
    --------
    >>> round(bandwidth(np.arange(100.0)), 2)
    10.34
    """
    return float(BANDWIDTHS[rule](x) * WIDER[kernel])


def _silverman(x: Floats) -> float:
    """Return the rule of thumb by the smaller of two measures of spread."""
    low, high = np.percentile(x, [25, 75])
    spread = min(float(x.std()), float(high - low) / 1.34) or float(x.std())
    return float(0.9 * spread * x.size**-0.2)


def _scott(x: Floats) -> float:
    """Return the rule of thumb by the standard deviation."""
    return float(1.06 * x.std() * x.size**-0.2)


def _isj(x: Floats) -> float:
    """Return the first fixed point of the diffusion estimate, or Silverman's rule."""
    from scipy.fft import dct
    from scipy.optimize import brentq

    margin = float(x.max() - x.min()) / 10
    low, wide = float(x.min()) - margin, float(x.max() - x.min()) + 2 * margin
    counts = np.bincount(np.minimum(((x - low) / wide * BINS).astype(np.int64), BINS - 1), minlength=BINS)
    waves = (dct(counts / x.size)[1:] / 2) ** 2
    squares = np.arange(1.0, BINS) ** 2
    different = np.unique(x).size

    def rest(t: float) -> float:
        """Return the residual of the fixed-point equation at a squared bandwidth."""
        curve = 2 * pi**14 * float((squares**7 * waves * np.exp(-squares * pi**2 * t)).sum())
        for s in range(6, 1, -1):
            odd = float(np.prod(np.arange(1.0, 2 * s, 2))) / sqrt(2 * pi)
            share = (1 + 0.5 ** (s + 0.5)) / 3
            at = (2 * share * odd / (different * curve)) ** (2 / (3 + 2 * s)) if curve > 0 else 0.0
            curve = 2 * pi ** (2 * s) * float((squares**s * waves * np.exp(-squares * pi**2 * at)).sum())
        return t - (2 * different * sqrt(pi) * curve) ** (-0.4) if curve > 0 else -1.0

    tried = np.geomspace(1e-8, 0.1, 60)
    found = [rest(float(t)) for t in tried]
    for place in range(1, len(found)):
        if found[place - 1] < 0 <= found[place]:
            return sqrt(float(brentq(rest, tried[place - 1], tried[place]))) * wide
    return _silverman(x)


def _cross_validated(score: Callable[[float, Floats, Floats, int], float]) -> Callable[[Floats], float]:
    """Return the rule that takes the bandwidth with the least score."""

    def rule(x: Floats) -> float:
        from scipy.fft import irfft, rfft
        from scipy.optimize import minimize_scalar

        n, wide = x.size, float(x.max() - x.min())
        counts = np.bincount(np.rint((x - x.min()) / wide * (FINE - 1)).astype(np.int64), minlength=FINE)
        pairs = np.rint(irfft(np.abs(rfft(counts, 2 * FINE)) ** 2, 2 * FINE)[:FINE])
        pairs[0] = (pairs[0] - n) / 2  # each pair once, without a row's pair with itself
        gaps = np.arange(FINE, dtype=np.float64) * (wide / (FINE - 1))
        most = 1.144 * float(x.std()) * n ** (-0.2)
        gaps /= most
        tried = np.geomspace(0.1, 1.0, 25)  # as fractions of the bandwidth that smooths most
        best = int(np.argmin([score(float(h), gaps, pairs, n) for h in tried]))
        limits = tried[max(0, best - 1)], tried[min(tried.size - 1, best + 1)]
        found = minimize_scalar(score, bounds=limits, args=(gaps, pairs, n), method="bounded")
        return float(most * found.x)

    return rule


def _least_squares(h: float, gaps: Floats, pairs: Floats, n: int) -> float:
    """Return the estimated integrated squared error of a bandwidth, up to a constant."""
    u = (gaps / h) ** 2
    twice = float((pairs * np.exp(-u / 4)).sum()) / sqrt(4 * pi)
    once = float((pairs * np.exp(-u / 2)).sum()) / sqrt(2 * pi)
    return (n / sqrt(4 * pi) + 2 * twice) / (n * n * h) - 4 * once / (n * (n - 1.0) * h)


def _biased(h: float, gaps: Floats, pairs: Floats, n: int) -> float:
    """Return the estimated asymptotic integrated squared error of a bandwidth."""
    u = (gaps / h) ** 2
    curve = float((pairs * np.exp(-u / 4) * (u**2 - 12 * u + 12)).sum()) / (16 * sqrt(4 * pi))
    return 1 / (2 * sqrt(pi) * n * h) + 2 * curve / (4 * n * n * h)


BANDWIDTHS: dict[str, Callable[[Floats], float]] = {
    "silverman": _silverman,
    "scott": _scott,
    "isj": _isj,
    "lscv": _cross_validated(_least_squares),
    "bcv": _cross_validated(_biased),
}
