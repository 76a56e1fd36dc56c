"""Limits: no end of a range, and no category of a set, of fewer than k rows."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.recode.limits import level_ends, number_ends


def ends(values, counts, k, step=None):
    found = number_ends(values if isinstance(values, pa.Array) else pa.array(values), np.array(counts), k, step)
    return list(zip(found.low, found.high, strict=True))


def test_a_value_of_k_rows_is_a_limit():
    assert ends([3, 4, 9], [5, 6, 7], 5) == [("3", "3"), ("4", "4"), ("9", "9")]


def test_an_extreme_value_is_covered_by_a_round_number():
    assert ends([30, 31, 97], [5, 5, 1], 5)[-1] == ("31", "100")
    assert ends([1250.5, 2747.83, 98765.43], [9, 1, 1], 5)[-1] == ("1250.5", "100000")
    assert ends([dt.date(1911, 4, 7), dt.date(1960, 1, 1)], [1, 9], 5)[0] == ("1863-01-01", "1960-01-01")


def test_there_are_k_rows_between_limits():
    values = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]
    assert ends(values, [1] * 7, 3) == [("0", "4")] * 3 + [("4", "10")] * 4


def test_neighbouring_whole_numbers_have_no_limit_between_them():
    assert ends([5, 6, 7, 8], [1, 1, 1, 1], 2) == [("4", "10")] * 4


def test_limits_are_multiples_of_a_step_that_the_policy_sets():
    assert ends([11, 18, 29, 44], [1, 1, 1, 1], 2, step=5) == [("10", "20")] * 2 + [("20", "45")] * 2


def test_an_ordinary_day_is_a_limit_only_if_k_rows_have_it():
    days = [dt.date(1980, 3, day) for day in (4, 6, 9, 20, 25)]
    assert ends(days, [2] * 5, 3) == [("1980-03-01", "1980-04-01")] * 5
    assert ends(days[:1], [1], 3) == [("1980-03-01", "1980-04-01")]
    held = ends(days, [2, 2, 3, 2, 2], 3)
    assert held[0] == ("1980-03-01", "1980-03-09")
    assert held[-1] == ("1980-03-09", "1980-04-01")


def test_timestamps_have_limits_within_a_month_only_on_days_of_k_rows():
    busy = [dt.datetime(2021, 3, 4, hour, 7) for hour in range(6, 18)]
    assert ends(busy, [1] * 12, 3)[4] == ("2021-03-04 09:00:00.000000", "2021-03-04 12:00:00.000000")
    quiet = [dt.datetime(2021, 3, day, 7) for day in range(6, 18)]
    assert ends(quiet, [1] * 12, 3) == [("2021-03-01 00:00:00.000000", "2021-04-01 00:00:00.000000")] * 12


def test_a_range_that_would_leave_the_calendar_is_open():
    assert ends([dt.date(1980, 3, 4), dt.date(9999, 12, 31)], [5, 1], 3)[-1] == ("1980-03-04", "*")
    assert ends([dt.date(1, 1, 1), dt.date(1980, 3, 4)], [1, 5], 3)[0] == ("*", "1980-03-04")


def test_a_truthful_release_shows_only_round_dates(tmp_path):
    rng = np.random.default_rng(3)
    born = [dt.date(1950, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(0, 400, 120)]
    table = pa.table({"born": [*born[:-1], dt.date(9999, 12, 31)], "age": rng.integers(20, 30, 120)})
    release = shoal.anonymize(table, k=4, output="truthful", seed=1)
    counts = {day.isoformat(): born.count(day) for day in born}
    for cell in set(release.aligned()["born"].to_pylist()):
        for limit in cell.split("–"):
            assert limit == "*" or limit.endswith("-01") or counts.get(limit, 0) >= 4
    release.save(tmp_path / "out", report=False)
    assert shoal.verify(tmp_path / "out").holds


def test_rare_levels_are_not_limits():
    found = level_ends(["none", "low", "mid", "high"], np.array([1, 5, 0, 2]), 3)
    assert found.low == ["*", "low", "low", "low"]
    assert found.high == ["low", "low", "*", "*"]


kinds = st.sampled_from(["whole", "float", "day"])


@settings(max_examples=200)
@given(st.lists(st.integers(-300, 300), min_size=1, max_size=60), st.integers(2, 6), kinds)
def test_ranges_cover_their_values_and_show_none_of_few_rows(numbers, k, kind):
    made = {"whole": int, "float": lambda x: x / 8, "day": lambda x: dt.date(2000, 1, 1) + dt.timedelta(x)}[kind]
    values, counts = np.unique(numbers, return_counts=True)
    cells = [made(int(value)) for value in values]
    read = {"whole": int, "float": float, "day": dt.date.fromisoformat}[kind]
    few = {cell for cell, count in zip(cells, counts, strict=True) if count < k}
    for cell, (low, high) in zip(cells, ends(cells, counts, k), strict=True):
        assert read(low) <= cell <= read(high)
        assert not {read(low), read(high)} & few


@pytest.mark.parametrize("hierarchies", [None, {"town": "mask"}])
def test_a_truthful_release_shows_no_value_of_one_person(hierarchies):
    rng = np.random.default_rng(5)
    n = 200
    jobs = [*rng.choice(["clerk", "nurse", "smith"], n - 1), "JOBCANARY"]
    pay = [*np.round(rng.lognormal(8, 0.5, n - 1), 2), 98765.43]
    table = pa.table({"job": jobs, "pay": pay, "town": rng.choice(["12345", "12399", "54321"], n)})
    release = shoal.anonymize(table, k=5, output="truthful", hierarchies=hierarchies, seed=2)
    text = str(release.aligned().to_pydict())
    assert "JOBCANARY" not in text
    assert "98765.43" not in text
    assert f"{min(pay)}" not in text
    assert "*" in text


def test_other_categories_cover_at_least_k_rows():
    table = pa.table({"job": ["a"] * 8 + ["b"] * 5 + ["c"], "age": [30, 31] * 7})
    release = shoal.anonymize(table, k=5, output="truthful", seed=0)
    cells = set(release.aligned()["job"].to_pylist())
    assert not any("c" in cell or "b" in cell for cell in cells)  # b joins c, which one row alone holds


def test_limits_of_single_precision_and_wide_numbers_are_nobodys_values():
    single = pa.array(np.float32(1) + np.arange(8, dtype=np.float32) * np.float32(1.2e-7))
    held = set(single.cast(pa.string()).to_pylist())
    assert not {end for pair in ends(single, [1] * 8, 2) for end in pair} & held
    wide = [1, 2**60, 2**60 + 5, 2**60 + 9, 2**61 - 2, 2**61 - 1]
    assert not {int(end) for pair in ends(wide, [1] * 6, 2) for end in pair} & set(wide)
