"""Rank intervals, homogeneity and attribute inference: by hand, on planted leaks, and on releases that leak nothing."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile as profile_of
from shoal.privacy.attacks.attack import Clock, Profile, profiles
from shoal.privacy.attacks.composition import Suspects
from shoal.privacy.attacks.inference import (
    Secret,
    attribute_inference,
    guessed,
    homogeneity,
    peers,
    posterior,
    rank_interval,
    revealed,
    within_ranks,
)
from shoal.privacy.measures import space
from shoal.privacy.measures.case import Case

ATTACKS = (rank_interval, homogeneity, attribute_inference)


def people(n=600, seed=0):
    """Return people whose columns go together, and whose illness and cost depend on the others."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    town = np.clip((base + rng.normal(size=n)) * 1.2 + 3, 0, 5).astype(int)
    ill = np.clip(np.round(base + 0.7 * rng.normal(size=n) + 1.5), 0, 3).astype(int)
    return pa.table(
        {
            "age": np.round(45 + 15 * (base + 0.6 * rng.normal(size=n)), 1),
            "pay": np.round(3000 + 700 * (base + 0.8 * rng.normal(size=n)), 2),
            "height": np.round(170 + 9 * rng.normal(size=n) + 2 * base, 1),
            "town": np.array(list("abcdef"))[town],
            "ill": np.array(["cold", "flu", "gout", "ulcer"])[ill],
            "cost": np.round(100 + 40 * (base + 0.5 * rng.normal(size=n)), 2),
        }
    )


def shuffled(data, seed=5):
    """Return a table each of whose columns is shuffled on its own."""
    rng = np.random.default_rng(seed)
    orders = {name: pa.array(rng.permutation(data.num_rows)) for name in data.column_names}
    return pa.table({name: data.column(name).take(order) for name, order in orders.items()})


def case_of(original, released=None, sensitive=("ill",), form=None, **more):
    """Return the case of a release, the original itself if none is given."""
    given_policy = {"columns": {name: {"role": "sensitive"} for name in sensitive}} if form is None else form
    table = Table.of(original)
    others = [name for name in original.column_names if name not in given_policy.get("columns", {})]
    policy, _ = complete(Policy.of(given_policy, k=5, quasi=others), table, profile_of(table))
    return Case(original if released is None else released, policy, original=table, **more)


def attacked(attack, case, clock=None):
    return attack(case, profiles(case)["all"], clock or Clock())


def anonymized(table, l=2, **options):
    release = shoal.anonymize(
        table,
        k=5,
        l=l,
        sensitive=["ill"],
        accept=["unique-kept"],
        **{"keep": ["town", "cost"], "method": "mdav"} | options,
    )
    return Case(release.aligned(), release.policy, original=Table.of(table))


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("sensitive", [("ill",), ("cost",), ("ill", "cost")])
def test_a_raw_copy_leaks_and_shuffled_columns_do_not(attack, sensitive):
    table = people()
    bare = attacked(attack, case_of(table, sensitive=sensitive))
    assert (bare.outcome, bare.rate) == ("leak", 1.0)
    for seed in range(3):
        mixed = attacked(attack, case_of(table, shuffled(table, seed), sensitive))
        assert mixed.outcome == "no evidence"
        assert mixed.power == 1.0


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_ordinary_release_with_k_and_l_shows_no_leak(attack):
    found = attacked(attack, anonymized(people()))
    assert found.outcome == "no evidence"
    assert 0 <= found.rate < found.power


@pytest.mark.parametrize("attack", ATTACKS)
def test_ranges_and_sets_can_be_attacked(attack):
    found = attacked(attack, anonymized(people(), method="grow", output="truthful", keep=["cost"]))
    assert found.outcome == "no evidence"
    assert found.trials in (600, 1800)


def test_a_column_microaggregated_on_its_own_is_told_by_rank_intervals():
    table = people()
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name in ("age", "pay", "height"):
        values = table.column(name).to_numpy()
        order = np.argsort(values, kind="stable").reshape(-1, 5)
        moved = np.empty(600)
        moved[order] = values[order].mean(axis=1)[:, None]
        columns[name] = pa.chunked_array([moved])
    found = attacked(rank_interval, case_of(table, pa.table(columns)))
    assert found.outcome == "leak"
    assert found.rate == 1.0


def test_ranks_within_two_per_cent_worked_out_by_hand():
    column = np.arange(100.0)
    # 12 is 2 of 100 ranks from 10, 13 is 3 of them, and NaN is near nothing.
    assert within_ranks(np.array([12.0, 13, np.nan, 8]), np.full(4, 10.0), column).tolist() == [
        True,
        False,
        False,
        True,
    ]


def test_a_constant_release_is_as_good_as_the_best_constant():
    table = pa.table({"a": np.arange(100.0)})
    found = attacked(rank_interval, case_of(table, pa.table({"a": np.full(100, 50.0)}), ()))
    # 48, 49, 50, 51 and 52 are near 50; no other number is near more than five.
    assert (found.rate, found.baseline) == pytest.approx((0.05, 0.05))
    # In a column alone, five neighbours are always near enough: failing to be nearer proves nothing.
    assert found.outcome == "too weak to tell"


def test_a_suppressed_cell_is_no_success_and_a_missing_one_no_trial():
    table = pa.table({"a": pa.array([None, *map(float, range(39))])})
    found = attacked(rank_interval, case_of(table, pa.table({"a": pa.nulls(40, pa.float64())}), ()))
    assert (found.successes, found.trials, found.outcome) == (0, 39, "no evidence")


FOUND = Suspects(np.array([0, 0, 1]), np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 3, 4]))
CODES = np.array([0, 0, 1, 1, 2])


def test_posteriors_worked_out_by_hand():
    share, top, ties = posterior(FOUND, CODES, np.array([0, 1, 0]))
    # Among 0 0 1, 0 has 2/3 and 1 has 1/3; among 1 2, 0 has nothing and both have 1/2.
    assert share == pytest.approx([2 / 3, 1 / 3, 0])
    assert top == pytest.approx([2 / 3, 2 / 3, 1 / 2])
    assert ties.tolist() == [1, 1, 2]


def test_guesses_of_names_worked_out_by_hand():
    # The commonest of 0 0 1 is 0: right, wrong. Of 1 2 it is either: half right.
    secret = Secret(CODES, np.array([0, 1, 2, 2, 2]))
    assert guessed(FOUND, secret, np.array([0, 1, 4])).tolist() == [1.0, 0.0, 0.5]


def test_guesses_of_numbers_worked_out_by_hand():
    truth = np.arange(101.0)
    published = truth.copy()
    published[:5] = [10, 20, 30, np.nan, np.nan]
    # The mean of 10, 20 and 30 is 20, and 5 per cent of the range of 10 to 100 is 4.75; of two gaps there is no mean.
    truth[:5] = [24.7, 24.8, 15.3, np.nan, 7]
    secret = Secret(np.arange(101), np.arange(101), published, truth)
    assert secret.span == 95
    secret = secret._replace(numbers=np.where(published > 90, 90.0, published))
    assert secret.span == 85  # 4.25 on either side
    found = FOUND._replace(who=np.array([0, 0, 0, 1, 1]))
    assert guessed(found, secret, np.arange(5)).tolist() == [0, 0, 0, 1, 0]
    truth[:3] = [24.2, 24.3, 15.8]
    assert guessed(found, secret, np.arange(5)).tolist() == [1, 0, 1, 1, 0]


def test_what_is_given_away_worked_out_by_hand():
    eleven = Suspects(np.zeros(2, np.int64), np.zeros(11, np.int64), np.arange(11))
    ten = Suspects(np.zeros(2, np.int64), np.zeros(10, np.int64), np.arange(10))
    codes = np.array([*[0] * 9, 1, 0])
    # 10 of 11 is above 0.9, and 9 of 10 is not. Who is the exception is not given away.
    secret = Secret(codes, codes)
    assert revealed(eleven, secret, np.array([0, 9])).tolist() == [True, False]
    assert revealed(ten, secret, np.array([0, 9])).tolist() == [False, False]


def test_values_close_to_each_other_are_given_away_too():
    published = np.array([10, 11, 14, 10, 15.0, 0, 100, 10, np.nan])
    found = Suspects(np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 1, 2, 3, 4, 7, 8]))
    truth = np.array([14.5, 14.6, 12, 10, 0, 0, 100, 0, 0])
    secret = Secret(np.arange(9), np.arange(9) + 20, published, truth)
    # 10, 11 and 14 span 4 of 100: the window is 12 ± 2.5. 10 and 15 span 5, which is too much; a gap spoils the third.
    assert revealed(found, secret, np.array([0, 1, 2, 3])).tolist() == [True, False, False, False]


def test_classes_of_one_value_leak_and_are_counted():
    table = people()
    release = anonymized(table, l=None)
    ill = np.array(table.column("ill").to_pylist(), object)
    labels = release.labels
    ill = ill[np.unique(labels, return_index=True)[1]][labels]  # everybody in a class has what the first one has
    planted = table.set_column(4, "ill", pa.array(ill.tolist()))
    released = release.released.set_column(4, "ill", pa.array(ill.tolist()))
    found = attacked(homogeneity, Case(released, release.policy, original=Table.of(planted)))
    assert found.outcome == "leak"
    assert "'ill': 600 of 600 rows are in classes with one value" in found.note


@pytest.mark.parametrize("n", [40, 600, 2000])
def test_nobody_given_away_is_no_leak(n):
    table = people(n).set_column(4, "ill", pa.array([f"ill {row % 40}" for row in range(n)]))
    found = attacked(homogeneity, anonymized(table))
    assert (found.successes, found.outcome) == (0, "no evidence")


@pytest.mark.parametrize("seed", range(5))
def test_a_column_with_one_frequent_value_is_no_false_alarm(seed):
    table = people(seed=seed)
    rare = np.random.default_rng(seed).random(600) < 0.07
    table = table.set_column(4, "ill", pa.array(np.where(rare, "gout", "flu").tolist()))
    found = attacked(homogeneity, anonymized(table, l=None))
    assert (found.outcome, found.power) == ("no evidence", 1.0)
    assert found.baseline > 0.9  # the constant guess may be sure
    assert found.rate > 0.5  # and so may many others, about what is no secret


def test_of_several_sensitive_columns_the_worst_is_named():
    table = people()
    mixed = table.set_column(5, "cost", table.column("cost").take(pa.array(np.random.default_rng(1).permutation(600))))
    for attack in (homogeneity, attribute_inference):
        found = attacked(attack, case_of(table, mixed, ("cost", "ill")))
        assert found.outcome == "leak"
        assert "'ill'" in found.note


def test_people_who_are_not_in_the_release_are_a_control():
    table = people()
    case = case_of(table, control=Table.of(people(200, seed=1)))
    found = attacked(attribute_inference, case)
    assert found.baseline < found.control < found.rate
    assert attacked(attribute_inference, case_of(table)).control is None
    without = Table.of(people(200, seed=1).drop_columns(["ill"]))
    assert attacked(attribute_inference, case_of(table, control=without)).control is None


def test_control_rows_may_lack_one_of_several_sensitive_columns():
    table, outsiders = people(), people(200, seed=1)
    both = attacked(attribute_inference, case_of(table, sensitive=("ill", "cost"), control=Table.of(outsiders)))
    assert "'cost'" in both.note
    known = Table.of(outsiders.drop_columns(["ill"]))
    assert attacked(attribute_inference, case_of(table, sensitive=("ill", "cost"), control=known)) == both


def test_control_rows_without_a_quasi_identifier_are_refused():
    with pytest.raises(DataError, match="the control rows have no column 'age'"):
        attacked(attribute_inference, case_of(people(), control=Table.of(people().drop_columns(["age"]))))


@pytest.mark.parametrize("attack", [homogeneity, attribute_inference])
def test_without_a_sensitive_column_nothing_is_tried(attack):
    found = attacked(attack, case_of(people(), sensitive=()))
    assert (found.trials, found.outcome, found.note) == (0, "not tried", "there is no sensitive column")


def test_without_a_column_with_an_order_nothing_is_tried():
    found = attacked(rank_interval, case_of(people().select(["town", "ill"])))
    assert (found.trials, found.outcome, found.note) == (0, "not tried", "there is no column with an order")


ODD = {
    "no rows": people(0).select(["age", "ill"]),
    "one row": people(1).select(["age", "ill"]),
    "three rows": people(3).select(["age", "ill"]),
    "constant": pa.table({"age": [1.0] * 30, "ill": ["a"] * 30}),
    "missing": pa.table({"age": pa.nulls(30, pa.float64()), "ill": pa.nulls(30, pa.string())}),
    "dates": pa.table({"age": [dt.date(1970, 1, day + 1) for day in range(30)], "ill": [None, *range(29)]}),
    "lists": pa.table({"age": [*range(29), None], "ill": [[1], [2, 3]] * 15}),
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("name", ODD)
def test_odd_tables_are_attacked_without_a_word(attack, name):
    table = ODD[name]
    kind, secret = "date" if name == "dates" else "numeric", "numeric" if name == "dates" else "nominal"
    form = {"columns": {"age": {"kind": kind}, "ill": {"role": "sensitive", "kind": secret}}}
    empty = table.set_column(0, "age", pa.nulls(len(table), table.schema.field("age").type))
    for released in (table, shuffled(table), empty):
        found = attacked(attack, case_of(table, released, form=form))
        assert {found.rate is None, found.interval is None, found.outcome == "not tried"} == {not found.trials}
        assert found.rate is None or 0 <= found.rate <= 1
        assert 0 <= found.baseline <= 1
        assert found.outcome in ("leak", "no evidence", "too weak to tell", "not tried")


def test_levels_are_attacked_by_their_order():
    levels = ["low", "mid", "high"]
    rng = np.random.default_rng(0)
    table = pa.table(
        {"a": np.array(levels)[rng.integers(3, size=90)], "ill": np.array(levels)[rng.integers(3, size=90)]}
    )
    column = {"kind": "ordinal", "order": levels}
    form = {"columns": {"a": column, "ill": {"role": "sensitive", **column}}}
    assert attacked(rank_interval, case_of(table, form=form)).rate == 1
    for attack in (homogeneity, attribute_inference):
        assert (
            attacked(attack, case_of(table, form=form)).outcome != "leak"
        )  # thirty rows of each level hide each other


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_whose_time_is_up_says_so(attack, monkeypatch):
    monkeypatch.setattr(space, "BLOCK", 60_000)
    found = attacked(attack, case_of(people()), Clock(0.0))
    assert "time ran out after 100 of 600 targets" in found.note
    assert found.trials in (100, 400)
    assert found.outcome == "leak"


def test_somebody_who_knows_nothing_learns_nothing():
    case = case_of(people())
    found = attribute_inference(case, Profile("knows nothing", ()), Clock())
    assert found.rate == found.baseline
    assert found.outcome == "too weak to tell"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=30), st.randoms())
def test_posteriors_are_shares_and_do_not_depend_on_the_order_of_rows(rows, rng):
    owner, codes = np.array(sorted(rows)).T
    owner = np.unique(owner, return_inverse=True)[1].reshape(-1)
    who, true = np.arange(owner.max() + 1), np.array([rng.randrange(5) for _ in range(owner.max() + 1)])
    found = Suspects(who, owner, np.arange(owner.size))
    share, top, ties = posterior(found, codes, true)
    assert ((share >= 0) & (share <= top + 1e-12) & (top <= 1) & (ties >= 1)).all()
    order = np.array(rng.sample(range(owner.size), owner.size))
    place = np.argsort(order)
    again = posterior(found._replace(row=place), codes[order], true)
    assert all((one == two).all() for one, two in zip((share, top, ties), again, strict=True))
    for one, two, value in zip(who, share, true, strict=True):
        assert two == pytest.approx(np.mean(codes[owner == one] == value))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=20), st.integers(1, 6))
def test_peers_are_the_nearest_rows_with_the_row_itself_first(rows, k):
    X = np.array(rows, np.float64)
    found = peers(X, np.arange(len(X)), k, Clock())
    assert found.shape == (len(X), min(k, len(X)))
    assert (found[:, 0] == np.arange(len(X))).all()
    for row, near in enumerate(found):
        away = ((X - X[row]) ** 2).sum(axis=1)
        assert len(set(near.tolist())) == near.size
        assert sorted(away[near]) == pytest.approx(sorted(away)[: near.size])
