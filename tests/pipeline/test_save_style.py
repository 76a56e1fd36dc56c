"""Releases of CSV files keep the style of the input, or have the one asked for; the verifier checks it byte by byte."""

import random
import tomllib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from command_line import shoal_command
from shoal.errors import WriteError
from shoal.io.data_file import write_data
from shoal.model.csv_style import CsvStyle
from shoal.pipeline.reporting import report

GERMAN = CsvStyle(separator=";", decimal=",")
ROLES = {"sensitive": ["befund"], "keep": ["faktor"]}


def people(rows=60):
    rng = random.Random(4)
    return pa.table(
        {
            "alter": [rng.randint(20, 80) for _ in range(rows)],
            "größe": [round(rng.uniform(1.5, 2.0), 2) for _ in range(rows)],
            "ort": [rng.choice(["Köln", "Ulm; Donau", "=Bonn"]) for _ in range(rows)],
            "faktor": [rng.choice([-0.5, 1.25, 2.0]) for _ in range(rows)],
            "befund": [rng.choice(["gut", "-1", "schlecht"]) for _ in range(rows)],
        }
    )


@pytest.fixture
def german(tmp_path):
    return tmp_path / write_data(people(), tmp_path, "csv", GERMAN)


def saved(source, folder, **more):
    release = shoal.anonymize(source, k=4, l=2, seed=1, **ROLES)
    return release, release.save(folder, **{"report": False, **more})


def test_the_style_of_the_input_is_kept_and_published(german, tmp_path):
    _, folder = saved(german, tmp_path / "out")
    first, second, *_ = (folder / "data.csv").read_text().splitlines()
    assert first == "alter;größe;ort;faktor;befund"
    assert second.split(";")[1].count(",") == 1
    stated = tomllib.loads((folder / "policy.toml").read_text())
    assert stated["csv"] == {"separator": ";", "decimal": ",", "mark": False}
    checked = shoal.verify(folder)
    assert checked.holds, str(checked)
    assert ("data bytes", "the same bytes") in [(line.what, line.found) for line in checked.lines]


def test_every_style_gives_the_same_cells_and_figures(german, tmp_path):
    release, _ = saved(german, tmp_path / "own")
    for name, style in (("excel", CsvStyle(separator=";", decimal=",", mark=True)), ("standard", CsvStyle())):
        folder = release.save(tmp_path / name, private=tmp_path / "mine", csv_style=name, report=False)
        checked = shoal.verify(folder)
        assert checked.holds, str(checked)
        assert [verdict.found for verdict in checked.verdicts] == [verdict.found for verdict in release.verdicts]
        assert (folder / "data.csv").read_bytes().startswith(b"\xef\xbb\xbf") == style.mark
        assert ("csv" in tomllib.loads((folder / "policy.toml").read_text())) == (style != CsvStyle())
        only = ["cell loss %", "k-anonymity"]
        own = [finding.value for finding in shoal.measure(german, release, only=only)]
        assert [finding.value for finding in shoal.measure(german, folder, private=tmp_path / "mine", only=only)] == own


@pytest.mark.slow
def test_the_report_of_a_folder_in_another_style_is_rendered_again(german, tmp_path):
    release, folder = saved(german, tmp_path / "out", csv_style="excel", report=True)
    assert shoal.verify(folder).holds
    standard = release.save(tmp_path / "standard", csv_style="standard", report=False)

    def figures(folder):
        return [line for line in report(None, folder, format="md").splitlines() if "|" in line and "SHA" not in line]

    assert [line for line in figures(folder) if "data.csv" not in line and "policy.toml" not in line] == [
        line for line in figures(standard) if "data.csv" not in line and "policy.toml" not in line
    ]


def test_a_comma_file_gets_no_style(tmp_path):
    source = tmp_path / write_data(people(), tmp_path, "csv")
    _, folder = saved(source, tmp_path / "out")
    assert (folder / "data.csv").read_text().startswith("alter,größe,")
    assert "csv" not in tomllib.loads((folder / "policy.toml").read_text())


@pytest.mark.parametrize("format", ["csv.gz", "parquet"])
def test_a_gzipped_file_has_a_style_and_a_parquet_file_none(german, tmp_path, format):
    _, folder = saved(german, tmp_path / "out", format=format)
    assert ("csv" in tomllib.loads((folder / "policy.toml").read_text())) == (format == "csv.gz")
    assert shoal.verify(folder).holds


def test_a_policy_sets_the_style_of_a_release_from_a_frame(tmp_path):
    policy = {"csv": {"separator": "\t", "decimal": ","}}
    release = shoal.anonymize(people(), k=4, policy=policy, seed=1, **ROLES)
    folder = release.save(tmp_path / "out", format="csv", report=False)
    assert (folder / "data.csv").read_text().splitlines()[0].split("\t")[0] == "alter"
    assert shoal.verify(folder).holds
    again = shoal.anonymize(people(), policy=folder / "policy.toml", seed=1)
    assert again.policy.csv == CsvStyle(separator="\t", decimal=",")


def test_a_style_for_a_file_that_is_not_csv_is_refused(tmp_path):
    release = shoal.anonymize(people(), k=4, seed=1, **ROLES)
    with pytest.raises(WriteError, match="csv_style is for CSV files, but the format is 'parquet'"):
        release.save(tmp_path / "out", csv_style="excel")
    assert not (tmp_path / "out").exists()


def edited(folder, change):
    (folder / "data.csv").write_bytes(change((folder / "data.csv").read_bytes()))
    return [line.what for line in shoal.verify(folder).lines if not line.holds]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b";", b","),
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b",", b"."),
        lambda data: data.replace(b";gut\n", b';"gut"\n', 1),
        lambda data: data + b"\n",
    ],
    ids=["mark", "separator", "line ends", "decimal sign", "quotes", "blank line"],
)
def test_bytes_of_another_style_than_the_one_stated_fail(german, tmp_path, change):
    _, folder = saved(german, tmp_path / "out")
    failed = edited(folder, change)
    assert set(failed) & {"data bytes", "columns", "data", "column 'größe'"}


def test_two_notations_of_one_number_are_not_taken_for_each_other(german, tmp_path):
    _, folder = saved(german, tmp_path / "out")
    first = (folder / "data.csv").read_text().splitlines()[1].split(";")[1].encode()
    failed = edited(folder, lambda data: data.replace(b";" + first + b";", b";" + first.replace(b",", b".") + b";", 1))
    assert "column 'größe'" in failed
    assert "k-anonymity" in failed


def test_the_command_line_writes_the_style_asked_for(german, tmp_path):
    words = ("-k", 4, "--keep", "faktor", "--no-report", "-o", "out", "--csv-style")
    done = shoal_command("anonymize", german, *words, "excel", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "data.csv").read_bytes().startswith("\ufeffalter;".encode())
    done = shoal_command("anonymize", german, *words, "exel", cwd=tmp_path)
    assert done.code == 2
    assert "unknown --csv-style 'exel'" in done.err


@pytest.mark.parametrize("more", [("-o", "out"), ("--dry-run",)])
def test_a_style_of_csv_for_another_format_is_refused_before_any_work(more, tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.parquet")  # too few rows: an error of a later step
    done = shoal_command("anonymize", "x.parquet", "--csv-style", "excel", *more, cwd=tmp_path)
    assert done.code == 2
    assert "--csv-style is for CSV files, but the format is 'parquet'" in done.err
