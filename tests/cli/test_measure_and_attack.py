"""The commands that measure and attack: tables for people, JSON for programs, and errors in one sentence."""

import json

import pytest
from pyarrow import csv

import shoal
from command_line import shoal_command as run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    where = tmp_path_factory.mktemp("judging")
    table = shoal.sample(300).select(["height_cm", "weight_kg", "cost_eur", "sex", "diagnosis"])
    csv.write_csv(table, where / "people.csv")
    release = shoal.anonymize(where / "people.csv", k=4, sensitive=["diagnosis"])
    release.save(where / "release", private=where / "private", report=False)
    return where


def test_measures_are_listed_with_their_formulas():
    code, out, _ = run("measures", "--json")
    cards = json.loads(out)
    assert code == 0
    assert {"k-anonymity", "t-closeness", "honest separability %"} <= {card["name"] for card in cards}
    assert all(card["formula"] for card in cards)
    assert "t-closeness" in run("measures")[1]


def test_a_release_is_measured(place):
    words = (
        "measure",
        place / "people.csv",
        place / "release",
        "--private",
        place / "private",
        "--only",
        "k-anonymity",
    )
    code, out, _ = run(*words, "--json")
    assert code == 0
    assert json.loads(out)[0]["value"] >= 4
    assert "confidential" in run(*words)[1]


def test_a_release_is_attacked(place):
    words = ("attack", place / "people.csv", place / "release", "--private", place / "private", "--budget", 30)
    code, out, _ = run(*words, "--only", "record linkage", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found[0]["name"], found[0]["outcome"]) == ("record linkage", "no evidence")
    assert found[0]["interval"][0] <= found[0]["rate"] <= found[0]["interval"][1]


def test_an_attack_that_was_not_tried_shows_no_rate(place):
    words = ("attack", place / "people.csv", place / "release", "--private", place / "private")
    words += ("--only", "exact combination")
    code, out, _ = run(*words)
    assert code == 0
    assert "not tried" in out
    assert "0.000" not in out
    [attack] = json.loads(run(*words, "--json")[1])
    assert (attack["outcome"], attack["rate"], attack["interval"], attack["trials"]) == ("not tried", None, None, 0)


def test_missing_inputs_are_named_in_a_sentence(place):
    code, _, message = run("measure", place / "people.csv", place / "release")
    assert code == 2
    assert "--private" in message
    assert "release: the rows" in message
    code, _, message = run("attack", place / "people.csv", place / "release")
    assert code == 2
    assert "release: the rows of a release" in message
    assert "measure:" not in message
    code, _, message = run(
        "attack", place / "people.csv", place / "release", "--private", place / "private", "--only", "x"
    )
    assert code == 2
    assert "unknown attack 'x'" in message
    code, _, message = run(
        "attack", place / "people.csv", place / "release", "--private", place / "private", "--profile", "seven"
    )
    assert code == 2
    assert "unknown profile 'seven'" in message


@pytest.mark.slow
def test_other_constraints_are_requested_by_name(place, tmp_path):
    words = ("anonymize", place / "people.csv", "-k", 4, "--sensitive", "diagnosis", "-o", tmp_path / "release")
    code, out, _ = run(*words, "--constraint", "alpha=0.6", "--json")
    assert code == 0
    assert "(alpha,k)-anonymity" in out
    assert run("verify", tmp_path / "release")[0] == 0
    assert run("verify", place / "people.csv", "-k", 2, "--sensitive", "diagnosis", "--constraint", "beta=0.1")[0] == 1
    code, _, message = run(*words, "--constraint", "alpha")
    assert code == 2
    assert "alpha=0.5" in message


def test_a_missing_file_is_named(tmp_path):
    code, _, message = run("measure", tmp_path / "none.csv", tmp_path / "none.csv")
    assert code == 2
    assert "none.csv" in message


def test_a_measure_without_a_figure_is_named(place):
    words = ("measure", place / "people.csv", place / "release", "--private", place / "private")
    code, _, message = run(*words, "--only", "journalist risk")
    assert code == 2
    assert "no figure for 'journalist risk'" in message
