"""Cards of utility: every measure on a whole release, on degenerate ones, and where it lacks something."""

import math

import numpy as np
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

import shoal
from shoal.catalogue import MeasureCard
from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import from_lines
from shoal.privacy.measures.case import Case
from shoal.utility import fidelity_measures as measured_fidelity
from shoal.utility import loss_measures as measured_loss
from shoal.utility import worth_measures as measured

CARDS = {
    function.card.name: function.card
    for module in (measured, measured_fidelity, measured_loss)
    for function in vars(module).values()
    if isinstance(getattr(function, "card", None), MeasureCard)
}
COLUMNS = {
    "age": {"role": "quasi", "kind": "numeric", "form": "mean"},
    "pay": {"role": "quasi", "kind": "numeric", "form": "mean"},
    "town": {"role": "quasi", "kind": "nominal", "form": "mode"},
    "sex": {"role": "quasi", "kind": "nominal", "form": "mode"},
    "ill": {"role": "sensitive", "kind": "nominal"},
}
SECRET = "Zanzibar"


@pytest.fixture(autouse=True)
def one_thread():
    """Small tables are quicker with one thread."""
    with threadpool_limits(1):
        yield


def policy(columns=COLUMNS, label="ill", **more):
    return Policy.of({"columns": columns}, k=2, label=label, **more)


def table_of(n=60, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n).astype(float)
    return pa.table(
        {
            "age": age,
            "pay": rng.normal(3000, 500, n).round(),
            "town": rng.choice([SECRET, "Lyon", "Rome"], n),
            "sex": rng.choice(["f", "m"], n),
            "ill": np.where(age + rng.normal(0, 10, n) > 50, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def whole():
    """A release of 60 rows with the table that it was made from."""
    table = table_of()
    columns = {name: {"role": one["role"], "kind": one["kind"]} for name, one in COLUMNS.items()}
    columns["pay"]["form"] = "mean"  # the only form that is rounded to a step
    made = shoal.anonymize(table, policy=Policy.of({"columns": columns}, k=3, label="ill"))
    return Case(made.aligned(), made.policy, original=Table.of(table))


def test_the_cards_are_those_of_the_specification():
    assert sorted(CARDS) == sorted(
        [
            *("1-way total variation %", "Calinski-Harabasz index", "Davies-Bouldin index", "IL1s", "cell loss %"),
            "cells changed %",
            *("MSE of correlations", "MSE of covariances", "MSE of loadings", "MSE of means", "MSE of scores"),
            *("MSE of values", "classes", "classes of one label %", "classification metric", "combined utility"),
            *("contingency distance %", "discernibility", "eigenvalue difference", "entropy loss", "honest accuracy %"),
            *("honest separability %", "information loss %", "invented combinations %", "joint utility"),
            "loss by rounding %",
            *("minimal distortion", "normalised average class size", "pMSE", "query error %", "rank error %"),
            *(
                "rows unique in unchanged columns %",
                "silhouette",
                "structural utility",
                "structural utility by deviation",
            ),
            *("taxonomy information loss", "trade-off score"),
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CARDS))
def test_every_measure_gives_figures_in_its_range_with_its_name_and_need(name, whole):
    card = CARDS[name]
    found = card.function(whole)
    assert found
    assert found[0].name == name or found[0].name.startswith(f"{name}, ")
    assert card.low - 1e-9 <= found[0].value <= card.high + 1e-9
    assert card.summary.endswith(".")
    for finding in found:
        assert math.isfinite(finding.value)
        assert finding.need == card.need
        assert SECRET not in str(finding)
        assert finding.interval is None or finding.interval[0] <= finding.value <= finding.interval[1]


@pytest.mark.parametrize("name", sorted(name for name, card in CARDS.items() if card.need != "release"))
def test_without_the_original_the_holders_figures_are_refused(name, whole):
    with pytest.raises(DataError, match="needs the original"):
        CARDS[name].function(Case(whole.released, whole.policy))


@pytest.mark.parametrize("name", sorted(name for name, card in CARDS.items() if card.need == "release"))
def test_figures_of_the_release_do_not_ask_for_the_original(name, whole):
    assert CARDS[name].function(Case(whole.released, whole.policy)) == CARDS[name].function(whole)


def made_constant(table):
    return table.set_column(0, "age", pa.array([1.0] * table.num_rows)).set_column(
        2, "town", pa.array(["x"] * table.num_rows)
    )


def emptied(table):
    return pa.table(
        {
            name: pa.nulls(table.num_rows, table.schema.field(name).type) if name != "ill" else table[name]
            for name in COLUMNS
        }
    )


def one_class(table):
    n = table.num_rows
    return (
        table.set_column(0, "age", pa.array([50.0] * n))
        .set_column(1, "pay", pa.array([3000.0] * n))
        .set_column(2, "town", pa.array(["Lyon"] * n))
        .set_column(3, "sex", pa.array(["f"] * n))
    )


PLAIN = table_of()
GAPS = PLAIN.set_column(0, "age", pa.array([None if place % 3 else float(place) for place in range(60)]))
ONE = PLAIN.set_column(4, "ill", pa.array(["yes"] * 60))
DEGENERATE = {
    "no rows": (PLAIN.slice(0, 0), PLAIN.slice(0, 0)),
    "one row": (PLAIN.slice(0, 1), PLAIN.slice(0, 1)),
    "two rows": (PLAIN.slice(0, 2), PLAIN.slice(0, 2)),
    "unchanged": (PLAIN, PLAIN),
    "constant columns": (made_constant(PLAIN), made_constant(PLAIN)),
    "one class": (PLAIN, one_class(PLAIN)),
    "all suppressed": (PLAIN, emptied(PLAIN)),
    "all missing": (emptied(PLAIN), emptied(PLAIN)),
    "gaps": (GAPS, GAPS),
    "one label": (ONE, ONE),
    "all alike": (one_class(PLAIN), one_class(PLAIN)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CARDS))
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_releases_give_a_stated_figure_or_none(name, kind):
    before, after = DEGENERATE[kind]
    found = CARDS[name].function(Case(after, policy(), original=Table.of(before)))
    for finding in found:
        assert math.isfinite(finding.value)
        assert finding.how


@pytest.mark.parametrize("name", sorted(CARDS))
def test_a_release_of_ranges_and_sets_without_a_label_gives_figures_or_none(name):
    columns = {
        "age": {"role": "quasi", "kind": "numeric", "form": "range"},
        "town": {"role": "quasi", "kind": "nominal", "form": "set"},
    }
    before = pa.table({"age": [1, 2, 3, 4], "town": ["x", "y", "x", "z"]})
    after = pa.table({"age": ["1–2", "1–2", "3–4", "3–4"], "town": ["{x, y}", "{x, y}", "{x, z}", "{x, z}"]})
    found = CARDS[name].function(Case(after, policy(columns, None), original=Table.of(before)))
    assert all(math.isfinite(finding.value) for finding in found)


def values(name, case):
    return {finding.name: finding.value for finding in CARDS[name].function(case)}


def small():
    """Six rows in two classes of three."""
    before = pa.table(
        {
            "age": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0],
            "pay": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0],
            "town": ["x", "x", "y", "z", "z", "z"],
            "sex": ["f", "f", "f", "m", "m", "m"],
            "ill": ["yes", "yes", "no", "no", "no", "no"],
        }
    )
    after = pa.table(
        {
            "age": [2.0, 2.0, 2.0, 8.0, 8.0, 8.0],
            "pay": [2.0, 2.0, 2.0, 8.0, 8.0, 8.0],
            "town": ["x", "x", "x", "z", "z", "z"],
            "sex": ["f", "f", "f", "m", "m", "m"],
            "ill": before["ill"],
        }
    )
    trees = {"town": from_lines([["x", "low", "*"], ["y", "low", "*"], ["z", "high", "*"]], "town")}
    return Case(after, policy(), original=Table.of(before), trees=trees)


def test_figures_of_a_small_release_worked_out_by_hand():
    case = small()
    # Two of six ages, and of pays, stay; one town changes.
    assert values("minimal distortion", case) == {"minimal distortion": 9}
    assert values("cells changed %", case) == {"cells changed %": pytest.approx(900 / 24)}
    # Ages and pays 2/8 in both classes; towns one of two levels up in the first; sexes nothing.
    assert values("taxonomy information loss", case)["taxonomy information loss"] == pytest.approx(
        6 * 0.25 * 2 + 3 * 0.5
    )
    assert values("discernibility", case) == {"discernibility": 18}
    assert values("normalised average class size", case) == {"normalised average class size": 1.5}
    assert values("classification metric", case) == {"classification metric": pytest.approx(1 / 6)}
    # One bit tells which class. Of the label 2 yes and 4 no are known before, 2 and 1 or none after.
    before = -(1 / 3 * math.log2(1 / 3) + 2 / 3 * math.log2(2 / 3))
    gain = before - 0.5 * before
    assert values("trade-off score", case)["trade-off score"] == pytest.approx(gain / 2)
    # Squared: 4 of 1 in 6 cells of each column; the variance of 1 2 3 7 8 9 is (16 + 9 + 4) x 2 / 6.
    variance = 58 / 6
    assert values("MSE of values", case)["MSE of values"] == pytest.approx(4 / 6 / variance)
    assert values("MSE of means", case)["MSE of means"] == pytest.approx(0)
    assert values("IL1s", case)["IL1s"] == pytest.approx(4 / 6 / math.sqrt(variance) / math.sqrt(2))
    # Variances of 9 after, in both columns, which are one.
    assert values("eigenvalue difference", case)["eigenvalue difference"] == pytest.approx(1 - 9 / variance)
    # Town x from 2/6 to 3/6: 1/6 in its own table and beside sex; sex 0.
    assert values("contingency distance %", case)["contingency distance %"] == pytest.approx(
        100 * (1 / 6 + 0 + 1 / 6) / 3
    )
    # Below x: two x and one y.
    known = -(1 / 3 * math.log2(1 / 3) + 2 / 3 * math.log2(2 / 3)) / 2
    assert values("entropy loss", case) == {
        "entropy loss, town": pytest.approx(known),
        "entropy loss, sex": pytest.approx(0, abs=1e-12),
    }
    # Each age moves 2/3 on average, of a range of 8; town 1/6; sex nothing.
    kept = values("structural utility", case)
    away = 1 - (4 / 6) / 8
    assert kept == pytest.approx(
        {
            "structural utility": (away + away) / 2,
            "structural utility, age": away,
            "structural utility, pay": away,
            "structural utility, town": 5 / 6,
            "structural utility, sex": 1.0,
        }
    )
    assert values("joint utility", case)["joint utility"] == pytest.approx(1.0)


def test_information_loss_is_that_of_the_release(whole):
    made = shoal.anonymize(table_of(), policy=whole.policy)
    case = Case(made.aligned(), made.policy, original=Table.of(table_of()))
    assert values("information loss %", case)["information loss %"] == pytest.approx(made.finding("information loss %"))


def test_combined_utility_is_the_mean_of_honest_separability_and_structure(whole):
    separable, structural = values("honest separability %", whole), values("structural utility", whole)
    found = values("combined utility", whole)
    kept = structural["structural utility"]
    assert found["combined utility"] == pytest.approx((separable["honest separability %"] / 100 + kept) / 2)
    assert found["combined utility as published"] == pytest.approx(
        (separable["separability as published %"] / 100 + kept) / 2
    )


def test_the_honest_figure_stands_first_and_the_control_beside_what_was_published(whole):
    found = CARDS["honest separability %"].function(whole)
    assert [finding.name for finding in found] == [
        "honest separability %",
        "separability as published %",
        "separability of random numbers %",
        "majority rate %",
    ]
    assert found[1].value == found[2].value
    assert "equal" in found[2].how
    assert all(finding.interval is not None for finding in found)


@pytest.mark.parametrize("name", ["honest accuracy %", "honest separability %", "combined utility", "trade-off score"])
def test_without_a_label_there_is_nothing_to_tell_apart(name, whole):
    assert CARDS[name].function(Case(PLAIN, policy(label=None), original=Table.of(PLAIN))) == ()


def test_the_order_of_rows_changes_no_figure_without_chance(whole):
    order = np.random.default_rng(0).permutation(whole.n)
    moved = Case(whole.released.take(order), whole.policy, original=whole.original.take(order))
    randomized = {"honest accuracy %", "honest separability %", "combined utility", "pMSE", "query error %"}
    for name in sorted(set(CARDS) - randomized):
        assert values(name, moved) == pytest.approx(values(name, whole), rel=1e-6, abs=1e-9), name
