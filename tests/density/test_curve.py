"""Curves: the density against direct sums, cuts and peaks against the naive twin, and columns that are hard to code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import kde as naive
from shoal.density.bandwidth import BANDWIDTHS
from shoal.density.curve import KERNELS, Curve, _joined, curve, density

MOST = 1 << 17
kernels, rules = st.sampled_from(KERNELS), st.sampled_from(sorted(BANDWIDTHS))


def columns(least=1, most=30):
    """Whole numbers with many ties."""
    cells = st.one_of(st.integers(0, 3), st.integers(-9, 9), st.integers(-1000, 1000))
    return st.lists(cells, min_size=least, max_size=most).map(lambda x: np.array(x, np.float64))


def assert_same_density(x, h, kernel):
    places, heights = density(x, h, kernel)
    ref_places, ref_heights = naive.density(x.tolist(), h, kernel)
    assert np.allclose(places, ref_places, rtol=1e-12, atol=1e-12 * float(np.abs(x).max() + h))
    assert np.allclose(heights, ref_heights, rtol=1e-6, atol=2e-10 * max(ref_heights))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@given(columns(most=8), st.sampled_from([0.25, 0.3, 1.0, 2.5, 40.0]))
def test_the_density_is_the_sum_of_kernels_over_all_bins(kernel, x, share):
    assert_same_density(x, share * (np.ptp(x) / 10 or 1.0), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_bandwidth_too_narrow_for_the_bins_is_summed_directly(kernel):
    x = np.array([0.0, 1.0, 1.25, 1.25, 3.0, 1e4])
    for h in (0.15, 0.07, 0.001):  # two bins and one bin wide, and far less than one
        assert density(x, h, kernel)[0].size == MOST
        assert_same_density(x, h, kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_wide_kernels_give_the_density_of_unbinned_rows(kernel):
    x = np.array([0.0, 1.0, 1.0, 2.5, 7.0])
    places, heights = density(x, 2.0, kernel)
    ref = np.array([naive.at(x.tolist(), 2.0, kernel, place) for place in places.tolist()])
    # A uniform kernel jumps, and its jumps are spread over a bin or two.
    near = np.abs(heights - ref) < 2e-3 * ref.max()
    assert near.all() if kernel != "uniform" else near.mean() > 0.97


@given(columns(), kernels, st.sampled_from([0.01, 0.2, 1.0, 30.0]))
def test_a_density_is_never_negative_and_integrates_to_1(x, kernel, h):
    places, heights = density(x, h, kernel)
    assert (heights >= 0).all()
    assert heights.sum() * (places[1] - places[0]) == pytest.approx(1, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@given(columns(most=10), st.sampled_from([0.5, 1.0, 2.0]))
def test_cuts_and_peaks_agree_with_the_naive_twin(kernel, x, width):
    comp = curve(x, kernel, width=width, least=0)
    cuts, peaks = naive.curve(x.tolist(), kernel, width=width, least=0)
    assert (comp.cuts.size, comp.peaks.size) == (len(cuts), len(peaks))
    # Where a Gaussian is almost flat, the stretch may end some bins earlier or later.
    step = comp.places[1] - comp.places[0] if comp.width else 0.0
    slack = max(1.01 * step, 0.5 * comp.width * (kernel == "gaussian"))
    assert np.abs(comp.cuts - cuts).max(initial=0) <= slack
    assert np.abs(comp.peaks - peaks).max() <= 1.01 * step
    clear = np.abs(x[:, None] - comp.cuts).min(axis=1, initial=np.inf) > 2 * slack
    assert comp.parts(x[clear]).tolist() == [naive.part(value, cuts) for value in x[clear]]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=15, unique=True), st.randoms(), st.integers(0, 6))
def test_small_parts_are_joined_as_by_the_naive_twin(places, rng, least):
    places = sorted(float(place) for place in places)
    places = places if len(places) % 2 else places[:-1] or [3.0]
    cuts, peaks = ([[place, float(rng.randint(0, 3))] for place in places[start::2]] for start in (1, 0))
    x = [float(rng.randint(-2, 22)) for _ in range(12)]
    given = Curve(np.empty(0), np.empty(0), *(np.array([place for place, _ in found]) for found in (cuts, peaks)), 1.0)
    comp = _joined(given, np.array(x), *(np.array([height for _, height in found]) for found in (cuts, peaks)), least)
    assert (comp.cuts.tolist(), comp.peaks.tolist()) == naive.joined(x, cuts, peaks, least)


@given(columns(), kernels, rules, st.sampled_from([0.01, 0.1, 0.5, 1.0, 3.0]))
def test_there_are_no_more_peaks_than_different_values(x, kernel, rule, width):
    found = curve(x, kernel, rule, width)
    assert 1 <= found.peaks.size <= np.unique(x).size
    assert found.cuts.size == found.peaks.size - 1


@given(columns(least=6), kernels, rules, st.sampled_from([0.05, 1.0]), st.integers(1, 6))
def test_every_part_holds_the_least_number_of_rows(x, kernel, rule, width, least):
    found = curve(x, kernel, rule, width, least)
    assert np.bincount(found.parts(x), minlength=found.peaks.size).min() >= least


@given(columns(), kernels, rules)
def test_each_peak_lies_in_its_part_and_none_outside_the_column(x, kernel, rule):
    found = curve(x, kernel, rule)
    assert (np.diff(found.cuts) > 0).all()
    assert found.parts(found.peaks).tolist() == list(range(found.peaks.size))
    slack = 1e-9 * (1 + np.abs(x).max()) + (found.places[1] - found.places[0] if found.width else 0.0)
    assert x.min() - slack <= found.peaks.min()
    assert found.peaks.max() <= x.max() + slack


@given(columns(), kernels)
def test_the_input_is_unchanged_and_the_order_of_rows_does_not_matter(x, kernel):
    before = x.copy()
    x.setflags(write=False)
    found, turned = curve(x, kernel), curve(np.sort(x), kernel)
    assert np.array_equal(x, before)
    assert found.peaks == pytest.approx(turned.peaks, abs=1e-6 * (1 + np.abs(x).max()))


@pytest.mark.parametrize("value", [0.0, -7.5, 1e12])
def test_a_constant_column_is_coded_by_its_value(value):
    found = curve(np.full(9, value), least=4)
    assert (found.peaks.tolist(), found.cuts.tolist(), found.width) == ([value], [], 0.0)
    assert found.parts(np.full(9, value)).tolist() == [0] * 9


def test_two_values_are_their_own_codes():
    found = curve(np.array([5.0, 1.0, 1.0, 5.0, 5.0]))
    assert (found.peaks.tolist(), found.cuts.tolist(), found.width) == ([1.0, 5.0], [3.0], 0.0)


def test_of_two_values_a_rare_one_joins_the_other():
    found = curve(np.array([5.0, 1.0, 1.0, 5.0, 5.0]), least=3)
    assert (found.peaks.tolist(), found.cuts.tolist()) == ([5.0], [])


def test_a_value_on_a_cut_is_in_the_upper_part():
    found = Curve(np.empty(0), np.empty(0), np.array([1.0, 3.0]), np.array([0.0, 2.0, 4.0]), 1.0)
    assert found.parts(np.array([0.5, 1.0, 2.0, 3.0, 3.5])).tolist() == [0, 1, 1, 2, 2]


def test_three_clouds_have_three_peaks_and_cuts_between_them():
    rng = np.random.default_rng(0)
    found = curve(np.concatenate([rng.normal(middle, 1, 200) for middle in (0, 20, 50)]))
    assert found.peaks == pytest.approx([0, 20, 50], abs=1)
    assert 3 < found.cuts[0] < 17
    assert 23 < found.cuts[1] < 47


def test_the_middle_of_an_empty_stretch_is_a_cut():
    found = curve(np.repeat([0.0, 1.0, 100.0, 101.0], 5), "epanechnikov", width=0.1)
    assert found.cuts[found.cuts.size // 2] == pytest.approx(50.5, abs=0.5)


def test_small_parts_are_joined_across_the_higher_minimum():
    # The two rows at 6 lie between the crowds at 0 and 10, and nearer to the latter.
    x = np.concatenate([np.linspace(-1, 1, 20), [6.0, 6.1], np.linspace(9, 11, 20)])
    apart, together = curve(x, width=0.25), curve(x, width=0.25, least=5)
    assert apart.peaks == pytest.approx([0, 6, 10], abs=0.5)
    assert together.peaks == pytest.approx([0, 10], abs=0.5)
    assert together.cuts[0] == apart.cuts[0]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", BANDWIDTHS)
@pytest.mark.parametrize("far", [1e3, 1e9])
def test_an_outlier_has_no_part_of_its_own_if_k_rows_are_required(kernel, rule, far):
    x = np.append(np.random.default_rng(1).normal(size=200), far)
    alone, joined = curve(x, kernel, rule), curve(x, kernel, rule, least=5)
    assert np.bincount(alone.parts(x))[-1] == 1
    assert np.bincount(joined.parts(x)).min() >= 5
    assert joined.peaks.max() < far / 2


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_hundredth_of_the_bandwidth_is_summed_directly_without_false_peaks(kernel):
    x = np.append(np.random.default_rng(2).integers(0, 50, 300), 1e4).astype(np.float64)
    found = curve(x, kernel, width=0.01)
    assert found.places.size == MOST
    assert found.peaks.size <= np.unique(x).size


@given(columns(least=3), kernels, st.sampled_from([0.3, 1.0]))
def test_doubled_numbers_have_doubled_peaks(x, kernel, width):
    assert curve(2 * x, kernel, width=width).peaks.tolist() == (2 * curve(x, kernel, width=width).peaks).tolist()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("factor", [3.0, 0.1, -1.0])
def test_which_of_equal_peaks_stays_does_not_depend_on_the_scale(kernel, factor):
    # Of 0, 4 and 8 nothing is nearer or more frequent than its mirror image: the lower peak stays, or the upper one.
    x = np.array([0.0, 4.0, 8.0])
    own, scaled = curve(x, kernel, least=2), curve(factor * x, kernel, least=2)
    expected = abs(factor) * own.peaks - (8 if factor < 0 else 0)
    assert np.abs(scaled.peaks - expected).max() < 0.1 * scaled.width


@pytest.mark.parametrize("tiny", [1e-100, 1e-170, 1e-300])
def test_tiny_numbers_are_coded_too(tiny):
    found = curve(tiny * np.array([0.0, 0.0, 0.0, 1.0, 20.0, 20.0, 21.0]))
    assert found.parts(tiny * np.array([0.0, 1.0, 20.0, 21.0])).tolist() == [0, 0, 1, 1]


def test_very_large_numbers_and_very_high_densities_are_cut_like_others():
    wide = curve(np.r_[-1.7e308, 1.7e308, np.zeros(8)])
    assert (wide.cuts.size, wide.peaks.size) == (2, 3)
    narrow = curve(1 + np.arange(500) * 2.3e-16, "epanechnikov", "isj", 0.01)
    assert narrow.peaks.size == narrow.cuts.size + 1
    x = np.r_[0.0, np.linspace(10, 11, 50), np.linspace(20, 21, 50)]
    one, other = (curve(x * scale, width=0.3, least=5) for scale in (1.0, 2.0**-40))
    assert other.cuts == pytest.approx(one.cuts * 2.0**-40)
