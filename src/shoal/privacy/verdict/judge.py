"""The judge: whether a release meets each constraint of a policy, and which classes miss one.

Every privacy model has a card (`model_cards`): what a policy asks of it, the figure of a class, and whether small or
large figures are bad. `anonymize` and `enforce` read these cards; the check of a folder counts independently.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import ModelCard, models, requested_model
from shoal.errors import DataError, MethodError
from shoal.model.findings import Verdict
from shoal.model.policy import MOST_KNOWN, SEPARATOR, Constraints, Policy
from shoal.privacy.verdict.classes import Counts, Figures, Labels, classes
from shoal.privacy.verdict.items import item_verdict
from shoal.privacy.verdict.values import Values, quasi_columns, sensitive_columns


def asked_of(constraints: Constraints) -> Iterator[tuple[ModelCard, float]]:
    """Return the models of sensitive values that constraints name, and the value required of each; plug-ins last."""
    others = [(requested_model(name), value) for name, value in constraints.others.items()]
    for name in models.built_in:
        card = models.load(name)
        value = card.asks(constraints) if card.about == "sensitive" else None
        if value is not None:
            yield card, value
    yield from others


def judge(data: pa.Table, policy: Policy) -> tuple[Verdict, ...]:
    """Say whether a release, typed or as text read from a file, meets each constraint of the policy.

    A column that the policy does not name counts as a quasi-identifier. k-anonymity comes first, then what is required
    of each sensitive column, then of sets.
    """
    labels = classes([column.codes for column in quasi_columns(data, policy)], data.num_rows)
    constraints = policy.constraints
    sizes = np.bincount(labels).astype(np.float64)
    verdicts = [_verdict("k-anonymity", None, constraints.k, sizes, sizes < constraints.k, high=True)]
    asked = list(asked_of(constraints))
    for name, column in sensitive_columns(data, policy).items() if asked else ():
        counts = Counts.of(labels, column)
        for model, value in asked:
            figures = model.figures(counts, constraints)
            verdicts.append(_verdict(model.name, name, value, figures, model.fails(figures, value), high=model.high))
    for name in policy.names("items"):
        if name not in data.column_names:
            raise DataError(f"verify: the column {name!r} of items is not in the release.")
        column, separator = data.column(name), policy.columns[name].separator or SEPARATOR
        verdicts.append(item_verdict(name, column, separator, labels, constraints.k, constraints.m or MOST_KNOWN))
    return tuple(verdicts)


def failing(
    labels: Labels,
    constraints: Constraints,
    sensitive: Mapping[str, Values],
    whole: Mapping[str, Values] | None = None,
) -> NDArray[np.bool_]:
    """Return which classes miss at least one of the constraints.

    `whole` has the entire sensitive columns if `labels` and `sensitive` are only some of their rows.
    """
    bad = np.bincount(labels) < constraints.k
    asked = list(asked_of(constraints))
    for name, column in sensitive.items() if asked else ():
        counts = Counts.of(labels, column, whole[name] if whole else None)
        for model, value in asked:
            bad |= model.fails(model.figures(counts, constraints), value)
    return bad


def _verdict(
    model: str, column: str | None, asked: float, figures: Figures, bad: NDArray[np.bool_], *, high: bool
) -> Verdict:
    """Compare the worst class with what was required."""
    if not figures.size:
        return Verdict(model, column, asked, 0.0, holds=False, note="the release has no rows")
    note = f"{int(bad.sum()):,} of {figures.size:,} classes fail" if bad.any() else ""
    found = float(figures.min() if high else figures.max())
    if not bad.any() and not math.isfinite(found):
        raise MethodError(
            f"plug-in: the model {model!r} gave an infinite figure for every class, and a certificate needs a finite "
            "one. Report this to its authors."
        )
    return Verdict(model, column, asked, found, not bad.any(), note)
