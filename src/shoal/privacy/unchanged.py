"""Unchanged values: rows that stand out by what is published as it is.

Sensitive and kept columns go out unchanged. A value that few rows hold, or a combination of values that one row holds,
finds this row for anybody who knows it, whatever k the quasi-identifiers have.
"""

import numpy as np

from shoal.model.findings import Attack
from shoal.privacy.attack import Clock, Profile, attack, concluded
from shoal.privacy.case import Case
from shoal.privacy.classes import Labels, classes
from shoal.privacy.combination import alike
from shoal.privacy.values import read_column

__all__ = ["unchanged_columns", "unchanged_values"]


def unchanged_columns(case: Case) -> dict[str, tuple[Labels, Labels]]:
    """Return the columns that are published as they are, by name, as codes before and after.

    These are the sensitive and the kept ones, and any quasi-identifier of which no cell was changed.

    Parameters
    ----------
    case : Case
        With the original table.
    """
    kept = {*case.policy.names("sensitive"), *case.policy.names("keep")}
    quasi = {column.name for column in case.columns if not column.truthful}
    found = {}
    for name in case.released.column_names:
        if name not in case.before.names or name not in kept | quasi:
            continue
        codes = alike([case.before.column(name), case.released.column(name)])
        before, after = codes[: case.n], codes[case.n :]
        if name in kept or np.array_equal(before, after):
            found[name] = before, after
    return found


@attack("unchanged values")
def unchanged_values(case: Case, profile: Profile, clock: Clock) -> Attack:  # noqa: ARG001
    """Find the row of a person by values that are published as they are.

    The attacker knows all columns that are published unchanged: sensitive and kept ones, and quasi-identifiers of which
    no cell was changed. Success: exactly one released row has the values of the person, and it is the person's. Trials:
    all rows. Baseline: 1/n, a row drawn at random. Nothing is allowed above it: k protects the quasi-identifiers alone.
    Power: the attack on an unprotected copy, all of whose columns are unchanged.
    """
    name, n, k = "unchanged values", case.n, case.policy.constraints.k
    if not n:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note="the release has no rows")
    columns = unchanged_columns(case)
    both = classes([np.concatenate(pair) for pair in columns.values()], 2 * n)
    mine, told = both[:n], both[n:]
    alone = np.bincount(told, minlength=int(both.max()) + 1)[mine] == 1
    right = alone & (mine == told)
    if not columns:
        right[:] = False  # of a single row, too: nothing told which it is
    few = {column: np.bincount(after)[after] < k for column, (_, after) in columns.items()}
    rare = [column for column, rows in few.items() if rows.any()]
    notes = [f"unchanged: {', '.join(map(repr, columns))}" if columns else "no column is published as it is"]
    if rare:
        rows = int(np.any([few[column] for column in rare], axis=0).sum())
        notes.append(f"{rows} of {n} rows hold a value of {', '.join(map(repr, rare))} that fewer than k rows hold")
    every = [read_column(case.before.column(name)).codes for name in case.before.names]
    copy = classes(every, n)
    return concluded(
        name,
        profile,
        right.astype(np.float64),
        baseline=1 / n,
        power=float((np.bincount(copy)[copy] == 1).mean()),
        note="; ".join(notes),
    )
