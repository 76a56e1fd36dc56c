"""The front: a point is beaten only by one that is no worse in both figures and clearly better in one."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.exploration.front import Spot, front

FIGURE = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 2)).map(
    lambda one: Spot(float(one[0]), float(one[0] - one[1]), float(one[0] + one[2]))
)


def beats(one, other):
    """The rule, as it is written: risk first, where less is better."""
    (risk, use), (their_risk, their_use) = one, other
    no_worse = risk.value <= their_risk.value and use.value >= their_use.value
    return no_worse and (risk.high < their_risk.low or use.low > their_use.high)


@given(st.lists(st.tuples(FIGURE, FIGURE), max_size=12))
def test_the_front_is_what_nothing_beats(points):
    found = front([risk for risk, _ in points], [use for _, use in points]).tolist()
    assert found == [not any(beats(other, one) for other in points) for one in points]


@given(st.lists(st.tuples(FIGURE, FIGURE), min_size=1, max_size=12))
def test_there_is_always_a_front(points):
    assert front([risk for risk, _ in points], [use for _, use in points]).any()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_without_intervals_it_is_the_pareto_front(points):
    found = front([Spot.of(risk) for risk, _ in points], [Spot.of(use) for _, use in points]).tolist()
    worse = [any(r <= risk and u >= use and (r, u) != (risk, use) for r, u in points) for risk, use in points]
    assert found == [not one for one in worse]


def test_points_with_the_same_figures_both_stay():
    assert front([Spot.of(0.2)] * 2, [Spot.of(80.0)] * 2).tolist() == [True, True]


def test_a_difference_that_may_be_luck_beats_nobody():
    wide = [Spot(80.0, 74.0, 86.0), Spot(76.0, 70.0, 82.0)]
    assert front([Spot.of(0.2)] * 2, wide).tolist() == [True, True]
    narrow = [Spot(80.0, 79.0, 81.0), Spot(76.0, 75.0, 77.0)]
    assert front([Spot.of(0.2)] * 2, narrow).tolist() == [True, False]


def test_a_turned_figure_keeps_its_interval():
    assert Spot(3.0, 1.0, 4.0).turned == Spot(-3.0, -4.0, -1.0)
    assert Spot(3.0, 1.0, 4.0).turned.turned == Spot(3.0, 1.0, 4.0)
