"""Limits inside a search agree with the judge."""

import random

import numpy as np
import pytest

from shoal.cluster.search.limits import NONE, Limits, meets
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values


def random_case(rng):
    """Return sensitive columns, a constraint and some of the rows."""
    n = rng.randint(2, 120)
    columns = {}
    for name in "ab"[: rng.randint(1, 2)]:
        span = rng.choice([1, 2, 3, 10, 400])
        raw = np.array([rng.randint(0, span) for _ in range(n)])
        columns[name] = Values(np.unique(raw, return_inverse=True)[1].astype(np.int64), rng.random() < 0.5)
    kind = rng.choice(["distinct", "entropy"])
    l = rng.choice([None, 2, 3]) if kind == "distinct" else rng.choice([None, 1.5, 2.25])
    t = rng.choice([None, 0.0, 0.1, 0.2, 0.5])
    alpha = rng.choice([None, None, 0.3, 0.5, 0.8])
    rows = np.array(sorted(rng.sample(range(n), rng.randint(1, n))))
    return columns, Constraints(k=2, l=l, l_kind=kind, t=t, alpha=alpha), rows


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_group_meets_the_limits_if_and_only_if_the_judge_says_so(part, compiled):
    rng = random.Random(part)
    for _ in range(800 if compiled else 100):
        columns, constraints, rows = random_case(rng)
        some = {name: Values(column.codes[rows], column.ordered) for name, column in columns.items()}
        loose = constraints.model_copy(update={"k": 1})
        ref = not failing(np.zeros(rows.size, np.int64), loose, some, columns)[0]
        limits = Limits.of(constraints, columns)
        assert limits.met(rows) == ref
        assert limits.binding == any(one is not None for one in (constraints.l, constraints.t, constraints.alpha))


def test_some_of_the_rows_are_judged_by_the_shares_of_all():
    column = Values(np.array([0, 0, 0, 1]))
    limits = Limits.of(Constraints(k=2, t=0.3), {"a": column})
    assert not limits.met(np.array([2, 3, 3]))
    part = limits.part(np.array([3, 2]))
    assert part.met(np.array([1, 0])) == limits.met(np.array([2, 3]))


def test_without_a_sensitive_column_there_is_no_limit():
    assert Limits.of(Constraints(k=2, l=2), {}) is None
    assert meets(NONE, np.array([0, 1]), 2)
