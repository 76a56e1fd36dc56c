"""What `anonymize` and `sets anonymize` print: three lines first, ten findings, notes that do not repeat them."""

import json
import re

import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import app as commands
from shoal.io.data_file import write_data


def run(*words, code=0):
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(commands.app, [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rare = ["gout", *["flu", "cold"] * 20]
    lines = "".join(f"{20 + place % 30},{ill}\n" for place, ill in enumerate(rare))
    (tmp_path / "people.csv").write_text(f"age,ill\n{lines}")
    return tmp_path / "people.csv"


MAKE = ("anonymize", "people.csv", "-k", 3, "--sensitive", "ill", "--method", "mdav", "--seed", 1, "-o", "out")
PLAIN = (*MAKE, "--no-report")


def test_three_lines_come_first(table):
    output = run(*PLAIN, "--private", "my folder")
    heads = re.findall(r"^(\w+): ", output, re.MULTILINE)
    assert heads[:3] == ["Holds", "Exposed", "Next"]
    assert output.index("Next:") < output.index("guarantee") < output.index("finding") < output.index("Note:")


@pytest.mark.slow
def test_the_next_line_has_commands_that_run(table):
    [line] = [line for line in run(*PLAIN, "--private", "my folder").splitlines() if "shoal attack" in line]
    command = "shoal attack people.csv out --private 'my folder' --budget 60"
    assert f"`{command}`" in line
    assert "record linkage" in run("attack", "people.csv", "out", "--private", "my folder", "--only", "record linkage")


def test_without_a_private_folder_the_next_line_asks_for_one(table):
    output = run(*MAKE)
    assert "`--private FOLDER`" in output
    assert "shoal attack" not in output
    assert "Read `out/report.html`" in output


@pytest.mark.slow
def test_ten_findings_are_shown_by_group_and_all_on_request(table):
    few, every = run(*PLAIN), run(*PLAIN, "--all")
    names = [one["name"] for one in json.loads(run(*PLAIN, "--json"))["findings"]]

    def shown(output):
        return [name for name in names if re.search(rf"^ {re.escape(name)}  ", output, re.MULTILINE)]

    assert len(shown(few)) == 10 < len(names)
    assert f"{len(names) - 10} more findings: --all shows them." in few
    assert sorted(shown(every)) == sorted(names)
    assert "--all" not in every
    assert few.index("RISK") < few.index("INFORMATION LOSS") < few.index("CLASSES")


@pytest.mark.slow
def test_notes_do_not_repeat_what_the_first_lines_say(table):
    output, facts = run(*PLAIN), json.loads(run(*PLAIN, "--json"))
    assert any("is published unchanged and has rare values" in note["text"] for note in facts["notes"])
    assert "is published unchanged and has rare values" not in output
    assert "Note: Merge rare values of 'ill' into broader ones" in output
    assert "gout" not in output


def test_verify_ends_with_one_line_that_says_what_was_found(table):
    run(*PLAIN)
    last = run("verify", "out").splitlines()[-1]
    assert re.fullmatch(r"Everything holds\. All \d+ checks passed; found: k-anonymity 3\.", last)
    (table.parent / "out" / "policy.toml").write_text("")
    last = run("verify", "out", code=1).splitlines()[-1]
    assert re.match(r"\d+ of \d+ checks failed: 'file policy.toml', .*\. Do not rely on these data\.$", last)


def test_json_has_the_answer_and_every_finding(table):
    facts = json.loads(run(*PLAIN, "--json"))
    assert list(facts["answer"]) == ["holds", "exposed", "next"]
    assert facts["answer"]["exposed"].startswith("Fewer than 3 of 41 rows are unique")
    assert len(facts["findings"]) > 10


@pytest.mark.slow
def test_a_command_is_never_broken_over_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_data(shoal.sample(60, seed=2), tmp_path, "csv")
    folder = "a-folder-with-quite-a-long-name/" * 2
    output = run(
        "anonymize", "data.csv", "-k", 3, "--method", "mdav", "-o", f"{folder}out", "--private", f"{folder}mine"
    )
    assert f"`shoal attack data.csv {folder}out --private {folder}mine --budget 60`" in output
    assert all(len(line) <= 100 for line in output.split("guarantee")[0].splitlines() if "`shoal" not in line)


def test_sets_name_the_command_that_measures_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "baskets.dat").write_text("tea;milk\n" * 8 + "tea;gin\n" * 4)
    output = run("sets", "anonymize", "baskets.dat", "--separator", ";", "-o", "out")
    assert output.startswith("Holds:")
    assert "`shoal sets report baskets.dat out --separator ';'`" in output
    assert "tea" not in output
    assert "distance" in run("sets", "report", "baskets.dat", "out", "--separator", ";", "--draws", 1)
