"""The grid of an exploration: which releases are tried, what they are called, and what is left out."""

import pytest

from shoal.catalogue import methods
from shoal.errors import MethodError, PolicyError
from shoal.exploration.plan import grid, numbers
from shoal.model.policy import Policy


def test_a_grid_has_every_method_with_every_k():
    points, skipped = grid(Policy.of(), ["mdav", "mondrian"], k=[10, 3, 3])
    assert [point.name for point in points] == ["mdav-k3", "mdav-k10", "mondrian-k3", "mondrian-k10"]
    assert [point.policy.constraints.k for point in points] == [3, 10, 3, 10]
    assert skipped == []


def test_k_is_3_5_10_and_20_by_default():
    points, _ = grid(Policy.of(k=7), "mdav")
    assert [point.k for point in points] == [3, 5, 10, 20]


def test_l_and_t_are_those_of_the_policy_or_a_part_of_the_grid():
    base = Policy.of(l=2, sensitive=["ill"])
    kept, _ = grid(base, "mondrian", k=5)
    assert [point.policy.constraints.l for point in kept] == [2]
    several, _ = grid(base, "mondrian", k=5, l=[2, 3], t=[0.2])
    assert [point.name for point in several] == ["mondrian-k5-l2-t0.2", "mondrian-k5-l3-t0.2"]
    assert [point.policy.constraints.t for point in several] == [0.2, 0.2]


def test_parameters_multiply_the_methods_that_have_them():
    points, _ = grid(Policy.of(), ["anneal", "mdav"], k=5, parameters={"effort": ["quick", "normal"]})
    assert [point.name for point in points] == ["anneal-k5-effort-quick", "anneal-k5-effort-normal", "mdav-k5"]
    assert [point.line for point in points] == ["anneal, effort quick", "anneal, effort normal", "mdav"]
    assert points[1].policy.method.parameters == {"effort": "normal"}


def test_a_parameter_can_be_given_for_one_method_only():
    given = {"anneal.effort": "normal"}
    points, _ = grid(Policy.of(), ["anneal", "blocks"], k=5, parameters=given)
    assert [point.policy.method.parameters for point in points] == [{"effort": "normal"}, {}]


@pytest.mark.parametrize("given", [{"efort": "quick"}, {"mdav.effort": "quick"}, {"k": 4}, {"effort": []}])
def test_a_parameter_that_no_method_has_is_refused(given):
    with pytest.raises(MethodError, match="explore: none of the methods has a parameter"):
        grid(Policy.of(), ["anneal", "mdav"], k=5, parameters=given)


def test_a_value_out_of_range_is_refused_before_anything_is_run():
    with pytest.raises(MethodError, match="anneal: effort must be one of"):
        grid(Policy.of(), "anneal", k=5, parameters={"effort": "much"})


def test_all_excludes_auto_and_methods_that_need_a_label_and_says_so():
    points, skipped = grid(Policy.of(), k=5)
    reasons = {one.name: one.reason for one in skipped}
    assert "chooses one of the other methods" in reasons["auto"]
    assert all("needs a label" in reasons[name] for name in ("c_tca_pp", "k_tca_pp", "kde_pp"))
    assert {point.method for point in points} | set(reasons) == set(methods.names())
    assert not {point.method for point in points} & set(reasons)


def test_with_a_label_methods_that_learn_from_it_are_included_and_auto_may_be_named():
    points, skipped = grid(Policy.of(label="ill", sensitive=["ill"]), ["auto", "kde_pp"], k=5)
    assert [point.method for point in points] == ["auto", "kde_pp"]
    assert skipped == []


def test_a_grid_without_a_method_is_refused_with_the_reason():
    with pytest.raises(MethodError, match="no method remains. kde_pp: it needs a label"):
        grid(Policy.of(), "kde_pp", k=5)
    with pytest.raises(MethodError, match="unknown method 'mdaf'"):
        grid(Policy.of(), "mdaf")


def test_only_randomized_methods_are_run_with_several_seeds():
    points, _ = grid(Policy.of(seed=7), ["anneal", "mdav"], k=5, seeds=3)
    assert {point.method: point.seeds for point in points} == {"anneal": (7, 8, 9), "mdav": (7,)}
    assert points[0].seeded(9).seed == 9
    assert points[0].policy.seed == 7


def test_names_of_points_are_valid_unique_file_names():
    given = {"kde.bandwidth": ["silverman"], "kde.width": [0.5, 0.50000001]}
    points, _ = grid(Policy.of(), "kde", k=5, parameters=given)
    found = [point.name for point in points]
    assert len(set(found)) == 2
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.-") for name in found)


@pytest.mark.parametrize("given", ["5", [5, "6"], [2.5], True, None, [], [float("nan")]])
def test_an_invalid_k_is_refused(given):
    with pytest.raises(PolicyError, match="explore: "):
        numbers(given, "k", whole=True)


def test_a_grid_of_very_many_points_is_refused():
    with pytest.raises(PolicyError, match="the grid has 12,000 points"):
        grid(Policy.of(), "mdav", k=range(2, 12_002))
