"""Density, cuts and codes from their definitions: sums over all pairs, no Fourier transform, no binned pairs."""

from math import ceil, exp, log2, pi, sqrt

from naive import finish

# A kernel, and what makes it smooth as much as a Gaussian: (its square's integral / its variance^2)^(1/5).
KERNELS = {
    "gaussian": (lambda u: exp(-u * u / 2), 1 / (2 * sqrt(pi)), 1.0),
    "epanechnikov": (lambda u: 1 - u * u if abs(u) <= 1 else 0.0, 3 / 5, 1 / 5),
    "uniform": (lambda u: 1.0 if abs(u) <= 1 else 0.0, 1 / 2, 1 / 3),
    "biweight": (lambda u: (1 - u * u) ** 2 if abs(u) <= 1 else 0.0, 5 / 7, 1 / 7),
    "triweight": (lambda u: (1 - u * u) ** 3 if abs(u) <= 1 else 0.0, 350 / 429, 1 / 9),
    "triangular": (lambda u: 1 - abs(u) if abs(u) <= 1 else 0.0, 2 / 3, 1 / 6),
}


def wider(kernel):
    """How many times as wide as a Gaussian a kernel is that smooths as much."""
    _, square, variance = KERNELS[kernel]
    return (square / variance**2 * 2 * sqrt(pi)) ** 0.2


def deviation(x):
    middle = sum(x) / len(x)
    return sqrt(sum((value - middle) ** 2 for value in x) / len(x))


def quantile(x, share):
    """The value at a share of the way through the sorted values, between two of them in proportion."""
    x = sorted(x)
    place = share * (len(x) - 1)
    low = min(int(place), len(x) - 2)
    return x[low] + (place - low) * (x[low + 1] - x[low])


def silverman(x):
    middle_half = (quantile(x, 0.75) - quantile(x, 0.25)) / 1.34
    spread = min(deviation(x), middle_half) if middle_half > 0 else deviation(x)
    return 0.9 * spread * len(x) ** -0.2


def scott(x):
    return 1.06 * deviation(x) * len(x) ** -0.2


def lscv(x):
    """The least estimated integrated squared error: the square's integral, minus twice the mean of what others say."""
    n = len(x)

    def score(h):
        square = sum(exp(-(((a - b) / h) ** 2) / 4) for a in x for b in x) / (sqrt(4 * pi) * n * n * h)
        others = sum(exp(-(((a - b) / h) ** 2) / 2) for i, a in enumerate(x) for j, b in enumerate(x) if i != j)
        return square - 2 * others / (sqrt(2 * pi) * n * (n - 1) * h)

    return least(score, 1.144 * deviation(x) * n**-0.2)


def bcv(x):
    """The least asymptotic error, with the curvature estimated from pairs (Scott and Terrell 1987)."""
    n = len(x)

    def score(h):
        curve = 0.0
        for i, a in enumerate(x):
            for b in x[:i]:
                u = (a - b) / h
                curve += 2 * exp(-u * u / 4) * (u**4 - 12 * u**2 + 12)
        return 1 / (2 * sqrt(pi) * n * h) + curve / (128 * sqrt(pi) * n * n * h)

    return least(score, 1.144 * deviation(x) * n**-0.2)


def least(score, most):
    """Where a score is least, between a tenth of the most and the most: some places, then ever smaller stretches."""
    tried = [most * 0.1 ** (1 - step / 24) for step in range(25)]
    best = min(range(25), key=lambda place: score(tried[place]))
    low, high = tried[max(best - 1, 0)], tried[min(best + 1, 24)]
    for _ in range(25):
        one, two = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
        low, high = (low, two) if score(one) < score(two) else (one, high)
    return (low + high) / 2


RULES = {"silverman": silverman, "scott": scott, "lscv": lscv, "bcv": bcv}


def density(x, h, kernel):
    """Return places and the density there: each row shared by the two bins around it, and every bin by the kernel."""
    low, wide = min(x) - 3 * h, max(x) - min(x) + 6 * h
    bins = 2 ** min(17, max(10, ceil(log2(3 * wide / h + 1))))
    step = wide / (bins - 1)
    counts = {}
    for value in x:
        left = min(int((value - low) / step), bins - 2)
        share = (value - low) / step - left
        counts[left] = counts.get(left, 0.0) + 1 - share
        counts[left + 1] = counts.get(left + 1, 0.0) + share
    reach = ceil(4 * h / step) if step > h / 3 else bins
    heights, shape = [0.0] * bins, KERNELS[kernel][0]
    for place, count in counts.items():
        for other in range(max(0, place - reach), min(bins, place + reach + 1)):
            heights[other] += count * shape((other - place) * (step / h))
    whole, highest = sum(heights) * step, max(heights)
    heights = [height / whole if height >= 1e-10 * highest else 0.0 for height in heights]
    return [low + step * place for place in range(bins)], heights


def at(x, h, kernel, place):
    """The density at a place by all rows as they are, without bins."""
    shape = KERNELS[kernel][0]
    area = {"gaussian": sqrt(2 * pi), "uniform": 2, "epanechnikov": 4 / 3, "biweight": 16 / 15, "triweight": 32 / 35}
    return sum(shape((place - value) / h) for value in x) / (len(x) * h * area.get(kernel, 1))


def turns(heights):
    """Stretches that are peaks, and stretches of minima between two of them, as pairs of bins.

    Equal heights, but for a billionth of the highest, are one stretch; it is a peak if both sides are lower.
    """
    flat = 1e-9 * max(heights)
    runs = []  # first, last, height
    for place, height in enumerate(heights):
        if runs and abs(height - runs[-1][2]) <= flat:
            runs[-1][1] = place
        else:
            runs.append([place, place, height])
    edge = [-1, -1, -1.0]
    peaks, dips = [], []
    for before, run, after in zip([edge, *runs], runs, [*runs[1:], edge], strict=False):
        if before[2] < run[2] > after[2]:
            peaks.append(run)
        elif before[2] > run[2] < after[2] and before is not edge and after is not edge:
            dips.append(run)
    return peaks, dips


def curve(x, kernel="gaussian", rule="silverman", width=1.0, least=1):
    """Return cuts and the peaks between them."""
    values = sorted(set(x))
    if len(values) == 1:
        return [], values
    if len(values) == 2:
        parts = [[sum(values) / 2, 0.0]], [[value, float(x.count(value))] for value in values]
    else:
        places, heights = density(x, width * wider(kernel) * RULES[rule](x), kernel)
        step = places[1] - places[0]
        peaks, dips = turns(heights)
        parts = tuple([[places[0] + step * (a + b) / 2, height] for a, b, height in found] for found in (dips, peaks))
    return joined(x, *parts, least)


def joined(x, cuts, peaks, least):
    """Cuts and peaks, each a place and a height, without parts of fewer than `least` rows."""
    while cuts:
        counts = [0] * len(peaks)
        for value in x:
            counts[part(value, [place for place, _ in cuts])] += 1
        small = counts.index(min(counts))
        if counts[small] >= least:
            break
        sides = [side for side in (small - 1, small) if 0 <= side < len(cuts)]
        side = max(sides, key=lambda side: (cuts[side][1], -side))
        peaks[side : side + 2] = [max(peaks[side : side + 2], key=lambda peak: peak[1])]
        del cuts[side]
    return [place for place, _ in cuts], [place for place, _ in peaks]


def part(value, cuts):
    """The part of a value; one on a cut is in the upper part."""
    return sum(value >= cut for cut in cuts)


def coding(rows, **given):
    """Return the parts of each row, and the peaks that stand for them."""
    curves = [curve(list(column), **given) for column in zip(*rows, strict=True)]
    parts = [tuple(part(value, cuts) for value, (cuts, _) in zip(row, curves, strict=True)) for row in rows]
    coded = [[peaks[own] for own, (_, peaks) in zip(row, curves, strict=True)] for row in parts]
    return parts, coded


def kde(rows, k, **given):
    """Return the group of each row before any search; groups are numbered in the order of their first rows."""
    parts, _ = coding(rows, least=k, **given)
    cells = sorted(set(parts))
    return finish.finished(rows, [cells.index(own) for own in parts], k)
