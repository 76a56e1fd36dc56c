"""Adversary measures: each by hand, on any posterior, and on releases that are hardly any."""

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.catalogue import measures
from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.privacy.measures import adversary_measures as module
from shoal.privacy.measures.adversary import (
    SCALE,
    bins,
    correlation,
    cross_entropy,
    entropy,
    interval_width,
    mutual_information,
    normalised_variance,
    on_the_scale,
    relative_entropy,
    smoothed,
)
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair

MEASURES = {
    function.card.name: function
    for function in vars(module).values()
    if hasattr(getattr(function, "card", None), "name")
}


def case_of(columns, **forms):
    """Return a case of columns (kind, original, released); forms by name are those of truthful columns."""
    named = {
        name: {
            "kind": kind,
            "form": forms.get(name, "mode"),
            **({"order": ["low", "mid", "high"]} if kind == "ordinal" else {}),
        }
        for name, (kind, _, _) in columns.items()
    }
    released = pa.table({name: after for name, (_, _, after) in columns.items()})
    original = Table.of(pa.table({name: cells for name, (_, cells, _) in columns.items()}))
    return Case(released, Policy.of({"columns": named}, k=2), original=original)


def values(case, name):
    return {finding.name: finding.value for finding in MEASURES[name](case)}


def posterior(labels, row):
    same = np.asarray(labels) == labels[row]
    return same / same.sum()


def degree_of_anonymity(p):
    """The entropy over log2 of the number of candidates; 0 for one candidate."""
    return entropy(p) / np.log2(p.shape[-1]) if p.shape[-1] > 1 else np.zeros(p.shape[:-1])


def min_entropy(p):
    return np.asarray(-np.log2(p.max(axis=-1))) + 0.0


def guesses(p, true):
    """The expected rank of the true candidate by falling p, ties broken at random."""
    return 1.0 + float((p > p[true]).sum()) + (float((p == p[true]).sum()) - 1) / 2


def test_entropies_of_a_posterior_are_those_by_hand():
    p = np.array([0.5, 0.25, 0.25, 0.0])
    # 1/2 * 1 + 2 * 1/4 * 2 = 1.5 bits of 2; the best guess is right half of the time: 1 bit.
    assert (entropy(p), degree_of_anonymity(p), min_entropy(p)) == (1.5, 0.75, 1.0)
    both = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert entropy(both).tolist() == degree_of_anonymity(both).tolist() == min_entropy(both).tolist() == [1.0, 0.0]
    assert degree_of_anonymity(np.array([1.0])) == 0


def test_relative_and_cross_entropy_are_those_by_hand():
    true, p = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25])
    # 1/2 log2 2 + 1/2 log2 1 = 1/2; and H(true) = 1.
    assert relative_entropy(true, p) == 0.5
    assert cross_entropy(true, p) == 1.5
    assert relative_entropy(p, true) == cross_entropy(p, true) == math.inf
    # Of a single true row it is -log2 of the probability that it is given.
    assert cross_entropy(np.array([0.0, 1.0]), np.array([0.75, 0.25])) == 2


def test_the_true_candidate_is_found_at_its_rank():
    p = np.array([0.4, 0.2, 0.2, 0.1, 0.1])
    # First; second or third; fourth or fifth.
    assert [guesses(p, true) for true in range(5)] == [1, 2.5, 2.5, 4.5, 4.5]


def test_every_probability_has_its_step_on_the_scale():
    p = np.array([0, 0.1, 0.3, 0.5, 0.6, 0.94, 0.95, 0.99, 1])
    assert dict(zip(SCALE, on_the_scale(p, 10).tolist(), strict=True)) == {
        "absolute privacy": 1,
        "beyond suspicion": 1,
        "probable innocence": 2,
        "possible innocence": 2,
        "exposed": 2,
        "provably exposed": 1,
    }
    assert on_the_scale(np.array([1.0]), 1).tolist() == [0, 0, 0, 0, 0, 1]


# Classes of one, two and four rows, and of one more row.
SIZES = {"a": ("nominal", list("abcdefgh"), ["x", "y", "y", "z", "z", "z", "z", "w"])}


def test_figures_of_class_sizes_are_those_by_hand():
    case = case_of(SIZES)
    assert values(case, "anonymity set size") == {
        "anonymity set size": (1 + 2 * 2 + 4 * 4 + 1) / 8,
        "anonymity set size, least": 1,
    }
    # (0 + 2 * 1 + 4 * 2 + 0) / 8 bits, of 3 bits for 8 rows.
    assert values(case, "entropy")["entropy"] == 1.25
    assert values(case, "degree of anonymity")["degree of anonymity"] == pytest.approx(1.25 / 3)
    # (1 + 2 * 1.5 + 4 * 2.5 + 1) / 8.
    assert values(case, "guesses until success")["guesses until success"] == 15 / 8
    steps = values(case, "degree of anonymity class")
    assert steps["degree of anonymity class"] == steps["degree of anonymity class, provably exposed"] == 2
    assert steps["degree of anonymity class, probable innocence"] == 6
    assert measures.load("min-entropy") is measures.load("entropy")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_the_figures_of_a_case_are_those_of_its_posteriors(labels):
    cells = [str(label) for label in labels]
    case, n = case_of({"a": ("nominal", cells, cells)}), len(labels)
    every = [posterior(labels, row) for row in range(n)]
    for name, figure in (
        ("entropy", entropy),
        ("entropy", min_entropy),
        ("degree of anonymity", degree_of_anonymity),
    ):
        assert values(case, name)[name] == pytest.approx(np.mean([figure(p) for p in every]), abs=1e-12)
    expected = np.mean([guesses(p, row) for row, p in enumerate(every)])
    assert values(case, "guesses until success")["guesses until success"] == pytest.approx(expected)
    rate, _, baseline = (one.value for one in measures.load("success rate").function(case))
    assert baseline == 1 / n
    assert rate == pytest.approx(np.mean([p[row] for row, p in enumerate(every)]))
    assert sum(list(values(case, "degree of anonymity class").values())[1:]) == n


def test_shares_are_smoothed_by_half_a_row_in_each_bin():
    # Bins a, b, c: 2, 1, 0 rows before and 1, 1, 1 after; with half a row more, of 4.5.
    true, p = smoothed(np.array([0, 0, 1]), np.array([0, 1, 2]))
    assert true == pytest.approx(np.array([2.5, 1.5, 0.5]) / 4.5)
    assert p == pytest.approx(np.array([1.5, 1.5, 1.5]) / 4.5)
    case = case_of({"a": ("nominal", ["a", "a", "b"], ["a", "b", "c"])})
    by_hand = 2.5 / 4.5 * math.log2(2.5 / 1.5) + 0.5 / 4.5 * math.log2(0.5 / 1.5)
    assert values(case, "relative entropy") == pytest.approx({"relative entropy, a": by_hand})
    # Against equal shares of three bins every value costs log2 3 bits.
    assert values(case, "cross-entropy") == pytest.approx({"cross-entropy, a": math.log2(3)})


def test_mutual_information_is_that_by_hand():
    # X has shares 1/2 and 1/2: H = 1. X' has 3/4 and 1/4. Both together have 1/2, 1/4 and 1/4: H = 1.5.
    before, after = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    half = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert mutual_information(before, after) == pytest.approx((1 + half - 1.5, 1))
    assert mutual_information(before, before) == (1, 1)
    assert mutual_information(before, np.zeros(4, np.int64)) == (0, 1)
    case = case_of({"a": ("nominal", list("xxyy"), list("xxxy"))})
    assert values(case, "mutual information") == pytest.approx(
        {"mutual information, a": half - 0.5, "mutual information / H(X), a": half - 0.5}
    )


def test_ranges_are_bins_of_their_own_for_mutual_information():
    case = case_of({"a": ("numeric", [1, 2, 8, 9], ["1–2", "1–2", "8–9", "8–9"])}, a="range")
    # H(X) = 2, and one of these bits is told.
    assert list(values(case, "mutual information").values()) == [1, 0.5]
    assert MEASURES["relative entropy"](case) == MEASURES["cross-entropy"](case) == ()


def test_correlation_and_variance_are_those_by_hand():
    before, after = np.array([1.0, 2, 3, 4]), np.array([1.5, 1.5, 3.5, 3.5])
    # Means 2.5: cov = (1.5 + 0.5 + 0.5 + 1.5) / 4 = 1, var 1.25 and 1: 1 / sqrt(1.25). Errors of 1/2: 0.25 / 1.25.
    assert correlation(before, after) == pytest.approx(1 / math.sqrt(1.25))
    assert normalised_variance(before, after) == pytest.approx(0.2)
    case = case_of({"a": ("numeric", before, after)})
    assert values(case, "correlation") == pytest.approx({"correlation, a": 1 / math.sqrt(1.25)})
    assert values(case, "normalised variance") == pytest.approx({"normalised variance, a": 0.2})
    # As ranges, whose middles are the same.
    truthful = case_of({"a": ("numeric", [1, 2, 3, 4], ["1–2", "1–2", "3–4", "3–4"])}, a="range")
    assert values(truthful, "normalised variance") == pytest.approx({"normalised variance, a": 0.2})


def test_the_error_of_the_adversary_adds_up_over_columns():
    case = case_of(
        {"a": ("numeric", [1.0, 2, 3, 4], [1.5, 1.5, 3.5, 3.5]), "b": ("nominal", list("xxyz"), list("xxyy"))}
    )
    # 0.25 / 1.25 in standard deviations, and one of four names wrong.
    assert values(case, "mean squared error of the adversary") == pytest.approx(
        {
            "mean squared error of the adversary": 0.45,
            "mean squared error of the adversary, a": 0.2,
            "mean squared error of the adversary, b": 0.25,
        }
    )


def test_the_interval_is_the_shortest_that_holds_its_share():
    values_, published = np.array([0.0, 1, 2, 10, 5, 5, 7]), np.array([0, 0, 0, 0, 1, 1, 1])
    assert interval_width(values_, published).tolist() == [10, 2]
    # Three of four: from 0 to 2; two of three: from 5 to 5.
    assert interval_width(values_, published, 0.6).tolist() == [2, 0]
    case = case_of({"a": ("numeric", [0, 1, 5, 10], [1, 1, 7, 7])})
    # Widths 1, 1, 5, 5 of a range of 10.
    assert values(case, "confidence interval width") == pytest.approx({"confidence interval width, a": 0.3})


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=25), st.sampled_from([0.5, 0.95, 1])
)
def test_intervals_equal_a_slow_search(rows, tau):
    published = np.unique([b for _, b in rows], return_inverse=True)[1].reshape(-1)
    found = interval_width(np.array([float(a) for a, _ in rows]), published, tau)
    for group in range(published.max() + 1):
        own = sorted(a for (a, _), label in zip(rows, published, strict=True) if label == group)
        held = math.ceil(tau * len(own) - 1e-9)
        assert found[group] == min(own[i + held - 1] - own[i] for i in range(len(own) - held + 1))


def pair(before, after, kind="numeric"):
    return Pair("a", kind, "mean", pa.chunked_array([pa.array(before)]), pa.chunked_array([pa.array(after)]))


def test_numbers_are_cut_into_twenty_parts_of_equal_frequency_and_missing_is_one_more():
    before, after = bins(pair([*range(1000), None], [*range(1000), None]))
    counts = np.bincount(before)
    assert (counts.size, counts[20]) == (21, 1)
    assert np.abs(counts[:20] - 50).max() <= 1
    assert before.tolist() == after.tolist()
    few = bins(pair([1, 2, 2, 9], [1.5, 1.5, 50, -3]))
    # Up to 1, up to 2, beyond.
    assert [part.tolist() for part in few] == [[0, 1, 1, 2], [1, 1, 2, 0]]


kinds = st.sampled_from(["numeric", "nominal"])
cells = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)


@given(cells, kinds, st.randoms())
def test_figures_lie_in_their_range_and_do_not_depend_on_the_order_of_rows(rows, kind, rng):
    def found(some):
        sides = [[str(cell) if kind == "nominal" else cell for cell in side] for side in zip(*some, strict=True)]
        case = case_of({"a": (kind, *sides)})
        for name, function in MEASURES.items():
            for finding in function(case):
                assert finding.name.split(",")[0].split(" /")[0] == name
                assert function.card.low - 1e-9 <= finding.value <= function.card.high + 1e-9
                assert math.isfinite(finding.value)
                yield finding.name, finding.value

    before = dict(found(rows))
    rng.shuffle(rows)
    assert dict(found(rows)) == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize("kind", ["numeric", "date", "ordinal", "nominal", "boolean"])
@pytest.mark.parametrize("size", [0, 1, 5])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("form", ["mode", "truthful"])
def test_degenerate_columns_give_finite_figures_or_none(kind, size, gone, form):
    cell, arrow, text = {
        "numeric": (3.5, pa.float64(), "3.5"),
        "date": (dt.date(2020, 1, 2), pa.date32(), "2020-01-02"),
        "ordinal": ("mid", pa.string(), "mid"),
        "nominal": ("x", pa.string(), "x"),
        "boolean": (True, pa.bool_(), "true"),
    }[kind]
    before = pa.array([cell] * size, arrow)
    truthful = form == "truthful"
    after = pa.array([None if gone else text if truthful else cell] * size, pa.string() if truthful else arrow)
    shape = {"a": "range" if kind in ("numeric", "date", "ordinal") else "set"} if truthful else {}
    case = case_of({"a": (kind, before, after)}, **shape)
    for function in MEASURES.values():
        for finding in function(case):
            assert math.isfinite(finding.value)
    if size == 0:
        assert all(function(case) == () for function in MEASURES.values())


def test_a_column_that_was_suppressed_tells_nothing():
    gone = pa.array([None] * 4, pa.int64())
    case = case_of({"a": ("numeric", [1, 2, 3, 4], gone)})
    assert set(values(case, "mutual information").values()) == {0.0}
    assert MEASURES["correlation"](case) == ()
    assert values(case, "confidence interval width") == {"confidence interval width, a": 1.0}


@pytest.mark.parametrize("scale", [1e308, 1e-320, 1e15])
def test_very_large_and_very_small_numbers_give_finite_figures(scale):
    case = case_of({"a": ("numeric", [-scale, scale, scale / 2, scale], [scale, scale, scale, -scale])})
    for function in MEASURES.values():
        assert all(math.isfinite(finding.value) for finding in function(case))


def test_a_constant_release_is_said():
    found = MEASURES["correlation"](case_of({"a": ("numeric", [1, 2, 3, 4], [2] * 4)}))[0]
    assert (found.value, "constant" in found.how) == (0, True)


def test_rows_with_missing_cells_are_left_out_and_said():
    cells_ = pa.array([1, 2, None, 4], pa.int64())
    found = MEASURES["normalised variance"](case_of({"a": ("numeric", cells_, pa.array([1, 2, 3, None], pa.int64()))}))
    assert found[0].value == 0
    assert "2 rows with a missing cell" in found[0].how


def test_what_needs_the_pair_says_so():
    alone = Case(pa.table({"a": [1, 1]}), Policy.of({"columns": {"a": {"kind": "numeric", "form": "mean"}}}, k=2))
    for function in MEASURES.values():
        if function.card.need == "pair":
            with pytest.raises(DataError, match="needs the original table"):
                function(alone)
        else:
            assert function(alone)


def test_no_finding_shows_a_cell():
    case = case_of({"a": ("nominal", ["secret-1", "secret-2"], ["secret-1"] * 2)})
    assert not any("secret" in str(finding) for function in MEASURES.values() for finding in function(case))
