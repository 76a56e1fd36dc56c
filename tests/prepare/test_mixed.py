"""Columns of codes: each kind with its algebra, its missing values and its weight."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from callable_loops import add, loss
from shoal.errors import DataError
from shoal.kernels.columns import RANGE, SET, TREE, hulls_of
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import from_lines, from_nested
from shoal.prepare.mixed import MOST_CATEGORIES, mixed_columns


def mixed(columns, trees=None, **spec):
    return mixed_columns(Table.of(pa.table(columns)), Policy.of({"columns": spec}, k=2), trees or {})


def of(values, kind, tree=None, **more):
    """Return the columns of one column."""
    return mixed({"a": values}, {"a": tree} if tree else {}, a={"kind": kind, **more})[0]


def codes(columns):
    return columns.codes[:, 0].tolist()


def lost(columns, *rows):
    """Return what a group of these rows loses."""
    hulls = hulls_of(columns, 1)
    for row in rows:
        add(columns, hulls, 0, row)
    return loss(columns, hulls, 0)


CARE = from_nested({"heart": ["I20", "I21"], "lung": ["J18", "J45"]}, "it")


def test_each_kind_has_its_algebra():
    found, notes = mixed(
        {
            "n": [1, 2],
            "o": ["lo", "hi"],
            "c": ["x", "y"],
            "b": [True, False],
            "d": [dt.date(2024, 1, 1)] * 2,
            "t": ["I20", "J18"],
        },
        {"t": CARE},
        n={"kind": "numeric"},
        o={"kind": "ordinal", "order": ["lo", "hi"]},
        c={"kind": "nominal"},
        b={"kind": "boolean"},
        d={"kind": "date"},
        t={"kind": "nominal"},
    )
    assert found.kind.tolist() == [RANGE, RANGE, SET, SET, RANGE, TREE]
    assert found.codes.tolist() == [[0, 0, 0, 1, 0, 0], [1, 1, 1, 0, 0, 2]]
    assert notes == ()


def test_only_quasi_identifiers_are_columns():
    found, _ = mixed({"a": [1, 2], "s": ["x", "y"]}, a={"kind": "numeric"}, s={"role": "sensitive", "kind": "nominal"})
    assert found.codes.shape == (2, 1)


def test_numbers_are_positions_among_their_values():
    columns = of([30, 10, 20, 10], "numeric")
    assert codes(columns) == [2, 0, 1, 0]
    assert lost(columns, 1, 2) == pytest.approx(0.5)
    assert lost(columns, 0, 1) == pytest.approx(1.0)
    assert lost(columns, 1, 3) == 0


def test_a_missing_number_counts_as_one_value():
    columns = of([30, 10, None, 20], "numeric")
    assert codes(columns) == [2, 0, 3, 1]
    assert lost(columns, 0, 2) == pytest.approx(1 / 4)
    assert lost(columns, 0, 1, 2) == pytest.approx(1.0)
    assert lost(columns, 2) == 0


def test_levels_are_positions_in_their_order_whether_they_occur_or_not():
    columns = of(["high", "low", None, "high"], "ordinal", order=["low", "mid", "high"])
    assert codes(columns) == [2, 0, 3, 2]
    assert columns.width.tolist() == [3]


def test_categories_are_numbered_alphabetically_and_missing_is_a_category():
    columns = of(["b", None, "a", "c"], "nominal")
    assert codes(columns) == [1, 3, 0, 2]
    assert columns.width.tolist() == [4]
    assert lost(columns, 0, 1) == pytest.approx(1 / 3)


def test_booleans_are_categories():
    assert codes(of([True, False, None], "boolean")) == [1, 0, 2]


def test_leaves_are_numbered_as_in_the_tree():
    columns = of(["J45", "I20", "I21", "I20"], "nominal", CARE)
    assert codes(columns) == [3, 0, 1, 0]
    assert lost(columns, 1, 2) == pytest.approx(1 / 3)
    assert lost(columns, 0, 1) == pytest.approx(1.0)
    assert columns.levels(0).tolist() == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]


def test_a_missing_value_is_a_leaf_below_the_root():
    columns = of(["J45", None, "I20", "I21"], "nominal", CARE)
    assert codes(columns) == [3, 4, 0, 1]
    assert lost(columns, 2, 3) == pytest.approx(1 / 4)
    assert lost(columns, 0, 1) == pytest.approx(1.0)
    assert lost(columns, 1) == 0
    assert columns.levels(0).tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 0]]


def test_the_root_of_a_tree_loses_all_with_and_without_a_missing_value_below_it():
    columns = of(["J45", None, "I20", "I21"], "nominal", CARE)
    assert lost(columns, 0, 2) == lost(columns, 0, 1, 2) == pytest.approx(1.0)


def test_a_tree_of_one_value_allows_missing_values():
    for lines in ([["x"]], [["x", "*"]]):
        columns = of(["x", None, "x"], "nominal", from_lines(lines, "it"))
        assert codes(columns) == [0, 1, 0]
        assert lost(columns, 0, 1) == pytest.approx(1.0)
        assert columns.levels(0).tolist() == [[0, 1], [0, 0]]


def test_a_tree_of_numbers_is_found_by_their_text():
    tree = from_nested({"few": [1, 2], "many": [10]}, "it")
    assert codes(of([10, 1, 2], "numeric", tree)) == [2, 0, 1]


def test_values_without_a_position_are_counted_but_not_shown():
    with pytest.raises(DataError) as refused:
        of(["I20", "secret", None, "secret", "hidden"], "nominal", CARE)
    message = str(refused.value)
    assert "3 cells of column 'a', with 2 distinct values, cannot be found in its hierarchy" in message
    assert "secret" not in message
    assert "hidden" not in message


def test_importance_is_the_share_of_a_column():
    found, _ = mixed(
        {"a": [1, 2], "b": ["x", "y"], "c": ["x", "x"]},
        a={"kind": "numeric", "importance": 6.0},
        b={"kind": "nominal"},
        c={"kind": "nominal", "importance": 1.0},
    )
    assert lost(found, 0, 1) == pytest.approx(7 / 8)


@pytest.mark.parametrize("gap", [[], [None]])
def test_more_than_a_thousand_categories_are_a_range_with_a_note(gap):
    names = [f"n{number:04d}" for number in range(MOST_CATEGORIES + 1)]
    found, notes = mixed({"a": [*names, *gap]}, a={"kind": "nominal"})
    assert found.kind.tolist() == [RANGE]
    assert codes(found) == list(range(MOST_CATEGORIES + 1 + len(gap)))
    assert notes == ("column 'a': more than 1,000 categories, which are treated as alphabetical ranges",)
    found, notes = mixed({"a": [*names[1:], *gap]}, a={"kind": "nominal"})
    assert (found.kind.tolist(), notes) == ([SET], ())


@pytest.mark.parametrize("kind", ["numeric", "ordinal", "nominal", "boolean", "date"])
def test_a_column_without_a_value_loses_nothing(kind):
    held = {"numeric": pa.float64(), "boolean": pa.bool_(), "date": pa.date32()}.get(kind, pa.string())
    columns = of(pa.array([None] * 3, held), kind, **({"order": ["x", "y"]} if kind == "ordinal" else {}))
    assert len(set(codes(columns))) == 1
    assert lost(columns, 0, 1, 2) == 0


def test_a_tree_without_a_value_loses_nothing():
    columns = of(pa.array([None] * 3, pa.string()), "nominal", CARE)
    assert codes(columns) == [4, 4, 4]
    assert lost(columns, 0, 1, 2) == 0


def test_one_category_loses_nothing():
    assert lost(of(["x"] * 3, "nominal"), 0, 1, 2) == 0
    assert lost(of([7] * 3, "numeric"), 0, 1, 2) == 0


def test_decimals_keep_their_positions():
    columns = of([Decimal("1.10"), Decimal("1.20"), None, Decimal("1.60")], "numeric")
    assert codes(columns) == [0, 1, 3, 2]
    assert lost(columns, 0, 1) == pytest.approx(0.2 * 3 / 4)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_timestamps_keep_their_positions(unit, zone):
    moments = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 4), None, dt.datetime(2023, 12, 31)]
    columns = of(pa.array(moments, pa.timestamp(unit, tz=zone)), "date")
    assert codes(columns) == [1, 2, 3, 0]
    assert lost(columns, 0, 3) == pytest.approx(3 / 4 / 4)


def test_integers_beyond_53_bits_stay_distinct():
    assert codes(of(pa.array([2**62 + 2, 2**62, 2**62 + 1], pa.int64()), "numeric")) == [2, 0, 1]


def test_infinity_is_refused_in_a_sentence():
    with pytest.raises(DataError, match="column 'a' has 1 infinite value"):
        of([1.0, float("inf")], "numeric")


def test_no_column_at_all_gives_no_codes():
    found, notes = mixed({"s": ["x"]}, s={"role": "keep", "kind": "nominal"})
    assert (found.kind.size, notes) == (0, ())
    assert isinstance(found.codes, np.ndarray)
