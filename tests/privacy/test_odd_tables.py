"""Models on tables that other programs count wrongly: odd indexes, and missing values; all worked out by hand."""

import math

import pandas as pd
import pyarrow as pa
import pytest

import shoal

MODELS = ("k-anonymity", "distinct l-diversity", "(alpha,k)-anonymity", "t-closeness", "basic beta-likeness")


def figures(table, **given):
    found = shoal.measure(None, table, only=[*MODELS, "delta-disclosure"], sensitive=["ill"], **given)
    return {finding.name: finding.value for finding in found}


@pytest.mark.parametrize("index", [[7, 7, 7, 7, 7, 7, 7], [6, 5, 4, 3, 2, 1, 0], list("gfedcba"), range(100, 107)])
def test_the_index_of_a_frame_changes_nothing(index):
    frame = pd.DataFrame({"sex": list("ffffmmm"), "ill": list("aabcaab")}, index=index)
    found = figures(frame)
    # Classes a a b c and a a b; a has 4 of 7 rows, b 2, c 1.
    assert found["k-anonymity"] == 3
    assert found["distinct l-diversity"] == 2
    assert found["(alpha,k)-anonymity"] == pytest.approx(2 / 3, abs=1e-12)
    # First class: c rises from 1/7 to 1/4 by 3/28. Second: a by 2/3 - 4/7 = 2/21, b by 1/3 - 2/7 = 1/21.
    assert found["t-closeness"] == pytest.approx(1 / 7, abs=1e-12)
    # c: (1/4 - 1/7) / (1/7) = 3/4.
    assert found["basic beta-likeness"] == pytest.approx(3 / 4, abs=1e-12)
    # c: ln(7/4) = 0.560; a: ln(7/8), ln(7/6); b: ln(7/8), ln(7/6).
    assert found["delta-disclosure"] == pytest.approx(math.log(7 / 4), abs=1e-12)


def test_a_missing_quasi_identifier_is_a_value_of_its_own():
    table = pa.table({"sex": ["f", "f", None, None, None], "ill": ["a", "b", "a", "b", "a"]})
    found = figures(table)
    assert found["k-anonymity"] == 2
    assert found["distinct l-diversity"] == 2
    assert found["(alpha,k)-anonymity"] == pytest.approx(2 / 3, abs=1e-12)
    # a has 3 of 5 rows: first class 1/2, second 2/3, which is 1/10 and 1/15 away.
    assert found["t-closeness"] == pytest.approx(1 / 10, abs=1e-12)


def test_a_missing_sensitive_value_is_a_value_of_its_own():
    table = pa.table({"sex": ["f", "f", "f", "m", "m"], "ill": ["a", None, None, "a", "b"]})
    found = figures(table)
    assert found["distinct l-diversity"] == 2
    assert found["(alpha,k)-anonymity"] == pytest.approx(2 / 3, abs=1e-12)
    # Shares in the whole: a 2/5, missing 2/5, b 1/5. First class: missing rises by 4/15. Second: a by 1/10, b by 3/10.
    assert found["t-closeness"] == pytest.approx(4 / 10, abs=1e-12)
    # b: (1/2 - 1/5) / (1/5) = 3/2.
    assert found["basic beta-likeness"] == pytest.approx(3 / 2, abs=1e-12)


def test_two_rows_that_miss_another_cell_are_not_alike():
    table = pa.table({"sex": ["f", "f", None, "f"], "age": pa.array([1, None, 1, 1], pa.int64()), "ill": list("abab")})
    assert figures(table)["k-anonymity"] == 1


@pytest.mark.parametrize("ill", [["a"] * 6, [None] * 6])
def test_a_constant_sensitive_column_has_stated_figures(ill):
    found = figures(pa.table({"sex": list("ffmmmm"), "ill": pa.array(ill, pa.string())}))
    assert found == {
        "k-anonymity": 2,
        "distinct l-diversity": 1,
        "(alpha,k)-anonymity": 1,
        "t-closeness": 0,
        "basic beta-likeness": 0,
        "delta-disclosure": 0,
    }
