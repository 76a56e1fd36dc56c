"""The Pareto front: a point is dominated only by one that is no worse in both figures and clearly better in one."""

from hypothesis import given
from hypothesis import strategies as st

from shoal.exploration.aims import Figure
from shoal.exploration.front import front

FIGURE = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 2)).map(
    lambda one: Figure(float(one[0]), float(one[0] - one[1]), float(one[0] + one[2]))
)


def weighed(risks, utilities):
    return front((risks, False), (utilities, True)).tolist()


def beats(one, other):
    """The rule as documented: risk first, where less is better."""
    (risk, use), (their_risk, their_use) = one, other
    no_worse = risk.value <= their_risk.value and use.value >= their_use.value
    return no_worse and (risk.high < their_risk.low or use.low > their_use.high)


@given(st.lists(st.tuples(FIGURE, FIGURE), max_size=12))
def test_the_front_has_the_points_that_nothing_dominates(points):
    found = weighed([risk for risk, _ in points], [use for _, use in points])
    assert found == [not any(beats(other, one) for other in points) for one in points]


@given(st.lists(st.tuples(FIGURE, FIGURE), min_size=1, max_size=12))
def test_there_is_always_a_front(points):
    assert any(weighed([risk for risk, _ in points], [use for _, use in points]))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_without_intervals_it_is_the_pareto_front(points):
    found = weighed([Figure(risk) for risk, _ in points], [Figure(use) for _, use in points])
    worse = [any(r <= risk and u >= use and (r, u) != (risk, use) for r, u in points) for risk, use in points]
    assert found == [not one for one in worse]


def test_points_with_the_same_figures_both_stay():
    assert weighed([Figure(0.2)] * 2, [Figure(80.0)] * 2) == [True, True]


def test_a_difference_within_the_intervals_dominates_nothing():
    wide = [Figure(80.0, 74.0, 86.0), Figure(76.0, 70.0, 82.0)]
    assert weighed([Figure(0.2)] * 2, wide) == [True, True]
    narrow = [Figure(80.0, 79.0, 81.0), Figure(76.0, 75.0, 77.0)]
    assert weighed([Figure(0.2)] * 2, narrow) == [True, False]


@given(st.lists(st.tuples(FIGURE, FIGURE), max_size=12))
def test_a_loss_is_treated_as_a_negative_gain(points):
    risks, uses = [risk for risk, _ in points], [use for _, use in points]
    losses = [Figure(-use.value, -use.high, -use.low) for use in uses]
    assert front((risks, False), (losses, False)).tolist() == weighed(risks, uses)
