"""Control: whether people who supposedly are not in the table are comparable with those who are.

Attacks with control rows assume that these are similar people who happen not to be in the table. Rows of the table
among them hide a leak, since an attack then seems to succeed on outsiders too; people of quite another kind make a
release look leaky that is not.

1. **In the table.** A control row that equals a row of the table in all shared columns may be one of its rows, or
   a similar person. How often people are alike by chance is estimated by the share of rows of the table with a twin.
   If the interval of the control's share lies above that of the table, there are more than chance would give.
2. **Other values.** Categories that the table does not have, in more than a tenth of the control rows.
3. **Other distributions.** The largest difference of the two distribution functions (Kolmogorov and Smirnov), or half
   the sum of differences of shares for categories, if it exceeds 0.2 and what one in a thousand samples of one
   population would show.

Notes name columns and shares, never a value.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import listed
from shoal.model.sentences import Sentence, Share
from shoal.model.table import Table
from shoal.privacy.attacks.combination import alike, is_number
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson
from shoal.privacy.verdict.classes import Labels, classes

UNKNOWN = 0.1  # share of the control rows with categories that the table does not have
FAR = 0.2  # difference of distributions that is always tolerated
SURE = 1.95  # the Kolmogorov-Smirnov distance that one in a thousand samples exceeds, times root of n m / (n + m)


def doubts(case: Case) -> tuple[str, ...]:
    """Say, one clause each, why control rows may not be what attacks assume; nothing without them or the original."""
    rows = case.control
    if rows is None or not rows.n or case.original is None or not case.n:
        return ()
    table = case.before
    names = [name for name in table.names if name in rows.names and not _nested(table, rows, name)]
    ordered = {name for name in names if _ordered(table, name) and _ordered(rows, name)}
    coded = {
        name: alike([table.column(name), rows.column(name)], "numeric" if name in ordered else None) for name in names
    }
    known = [name for name in case.policy.names("quasi") if name in coded]
    unexpected = [name for name in known if name not in ordered and _unknown(coded[name], table.n) > UNKNOWN]
    other = [
        name for name in known if name not in unexpected and _differ(coded[name], table.n, ordered=name in ordered) > 0
    ]
    found = _members(list(coded.values()), table.n)
    if unexpected:
        found.append(f"many have values of {listed(unexpected)} that the table does not have")
    if other:
        found.append(f"{listed(other)}: distributed quite differently from the table")
    return tuple(found)


def _nested(table: Table, rows: Table, name: str) -> bool:
    """Say whether a column has lists or records in either table."""
    return any(pa.types.is_nested(one.column(name).type) for one in (table, rows))


def _ordered(table: Table, name: str) -> bool:
    """Say whether the cells of a column are numbers, dates or timestamps."""
    held = table.column(name).type
    return is_number(held) or bool(pa.types.is_temporal(held))


def _members(codes: list[Labels], n: int) -> list[str]:
    """Say so if more control rows equal rows of the table than people are alike by chance."""
    if not codes:
        return []
    rows = classes(codes, codes[0].size)
    held = np.bincount(rows[:n], minlength=int(rows.max()) + 1)
    same, twins = held[rows[n:]] > 0, held[rows[:n]] > 1
    if wilson(float(same.sum()), same.size)[0] <= wilson(float(twins.sum()), n)[1]:
        return []
    sentence = Sentence(
        "{same:.0%} of them equal a row of the table in all columns, {twins:.0%} expected by chance: they may be in it",
        same=Share(same.mean(), same.size),
        twins=Share(twins.mean(), n),
    )
    return [sentence]


def _unknown(codes: Labels, n: int) -> float:
    """Return the share of control rows with a value that no row of the table has."""
    known = np.bincount(codes[:n], minlength=int(codes.max()) + 1) > 0
    return float(1 - known[codes[n:]].mean())


def _differ(codes: NDArray[np.int64], n: int, *, ordered: bool) -> float:
    """Return how far two distributions differ beyond what is allowed; codes of values ascend."""
    m, size = codes.size - n, int(codes.max()) + 1
    shares = [np.bincount(part, minlength=size) / part.size for part in (codes[:n], codes[n:])]
    if ordered:
        expected = SURE * np.sqrt((n + m) / (n * m))
        return float(np.abs(np.cumsum(shares[0] - shares[1])).max() - max(FAR, expected))
    # Half the sum of absolute differences grows with the number of values even by chance, about as its root / 2.
    expected = np.sqrt(size * (n + m) / (n * m) / (2 * np.pi)) + SURE * np.sqrt((n + m) / (n * m)) / 2
    return float(np.abs(shares[0] - shares[1]).sum() / 2 - max(FAR, expected))
