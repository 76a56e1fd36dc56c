"""Trees built from values: every name above a value is true of it."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, PolicyError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import from_nested
from shoal.prepare.trees import WORDS, build, hierarchies


def paths(word, values):
    column = pa.array(values)
    return build(word, column.to_pylist(), column.cast(pa.string()).to_pylist(), "column 'c'").paths()


def assert_between(found):
    for value, names in found.items():
        for name in names[1:-1]:
            low, _, high = name.partition("–")
            assert Decimal(low) <= Decimal(value) <= Decimal(high or low)


def test_bins_between_round_numbers():
    found = paths("round", [18, 19, 23, 41])
    assert found["18"] == ("18", "15–19", "10–19", "*")
    assert found["41"] == ("41", "40–44", "40–49", "*")


def test_bins_of_negative_numbers():
    found = paths("round", [-12, -10, -1, 0, 3])
    assert found["-12"] == ("-12", "-15–-11", "-20–-11", "*")
    assert found["-10"] == ("-10", "-10–-6", "-10–-1", "*")
    assert found["0"] == ("0", "0–4", "0–9", "*")


def test_bins_of_tenths():
    found = paths("round", [0.1 * step for step in range(10)])
    assert found["0.30000000000000004"] == ("0.30000000000000004", "0.3–0.35", "0.3–0.4", "0–0.5", "*")
    assert found["0.7000000000000001"][1] == "0.7–0.75"
    assert_between(found)


def test_a_float_just_below_a_limit_stays_below_it():
    assert paths("round", [0.0, 0.29999999999, 1.0])["0.29999999999"][1:3] == ("0.25–0.3", "0.2–0.3")


def test_single_precision_floats_are_binned_as_published():
    found = build("round", [0.0, 0.30000001192092896, 1.0], ["0", "0.3", "1"], "it").paths()
    assert found["0.3"][1] == "0.3–0.35"


@pytest.mark.parametrize("word", ["round", "equal-width", "equal-frequency"])
@pytest.mark.parametrize(
    "numbers",
    [
        [10**18 + step for step in range(0, 700, 7)],
        [2**53, 2**53 + 1, 2**53 + 2, 2**53 + 9],
        [-1.7e308, 0.0, 1.7e308],
        [0.0, 5e-324],
        [1e-7, 2e-7, 1e-3],
        [1e300, 1.5e300, 2e300],
        [float(step) / 3 for step in range(-50, 50)],
    ],
)
def test_numbers_of_any_size_lie_in_their_bins(word, numbers):
    assert_between(paths(word, numbers))


@given(
    st.sampled_from(["round", "equal-width", "equal-frequency"]),
    st.one_of(
        st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30, unique=True),
        st.lists(st.integers(-60, 60), min_size=1, max_size=30, unique=True),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30, unique=True),
        st.lists(st.integers(-999, 999).map(lambda x: x / 100), min_size=1, max_size=30, unique=True),
    ),
)
def test_any_numbers_lie_in_their_bins(word, numbers):
    assert_between(paths(word, sorted({number + 0 for number in numbers})))


@pytest.mark.parametrize("word", ["round", "equal-width", "equal-frequency"])
def test_infinite_numbers_make_no_wrong_bin(word):
    assert_between(paths(word, [float("-inf"), 1.0, 2.0, float("inf")]))


def test_dates_are_grouped_by_month_quarter_year_and_decade():
    found = paths("calendar", [dt.date(1899, 12, 31), dt.date(2024, 2, 29)])
    assert found["1899-12-31"] == ("1899-12-31", "1899-12", "1899-Q4", "1899", "1890s", "*")
    assert found["2024-02-29"] == ("2024-02-29", "2024-02", "2024-Q1", "2024", "2020s", "*")


def test_an_early_year_has_four_digits():
    assert paths("calendar", [dt.date(987, 7, 1)])["0987-07-01"][1:] == ("0987-07", "0987-Q3", "0987", "0980s", "*")


def test_timestamps_are_grouped_by_the_month_of_their_own_time_zone():
    late = pa.array([dt.datetime(2023, 12, 31, 16)], pa.timestamp("us", tz="Asia/Tokyo"))
    assert next(iter(paths("calendar", late).values()))[1] == "2024-01"


def test_codes_by_prefix_lose_a_character_at_each_level():
    found = paths("prefix", ["I2", "I21", "J"])
    assert found == {"I21": ("I21", "I2*", "I*", "*"), "I2": ("I2", "I*", "*"), "J": ("J", "*")}
    assert paths("prefix", ["", "I21"]) == {"": ("", "*"), "I21": ("I21", "I2*", "I*", "*")}


def test_codes_by_mask_keep_their_length():
    found = paths("mask", ["13001", "13055"])
    assert found["13055"] == ("13055", "1305*", "130**", "13***", "1****", "*")


@pytest.mark.parametrize("word", ["prefix", "mask"])
def test_codes_may_contain_stars(word):
    found = paths(word, ["***", "1**", "12*", "123", "456"])
    assert found["123"] == ("123", "12*", "1*" if word == "prefix" else "1**", "*")
    assert len(found) == 5


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([18, 19, 41], ("18", "15–19", "10–19", "*")),
        ([0.5, 0.75, 2.5], ("0.5", "0.5–0.55", "0.5–0.6", "0.5–1", "0–1", "*")),
        ([dt.date(2024, 1, 2)], ("2024-01-02", "2024-01", "2024-Q1", "2024", "2020s", "*")),
        (["13001", "13055"], ("13001", "1300*", "130**", "13***", "1****", "*")),
        (["I2", "I21"], ("I2", "I*", "*")),
        (["12", "13"], ("12", "1*", "*")),
        (["north", "south", "b4"], ("north", "*")),
        ([False, True], ("false", "*")),
    ],
)
def test_auto_chooses_a_suitable_tree(values, names):
    assert next(iter(paths("auto", values).values())) == names


@pytest.mark.parametrize("word", WORDS)
def test_one_value_is_a_leaf_below_the_root(word):
    value = dt.date(2020, 5, 5) if word == "calendar" else "A12" if word in ("mask", "prefix") else 7
    [found] = paths(word, [value]).values()
    assert (found[0], found[-1]) == (str(value), "*")


@pytest.mark.parametrize("word", WORDS)
def test_without_values_there_is_only_a_root(word):
    assert build(word, [], [], "it").names == ("*",)


@pytest.mark.parametrize(
    ("word", "values", "why"),
    [
        ("round", ["secret"], "'round' is for numbers"),
        ("equal-width", [dt.date(2024, 1, 1)], "'equal-width' is for numbers"),
        ("equal-frequency", [True], "'equal-frequency' is for numbers"),
        ("calendar", [1, 2], "'calendar' is for dates"),
        ("calendar", ["secret"], "'calendar' is for dates"),
        ("mask", ["secret", "secrets"], "must have the same length. Use 'prefix'"),
    ],
)
def test_a_keyword_for_another_kind_is_refused(word, values, why):
    with pytest.raises(PolicyError, match=rf"^column 'c': .*{why}") as refused:
        paths(word, values)
    assert "secret" not in str(refused.value)
    assert "2024" not in str(refused.value)


def made(columns, files=None, **spec):
    table = Table.of(pa.table(columns))
    return hierarchies(table, Policy.of({"columns": spec}, k=2), files or {})


def test_a_tree_is_built_if_a_keyword_is_given_or_the_form_is_tree():
    found = made(
        {"a": [7, None, 41, 7], "b": ["x", "y", "x", None], "c": [1, 2, 3, 4], "s": ["p"] * 4},
        a={"hierarchy": "round", "kind": "numeric", "form": "tree"},
        b={"kind": "nominal", "form": "tree"},
        c={"kind": "numeric", "form": "range"},
        s={"role": "sensitive", "kind": "nominal"},
    )
    assert list(found) == ["a", "b"]
    assert found["a"].paths()["7"] == ("7", "5–9", "0–9", "*")
    assert found["b"].paths() == {"x": ("x", "*"), "y": ("y", "*")}


def test_a_given_tree_is_kept():
    tree = from_nested({"p": ["x", "y"]}, "it")
    found = made({"b": ["x", "y"]}, {"b": tree}, b={"hierarchy": {"p": ["x", "y"]}, "form": "tree"})
    assert found["b"] is tree


def test_values_missing_from_a_given_tree_are_refused():
    tree = from_nested({"p": ["x", "y"]}, "it")
    with pytest.raises(DataError, match="2 cells of column 'b', with 1 distinct value, cannot be found") as refused:
        made({"b": ["x", "secret", None, "secret"]}, {"b": tree}, b={"hierarchy": {"p": ["x", "y"]}, "form": "tree"})
    assert "secret" not in str(refused.value)


def test_decimals_are_numbers():
    found = made({"a": [Decimal("1.10"), Decimal("1.25"), Decimal("9.00")]}, a={"hierarchy": "auto", "form": "tree"})
    assert found["a"].paths()["1.25"][1] == "1–1.5"
    assert_between(found["a"].paths())


def test_a_column_without_values_is_only_a_root():
    assert made({"a": pa.array([None, None], pa.int64())}, a={"hierarchy": "auto", "form": "tree"})["a"].names == ("*",)


@pytest.mark.parametrize("word", ["equal-width", "equal-frequency"])
def test_limits_of_bins_are_values_of_k_rows_or_of_none(word):
    common, rare = [20, 31, 42, 53], [17, 26, 37, 48, 59, 64, 97]
    found = made({"a": [*rare, *common, *common]}, a={"hierarchy": word, "form": "tree"})["a"]
    inner = {limit for name in found.names[found.leaves :] if name != "*" for limit in name.split("–")}
    assert inner
    assert inner.isdisjoint(map(str, rare))
