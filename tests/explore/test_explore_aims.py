"""Aims: the figures that an exploration weighs against each other, and how certain each of them is."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import shoal
from shoal.catalogue import attacks, measures
from shoal.errors import MethodError
from shoal.exploration.aims import Aim, Figure, _jackknife, aim_of, averaged, figure_of
from shoal.model.policy import Policy
from shoal.pipeline.judging import case_of
from shoal.privacy.attacks.attack import Clock, profiles
from shoal.privacy.measures.case import Case


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    age = rng.integers(20, 80, 120)
    return pa.table(
        {
            "age": age,
            "pay": age * 100 + rng.integers(0, 900, 120),
            "ill": rng.choice(["flu", "gout", "none"], 120),
            "buys": np.where(age + rng.normal(0, 6, 120) > 50, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def case(people):
    release = shoal.anonymize(people, k=4, method="mdav", sensitive=["ill"], keep=["buys"], label="buys")
    return case_of(people, release)


def values(case):
    """The published value of each row: the same within a class, and in no other."""
    return list(zip(*(case.released.column(name).to_pylist() for name in ("age", "pay")), strict=True))


def test_the_default_utility_depends_on_whether_there_is_a_label():
    assert aim_of(None, "utility", Policy.of()).name == "cell loss %"
    assert not aim_of(None, "utility", Policy.of()).higher
    labelled = aim_of(None, "utility", Policy.of(label="buys", keep=["buys"]))
    assert (labelled.name, labelled.higher) == ("honest separability %", True)
    assert aim_of(None, "risk", Policy.of()) == Aim(
        "marketer risk", "measure", higher=False, how="mean over rows of 1/size(E)", exact=True
    )


def test_measures_findings_and_attacks_can_be_aims():
    assert aim_of("query error %", "utility", Policy.of()).kind == "measure"
    assert not aim_of("2-way total variation %", "utility", Policy.of()).higher
    assert aim_of("record linkage", "risk", Policy.of()).kind == "attack"
    assert aim_of("honest", "utility", Policy.of(label="buys", keep=["buys"])).higher


def test_unknown_figures_and_those_without_a_direction_are_refused():
    with pytest.raises(MethodError, match="unknown utility 'cel loss %'.*Did you mean 'cell loss %'"):
        aim_of("cel loss %", "utility", Policy.of())
    with pytest.raises(MethodError, match="'degree of anonymity class' cannot be the risk: neither high"):
        aim_of("degree of anonymity class", "risk", Policy.of())


WHOLE = Policy.of(label="buys", keep=["buys"], sensitive=["ill"])


@pytest.mark.parametrize(
    ("name", "policy", "message"),
    [
        ("honest", Policy.of(), "needs a label"),
        ("honest separability %", Policy.of(sensitive=["ill"]), "needs a label"),
        ("t-closeness", Policy.of(), "needs a sensitive column"),
        ("homogeneity", Policy.of(), "needs a sensitive column"),
        ("attribute inference", Policy.of(), "needs a sensitive column"),
        ("journalist risk", WHOLE, "needs a population"),
        ("intersection", WHOLE, "needs another release, which explorations do not have"),
        ("exact combination", WHOLE, "needs control rows, which explorations do not have"),
        ("(k,k^m)-anonymity", WHOLE, "needs a column of sets"),
        ("risk without a column", WHOLE, "describes single columns"),
    ],
)
def test_figures_that_no_release_has_are_refused_before_anything_is_run(name, policy, message):
    with pytest.raises(MethodError, match=message):
        aim_of(name, "risk", policy)


def test_exactly_the_measures_without_a_figure_are_refused(case):
    def has(card):
        return card.name in {finding.name for finding in card.function(case)}

    for card in measures.cards().values():
        if card.by_column or {*card.requires} & {"population", "items"}:
            assert not has(card), card.name
        elif card.requires:
            assert has(card), card.name


@pytest.mark.slow
def test_exactly_the_attacks_without_trials_are_refused(case, people):
    known = attacks.cards()

    def tried(case):
        results = {name: card.function(case, profiles(case)["all"], Clock()) for name, card in known.items()}
        return {name for name, one in results.items() if one.trials}

    def without(*lacking):
        return {name for name, card in known.items() if not {*card.requires} & {*lacking}}

    assert tried(case) == without("other", "control")
    bare = case_of(people, shoal.anonymize(people, k=4, method="mdav"))
    assert tried(bare) == without("other", "control", "sensitive")


def test_measures_that_need_a_label_or_sensitive_column_have_no_figure_without_one(people):
    bare = case_of(people, shoal.anonymize(people, k=4, method="mdav"))
    for card in measures.cards().values():
        if {*card.requires} & {"label", "sensitive"}:
            assert card.name not in {finding.name for finding in card.function(bare)}, card.name


def test_a_figure_of_the_release_alone_is_exact(case, people):
    found = figure_of(aim_of(None, "risk", case.policy), case, people, 5)
    assert found == Figure(case.sizes.size / case.n)


def test_a_loss_is_the_measure_with_a_jackknife_interval(case, people):
    aim = aim_of("cell loss %", "utility", case.policy)
    found = figure_of(aim, case, people, 5)
    (measured,) = (one for one in shoal.measure(people, case.released, only=["cell loss %"], policy=case.policy)
                   if one.name == "cell loss %")  # fmt: skip
    assert found.value == measured.value
    assert found.low < found.value < found.high
    assert found.high - found.value == pytest.approx(found.value - found.low)
    assert figure_of(aim, case, people, 5) == found


def test_the_jackknife_of_a_mean_over_equal_folds_is_the_usual_standard_error(case):
    classes = case.sizes.size - case.sizes.size % 5
    rows = np.flatnonzero(case.labels < classes)
    some = Case(case.released.take(pa.array(rows)), case.policy, original=case.before.take(rows), seed=3)
    assert (some.sizes == 4).all()
    worth = dict(zip(values(some), np.arange(classes)[some.labels] ** 1.5, strict=True))

    class Card:
        @staticmethod
        def take(one):
            return (shoal.Finding("mean", float(np.mean([worth[value] for value in values(one)])), "", "pair"),)

    dealt = np.random.default_rng((3, 41)).permutation(classes) % 5
    figures = np.array([worth[value] for value in values(some)])
    folds = [figures[dealt[some.labels] == part].mean() for part in range(5)]
    assert np.std(folds) > 0
    half = _jackknife(Card, "mean", some, 5)
    assert half == pytest.approx(stats.t.ppf(0.975, 4) * np.std(folds, ddof=1) / np.sqrt(5))


def test_a_single_class_gives_no_interval(people):
    release = shoal.anonymize(people.slice(0, 4), k=3, method="mdav", keep=["ill", "buys"])
    alone = case_of(people.slice(0, 4), release)
    found = figure_of(aim_of("cell loss %", "utility", alone.policy), alone, people, 5)
    assert found.low is None
    assert found.high is None


def test_honest_figures_and_attacks_have_their_own_intervals(case, people):
    for name in ("honest separability %", "honest"):
        found = figure_of(aim_of(name, "utility", case.policy), case, people, 4)
        assert 50 < found.value <= 100
        assert found.low < found.value < found.high
    attack = figure_of(aim_of("record linkage", "risk", case.policy), case, people, 4)
    (results,) = shoal.attack(people, case.released, only=["record linkage"], policy=case.policy)
    assert (attack.value, attack.low, attack.high) == (results.rate, *results.interval)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_honest_separability_equals_the_figure_of_measure(people, case, seed):
    release = shoal.anonymize(people, policy=case.policy)
    (results,) = (
        one
        for one in shoal.measure(people, release, only=["honest separability %"], seed=seed)
        if one.name == "honest separability %"
    )
    aim = aim_of("honest separability %", "utility", case.policy)
    for folds in (3, 5, 10):
        assert figure_of(aim, case_of(people, release, seed=seed), people, folds) == Figure(
            results.value, *results.interval
        )


def test_a_table_without_a_label_has_no_honest_separability(people):
    release = shoal.anonymize(people, k=4, method="mdav", keep=["ill", "buys"])
    bare = case_of(people, release)
    labelled = Policy.of(label="buys", keep=["buys"])
    assert figure_of(aim_of("honest separability %", "utility", labelled), bare, people, 5) is None


def test_seeds_that_differ_widen_the_interval():
    same = averaged([Figure(10.0, 9.0, 11.0)] * 3)
    assert same == Figure(10.0, 9.0, 11.0)
    apart = averaged([Figure(8.0, 7.0, 9.0), Figure(12.0, 11.0, 13.0)])
    assert apart.value == 10.0
    assert apart.high - 10.0 == pytest.approx(np.hypot(1.0, stats.t.ppf(0.975, 1) * 2.0))
    exact = averaged([Figure(0.1), Figure(0.2), Figure(0.3)])
    assert exact.low == pytest.approx(0.2 - stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3))
