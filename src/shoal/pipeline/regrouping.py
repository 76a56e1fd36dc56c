"""Regrouping: repeat the run with permuted sensitive values, as an attacker could who knows everything else.

The rows of an arranged table are shuffled with another random seed, as `arrange` does, the sensitive values are
assigned to their hypothetical rows, and the steps from `encode` to `refine` are repeated. A partition finer than the
published classes is recoded as well: groups with equal published values form one class.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from shoal.catalogue import methods
from shoal.model.asking import either
from shoal.model.findings import Finding
from shoal.model.notes import Note
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.progress import silently
from shoal.model.sentences import Sentence
from shoal.model.table import Table
from shoal.pipeline.grouping import Grouped, make_groups
from shoal.pipeline.items import grouped
from shoal.prepare.encode import Encoded, encode
from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.attacks.attack import Clock
from shoal.privacy.attacks.minimality import allowed, revealed_by_all
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.judge import asked_of
from shoal.privacy.verdict.values import Values, quasi_columns, read_column, sensitive_columns
from shoal.recode.table import recode

SECONDS = 2.0  # time limit of the estimate for each release
PLACEMENTS = 200  # maximum number of placements enumerated

LIMITED = (
    "To limit what repeating the run reveals, at the price of a higher information loss: "
    f"{either('protect', 'minimality')}."
)
DEPENDS = (
    "minimality: the groups depend on sensitive values, because of {models}, so an attacker who repeats the run may "
    f"learn more than a class reveals. `attack` estimates how much ({either('only', 'minimality')}). {LIMITED}"
)
EXCEEDS = (
    "minimality: an attacker who knows all quasi-identifiers and repeats the run can be {posterior:.0f}% sure of one "
    "person's value of column {column!r}; the class alone suggests {share:.0f}%."
)


class Regrouping:
    """The run on one arranged table, to be repeated.

    `data` is the published table in the same row order; `encoded`, the input of the method, is computed if not given.
    """

    def __init__(
        self,
        table: Table,
        policy: Policy,
        trees: Mapping[str, Hierarchy],
        data: pa.Table,
        encoded: Encoded | None = None,
    ) -> None:
        self._table, self._policy, self._trees, self._data, self._given = table, policy, trees, data, encoded

    @cached_property
    def released(self) -> Labels:
        """The published class of each row."""
        return self._alike(self._data)

    @cached_property
    def sensitive(self) -> dict[str, Values]:
        """The sensitive columns, row by row."""
        return sensitive_columns(self._table.data, self._policy)

    @cached_property
    def _encoded(self) -> Encoded:
        """The table as the method sees it."""
        return self._encode(self._table) if self._given is None else self._given

    @cached_property
    def _label(self) -> Labels | None:
        """The label of each row, if the policy names a label column."""
        name = self._policy.label
        return None if name is None else read_column(self._table.column(name)).codes

    def __call__(self, origin: Labels, seed: int) -> Labels:
        """Return the class of each row if row i had the sensitive values of row `origin[i]`, with this random seed."""
        order = np.random.default_rng(seed).permutation(self._table.n)
        if self._encoded.columns is None:
            weights = self._encoded.weights
            encoded = replace(
                self._encoded, X=self._encoded.X[order], weights=None if weights is None else weights[order]
            )
        else:
            encoded = self._encode(self._table.take(order))
        sensitive = {name: column.some(origin[order]) for name, column in self.sensitive.items()}
        label = None if self._label is None else self._label[origin[order]]
        policy = grouped(self._policy, self._table.n).model_copy(update={"seed": seed})
        with silently():
            made = make_groups(encoded, policy, sensitive, 1, label).partition
        labels = np.empty(self._table.n, np.int64)
        labels[order] = made.labels
        return labels if not self._finer(labels) else self._classes(order, encoded, made)

    def _encode(self, table: Table) -> Encoded:
        """Return a table as the method sees it."""
        return encode(
            table, self._policy, self._trees, mixed=methods.declared(self._policy.method.name, "data") == "mixed"
        )

    def _finer(self, labels: Labels) -> bool:
        """Return whether the groups are a strict refinement of the published classes."""
        groups, wanted = int(labels.max()) + 1, int(self.released.max()) + 1
        return groups > wanted and len(np.unique(labels * wanted + self.released)) == groups

    def _classes(self, order: Labels, encoded: Encoded, made: Partition) -> Labels:
        """Return the classes of published values."""
        data = recode(self._table.take(order), made, self._policy, encoded).data
        labels = np.empty(self._table.n, np.int64)
        labels[order] = self._alike(data)
        return labels

    def _alike(self, data: pa.Table) -> Labels:
        """Return the class of each row of published values."""
        return classes([column.codes for column in quasi_columns(data, self._policy)], self._table.n)


def inference_by_repetition(
    made: Grouped, policy: Policy, regroup: Regrouping, *, measured: bool
) -> tuple[tuple[Finding, ...], tuple[Note, ...]]:
    """Return findings and notes on what the groups reveal about sensitive values: measured if the table is small.

    Both are empty if the groups do not depend on sensitive values. `measured` says whether there is time to measure.
    """
    models = [model.name for model, _ in asked_of(policy.constraints)] if policy.names("sensitive") else []
    if not models or policy.protect or not _depends(made, policy):
        return (), ()
    revealed = None
    if measured:
        revealed = revealed_by_all(
            regroup.released, regroup.sensitive, regroup, policy.start, Clock(SECONDS), PLACEMENTS
        )
    if revealed is None:
        return (), (Note("minimality", DEPENDS.format(models=", ".join(models))),)
    most = "probability of the most certain value of a person, for an attacker who repeats the run; {runs} runs"
    how, less = Sentence(most, runs=revealed.runs), "worst posterior minus the share of the value in the class"
    findings = (
        Finding("minimality", revealed.posterior, how, "groups", part="worst posterior"),
        Finding("minimality", revealed.excess, less, "groups", part="excess"),
    )
    if revealed.posterior <= allowed(policy.constraints.l, revealed.share):
        return findings, ()
    fact = EXCEEDS.format(posterior=100 * revealed.posterior, share=100 * revealed.share, column=revealed.column)
    return findings, (Note("minimality", fact, LIMITED),)


def _depends(made: Grouped, policy: Policy) -> bool:
    """Return whether the groups depend on sensitive values: through the method, merging or the local search."""
    card = methods.load(policy.method.name)
    taught = "label" in card.uses and policy.label in policy.names("sensitive")
    return "limits" in card.uses or taught or made.enforced is not made.found or policy.method.refine != "none"
