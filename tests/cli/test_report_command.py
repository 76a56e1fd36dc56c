"""The command that writes reports."""

import json

import pytest
import typer
from typer.testing import CliRunner

import shoal
from shoal.cli import reporting
from shoal.pipeline.reporting import report
from shoal.pipeline.write import write


@pytest.fixture(scope="module")
def program():
    app = typer.Typer()
    app.callback()(lambda: None)
    reporting.add_to(app)
    return app


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    table = shoal.sample(60)
    import pyarrow.csv

    pyarrow.csv.write_csv(table, place / "people.csv")
    release = shoal.anonymize(
        place / "people.csv", k=3, identifiers=["patient_id", "name"], sensitive=["diagnosis"], method="mdav"
    )
    write(release, place / "release", private=place / "private")
    return place


def run(program, *words, code=0):
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(program, ["report", *map(str, words)])
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


@pytest.mark.slow
def test_the_public_report_needs_the_folder_alone(program, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = run(program, made / "release")
    assert "k = 3: holds" in output
    assert "Report: report.html" in output
    assert (tmp_path / "report.html").read_text() == report(None, made / "release")


@pytest.mark.slow
def test_the_holders_report_has_a_name_of_its_own(program, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(program, made / "people.csv", made / "release", "--private", made / "private", "--format", "md")
    assert [path.name for path in tmp_path.iterdir()] == ["confidential-report.md"]


def test_the_holders_report_needs_the_table_and_the_private_folder(program, made, tmp_path):
    out = tmp_path / "mine.md"
    output = run(
        program, made / "people.csv", made / "release", "--private", made / "private", "-o", out, "--format", "md"
    )
    assert "Confidential" in output
    assert "Columns before and after" in out.read_text()
    done = CliRunner(env={"SHOAL_LOG": "none"}).invoke(
        program, ["report", str(made / "people.csv"), str(made / "release")]
    )
    assert "private" in str(done.exception)


def test_json_contains_the_path_of_the_report(program, made, tmp_path):
    facts = json.loads(run(program, made / "release", "-o", tmp_path / "r.json", "--format", "json", "--json"))
    assert facts["report"].endswith("r.json")
    assert facts["holds"]
    assert facts["verdicts"][0]["constraint"] == "k = 3"
    assert json.loads((tmp_path / "r.json").read_text())["kind"] == "public"


@pytest.mark.slow
def test_the_file_extension_determines_the_format(program, made, tmp_path):
    for name, start in (
        ("r.md", "# What"),
        ("r.json", '{\n  "shoal"'),
        ("r.html", "<!doctype html>"),
    ):
        run(program, made / "release", "-o", tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)


def test_options_of_the_holders_report_are_refused_without_the_table(program, made):
    run(program, made / "release", "--private", made / "private", code=2)
    run(program, made / "release", "--attacks", code=2)
    run(program, made / "release", "--control", made / "private", code=2)


@pytest.mark.parametrize("name", ["report.pdf", "report.txt", "report"])
def test_an_output_file_of_an_unknown_kind_is_refused(program, made, tmp_path, name):
    output = " ".join(run(program, made / "release", "-o", tmp_path / name, code=2).replace("│", "").split())
    assert ".html, .htm, .md, .markdown, .json" in output
    assert not (tmp_path / name).exists()


def test_an_output_file_may_have_any_name_if_the_format_is_given(program, made, tmp_path):
    run(program, made / "release", "-o", tmp_path / "report.txt", "--format", "md")
    assert (tmp_path / "report.txt").read_text().startswith("# ")
