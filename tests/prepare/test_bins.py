"""Bins of about equal width or frequency, whose limits are not values of individuals."""

from bisect import bisect_right
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.prepare.bins import equal_frequency, equal_width

SALARIES = [f"{value:.2f}" for value in np.sort(np.random.default_rng(1).lognormal(10.5, 0.4, 700).round(2))]
AGES = [str(age) for age in range(18, 91)]


def limits_of(lines):
    return {Decimal(limit) for line in lines for name in line[1:-1] for limit in name.split("–")}


def narrowest(lines):
    return sorted({tuple(map(Decimal, line[1].split("–"))) for line in lines})


@pytest.mark.parametrize("make", [equal_width, equal_frequency])
def test_no_limit_is_a_value_of_few_rows(make):
    limits = limits_of(make(SALARIES, ()))
    assert len(limits) > 32
    assert limits.isdisjoint(map(Decimal, SALARIES))


@pytest.mark.parametrize("make", [equal_width, equal_frequency])
def test_the_greatest_value_is_below_a_round_limit(make):
    lines = make(["900.5", "1000.25", "1100.75", "1210.5", "1300.25", "98765.43"], ())
    assert lines[-1][-2].endswith("–100000")


@pytest.mark.parametrize("make", [equal_width, equal_frequency])
def test_an_extreme_value_of_k_rows_is_a_limit(make):
    lines = make(["18", "31", "45", "57", "64"], ("18", "64"))
    assert (lines[0][-2].split("–")[0], lines[-1][-2].split("–")[1]) == ("18", "64")


@pytest.mark.parametrize("make", [equal_width, equal_frequency])
def test_no_bin_is_empty(make):
    texts = ["1", "2", "3", "58", "60"]
    names = {name for line in make(texts, texts) for name in line[1:-1]}
    assert names
    assert all(low != high for low, high in (name.split("–") for name in names))


def test_the_least_value_zero_stays_zero():
    assert equal_width(["0", "11", "23", "36", "48"], ())[0][1:3] == ["0–10", "0–25"]


def test_cut_points_have_few_digits():
    assert [line[1] for line in equal_width(["18", "31", "44", "57", "70"], ())] == [
        "10–30",
        "30–45",
        "30–45",
        "45–60",
        "60–80",
    ]


def test_bins_of_equal_width_are_about_equally_wide_and_join_in_pairs():
    lines = equal_width(SALARIES, ())
    nominal = (Decimal(SALARIES[-1]) - Decimal(SALARIES[0])) / 64
    bins = narrowest(lines)
    assert all(nominal / 2 <= high - low <= nominal * 3 / 2 for low, high in bins[1:-1])
    assert all(high - low <= nominal * 5 / 2 for low, high in bins)
    assert len(lines[0]) == 8
    for line in lines:
        for (low, high), (below, above) in pairwise([tuple(map(Decimal, name.split("–"))) for name in line[1:-1]]):
            assert below <= low < high <= above


def test_bins_of_equal_frequency_have_about_equally_many_values():
    lines = equal_frequency(SALARIES, ())
    bins, numbers = narrowest(lines), [Decimal(text) for text in SALARIES]
    sizes = [sum(low <= number < high for number in numbers) for low, high in bins]
    assert sum(sizes) == len(SALARIES)
    assert 5 <= min(sizes)
    assert max(sizes) <= 17


@pytest.mark.parametrize("make", [equal_width, equal_frequency])
def test_whole_numbers_without_gaps_are_cut_at_multiples_of_five(make):
    limits = limits_of(make(AGES, ()))
    assert limits >= set(range(20, 90, 10))
    assert all(limit % 5 == 0 for limit in limits)


def test_whole_numbers_of_k_rows_each_are_cut_anywhere():
    limits = limits_of(equal_width(AGES, AGES[:40]))
    assert limits > {Decimal(19), Decimal(22), Decimal(24)}
    assert all(limit % 5 == 0 or str(limit) in AGES[:40] for limit in limits)


def test_values_that_are_too_close_share_a_bin():
    assert equal_width(["17", "18", "1000"], ())[0] == ["17", "0–500", "*"]
    assert equal_frequency(["16", "17", "18", "19"], ()) == [[text, "*"] for text in ("16", "17", "18", "19")]


def test_large_integers_are_distinguished():
    lines = equal_width([str(2**60 + 2 * place) for place in range(64)], ())
    assert len({line[1] for line in lines}) > 25


@given(
    st.sampled_from([equal_width, equal_frequency]),
    st.one_of(
        st.lists(st.integers(-(2**63), 2**63), min_size=1, max_size=40, unique=True),
        st.lists(st.integers(-60, 60), min_size=1, max_size=40, unique=True),
        st.lists(st.integers(-9999, 9999).map(lambda whole: whole / 100), min_size=1, max_size=40, unique=True),
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40, unique=True),
    ),
    st.data(),
)
def test_limits_of_any_numbers_are_valid(make, numbers, data):
    texts = [f"{number!r}" for number in sorted({number + 0 for number in numbers})]
    common = data.draw(st.sets(st.sampled_from(texts)))
    lines = make(texts, common)
    whole = all(Decimal(text) == int(Decimal(text)) for text in texts)
    rare = {Decimal(text) for text in texts} - {Decimal(text) for text in common}
    for limit in limits_of(lines):
        assert limit not in rare or limit == 0 or (whole and limit == limit.to_integral_value() and int(limit) % 5 == 0)
    for width in range(1, len(lines[0]) - 1):
        bins = sorted({tuple(map(Decimal, line[width].split("–"))) for line in lines})
        assert all(high <= low for (_, high), (low, _) in pairwise(bins))
        for line in lines:
            low, high = map(Decimal, line[width].split("–"))
            assert low < high
            place = bisect_right(bins, (Decimal(line[0]), Decimal("Infinity"))) - 1
            assert bins[place] == (low, high)
            assert Decimal(line[0]) < high or (Decimal(line[0]) == high and line is lines[-1])


def test_a_multiple_of_five_of_one_row_is_no_limit_if_there_is_another_number():
    texts = [str(number) for number in (7401, 7405, 7409, 7410, 7427, 7430)]
    names = {name for line in equal_frequency(texts, common=()) for name in line[1:-1]}
    assert names
    assert not {"7410"} & {limit for name in names for limit in name.split("–")}
