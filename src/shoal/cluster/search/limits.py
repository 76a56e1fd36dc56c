"""Limits: requirements on the sensitive values of a group, checked inside a search.

The policy's l, t and alpha, as the judge counts them (`privacy.verdict.models`), in a form that compiled loops can
check millions of times. The judge's own code is separate: it counts again on what was written.

1. The sensitive values of a group are sorted, so that equal ones are adjacent.
2. Distinct l counts the runs of equal values; entropy l sums c log c over them.
3. t with equal distance sums max(0, share in the group - share in the table) over the runs; with ordered distance it
   sums |difference of cumulative shares| over all values, run by run, from prefix sums.
4. alpha compares the longest run with the number of rows.

All of them are met by the union of two groups that meet them, so merging never violates one.

Growing a group calls for a cheaper check: may this row join, if the group is to have s rows in the end? For that,
values fall into bins (an ordered column into a few of equal share), and a bin may not exceed its share by so much that
t would be missed, nor a value have so many rows that alpha would be. This guides the choice of rows; `meets` decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Floats, Rows
from shoal.kernels.columns import ends
from shoal.kernels.loops import callable_inner_loop, inner_loop, loop, shared_loop
from shoal.model.policy import Constraints
from shoal.privacy.verdict.values import Values

FEW = 256  # up to this many distinct values are counted rather than sorted
SLACK = 5e-10  # half of what the judge allows for rounding

Codes = NDArray[np.int32]


class Rules(NamedTuple):
    """Limits as arrays, for compiled loops.

    `codes` is the value of each row in each of c sensitive columns, from 0 up. From `start[j]` on, `share` and `whole`
    are the share of each value of column j in the table and its cumulative sums; `prefix` has the prefix sums of those,
    with one more entry per column. `asked` is (l, 1 for entropy, t, alpha); l up to 1, and t and alpha from 1, require
    nothing. The bins for growing are described likewise, and `bin_limit` is how much bins may exceed their shares in
    total; 1 if anything will do.
    """

    codes: Codes
    start: Rows
    share: Floats
    whole: Floats
    prefix: Floats
    ordered: NDArray[np.bool_]
    asked: Floats
    bins: Codes
    bin_start: Rows
    bin_share: Floats
    bin_limit: Floats


@dataclass(frozen=True, eq=False)
class Limits:
    """The constraints on sensitive values, and these values row by row."""

    rules: Rules

    @classmethod
    def of(cls, constraints: Constraints, sensitive: Mapping[str, Values]) -> "Limits | None":
        """Return the policy's requirements on the sensitive columns, or None if there are none."""
        if not sensitive:
            return None
        columns = list(sensitive.values())
        t = 2.0 if constraints.t is None else constraints.t
        alpha = 2.0 if constraints.alpha is None else constraints.alpha
        shares = [np.bincount(column.codes, minlength=column.distinct) / column.codes.size for column in columns]
        wholes = [np.cumsum(share) for share in shares]
        bins = [_bins(column, share, t) for column, share in zip(columns, shares, strict=True)]
        binned = [np.bincount(bin_, minlength=1) / bin_.size for bin_ in bins]
        # Moving a share across the whole range costs an ordered column as much as any other column, but most
        # moves are shorter: a looser guide grows better groups, and `meets` decides in the end.
        limit = [
            min(1.0, 2 * t if column.ordered else t) if bin_.any() else 1.0
            for column, bin_ in zip(columns, bins, strict=True)
        ]
        return cls(
            Rules(
                _stacked([column.codes for column in columns]),
                ends([share.size for share in shares]),
                np.concatenate(shares),
                np.concatenate(wholes),
                np.concatenate([np.concatenate([[0.0], np.cumsum(whole)]) for whole in wholes]),
                np.array([column.ordered and column.distinct > 1 for column in columns]),
                np.array([constraints.l or 0.0, float(constraints.l_kind == "entropy"), t, alpha]),
                _stacked(bins),
                ends([share.size for share in binned]),
                np.concatenate(binned),
                np.array(limit),
            )
        )

    @property
    def codes(self) -> Codes:
        """The value of each row in each sensitive column."""
        return self.rules.codes

    @property
    def binding(self) -> bool:
        """Whether anything is required: l, t or alpha."""
        return bool(self.rules.asked[0] > 1 or self.sized)

    @property
    def sized(self) -> bool:
        """Whether t or alpha is required, which small groups may miss whatever their values."""
        return bool(self.rules.asked[2] < 1 or self.rules.asked[3] < 1)

    def met(self, rows: Rows) -> bool:
        """Return whether these rows, as one group, meet everything."""
        return bool(meets(self.rules, np.asarray(rows, np.int64), len(rows)))

    def part(self, rows: Rows) -> "Limits":
        """Return the same limits for some of the rows, renumbered; shares stay those of the whole table."""
        codes, bins = (np.ascontiguousarray(array[rows]) for array in (self.rules.codes, self.rules.bins))
        return Limits(self.rules._replace(codes=codes, bins=bins))


def _bins(column: Values, share: Floats, t: float) -> Rows:
    """Return the bin of each row: its value, or for ordered columns a few bins of equal share."""
    if column.ordered and column.distinct > 1:
        count = min(16, 1 + int(np.ceil(0.5 / max(t, 0.01))))
        middle = np.cumsum(share) - share / 2
        return np.unique((middle * count).astype(np.int64), return_inverse=True)[1].reshape(-1)[column.codes]
    return column.codes if column.distinct <= FEW else np.zeros_like(column.codes)


def _stacked(columns: list[Rows]) -> Codes:
    """Return columns side by side."""
    return np.ascontiguousarray(np.column_stack(columns), np.int32)


_NO_CODES, _NO_SHARES = np.zeros((0, 0), np.int32), np.zeros(0)
NONE = Rules(
    _NO_CODES,
    np.zeros(1, np.int64),
    _NO_SHARES,
    _NO_SHARES,
    _NO_SHARES,
    np.zeros(0, bool),
    np.array([0.0, 0.0, 2.0, 2.0]),
    _NO_CODES,
    np.zeros(1, np.int64),
    _NO_SHARES,
    _NO_SHARES,
)


@loop
def meets(rules: Rules, rows: Rows, count: int) -> bool:
    """Return whether the first `count` of these rows, as one group, meet the rules."""
    return meets_in(rules, rows, count, np.empty(count + FEW, np.int32))


@shared_loop
def meets_in(rules: Rules, rows: Rows, count: int, scratch: Codes) -> bool:
    """Return the same, using a given array of `count` values; where there is more space, sorting may be faster."""
    codes, start, asked = rules.codes, rules.start, rules.asked
    if asked[0] <= 1.0 and asked[2] >= 1.0 and asked[3] >= 1.0:
        return True
    if count == 0:
        return False
    values = scratch[:count]
    for column in range(codes.shape[1]):
        first = start[column]
        size = start[column + 1] - first
        for i in range(count):
            values[i] = codes[rows[i], column]
        _sort(scratch, count, size)
        if not _diverse(values, asked[0], asked[1] > 0):
            return False
        if asked[3] < 1.0 and _longest(values) > (asked[3] + SLACK) * count:
            return False
        if asked[2] < 1.0:
            if rules.ordered[column]:
                far = ordered_distance(values, size, rules.whole[first:], rules.prefix[first + column :])
            else:
                far = _equal_distance(values, rules.share[first:])
            if far > asked[2] + SLACK:
                return False
    return True


@inner_loop
def _sort(values: Codes, count: int, size: int) -> None:
    """Sort the first `count` values, all below `size`; what follows them is used if there is space."""
    if size <= FEW and 16 < count <= values.size - size:
        for value in range(size):
            values[count + value] = 0
        for i in range(count):
            values[count + values[i]] += 1
        place = 0
        for value in range(size):
            for _ in range(values[count + value]):
                values[place] = value
                place += 1
    else:
        # Shell sort: a few values are sorted by insertion, many in several rounds of it.
        gap = 1
        while gap < count // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(gap, count):
                value, j = values[i], i
                while j >= gap and values[j - gap] > value:
                    values[j] = values[j - gap]
                    j -= gap
                values[j] = value
            gap //= 3


@inner_loop
def _diverse(values: Codes, least: float, entropy: bool) -> bool:
    """Return whether sorted values are diverse enough."""
    if least <= 1.0:
        return True
    runs, spread, start = 0, 0.0, 0
    for i in range(1, values.size + 1):
        if i == values.size or values[i] != values[start]:
            runs += 1
            spread += (i - start) * np.log(i - start)
            start = i
    if entropy:
        return bool(np.exp(np.log(values.size) - spread / values.size) >= least - SLACK)
    return bool(runs >= least - SLACK)


@inner_loop
def _longest(values: Codes) -> int:
    """Return the length of the longest run of equal values."""
    most, start = 0, 0
    for i in range(1, values.size + 1):
        if i == values.size or values[i] != values[start]:
            most, start = max(most, i - start), i
    return most


@inner_loop
def _equal_distance(values: Codes, share: Floats) -> float:
    """Return half the sum of absolute differences of shares, for sorted values."""
    total, start = 0.0, 0
    for i in range(1, values.size + 1):
        if i == values.size or values[i] != values[start]:
            total += max(0.0, (i - start) / values.size - share[values[start]])
            start = i
    return total


@callable_inner_loop
def ordered_distance(values: Codes, size: int, whole: Floats, prefix: Floats) -> float:
    """Return the ordered distance of sorted values to the table, 0 to 1."""
    # Before the first value the group's cumulative share is 0: the difference is the table's own.
    total, start = prefix[values[0]], 0
    for i in range(1, values.size + 1):
        if i == values.size or values[i] != values[start]:
            value, level = values[start], i / values.size
            end = size if i == values.size else values[i]
            # The table's cumulative share only grows, so within this run the difference changes sign once.
            low, high = value, end
            while low < high:
                middle = (low + high) // 2
                if whole[middle] < level:
                    low = middle + 1
                else:
                    high = middle
            total += level * (low - value) - (prefix[low] - prefix[value])
            total += (prefix[end] - prefix[low]) - level * (end - low)
            start = i
    return float(total / (size - 1))
