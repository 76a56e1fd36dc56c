"""The judge, against figures worked out by hand and against slow counts in plain Python."""

import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.privacy.verdict.classes import Counts, classes
from shoal.privacy.verdict.judge import failing, judge
from shoal.privacy.verdict.models import (
    alpha,
    closeness,
    disclosure,
    distinct,
    entropy,
    lacking,
    likeness,
    recursive,
    unbounded,
)
from shoal.privacy.verdict.values import Values, read_column


def policy(**options):
    return Policy.of(
        {"columns": {"age": {"kind": "numeric"}, "ill": {"kind": "nominal"}, "pay": {"kind": "numeric"}}}, **options
    )


def codes(values, ordered=False):
    return Values(np.unique(np.array(values), return_inverse=True)[1].astype(np.int64), ordered)


def test_k_is_the_size_of_the_smallest_class():
    data = pa.table({"age": [1, 1, 2, 2, 2], "sex": ["f", "f", "m", "m", "m"]})
    verdict = judge(data, policy(k=3))[0]
    assert (verdict.found, verdict.holds, verdict.note) == (2, False, "1 of 2 classes fail")
    assert judge(data, policy(k=2))[0].holds


def test_the_missing_pattern_is_part_of_the_class():
    data = pa.table({"age": pa.array([1, 1, None, None, 1], pa.int64()), "sex": ["f"] * 5})
    assert judge(data, policy(k=2))[0].found == 2
    data = pa.table({"age": pa.array([1, 1, 1, 1, None], pa.int64()), "sex": ["f"] * 5})
    assert judge(data, policy(k=2))[0].found == 1


def test_floats_that_differ_in_the_last_bit_are_two_classes():
    data = pa.table({"age": [0.1 + 0.2, 0.3]})
    assert judge(data, policy(k=2))[0].found == 1


def test_a_column_that_the_policy_does_not_name_counts_as_a_quasi_identifier():
    data = pa.table({"age": [1, 1, 1], "stranger": ["a", "b", "c"]})
    assert judge(data, policy(k=2))[0].found == 1


def test_an_empty_release_fails():
    data = pa.table({"age": pa.array([], pa.int64())})
    verdict = judge(data, policy(k=2))[0]
    assert (verdict.holds, verdict.note) == (False, "the release has no rows")


def test_distinct_and_entropy_l_of_a_class_worked_out_by_hand():
    labels = np.array([0, 0, 0, 0, 1, 1], np.int64)
    column = codes(["a", "a", "b", "c", "a", "a"])
    assert distinct(Counts.of(labels, column)).tolist() == [3, 1]
    expected = math.exp(-(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25)))
    assert entropy(Counts.of(labels, column)) == pytest.approx([expected, 1.0], abs=1e-12)


def hand():
    """Two classes, a a b c and a a: a has a share of 2/3 in the whole, b and c of 1/6."""
    return Counts.of(np.array([0, 0, 0, 0, 1, 1], np.int64), codes(["a", "a", "b", "c", "a", "a"]))


def test_alpha_recursive_beta_and_delta_worked_out_by_hand():
    assert alpha(hand()).tolist() == [0.5, 1.0]
    assert recursive(hand(), 2).tolist() == [2 / 2, math.inf]
    assert recursive(hand(), 3).tolist() == [2 / 1, math.inf]
    assert recursive(hand(), 1).tolist() == [2 / 4, 1.0]
    # In the first class b rises from 1/6 to 1/4, in the second a from 2/3 to 1: both by a half.
    assert likeness(hand()) == pytest.approx([0.5, 0.5], abs=1e-12)
    assert likeness(hand(), enhanced=True) == pytest.approx([0.5, math.log(3 / 2)], abs=1e-12)
    assert unbounded(hand()).tolist() == [False, True]
    assert disclosure(hand()) == pytest.approx([math.log(3 / 2)] * 2, abs=1e-12)
    assert lacking(hand()).tolist() == [False, True]


def test_t_along_a_tree_worked_out_by_hand():
    # Two families of two diseases each. The class holds the first disease alone, the whole all four alike.
    tree = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
    column = Values(np.arange(4), tree=tree)
    found = closeness(Counts.of(np.zeros(1, np.int64), column.some(np.array([0])), column))
    # A quarter goes to the other of its family, half the way up; two quarters go over the root.
    assert found == pytest.approx([0.25 * 1 / 2 + 0.5 * 1], abs=1e-12)


def test_t_of_the_salary_example_of_li_and_others():
    # Nine salaries 3..11 (thousands); class {3, 4, 5} has 0.375 and class {6, 8, 11} 0.1667 (Li et al. 2007).
    labels = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1], np.int64)
    column = codes([3, 4, 5, 6, 7, 8, 9, 10, 11], ordered=True)
    found = closeness(Counts.of(labels, column))
    assert found[0] == pytest.approx(0.375, abs=1e-12)
    assert found[1] == pytest.approx(1 / 6, abs=1e-12)


def test_t_of_names_is_half_the_sum_of_differences():
    labels = np.array([0, 0, 1, 1], np.int64)
    assert closeness(Counts.of(labels, codes(["a", "a", "a", "b"]))) == pytest.approx([0.25, 0.25], abs=1e-12)


def test_a_constant_sensitive_column_is_at_distance_zero_of_itself():
    labels = np.array([0, 0, 1, 1], np.int64)
    assert closeness(Counts.of(labels, codes([5, 5, 5, 5], ordered=True))).tolist() == [0, 0]


def test_each_sensitive_column_gets_its_own_verdicts():
    data = pa.table({"age": [1, 1, 1, 1], "ill": ["a", "a", "b", "b"], "pay": [1, 2, 3, 4]})
    verdicts = judge(data, policy(k=4, l=2, t=0.1, sensitive=["ill", "pay"]))
    assert [(v.model, v.column) for v in verdicts] == [
        ("k-anonymity", None),
        ("distinct l-diversity", "ill"),
        ("t-closeness", "ill"),
        ("distinct l-diversity", "pay"),
        ("t-closeness", "pay"),
    ]
    assert all(v.holds for v in verdicts)


def test_entropy_l_is_asked_for_by_its_name():
    data = pa.table({"age": [1, 1, 1, 1], "ill": ["a", "a", "a", "b"]})
    verdict = judge(data, policy(k=4, l=2, l_kind="entropy", sensitive=["ill"]))[1]
    assert (verdict.model, verdict.holds) == ("entropy l-diversity", False)
    assert verdict.found == pytest.approx(math.exp(0.5623351446188083))


def test_two_equally_frequent_values_reach_entropy_two():
    data = pa.table({"age": [1, 1], "ill": ["a", "b"]})
    assert judge(data, policy(k=2, l=2, l_kind="entropy", sensitive=["ill"]))[1].holds


def test_text_of_numbers_is_ordered_as_numbers():
    assert read_column(pa.chunked_array([["10", "9", None]]), "numeric").codes.tolist() == [1, 0, 2]


def test_levels_are_ordered_as_the_policy_says():
    assert read_column(
        pa.chunked_array([["low", "high", "mid"]]), "ordinal", ["low", "mid", "high"]
    ).codes.tolist() == [
        0,
        2,
        1,
    ]


def test_a_level_that_the_policy_does_not_know_is_refused_without_its_name():
    with pytest.raises(DataError) as caught:
        read_column(pa.chunked_array([["low", "secret"]]), "ordinal", ["low"])
    assert "secret" not in str(caught.value)


whole = st.integers(0, 3)


@given(st.lists(st.tuples(whole, whole, whole), min_size=1, max_size=40))
def test_every_figure_equals_a_slow_count(rows):
    groups = defaultdict(list)
    for a, b, s in rows:
        groups[a, b].append(s)
    data = pa.table({"age": [r[0] for r in rows], "sex": [r[1] for r in rows], "ill": [r[2] for r in rows]})
    found = judge(data, policy(k=2, l=2, t=0.5, sensitive=["ill"]))
    assert found[0].found == min(map(len, groups.values()))
    assert found[1].found == min(len(set(group)) for group in groups.values())
    assert found[2].found == pytest.approx(max(slow_equal(group, [r[2] for r in rows]) for group in groups.values()))


def slow_equal(group, everyone):
    own, whole_count = Counter(group), Counter(everyone)
    return sum(abs(own[v] / len(group) - whole_count[v] / len(everyone)) for v in whole_count) / 2


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=2, max_size=30))
def test_ordered_distance_equals_a_transport_plan(rows):
    labels = np.unique([r[0] for r in rows], return_inverse=True)[1].astype(np.int64)
    column = codes([r[1] for r in rows], ordered=True)
    found = closeness(Counts.of(labels, column))
    base = np.bincount(column.codes) / len(rows)
    if base.size < 2:
        return
    for group in range(labels.max() + 1):
        own = np.bincount(column.codes[labels == group], minlength=base.size) / (labels == group).sum()
        assert found[group] == pytest.approx(transport(own, base), abs=1e-9)


def transport(own, base, cost=None):
    size = base.size
    if cost is None:
        cost = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (size - 1)
    sums = np.zeros((2 * size, size * size))
    for i in range(size):
        sums[i, i * size : (i + 1) * size] = 1
        sums[size + i, i::size] = 1
    return linprog(cost.ravel(), A_eq=sums, b_eq=np.concatenate([own, base])).fun


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["equal", "ordered", "tree"])
@pytest.mark.parametrize("seed", range(10))
def test_the_three_distances_equal_a_transport_plan(kind, seed):
    rng = np.random.default_rng(seed)
    for _ in range(7):
        n, size = int(rng.integers(4, 60)), int(rng.integers(2, 8))
        values = np.unique(rng.integers(0, size, n), return_inverse=True)[1].reshape(-1)
        labels = np.unique(rng.integers(0, 3, n), return_inverse=True)[1].reshape(-1)
        if values.max() < 1:
            continue
        tree = random_tree(rng, int(values.max()) + 1)
        column = Values(values, ordered=kind == "ordered", tree=tree if kind == "tree" else None)
        apart = 1 - np.eye(values.max() + 1)
        cost = {"equal": apart, "ordered": None, "tree": apart * height_of_meeting(tree)}[kind]
        found = closeness(Counts.of(labels, column))
        for group in range(labels.max() + 1):
            own = np.bincount(values[labels == group], minlength=apart.shape[0]) / (labels == group).sum()
            assert found[group] == pytest.approx(transport(own, np.bincount(values) / n, cost), abs=1e-12)


def random_tree(rng, size):
    levels = [np.arange(size)]
    while levels[-1].max() > 0:
        up = np.sort(rng.integers(0, max(1, (int(levels[-1].max()) + 1) // 2), int(levels[-1].max()) + 1))
        levels.append(np.unique(up, return_inverse=True)[1].reshape(-1)[levels[-1]])
    return np.array(levels)


def height_of_meeting(tree):
    meets = tree[:, :, None] == tree[:, None, :]
    return meets.argmax(axis=0) / (len(tree) - 1)


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=30), st.integers(1, 4))
def test_every_model_of_sensitive_values_equals_a_slow_count(rows, l):
    labels = np.unique([a for a, _ in rows], return_inverse=True)[1].reshape(-1)
    counts = Counts.of(labels, codes([s for _, s in rows]))
    everyone = Counter(s for _, s in rows)
    for group in range(labels.max() + 1):
        own = Counter(s for (_, s), label in zip(rows, labels, strict=True) if label == group)
        size, n = sum(own.values()), len(rows)
        falling = sorted(own.values(), reverse=True)
        rises = {s: (own[s] / size - everyone[s] / n) / (everyone[s] / n) for s in own}
        assert alpha(counts)[group] == max(own.values()) / size
        assert recursive(counts, l)[group] == (falling[0] / sum(falling[l - 1 :]) if len(own) >= l else math.inf)
        assert likeness(counts)[group] == pytest.approx(max(0, *rises.values()), abs=1e-12)
        bounded = [min(rise, -math.log(everyone[s] / n)) for s, rise in rises.items()]
        assert likeness(counts, enhanced=True)[group] == pytest.approx(max(0, *bounded), abs=1e-12)
        logs = [abs(math.log(own[s] / size / (everyone[s] / n))) for s in own]
        assert disclosure(counts)[group] == pytest.approx(max(logs), abs=1e-12)
        assert lacking(counts)[group] == (len(own) < len(everyone))


ASKED = [
    ({"l": 2, "l_kind": "recursive", "c": 1.5}, "recursive (c,l)-diversity"),
    ({"alpha": 0.6}, "(alpha,k)-anonymity"),
    ({"beta": 0.4}, "basic beta-likeness"),
    ({"beta": 0.4, "beta_kind": "enhanced"}, "enhanced beta-likeness"),
    ({"delta": 0.6}, "delta-disclosure"),
]


@pytest.mark.parametrize(("asked", "name"), ASKED, ids=[name for _, name in ASKED])
def test_a_policy_may_ask_for_any_model(asked, name):
    good = pa.table({"age": [1, 1, 1, 1, 2, 2, 2, 2], "ill": ["a", "b", "a", "b"] * 2})
    bad = pa.table({"age": [1, 1, 1, 1, 2, 2, 2, 2], "ill": ["a", "a", "a", "b", "b", "b", "b", "a"]})
    for data, holds in ((good, True), (bad, False)):
        verdict = judge(data, policy(k=4, constraints=asked, sensitive=["ill"]))[1]
        assert (verdict.model, verdict.column, verdict.holds) == (name, "ill", holds)


def test_an_equal_r1_is_not_recursively_diverse():
    data = pa.table({"age": [1] * 4, "ill": ["a", "a", "b", "c"]})
    for c, holds in ((1.0, False), (1.01, True)):
        asked = {"l": 2, "l_kind": "recursive", "c": c}
        assert judge(data, policy(k=4, constraints=asked, sensitive=["ill"]))[1].holds == holds


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=30), st.randoms())
def test_the_order_of_rows_changes_no_verdict(rows, rng):
    def judged(some):
        data = pa.table({"age": [r[0] for r in some], "ill": [r[1] for r in some]})
        return [(v.found, v.holds) for v in judge(data, policy(k=2, l=2, t=0.3, sensitive=["ill"]))]

    mixed = rows.copy()
    rng.shuffle(mixed)
    for one, other in zip(judged(rows), judged(mixed), strict=True):
        assert one == pytest.approx(other)


def test_failing_says_which_classes_miss_a_constraint():
    labels = np.array([0, 0, 1, 1, 1], np.int64)
    asked = policy(k=2, l=2).constraints
    assert failing(labels, asked, {"ill": codes(["a", "b", "a", "a", "a"])}).tolist() == [False, True]


def test_classes_of_no_columns_are_one_class():
    assert classes([], 3).tolist() == [0, 0, 0]
