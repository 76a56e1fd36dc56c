"""Repeated runs: what the pipeline notes about minimality, and protection from it."""

import runpy
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InfeasibleError, PolicyError
from shoal.pipeline.judging import case_of

TABLES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "minimality.py"), run_name="minimality")
ROWS, figures, table = (TABLES[name] for name in ("ROWS", "figures", "table"))
ASKED = {"k": 3, "l": 2, "sensitive": ["ill"]}


def figures_and_notes(release):
    return [note for note in release.notes if note.startswith("minimality: ")]


def same(labels, other):
    return len(set(zip(labels.tolist(), other.tolist(), strict=True))) == len(set(labels)) == len(set(other.tolist()))


@pytest.mark.slow
def test_unchanged_values_give_the_same_groups_again():
    for options in ({"method": "mdav"}, {}, {"method": "mdav", "refine": "quick"}, {"protect": "minimality"}):
        release = shoal.anonymize(table({0, 4, 8}), seed=5, **ASKED, **options)
        regroup = case_of(table({0, 4, 8}), release).regroup
        made = [regroup(np.arange(ROWS), seed) for seed in range(5)]
        assert any(same(release.labels, one) for one in made), options


def test_groups_with_equal_published_values_are_one_class_in_a_repetition_too():
    people = pa.table({"town": ["a"] * 12, "ill": ["yes", "no"] * 6})
    release = shoal.anonymize(people, k=3, l=2, sensitive=["ill"], method="mdav", seed=1)
    assert release._making.partition.groups > 1
    regroup = case_of(people, release).regroup
    assert set(regroup(np.arange(12), 3).tolist()) == {0}


def test_small_tables_are_measured_and_larger_ones_get_a_note_that_groups_depend_on_values():
    small = shoal.anonymize(table({0, 1, 2}), seed=1, **ASKED)
    names = {finding.name: finding for finding in small.findings}
    if "minimality, worst posterior" in names:  # a slow machine may not have the time
        assert names["minimality, worst posterior"].need == "groups"
        assert names["minimality, worst posterior"].value == 1.0
    assert len(figures_and_notes(small)) == 1
    large = shoal.anonymize(
        shoal.sample(60, seed=1), k=3, l=2, identifiers=["patient_id", "name"], sensitive=["diagnosis"]
    )
    (note,) = figures_and_notes(large)
    assert "the groups depend on sensitive values, because of distinct l-diversity," in note
    assert "only=['minimality'] in Python, --only minimality on the command line" in note
    assert "at the price of a higher information loss: protect='minimality' in Python" in note


@pytest.mark.parametrize(
    "options",
    [
        {"k": 3, "l": 2, "method": "mdav", "sensitive": ["ill"]},  # every group has both values, and none was merged
        {"k": 3, "sensitive": ["ill"]},  # nothing is required of the values
        {"k": 3, "l": 2, "sensitive": ["ill"], "protect": "minimality"},
    ],
)
def test_there_is_no_note_if_groups_do_not_depend_on_values(options):
    assert figures_and_notes(shoal.anonymize(table({0, 4, 8}), seed=1, **options)) == []


def test_a_budget_is_not_spent_on_repetitions():
    release = shoal.anonymize(table({0, 1, 2}), seed=1, budget=60, **ASKED)
    assert "the groups depend on sensitive values" in figures_and_notes(release)[0]
    assert not any("budget" in note for note in release.notes)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"method": "mdav"}, "the method must be 'auto' or 'bisection'; got 'mdav'"),
        ({"refine": "quick"}, "refine must be 'none'; got 'quick'"),
        ({"l": None}, "the policy has none. Name a sensitive column and set l, t, alpha, beta or delta"),
        ({"sensitive": [], "keep": ["ill"]}, "the policy has none"),
        ({"protect": "everything"}, "protect must be 'minimality'"),
    ],
)
def test_an_impossible_protection_is_refused(options, why):
    with pytest.raises(PolicyError, match=why.replace(".", r"\.")):
        shoal.anonymize(table({0, 4, 8}), **{**ASKED, "protect": "minimality", **options})


@pytest.mark.slow
@pytest.mark.parametrize("asked", [{"l": 2}, {"t": 0.5}, {"constraints": {"alpha": 0.8}}, {"constraints": {"beta": 3}}])
@pytest.mark.parametrize("output", ["same-schema", "truthful"])
def test_a_protected_release_of_any_table_is_verified_and_states_its_cost(asked, output, tmp_path):
    people = shoal.sample(150, seed=2)
    roles = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis", "smoker"]}
    release = shoal.anonymize(people, k=4, protect="minimality", output=output, **asked, **roles)
    assert release.policy.method.name == "bisection"
    assert 0 <= release.finding("minimality, excess") <= 0.1 + 1e-9
    assert 0 <= release.finding("rows left in larger groups %") <= 100
    folder = release.save(tmp_path / "out", report=False)
    assert shoal.verify(folder).holds
    assert 'protect = "minimality"' in (folder / "policy.toml").read_text()


def test_a_protected_run_is_repeated_by_its_seed_and_row_weights_do_not_guide_it():
    people = pa.table({"age": range(40), "w": [1.0, 2.0] * 20, "ill": ["yes", "no", "no", "no"] * 10})
    options = {"k": 3, "l": 2, "sensitive": ["ill"], "keep": ["w"], "weight": "w", "protect": "minimality"}
    one, two = (shoal.anonymize(people, seed=9, **options) for _ in range(2))
    assert one.table.equals(two.table)
    assert any("this method ignores them when it forms groups" in note for note in one.notes)
    found = shoal.Anonymizer(k=3, l=2, sensitive=["ill"], keep=["w"], protect="minimality").fit(people).release_
    assert found.policy.protect == "minimality"


def test_constraints_that_the_whole_table_misses_are_refused_under_protection_too():
    with pytest.raises(InfeasibleError):
        shoal.anonymize(table(set()), protect="minimality", **ASKED)


def test_explorations_try_no_other_method_under_protection():
    found = shoal.explore(table({0, 4, 8}), k=3, l=2, sensitive=["ill"], protect="minimality", jobs=1, dry_run=True)
    assert found.estimate.runs == 1
    assert any("which only bisection gives" in one.reason for one in found.skipped)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("cases", [2, 3])
def test_releases_of_the_review_tables_are_safe_or_have_the_warning(cases):
    """All placements of two and three cases among nine rows, k = 3, l = 2, and a seed unknown to the attacker."""
    found = figures(cases, range(2))
    assert found.proved  # the groups of the default method do prove an illness on some of these tables
    for ill in sorted(found.likely)[::4]:
        assert figures_and_notes(shoal.anonymize(table(ill), **ASKED))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("cases", [2, 3])
def test_on_the_review_tables_protection_keeps_the_excess_below_a_tenth(cases):
    safe = figures(cases, range(40), protect="minimality")
    assert not safe.proved
    assert safe.posterior <= 0.75
    assert safe.excess <= 0.1 + 0.05  # of 40 seeds
