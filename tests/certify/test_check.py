"""Release folders are checked from their bytes: whatever was changed is found and named."""

import gzip
import hashlib
import json
import os

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.certify import recounted_sets
from shoal.certify.check import check_folder, holds_sets
from shoal.certify.released import read_cells
from shoal.errors import ReadError

RNG = np.random.default_rng(3)
TABLE = pa.table(
    {
        "name": [f"person {i}" for i in range(60)],
        "age": RNG.integers(20, 90, 60),
        "town": RNG.choice(["north", "south"], 60),
        "ill": RNG.choice(["flu", "gout", "none"], 60),
    }
)


@pytest.fixture(params=["csv", "csv.gz", "parquet", "feather"])
def folder(request, tmp_path):
    release = shoal.anonymize(TABLE, k=4, l=2, t=0.5, identifiers=["name"], sensitive=["ill"])
    return release.save(tmp_path / "out", format=request.param, report=False)


@pytest.fixture
def plain(tmp_path):
    release = shoal.anonymize(TABLE, k=4, l=2, t=0.5, identifiers=["name"], sensitive=["ill"])
    return release.save(tmp_path / "out", format="csv", report=False)


def failed(folder):
    checked = check_folder(folder)
    assert not checked.holds
    return {line.what for line in checked.lines if not line.holds}


def redigest(folder):
    """Forge the digests after a change."""
    place = folder / "certificate.json"
    statement = json.loads(place.read_text())
    for entry in statement["subject"]:
        entry["digest"]["sha256"] = hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()
    place.write_text(json.dumps(statement, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def change(folder, edit):
    place = folder / "certificate.json"
    statement = json.loads(place.read_text())
    edit(statement)
    place.write_text(json.dumps(statement, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


@pytest.mark.slow
def test_an_untouched_folder_holds_in_every_format(folder):
    checked = check_folder(folder)
    assert checked.holds
    assert {line.what for line in checked.lines} >= {
        "k-anonymity",
        "distinct l-diversity of 'ill'",
        "t-closeness of 'ill'",
    }


def test_a_changed_cell_is_found_even_with_forged_digests(plain):
    lines = (plain / "data.csv").read_text().splitlines()
    lines[1] = "99" + lines[1][2:]
    (plain / "data.csv").write_text("\n".join(lines) + "\n")
    assert "file data.csv" in failed(plain)
    redigest(plain)
    assert "k-anonymity" in failed(plain)


def test_a_removed_row_is_found_even_with_forged_digests(plain):
    lines = (plain / "data.csv").read_text().splitlines()
    (plain / "data.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert "file data.csv" in failed(plain)
    redigest(plain)
    assert "rows" in failed(plain)


def test_a_changed_policy_is_found_even_with_forged_digests(plain):
    text = (plain / "policy.toml").read_text()
    (plain / "policy.toml").write_text(text.replace("k = 4", "k = 3"))
    assert {"file policy.toml", "policy"} <= failed(plain)
    redigest(plain)
    assert "policy" in failed(plain)


def test_a_claim_better_than_the_data_support_is_found(plain):
    change(plain, lambda statement: statement["predicate"]["claims"][0].update(found=9.0))
    assert "k-anonymity" in failed(plain)
    change(plain, lambda statement: statement["predicate"]["claims"][0].update(found=4.0, asked=9.0))
    assert "k-anonymity" in failed(plain)


def test_a_dropped_or_an_added_claim_is_found(plain):
    change(plain, lambda statement: statement["predicate"]["claims"].pop())
    assert "t-closeness of 'ill'" in failed(plain)
    added = {"model": "differential privacy", "column": None, "asked": 1, "found": 1}
    change(plain, lambda statement: statement["predicate"]["claims"].append(added))
    assert "differential privacy" in failed(plain)


def test_a_policy_that_requires_more_than_the_data_support_is_found(plain):
    text = (plain / "policy.toml").read_text().replace("k = 4", "k = 40")
    (plain / "policy.toml").write_text(text)

    def forge(statement):
        statement["predicate"]["policy"]["constraints"]["k"] = 40
        statement["predicate"]["claims"][0].update(asked=40, found=40)

    change(plain, forge)
    redigest(plain)
    assert "k-anonymity" in failed(plain)


def test_an_added_column_is_found(plain):
    lines = (plain / "data.csv").read_text().splitlines()
    lines = [f"{line},{'id' if i == 0 else i}" for i, line in enumerate(lines)]
    (plain / "data.csv").write_text("\n".join(lines) + "\n")
    redigest(plain)
    assert failed(plain) == {"columns"}


def test_an_unlisted_file_is_found(plain):
    (plain / "map.csv").write_text("who is who")
    assert "file map.csv" in failed(plain)


def test_a_missing_file_is_found(plain):
    (plain / "policy.toml").unlink()
    assert "file policy.toml" in failed(plain)


@pytest.mark.parametrize("name", ["data.csv", "policy.toml"])
def test_a_missing_file_is_named_where_the_checks_end(plain, name):
    (plain / name).unlink()
    lines = {line.what: line.found for line in check_folder(plain).lines if not line.holds}
    assert lines == {f"file {name}": "not in the folder", name.split(".")[0]: f"{name} is not in the folder"}


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"subject": 1}', "\ud800".encode("utf-8", "surrogatepass")])
def test_an_unreadable_certificate_is_found(plain, text):
    (plain / "certificate.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    assert failed(plain) == {"certificate"}


def added(statement, **more):
    statement["predicate"].update(more)


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s.update(predicateType="urn:other"),
        lambda s: s.update(comment="free text"),
        lambda s: added(s, comment="free text"),
        lambda s: added(s, shoal=None),
        lambda s: added(s, shoal="x" * 1000),
        lambda s: added(s, rows=60.0),
        lambda s: added(s, rows="60"),
        lambda s: added(s, data="policy.toml"),
        lambda s: s["subject"].append(dict(s["subject"][0])),
        lambda s: s["subject"][0].update(note="free text"),
        lambda s: s["predicate"]["claims"][0].update(found=10**400),
        lambda s: s["predicate"]["claims"][0].update(found=True),
        lambda s: s["predicate"]["claims"][0].update(note="free text"),
        lambda s: s["predicate"]["claims"].append(dict(s["predicate"]["claims"][0])),
    ],
)
def test_a_certificate_with_extra_or_different_contents_is_found(plain, edit):
    change(plain, edit)
    assert failed(plain) == {"certificate"}


def test_a_certificate_with_a_duplicate_key_is_found(plain):
    text = (plain / "certificate.json").read_text()
    (plain / "certificate.json").write_text(text.replace('"rows": 60', '"rows": 500, "rows": 60'))
    assert failed(plain) == {"certificate"}


@pytest.mark.parametrize("word", ["Infinity", "NaN", "1e999"])
def test_figures_that_are_not_numbers_are_found(plain, word):
    text = (plain / "certificate.json").read_text()
    (plain / "certificate.json").write_text(text.replace('"rows": 60', f'"rows": {word}'))
    assert failed(plain) == {"certificate"}


def test_a_listed_file_that_is_not_part_of_a_release_is_found(plain):
    (plain / "raw.csv").write_text("who is who")
    change(plain, lambda s: s["subject"].append({"name": "raw.csv", "digest": {"sha256": ""}}))
    redigest(plain)
    assert failed(plain) == {"file raw.csv", "certificate bytes"}


@pytest.mark.parametrize("name", ["data.csv", "policy.toml", "certificate.json"])
def test_links_pipes_and_devices_are_not_read(plain, name):
    (plain / name).rename(plain.parent / name)
    (plain / name).symlink_to(plain.parent / name)
    assert failed(plain)
    (plain / name).unlink()
    os.mkfifo(plain / name)
    if name == "certificate.json":
        with pytest.raises(ReadError, match=r"has no certificate.json"):
            check_folder(plain)
    else:
        assert failed(plain)


def test_an_apostrophe_does_not_make_two_texts_one(tmp_path):
    release = shoal.anonymize(pa.table({"a": ["=A"] * 4, "n": [1, 1, 1, 1]}), k=4)
    folder = release.save(tmp_path / "out", format="csv", report=False)
    (folder / "data.csv").write_text((folder / "data.csv").read_text().replace("'=A", "=A", 1))
    redigest(folder)
    assert "k-anonymity" in failed(folder)


@pytest.mark.slow
def test_a_file_that_would_unpack_to_far_too_much_is_not_read(tmp_path):
    release = shoal.anonymize(TABLE, k=4, identifiers=["name"])
    folder = release.save(tmp_path / "out", format="csv.gz", report=False)
    (folder / "data.csv.gz").write_bytes(gzip.compress(b"age,town,ill\n" + b"1,a,b\n" * 60_000_000, 9))
    redigest(folder)
    assert "data" in failed(folder)


@pytest.mark.slow
def test_damaged_feather_files_are_found_and_never_crash(tmp_path):
    release = shoal.anonymize(TABLE, k=4, identifiers=["name"])
    folder = release.save(tmp_path / "out", format="feather", report=False)
    whole = (folder / "data.feather").read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(100):
        broken = bytearray(whole)
        for place in rng.integers(0, len(whole), 3):
            broken[place] = rng.integers(0, 256)
        (folder / "data.feather").write_bytes(broken)
        redigest(folder)
        assert not check_folder(folder).holds or broken == whole


def test_a_certificate_cannot_point_outside_its_folder(plain):
    (plain.parent / "outside.csv").write_text("a\n1\n")

    def forge(statement):
        statement["predicate"]["data"] = "../outside.csv"
        statement["subject"][0]["name"] = "../outside.csv"

    change(plain, forge)
    assert failed(plain) == {"certificate"}


def test_unreadable_data_are_found(plain):
    (plain / "data.csv").write_bytes(b"\xff\xfe\x00")
    assert "columns" in failed(plain)
    (plain / "data.csv").write_bytes(b"age,town,ill\n\xff\xfe\x00")
    assert "data" in failed(plain)


def test_anything_but_a_release_folder_is_refused(tmp_path):
    with pytest.raises(ReadError, match="there is no folder"):
        check_folder(tmp_path / "nothing")
    with pytest.raises(ReadError, match=r"has no certificate.json"):
        check_folder(tmp_path)
    with pytest.raises(ReadError, match="cannot be read as a released table"):
        read_cells(tmp_path / "data.xls", "data.xls")


def test_a_table_whose_certificate_mentions_sets_is_a_table(plain):
    assert not holds_sets(plain)
    change(plain, lambda statement: statement["predicate"]["policy"].update(label="urn:shoal:sets:v1"))
    assert not holds_sets(plain)
    change(plain, lambda statement: statement.update(predicateType="urn:shoal:sets:v1"))
    assert holds_sets(plain)


def test_the_certificate_is_a_statement_without_seed_or_time(plain):
    statement = json.loads((plain / "certificate.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert {entry["name"] for entry in statement["subject"]} == {"data.csv", "policy.toml"}
    assert set(statement["predicate"]) == {"shoal", "made_with", "data", "rows", "policy", "claims"}
    assert statement["predicate"]["made_with"] == {}
    assert "seed" not in (plain / "policy.toml").read_text()
    assert "seed" not in (plain / "certificate.json").read_text()


def test_an_unreadable_policy_is_found(plain):
    (plain / "policy.toml").write_text("k = ")
    redigest(plain)
    assert "policy" in failed(plain)


def test_sets_with_too_many_combinations_fail_by_name_and_with_a_remedy(tmp_path, monkeypatch):
    table = pa.table({"age": [30, 31, 32] * 4, "bought": [["bread", "milk"]] * 12})
    folder = shoal.anonymize(table, k=3, items=["bought"]).save(tmp_path / "out", report=False)
    assert check_folder(folder).holds
    monkeypatch.setattr(recounted_sets, "MOST_DISTINCT", 0)
    assert failed(folder) == {"combinations of items"}
    assert "Lower m" in check_folder(folder).notes[0]
