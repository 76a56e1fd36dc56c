"""Columns that are published unchanged: the sensitive and the kept ones.

Neither k nor any constraint on classes covers what they give away by themselves: an attacker who knows these values of
a person finds the row by them. So rare values and unique rows are counted, and a policy that leaves many rows unique is
refused unless it accepts that by name.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.errors import PolicyError, listed
from shoal.model.asking import option
from shoal.model.exposure import stands_out
from shoal.model.findings import Attack
from shoal.model.options import UNIQUE_KEPT
from shoal.model.policy import Policy
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.attacks.attack import Clock, Profile, allowed_by_k, concluded
from shoal.privacy.measures.case import Case, once_per_case
from shoal.privacy.verdict.classes import classes
from shoal.privacy.verdict.values import read_column

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Unchanged:
    """The columns of a release that are published unchanged."""

    codes: dict[str, Codes]  # the value of each row, by column
    rows: int

    @classmethod
    def of(cls, data: pa.Table, policy: Policy) -> "Unchanged":
        """Read the sensitive and the kept columns of a release, or of the rows that will be released."""
        names = [*policy.names("sensitive"), *policy.names("keep")]
        return cls({name: read_column(data.column(name)).codes for name in names}, data.num_rows)

    @cached_property
    def alone(self) -> int:
        """Rows that are unique in these columns together."""
        if not self.codes:
            return 0
        return int((np.bincount(classes(list(self.codes.values()), self.rows)) == 1).sum())

    def alone_in(self, name: str) -> int:
        """Return how many rows are unique in one of the columns."""
        return int((np.bincount(self.codes[name]) == 1).sum())

    def rare(self, name: str, k: int) -> int:
        """Return how many rows have a value of a column that fewer than k rows have."""
        counts = np.bincount(self.codes[name])
        return int(counts[counts < k].sum())


class Exposed(NamedTuple):
    """The columns published unchanged, those of them with values of fewer than k rows, and the rows unique in them."""

    columns: tuple[str, ...]
    rare: tuple[str, ...]
    alone: int


@once_per_case
def exposed_by(case: Case) -> Exposed:
    """Return what the columns that a release publishes unchanged reveal."""
    found, k = Unchanged.of(case.released, case.policy), case.policy.constraints.k
    return Exposed(tuple(found.codes), tuple(name for name in found.codes if found.rare(name, k)), found.alone)


def refuse_unique_kept(data: pa.Table, policy: Policy) -> None:
    """Refuse to publish columns unchanged if too many rows are unique in them, unless the policy accepts that.

    `data` has the rows that will be released, or a release, and the policy names every column.
    """
    found = Unchanged.of(data, policy)
    if UNIQUE_KEPT in policy.accept or not stands_out(found.alone, found.rows):
        return
    identifying = [name for name in found.codes if stands_out(found.alone_in(name), found.rows)]
    which = identifying or list(found.codes)
    remedy = (
        "Make it a quasi-identifier, so that it is published per class, or an identifier, so that it is dropped; to "
        "publish it unchanged anyway"
        if len(which) == 1
        else "Make them quasi-identifiers, so that they are published per class, or identifiers, so that they are "
        "dropped; to publish them unchanged anyway"
    )
    raise PolicyError(
        f"policy: {100 * found.alone / found.rows:.0f}% of the rows are unique in the columns that are published "
        f"unchanged (sensitive and kept), mainly because of {listed(which)}. Anyone who knows these values of a person "
        f"can find the person's row. {remedy}, accept the risk: {option('accept', UNIQUE_KEPT)}."
    )


@attack("unchanged columns", requires=("sensitive",))
def unchanged_columns(case: Case, profile: Profile, clock: Clock) -> Attack:  # noqa: ARG001 - counted at once
    """Find each target by the columns that are published unchanged.

    These are the sensitive and kept columns, and known quasi-identifiers of which no cell was changed. An attacker may
    know them from another source: a payroll, a newspaper. A guess among m rows with the same values is right with
    probability 1/m.
    Baseline: 1/n, a random row. Allowed: 1/k + 0.01. Power: the same attack on a raw copy.
    """
    roles = [*case.policy.names("sensitive"), *case.policy.names("keep")]
    names = [name for name in (*roles, *profile.known) if name in roles or _as_it_was(case, name)]
    if not names:
        return concluded(
            "unchanged columns", profile, np.zeros(0), baseline=0.0, note="no column is published unchanged"
        )
    right = _found([read_column(case.released.column(name)).codes for name in names], case.n)
    every = [*roles, *case.policy.names("quasi")]
    power = _found([read_column(case.before.column(name)).codes for name in every], case.n)
    rare = int((right * case.policy.constraints.k > 1).sum())
    return concluded(
        "unchanged columns",
        profile,
        right,
        baseline=1 / max(1, case.n),
        power=float(power.mean()) if power.size else None,
        allowed=allowed_by_k(case),
        note=Sentence(
            "by {names}: {rare} rows share these values with fewer than {k} others",
            names=listed(names, 4),
            rare=Rows(rare),
            k=case.policy.constraints.k - 1,
        ),
        baseline_of=0,
    )


def _as_it_was(case: Case, name: str) -> bool:
    """Say whether every released cell of a column is the original one."""
    before, after = case.before.column(name), case.released.column(name)
    return bool(before.type == after.type and before.equals(after))


def _found(columns: list[Codes], n: int) -> NDArray[np.float64]:
    """Return the probability of finding each row among those that are alike in these columns."""
    labels = classes(columns, n)
    return np.asarray(1 / np.bincount(labels)[labels] if n else np.zeros(0), np.float64)
