"""A trial: one method on one data set with one seed, and the utility of its release.

**Honest accuracy** here is stricter than the measure "honest separability %", which uses one release of all rows. Rows
are dealt into folds, stratified by label. For each fold, the method releases the rows of the other folds, a decision
tree is trained on that release, and tested on the original rows of the fold, which had no influence on the release.

Folds skip the measures of the pipeline, which for many columns take longer than the release; each is verified.
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
from shoal.model.options import UNIQUE_KEPT
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.model.table import Table
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.grouping import make_groups
from shoal.pipeline.hierarchies import given_trees
from shoal.pipeline.judging import case_of
from shoal.pipeline.line import anonymize
from shoal.pipeline.recoding import recode_classes
from shoal.pipeline.write import refuse_unless
from shoal.prepare.arrange import arrange
from shoal.prepare.complete import complete
from shoal.prepare.encode import encode
from shoal.prepare.profile import profile
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.judge import judge
from shoal.privacy.verdict.values import read_column, sensitive_columns
from shoal.utility.fidelity import features
from shoal.utility.separability import deal
from shoal.utility.structure import combined_utility, structural_utility

HONEST, COMBINED = "honest", "combined"


@dataclass(frozen=True, eq=False)
class Trial:
    """What to try; `measures` may include "honest" and "combined", and `alpha` weighs honest accuracy in the latter.

    `roles` are options of `anonymize` (identifiers, sensitive); `place` has the numbers of method, data set and seed;
    the largest tables, by `cells`, are tried first.
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
    # A comparison publishes nothing, so a label may have any number of values.
    roles: dict[str, Any] = {**trial.roles, "keep": kept, "accept": [UNIQUE_KEPT]}
    wanted = Policy.of(k=trial.k, method=trial.method, seed=trial.seed, label=trial.label, **roles)
    # Column types are decided on the whole table, so that every fold is released in the same way.
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
    """Return the share of held-out original rows that a tree trained on a release of the others predicts correctly.

    The policy must list every column and a label; the seed is that of the folds and the tree, not of the method.
    """
    from sklearn.tree import DecisionTreeClassifier

    if policy.label is None:
        raise DataError("compare: honest accuracy needs a label. Name the column to predict.")
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
    """Return a verified release as `shoal.anonymize` makes it, in an order of its own, and the source row of each row.

    The policy must list every column.
    """
    arranged = arrange(table, policy)
    encoded = encode(
        arranged, policy, given_trees(policy), mixed=methods.declared(policy.method.name, "data") == "mixed"
    )
    sensitive = sensitive_columns(arranged.data, policy)
    check_feasible(arranged.n, policy.constraints, sensitive)
    label = None if policy.label is None else read_column(arranged.column(policy.label)).codes
    partition = make_groups(encoded, policy, sensitive, 1, label).partition
    data = recode_classes(arranged, partition, policy, encoded, sensitive)[0].data
    refuse_unless(judge(data, policy))
    return data, arranged.rows


def _matrices(before: pa.Table, after: pa.Table, policy: Policy) -> tuple[Any, Any]:
    """Return original rows and different released ones as numbers in the same columns."""
    columns = []
    for name in policy.names("quasi"):
        given = policy.columns[name]
        kind, form = given.kind or "nominal", given.form or "mode"
        columns.append(Pair(name, kind, form, before.column(name), after.column(name), given.order))
    plain = [column for column in columns if not column.truthful]
    if not plain:
        raise DataError("compare: honest accuracy needs a quasi-identifier that keeps its type; none does here.")
    return features(plain)


def _figure(name: str, case: Case) -> float:
    """Return the value of one measure."""
    for finding in measures.load(name).take(case):
        if finding.name == name:
            if not np.isfinite(finding.value):
                raise DataError(f"compare: {name!r} is not finite on this table.")
            return float(finding.value)
    raise DataError(
        f"compare: {name!r} cannot be computed for this table, which lacks the columns or the label for it."
    )


def _structure(case: Case) -> float:
    """Return the structural utility: the median over columns."""
    kept = structural_utility(case.columns)
    if not kept:
        raise DataError("compare: structural utility cannot be computed for this table: no column keeps its type.")
    return float(np.median(list(kept.values())))
