"""The density of a column, its cuts, and the values that represent its parts.

1. Rows are binned, each shared by the two nearest bins, no wider than a third of the bandwidth: wider ones would
   undersample the kernel and create false peaks.
2. The bins are smoothed by the kernel, through the fast Fourier transform; where even 2^17 bins are too wide, directly.
3. A column is cut at the minima of its density, and each part is coded by the peak between them. Flat stretches count
   by their middle, and fluctuations of less than a billionth of the height are ignored.
4. A part of fewer than `least` rows is joined with the next one, across the higher of its two minima.

A column of one or two values is coded by these.
"""

from dataclasses import dataclass

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.density.bandwidth import WIDER, bandwidth
from shoal.kernels.loops import loop

FEWEST, MOST = 1 << 10, 1 << 17  # bins
STEP = 1 / 3  # greatest width of a bin, in bandwidths
PADDING = 3.0  # bandwidths beyond the outermost values
REACH = 4.0  # bandwidths after which a Gaussian is cut off in direct smoothing
NEGLIGIBLE = 1e-10  # of the highest density: less counts as zero
FLAT = 1e-9  # of the highest density: smaller rises and falls are ignored
TINY = 1e-100  # a column of smaller width is scaled to 1 first

KERNELS = tuple(WIDER)


@dataclass(frozen=True, eq=False)
class Curve:
    """The density of a column, bin by bin, with its cuts and codes.

    `cuts` ascend, `peaks` represent the parts, one more than there are cuts; `width` is the bandwidth, 0 where there
    are too few values for one.
    """

    places: Floats
    heights: Floats
    cuts: Floats
    peaks: Floats
    width: float

    def parts(self, x: Floats) -> Rows:
        """Return the part of each value; one on a cut is in the upper part."""
        return np.asarray(np.searchsorted(self.cuts, x, side="right"), np.int64)


def curve(x: Floats, kernel: str = "gaussian", rule: str = "silverman", width: float = 1.0, least: int = 1) -> Curve:
    """Return the density of a column and its coding.

    The kernel is one of `KERNELS`, the bandwidth `width` times that of a rule of `density.bandwidth`; every part holds
    at least `least` rows.

    Examples
    --------
    >>> two = np.concatenate([np.linspace(-1, 1, 50), np.linspace(9, 11, 50)])
    >>> np.round(curve(two).peaks + 1), curve(two).cuts.size
    (array([ 1., 11.]), 1)
    """
    low, high = float(x.min()), float(x.max())
    if low == high:
        return Curve(np.array([low]), np.array([1.0]), np.empty(0), np.array([low]), 0.0)
    half = high / 2 - low / 2
    if not TINY < half < 1 / TINY:
        # Scaling by a power of two is exact, and squares then fit; heights stay those of the scaled column.
        power = int(np.frexp(half)[1]) + 1
        found = curve(np.ldexp(x, -power), kernel, rule, width, least)
        with np.errstate(over="ignore"):  # a place beyond the outermost values may overflow
            places, cuts, peaks = (np.ldexp(values, power) for values in (found.places, found.cuts, found.peaks))
        return Curve(places, found.heights, cuts, peaks, float(np.ldexp(found.width, power)))
    if ((x == low) | (x == high)).all():
        counts = np.array([(x == low).sum(), (x == high).sum()], np.float64)
        values = np.array([low, high])
        found = Curve(values, counts, values.mean(keepdims=True), values, 0.0)
        return _joined(found, x, np.zeros(1), counts, least)
    h = width * bandwidth(x, rule, kernel)
    places, heights = density(x, h, kernel)
    tops, dips = _turns(heights, FLAT * float(heights.max()))
    step = places[1] - places[0]
    found = Curve(places, heights, places[0] + step * dips, places[0] + step * tops, h)
    return _joined(found, x, heights[dips.astype(np.int64)], heights[tops.astype(np.int64)], least)


def density(x: Floats, h: float, kernel: str = "gaussian") -> tuple[Floats, Floats]:
    """Return places and the density there, for a positive bandwidth.

    Examples
    --------
    >>> places, heights = density(np.array([0.0, 1.0]), 0.5)
    >>> round(float(heights.sum() * (places[1] - places[0])), 3)
    1.0
    """
    from scipy.fft import irfft, next_fast_len, rfft

    low, wide = float(x.min()) - PADDING * h, float(x.max() - x.min()) + 2 * PADDING * h
    bins = int(np.clip(2.0 ** np.ceil(np.log2(wide / (STEP * h) + 1)), FEWEST, MOST))
    step = wide / (bins - 1)
    counts = _shared(x, low, step, bins)
    if step > STEP * h:
        reach = int(np.ceil(REACH * h / step))
        near = np.arange(-reach, reach + 1, dtype=np.float64) * (step / h)
        heights = np.convolve(counts, _kernel(near, kernel), mode="same")
    else:
        length = next_fast_len(2 * bins, real=True)
        if kernel == "gaussian":
            waves = np.exp(-0.5 * (2 * np.pi * np.arange(length // 2 + 1) / length * (h / step)) ** 2)
        else:
            distances = np.minimum(np.arange(length), length - np.arange(length)) * (step / h)
            waves = rfft(_kernel(distances, kernel)).real
        heights = irfft(rfft(counts, length) * waves, length)[:bins]
    heights = heights / (heights.sum() * step)
    return low + step * np.arange(bins, dtype=np.float64), np.where(heights < NEGLIGIBLE * heights.max(), 0.0, heights)


def _kernel(u: Floats, name: str) -> Floats:
    """Return a kernel at some places, up to a factor."""
    if name == "gaussian":
        return np.asarray(np.exp(-0.5 * u * u))
    inside = np.abs(u) <= 1.0
    if name == "triangular":
        return np.asarray(np.where(inside, 1.0 - np.abs(u), 0.0))
    power = {"uniform": 0, "epanechnikov": 1, "biweight": 2, "triweight": 3}[name]
    return np.asarray(np.where(inside, (1.0 - np.minimum(u * u, 1.0)) ** power, 0.0))


def _joined(found: Curve, x: Floats, dips: Floats, tops: Floats, least: int) -> Curve:
    """Return a curve without parts of fewer than `least` rows; the smallest is joined first."""
    counts = np.bincount(found.parts(x), minlength=found.peaks.size).tolist()
    cuts, peaks, depth, height = found.cuts.tolist(), found.peaks.tolist(), dips.tolist(), tops.tolist()
    flat = FLAT * max(height)
    while cuts and min(counts) < least:
        part = counts.index(min(counts))
        left = depth[part - 1] if part > 0 else -np.inf
        right = depth[part] if part < len(cuts) else -np.inf
        # Ties go to the lower one: heights that differ by less than `flat` are equal.
        first = part - 1 if left >= right - flat else part
        kept = first if height[first] >= height[first + 1] - flat else first + 1
        counts[first : first + 2] = [counts[first] + counts[first + 1]]
        peaks[first : first + 2], height[first : first + 2] = [peaks[kept]], [height[kept]]
        del cuts[first], depth[first]
    return Curve(found.places, found.heights, np.array(cuts), np.array(peaks), found.width)


@loop
def _shared(x: Floats, low: float, step: float, bins: int) -> Floats:
    """Return the rows of each bin, each row shared by the two bins around it."""
    counts = np.zeros(bins)
    for i in range(x.size):
        place = (x[i] - low) / step
        left = min(max(int(place), 0), bins - 2)
        share = place - left
        counts[left] += 1.0 - share
        counts[left + 1] += share
    return counts


@loop
def _turns(heights: Floats, flat: float) -> tuple[Floats, Floats]:
    """Return the positions, in bins, of peaks and of the minima between them; the middle of flat stretches."""
    n = heights.size
    turns, found = np.empty((2, n)), np.zeros(2, np.int64)
    # Downhill, heights are negated, so that a minimum becomes a peak.
    sign, side = 1.0, 0
    extreme, first, last = heights[0], 0, 0
    for i in range(1, n):
        height = sign * heights[i]
        if height > extreme + flat:
            extreme, first, last = height, i, i
        elif height >= extreme - flat:
            extreme = max(extreme, height)
            last = i
        else:
            turns[side, found[side]] = 0.5 * (first + last)
            found[side] += 1
            sign, side = -sign, 1 - side
            extreme, first, last = -height, i, i
    if side == 0:
        turns[0, found[0]] = 0.5 * (first + last)
        found[0] += 1
    return turns[0, : found[0]].copy(), turns[1, : found[1]].copy()
