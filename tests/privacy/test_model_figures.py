"""The privacy models as measures: the figures of the judge, the worst column first."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.catalogue import MeasureCard
from shoal.model.policy import Policy
from shoal.privacy.measures import model_figures as figures
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.judge import judge

MEASURES = [one for one in vars(figures).values() if isinstance(getattr(one, "card", None), MeasureCard)]
OF_VALUES = [function for function in MEASURES if function is not figures.k_anonymity]
KINDS = {"age": "numeric", "ill": "nominal", "pay": "numeric"}


def case_of(columns, sensitive=("ill",), **constraints):
    named = {name: {"kind": KINDS[name], "form": "mode"} for name in columns}
    options = {"constraints": constraints} if constraints else {}
    return Case(pa.table(columns), Policy.of({"columns": named}, k=2, sensitive=list(sensitive), **options))


def value(function, case):
    return function(case)[0].value


# Two classes of four rows. P(a) = 5/8, P(b) = 2/8, P(c) = 1/8.
AGE = [1] * 4 + [2] * 4
ILL = ["a", "a", "b", "c", "a", "a", "a", "b"]
# Class 1: a 1/2, b 1/4, c 1/4. Class 2: a 3/4, b 1/4.
BY_HAND = {
    "k-anonymity": 4,
    "(alpha,k)-anonymity": 3 / 4,
    "distinct l-diversity": 2,
    "entropy l-diversity": math.exp(-(3 / 4 * math.log(3 / 4) + 1 / 4 * math.log(1 / 4))),
    # l = 2: class 1 has 2 / (1 + 1) = 1, class 2 has 3 / 1 = 3.
    "recursive (c,l)-diversity": 3,
    # Equal distance: class 1: (1/8 + 0 + 1/8) / 2 = 1/8; class 2 likewise.
    "t-closeness": 1 / 8,
    # c in class 1: (1/4 - 1/8) / (1/8) = 1; a in class 2: (3/4 - 5/8) / (5/8) = 1/5.
    "basic beta-likeness": 1,
    # c is bounded by -ln 1/8 = 2.08, and stays 1.
    "enhanced beta-likeness": 1,
    # c in class 1: ln 2.
    "delta-disclosure": math.log(2),
    # Class 2 lacks c.
    "classes that lack a value": 1,
}


@pytest.mark.parametrize("function", MEASURES, ids=lambda function: function.card.name)
def test_every_figure_is_the_one_worked_out_by_hand(function):
    found = function(case_of({"age": AGE, "ill": ILL}))
    assert len(found) == 1
    assert (found[0].name, found[0].need) == (function.card.name, "release")
    assert found[0].value == pytest.approx(BY_HAND[function.card.name])


def test_the_enhanced_bound_is_kept_and_said():
    # P(b) = 1/2; in its class it is 1: a rise of 1, bounded by ln 2.
    found = figures.enhanced_beta_likeness(case_of({"age": [1, 1, 2, 2], "ill": ["a", "a", "b", "b"]}))[0]
    assert found.value == pytest.approx(math.log(2))
    assert "2 of 2 classes exceed" in found.how


def test_closeness_of_numbers_is_ordered():
    # Values 1, 2, 3; class 1 has 1 only: (|1 - 1/2| + |1 - 3/4|) / 2 = 3/8; class 2 has 2 and 3: (1/2 + 1/4) / 2.
    found = figures.t_closeness(case_of({"age": [1, 1, 2, 2], "pay": [1, 1, 2, 3]}, ["pay"]))[0]
    assert found.value == pytest.approx(3 / 8)
    assert "ordered" in found.how


@pytest.mark.parametrize("function", OF_VALUES, ids=lambda function: function.card.name)
def test_several_columns_have_a_figure_each_and_the_worst_comes_first(function):
    both = {"age": AGE, "ill": ILL, "pay": [1, 2, 3, 4, 1, 2, 3, 4]}
    found = function(case_of(both, ["ill", "pay"]))
    name = function.card.name
    assert [one.name for one in found] == [name, f"{name}, ill", f"{name}, pay"]
    worst = min if function.card.better == "high" else max
    assert found[0].value == worst(found[1].value, found[2].value)
    assert "of 2 sensitive columns" in found[0].how


@pytest.mark.parametrize("function", MEASURES, ids=lambda function: function.card.name)
def test_without_sensitive_columns_only_k_is_found(function):
    found = function(case_of({"age": AGE}, []))
    assert [one.name for one in found] == (["k-anonymity"] if function is figures.k_anonymity else [])


@pytest.mark.parametrize("function", MEASURES, ids=lambda function: function.card.name)
def test_an_empty_release_has_no_figures(function):
    empty = {"age": pa.array([], pa.int64()), "ill": pa.array([], pa.string())}
    assert function(case_of(empty)) == ()


@pytest.mark.parametrize("function", MEASURES, ids=lambda function: function.card.name)
def test_one_class_of_one_value_is_fine_or_says_why_not(function):
    found = function(case_of({"age": [1, 1], "ill": pa.array([None, None], pa.string())}))[0]
    assert math.isfinite(found.value) or "infinite, as 1 of 1 classes have fewer values" in found.how


def test_recursive_diversity_takes_l_from_the_policy():
    # Class 1: 2 / 1 = 2 with l = 3; class 2 has two values only.
    found = figures.recursive_diversity(case_of({"age": AGE, "ill": ILL}, l=3))[0]
    assert math.isinf(found.value)
    assert "1 of 2 classes" in found.how
    one = figures.recursive_diversity(case_of({"age": AGE[:4], "ill": ILL[:4]}, l=3))[0]
    assert (one.value, "l = 3" in one.how) == (2, True)


whole = st.integers(0, 3)


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=30), st.randoms())
def test_figures_lie_in_their_range_and_do_not_depend_on_the_order_of_rows(rows, rng):
    mixed = rows.copy()
    rng.shuffle(mixed)
    one, other = (case_of({"age": [a for a, _ in r], "ill": [str(s) for _, s in r]}) for r in (rows, mixed))
    for function in MEASURES:
        card = function.card
        assert isinstance(card, MeasureCard)
        assert card.low - 1e-9 <= value(function, one) <= card.high + 1e-9
        assert value(function, one) == pytest.approx(value(function, other))


@given(st.lists(st.tuples(whole, whole), min_size=1, max_size=30))
def test_figures_are_those_of_the_verdicts(rows):
    asked = {"l": 2, "t": 0.5, "alpha": 0.5, "beta": 1.0, "delta": 1.0}
    case = case_of({"age": [a for a, _ in rows], "ill": [str(s) for _, s in rows]}, **asked)
    by_name = {function.card.name: function for function in MEASURES}
    verdicts = judge(case.released, case.policy)
    assert len(verdicts) == 6
    for verdict in verdicts:
        assert value(by_name[verdict.model], case) == pytest.approx(verdict.found)


def test_no_finding_shows_a_cell():
    case = case_of({"age": AGE, "ill": ["secret-" + cell for cell in ILL]})
    assert not any("secret" in str(finding) for function in MEASURES for finding in function(case))
