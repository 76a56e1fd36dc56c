"""Bins of numbers for trees, whose limits reveal no value that fewer than k rows have.

`round_bins` cuts at multiples of fixed widths. `equal_width` and `equal_frequency` compute where cut points would be,
and take the roundest number near each:

1. The roundest number of an interval is the multiple in it of the largest 1, 2 or 5 times a power of ten. The interval
   extends a quarter of a bin to both sides, so that bins stay about equal; half a bin if it contains no admissible
   number.
2. A value that fewer than k rows have is not admissible. Only where integers are so close that there is no other, it
   may be a multiple of 5; if there is none, the bins on both sides are merged.
3. If fewer than k rows have the smallest or the largest value, the outermost limit is a round number beyond it, at most
   as far away as the next cut point on the other side, and up to 10 for integers. Zero stays zero.

A value on a cut point belongs to the upper bin. Numbers are decimals, as published, so that rounding puts none into the
wrong bin.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from itertools import pairwise

from shoal.prepare.hierarchy import ROOT

MOST_BINS = 64
EXACT = Context(prec=120)
HEADS = (5, 2, 1)
ROUND = 5  # its multiples, and those of larger steps, are round among integers
TRIED = 32  # multiples tried on each side of a number
FINEST = 3  # powers of ten below the width of an interval down to which a number in it is sought


def round_bins(texts: Sequence[str]) -> list[list[str]]:
    """Return bins of width 5, 10, 50, 100 and so on for distinct numbers in ascending order.

    There is one list per number: its text, the names of its bins from the narrowest to the widest, and the root.
    """
    with localcontext(EXACT):
        numbers = [Decimal(text) for text in texts]
        if not all(number.is_finite() for number in numbers):
            return _flat(texts)
        span = max(numbers) - min(numbers)
        whole = _whole(numbers)
        steps, step = [], Decimal(1).scaleb((span / 100).adjusted())
        while step < span:
            for width in (step, 5 * step):
                if span / MOST_BINS <= width < span and not (whole and width <= 1):
                    steps.append(width)
            step *= 10
        lines = []
        for number, text in zip(numbers, texts, strict=True):
            lows = [(width, (number / width).to_integral_value(ROUND_FLOOR) * width) for width in steps]
            bins = [f"{_plain(low)}–{_plain(low + width - (1 if whole else 0))}" for width, low in lows]
            lines.append([text, *bins, ROOT])
        return lines


def equal_width(texts: Sequence[str], common: Collection[str]) -> list[list[str]]:
    """Return bins of about equal width, two merged at each level, in the form of `round_bins`.

    `texts` are the distinct numbers in ascending order, `common` those that k rows have.

    Examples
    --------
    >>> equal_width(["18", "31", "44", "57", "70"], common=())[0]
    ['18', '10–30', '10–45', '*']
    """
    with localcontext(EXACT):
        found = _Bins(texts, common)
        if not found.finite:
            return _flat(texts)
        low, high = found.numbers[0], found.numbers[-1]
        bins = min(MOST_BINS, 1 << max(len(texts) - 1, 1).bit_length() - 1)
        width = (high - low) / bins
        cuts = []
        for place in range(1, bins):
            ideal = low + place * width
            near = found.roundest(ideal - width / 4, ideal + width / 4)
            wide = (ideal - width / 2, ideal + width / 2)
            cuts.append(near if near is not None else found.roundest(*wide, held=True))
        return found.lines(cuts)


def equal_frequency(texts: Sequence[str], common: Collection[str]) -> list[list[str]]:
    """Return bins of about equal numbers of distinct values, two merged at each level; see `equal_width`.

    Examples
    --------
    >>> equal_frequency(["1", "2", "3", "50", "60", "1000", "2000", "9000"], common=())[-1]
    ['9000', '1500–10000', '55–10000', '*']
    """
    with localcontext(EXACT):
        found = _Bins(texts, common)
        if not found.finite:
            return _flat(texts)
        numbers, last = found.numbers, len(texts) - 1
        bins = min(MOST_BINS, max(1, len(texts) // 2))
        cuts = []
        for place in range(1, bins):
            start = place * len(texts) // bins
            size = (place + 1) * len(texts) // bins - start
            near = found.roundest(numbers[start - 1 - size // 4], numbers[start + size // 4])
            below, above = max(start - 1 - (size - 1) // 2, 0), min(start + size // 2, last)
            cuts.append(near if near is not None else found.roundest(numbers[below], numbers[above], held=True))
        return found.lines(cuts)


class _Bins:
    """Numbers, and which of them may be cut points."""

    def __init__(self, texts: Sequence[str], common: Collection[str]) -> None:
        self.texts, self.common = texts, set(common)
        self.numbers = [Decimal(text) for text in texts]
        self.finite = all(number.is_finite() for number in self.numbers)
        self.whole = self.finite and _whole(self.numbers)
        self.rare = {number for number, text in zip(self.numbers, texts, strict=True) if text not in self.common}

    def roundest(self, low: Decimal, high: Decimal, *, held: bool = False) -> Decimal | None:
        """Return the roundest admissible limit above `low` and not above `high`; None if there is none.

        With `held`, if all integers there are values that few rows have, a multiple of 5 may be one of them.
        """
        middle, spare = (low + high) / 2, None
        for step in _steps(low, high):
            if self.whole and step < 1:
                break
            for number in _multiples(step, middle, high - middle):
                if low < number <= high and number not in self.rare:
                    return number
                if held and low < number <= high and self.whole and step >= ROUND and spare is None:
                    spare = number
        return spare

    def lines(self, cuts: Iterable[Decimal | None]) -> list[list[str]]:
        """Return the bins between cut points, two merged at each level."""
        least, greatest = self.numbers[0], self.numbers[-1]
        inner = sorted({cut for cut in cuts if cut is not None and least < cut < greatest})
        if not inner:
            return _flat(self.texts)
        level, end = [self._outermost(least, inner[0]), *inner], self._outermost(greatest, inner[-1])
        names: list[list[str]] = []
        while len(level) > 1:
            starts = [bisect_left(self.numbers, limit) for limit in level] + [len(self.numbers)]
            names.append([])
            for (low, high), (first, after) in zip(pairwise([*level, end]), pairwise(starts), strict=True):
                names[-1] += [f"{_plain(low)}–{_plain(high)}"] * (after - first)
            level = level[::2]
        return [[text, *above, ROOT] for text, *above in zip(self.texts, *names, strict=True)]

    def _outermost(self, edge: Decimal, next_cut: Decimal) -> Decimal:
        """Return an extreme value if k rows have it, or a round number beyond it, away from the next cut point."""
        if edge == 0 or edge not in self.rare:
            return edge
        sign = 1 if edge > next_cut else -1
        start, far = sign * edge, max(abs(edge - next_cut), Decimal(2 * ROUND if self.whole else 0))
        beyond = (((start / step).to_integral_value(ROUND_FLOOR) + 1) * step for step in _steps(start, start + far))
        return sign * next(number for number in beyond if number <= start + far)


def _multiples(step: Decimal, middle: Decimal, reach: Decimal) -> Iterator[Decimal]:
    """Yield multiples of a step within `reach` of a number, the nearest first, at most `TRIED` on each side."""
    below, above = ((middle / step).to_integral_value(side) * step for side in (ROUND_FLOOR, ROUND_CEILING))
    for steps in range(min(TRIED, int(reach / step) + 1)):
        pair = {below - steps * step, above + steps * step}
        yield from sorted(pair, key=lambda number: (abs(number - middle), number))


def _steps(low: Decimal, high: Decimal) -> Iterator[Decimal]:
    """Yield 5, 2 and 1 times powers of ten, descending, of which numbers in the interval may be multiples."""
    top = max(abs(low), abs(high)).adjusted() + 1
    for power in range(top, (high - low).adjusted() - FINEST, -1):
        for head in HEADS:
            yield Decimal(head).scaleb(power)


def _whole(numbers: Sequence[Decimal]) -> bool:
    """Return whether all numbers are integers."""
    return all(number == number.to_integral_value() for number in numbers)


def _flat(texts: Sequence[str]) -> list[list[str]]:
    """Return lines without bins."""
    return [[text, ROOT] for text in texts]


def _plain(number: Decimal) -> str:
    """Return a number in its usual notation, if that is not too long."""
    short = number.normalize()
    return f"{short + 0:f}" if -7 < short.adjusted() < 21 else str(short)
