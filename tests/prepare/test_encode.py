"""The matrix: scales, categories, missing values, and extreme numbers."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import MOST_CATEGORIES, encode


def matrix(kinds, orders=None, **columns):
    spec = {
        name: {"role": "quasi", "kind": kind, **({"order": orders[name]} if orders and name in orders else {})}
        for name, kind in kinds.items()
    }
    return encode(Table.of(pa.table(columns)), Policy.of({"columns": spec}, k=2))


def test_numbers_become_z_scores_by_the_population_deviation():
    X = matrix({"a": "numeric"}, a=[1, 2, 3, 4]).X
    assert X.ravel() == pytest.approx([-1.341640786, -0.447213595, 0.447213595, 1.341640786])
    assert X.std() == pytest.approx(1.0, abs=1e-11)


def test_two_different_categories_have_distance_one():
    X = matrix({"a": "nominal"}, a=["x", "y", "z", "x", "y", "z"]).X
    assert np.linalg.norm(X[0] - X[1]) == pytest.approx(1.0)
    assert np.linalg.norm(X[1] - X[2]) == pytest.approx(1.0)
    assert np.linalg.norm(X[0] - X[3]) == 0


def test_booleans_are_two_categories():
    X = matrix({"a": "boolean"}, a=[True, False, True, False]).X
    assert np.linalg.norm(X[0] - X[1]) == pytest.approx(1.0)


def test_levels_are_encoded_by_their_rank():
    X = matrix({"a": "ordinal"}, {"a": ["low", "mid", "high"]}, a=["high", "low", "mid"]).X.ravel()
    assert X == pytest.approx([math.sqrt(1.5), -math.sqrt(1.5), 0])


def test_dates_are_encoded_by_days():
    days = pa.array([0, 10, 20], pa.date32())
    moments = pa.array([0, 10, 20], pa.date32()).cast(pa.timestamp("ns", tz="UTC"))
    assert matrix({"a": "date"}, a=days).X == pytest.approx(matrix({"a": "date"}, a=moments).X)


def test_a_constant_column_is_left_out_with_a_note():
    found = matrix({"a": "numeric", "b": "nominal", "c": "numeric"}, a=[7, 7, 7], b=["x"] * 3, c=[1, 2, 3])
    assert found.X.shape == (3, 1)
    assert len(found.notes) == 2


def test_all_columns_constant_gives_a_matrix_without_columns():
    assert matrix({"a": "numeric"}, a=[7.5, 7.5]).X.shape == (2, 0)


def test_a_missing_number_is_at_the_mean_with_a_column_of_its_own():
    X = matrix({"a": "numeric"}, a=pa.array([1, 3, None], pa.int64())).X
    assert X.tolist() == [[-1, 0], [1, 0], [0, 1]]


def test_not_a_number_counts_as_missing():
    X = matrix({"a": "numeric"}, a=[1.0, 3.0, float("nan")]).X
    assert X.tolist() == [[-1, 0], [1, 0], [0, 1]]


def test_a_missing_category_is_a_category():
    X = matrix({"a": "nominal"}, a=["x", None, "x"]).X
    assert np.linalg.norm(X[0] - X[1]) == pytest.approx(1.0)


def test_a_column_without_a_single_value_is_left_out():
    assert matrix({"a": "numeric"}, a=pa.array([None, None], pa.float64())).X.shape == (2, 0)


@pytest.mark.parametrize("bad", [math.inf, -math.inf])
def test_infinity_is_refused_in_a_sentence(bad):
    with pytest.raises(DataError, match=r"column 'a' has 1 infinite value.*missing_codes"):
        matrix({"a": "numeric"}, a=[1.0, bad, 2.0])


def test_a_huge_number_gives_a_finite_matrix():
    X = matrix({"a": "numeric"}, a=[1.0, 2.0, 3.0, 1e300]).X
    assert np.isfinite(X).all()
    assert X[3, 0] == pytest.approx(math.sqrt(3))


def test_the_widest_floats_give_a_finite_matrix():
    assert np.isfinite(matrix({"a": "numeric"}, a=[-1.7e308, 0.0, 1.7e308]).X).all()


def test_denormal_numbers_keep_their_distances():
    tiny = matrix({"a": "numeric"}, a=[5e-324, 1e-323, 1.5e-323]).X
    assert tiny == pytest.approx(matrix({"a": "numeric"}, a=[1, 2, 3]).X)


def test_minus_999_is_a_number_like_any_other():
    X = matrix({"a": "numeric"}, a=[-999, 1, 2, 3]).X
    assert X.shape == (4, 1)
    assert X[0, 0] < -1.7


def test_whole_numbers_beyond_53_bits_keep_their_differences():
    X = matrix({"a": "numeric"}, a=pa.array([2**62, 2**62 + 1, 2**62 + 2], pa.int64())).X
    assert X.tolist() == matrix({"a": "numeric"}, a=[0, 1, 2]).X.tolist()


def test_the_widest_whole_numbers_are_encoded():
    assert np.isfinite(matrix({"a": "numeric"}, a=pa.array([-(2**63), 0, 2**63 - 1], pa.int64())).X).all()
    assert np.isfinite(matrix({"a": "numeric"}, a=pa.array([0, 2**64 - 1], pa.uint64())).X).all()


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=30))
def test_neither_an_offset_nor_a_unit_changes_a_bit_of_the_matrix(numbers):
    plain = matrix({"a": "numeric"}, a=[float(x) for x in numbers]).X
    moved = matrix({"a": "numeric"}, a=[x + 1e12 for x in numbers]).X
    assert plain.tolist() == moved.tolist()
    small = matrix({"a": "numeric"}, a=[x * 2.0**-30 for x in numbers]).X
    assert plain.tolist() == small.tolist()


def test_rare_categories_share_a_column_beyond_the_limit():
    names = [f"n{i}" for i in range(MOST_CATEGORIES + 50)] * 2
    found = matrix({"a": "nominal"}, a=names)
    assert found.X.shape == (len(names), MOST_CATEGORIES + 1)
    assert "50 rarer categories count as one" in found.notes[0]


def test_categories_of_fewer_than_k_rows_share_a_column():
    X = matrix({"a": "nominal"}, a=["x", "x", "rare", "odd"]).X
    assert X.shape == (4, 2)
    assert np.linalg.norm(X[2] - X[3]) == 0
    found = matrix({"a": "nominal"}, a=["p", "q", "r"])
    assert found.X.shape == (3, 0)
    assert "no category has 2 rows" in found.notes[0]


def weighed(weights, **options):
    columns = {"a": {"role": "quasi", "kind": "numeric"}, "w": {"role": "identifier", "kind": "numeric"}}
    table = Table.of(pa.table({"a": list(range(len(weights))), "w": weights}))
    return encode(table, Policy.of({"columns": columns}, weight="w"))


def test_row_weights_are_returned_beside_the_matrix():
    assert weighed([1, 4, 0]).weights.tolist() == [0.25, 1.0, 0.0]
    assert weighed([1.7e308, 1.7e308]).weights.tolist() == [1.0, 1.0]
    assert matrix({"a": "numeric"}, a=[1, 2]).weights is None


@pytest.mark.parametrize("bad", [None, -1.0, math.inf, math.nan])
def test_an_invalid_weight_is_refused_without_its_value(bad):
    with pytest.raises(DataError, match=r"^encode: the weight column 'w' has 1 cell missing, negative or infinite"):
        weighed([1.0, bad, 2.0])


def test_all_zero_weights_are_ignored_with_a_note():
    found = weighed([0, 0, 0])
    assert found.weights is None
    assert "every weight is 0" in found.notes[0]


@pytest.mark.parametrize("kind", ["numeric", "nominal"])
def test_importance_multiplies_squared_distances_in_its_column_only(kind):
    spec = {"a": {"kind": kind}, "b": {"kind": "numeric"}}
    table = Table.of(pa.table({"a": [1, 2, 2, 1, None], "b": [1, 2, 3, 4, 5]}))
    plain = encode(table, Policy.of({"columns": spec}, k=2)).X
    spec["a"]["importance"] = 9
    more = encode(table, Policy.of({"columns": spec}, k=2)).X
    width = plain.shape[1] - 1
    assert more[:, :width] == pytest.approx(3 * plain[:, :width])
    assert more[:, width:].tolist() == plain[:, width:].tolist()


def test_the_table_is_not_changed():
    table = Table.of(pa.table({"a": [3.0, 1.0, 2.0]}))
    before = table.data.to_pydict()
    encode(table, Policy.of({"columns": {"a": {"role": "quasi", "kind": "numeric"}}}))
    assert table.data.to_pydict() == before
