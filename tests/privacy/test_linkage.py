"""Linkage attacks: figures worked out by hand, published figures, and releases that must and must not be found out."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.pipeline.hierarchies import given_trees
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile as profile_table
from shoal.privacy.attacks import linkage as module
from shoal.privacy.attacks.attack import Clock, Profile
from shoal.privacy.attacks.linkage import fellegi_sunter, linkability, probabilistic_linkage, record_linkage
from shoal.privacy.measures import space as measured
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson

ATTACKS = [record_linkage, probabilistic_linkage, linkability]
NAMES = [attack.card.name for attack in ATTACKS]
SEEDS = [0, 1, 2]
every_attack = pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)


def tried(attack, case, known=None, seconds=None):
    known = case.policy.names("quasi") if known is None else known
    return attack(case, Profile("knows some columns", tuple(known)), Clock(seconds))


def policy_of(table):
    held = Table.of(table)
    return complete(Policy.of(k=5), held, profile_table(held))[0]


def case_of(before, after=None, **more):
    """Return the case of a release in the same form as the table; a raw copy if none is given."""
    return Case(before if after is None else after, policy_of(before), original=Table.of(before), **more)


def generated(seed, n=600):
    """Return people whose columns depend on each other: five numbers and a name."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    mixed = hidden @ rng.normal(size=(2, 5)) + 0.6 * rng.normal(size=(n, 5))
    names = np.array(["a", "b", "c", "d"])[np.clip(np.round(hidden[:, 0] + 1.5), 0, 3).astype(int)]
    return pa.table({**{f"x{j}": np.round(mixed[:, j] * 100, 1) for j in range(5)}, "town": names})


def shuffled(table, seed):
    """Return a copy in which every column was shuffled on its own."""
    rng = np.random.default_rng(seed + 100)
    return pa.table({name: table.column(name).take(rng.permutation(table.num_rows)) for name in table.column_names})


def each_alone(table, k):
    """Return every column microaggregated on its own: runs of k sorted cells, each replaced by its mean."""
    found = {}
    for name in table.column_names:
        cells = table.column(name).to_numpy().astype(float)
        order = np.argsort(cells, kind="stable")
        runs = np.minimum(np.arange(cells.size) // k, cells.size // k - 1)
        means = np.bincount(runs, cells[order]) / np.bincount(runs)
        found[name] = np.empty(cells.size)
        found[name][order] = means[runs]
    return pa.table(found)


def numbers_only(table):
    return table.drop_columns(["town"])


@every_attack
@pytest.mark.parametrize("seed", SEEDS)
def test_a_raw_copy_is_a_leak(attack, seed):
    found = tried(attack, case_of(generated(seed), seed=seed))
    assert (found.name, found.outcome, found.trials) == (attack.card.name, "leak", 600)
    assert found.rate > 0.9
    assert found.power == pytest.approx(found.rate)
    assert found.baseline == pytest.approx(1 / 600)


@every_attack
@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_with_every_column_shuffled_is_no_leak(attack, seed):
    table = generated(seed)
    found = tried(attack, case_of(table, shuffled(table, seed), seed=seed))
    assert found.outcome == "no evidence"
    assert found.rate < 0.03
    assert found.power > 0.9


@pytest.mark.slow
@pytest.mark.compiled
@every_attack
@pytest.mark.parametrize("seed", SEEDS)
def test_a_release_by_mdav_is_no_leak(attack, seed):
    table = numbers_only(generated(seed))
    release = shoal.anonymize(table, k=5, method="mdav")
    found = tried(attack, Case(release.aligned(), release.policy, original=Table.of(table), seed=seed))
    assert found.outcome == "no evidence"
    assert found.rate <= 1 / 5
    assert found.power > 0.9


@pytest.mark.compiled
def test_a_release_by_mdav_is_linked_far_more_often_than_by_chance():
    table = numbers_only(generated(0))
    release = shoal.anonymize(table, k=5, method="mdav")
    case = Case(release.aligned(), release.policy, original=Table.of(table))
    assert tried(record_linkage, case).rate > 0.1
    assert tried(probabilistic_linkage, case).rate > 0.05
    assert tried(linkability, case).rate > 0.01


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_microaggregated_one_by_one_are_linked_nearly_always(seed):
    table = numbers_only(generated(seed))
    found = tried(record_linkage, case_of(table, each_alone(table, 5), seed=seed))
    assert found.rate > 0.97
    assert found.outcome == "leak"


@pytest.fixture(scope="module")
def census(data_file):
    return csv.read_csv(data_file("census.csv"))


@pytest.mark.compiled
@pytest.mark.parametrize(("k", "rate"), [(3, 0.293), (5, 0.160), (10, 0.073)])
def test_record_linkage_on_census_as_measured_on_mdav(census, k, rate):
    release = shoal.anonymize(census, k=k, method="mdav", quasi=census.column_names)
    found = tried(record_linkage, Case(release.aligned(), release.policy, original=Table.of(census)))
    assert found.trials == 1080
    assert found.rate == pytest.approx(rate, abs=0.005)
    assert found.interval[1] < 1 / k + 0.01
    assert found.outcome == "no evidence"


@pytest.mark.slow
def test_individual_ranking_of_census_is_a_leak(census):
    found = tried(record_linkage, case_of(census, each_alone(census, 5)))
    assert found.rate == pytest.approx(0.999, abs=0.005)
    assert found.outcome == "leak"
    assert tried(probabilistic_linkage, case_of(census, each_alone(census, 5))).outcome == "leak"
    assert tried(linkability, case_of(census, each_alone(census, 5))).outcome == "leak"


def numbers(rows, released, **more):
    """Return a case of columns of numbers, from rows before and after."""
    names = [f"x{j}" for j in range(len(rows[0]))]
    policy = Policy.of({"columns": {name: {"kind": "numeric", "form": "mean"} for name in names}}, k=2)
    before, after = (pa.table(dict(zip(names, np.array(some, float).T, strict=True))) for some in (rows, released))
    return Case(after, policy, original=Table.of(before), **more)


def test_record_linkage_worked_out_by_hand():
    # 1 and 2 lie nearest to 1.5, held by two rows: a half each. 4 lies as near to 1.5 as to 6.5, four rows of which
    # one is its own: a quarter. 9 lies nearest to 6.5: a half.
    case = numbers([(1,), (2,), (4,), (9,)], [(1.5,), (1.5,), (6.5,), (6.5,)])
    found = tried(record_linkage, case)
    assert found.successes == pytest.approx(0.5 + 0.5 + 0.25 + 0.5)
    assert (found.trials, found.baseline, found.power) == (4, 0.25, 1.0)
    assert found.interval == wilson(found.successes, 4)
    assert found.outcome == "too weak to tell"


def test_a_wrong_row_that_is_nearest_counts_nothing():
    assert tried(record_linkage, numbers([(1,), (2,)], [(2,), (1,)])).successes == 0


def test_linkability_worked_out_by_hand():
    # By one column the first target has rows {0, 1}, by the other {0, 2}: one row in common, of 2 times 2.
    # The second has {0, 1} and {1, 3}, the third {2, 3} and {0, 2}, the last {2, 3} and {1, 3}: the same.
    table = [(0, 0), (0, 1), (1, 0), (1, 1)]
    found = tried(linkability, numbers(table, table))
    assert found.successes == pytest.approx(4 * 1 / 4)
    assert found.power == pytest.approx(1 / 4)
    assert found.note == "the two sets share rows for 100.0% of the targets"
    # Both columns point to the same class of two rows: two in common, of 2 times 2.
    pairs = [(0, 0), (0, 0), (5, 5), (5, 5)]
    assert tried(linkability, numbers(pairs, pairs)).rate == pytest.approx(1 / 2)
    # Each column points to a row of its own, and never to the same one.
    assert tried(linkability, numbers([(0, 0), (5, 5)], [(0, 5), (5, 0)])).rate == 0


def test_two_sets_drawn_by_chance_meet_as_the_baseline_of_linkability_says():
    rng, n, found = np.random.default_rng(0), 40, []
    for a, b in rng.integers(1, 20, (20_000, 2)).tolist():
        common = set(rng.permutation(n)[:a].tolist()) & set(rng.permutation(n)[:b].tolist())
        found.append(len(common) / (a * b))
    assert np.mean(found) == pytest.approx(1 / n, rel=0.05)


def test_control_rows_of_other_people_are_linked_by_the_structure_of_the_columns_alone():
    everybody = generated(0, 1200)
    found = tried(linkability, case_of(everybody.slice(0, 600), control=Table.of(everybody.slice(600))))
    assert found.outcome == "leak"
    assert 0 <= found.control < 0.1
    others = holed(everybody.slice(600, 300).filter(pc.not_equal(everybody.slice(600, 300)["town"], "a")), 0)
    assert 0 <= tried(linkability, case_of(everybody.slice(0, 600), control=Table.of(others))).control < 0.1


def test_expectation_maximization_finds_how_often_pairs_agree():
    rng, share = np.random.default_rng(0), 0.02
    m = np.array([[0.1, 0.2, 0.7], [0.05, 0.15, 0.8], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8], [0.02, 0.08, 0.9]])
    u = np.array([[0.8, 0.15, 0.05], [0.7, 0.2, 0.1], [0.85, 0.1, 0.05], [0.75, 0.2, 0.05], [0.9, 0.05, 0.05]])
    matches = 4_000
    drawn = [
        np.stack([rng.choice(3, size, p=shares) for shares in table], axis=1)
        for size, table in ((matches, m), (int(matches / share) - matches, u))
    ]
    patterns, counts = np.unique(np.concatenate(drawn), axis=0, return_counts=True)
    found_m, found_u = fellegi_sunter(patterns.astype(np.uint8), counts.astype(float), share)
    assert np.abs(found_m - m).max() < 0.03
    assert np.abs(found_u - u).max() < 0.01


def test_expectation_maximization_of_one_pattern_gives_shares():
    m, u = fellegi_sunter(np.zeros((1, 2), np.uint8), np.array([10.0]), 0.1)
    for shares in (m, u):
        assert shares.sum(axis=1) == pytest.approx([1, 1])
        assert (shares > 0).all()


def test_probabilistic_linkage_prefers_a_column_that_tells_more():
    # One column has many values and one has two. A row that agrees in the first is better than one that agrees in the
    # second, so every row is found, though its second cell was turned round in one row of ten.
    rows = [(i, i % 2) for i in range(40)]
    released = [(i, 1 - i % 2 if i % 10 == 0 else i % 2) for i in range(40)]
    assert tried(probabilistic_linkage, numbers(rows, released)).rate == 1


@every_attack
def test_with_no_known_column_the_rate_is_chance(attack):
    found = tried(attack, case_of(generated(0)), known=())
    assert found.rate == pytest.approx(1 / 600)
    assert found.outcome == "too weak to tell"
    assert found.note == "no column is known: the guess is random"


def test_one_column_alone_cannot_be_split_in_two():
    found = tried(linkability, case_of(generated(0)), known=("x0",))
    assert found.rate == pytest.approx(1 / 600)
    assert found.outcome == "too weak to tell"


@every_attack
def test_a_constant_column_tells_nothing_and_disturbs_nothing(attack):
    table = generated(0).append_column("same", pa.array([7.5] * 600)).append_column("name", pa.array(["z"] * 600))
    assert tried(attack, case_of(table), known=("same", "name")).rate == pytest.approx(1 / 600)
    assert tried(attack, case_of(table), known=("x0", "x1", "x2", "x3", "same")).outcome == "leak"


@every_attack
def test_few_rows_are_too_few_to_tell(attack):
    table = generated(0, 12)
    found = tried(attack, case_of(table, shuffled(table, 0)))
    assert (found.trials, found.outcome) == (12, "too weak to tell")


@every_attack
def test_a_release_of_one_row_and_of_none(attack):
    table = generated(0, 40)
    one = Case(table.slice(0, 1), policy_of(table), original=Table.of(table.slice(0, 1)))
    assert tried(attack, one).rate == 1
    none = Case(table.slice(0, 0), policy_of(table), original=Table.of(table.slice(0, 0)))
    found = tried(attack, none)
    assert (found.trials, found.rate, found.outcome) == (0, None, "not tried")
    assert found.note == "the release has no rows"


@every_attack
def test_a_table_of_other_length_is_refused(attack):
    table = generated(0, 40)
    with pytest.raises(DataError, match="40 rows and the release 30"):
        tried(attack, Case(table.slice(0, 30), policy_of(table), original=Table.of(table)))


@every_attack
def test_the_original_is_needed(attack):
    table = generated(0, 40)
    with pytest.raises(DataError, match="needs the original"):
        tried(attack, Case(table, policy_of(table)))


def holed(table, seed):
    """Return the table with a tenth of its cells missing."""
    rng, n = np.random.default_rng(seed), table.num_rows
    gaps = {name: rng.random(n) < 0.1 for name in table.column_names}
    return pa.table({name: pa.array(table.column(name).to_pylist(), mask=gap) for name, gap in gaps.items()})


@every_attack
def test_missing_cells_are_compared_too(attack):
    table = holed(generated(0), 0)
    assert tried(attack, case_of(table)).outcome == "leak"
    assert tried(attack, case_of(table, shuffled(table, 0))).outcome == "no evidence"


@pytest.mark.slow
@pytest.mark.compiled
@every_attack
@pytest.mark.parametrize("output", ["truthful", "same-schema"])
def test_a_release_of_mixed_columns_is_no_leak(attack, output):
    table = holed(generated(1), 1)
    release = shoal.anonymize(table, k=5, output=output)
    found = tried(attack, Case(release.aligned(), release.policy, original=Table.of(table)))
    assert found.outcome == "no evidence"
    assert 0 < found.rate <= 1 / 5
    assert found.power > 0.8


@pytest.mark.slow
@pytest.mark.compiled
@every_attack
def test_columns_with_hierarchies_are_compared(attack):
    table = generated(1)
    release = shoal.anonymize(table, k=5, hierarchies={"town": {"west": ["a", "b"], "east": ["c", "d"]}})
    case = Case(release.aligned(), release.policy, original=Table.of(table), trees=given_trees(release.policy))
    assert 0 < tried(attack, case).rate <= 1 / 5


@every_attack
def test_the_attack_ends_when_the_time_is_up(attack, monkeypatch):
    monkeypatch.setattr(measured, "BLOCK", 600 * 50)
    found = tried(attack, case_of(generated(0)), seconds=0)
    assert found.trials == 50
    assert "time ran out after 50 of 600 targets" in found.note
    assert found.outcome == "leak"


@every_attack
def test_targets_are_a_sample_of_a_large_table(attack, monkeypatch):
    monkeypatch.setattr(module, "MOST", 100)
    monkeypatch.setattr(module, "MOST_PROBABLE", 100)
    found = tried(attack, case_of(generated(0)))
    assert (found.trials, found.outcome) == (100, "leak")
    assert tried(attack, case_of(generated(0))) == found


def test_of_many_columns_the_rarest_agreements_are_compared(monkeypatch):
    monkeypatch.setattr(module, "COLUMNS", 3)
    found = tried(probabilistic_linkage, case_of(generated(0)))
    assert found.note == "3 of 6 columns were compared"
    assert found.outcome == "leak"


def test_more_columns_than_patterns_can_be_numbered():
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.normal(size=100) for j in range(45)})
    found = tried(probabilistic_linkage, case_of(table))
    assert (found.rate, found.note) == (1, "39 of 45 columns were compared")


def test_no_cell_is_in_what_an_attack_says():
    table = pa.table({"x": [f"Zebedee{i}" for i in range(40)], "y": [f"Zebedee{i % 7}" for i in range(40)]})
    policy = Policy.of({"columns": {name: {"kind": "nominal", "form": "mode"} for name in "xy"}}, k=5)
    for attack in ATTACKS:
        found = tried(attack, Case(table, policy, original=Table.of(table)))
        assert "Zebedee" not in repr(found)


cells = st.integers(0, 4)


@pytest.mark.slow
@every_attack
@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=25), rng=st.randoms())
def test_rates_are_shares_and_do_not_depend_on_the_order_of_rows(attack, rows, rng):
    released = [(a // 2, b // 2, c) for a, b, c in rows]
    found = tried(attack, numbers(rows, released))
    assert 0 <= found.rate <= 1
    assert 0 <= found.power <= 1
    order = list(range(len(rows)))
    rng.shuffle(order)
    again = tried(attack, numbers([rows[i] for i in order], [released[i] for i in order]))
    assert again.successes == pytest.approx(found.successes, abs=1e-6)
    assert again.power == pytest.approx(found.power, abs=1e-6)


@pytest.mark.slow
@every_attack
@given(rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=25))
def test_no_rate_is_above_one_in_the_smallest_class(attack, rows):
    released = [(a // 3, b // 3, 0) for a, b, c in rows]
    smallest = min(released.count(row) for row in released)
    assert tried(attack, numbers(rows, released)).rate <= 1 / smallest + 1e-9


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=20))
def test_record_linkage_equals_a_slow_count(rows):
    released = [(a // 2 * 2, b) for a, b in rows]
    spread = [np.std([row[j] for row in rows]) or 1.0 for j in range(2)]
    total = 0.0
    for i, row in enumerate(rows):
        away = [sum(((row[j] - other[j]) / spread[j]) ** 2 for j in range(2)) for other in released]
        tied = [place for place, one in enumerate(away) if one <= min(away) + 1e-9]
        total += (i in tied) / len(tied)
    assert tried(record_linkage, numbers(rows, released)).successes == pytest.approx(total)
