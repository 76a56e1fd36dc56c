"""Means and medians rounded to steps, against exact arithmetic on single numbers."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.model.partition import Partition
from shoal.recode.groups import Groups
from shoal.recode.numbers import centres

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
STEPS = st.one_of(
    st.sampled_from([0.01, 0.1, 0.5, 1.0, 2.5, 110.0, 0.125, 1e-7, 1e15, 1e-15, 3e200]),
    st.integers(1, 999).map(lambda units: units / 1000),
)


def multiple(number, step):
    """The multiple of a step nearest to a number, halves rounded up, with the decimals of the step."""
    if not abs(number) < 2**52 * step:
        return number
    digits = max(0, -int(Decimal(str(step)).as_tuple().exponent))
    found = math.floor(number / step + 0.5) * step
    if math.isinf(found):
        found = math.trunc(number / step) * step
    return (round(found, digits) if digits <= 15 else found) + 0.0


def published(numbers, labels, form, step, kind=None, weights=None, shifts=None):
    """The published value of each group."""
    column = pa.chunked_array([pa.array(numbers, kind)])
    partition = Partition.of(np.array(labels))
    groups = Groups(partition, 2, weights, np.zeros((len(numbers), 1)))
    rows, empty = groups.held(np.array([number is None for number in numbers]))
    return centres(column, form, rows, empty, groups, step, shifts)


@given(st.lists(FLOATS, min_size=1, max_size=20), STEPS)
def test_floats_are_rounded_as_single_numbers_are(numbers, step):
    comp = published(numbers, range(len(numbers)), "median", step).values()
    ref = [multiple(number, step) for number in numbers]
    assert comp.to_pylist() == ref


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=10),
    STEPS.filter(lambda step: 1e-7 <= step < 1e9),
    st.integers(-3, 3),
)
def test_floats_are_moved_by_steps_as_single_numbers_are(numbers, step, shift):
    middles = published(numbers, range(len(numbers)), "median", step)
    rounded = [multiple(number, step) for number in numbers]
    assert middles.values(shift).to_pylist() == [
        multiple(number + shift * step, step) if shift else number for number in rounded
    ]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint64()])
@given(data=st.data())
def test_integers_are_rounded_exactly(kind, data):
    bounds = np.iinfo(str(kind))
    low, high = int(bounds.min), int(bounds.max)
    numbers = data.draw(st.lists(st.integers(low, high), min_size=1, max_size=12))
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(numbers), max_size=len(numbers)))
    step = data.draw(st.sampled_from([1, 2, 5, 7, 50]))
    comp = published(numbers, labels, "mean", float(step), kind).values().to_pylist()
    ref = []
    for group in range(Partition.of(np.array(labels)).groups):
        own = [n for n, label in zip(numbers, Partition.of(np.array(labels)).labels, strict=True) if label == group]
        nearest = math.floor(Fraction(sum(own), len(own)) / step + Fraction(1, 2)) * step
        ref.append(min(max(nearest, -(-low // step) * step), high // step * step))
    assert comp == ref


def test_a_multiple_that_leaves_its_type_is_missing():
    middles = published([120, 126, -128], [0, 1, 2], "mean", 7.0, pa.int8())
    assert middles.values().to_pylist() == [119, 126, -126]
    assert middles.values(1).to_pylist() == [126, None, -119]
    assert middles.values(-1).to_pylist() == [112, 119, None]


def test_each_group_may_be_moved_by_its_own_number_of_steps():
    shifts = np.array([1, 0, -2])
    assert published([1.0, 2.0, 3.0], [0, 1, 2], "mean", 0.5, shifts=shifts).values().to_pylist() == [1.5, 2.0, 2.0]
    assert published([10, 20, 30], [0, 1, 2], "mean", 5.0, shifts=shifts).values().to_pylist() == [15, 20, 20]


def test_a_group_without_values_is_missing():
    for kind in (pa.float64(), pa.int64(), pa.decimal128(9, 2)):
        comp = published([None, None, 4, 6], [0, 0, 1, 1], "mean", 1.0, kind).values().to_pylist()
        assert comp == [None, 5]


def test_weights_of_large_integers_do_not_overflow():
    weights = np.array([1.0, 3.0, 1.0])
    comp = published([2**62, 2**62 + 4, -(2**62)], [0, 0, 1], "mean", 1.0, pa.int64(), weights)
    assert comp.values().to_pylist() == [2**62 + 3, -(2**62)]
