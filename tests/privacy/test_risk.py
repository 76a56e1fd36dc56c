"""Re-identification risk: by hand, by slow counts, and on releases that are hardly any."""

import math
from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.privacy.measures import risk as by_class
from shoal.privacy.measures import risk_by_column as by_column
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.risk import (
    band_rows,
    class_sizes,
    histogram,
    journalist,
    marketer,
    prosecutor,
    risk,
    risk_bands,
    sample_uniques,
)
from shoal.privacy.measures.risk_by_column import (
    column_contributions,
    contributions,
    distinct_rows,
    risks_without,
    without_each,
)

MEASURES = [one for module in (by_class, by_column) for one in vars(module).values() if hasattr(one, "card")]
POLICY = Policy.of({"columns": {"ill": {"kind": "nominal", "role": "sensitive"}}}, k=2)


def case_of(columns, population=None, fraction=None):
    people = None if population is None else pa.table(population)
    return Case(pa.table(columns), POLICY, population=people, fraction=fraction)


def values(findings):
    return {finding.name: finding.value for finding in findings}


# Classes of 1, 2 and 5 rows.
AGES = [1, 2, 2, 3, 3, 3, 3, 3]


def test_the_prosecutor_finds_a_row_with_a_chance_of_one_in_its_class():
    # Largest 1/1; mean 3 classes / 8 rows; above 0.2 are the rows in classes of 1 and 2: 3 of 8.
    found = values(prosecutor(case_of({"age": AGES})))
    assert found == pytest.approx(
        {"prosecutor risk": 1, "prosecutor risk, mean": 3 / 8, "prosecutor risk, % of rows above 0.2": 37.5}
    )


def test_the_journalist_counts_in_the_population():
    people = {"age": [1] * 4 + [2] * 10 + [3] * 5 + [9] * 3}
    # 1/4, 1/10, 1/5: largest 1/4, mean (1/4 + 2/10 + 5/5) / 8, above 0.2 is one row of 8.
    found = values(journalist(case_of({"age": AGES}, people)))
    assert found["journalist risk"] == 0.25
    assert found["journalist risk, mean"] == pytest.approx((1 / 4 + 2 / 10 + 1) / 8)
    assert found["journalist risk, % of rows above 0.2"] == 12.5
    assert values(marketer(case_of({"age": AGES}, people)))["marketer risk, rows"] == pytest.approx(1.45)


def test_a_class_that_the_population_lacks_is_counted_in_the_release():
    found = journalist(case_of({"age": AGES}, {"age": [2] * 4 + [3] * 5}))[0]
    assert (found.value, "1 classes are larger in the release" in found.how) == (1, True)


def test_with_a_fraction_alone_class_sizes_are_divided_by_it():
    found = journalist(case_of({"age": AGES}, fraction=0.1))
    # Classes of 10, 20 and 50 people: 1/10, mean 3 / 80, none above 0.2.
    assert [one.value for one in found] == pytest.approx([0.1, 3 / 80, 0])
    assert all("divided by the sampling fraction 0.1" in one.how for one in found)
    assert marketer(case_of({"age": AGES}, fraction=0.1))[0].value == pytest.approx(3 / 80)


def test_without_population_and_fraction_there_is_no_journalist():
    assert journalist(case_of({"age": AGES})) == ()


def test_the_marketer_names_as_many_rows_rightly_as_there_are_classes():
    assert [one.value for one in marketer(case_of({"age": AGES}))] == pytest.approx([3 / 8, 3, 1 / 8])


def test_a_fraction_beyond_one_is_refused():
    with pytest.raises(DataError, match="sampling fraction must be above 0 and at most 1; got 2"):
        journalist(case_of({"age": AGES}, fraction=2.0))


def test_a_risk_at_the_threshold_is_not_above_it():
    assert risk(np.array([5, 5])).above == 0
    assert risk(np.array([5, 4])).above == pytest.approx(4 / 9)
    assert risk(np.array([1]), np.array([1]) / 0.2).above == 0


def test_sample_uniques_are_rows_alone():
    assert sample_uniques(case_of({"age": AGES}))[0].value == 12.5


def test_class_sizes_are_counted_and_banded():
    sizes = np.array([1, 2, 3, 4, 5, 9, 10, 19, 20, 49, 50, 99, 1])
    assert band_rows(sizes).tolist() == [2, 2, 7, 14, 29, 69, 149]
    assert [part.tolist() for part in histogram(np.array([3, 1, 3]))] == [[1, 3], [1, 2]]
    found = values(class_sizes(case_of({"age": AGES})))
    assert found["class sizes"] == 3
    assert (found["class sizes, 1 row %"], found["class sizes, 2 rows %"]) == (12.5, 25)
    assert found["class sizes, 5 to 9 rows %"] == 62.5
    assert sum(found.values()) - 3 == 100


def test_rows_are_counted_by_risk():
    found = values(risk_bands(case_of({"age": AGES})))
    assert found["rows by risk"] == 1
    assert (found["rows by risk, 1"], found["rows by risk, 1/2"], found["rows by risk, 1/9 to 1/5"]) == (1, 2, 5)


# a alone makes 2 classes, b 2, both 4; c tells nothing.
TABLE = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1], "c": [7] * 5}


def test_without_a_column_the_classes_of_the_others_are_left():
    found = risks_without(case_of(TABLE))
    assert values(found) == pytest.approx(
        {"risk without a column, a": 2 / 5, "risk without a column, b": 2 / 5, "risk without a column, c": 4 / 5}
    )
    assert found[0].how == "2 of 4 classes remain"


def test_contributions_add_up_to_what_is_above_chance():
    # Of 4 classes less 1: a adds 1 if it comes before b and 2 after it, 1.5 on average; b likewise; c nothing.
    found = values(column_contributions(case_of(TABLE)))
    assert found == pytest.approx(
        {"contribution to risk, a": 0.3, "contribution to risk, b": 0.3, "contribution to risk, c": 0}
    )


def slow_contributions(rows):
    d, total = len(rows[0]), [0.0] * len(rows[0])
    orders = list(permutations(range(d)))
    for order in orders:
        for place, j in enumerate(order):
            with_j = {tuple(row[i] for i in order[: place + 1]) for row in rows}
            without = {tuple(row[i] for i in order[:place]) for row in rows}
            total[j] += len(with_j) - len(without)
    return [part / len(orders) / len(rows) for part in total]


cells = st.integers(0, 2)


@given(st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=12))
def test_exact_contributions_equal_a_slow_mean_over_all_orders(rows):
    case = case_of({f"c{j}": [row[j] for row in rows] for j in range(4)})
    assert contributions(distinct_rows(case), case.n)[0] == pytest.approx(slow_contributions(rows), abs=1e-12)
    expected = [len({row[:j] + row[j + 1 :] for row in rows}) for j in range(4)]
    assert without_each(distinct_rows(case)) == expected


def test_sampled_contributions_are_near_the_exact_ones_and_add_up(monkeypatch):
    rng = np.random.default_rng(5)
    columns = [rng.integers(0, width, 400) for width in (2, 3, 5, 8, 13, 21)]
    exact, none = contributions(columns, 400)
    monkeypatch.setattr(by_column, "EXACT", 0)
    sampled, orders = contributions(columns, 400)
    assert (none, orders) == (0, by_column.MOST_ORDERS)
    assert sampled == pytest.approx(exact, abs=0.01)
    assert sampled.sum() == pytest.approx(exact.sum())
    again = contributions(columns, 400)[0]
    assert again.tolist() == sampled.tolist()


def test_many_columns_with_many_values_are_told_apart_without_overflow():
    rng = np.random.default_rng(6)
    columns = [rng.permutation(3000).astype(np.int64) for _ in range(9)]
    # Every column alone makes 3000 classes, so whichever comes first adds all.
    value, orders = contributions(columns, 3000)
    assert value.sum() == pytest.approx(2999 / 3000)
    assert orders == by_column.MOST_ORDERS
    assert without_each(columns) == [3000] * 9


rows_of = st.lists(st.tuples(cells, cells), min_size=1, max_size=30)


@given(rows_of, st.randoms(), st.floats(0.01, 1))
def test_figures_lie_in_their_range_and_do_not_depend_on_the_order_of_rows(rows, rng, fraction):
    def found(some):
        case = case_of({"a": [a for a, _ in some], "b": [b for _, b in some]}, fraction=fraction)
        return {one.name: one.value for function in MEASURES for one in function(case)}

    before = found(rows)
    rng.shuffle(rows)
    assert found(rows) == pytest.approx(before)
    assert all(math.isfinite(value) and value >= 0 for value in before.values())
    for function in MEASURES:
        name, card = function.card.name, function.card
        for key, value in before.items():
            if key == name or (key.startswith(name) and card.high == 1 and "%" not in key and "rows" not in key):
                assert card.low <= value <= card.high
    assert before["prosecutor risk, mean"] == pytest.approx(before["journalist risk, mean"] / fraction)


def test_the_first_finding_has_the_name_of_its_card():
    case = case_of(TABLE, fraction=0.5)
    for function in MEASURES:
        first, name = function(case)[0], function.card.name
        assert first.name in (name, f"{name}, a")
        assert (first.need, function.card.need) == ("release", "release")


@pytest.mark.parametrize("columns", [{"a": pa.array([], pa.int64())}, {"ill": pa.array([], pa.string())}])
def test_an_empty_release_has_no_figures(columns):
    case = case_of(columns, columns, 0.5)
    assert all(function(case) == () for function in MEASURES)


def test_a_release_without_quasi_identifiers_is_one_class():
    case = case_of({"ill": ["x", "y"]}, fraction=0.5)
    assert prosecutor(case)[0].value == 0.5
    assert column_contributions(case) == risks_without(case) == ()


def test_a_row_alone_and_a_suppressed_release_are_fine():
    one = case_of({"a": [1]}, fraction=0.5)
    assert values(risks_without(one)) == {"risk without a column, a": 1}
    gone = case_of({"a": pa.array([None] * 4, pa.int64()), "b": pa.array([None] * 4, pa.string())}, fraction=0.5)
    for case in (one, gone):
        assert all(math.isfinite(found.value) for function in MEASURES for found in function(case))
    assert values(prosecutor(gone))["prosecutor risk"] == 0.25
