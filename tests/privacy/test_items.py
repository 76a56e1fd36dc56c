"""Sets in a table, as the judge counts them."""

import random

import pyarrow as pa
import pytest

import shoal
from naive.inside import least_support
from shoal.privacy.verdict.items import item_verdict, read_items
from shoal.privacy.verdict.values import read_column


def verdict(classes, sets, k, m, separator="|"):
    column = pa.chunked_array([pa.array(sets)])
    return item_verdict("items", column, separator, read_column(pa.chunked_array([pa.array(classes)])).codes, k, m)


def test_the_rarest_pair_of_a_class_is_what_is_found():
    found = verdict([1, 1, 1, 2, 2], [["a", "b"], ["a", "b"], ["a"], ["a"], ["a"]], k=2, m=2)
    assert (found.found, found.holds, found.model) == (2.0, True, "(k,k^m)-anonymity")
    assert not verdict([1, 1, 1, 2, 2], [["a", "b"], ["a", "b"], ["a"], ["a"], ["a"]], k=3, m=2).holds


def test_an_item_that_two_classes_share_is_counted_in_each():
    found = verdict([1, 1, 2], [["a"], ["a"], ["a"]], k=2, m=1)
    assert (found.found, found.holds) == (1.0, False)
    assert found.note == "1 of 2 combinations of at most 1 items fail"


@pytest.mark.parametrize("seed", range(20))
def test_it_counts_as_plain_python_does(seed):
    rng = random.Random(seed)
    for _ in range(20):
        n, m, k = rng.randint(1, 12), rng.randint(1, 4), rng.randint(1, 4)
        classes = [rng.randint(0, 2) for _ in range(n)]
        sets = [[item for item in "abcde" if rng.random() < 0.5] for _ in range(n)]
        least = least_support(classes, sets, m)
        found = verdict(classes, sets, k, m)
        assert found.holds == (least is None or least >= k)
        assert found.found == (k if least is None else least)
        assert verdict(classes, [";".join(one) for one in sets], k, m, ";").found == found.found


def test_gaps_empty_sets_and_repeated_items_are_no_items():
    column = pa.chunked_array([pa.array([["a", "a", None, ""], None, []], pa.list_(pa.string()))])
    rows, items = read_items(column, "|")
    assert (rows.tolist(), items.tolist()) == ([0, 0], [0, 0])
    assert verdict([1, 1], [["a", "a"], None], k=1, m=2).found == 1
    assert verdict([1, 1], [None, []], k=9, m=2).holds


def test_numbers_may_be_items():
    assert verdict([1, 1], [[1, 2], [1, 2]], k=2, m=2).found == 2


def test_any_table_with_lists_is_judged():
    table = pa.table({"age": [1, 1, 1], "items": [["a", "b"], ["a", "b"], ["a"]]})
    assert shoal.verify(table, k=2, m=2).holds
    assert not shoal.verify(table, k=3, m=1).holds
    assert shoal.verify(table, k=3, keep=["items"]).holds


def test_the_measure_is_the_figure_of_the_judge_whatever_the_order_of_rows():
    table = pa.table({"age": [1, 1, 1, 2, 2], "items": [["a", "b"], ["a", "b"], ["a"], ["c"], ["c"]]})
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1]):
        found = shoal.measure(None, table.take(order), only=["(k,k^m)-anonymity"])
        assert [finding.value for finding in found] == [2.0]
    assert shoal.measure(None, table, policy={"constraints": {"m": 1}}, only=["(k,k^m)-anonymity"])[0].value == 2
    with pytest.raises(shoal.DataError, match=r"no figure for '\(k,k\^m\)-anonymity', which needs a column of sets"):
        shoal.measure(None, table.select(["age"]), only=["(k,k^m)-anonymity"])
    empty = pa.table({"age": [1, 1], "items": pa.array([[], []], pa.list_(pa.string()))})
    assert shoal.measure(None, empty, only=["(k,k^m)-anonymity"])[0].value == 0
