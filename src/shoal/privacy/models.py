"""Privacy models, counted on the released values alone.

A class is a set of rows that agree in every quasi-identifier, missing cells included. Each function
gives one figure a class, so that the judge can take the worst and `enforce` can ask class by class.

1. k-anonymity: the rows of the class. Sweeney (2002).
2. Distinct and entropy l-diversity: the number of sensitive values; exp of their entropy.
   Machanavajjhala et al. (2007).
3. t-closeness: the earth mover's distance between the sensitive values of the class and of the whole
   release; ordered distance for numbers, dates and levels, equal distance for names. Li et al. (2007).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.model.findings import Verdict
from shoal.model.policy import Constraints, Policy
from shoal.privacy.values import Values, quasi_columns, sensitive_columns

__all__ = ["classes", "closeness", "distinct", "entropy", "failing", "judge"]

Labels = NDArray[np.int64]
Figures = NDArray[np.float64]
SLACK = 1e-9  # figures are ratios of counts: a difference this small is rounding


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
        k-anonymity first, then l and t for each sensitive column.
    """
    labels = classes([column.codes for column in quasi_columns(data, policy)], data.num_rows)
    asked = policy.constraints
    sizes = np.bincount(labels)
    verdicts = [_verdict("k-anonymity", None, asked.k, sizes.astype(np.float64), low=True)]
    for name, column in sensitive_columns(data, policy).items():
        if asked.l is not None:
            figures = (entropy if asked.l_kind == "entropy" else distinct)(labels, column)
            verdicts.append(_verdict(f"{asked.l_kind} l-diversity", name, asked.l, figures, low=True))
        if asked.t is not None:
            verdicts.append(_verdict("t-closeness", name, asked.t, closeness(labels, column), low=False))
    return tuple(verdicts)


def classes(columns: Sequence[NDArray[np.int64]], n: int) -> Labels:
    """Return the class of each row: rows with equal codes in every column are together."""
    labels = np.zeros(n, np.int64)
    for codes in columns:
        if n:
            labels = labels * (int(codes.max()) + 1) + codes
            labels = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return labels


def distinct(labels: Labels, column: Values) -> Figures:
    """Return the number of distinct values in each class."""
    owner, _, _ = _counts(labels, column)
    return np.bincount(owner).astype(np.float64)


def entropy(labels: Labels, column: Values) -> Figures:
    """Return exp of the entropy of the values in each class: l equally frequent values give l."""
    owner, _, count = _counts(labels, column)
    share = count / np.bincount(labels)[owner]
    return np.asarray(np.exp(-np.bincount(owner, share * np.log(share))))


def closeness(labels: Labels, column: Values, whole: Values | None = None) -> Figures:
    """Return how far the values of each class are from those of the whole release, 0 to 1.

    Parameters
    ----------
    labels : int64 array
        The class of each row.
    column : Values
        The sensitive value of each row.
    whole : Values, optional
        All rows, where `labels` and `column` are only some of them.

    Returns
    -------
    float64 array
        Equal distance: half the sum of absolute differences of shares. Ordered distance: the sum over
        the sorted values of the absolute difference of cumulative shares, divided by the distinct
        values less one.
    """
    every = (whole or column).codes
    base = np.bincount(every) / every.size
    owner, value, count = _counts(labels, column)
    share = count / np.bincount(labels)[owner]
    if column.ordered and base.size > 1:
        return _ordered(owner, value, share, base)
    return np.asarray(np.bincount(owner, np.maximum(share - base[value], 0.0)), dtype=np.float64)


def failing(
    labels: Labels,
    constraints: Constraints,
    sensitive: Mapping[str, Values],
    whole: Mapping[str, Values] | None = None,
) -> NDArray[np.bool_]:
    """Return which classes miss at least one of the constraints."""
    bad = np.bincount(labels) < constraints.k
    for name, column in sensitive.items():
        if constraints.l is not None:
            figures = (entropy if constraints.l_kind == "entropy" else distinct)(labels, column)
            bad |= figures < constraints.l - SLACK
        if constraints.t is not None:
            bad |= closeness(labels, column, whole[name] if whole else None) > constraints.t + SLACK
    return bad


def _verdict(model: str, column: str | None, asked: float, figures: Figures, *, low: bool) -> Verdict:
    """Compare the worst class with what was asked; `low` says that small figures are bad."""
    if not figures.size:
        return Verdict(model, column, asked, 0.0, holds=False, note="the release has no rows")
    bad = figures < asked - SLACK if low else figures > asked + SLACK
    note = f"{int(bad.sum())} of {figures.size} classes fail" if bad.any() else ""
    return Verdict(model, column, asked, float(figures.min() if low else figures.max()), not bad.any(), note)


def _counts(labels: Labels, column: Values) -> tuple[Labels, Labels, NDArray[np.int64]]:
    """Return class, value and number of rows of every pair of class and value that occurs."""
    width = column.distinct or 1
    pairs, count = np.unique(labels * width + column.codes, return_counts=True)
    return pairs // width, pairs % width, count.astype(np.int64)


def _ordered(owner: Labels, value: Labels, share: Figures, base: Figures) -> Figures:
    """Return the ordered distance of each class, from the stretches between the values that it holds.

    On a stretch the cumulative share of the class is constant and that of the release only grows, so
    the stretch has one point where their difference changes its sign, and prefix sums give both sides.
    """
    whole = np.cumsum(base)
    prefix = np.concatenate([[0.0], np.cumsum(whole)])
    first = np.concatenate([[True], owner[1:] != owner[:-1]])
    level = np.cumsum(share)
    level -= (level - share)[first][owner]
    last = np.concatenate([first[1:], [True]])
    end = np.where(last, base.size, np.concatenate([value[1:], [0]]))
    # The stretch before a class's first value has level 0: the difference is the release's own share.
    total = prefix[value[first]]
    turn = np.clip(np.searchsorted(whole, level), value, end)
    below = level * (turn - value) - (prefix[turn] - prefix[value])
    above = (prefix[end] - prefix[turn]) - level * (end - turn)
    return np.asarray((total + np.bincount(owner, below + above)) / (base.size - 1))
