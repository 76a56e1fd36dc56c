"""Bandwidths: plain figures, the naive twin, scales and offsets, several peaks, and what has no fixed point."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import kde as naive
from shoal.density.bandwidth import BANDWIDTHS, WIDER, bandwidth

SHAPES = {
    "normal": lambda rng: rng.normal(size=60),
    "two peaks": lambda rng: np.concatenate([rng.normal(size=30), rng.normal(9, 2, 30)]),
    "long tail": lambda rng: rng.exponential(5, 60),
    "even": lambda rng: rng.uniform(-50, 50, 60),
}


def columns(least=3, most=40):
    """Whole numbers with many ties, not all equal."""
    cells = st.one_of(st.integers(0, 2), st.integers(-9, 9), st.integers(-1000, 1000))
    return st.lists(cells, min_size=least, max_size=most).filter(lambda x: min(x) < max(x))


def test_silverman_uses_the_smaller_measure_of_spread():
    # The standard deviation of 0..9 is the root of 8.25, and the middle half is 4.5 wide.
    assert bandwidth(np.arange(10.0)) == pytest.approx(0.9 * 8.25**0.5 * 10**-0.2)
    assert bandwidth(np.array([0.0, 4.0, 4.5, 5.0, 9.0])) == pytest.approx(0.9 * 1 / 1.34 * 5**-0.2)


def test_silverman_uses_the_standard_deviation_if_the_middle_half_is_one_value():
    x = np.array([0.0] * 15 + [1.0])
    assert bandwidth(x) == pytest.approx(0.9 * 15**0.5 / 16 * 16**-0.2)


def test_scott_uses_the_standard_deviation():
    assert bandwidth(np.array([0.0, 0.0, 2.0, 2.0]), "scott") == pytest.approx(1.06 * 4**-0.2)


@pytest.mark.parametrize("rule", ["silverman", "scott"])
@given(columns())
def test_rules_of_thumb_agree_with_the_naive_twin(rule, x):
    assert bandwidth(np.array(x, float), rule) == pytest.approx(naive.RULES[rule](x), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["lscv", "bcv"])
@pytest.mark.parametrize("shape", SHAPES)
def test_cross_validation_agrees_with_direct_sums_over_all_pairs(rule, shape):
    for seed in range(3):
        x = SHAPES[shape](np.random.default_rng(seed))
        assert bandwidth(x, rule) == pytest.approx(naive.RULES[rule](x.tolist()), rel=0.005)


@pytest.mark.parametrize("rule", ["lscv", "bcv"])
@given(columns())
def test_cross_validation_gives_at_least_a_tenth_of_the_widest_bandwidth(rule, x):
    most = 1.144 * np.std(x) * len(x) ** -0.2
    assert 0.0999 * most <= bandwidth(np.array(x, float), rule) <= 1.0001 * most


@pytest.mark.parametrize("kernel", WIDER)
def test_other_kernels_are_widened_to_smooth_equally(kernel):
    assert WIDER[kernel] == pytest.approx(naive.wider(kernel), rel=1e-12)
    x = np.arange(20.0)
    assert bandwidth(x, "scott", kernel) == WIDER[kernel] * bandwidth(x, "scott")


@pytest.mark.slow
@pytest.mark.parametrize("rule", BANDWIDTHS)
@given(columns())
def test_every_rule_gives_a_finite_width_above_0(rule, x):
    assert 0 < bandwidth(np.array(x, float), rule) < np.inf


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**-10, 2.0**40])
@pytest.mark.parametrize("rule", BANDWIDTHS)
def test_the_bandwidth_scales_with_the_column(rule, scale):
    x = np.random.default_rng(1).normal(size=200)
    assert bandwidth(scale * x, rule) == pytest.approx(scale * bandwidth(x, rule), rel=1e-3, abs=0)


@pytest.mark.parametrize("rule", BANDWIDTHS)
def test_neither_an_offset_nor_the_order_of_rows_matters(rule):
    x = np.random.default_rng(2).integers(-500, 501, 200).astype(float)
    expected = pytest.approx(bandwidth(x, rule), rel=1e-6)
    assert bandwidth(x + 1e6, rule) == expected
    assert bandwidth(np.sort(x), rule) == expected


def test_isj_is_about_as_wide_as_silverman_on_a_normal_distribution():
    x = np.random.default_rng(3).normal(size=5000)
    assert bandwidth(x, "isj") == pytest.approx(bandwidth(x), rel=0.4)


@pytest.mark.parametrize("rule", ["isj", "lscv"])
def test_isj_and_lscv_are_narrower_than_silverman_for_two_peaks(rule):
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(size=500), rng.normal(20, 1, 500)])
    one = bandwidth(x[:500])
    assert 0.5 * one < bandwidth(x, rule) < 2 * one < 0.3 * bandwidth(x)


@pytest.mark.parametrize("x", [[0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0, 5.0]])
def test_isj_equals_silverman_without_a_fixed_point(x):
    assert bandwidth(np.array(x), "isj") == bandwidth(np.array(x), "silverman")
