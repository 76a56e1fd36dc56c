"""Options about the input: whether it has a header, and risks that are accepted by name."""

import tomllib

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli import app as commands
from shoal.errors import ShoalError
from shoal.io.data_file import write_data

ROWS = 60
RNG = np.random.default_rng(4)


def run(*words, code=0):
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(commands.app, [str(word) for word in words])
    if isinstance(done.exception, ShoalError):
        assert done.exception.exit_code == code, done.exception
        return str(done.exception)
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.fixture
def bare(tmp_path):
    """A file without a header whose first row is Zoe."""
    path = tmp_path / "people.csv"
    rows = [f"Zoe,{34 + place % 7},{'FM'[place % 2]}" for place in range(12)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def pay(tmp_path):
    """A table with a salary that is nearly unique, and patient numbers."""
    table = pa.table(
        {
            "patient": np.arange(ROWS) + 400_100,
            "age": RNG.integers(20, 80, ROWS),
            "zone": RNG.integers(0, 5, ROWS),
            "salary": RNG.lognormal(10, 1, ROWS).round(2),
        }
    )
    write_data(table, tmp_path, "csv")
    return tmp_path / "data.csv"


def test_every_command_that_reads_a_table_has_the_header_option(bare, tmp_path):
    other = tmp_path / "others.csv"
    other.write_bytes(bare.read_bytes())
    for words in (
        ["profile", bare],
        ["init", bare, "-o", tmp_path / "p.toml"],
        ["anonymize", bare, "-k", 3, "-o", tmp_path / "out"],
        ["verify", bare, "-k", 3],
        ["explore", bare, "--dry-run", "--methods", "mdav", "-k", 3],
        ["compare", bare, other],
    ):
        message = run(*words, code=2)
        assert "--no-header" in message
        assert "Zoe" not in message
    assert not (tmp_path / "p.toml").exists()
    for name in ("anonymize", "attack", "compare", "explore", "init", "measure", "profile", "verify"):
        shown = (
            CliRunner(env={"SHOAL_LOG": "none"})
            .invoke(commands.app, [name, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
            .output
        )
        assert "--no-header" in shown, name


@pytest.mark.slow
def test_a_file_without_a_header_is_read_when_the_user_says_so(bare, tmp_path):
    assert "column_3" in run("profile", bare, "--no-header")
    run("init", bare, "--no-header", "-o", tmp_path / "p.toml", "-k", 3)
    policy = tomllib.loads((tmp_path / "p.toml").read_text())
    assert policy["header"] is False
    assert list(policy["columns"]) == ["column_1", "column_2", "column_3"]
    run("anonymize", bare, "--policy", tmp_path / "p.toml", "-o", tmp_path / "out", "--private", tmp_path / "mine")
    assert shoal.verify(tmp_path / "out").holds
    run("measure", bare, tmp_path / "out", "--private", tmp_path / "mine", "--only", "k-anonymity")
    assert (tmp_path / "out" / "data.csv").read_text().splitlines()[0].startswith("column_")
    run("verify", bare, "--no-header", "-k", 2, "--quasi", "column_3")


def test_a_doubtful_header_can_be_confirmed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("name,101\nx,5\nx,5\nx,5\n")
    assert "101" not in run("profile", path, code=2)
    assert "101" in run("profile", path, "--header")
    run("init", path, "--header", "-o", tmp_path / "p.toml")
    assert tomllib.loads((tmp_path / "p.toml").read_text())["header"] is True


@pytest.mark.slow
def test_init_never_proposes_a_nearly_unique_number_raw(pay, tmp_path):
    output = run("init", pay, "-o", tmp_path / "p.toml")
    text = (tmp_path / "p.toml").read_text()
    columns = tomllib.loads(text)["columns"]
    assert (columns["salary"]["role"], columns["patient"]["role"]) == ("quasi", "identifier")
    assert "so it is published per class" in " ".join(text.replace("#", "").split())
    assert "published per class" in " ".join(output.split())
    run("anonymize", pay, "--policy", tmp_path / "p.toml", "-o", tmp_path / "out")


@pytest.mark.slow
def test_a_nearly_unique_number_is_published_raw_only_if_that_is_accepted(pay, tmp_path):
    words = ["anonymize", pay, "-k", 5, "--sensitive", "salary", "-o", tmp_path / "out"]
    assert "--accept unique-kept" in run(*words, code=2)
    assert not (tmp_path / "out").exists()
    output = run(*words, "--accept", "unique-kept")
    assert "unique in the columns published unchanged" in " ".join(output.split())
    assert "accept" in run(*words, "--accept", "anything", code=2)
    explored = ["explore", pay, "--sensitive", "salary", "--dry-run", "--methods", "mdav", "-k", 5]
    assert "--accept unique-kept" in run(*explored, code=2)
    run(*explored, "--accept", "unique-kept")


def test_an_unlisted_code_column_is_dropped_and_the_note_says_how_to_keep_it(pay, tmp_path):
    output = run("anonymize", pay, "-k", 5, "-o", tmp_path / "out")
    assert "column 'patient' IS DROPPED" in output
    assert "patient" not in (tmp_path / "out" / "data.csv").read_text().splitlines()[0]
    run("anonymize", pay, "-k", 5, "--quasi", "patient", "-o", tmp_path / "out")
    assert "patient" in (tmp_path / "out" / "data.csv").read_text().splitlines()[0]


@pytest.mark.slow
def test_full_names_that_people_share_are_dropped_whatever_the_column_is_called(tmp_path):
    path = tmp_path / "bare.csv"
    firsts, lasts = ["Anna", "José", "Eva", "Jan", "Ruth", "Omar"], ["Berg", "O'Neill", "Weiß", "Kim-Lee", "Rossi"]
    people = [f"{first} {last}{end}" for first in firsts for last in lasts for end in ("", "er")]
    rows = [f"{20 + place % 41},{people[place % 60]},{place % 7}" for place in range(480)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    run("init", path, "--no-header", "-o", tmp_path / "p.toml")
    assert tomllib.loads((tmp_path / "p.toml").read_text())["columns"]["column_2"]["role"] == "identifier"
    output = run("anonymize", path, "--no-header", "-k", 5, "-o", tmp_path / "out")
    assert "column 'column_2' IS DROPPED" in output
    released = (tmp_path / "out" / "data.csv").read_text(encoding="utf-8")
    assert not any(last in released for last in lasts)
    run("anonymize", path, "--no-header", "-k", 5, "--quasi", "column_2", "-o", tmp_path / "out")
    assert "column_2" in (tmp_path / "out" / "data.csv").read_text(encoding="utf-8").splitlines()[0]


def test_a_constraint_without_a_sensitive_column_exits_with_2(pay, tmp_path):
    for asked in ("alpha=0.3", "beta=1", "delta=1", "beta_kind=enhanced"):
        for words in (["anonymize", pay, "-o", tmp_path / "out"], ["verify", pay]):
            assert "policy: constraint" in run(*words, "--constraint", asked, code=2)
    assert "l_kind says how l is counted" in run("verify", pay, "--l-kind", "entropy", code=2)
    assert not (tmp_path / "out").exists()
