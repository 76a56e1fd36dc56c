"""What verify says of plug-ins that it had to trust, and of folders that are replaced while it reads."""

import json

import pytest

import shoal
from command_line import shoal_command
from plug_ins import put
from shoal.certify.replaced import TRIES, while_unchanged
from shoal.errors import ReadError

FORMAT = """
import io

import pyarrow as pa

from shoal.catalogue import file_format

HIDDEN = b"whatever the plug-in hides"


def read(path):
    return pa.ipc.open_file(io.BytesIO(path.read_bytes().removesuffix(HIDDEN))).read_all()


@file_format("hiding", endings=(".hiding",), called="Hiding", read=read)
def hiding(table, file):
    \"\"\"Write the table and something else.\"\"\"
    held = io.BytesIO()
    with pa.ipc.new_file(held, table.schema) as writer:
        writer.write_table(table)
    file.write(held.getvalue() + HIDDEN)
"""
MODEL = """
import numpy as np

from shoal.catalogue import model


@model("mine", high=True)
def mine(counts, _):
    \"\"\"Return a constant.\"\"\"
    return np.full(counts.sizes.size, FIGURE)
"""


@pytest.fixture
def people():
    return shoal.sample(60, seed=4).select(["height_cm", "weight_kg", "diagnosis"])


def test_verify_says_that_it_depends_on_the_plug_in_that_read_the_data(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "hiding_plug_in", FORMAT, formats={"hiding": "hiding"})
    folder = shoal.anonymize(people, k=5, method="mdav").save(tmp_path / "release", format="hiding")
    said = "The verdict depends on the plug-in of the format 'hiding', which read data.hiding"
    assert said in str(shoal.verify(folder))
    assert "data bytes: as the plug-in writes them / the same bytes: holds" in str(shoal.verify(folder))
    assert said in " ".join(shoal_command("verify", folder).out.split())
    assert any(said in note for note in json.loads(shoal_command("verify", folder, "--json").out)["notes"])


def test_verify_says_that_it_depends_on_the_plug_in_of_a_model(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "model_plug_in", MODEL.replace("FIGURE", "5.0"), models={"mine": "mine"})
    asked = {"others": {"mine": 2}}
    release = shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints=asked, method="mdav")
    found = shoal.verify(release.save(tmp_path / "release"))
    assert found.holds
    assert "The verdict depends on the plug-ins of these models, which gave their figures: 'mine'." in found.notes


def test_verify_says_nothing_of_plug_ins_where_none_was_used(people, tmp_path):
    folder = shoal.anonymize(people, k=5, method="mdav").save(tmp_path / "release")
    assert shoal.verify(folder).notes == ()


def test_a_model_whose_figures_are_all_infinite_is_refused_before_anything_is_written(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "model_plug_in", MODEL.replace("FIGURE", "np.inf"), models={"mine": "mine"})
    with pytest.raises(shoal.MethodError, match="the model 'mine' gave an infinite figure for every class"):
        shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints={"others": {"mine": 2}}, method="mdav")


def test_a_huge_figure_is_written_with_an_exponent(people, tmp_path, monkeypatch):
    put(tmp_path, monkeypatch, "model_plug_in", MODEL.replace("FIGURE", "1e300"), models={"mine": "mine"})
    asked = {"others": {"mine": 2}}
    release = shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints=asked, method="mdav")
    assert "| mine | diagnosis | 2 | 1e+300 | holds |" in release.report(format="md")
    folder = release.save(tmp_path / "release")
    assert '"found": 1e+300' in (folder / "certificate.json").read_text()
    assert shoal.verify(folder).holds


def test_a_folder_that_is_replaced_while_it_is_read_is_read_again(people, tmp_path):
    release = shoal.anonymize(people, k=5, method="mdav", seed=1)
    folder, seen = release.save(tmp_path / "release"), []

    def read():
        seen.append((folder / "certificate.json").stat().st_ino)
        if len(seen) < 3:
            release.save(folder)
            if len(seen) == 2:
                raise ReadError("half of one release and half of another")
        return len(seen)

    assert while_unchanged(folder, read) == 3
    assert len(set(seen)) > 1


def test_a_folder_that_is_replaced_all_the_time_is_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.certify.replaced.PAUSE", 0.0)
    reads = []

    def read():
        reads.append((tmp_path / f"file{len(reads)}").touch())

    with pytest.raises(ReadError, match="is replaced again and again while it is read"):
        while_unchanged(tmp_path, read)
    assert len(reads) == TRIES


def test_an_error_in_a_folder_that_stays_is_raised_at_once(tmp_path):
    reads = []

    def read():
        reads.append(1)
        raise ReadError("damaged")

    with pytest.raises(ReadError, match="damaged"):
        while_unchanged(tmp_path, read)
    assert reads == [1]
