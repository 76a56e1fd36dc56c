"""A page or a picture that cannot be drawn affects nothing else, and is reported as missing."""

import json
import pickle
import random

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, WriteError
from shoal.pipeline.write import write
from shoal.reports.svg import Picture

PUBLIC, HOLDER, PICTURES = (
    "The release has no report.html; ",
    "The private folder has no report.html; ",
    "The private folder has no pictures; ",
)


def table(rows=60):
    rng = random.Random(1)
    return pa.table(
        {
            "age": [rng.randrange(20, 90) for _ in range(rows)],
            "weight": [rng.gauss(70, 9) for _ in range(rows)],
            "illness": [rng.choice(["CANARY", "flu"]) for _ in range(rows)],
        }
    )


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(table(), k=3, method="kde", sensitive=["illness"])


@pytest.fixture
def folders(tmp_path):
    return tmp_path / "release", tmp_path / "private"


def failing(problem):
    def fail(*_):
        raise problem

    return fail


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (WriteError("report: a picture cannot be drawn."), "report: a picture cannot be drawn."),
        (MemoryError("CANARY"), "there is not enough memory"),
        (RuntimeError("CANARY"), "an internal error of shoal (RuntimeError, test_missing_pages.py line "),
        (OSError(12, "CANARY"), "there is not enough memory"),
        (OSError(28, "CANARY"), "an internal error of shoal (OSError, "),
    ],
    ids=lambda one: type(one).__name__,
)
def test_the_release_is_written_and_missing_parts_are_reported(release, folders, monkeypatch, problem, message):
    public, private = folders
    monkeypatch.setattr(Picture, "svg", failing(problem))
    release.save(public, private=private, format="csv", report=True, original=table())
    assert names(public) == {"certificate.json", "data.csv", "policy.toml"}
    assert names(private) == {"findings.json", "map.csv"}
    assert shoal.verify(public).holds
    assert [note[: len(lack)] for note, lack in zip(release.missing, (PUBLIC, HOLDER, PICTURES), strict=True)] == [
        PUBLIC,
        HOLDER,
        PICTURES,
    ]
    assert all(message in note for note in release.missing)
    assert release.notes[-3:] == release.missing
    assert json.loads((private / "findings.json").read_text())["notes"] == [note.as_dict() for note in release.notes]
    assert "CANARY" not in "".join(release.notes)
    assert all(name not in (public / "certificate.json").read_text() for name in ("report.html", "CANARY"))
    shoal.measure(table(), public, private=private, only=["k-anonymity"])


@pytest.mark.slow
def test_a_part_that_can_be_drawn_later_is_no_longer_missing(release, folders, monkeypatch):
    public, private = folders
    with monkeypatch.context() as patched:
        patched.setattr("shoal.reports.figures._curves", failing(RuntimeError()))
        release.save(public, private=private, report=True, original=table())
    assert len(release.missing) == 2  # the holder's page has the pictures, too
    assert "report.html" in names(public)
    release.save(public, private=private, report=True, original=table())
    assert release.missing == ()
    assert not [note for note in release.notes if " has no " in note]
    assert "report.html" in names(private)
    assert "densities.svg" in names(private)


def test_an_original_that_is_another_table_is_still_an_error(release, folders):
    with pytest.raises(DataError, match="another table"):
        write(release, folders[0], private=folders[1], report=True, original=table(61))
    assert not folders[0].parent.exists() or names(folders[0].parent) == set()


def test_an_explicit_report_that_cannot_be_drawn_is_an_error(release, folders, monkeypatch):
    monkeypatch.setattr(Picture, "svg", failing(WriteError("report: no.")))
    with pytest.raises(WriteError, match="report: no"):
        release.report()
    assert release.report(format="md").startswith("# ")


@pytest.mark.slow
def test_a_holders_report_is_reported_missing_without_the_original(release, folders):
    public, private = folders
    release = pickle.loads(pickle.dumps(release))  # which drops the original
    release.save(public, private=private)
    assert "report.html" in names(public)
    assert "report.html" not in names(private)
    [message] = release.missing
    assert message.startswith("The private folder has no report.html")
    assert "original=" in message
    assert message in release.notes
    stored = json.loads((private / "findings.json").read_text())["notes"]
    assert {"kind": "missing-page", "text": message} in stored
    release.save(public, private=private, original=table())
    assert release.missing == ()
    assert "report.html" in names(private)
    release.save(public)
    assert release.missing == ()
