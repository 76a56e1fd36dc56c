"""The least number of rows with which a group can meet t and alpha at all.

With 13 values of which the five most frequent hold 59% of the rows, five rows are at a distance of at least 0.41 from
the table: under t = 0.4 no group of five rows meets t, whatever its values. A search that grows groups of k = 5 rows
then finds none. It has to aim at the least size that can meet the limits.

1. t with equal distance: of s rows, each value gets the integer part of s times its share. The remaining rows go to the
   values with the greatest fractions f, and add (1 - f) / s each. No other s rows are nearer to the table.
2. t with ordered distance: row i of s has the value at the quantile (i + 1/2) / s.
3. alpha: with v values, s rows are possible if v times the integer part of alpha s is at least s.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from shoal.cluster.inputs import Floats, Rows
from shoal.cluster.search.limits import SLACK, Limits, ordered_distance

FACTORS = (1, 1.25, 1.5, 2)
LARGEST = 128  # rows; growing larger groups takes too long, and merging finds them as well


class Aim(NamedTuple):
    """The size to which groups are grown, and limits adjusted to allow groups of this size."""

    size: int
    limits: Limits | None


def aims(limits: Limits | None, k: int) -> list[Aim]:
    """Return the sizes to try, ascending: k alone if neither t nor alpha is required.

    Groups of the least size that can meet t need its most frequent values and leave the rest of the table to large
    groups. Which size loses least depends on the table, so several are tried.
    """
    if limits is None or not limits.sized:
        return [Aim(k, limits)]
    least, n = feasible_size(limits, k, max(k, LARGEST)), len(limits.codes)
    sizes = sorted({min(round(factor * least), max(k, LARGEST), max(least, n // 2)) for factor in FACTORS})
    return [Aim(size, _guided(limits, size)) for size in sizes]


def best_of(tried: Iterable[Aim], grown: Callable[[Aim], Rows], cost: Callable[[Rows], float]) -> tuple[Aim, Rows]:
    """Return the aim whose groups cost least, and these; rows without a group count as one group."""
    found = [(aim, grown(aim)) for aim in tried]
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda one: cost(np.where(one[1] < 0, one[1].max() + 1, one[1])))


def _guided(limits: Limits, size: int) -> Limits:
    """Return limits whose bins may exceed their shares by as much as a group of this size cannot avoid."""
    rules = limits.rules
    least = [_excess(share, size) for share in np.split(rules.bin_share, rules.bin_start[1:-1])]
    return Limits(rules._replace(bin_limit=np.minimum(1.0, np.maximum(rules.bin_limit, least))))


def feasible_size(limits: Limits, k: int, most: int | None = None) -> int:
    """Return the least number of rows, at least k, with which a group can meet t and alpha, column by column.

    Sizes beyond `most` are not tried: if no smaller one is feasible, the number of all rows is returned.

    Examples
    --------
    >>> from shoal.model.policy import Constraints
    >>> from shoal.privacy.verdict.values import Values
    >>> feasible_size(Limits.of(Constraints(k=2, t=0.4), {"a": Values(np.arange(50) % 5)}), 2)
    3
    """
    n = len(limits.codes)
    sizes = range(k, n if most is None else min(n, most + 1))
    return next((size for size in sizes if _possible(limits, size)), max(k, n))


def _possible(limits: Limits, size: int) -> bool:
    """Return whether some values of the table meet t and alpha in a group of this size."""
    rules = limits.rules
    t, alpha = rules.asked[2], rules.asked[3]
    for column, share in enumerate(np.split(rules.share, rules.start[1:-1])):
        if alpha < 1 and share.size * np.floor((alpha + SLACK) * size) < size:
            return False
        if t < 1:
            first = rules.start[column]
            if rules.ordered[column]:
                whole, prefix = rules.whole[first:], rules.prefix[first + column :]
                quantiles = (np.arange(size) + 0.5) / size
                values = np.minimum(np.searchsorted(whole[: share.size], quantiles), share.size - 1)
                far = ordered_distance(values.astype(np.int32), share.size, whole, prefix)
            else:
                far = _excess(share, size)
            if far > t + SLACK:
                return False
    return True


def _excess(share: Floats, size: int) -> float:
    """Return the least amount by which the values of a group of this size exceed their shares."""
    wanted = share * size
    whole = np.floor(wanted + 1e-9)
    left = size - int(whole.sum())
    missing = np.sort(1 - np.maximum(wanted - whole, 0.0))
    return float(missing[: max(0, left)].sum() / size)
