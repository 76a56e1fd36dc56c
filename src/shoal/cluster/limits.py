"""Limits: what the sensitive values of a group must meet, asked inside a search.

The policy's l and t, as the judge counts them (`privacy.models`), in a form that compiled loops can ask
millions of times. The judge's own code stays apart: it counts again on what was written.

1. The sensitive values of a group are put in order, so that equal ones are neighbours.
2. Distinct l counts the stretches of equal values; entropy l sums c log c over them.
3. t with equal distance sums max(0, share in the group - share in the table) over the stretches; with
   ordered distance it sums |difference of cumulative shares| over all values, stretch by stretch, from
   prefix sums.

All of them are met by the union of two groups that meet them, so merging never breaks one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.given import Floats, Rows
from shoal.kernels.loops import loop
from shoal.model.policy import Constraints
from shoal.privacy.values import Values

__all__ = ["NONE", "Limits", "Rules", "meets"]

FEW = 256  # values that are counted rather than sorted
SLACK = 5e-10  # half of what the judge allows for rounding

Codes = NDArray[np.int32]
Rules = tuple[Codes, Rows, Floats, Floats, Floats, NDArray[np.bool_], Floats]


@dataclass(frozen=True, eq=False)
class Limits:
    """The constraints on sensitive values, and these values row by row.

    Parameters
    ----------
    codes : int32 array of shape (n, c)
        The value of each row in each of c sensitive columns, as a whole number from 0 up.
    rules : tuple of arrays
        For `meets`: codes, where each column starts in the next three arrays, shares of the values, their
        cumulative sums, the prefix sums of those, which columns are ordered, and (l, entropy or not, t).
    """

    codes: Codes
    rules: Rules

    @classmethod
    def of(cls, constraints: Constraints, sensitive: Mapping[str, Values]) -> "Limits | None":
        """Return what the policy asks of the sensitive columns, or None if there are none."""
        if not sensitive:
            return None
        columns = list(sensitive.values())
        codes = np.column_stack([column.codes for column in columns]).astype(np.int32)
        start = np.concatenate([[0], np.cumsum([column.distinct for column in columns])]).astype(np.int64)
        shares = [np.bincount(column.codes, minlength=column.distinct) / column.codes.size for column in columns]
        wholes = [np.cumsum(share) for share in shares]
        prefixes = [np.concatenate([[0.0], np.cumsum(whole)]) for whole in wholes]
        ordered = np.array([column.ordered and column.distinct > 1 for column in columns])
        asked = np.array(
            [
                constraints.l or 0.0,
                float(constraints.l_kind == "entropy"),
                2.0 if constraints.t is None else constraints.t,
            ]
        )
        rules = (codes, start, *map(np.concatenate, (shares, wholes, prefixes)), ordered, asked)
        return cls(codes, rules)  # type: ignore[arg-type]

    @property
    def binding(self) -> bool:
        """Whether anything is asked at all: l or t."""
        return bool(self.rules[-1][0] > 1 or self.rules[-1][2] < 1)

    def met(self, rows: Rows) -> bool:
        """Say whether these rows, as one group, meet everything."""
        return bool(meets(self.rules, np.asarray(rows, np.int64), len(rows)))

    def part(self, rows: Rows) -> "Limits":
        """Return the same limits for some of the rows, numbered anew; shares stay those of the whole table."""
        codes = np.ascontiguousarray(self.codes[rows])
        return Limits(codes, (codes, *self.rules[1:]))


def _nothing() -> Rules:
    """Return rules that every group meets."""
    empty = np.zeros(0)
    return (
        np.zeros((0, 0), np.int32),
        np.zeros(1, np.int64),
        empty,
        empty,
        empty,
        np.zeros(0, bool),
        np.array([0.0, 0.0, 2.0]),
    )


NONE = _nothing()


@loop
def meets(rules: Rules, rows: Rows, count: int) -> bool:
    """Say whether the first `count` of these rows, as one group, meet the rules."""
    codes, start, share, whole, prefix, ordered, asked = rules
    if asked[0] <= 1.0 and asked[2] >= 1.0:
        return True
    if count == 0:
        return False
    values = np.empty(count, np.int32)
    for column in range(codes.shape[1]):
        first = start[column]
        size = start[column + 1] - first
        for i in range(count):
            values[i] = codes[rows[i], column]
        _sort(values, size)
        if not _diverse(values, asked[0], asked[1] > 0):
            return False
        if asked[2] < 1.0:
            if ordered[column]:
                far = _ordered_distance(values, size, whole[first:], prefix[first + column :])
            else:
                far = _equal_distance(values, share[first:])
            if far > asked[2] + SLACK:
                return False
    return True


@loop
def _sort(values: Codes, size: int) -> None:
    """Put values below `size` in ascending order."""
    if size <= FEW and values.size > 16:
        counts = np.zeros(size, np.int64)
        for value in values:
            counts[value] += 1
        place = 0
        for value in range(size):
            for _ in range(counts[value]):
                values[place] = value
                place += 1
    elif values.size <= 64:
        for i in range(1, values.size):
            value, j = values[i], i
            while j > 0 and values[j - 1] > value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
    else:
        values.sort()


@loop
def _diverse(values: Codes, least: float, entropy: bool) -> bool:
    """Say whether sorted values are diverse enough."""
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


@loop
def _equal_distance(values: Codes, share: Floats) -> float:
    """Return half the sum of absolute differences of shares, for sorted values."""
    total, start = 0.0, 0
    for i in range(1, values.size + 1):
        if i == values.size or values[i] != values[start]:
            total += max(0.0, (i - start) / values.size - share[values[start]])
            start = i
    return total


@loop
def _ordered_distance(values: Codes, size: int, whole: Floats, prefix: Floats) -> float:
    """Return the ordered distance of sorted values to the table, 0 to 1."""
    # Before the first value the group's cumulative share is 0: the difference is the table's own.
    total, start = prefix[values[0]], 0
    for i in range(1, values.size + 1):
        if i == values.size or values[i] != values[start]:
            value, level = values[start], i / values.size
            end = size if i == values.size else values[i]
            # The table's cumulative share only grows, so on this stretch the difference changes its sign once.
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
