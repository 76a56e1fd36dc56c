"""k-map, delta-presence and population uniques: by hand, by a slow count, and by drawing samples."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.population import (
    delta_presence,
    k_map,
    population_sizes,
    population_uniques,
    presence,
    unique_in_population,
)

POLICY = Policy.of({"columns": {"age": {"kind": "numeric"}, "sex": {"kind": "nominal"}}}, k=2)


def case_of(released, population=None, fraction=None):
    given_rows = None if population is None else pa.table(population)
    return Case(pa.table(released), POLICY, population=given_rows, fraction=fraction)


RELEASED = {"age": [1, 1, 2, 2, 2], "sex": ["f", "f", "m", "m", "m"]}
# (1, f) is there 4 times, (2, m) 6 times, and (1, m) in two rows that no class of the release has.
PEOPLE = {"age": [1] * 4 + [2] * 6 + [1] * 2, "sex": ["f"] * 4 + ["m"] * 8}


def values(findings):
    return {finding.name: finding.value for finding in findings}


def test_classes_are_counted_in_the_population():
    assert k_map(case_of(RELEASED, PEOPLE))[0].value == 4
    found = values(delta_presence(case_of(RELEASED, PEOPLE)))
    # 2 of 4, and 3 of 6; two of twelve people are in no class.
    assert found["delta-presence"] == found["delta-presence, least"] == 0.5
    assert found["delta-presence, population outside %"] == pytest.approx(100 * 2 / 12)


def test_the_plain_functions_give_the_figures_by_hand():
    sizes, counts = np.array([2, 3, 1]), np.array([8, 4, 0])
    assert counts.min() == 0
    # 2/8 and 3/4; the third class is not in the population, and counts as wholly released.
    assert presence(sizes, counts).tolist() == [0.25, 0.75, 1.0]


def test_a_class_that_the_population_lacks_is_said():
    case = case_of(RELEASED, {"age": [1, 1, 1], "sex": ["f"] * 3})
    assert k_map(case)[0].value == 0
    assert "1 of them have fewer rows" in k_map(case)[0].how
    assert delta_presence(case)[0].value == 1


@pytest.mark.parametrize(
    "ages",
    [
        pa.array([1.0] * 4 + [2.0] * 6),
        pa.array([1] * 4 + [2] * 6, pa.int8()),
        pa.array(["1"] * 4 + ["2"] * 6),
        pa.array(["1"] * 4 + ["2"] * 6).dictionary_encode(),
    ],
    ids=["floats", "small", "text", "categories"],
)
def test_cells_are_compared_by_value_whatever_their_type(ages):
    assert k_map(case_of(RELEASED, {"sex": ["f"] * 4 + ["m"] * 6, "age": ages}))[0].value == 4


def test_a_missing_cell_is_a_value_of_its_own():
    released = {"age": pa.array([None, None, 1], pa.int64()), "sex": ["f"] * 3}
    people = {"age": pa.array([None, None, None, 1, 1, 7], pa.int64()), "sex": ["f"] * 6}
    case = case_of(released, people)
    assert sorted(population_sizes(case.released, case.population, ["age", "sex"], case.labels).tolist()) == [2, 3]


def test_columns_that_the_population_lacks_are_named():
    with pytest.raises(DataError, match="it lacks 'age'"):
        k_map(case_of(RELEASED, {"sex": ["f"]}))


def test_types_that_cannot_be_compared_are_an_error_without_cells():
    with pytest.raises(DataError, match="column 'age' contains lists there and int64 in the release") as caught:
        k_map(case_of(RELEASED, {"age": [[4711]], "sex": ["f"]}))
    assert "4711" not in str(caught.value)


def test_without_a_population_or_rows_there_is_no_finding():
    empty = {"age": pa.array([], pa.int64()), "sex": pa.array([], pa.string())}
    for case in (case_of(RELEASED), case_of(empty, PEOPLE, 0.5)):
        assert k_map(case) == delta_presence(case) == population_uniques(case) == ()


def test_an_empty_population_is_fine():
    case = case_of(RELEASED, {"age": pa.array([], pa.int64()), "sex": pa.array([], pa.string())})
    assert k_map(case)[0].value == 0
    assert values(delta_presence(case))["delta-presence, population outside %"] == 100


small = st.tuples(st.integers(0, 2), st.sampled_from("fm"))


@given(st.lists(small, min_size=1, max_size=20), st.lists(small, max_size=20), st.randoms())
def test_figures_equal_a_slow_count_and_do_not_depend_on_the_order_of_rows(rows, others, rng):
    people = [*rows, *others]
    mine, theirs = Counter(rows), Counter(people)
    for _ in range(2):
        case = case_of(*({"age": [a for a, _ in r], "sex": [s for _, s in r]} for r in (rows, people)))
        assert k_map(case)[0].value == min(theirs[one] for one in mine)
        found = delta_presence(case)
        assert found[0].value == pytest.approx(max(mine[one] / theirs[one] for one in mine))
        assert found[1].value == pytest.approx(min(mine[one] / theirs[one] for one in mine))
        assert 0 < found[1].value <= found[0].value <= 1
        rng.shuffle(rows)
        rng.shuffle(people)


def test_the_estimate_of_population_uniques_is_the_one_worked_out_by_hand():
    # n = 8, 4 classes, 2 rows alone. With x = 1 and a = 1: 8 (1 + 1)^-2 = 2 alone, and
    # 8 (1 - (1 + 1)^-1) / (1 * 1) = 4 classes. With f = 1/3: (1 + 3)^-2 = 1/16.
    found = unique_in_population(np.array([1, 1, 3, 3]), 1 / 3)
    assert found.share == pytest.approx(1 / 16)
    assert found.shape == pytest.approx(1)


def test_classes_more_even_than_chance_have_the_limit_of_equal_classes():
    # n = 5, 1 alone, 3 classes: a gamma has at most (1 - 1/5) / ln 5 = 0.497 classes a row, and 3/5 are found.
    found = unique_in_population(np.array([1, 2, 2]), 0.5)
    assert (found.share, found.shape) == (pytest.approx(0.2**2), np.inf)


def test_a_population_drawn_from_the_model_is_estimated_well():
    rng = np.random.default_rng(3)
    shape, scale, cells, fraction = 0.5, 20.0, 20_000, 0.1
    population = rng.poisson(rng.gamma(shape, scale, cells))
    sample = rng.binomial(population, fraction)
    found = unique_in_population(sample[sample > 0], fraction)
    true = (population == 1).sum() / population.sum()
    assert found.share == pytest.approx(true, rel=0.1)
    assert found.shape == pytest.approx(shape, abs=0.1)


def test_no_uniques_all_uniques_and_a_whole_population_are_said():
    def found(ages, fraction):
        return population_uniques(case_of({"age": ages, "sex": ["f"] * len(ages)}, fraction=fraction))

    none, every, whole = found([1, 1], 0.1), found([1, 2], 0.1), found([1, 2, 2, 2], 1.0)
    assert [one.value for one in none] == [0, 0]
    assert "no row is unique" in none[0].how
    assert [one.value for one in every] == [100, 100]
    assert "upper bound" in every[0].how
    assert [one.value for one in whole] == pytest.approx([25, 100])
    assert "whole population" in whole[0].how
    some = found([1, 2, 3, 3, 3, 4, 4, 4], 1 / 3)
    assert [one.value for one in some] == pytest.approx([100 / 16, 25])
    assert "Bethlehem" in some[0].how
    even = found([1, 2, 2, 3, 3], 0.5)
    assert [one.value for one in even] == pytest.approx([4, 20])
    assert "equal size" in even[0].how


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.floats(0.001, 1))
def test_population_uniques_lie_between_none_and_the_sample_uniques(sizes, fraction):
    sizes = np.array(sizes)
    alone = (sizes == 1).sum() / sizes.sum()
    share = unique_in_population(sizes, fraction).share
    assert 0 <= share <= alone + 1e-9
    assert unique_in_population(sizes, 1.0).share == pytest.approx(alone)
    assert unique_in_population(np.sort(sizes), fraction).share == share


@pytest.mark.parametrize("fraction", [0.0, -1.0, 1.5, float("nan")])
def test_an_invalid_fraction_is_refused(fraction):
    with pytest.raises(DataError, match="sampling fraction"):
        population_uniques(case_of(RELEASED, fraction=fraction))
