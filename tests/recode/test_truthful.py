"""What is published is true of every row of a group, word by word."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.hierarchy import from_nested
from shoal.recode.table import recode

CARE = from_nested({"heart": ["I20", "I21"], "lung": ["J18", "J45"]}, "it")
TWO = [0, 0, 0, 1, 1, 1]


def published(values, labels, kind, form, order=None, tree=None):
    """Return what is published of rows that are all in the table twice, so that k = 2 rows have every value."""
    n, labels = len(labels), [*labels, *labels]
    values = pa.concat_arrays([array := values if isinstance(values, pa.Array) else pa.array(values), array])
    column = {"role": "quasi", "kind": kind, "form": form, **({"order": order} if order else {})}
    encoded = Encoded(np.zeros((len(values), 0)), trees={"a": tree} if tree else {})
    table = Table.of(pa.table({"a": values}))
    made = recode(table, Partition.of(labels), Policy.of({"columns": {"a": column}}, k=2), encoded)
    return made.data.column("a").to_pylist()[:n]


def of_one(values, kind, form, **more):
    """Return what is published of a single group."""
    [found] = set(published(values, [0] * len(values), kind, form, **more))
    return found


def test_numbers_become_the_least_and_the_greatest():
    assert published([3, 1, 2, 7, 7, 7], TWO, "numeric", "range") == ["1–3"] * 3 + ["7"] * 3
    assert of_one([10, 9, 2], "numeric", "range") == "2–10"
    assert of_one([-1, -5], "numeric", "range") == "-5–-1"
    assert of_one([0.1, 2.0], "numeric", "range") == "0.1–2"
    assert of_one(pa.array([0.1, 0.3], pa.float32()), "numeric", "range") == "0.1–0.3"
    assert of_one([Decimal("1.10"), Decimal("1.25")], "numeric", "range") == "1.10–1.25"
    assert of_one([2**62 + 1, 2**62], "numeric", "range") == "4611686018427387904–4611686018427387905"


def test_days_become_the_first_and_the_last():
    assert of_one([dt.date(2024, 3, 1), dt.date(1899, 12, 31)], "date", "range") == "1899-12-31–2024-03-01"


def test_levels_become_the_lowest_and_the_highest_by_their_order():
    order = ["low", "mid", "high"]
    assert of_one(["high", "low", "low"], "ordinal", "range", order=order) == "low–high"
    assert of_one(["mid", "mid"], "ordinal", "range", order=order) == "mid"
    assert of_one([3, 1, 2], "ordinal", "range", order=["3", "2", "1"]) == "3–1"
    assert of_one(["high", "low", "low"], "ordinal", "set", order=order) == "{low, high}"


def test_categories_become_the_set_of_those_that_occur():
    assert published(["b", "a", "b", "c", "c", "c"], TWO, "nominal", "set") == ["{a, b}"] * 3 + ["c"] * 3
    assert of_one([True, False], "boolean", "set") == "{false, true}"
    assert of_one(["", "a"], "nominal", "set") == "{, a}"


def test_values_of_a_tree_become_the_lowest_node_above_them():
    assert of_one(["I20", "I21"], "nominal", "tree", tree=CARE) == "heart"
    assert of_one(["I20", "I20"], "nominal", "tree", tree=CARE) == "I20"
    assert of_one(["I20", "J18"], "nominal", "tree", tree=CARE) == "*"
    rows = ["I20", "J45", "I21", "J18"]
    assert published(rows, [0, 1, 0, 1], "nominal", "tree", tree=CARE) == ["heart", "lung", "heart", "lung"]


FORMS = [
    ([1, 2], "numeric", "range", None, "1–2"),
    ([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], "date", "range", None, "2024-01-01–2024-01-02"),
    (["x", "y"], "ordinal", "range", ["x", "y"], "x–y"),
    (["x", "y"], "nominal", "set", None, "{x, y}"),
    ([True, False], "boolean", "set", None, "{false, true}"),
]


@pytest.mark.parametrize(("values", "kind", "form", "order", "text"), FORMS)
def test_missing_values_are_mentioned_if_there_are_any(values, kind, form, order, text):
    rows = [*values, *values, None, None, None]
    found = published(rows, [0, 0, 1, 1, 1, 2, 2], kind, form, order=order)
    assert found == [text] * 2 + [f"{text} or missing"] * 3 + [None] * 2


@pytest.mark.parametrize(("values", "kind", "form", "order", "text"), FORMS)
def test_one_value_beside_missing_ones_is_published_with_a_mention_of_them(values, kind, form, order, text):
    single = "false" if values == [True, False] else str(values[-1])
    assert published([values[-1], None, None], [0] * 3, kind, form, order=order) == [f"{single} or missing"] * 3


@pytest.mark.parametrize(("values", "kind", "form", "order", "text"), FORMS)
def test_a_column_without_a_value_stays_missing(values, kind, form, order, text):
    nothing = pa.array([None] * 3, pa.array(values).type)
    assert published(nothing, [0, 0, 0], kind, form, order=order) == [None] * 3


def test_the_root_covers_missing_values_by_itself():
    rows = ["I20", "I20", "I20", None, None, None]
    assert published(rows, [0, 0, 1, 1, 2, 2], "nominal", "tree", tree=CARE) == ["I20"] * 2 + ["*"] * 2 + [None] * 2


def test_a_root_of_another_name_is_published_under_it():
    tree = from_nested({"heart": ["I20"]}, "it")
    named = type(tree)(("I20", "heart", "anything"), tree.parent, 1)
    assert of_one(["I20", None], "nominal", "tree", tree=named) == "anything"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a, b", r"a\, b"),
        ("{c}", r"\{c\}"),
        ("back\\slash", r"back\\slash"),
        ("1–2", r"1\–2"),
        ("1-2", "1-2"),
        ("unknown or missing", r"unknown\ or missing"),
        ("or missing", "or missing"),
        (" or missing", r"\ or missing"),
    ],
)
def test_special_characters_of_a_value_are_escaped(value, text):
    assert of_one([value] * 2, "nominal", "set") == text
    assert of_one([value, value, None], "nominal", "set") == f"{text} or missing"
    assert of_one([value, "~"], "nominal", "set") == f"{{{text}, ~}}"
    assert of_one([value, "~"], "ordinal", "range", order=[value, "~"]) == f"{text}–~"


def test_two_values_that_look_like_one_are_published_as_two():
    forms = [["a", "b"], ["a, b"], ["{a", "b}"], [r"a\, b"], ["{a, b}"], ["a or missing"], ["a", None]]
    found = {of_one(form, "nominal", "set") for form in forms}
    assert len(found) == len(forms)


def test_nodes_of_a_tree_are_published_under_their_given_names():
    tree = from_nested({"0–9, few": ["1", "2"]}, "it")
    assert of_one(["1", "2"], "nominal", "tree", tree=tree) == "0–9, few"
