"""Control: whether people who are said not to be in the table may be compared with those who are.

Attacks with control rows take them for people like those of the table who happen not to be in it. Rows of the table
among them hide a leak, since an attack then seems to succeed on strangers too; quite other people feign one.

1. **In the table.** A control row that equals a row of the table in all columns both have may be one of its rows, or
   a person alike. How often chance makes people alike is seen in the table: by the share of its rows that have a twin.
   If the interval of the control's share lies above that of the table, there are more than chance would give.
2. **Other values.** Names that the table does not have, in more than a tenth of the control rows.
3. **Other distributions.** The largest difference of the two distribution functions (Kolmogorov and Smirnov), or half
   the sum of differences of shares for names, if it exceeds 0.2 and what one in a thousand samples of one population
   would show.

Notes name columns and shares, never a value.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import listed
from shoal.model.table import Table
from shoal.privacy.attacks.combination import alike
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson
from shoal.privacy.verdict.classes import Labels, classes

__all__ = ["doubts"]

STRANGE = 0.1  # of the control rows with names that the table does not have
FAR = 0.2  # how far distributions may differ in any case
SURE = 1.95  # the Kolmogorov-Smirnov distance that one in a thousand samples exceeds, times root of n m / (n + m)


def doubts(case: Case) -> tuple[str, ...]:
    """Say why control rows may not be what attacks take them for.

    Parameters
    ----------
    case : Case
        With the original table. Without control rows there is no doubt.

    Returns
    -------
    tuple of str
        One clause each.
    """
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
    strange = [name for name in known if name not in ordered and _unknown(coded[name], table.n) > STRANGE]
    other = [
        name for name in known if name not in strange and _differ(coded[name], table.n, ordered=name in ordered) > 0
    ]
    found = _members(list(coded.values()), table.n)
    if strange:
        found.append(f"many hold values of {listed(strange)} that the table does not have")
    if other:
        found.append(f"{listed(other)}: distributed quite otherwise than in the table")
    return tuple(found)


def _nested(table: Table, rows: Table, name: str) -> bool:
    """Whether a column holds lists or records in either table."""
    return any(pa.types.is_nested(one.column(name).type) for one in (table, rows))


def _ordered(table: Table, name: str) -> bool:
    """Whether the cells of a column are numbers, dates or moments."""
    held = table.column(name).type
    number = pa.types.is_integer(held) or pa.types.is_floating(held) or pa.types.is_decimal(held)
    return bool(number or pa.types.is_temporal(held))


def _members(codes: list[Labels], n: int) -> list[str]:
    """Say that more control rows equal rows of the table than chance makes people alike."""
    if not codes:
        return []
    rows = classes(codes, codes[0].size)
    held = np.bincount(rows[:n], minlength=int(rows.max()) + 1)
    same, twins = held[rows[n:]] > 0, held[rows[:n]] > 1
    if wilson(float(same.sum()), same.size)[0] <= wilson(float(twins.sum()), n)[1]:
        return []
    shares = f"{same.mean():.0%} of them equal a row of the table in all columns, {twins.mean():.0%} would by chance"
    return [f"{shares}: they may be in it"]


def _unknown(codes: Labels, n: int) -> float:
    """Return the share of control rows with a value that no row of the table has."""
    known = np.bincount(codes[:n], minlength=int(codes.max()) + 1) > 0
    return float(1 - known[codes[n:]].mean())


def _differ(codes: NDArray[np.int64], n: int, *, ordered: bool) -> float:
    """Return how far two distributions differ beyond what is allowed; codes of values ascend."""
    m, size = codes.size - n, int(codes.max()) + 1
    shares = [np.bincount(part, minlength=size) / part.size for part in (codes[:n], codes[n:])]
    if ordered:
        chance = SURE * np.sqrt((n + m) / (n * m))
        return float(np.abs(np.cumsum(shares[0] - shares[1])).max() - max(FAR, chance))
    # Half the sum of absolute differences grows with the number of values by chance alone: about root of size / 2.
    chance = np.sqrt(size * (n + m) / (n * m) / (2 * np.pi)) + SURE * np.sqrt((n + m) / (n * m)) / 2
    return float(np.abs(shares[0] - shares[1]).sum() / 2 - max(FAR, chance))
