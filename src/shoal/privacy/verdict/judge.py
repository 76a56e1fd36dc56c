"""The judge: whether a release meets each constraint of a policy, and which classes miss one.

Every constraint on sensitive values is a line of `MODELS`: what a policy asks by it, the figure of a class, and
whether small or large figures are bad. The release, `enforce` and the check of a folder all read these lines.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import DataError, PolicyError, listed, near
from shoal.model.findings import Verdict
from shoal.model.policy import MOST_KNOWN, Constraints, Policy
from shoal.privacy.verdict import models
from shoal.privacy.verdict.classes import Counts, Figures, Labels, classes
from shoal.privacy.verdict.items import item_verdict
from shoal.privacy.verdict.models import SLACK
from shoal.privacy.verdict.values import Values, quasi_columns, sensitive_columns

__all__ = ["MODELS", "Model", "asked_of", "failing", "judge"]

GROUP = "shoal.models"


@dataclass(frozen=True)
class Model:
    """A constraint on the sensitive values of a class.

    Parameters
    ----------
    name : str
        As in verdicts.
    asked : callable
        What constraints ask by it; None if nothing.
    figures : callable
        The figure of each class, from its counts and what the policy asks besides.
    high : bool
        Whether large figures are good, as for l; for t they are bad.
    strict : bool
        Whether a figure that equals what is asked fails.
    """

    name: str
    asked: Callable[[Constraints], float | None]
    figures: Callable[[Counts, Constraints], Figures]
    high: bool = False
    strict: bool = False

    @classmethod
    def of(
        cls, name: str, figures: Callable[[Counts, Constraints], Figures], *, high: bool = False, strict: bool = False
    ) -> "Model":
        """Return a model that a policy asks for by `constraints.others`, as models of strangers are.

        Parameters
        ----------
        name : str
            As in the policy, and as the entry point of the group `shoal.models` is called.
        figures, high, strict
            As above.
        """
        return cls(name, lambda asked: asked.others.get(name), figures, high, strict)

    def fails(self, figures: Figures, asked: float) -> NDArray[np.bool_]:
        """Return which figures are not good enough."""
        if self.high:
            return figures < asked - SLACK
        return figures >= asked - SLACK if self.strict else figures > asked + SLACK


def _l(kind: str) -> Callable[[Constraints], float | None]:
    """Return what constraints ask as l, if it is of this kind."""
    return lambda asked: asked.l if asked.l_kind == kind else None


def _beta(kind: str) -> Callable[[Constraints], float | None]:
    """Return what constraints ask as beta, if it is of this kind."""
    return lambda asked: asked.beta if asked.beta_kind == kind else None


def _enhanced(counts: Counts, _: Constraints) -> Figures:
    """Return enhanced likeness, infinite where no beta is enough."""
    return np.where(models.unbounded(counts), np.inf, models.likeness(counts, enhanced=True))


MODELS = (
    Model("distinct l-diversity", _l("distinct"), lambda counts, _: models.distinct(counts), high=True),
    Model("entropy l-diversity", _l("entropy"), lambda counts, _: models.entropy(counts), high=True),
    Model(
        "recursive (c,l)-diversity",
        lambda asked: asked.c if asked.l_kind == "recursive" and asked.l is not None else None,
        lambda counts, asked: models.recursive(counts, int(asked.l or 1)),
        strict=True,
    ),
    Model("t-closeness", lambda asked: asked.t, lambda counts, _: models.closeness(counts)),
    Model("(alpha,k)-anonymity", lambda asked: asked.alpha, lambda counts, _: models.alpha(counts)),
    Model("basic beta-likeness", _beta("basic"), lambda counts, _: models.likeness(counts)),
    Model("enhanced beta-likeness", _beta("enhanced"), _enhanced),
    Model("delta-disclosure", lambda asked: asked.delta, lambda counts, _: models.disclosure(counts)),
)


def asked_of(constraints: Constraints) -> Iterator[tuple[Model, float]]:
    """Return the models that constraints name, and what they ask by each; installed ones by their names."""
    for model in (*MODELS, *(_installed(name) for name in constraints.others)):
        value = model.asked(constraints)
        if value is not None:
            yield model, value


def _installed(name: str) -> Model:
    """Return a model that was installed beside shoal."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        known = f"Installed are {listed(points)}." if points else "None is installed."
        raise PolicyError(f"policy: there is no model {name!r} beside those of shoal. {known}{near(name, points)}")
    model = points[name].load()
    if not isinstance(model, Model) or model.name != name:
        raise PolicyError(f"policy: what is installed as model {name!r} is none. Its author must make it by Model.of.")
    return model


def judge(data: pa.Table, policy: Policy) -> tuple[Verdict, ...]:
    """Say of a release whether it meets each constraint of the policy.

    Parameters
    ----------
    data : pyarrow.Table
        The released values, as they stand in memory or as text read from a file.
    policy : Policy
        Roles, kinds and constraints. A column that it does not name counts as a quasi-identifier.

    Returns
    -------
    tuple of Verdict
        k-anonymity first, then what is asked of each sensitive column, then of sets.
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
        column, separator = data.column(name), policy.columns[name].separator or "|"
        verdicts.append(item_verdict(name, column, separator, labels, constraints.k, constraints.m or MOST_KNOWN))
    return tuple(verdicts)


def failing(
    labels: Labels,
    constraints: Constraints,
    sensitive: Mapping[str, Values],
    whole: Mapping[str, Values] | None = None,
) -> NDArray[np.bool_]:
    """Return which classes miss at least one of the constraints.

    Parameters
    ----------
    labels : int64 array
        The class of each row.
    constraints : Constraints
    sensitive : mapping of str to Values
        The sensitive columns, row by row.
    whole : mapping of str to Values, optional
        All rows of them, where `labels` and `sensitive` are only some.
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
    """Compare the worst class with what was asked."""
    if not figures.size:
        return Verdict(model, column, asked, 0.0, holds=False, note="the release has no rows")
    note = f"{int(bad.sum())} of {figures.size} classes fail" if bad.any() else ""
    return Verdict(model, column, asked, float(figures.min() if high else figures.max()), not bad.any(), note)
