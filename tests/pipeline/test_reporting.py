"""Reports from releases and folders, and reports inside release folders."""

import html
import json
import pickle
import re
import stat
from pathlib import Path

import pyarrow as pa
import pytest

import shoal
from shoal.certify.check import check_folder
from shoal.errors import DataError, GuaranteeError, PolicyError, WriteError
from shoal.pipeline import reporting
from shoal.pipeline.reporting import facts_of, report, write_report
from shoal.pipeline.write import read_back, write

TABLE = pa.table(
    {
        "age": [34, 36, 35, 61, 60, 62, 33, 37, 64, 59],
        "town": ["a", "a", "a", "b", "b", "b", "a", "a", "b", "b"],
        "ill": ["x", "y", "x", "y", "y", "x", "x", "y", "x", "y"],
    }
)


@pytest.fixture
def release():
    return shoal.anonymize(TABLE, k=3, sensitive=["ill"])


@pytest.fixture
def folders(release, tmp_path):
    write(release, tmp_path / "release", private=tmp_path / "private", format="csv", report=True, original=TABLE)
    return tmp_path / "release", tmp_path / "private"


@pytest.mark.slow
def test_a_release_has_both_reports(release):
    public, holder = report(None, release, format="json"), report(TABLE, release, format="json")
    assert (json.loads(public)["kind"], json.loads(holder)["kind"]) == ("public", "holder")
    assert report(None, release).startswith("<!doctype html>")
    assert report(None, release, format="md").startswith("# ")


@pytest.mark.slow
def test_a_report_in_a_folder_is_listed_with_its_digest(folders):
    folder, private = folders
    listed = [entry["name"] for entry in json.loads((folder / "certificate.json").read_text())["subject"]]
    assert listed == ["data.csv", "policy.toml", "report.html"]
    checked = check_folder(folder)
    assert checked.holds
    assert "file report.html" in [line.what for line in checked.lines]
    assert (folder / "report.html").read_text() == report(None, folder)
    assert "holder&#39;s report" in (private / "report.html").read_text()
    assert stat.S_IMODE((private / "report.html").stat().st_mode) == 0o600


def test_a_changed_removed_or_added_report_is_noticed(release, folders, tmp_path):
    folder, _ = folders
    text = (folder / "report.html").read_text()
    (folder / "report.html").write_text(text.replace("holds", "HOLDS"))
    assert not check_folder(folder).holds
    (folder / "report.html").unlink()
    assert not check_folder(folder).holds
    with pytest.raises(GuaranteeError, match="does not pass verification"):
        report(None, folder)
    write(release, tmp_path / "plain", format="csv", report=False)
    assert check_folder(tmp_path / "plain").holds
    (tmp_path / "plain" / "report.html").write_text(text)
    assert not check_folder(tmp_path / "plain").holds


def test_a_folder_with_a_report_can_be_replaced_by_one_without(release, folders):
    folder, private = folders
    write(release, folder, private=private, format="csv", report=False)
    assert not (folder / "report.html").exists()
    assert not (private / "report.html").exists()
    assert check_folder(folder).holds


def test_both_folders_have_a_report_unless_told_otherwise(release, tmp_path):
    release.save(tmp_path / "release", private=tmp_path / "private")
    kept = "not for publication"
    assert kept not in (tmp_path / "release" / "report.html").read_text()
    assert kept in (tmp_path / "private" / "report.html").read_text()
    release.save(tmp_path / "release", private=tmp_path / "private", report=False)
    assert not list(tmp_path.glob("*/report.html"))


def test_a_release_that_was_pickled_needs_the_original_for_the_holders_report(release, tmp_path):
    again = pickle.loads(pickle.dumps(release))
    again.save(tmp_path / "release", private=tmp_path / "private")
    assert (tmp_path / "release" / "report.html").exists()
    assert not (tmp_path / "private" / "report.html").exists()
    assert "original=TABLE" in again.missing[0]


def test_slow_measures_are_skipped_when_a_release_is_written_and_named(folders):
    written = (folders[1] / "report.html").read_text()
    assert "Not measured here" in written
    assert "pMSE" in re.search(r"Not measured here[^<]*", written).group()


def test_measures_that_need_a_label_are_not_announced_without_one(folders):
    written = html.unescape((folders[1] / "report.html").read_text())
    assert "honest accuracy" not in re.search(r"Not measured here[^<]*", written).group()
    assert "that needs a label" in written


def test_measures_of_very_many_rows_are_not_repeated(release, tmp_path, monkeypatch):
    monkeypatch.setattr(reporting, "LARGE", 9)
    write(release, tmp_path / "release", private=tmp_path / "private", report=True, original=TABLE)
    written = (tmp_path / "private" / "report.html").read_text()
    left = re.search(r"Not measured here[^<]*", written).group()
    assert "structural utility" in left
    assert "cell loss %," not in left
    assert "cell loss %" in written


@pytest.mark.slow
def test_a_folder_and_its_table_give_the_figures_of_measure_and_attack(folders):
    folder, private = folders
    facts = facts_of(TABLE, folder, private=private, attacks=True)
    measured = shoal.measure(TABLE, folder, private=private)
    figures = {one.name: one.value for one in measured}
    values = {one["name"]: one["value"] for one in facts["findings"] if one["value"] is not None}
    assert len(values) > 100
    assert {name: figures[name] for name in values} == values
    tried = shoal.attack(TABLE, folder, private=private)
    rows = next(part for part in facts["sections"] if part["id"] == "attacks")["blocks"][1]["rows"]
    few = [one.name for one in tried if 0 < one.successes < 3 or 0 < one.trials - one.successes < 3]
    assert [row[0] for row in rows] == [one.name for one in tried]
    for row, one in zip(rows, tried, strict=True):
        assert row[1] == (f"{one.rate:.3f}" if one.trials else "–") or one.name in few
        assert row[6] == (one.outcome if one.trials else "not tried")
        assert one.trials or row[-1]


@pytest.mark.slow
def test_a_report_tries_attacks_that_need_control_rows_if_it_has_some():
    ages = list(range(20, 50))
    table = pa.table({"age": ages, "pay": [30 * age for age in ages], "ill": ["x", "y", "z"] * 10})
    others = table.set_column(1, "pay", pa.array([30 * age + 1 for age in ages]))
    release = shoal.anonymize(
        table, k=3, method="mdav", sensitive=["ill"], policy={"columns": {"age": {"form": "medoid"}}}
    )

    def facts_with(**given):
        facts = facts_of(table, release, attacks=True, **given)
        rows = next(part for part in facts["sections"] if part["id"] == "attacks")["blocks"][1]["rows"]
        return {row[0]: row for row in rows}

    without = facts_with()
    assert {"exact combination", "near combination", "last member", "subset sum", "unchanged columns"} <= {*without}
    assert "--control" in without["exact combination"][-1]
    assert "--control" not in facts_with(control=others)["exact combination"][-1]
    with pytest.raises(DataError, match="control rows are for attacks"):
        facts_of(table, release, control=others)


def test_errors_are_reported(release, folders, tmp_path):
    with pytest.raises(PolicyError, match="unknown format 'pdf'"):
        report(None, release, format="pdf")
    with pytest.raises(DataError, match="Give the original"):
        report(None, release, attacks=True)
    with pytest.raises(DataError, match="private folder"):
        report(TABLE, folders[0])


@pytest.mark.slow
def test_a_report_is_written_completely_and_replaces_only_a_report(release, folders, tmp_path):
    facts = facts_of(None, release)
    place = tmp_path / "new" / "report.md"
    for form in ("md", "html", "json", "md"):
        write_report(facts, place, form)
    assert place.read_text() == report(None, release, format="md")
    assert [path.name for path in place.parent.iterdir()] == ["report.md"]
    other = tmp_path / "mine.txt"
    other.write_text("mine")
    with pytest.raises(WriteError, match="not an earlier report"):
        write_report(facts, other, "html")
    with pytest.raises(WriteError, match="inside a folder that shoal wrote"):
        write_report(facts, folders[0] / "another.html", "html")
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(WriteError):
        write_report(facts, tmp_path / "link", "html")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("notes.md", "# My notes\n\nMade by shoal they say, and more.\n"),
        ("page.html", '<!doctype html>\n<p>I quote <meta name="generator" content="shoal"> here.</p>'),
        ("data.json", '{\n  "shoal": "a fish"\n}\n'),
    ],
)
def test_a_file_that_only_mentions_shoal_is_not_replaced(release, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(WriteError, match="is not an earlier report"):
        write_report(facts_of(None, release), tmp_path / name, "html")
    assert (tmp_path / name).read_text() == text


@pytest.mark.parametrize("name", ["certificate.json", "explore.json", "compare.json"])
def test_no_report_is_written_into_a_release_folder(release, tmp_path, name):
    marks = {
        "certificate.json": "urn:shoal:sets",
        "explore.json": "shoal exploration",
        "compare.json": "shoal comparison",
    }
    (tmp_path / name).write_text(f'{{"kind": "{marks[name]}"}}')
    with pytest.raises(WriteError, match="is inside a folder that shoal wrote"):
        write_report(facts_of(None, release), tmp_path / "report.html", "html")


def test_a_folder_or_an_overlong_name_is_refused(release, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in (tmp_path, Path(), tmp_path / ("x" * 300)):
        with pytest.raises(WriteError, match=r"^write: "):
            write_report(facts_of(None, release), place, "html")
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_can_read_the_holders_report(release, tmp_path):
    write_report(facts_of(TABLE, release), tmp_path / "report.html", "html")
    assert stat.S_IMODE((tmp_path / "report.html").stat().st_mode) == 0o600


def test_released_text_is_read_back_without_spreadsheet_guards(tmp_path):
    table = TABLE.rename_columns(["age", "=town", "ill"])
    table = table.set_column(1, "=town", pa.array([f"-{town}" for town in table.column("=town").to_pylist()]))
    release = shoal.anonymize(table, k=3, sensitive=["ill"])
    for form in ("csv", "parquet"):
        write(release, tmp_path / form, format=form, report=True)
        back = read_back(tmp_path / form / f"data.{form}", release.policy)
        assert back.column_names == release.table.column_names
        assert back.column("=town").to_pylist() == release.table.column("=town").to_pylist()
        assert "-a" in (tmp_path / form / "report.html").read_text()


def test_a_release_has_a_public_and_a_holders_report():
    table = shoal.sample(120)
    release = shoal.anonymize(table, k=5, identifiers=["patient_id", "name"], sensitive=["diagnosis"])
    assert "k = 5: holds" in release.report(format="md")
    assert '"kind": "holder"' in release.report(table, format="json")


def test_figures_that_would_reveal_that_few_cells_were_changed_are_left_out():
    """Sums over columns, less the ledger entries of the others, would reveal it."""
    age = [40 + i % 20 for i in range(100)]
    table = pa.table({"age": age, "city": ["x"] * 60 + ["y"] * 39 + ["x"], "ill": ["a", "b"] * 50})
    release = shoal.anonymize(table, k=5, method="mdav", sensitive=["ill"])
    few = [change.column for change in release.ledger if 0 < change.changed < 5]
    assert few == ["city"]
    facts = json.loads(release.report(table, format="json"))
    names = {finding["name"] for finding in facts["findings"]}
    assert "cell loss %" in names
    assert not names & {"minimal distortion", "cells changed %", "mean squared error of the adversary, city"}


def test_a_release_of_sets_has_a_public_report_in_memory_and_as_a_folder(tmp_path):
    made = shoal.sets.anonymize([["tea", "milk"]] * 6 + [["gin"]], k=3)
    folder = made.save(tmp_path / "sets")
    held, read = (json.loads(report(None, given, format="json")) for given in (made, folder))
    assert held["kind"] == read["kind"] == "public"
    assert held["holds"]
    assert [one["constraint"] for one in held["verdicts"]] == [one["constraint"] for one in read["verdicts"]]


@pytest.mark.parametrize(("given", "called"), [(TABLE, "a Table"), (None, "None"), (5, "an int")])
def test_what_is_not_a_release_is_refused(given, called):
    with pytest.raises(DataError, match=f"report: {called} is not a release; expected a Release or a release folder"):
        report(None, given)


@pytest.mark.parametrize("wrong", [None, 5])
def test_a_folder_must_be_a_path(release, wrong):
    with pytest.raises(WriteError, match="expected the path of a folder; got"):
        release.save(wrong)
    with pytest.raises(shoal.ReadError, match="expected the path of a private folder; got"):
        shoal.seed_of(wrong)
