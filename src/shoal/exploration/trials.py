"""A trial: one method on one data set from one seed, and what its release is worth.

**Honest accuracy** here is stricter than the measure «honest separability %», which looks at one release of all rows.
The rows are dealt into folds, each with its share of every label. For each fold the rows of the others are released by
the method, a decision tree learns from that release, and is asked about the original rows of the fold: nothing of them
has gone into what it learned from.

Folds walk the line without its measures, which for many columns take longer than the release; the judge looks at each.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import measures, methods
from shoal.enforce import check_feasible
from shoal.errors import DataError
from shoal.io.files import read
from shoal.io.text_columns import with_types
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.model.table import Table
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.grouping import make_groups
from shoal.pipeline.judging import case_of
from shoal.pipeline.line import anonymize
from shoal.pipeline.write import refuse_unless
from shoal.prepare.arrange import arrange
from shoal.prepare.complete import complete
from shoal.prepare.encode import encode
from shoal.prepare.profile import profile
from shoal.privacy.attacks.unchanged import ACCEPTED
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.judge import judge
from shoal.privacy.verdict.values import read_column, sensitive_columns
from shoal.recode.table import recode
from shoal.utility.fidelity import features
from shoal.utility.separability import deal
from shoal.utility.structure import combined_utility, structural_utility

__all__ = ["COMBINED", "HONEST", "Trial", "honest", "released", "run"]

HONEST, COMBINED = "honest", "combined"


@dataclass(frozen=True, eq=False)
class Trial:
    """What is to be tried.

    Parameters
    ----------
    source : path or pyarrow.Table
    measures : tuple of str
        "honest", "combined", and names of `shoal.measures()`.
    alpha : float
        The weight of honest accuracy in the combined utility.
    roles : mapping of str to list of str
        Options of `anonymize`: identifiers, sensitive.
    place : tuple of int
        The method, the data set and the seed that it is of.
    cells : int
        Of the table: the largest are tried first.
    """

    source: Any
    method: str
    measures: tuple[str, ...]
    seed: int
    k: int
    folds: int
    alpha: float
    label: str | None
    roles: dict[str, list[str]]
    place: tuple[int, int, int]
    cells: int
    header: bool | None = None


@without_arrow_errors
def run(trial: Trial) -> dict[str, float]:
    """Return the figure of each measure."""
    table = read(trial.source, header=trial.header)
    kept = [] if trial.label is None else [trial.label]
    # Nothing of a comparison is published, so that a label may have as many values as it likes.
    roles: dict[str, Any] = {**trial.roles, "keep": kept, "accept": [ACCEPTED]}
    wanted = Policy.of(k=trial.k, method=trial.method, seed=trial.seed, label=trial.label, **roles)
    # What the columns are is decided on the whole table, so that every fold is released in the same way.
    table = with_types(table, wanted)
    policy, _ = complete(wanted, table, profile(table))
    with silently():
        figures: dict[str, float] = {}
        if any(name != HONEST for name in trial.measures):
            release = anonymize(table.data, policy=policy, threads=1)
            case = case_of(table.data, release, seed=trial.seed)
            figures = {name: _figure(name, case) for name in trial.measures if name not in (HONEST, COMBINED)}
        if HONEST in trial.measures or COMBINED in trial.measures:
            share = honest(table, policy, trial.folds, trial.seed)
            figures[HONEST] = 100 * share
        if COMBINED in trial.measures:
            figures[COMBINED] = combined_utility(share, _structure(case), trial.alpha)
    return {name: figures[name] for name in trial.measures}


def honest(table: Table, policy: Policy, folds: int, seed: int) -> float:
    """Return the share of original held-out rows that a tree gets right that learned from a release of the others.

    Parameters
    ----------
    table : Table
    policy : Policy
        With every column named, and a label.
    folds : int
    seed : int
        Random seed of the folds and the tree; that of the method stands in the policy.
    """
    from sklearn.tree import DecisionTreeClassifier

    if policy.label is None:
        raise DataError("compare: honest accuracy needs a label. Name the column that is to be predicted.")
    label = read_column(table.column(policy.label)).codes
    if label.size < 2 * folds or label.max() == label.min():
        raise DataError(
            f"compare: honest accuracy needs {2 * folds} rows or more and two labels; there are {label.size} rows and "
            f"{len(np.unique(label))} labels."
        )
    fold = deal(label, np.arange(label.size), folds, np.random.default_rng(seed))
    right = 0
    for part in range(folds):
        learn, ask = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        data, rows = released(Table.of(table.data.take(pa.array(learn))), policy)
        asked, learned = _matrices(table.data.take(pa.array(ask)), data, policy)
        tree = DecisionTreeClassifier(random_state=seed).fit(learned, label[learn][rows])
        right += int((tree.predict(asked) == label[ask]).sum())
    return right / label.size


def released(table: Table, policy: Policy) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return a judged release as `shoal.anonymize` makes it, in an order of its own, and the row behind each of it.

    The policy must name every column.
    """
    arranged = arrange(table, policy)
    encoded = encode(arranged, policy, {}, mixed=methods.declared(policy.method.name, "data") == "mixed")
    sensitive = sensitive_columns(arranged.data, policy)
    check_feasible(arranged.n, policy.constraints, sensitive)
    label = None if policy.label is None else read_column(arranged.column(policy.label)).codes
    partition = make_groups(encoded, policy, sensitive, 1, label).partition
    data = recode(arranged, partition, policy, encoded).data
    refuse_unless(judge(data, policy))
    return data, arranged.rows


def _matrices(before: pa.Table, after: pa.Table, policy: Policy) -> tuple[Any, Any]:
    """Return original rows and released ones, which are others, in the same columns of numbers."""
    columns = []
    for name in policy.names("quasi"):
        given = policy.columns[name]
        kind, form = given.kind or "nominal", given.form or "mode"
        columns.append(Pair(name, kind, form, before.column(name), after.column(name), given.order))
    return features([column for column in columns if not column.truthful])


def _figure(name: str, case: Case) -> float:
    """Return what one measure finds."""
    for finding in measures.load(name).take(case):
        if finding.name == name:
            if not np.isfinite(finding.value):
                raise DataError(f"compare: {name!r} is not finite on this table.")
            return float(finding.value)
    raise DataError(f"compare: {name!r} has no figure for this table: it lacks the columns or the label for it.")


def _structure(case: Case) -> float:
    """Return the structural utility: the median over columns."""
    kept = structural_utility(case.columns)
    if not kept:
        raise DataError("compare: structural utility has no figure for this table: no column keeps its type.")
    return float(np.median(list(kept.values())))
