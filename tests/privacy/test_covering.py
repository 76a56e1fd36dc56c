"""Covering: what recode publishes is true of every row, and any damage to it is counted."""

import datetime as dt
import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.hierarchy import from_nested
from shoal.privacy.measures.covering import uncovered
from shoal.recode.table import recode

CARE = from_nested({"heart": ["I20", "I21"], "lung": ["J18", "J45"]}, "it")
ABOVE = CARE.paths()
ODD = ["a", "b", "a, b", "{a", "b}", "{a, b}", "\\", "\\,", "–", "a–b", "", " or missing", "a or missing", "a\\"]


def wrong(values, texts, form, order=None, above=None):
    return uncovered(pa.chunked_array([values]), pa.chunked_array([pa.array(texts, pa.string())]), form, order, above)


def published(values, labels, kind, form, order=None, tree=None):
    column = {"role": "quasi", "kind": kind, "form": form, **({"order": order} if order else {})}
    encoded = Encoded(np.zeros((len(values), 0)), trees={"a": tree} if tree else {})
    table = Table.of(pa.table({"a": values}))
    made = recode(table, Partition.of(labels), Policy.of({"columns": {"a": column}}, k=2), encoded)
    return table.column("a"), made.data.column("a")


KINDS = {
    "whole numbers": (st.integers(-(2**63), 2**63 - 1), pa.int64(), "numeric", "range", None, None),
    "small numbers": (st.integers(-12, 12), pa.int8(), "numeric", "range", None, None),
    "floats": (st.floats(allow_nan=False, allow_infinity=False), pa.float64(), "numeric", "range", None, None),
    "single floats": (st.floats(-99, 99, width=32), pa.float32(), "numeric", "range", None, None),
    "decimals": (st.decimals(-99, 99, places=2), pa.decimal128(6, 2), "numeric", "range", None, None),
    "days": (st.dates(), pa.date32(), "date", "range", None, None),
    "moments": (st.datetimes(dt.datetime(1700, 1, 1)), pa.timestamp("us"), "date", "range", None, None),
    "levels": (st.sampled_from(ODD), pa.string(), "ordinal", "range", ODD[::-1], None),
    "names": (st.sampled_from(ODD), pa.string(), "nominal", "set", None, None),
    "any text": (st.text(max_size=4), pa.string(), "nominal", "set", None, None),
    "truth values": (st.booleans(), pa.bool_(), "boolean", "set", None, None),
    "a tree": (st.sampled_from(CARE.names[:4]), pa.string(), "nominal", "tree", None, CARE),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60)
@given(data=st.data())
def test_what_recode_publishes_is_true_of_every_row(kind, data):
    cells, held, what, form, order, tree = KINDS[kind]
    rows = data.draw(st.lists(st.tuples(st.one_of(st.none(), cells), st.integers(0, 3)), min_size=1, max_size=20))
    values = pa.array([cell for cell, _ in rows], held)
    original, released = published(values, [group for _, group in rows], what, form, order, tree)
    assert uncovered(original, released, form, order, tree.paths() if tree else None) == 0


@pytest.mark.parametrize(
    ("values", "texts", "form", "count"),
    [
        ([31, 38, 52], ["30–39"] * 3, "range", 1),
        ([31, 38, 52], ["30", "38", "52"], "range", 1),
        ([31, None, 52], ["30–60"] * 3, "range", 1),
        ([31, 38, 52], ["30–60", None, None], "range", 2),
        ([31, 31, 31], ["39–30", "", "x–y"], "range", 3),
        ([5, 5], ["1–3–9", "1–9"], "range", 1),
        (["x", "y", "z"], ["{x, y}"] * 3, "set", 1),
        (["x", "y", None], ["x", "x", "x"], "set", 2),
        (["x", "x"], ["{}", None], "set", 2),
        ([None, None], ["{x, y} or missing", None], "set", 0),
    ],
)
def test_what_is_not_true_is_counted(values, texts, form, count):
    assert wrong(pa.array(values), texts, form) == count


def test_numbers_are_compared_as_numbers():
    assert wrong([9, 2, 10, 11, 1], ["2–10"] * 5, "range") == 2
    assert wrong([-3, -1, -6, 1], ["-5–-1"] * 4, "range") == 2
    assert wrong([1e300, 1e-7, 2.5], ["1e-7–1e+300"] * 3, "range") == 0
    assert wrong([2**62 + 1], [f"{2**62}–{2**62}"], "range") == 1


def test_days_are_compared_as_days():
    days = [dt.date(1899, 12, 31), dt.date(2024, 1, 9), dt.date(2024, 1, 11)]
    assert wrong(days, ["1899-12-31–2024-01-10"] * 3, "range") == 1


def test_moments_are_compared_as_moments_where_clocks_are_set_back():
    utc = pa.array([dt.datetime(2024, 10, 27, 0, 30), dt.datetime(2024, 10, 27, 1, 10)], pa.timestamp("us"))
    moments = pc.assume_timezone(utc, "UTC").cast(pa.timestamp("us", tz="Europe/Berlin"))
    original, released = published(moments, [0, 0], "date", "range")
    assert uncovered(original, released, "range") == 0
    assert uncovered(original, released.slice(0, 1).take([0, 0]), "range") == 0
    first = moments.cast(pa.string())[0].as_py()
    assert wrong(moments, [first, first], "range") == 1


def test_levels_are_compared_by_their_order():
    order = ["low", "mid", "high"]
    assert wrong(["low", "mid", "high"], ["low–mid"] * 3, "range", order) == 1
    assert wrong(["mid", "mid", "mid"], ["high–low", "low", "no level"], "range", order) == 3
    assert wrong([2, 10, 1], ["2–10"] * 3, "range", ["10", "2", "1"]) == 3
    assert wrong([2, 10, 1], ["10–2"] * 3, "range", ["10", "2", "1"]) == 1


def test_a_sign_after_a_backslash_is_part_of_the_value():
    assert wrong(["a, b", "a", "b"], [r"{a\, b, c}"] * 3, "set") == 2
    assert wrong(["{c}", "c"], [r"\{c\}"] * 2, "set") == 1
    assert wrong(["\\", "\\\\"], [r"{\\, x}"] * 2, "set") == 1
    assert wrong(["a–b", "a", "b"], [r"a\–b"] * 3, "range", ["a", "a–b", "b"]) == 2


def test_or_missing_after_a_backslash_is_part_of_the_value():
    assert wrong(["x or missing", "x", None], [r"x\ or missing"] * 3, "set") == 2
    assert wrong(["x or missing", "x", None], ["x or missing"] * 3, "set") == 1
    assert wrong(["x\\", None], [r"x\\ or missing"] * 2, "set") == 0


def test_nodes_of_a_tree_are_true_of_what_is_below_them():
    values = ["I20", "I21", "J18", None]
    assert wrong(values, ["heart"] * 4, "tree", above=ABOVE) == 2
    assert wrong(values, ["*"] * 4, "tree", above=ABOVE) == 0
    assert wrong(values, values, "tree", above=ABOVE) == 0
    assert wrong(values, [None] * 4, "tree", above=ABOVE) == 3
    assert wrong(values, ["heart or missing"] * 4, "tree", above=ABOVE) == 4
    assert wrong(["stranger", "stranger"], ["*", "stranger"], "tree", above=ABOVE) == 1


def test_a_tree_of_one_value_covers_missing_ones_by_its_root():
    assert wrong(["x", None], ["*", "*"], "tree", above={"x": ("x", "*")}) == 0
    assert wrong([None], ["x"], "tree", above={"x": ("x", "*")}) == 1


def test_rows_of_other_groups_are_counted_one_by_one():
    rng = random.Random(3)
    for _ in range(30):
        rows = [rng.choice([*ODD, None]) for _ in range(12)]
        labels = [rng.randrange(4) for _ in rows]
        twice = pa.array([*rows, *rows], pa.string())  # k = 2 rows hold every value, so that all are given by name
        released = published(twice, [*labels, *labels], "nominal", "set")[1].slice(0, 12)
        others = [*rows[1:], rows[0]]
        mates = [{row for row, group in zip(rows, labels, strict=True) if group == label} for label in labels]
        strange = sum(other not in group for other, group in zip(others, mates, strict=True))
        assert wrong(pa.array(others, pa.string()), released.to_pylist(), "set") == strange


def test_nothing_is_uncovered_in_no_rows():
    assert wrong(pa.array([], pa.int64()), [], "range") == 0
