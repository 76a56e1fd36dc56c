"""Columns published unchanged: every rare value is noted, and too many unique rows are refused."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.errors import PolicyError
from shoal.model.exposure import MANY_ALONE, SMALL_TABLE, stands_out
from shoal.model.policy import Policy
from shoal.privacy.attacks.unchanged import Unchanged

N = 200
RNG = np.random.default_rng(11)
AGE, ZONE = RNG.integers(20, 80, N), RNG.integers(0, 9, N)


def table(**more):
    return pa.table(
        {"age": AGE[: len(next(iter(more.values())))], "zone": ZONE[: len(next(iter(more.values())))], **more}
    )


ILL = ["flu", "gout", "cold", "asthma"] * (N // 4)
SALARY = RNG.lognormal(10, 1, N).round(2)


def released(data, **options):
    return shoal.anonymize(data, k=5, method="mdav", **options)


def about(release, word):
    return [note for note in release.notes if word in note]


def test_one_rare_value_is_noted():
    rare = ["E75.2", *ILL[1:]]
    for role in ("sensitive", "keep"):
        [message] = about(released(table(ill=rare), **{role: ["ill"]}), "has rare values")
        assert message.startswith(
            "column 'ill' is published unchanged and has rare values, each in fewer than 5 rows. Anyone who"
        )
        assert "E75.2" not in message
    assert not about(released(table(ill=ILL), sensitive=["ill"]), "rare values")


@pytest.mark.parametrize("alone", [3, 30, N - 3])
def test_no_two_numbers_of_the_notes_reveal_few_rows(alone):
    values = [f"rare {place}" for place in range(alone)] + ["often"] * (N - alone - 2) + ["twice"] * 2
    notes = about(released(table(ill=values), keep=["ill"], accept=["unique-kept"]), "unchanged")
    numbers = {int(one.replace(",", "")) for one in re.findall(r"[0-9][0-9,]*", " ".join(notes))} - {5}
    assert numbers == ({N, alone} if 5 <= alone <= N - 5 else {N})


def test_one_row_that_is_unique_in_several_columns_is_noted():
    ill, town = list(ILL), ["Ulm", "Bonn", "Ulm", "Bonn"] * (N // 4)
    town[0] = "Bonn"  # the only flu in Bonn
    release = released(table(ill=ill, town=town), sensitive=["ill"], keep=["town"])
    [message] = about(release, "unique in the columns")
    assert message.startswith("fewer than 5 of 200 rows are unique in the columns that are published unchanged")
    assert not about(release, "has rare values")


def test_notes_of_rare_values_do_not_reach_public_files(tmp_path):
    release = released(table(ill=["E75.2", *ILL[1:]]), sensitive=["ill"])
    release.save(tmp_path / "out", private=tmp_path / "mine", format="csv", report=True)
    for path in (tmp_path / "out").iterdir():
        text = path.read_text()
        assert "is published unchanged and has rare values" not in text
        assert path.name == "data.csv" or "E75.2" not in text
    assert any(
        "is published unchanged and has rare values" in note["text"]
        for note in json.loads((tmp_path / "mine/findings.json").read_text())["notes"]
    )


@pytest.mark.parametrize("role", ["sensitive", "keep"])
def test_a_nearly_unique_column_is_refused_unless_it_is_accepted_by_name(role):
    data = table(salary=SALARY)
    for accept in ((), []):
        with pytest.raises(PolicyError) as caught:
            released(data, accept=accept, **{role: ["salary"]})
        message = str(caught.value)
        assert message.startswith("policy: 100% of the rows are unique in the columns that are published unchanged")
        assert "mainly because of 'salary'" in message
        assert "accept=['unique-kept']" in message
    for accept in ("unique-kept", ["unique-kept"]):
        release = released(data, accept=accept, **{role: ["salary"]})
        assert release.policy.accept == ("unique-kept",)
        [message] = about(release, "are unique")
        assert message.startswith("200 of 200 rows are unique in the columns that are published unchanged")
    with pytest.raises(PolicyError, match="accept"):
        released(data, accept=["everything"], **{role: ["salary"]})


def test_accepted_risks_are_in_the_published_policy(tmp_path):
    released(table(salary=SALARY), sensitive=["salary"], accept=["unique-kept"]).save(
        tmp_path / "out", format="csv", report=False
    )
    assert Policy.load(tmp_path / "out" / "policy.toml").accept == ("unique-kept",)
    assert shoal.verify(tmp_path / "out").holds


def test_columns_that_identify_rows_together_are_refused_too():
    data = table(a=np.arange(N) % 15, b=np.arange(N) // 15)
    with pytest.raises(PolicyError, match="mainly because of 'a', 'b'"):
        released(data, keep=["a", "b"])
    released(data, keep=["a"], quasi=["b"])


def test_exploring_refuses_before_any_work_and_has_the_same_option():
    data = table(salary=SALARY)
    with pytest.raises(PolicyError, match=r"accept=\['unique-kept'\]"):
        shoal.explore(data, sensitive=["salary"], methods=["mdav"], k=5, dry_run=True)
    found = shoal.explore(
        data, sensitive=["salary"], methods=["mdav"], k=5, dry_run=True, accept=["unique-kept"], jobs=1
    )
    assert found.policies["mdav-k5"].accept == ("unique-kept",)


def test_the_estimator_has_the_same_option():
    data = table(salary=SALARY)
    with pytest.raises(PolicyError, match=r"accept=\['unique-kept'\]"):
        shoal.Anonymizer(method="mdav", sensitive=["salary"]).fit(data)
    shoal.Anonymizer(method="mdav", sensitive=["salary"], accept=["unique-kept"]).fit(data)


def test_small_tables_are_refused_only_if_most_rows_are_unique():
    small = {"age": [34, 36, 35, 61, 60, 62]}
    shoal.anonymize(pa.table({**small, "ill": ["a", "b", "a", "b", "b", "a"]}), k=3, sensitive=["ill"])
    shoal.anonymize(pa.table({**small, "ill": ["a", "b", "a", "b", "c", "d"]}), k=3, sensitive=["ill"])
    with pytest.raises(PolicyError, match="100% of the rows"):
        shoal.anonymize(pa.table({**small, "pay": [1, 2, 3, 4, 5, 6]}), k=3, sensitive=["pay"])


@pytest.mark.parametrize("rows", [6, SMALL_TABLE - 1, SMALL_TABLE, 1000])
def test_the_rule_has_one_threshold_for_large_tables_and_one_for_small_ones(rows):
    most = [alone for alone in range(rows + 1) if stands_out(alone, rows)]
    assert most[0] == np.ceil((MANY_ALONE if rows >= SMALL_TABLE else 0.5) * rows)
    assert most[-1] == rows
    assert not stands_out(0, rows)


def test_counts_agree_with_plain_counting():
    rng = np.random.default_rng(5)
    policy = Policy.of(sensitive=["a"], keep=["b"])
    for _ in range(50):
        n = int(rng.integers(1, 40))
        a, b = (
            rng.integers(0, 9, n).tolist(),
            [None if one == 0 else one for one in rng.integers(0, 5, n).tolist()],
        )
        found = Unchanged.of(pa.table({"a": a, "b": pa.array(b, pa.int64())}), policy)
        both = list(zip(a, b, strict=True))
        assert found.alone == sum(both.count(one) == 1 for one in both)
        assert found.rare("b", 3) == sum(b.count(one) < 3 for one in b)


def test_an_attack_finds_people_by_columns_published_unchanged():
    data = table(salary=SALARY, ill=ILL)
    open_ = released(data, sensitive=["ill", "salary"], accept=["unique-kept"])
    [found] = shoal.attack(data, open_, only=["unchanged columns"])
    assert (found.rate, found.outcome, found.trials) == (1.0, "leak", N)
    safe = released(data, sensitive=["ill"])
    [found] = shoal.attack(data, safe, only=["unchanged columns"])
    assert found.rate == pytest.approx(4 / N)
    assert found.outcome == "no evidence"
    [found] = shoal.attack(data, released(data), only=["unchanged columns"])
    assert (found.trials, found.note) == (0, "no column is published unchanged")


def test_names_shared_by_k_people_are_dropped_unless_requested():
    rng = np.random.default_rng(8)
    rare = [f"{first}{last}" for first in ("Abe", "Bo", "Cy") for last in ("li", "ma", "no", "ra", "su", "ta")]
    people = [*(rare * N)[: N // 2], *[f"Zed{place}" for place in range(N - N // 2)]]
    data = table(surname=rng.permutation(people))
    release = released(data)
    assert "surname" not in release.aligned().column_names
    assert release.policy.columns["surname"].role == "identifier"
    [message] = about(release, "IS DROPPED")
    assert "quasi=['surname'] in Python, --quasi surname on the command line" in message
    assert "surname" in released(data, quasi=["surname"]).data.column_names
    assert not about(released(data, identifiers=["surname"]), "IS DROPPED")
    wards = table(name=["north", "south"] * (N // 2))
    assert "name" in released(wards).data.column_names


def test_unlisted_patient_numbers_are_dropped_and_never_averaged(tmp_path):
    data = table(patient=np.arange(N) + 100_000)
    release = released(data)
    assert "patient" not in release.aligned().column_names
    [message] = about(release, "IS DROPPED")
    assert "--quasi patient" in message
    assert "patient" in released(data, quasi=["patient"]).data.column_names
    assert [verdict.holds for verdict in shoal.verify(data, k=2).verdicts] == [False]


def test_dates_that_were_not_read_are_named_where_they_are_published_as_missing():
    days = [f"{1 + row % 28:02d}/{1 + row % 12:02d}/{1940 + row % 60}" for row in range(N)]
    [note] = [
        note
        for note in released(table(born=days), quasi=["born"]).notes
        if "'born'" in note and "published as missing, because" in note
    ]
    assert note.endswith("write them like 2024-01-31 before the release.")
    words = [f"about {day}" for day in days]
    assert not any("2024-01-31" in note for note in released(table(born=words), quasi=["born"]).notes)
