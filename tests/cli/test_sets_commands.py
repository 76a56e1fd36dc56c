"""The commands for sets: what they print, what they write, and how they end."""

import json
import random

import pytest
from typer.testing import CliRunner

from command_line import shoal_command
from shoal.cli import app as commands


def run(*words, code=0):
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(commands.app, ["sets", *(str(word) for word in words)])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.fixture(scope="module")
def baskets(tmp_path_factory):
    rng = random.Random(0)
    kinds = [["1", "2"], ["3", "4", "5"], ["6"], ["1", "6", "7"]]
    lines = [" ".join([*rng.choice(kinds), str(rng.randint(10, 30))]) for _ in range(300)]
    place = tmp_path_factory.mktemp("sets") / "baskets.dat"
    place.write_text("\n".join(lines) + "\n")
    return place


@pytest.mark.slow
def test_a_release_is_made_verified_reported_and_drawn_from(baskets, tmp_path):
    folder, private = tmp_path / "release", tmp_path / "private"
    output = run("anonymize", baskets, "-k", 3, "-m", 2, "--delta", 30, "-o", folder, "--private", private, "--seed", 1)
    assert "k^m-anonymity of the neighbour" in output
    assert "holds" in output
    assert "Everything holds" in run("verify", folder)
    assert "against the records" in run("verify", folder, "--original", baskets, "--private", private)
    assert "spearman" in run("report", baskets, folder, "--top", 5, "--draws", 1, "--no-distance")
    assert "records" in run("reassociate", folder, "-o", tmp_path / "near.dat", "--seed", 4)
    assert "distance" in run("distance", baskets, tmp_path / "near.dat")
    assert "confidence" in run("mine", baskets, "--support", 0.05)


def test_every_command_prints_json(baskets, tmp_path):
    folder = tmp_path / "release"
    made = json.loads(run("anonymize", baskets, "-o", folder, "--delta", 30, "--format", "json", "--json"))
    assert made["records"] == 300
    assert "seed" not in made
    assert json.loads(run("verify", folder, "--json"))["holds"]
    assert json.loads(run("report", baskets, folder, "--json", "--top", 3, "--draws", 1, "--no-distance"))
    assert json.loads(run("distance", baskets, folder, "--json"))["distance"] >= 0
    assert json.loads(run("mine", baskets, "--json", "--most", 3))["itemsets"]
    assert json.loads(run("reassociate", folder, "-o", tmp_path / "near.dat", "--json"))["neighbour"] == "km"


def test_a_tampered_folder_exits_with_1_and_wrong_usage_with_2(baskets, tmp_path):
    run("anonymize", baskets, "-o", tmp_path / "release", "--delta", 30)
    (tmp_path / "release" / "neighbour.dat").write_text("1 2\n")
    assert "FAILS" in run("verify", tmp_path / "release", code=1)
    done = shoal_command("sets", "anonymize", baskets, "-k", 50, "-o", tmp_path / "other")
    assert done.code == 2
    assert "2k - 1" in done.err
    assert not (tmp_path / "other").exists()


def test_an_earlier_release_is_replaced_but_no_other_folder(baskets, tmp_path):
    folder = tmp_path / "release"
    for _ in range(2):
        run("anonymize", baskets, "-o", folder, "--delta", 30)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "letter.txt").write_text("mine")
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(
        commands.app, ["sets", "anonymize", str(baskets), "-o", str(foreign)]
    )
    assert "holds other files" in str(done.exception)
    assert (foreign / "letter.txt").read_text() == "mine"


def test_a_run_can_be_repeated_from_its_private_folder(baskets, tmp_path):
    asked = ("anonymize", baskets, "--delta", 30, "--format", "json")
    run(*asked, "-o", tmp_path / "one", "--private", tmp_path / "mine")
    run(*asked, "-o", tmp_path / "two", "--seed-from", tmp_path / "mine")
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
