"""Merging until the constraints hold, at the least cost, or an error that names a feasible request."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.enforce import check_feasible, enforce
from shoal.errors import InfeasibleError
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.policy import Constraints
from shoal.privacy.verdict.judge import failing
from shoal.privacy.verdict.values import Values


def column(values, ordered=False):
    return Values(np.unique(np.array(values), return_inverse=True)[1].astype(np.int64), ordered)


def points(*values):
    return np.array(values, float).reshape(len(values), -1)


def test_a_partition_that_meets_everything_is_left_alone():
    given_one = Partition.of([0, 0, 1, 1])
    assert enforce(given_one, points(1, 2, 8, 9), Constraints(k=2), {}) is given_one


def test_an_undersized_group_joins_where_sse_rises_least():
    made = enforce(Partition.of([0, 0, 1, 2, 2]), points(0, 1, 8, 10, 11), Constraints(k=2), {})
    assert made.labels.tolist() == [0, 0, 1, 1, 1]


def test_the_increase_depends_on_sizes_and_not_only_on_distance():
    # The group of two at distance 3 costs 2/3 * 9 = 6, the group of five at distance 2.8 costs 5/6 * 7.84 = 6.53.
    X = points(0, 3, 3, -2.8, -2.8, -2.8, -2.8, -2.8)
    made = enforce(Partition.of([0, 1, 1, 2, 2, 2, 2, 2]), X, Constraints(k=2), {})
    assert made.labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_row_weights_count_in_means_and_in_the_increase():
    # By numbers of rows, row 0 is nearer to the group at 4; by weights that group's mean is at 7.9.
    X, groups = points(0, 2, 8, -5, -5), Partition.of([0, 1, 1, 2, 2])
    assert enforce(groups, X, Constraints(k=2), {}).labels.tolist() == [0, 0, 0, 1, 1]
    weights = np.array([1.0, 0.1, 9.9, 1.0, 1.0])
    assert enforce(groups, X, Constraints(k=2), {}, weights).labels.tolist() == [0, 1, 1, 0, 0]
    assert enforce(groups, X, Constraints(k=2), {}, np.full(5, 7.0)).labels.tolist() == [0, 0, 0, 1, 1]


def test_rows_without_weight_still_join_the_nearest_group():
    X, groups = points(0, 9, 10, 1, 2), Partition.of([0, 1, 1, 2, 2])
    for weights in ([0.0, 1, 1, 1, 1], [0.0, 1, 1, 0, 0], [0.0] * 5):
        assert enforce(groups, X, Constraints(k=2), {}, np.array(weights)).labels.tolist() == [0, 1, 1, 0, 0]


def test_notes_are_carried_along_and_findings_are_not():
    notes = ("a note of the method",)
    found = (Finding("bound", 1.0, "proved", "groups"),)
    bad = enforce(Partition.of([0, 1, 1, 1], notes, found), points(0, 1, 2, 3), Constraints(k=2), {})
    assert (bad.notes, bad.findings) == (notes, ())
    good = enforce(Partition.of([0, 0, 1, 1], notes, found), points(0, 1, 2, 3), Constraints(k=2), {})
    assert (good.notes, good.findings) == (notes, found)


def test_the_cheapest_merge_of_all_failing_groups_comes_first():
    # Rows 1 and 2 are nearest; merged they are enough, so row 0 has to look for a partner of its own.
    made = enforce(Partition.of([0, 1, 2, 3, 3]), points(0, 5, 6, 20, 20), Constraints(k=2), {})
    assert made.labels.tolist() == [0, 0, 0, 1, 1]


def test_a_group_of_one_sensitive_value_is_merged_for_l():
    ill = column(["a", "a", "b", "b", "a", "b"])
    made = enforce(Partition.of([0, 0, 1, 1, 2, 2]), points(0, 0, 1, 1, 9, 9), Constraints(k=2, l=2), {"ill": ill})
    assert made.labels.tolist() == [0, 0, 0, 0, 1, 1]


def test_groups_are_merged_until_they_are_close_for_t():
    pay = column([1, 2, 3, 4, 1, 4], ordered=True)
    asked = Constraints(k=2, t=0.2)
    made = enforce(Partition.of([0, 0, 1, 1, 2, 2]), points(0, 0, 1, 1, 9, 9), asked, {"pay": pay})
    assert not failing(made.labels, asked, {"pay": pay}).any()


def test_fewer_rows_than_k_are_refused():
    with pytest.raises(InfeasibleError, match="k is 5, but the table has 3 rows. Lower k to 3 or less"):
        enforce(Partition.of([0, 0, 0]), points(1, 2, 3), Constraints(k=5), {})


def test_an_l_above_the_values_of_the_column_is_refused_with_a_feasible_l():
    ill = column(["a", "b", "b", "b"])
    with pytest.raises(InfeasibleError, match="Lower l to 2"):
        check_feasible(4, Constraints(k=2, l=3), {"ill": ill})
    with pytest.raises(
        InfeasibleError,
        match="l = 3 is required of every class, but the whole column 'ill' only reaches 2. Lower l to 2",
    ):
        enforce(Partition.of([0, 0, 1, 1]), points(1, 2, 3, 4), Constraints(k=2, l=3), {"ill": ill})
    with pytest.raises(InfeasibleError, match=r"l = 1.9 is required .* only reaches 1.754. Lower l to 1.754"):
        enforce(Partition.of([0, 0, 1, 1]), points(1, 2, 3, 4), Constraints(k=2, l=1.9, l_kind="entropy"), {"ill": ill})
    for kind in ("distinct", "entropy"):  # no policy may ask for l = 1
        with pytest.raises(InfeasibleError, match="only reaches 1. Leave l out, or give the column another role"):
            check_feasible(2, Constraints(k=2, l=2, l_kind=kind), {"ill": column(["a", "a"])})


def test_of_several_columns_the_one_with_the_fewest_values_is_named_first():
    few, fewer, enough = column(["a", "b", "b", "c"]), column(["a", "b", "b", "b"]), column(list("abcd"))
    with pytest.raises(InfeasibleError) as caught:
        check_feasible(4, Constraints(k=2, l=4), {"enough": enough, "few": few, "fewer": fewer})
    message = str(caught.value)
    assert "the whole column 'fewer' only reaches 2. Lower l to 2 or less" in message
    assert message.endswith("The same applies to 'few'.")
    with pytest.raises(InfeasibleError, match="the whole column 'fewer' only reaches 0.75. Raise alpha to 0.75"):
        check_feasible(4, Constraints(k=2, alpha=0.3), {"enough": enough, "few": few, "fewer": fewer})


def test_the_l_named_in_the_error_is_feasible():
    ill = column(["a", "b", "b", "b"])
    made = enforce(
        Partition.of([0, 0, 1, 1]), points(1, 2, 3, 4), Constraints(k=2, l=1.754, l_kind="entropy"), {"ill": ill}
    )
    assert made.groups == 1


rows = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(0, 2), st.integers(0, 4)), min_size=6, max_size=40
)


pairs = st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=5, max_size=21).filter(lambda p: len(p) % 2)


@given(pairs)
def test_a_lone_row_joins_the_pair_where_weighted_sse_rises_least(some):
    X, weights = points(*[r[0] for r in some]), np.array([float(r[1]) for r in some])
    labels = np.concatenate([[0], 1 + np.arange(len(some) - 1) // 2])
    made = enforce(Partition.of(labels), X, Constraints(k=2), {}, weights).labels

    def rise(pair):
        mass, mean = weights[pair].sum(), np.average(X[pair, 0], weights=weights[pair])
        return weights[0] * mass / (weights[0] + mass) * (X[0, 0] - mean) ** 2

    joined = np.flatnonzero(made == made[0])[1:]
    assert joined.size == 2
    assert rise(joined) == pytest.approx(min(rise(labels == pair) for pair in range(1, labels.max() + 1)), abs=1e-9)


@given(rows, st.integers(2, 4), st.sampled_from([None, 2]), st.sampled_from([None, 0.0, 0.2, 0.5]), st.booleans())
def test_every_group_meets_every_constraint_and_no_row_is_lost(some, k, l, t, entropy):
    values = np.array([r[2] for r in some])
    if l and len(set(values)) < 2:
        l = None
    asked = Constraints(k=k, l=l if not (entropy and l) else 1.01, l_kind="entropy" if entropy else "distinct", t=t)
    sensitive = {"ill": column(values), "pay": column([r[3] for r in some], ordered=True)}
    if asked.l and any(c.distinct < 2 for c in sensitive.values()):
        return
    before = Partition.of([r[1] for r in some])
    try:
        made = enforce(before, points(*[r[0] for r in some]), asked, sensitive)
    except InfeasibleError:
        assert entropy
        return
    assert made.n == len(some)
    assert not failing(made.labels, asked, sensitive).any()
    pairs = {(a, b) for a, b in zip(before.labels.tolist(), made.labels.tolist(), strict=True)}
    assert len(pairs) == before.groups
