"""Association: how much of the support of itemsets survives disassociation.

With s the support of an itemset in the original and s* what is left of it:

- alpha = s* / s, the share that is left;
- relative absolute error RAE = |s - s*| / ((s + s*) / 2), from 0 (nothing lost) to 2 (everything lost).

Awad, Couchot, Al Bouna and Philippe, Future Internet 12(4):71 (2020), but with absolute values, so that gains do not
offset losses. With certain supports, an itemset held by fewer than k records always scores 2: no method can do better.

`supports` and `left` are non-negative arrays of the same shape: the supports of some itemsets in the original, and what
is left of them. All functions except `association` run in linear time.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import DataError, MethodError, shortened
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.transactions.itemsets.mining import itemset_supports, pair_supports
from shoal.transactions.itemsets.support import certain_support, expected_support, renumbered

Floats = NDArray[np.float64]
EDGES = (1, 2, 5, 10, 100)  # the least support of each row of the table


@dataclass(frozen=True)
class Error:
    """What is left of some itemsets: their number, sum and mean of RAE, mean of alpha."""

    itemsets: int
    total: float
    mean: float
    alpha: float


@dataclass(frozen=True)
class Bin:
    """The same for itemsets whose support in the original is `least` to `most`; None means no limit."""

    least: int
    most: int | None
    error: Error


@dataclass(frozen=True)
class Association:
    """What is left of all pairs, overall and by frequency, and of the rules if there are any.

    `floor` is the least sum that any method can reach with certain support: 2 for each pair of support below k.
    """

    support: str
    pairs: Error
    table: tuple[Bin, ...]
    floor: float
    rules: Error | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers for a report or JSON."""
        return asdict(self)


def alpha(supports: ArrayLike, left: ArrayLike) -> Floats:
    """Return the share of each support that is left; 1 where both are 0, infinite where only the original is 0.

    Examples
    --------
    >>> alpha([4, 2, 0], [1, 2, 0]).tolist()
    [0.25, 1.0, 1.0]
    """
    s, r = _both(supports, left, "alpha")
    return np.where(s > 0, r / np.where(s > 0, s, 1.0), np.where(r > 0, np.inf, 1.0))


def rae(supports: ArrayLike, left: ArrayLike) -> Floats:
    """Return the relative absolute error of each support, from 0 to 2; 0 where both are 0.

    Examples
    --------
    >>> rae([4, 2, 5], [4, 1, 0]).tolist()
    [0.0, 0.6666666666666666, 2.0]
    """
    s, r = _both(supports, left, "rae")
    half = (s + r) / 2
    return np.abs(s - r) / np.where(half > 0, half, 1.0)


def error_of(supports: ArrayLike, left: ArrayLike) -> Error:
    """Return the error over the itemsets that occur in the original; zero, with alpha 1, if none does."""
    s, r = _both(supports, left, "error_of")
    s, r = s[s > 0], r[s > 0]
    if s.size == 0:
        return Error(0, 0.0, 0.0, 1.0)
    errors = rae(s, r)
    return Error(int(s.size), float(errors.sum()), float(errors.mean()), float(alpha(s, r).mean()))


def binned(supports: ArrayLike, left: ArrayLike) -> tuple[Bin, ...]:
    """Return the error by support in the original: 1, 2 to 4, 5 to 9, 10 to 99, 100 and more.

    Examples
    --------
    >>> [(line.least, line.most, line.error.itemsets) for line in binned([1, 3, 200], [0, 3, 100])]
    [(1, 1, 1), (2, 4, 1), (5, 9, 0), (10, 99, 0), (100, None, 1)]
    """
    s, r = _both(supports, left, "binned")
    lines = []
    for least, following in zip(EDGES, (*EDGES[1:], None), strict=True):
        inside = s >= least if following is None else (s >= least) & (s < following)
        lines.append(Bin(least, None if following is None else following - 1, error_of(s[inside], r[inside])))
    return tuple(lines)


def association(
    original: Transactions,
    published: Disassociated,
    rules: Sequence[NDArray[np.int32]] = (),
    support: Literal["certain", "expected"] = "certain",
) -> Association:
    """Compare the support of all pairs of the original, and of rules, with the published support.

    `rules` are itemsets in item numbers of the original. The result is measured on the original: a diagnosis for the
    data holder, not for publication. O(number of pairs * clusters that contain them): about a second for the 64,000
    pairs of BMS1.
    """
    if support not in ("certain", "expected"):
        raise MethodError(f"association: support must be 'certain' or 'expected'; got {shortened(support)}.")
    left_of = certain_support if support == "certain" else expected_support
    number = renumbered(original.labels, published.labels)
    pairs, supports = pair_supports(original)
    left = left_of(published, number[pairs]) if len(pairs) else np.zeros(0)
    error = None
    if len(rules):
        before = itemset_supports(original, [np.asarray(rule, np.int32) for rule in rules])
        error = error_of(before, left_of(published, [number[np.asarray(rule)] for rule in rules]))
    floor = 2.0 * float((supports < published.k).sum())
    return Association(support, error_of(supports, left), binned(supports, left), floor, error)


def _both(supports: ArrayLike, left: ArrayLike, who: str) -> tuple[Floats, Floats]:
    """Return both as float64 arrays; refuse values that cannot be supports."""
    s, r = np.asarray(supports, np.float64), np.asarray(left, np.float64)
    if s.shape != r.shape:
        raise DataError(
            f"{who}: {s.size} supports and {r.size} remaining supports were given; expected as many of both."
        )
    if not (np.isfinite(s).all() and np.isfinite(r).all() and (s >= 0).all() and (r >= 0).all()):
        raise DataError(f"{who}: supports must be finite and at least 0, and some are not.")
    return s, r
