"""Structure: how well the values of each column, their correlations, and answers to queries survive.

1. **Structural utility** of a column: 1 - W1 / range, with W1 the earth mover's distance of order 1 between its values
   before and after; for categories, 1 - half the sum of the differences of shares. It sees each column alone: a release
   that shuffles every column independently keeps all of it.
2. **Joint utility**: 1 - half the mean difference of correlations, which such a release loses.
3. **Combined utility**: alpha x separability + (1 - alpha) x structural utility.
4. **Query error**: how far counts of random queries on the release are from those on the table.

Columns of truthful forms are left out: a range is not a value that could be counted.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError
from shoal.privacy.measures.pairs import Pair
from shoal.utility.fidelity import total_variation
from shoal.utility.moments import Numbers

QUERIES, DRAWS = 1_000, 20_000  # queries, and most draws to find that many
FEWEST, MOST, FLOOR = 0.01, 0.20, 0.01  # shares of the rows: selectivity, and what errors are divided by at least
COLUMNS = 3  # most columns of a query

Floats = NDArray[np.float64]
By = Literal["range", "deviation"]


def structural_utility(columns: Sequence[Pair], by: By = "range") -> dict[str, float]:
    """Return 1 - W1 / range of each column: from 0 to 1, high is good, needs the pair.

    W1 is divided by the range of the original values or by their standard deviation; categories have neither. Missing
    values are left out on both sides; a column that loses all its values has 0. A column that is constant before has 1
    if it is the same after, and 0 if not. Columns of truthful forms are left out.
    """
    plain = [column for column in columns if not column.truthful and len(column.before)]
    return {column.name: _kept(column, by) for column in plain}


def _kept(column: Pair, by: By) -> float:
    """Return how much of the distribution of a column is kept."""
    if not column.ordered:
        return 1.0 - total_variation([column.codes])
    before, after = (numbers[~np.isnan(numbers)] for numbers in column.numbers)
    if not before.size or not after.size:
        return float(before.size == after.size)
    if before.max() == before.min():
        return float((after == before[0]).all())
    scale = float(np.ptp(before) if by == "range" else before.std())
    return float(np.clip(1.0 - _earth_movers_distance(before, after) / scale, 0.0, 1.0))


def _earth_movers_distance(before: Floats, after: Floats) -> float:
    """Return the area between two distribution functions; to import that of scipy takes most of a second."""
    before, after = np.sort(before), np.sort(after)
    steps = np.sort(np.concatenate([before, after]))
    shares = [np.searchsorted(one, steps[:-1], side="right") / one.size for one in (before, after)]
    return float((np.abs(shares[0] - shares[1]) * np.diff(steps)).sum())


def joint_utility(numbers: Numbers) -> float | None:
    """Return 1 - mean of |r - r'| / 2 over pairs of numeric columns: from 0 to 1, high is good, needs the pair.

    r and r' are the correlations before and after. None if there are fewer than two columns.
    """
    places = np.triu_indices(numbers.before.shape[1], 1)
    if not places[0].size:
        return None
    before, after = numbers.correlations
    return float(1.0 - np.abs(before[places] - after[places]).mean() / 2)


def combined_utility(separability: float, structural: float, alpha: float = 0.5) -> float:
    """Return alpha x separability + (1 - alpha) x structural utility, all from 0 to 1; high is good."""
    if not 0 <= alpha <= 1:
        raise MethodError(f"combined utility: alpha must lie between 0 and 1; got {alpha:g}.")
    return alpha * separability + (1 - alpha) * structural


def query_errors(columns: Sequence[Pair], seed: int = 0) -> Floats:
    """Return |count - count'| / max(count, 1% of n) of random queries: at least 0, low is good, needs the pair.

    A query names one to three columns, with a range of values for those with an order and some categories for others,
    drawn from the table so that 1 to 20% of its rows match. Missing values match no range; among categories they are
    one. Up to 1,000 queries; fewer, or none, where columns have so few values that such queries are hard to find.
    Columns of truthful forms are left out.
    """
    n = len(columns[0].before) if columns else 0
    plain = [_Asked(column) for column in columns if n and not column.truthful]
    if not plain:
        return np.zeros(0)
    rng, drawn = np.random.default_rng(seed), 0
    found: list[float] = []
    # If none is found in as many draws as queries, the search ends.
    while len(found) < QUERIES and drawn < (DRAWS if found else QUERIES):
        drawn += 1
        width = int(rng.integers(1, min(COLUMNS, len(plain)) + 1))
        each = rng.uniform(FEWEST, MOST) ** (1 / width)
        before, after = np.ones(n, bool), np.ones(n, bool)
        for place in rng.choice(len(plain), width, replace=False):
            first, second = plain[place].query(each, rng)
            before &= first
            after &= second
        true = int(before.sum())
        if FEWEST * n <= true <= MOST * n:
            found.append(abs(true - int(after.sum())) / max(true, FLOOR * n))
    return np.array(found)


class _Asked:
    """A column of random queries."""

    def __init__(self, column: Pair) -> None:
        self.ordered = column.ordered
        if column.ordered:
            self.before, self.after = column.numbers
            self.known = np.sort(self.before[~np.isnan(self.before)])
        else:
            first, second = column.codes
            self.places = first, second
            self.width = int(max(first.max(), second.max())) + 1
            self.counts = np.bincount(first, minlength=self.width)

    def query(self, share: float, rng: np.random.Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which rows match, before and after, a condition that about this share of the rows matches before."""
        if self.ordered:
            m = self.known.size
            if not m:
                return np.zeros(self.before.size, bool), np.zeros(self.after.size, bool)
            start = int(rng.uniform(0, 1 - share) * m)
            low, high = self.known[start], self.known[min(m - 1, start + max(1, round(share * m)) - 1)]
            first, second = ((cells >= low) & (cells <= high) for cells in (self.before, self.after))
            return first, second
        order = rng.permutation(self.width)
        some = np.zeros(self.width, bool)
        reached = np.cumsum(self.counts[order])
        some[order[: 1 + int(np.searchsorted(reached, share * reached[-1]))]] = True
        return some[self.places[0]], some[self.places[1]]
