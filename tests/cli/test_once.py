"""An option that takes one value is given once, and what a plug-in prints does not spoil the output."""

import json

import pytest
from pyarrow.csv import write_csv

import shoal
from command_line import shoal_command
from plug_ins import put

METHOD = """
import numpy as np

from shoal.catalogue import Whole, method
from shoal.model.partition import Partition

print("loaded")


@method("printing", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
def printing(X, k):
    \"\"\"Print, and put all rows into one group.\"\"\"
    print("run")
    return Partition.of(np.zeros(len(X), np.int64))
"""


@pytest.fixture
def folder(tmp_path):
    write_csv(shoal.sample(60, seed=4).select(["height_cm", "weight_kg"]), tmp_path / "people.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("-k", 5, "-k", 3), "-k"),
        (("-k", 5, "--seed", 1, "--seed=2"), "--seed"),
        (("-k", 5, "-o", "other"), "-o"),
        (("-k", 5, "--policy", "a.toml", "-p", "b.toml"), "--policy"),
    ],
)
def test_an_option_given_twice_is_a_usage_error(folder, words, option):
    done = shoal_command("anonymize", "people.csv", "-o", "release", *words, "--json", cwd=folder)
    assert done.code == 2
    message = json.loads(done.out)["error"]["message"]
    assert f"'{option}'" in message
    assert "It was given more than once." in message
    assert not (folder / "release").exists()


@pytest.mark.parametrize(
    ("given", "both"),
    [
        (("--header", "--no-header"), "--header and --no-header"),
        (("--no-report", "--report"), "--report and --no-report"),
        (("--truthful", "--same-schema"), "--truthful and --same-schema"),
    ],
)
def test_an_option_and_its_opposite_are_both_named(folder, given, both):
    done = shoal_command("anonymize", "people.csv", "-o", "release", *given, "--json", cwd=folder)
    assert done.code == 2
    assert f"{both} exclude each other" in json.loads(done.out)["error"]["message"]


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "people.csv", "-k", 3, "-k", 2),
        ("sets", "mine", "people.csv", "--json", "--json"),
        ("explore", "people.csv", "--dry-run", "--methods", "mdav", "--methods", "md"),
        ("methods", "--json", "--json"),
    ],
)
def test_that_holds_for_every_command(folder, words):
    done = shoal_command(*words, cwd=folder)
    assert done.code == 2
    assert "more than once" in " ".join((done.out + done.err).split())


def test_an_option_that_takes_several_values_may_be_repeated(folder):
    words = ("-k", 5, "-o", "release", "--method", "mdav", "--no-report", "--json")
    done = shoal_command("anonymize", "people.csv", *words, "--quasi", "height_cm", "--quasi", "weight_kg", cwd=folder)
    assert done.code == 0


def test_what_a_plug_in_prints_goes_to_stderr(folder, monkeypatch):
    put(folder, monkeypatch, "printing_plug_in", METHOD, methods={"printing": "printing"})
    words = ("-k", 5, "-o", "release", "--method", "printing", "--no-report", "--json")
    done = shoal_command("anonymize", "people.csv", *words, cwd=folder)
    assert json.loads(done.out)["rows"] == 60
    assert "loaded" in done.err
    assert "run" in done.err
