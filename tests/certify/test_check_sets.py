"""Folders of set-valued releases are checked from their bytes: whatever was changed is found and named."""

import copy
import json
import os
import random

import numpy as np
import pytest

from set_folders import NAMED, change, check_release, failed, redigest, written
from set_releases import damaged, named, published, release
from shoal.certify.check import check_folder
from shoal.certify.sets_bytes import read_files
from shoal.certify.sets_neighbour import read_neighbour
from shoal.errors import ReadError
from shoal.io.disassociated import JSON_FILE, PARQUET_FILES
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km import verify


@pytest.fixture(params=["json", "parquet"])
def folder(request, tmp_path):
    return written(tmp_path / "out", format=request.param)


@pytest.fixture
def plain(tmp_path):
    return written(tmp_path / "out")


def test_an_untouched_folder_holds_in_every_format(folder):
    checked = check_release(folder)
    assert checked.holds
    assert checked.notes == ()
    checks = {line.what for line in checked.lines}
    assert checks >= {"k^m-anonymity of chunks", "cover condition", "k^m-anonymity of the neighbour", "records"}


def test_a_release_with_a_k_that_shoal_refuses_is_refused(plain):
    def weaken(statement):
        statement["predicate"]["parameters"]["k"] = statement["predicate"]["neighbour"]["k"] = 1

    change(plain, weaken)
    assert [(line.what, line.holds) for line in check_release(plain).lines] == [("certificate", False)]


def test_a_neighbour_that_is_not_redrawn_is_not_vouched_for(folder):
    checked = check_folder(folder)
    assert not checked.holds
    lines = {line.what: line.found for line in checked.lines if not line.holds}
    assert lines == {
        "neighbour": "not compared: there is nothing to draw it with",
        "k^m-anonymity of the neighbour": "not counted",
    }


def test_without_its_neighbour_the_other_files_are_checked(plain):
    before = {line.what for line in check_release(plain).lines}
    (neighbour,) = plain.glob("neighbour.*")
    neighbour.unlink()
    checked = check_release(plain)
    failing = {line.what: line.found for line in checked.lines if not line.holds}
    assert failing["neighbour"] == f"{neighbour.name} is not in the folder"
    assert set(failing) == {f"file {neighbour.name}", "neighbour", "k^m-anonymity of the neighbour"}
    assert {line.what for line in checked.lines} == before - {"bytes of the certificate"}


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "parquet"])
def test_the_verifier_reads_what_was_written(format, tmp_path):
    rng = random.Random(12)
    for turn in range(60):
        made = named(release(rng, rng.choice(["global", "cluster"]))[0])
        folder = written(tmp_path / str(turn), made, format, rng.choice(["km", "raw", None]))
        comp = read_files(folder).published
        for name in Disassociated.__dataclass_fields__:
            assert np.array_equal(getattr(comp, name), getattr(published(made), name)), name
        checked = check_release(folder)
        assert checked.holds
        assert set(checked.notes) >= set(verify(comp).warnings)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["json", "parquet"])
def test_damage_is_found_even_if_the_certificate_admits_it(format, tmp_path):
    rng = random.Random(13)
    found = 0
    for turn in range(150):
        made = damaged(rng, named(release(rng)[0]))
        if any(not chunk for each in made["clusters"] + made["joints"] for chunk in each["chunks"]):
            continue
        given = published(made)
        # Parameters that shoal does not accept, and labels of no chunk, are refused although the judge lets them pass.
        sound = verify(given).holds and given.delta >= 2 * given.k - 1 and set(given.items) >= set(given.term_item)
        folder = written(tmp_path / str(turn), made, format, None)
        assert check_release(folder).holds == sound
        found += not sound
    assert found > 80


def first_sub(document):
    return document["clusters"][0]["chunks"][0]["subrecords"][1]


def test_a_count_changed_by_one_is_found_even_with_forged_digests(plain):
    change(plain, lambda document: first_sub(document).update(count=1), JSON_FILE)
    assert f"file {JSON_FILE}" in failed(plain)
    redigest(plain)
    assert failed(plain) >= {"k^m-anonymity of chunks", "cover condition", "neighbour"}


def test_an_enlarged_cluster_is_found_even_with_forged_digests(plain):
    change(plain, lambda document: document["clusters"][2].update(size=7), JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"data"}
    change(plain, lambda document: document.update(n_records=16), JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"records", "cluster sizes", "neighbour", "k^m-anonymity of the neighbour"}


def test_parameters_that_differ_from_the_certificate_are_found(plain):
    change(plain, lambda document: document["params"].update(delta=9), JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"parameters", "neighbour", "k^m-anonymity of the neighbour"}


def test_a_claim_better_than_the_files_support_is_found(plain):
    change(plain, lambda statement: statement["predicate"]["claims"][0].update(found=9.0))
    assert failed(plain) == {"k^m-anonymity of chunks"}


def test_a_dropped_and_an_added_claim_are_found(plain):
    change(plain, lambda statement: statement["predicate"]["claims"].pop(0))
    assert failed(plain) == {"k^m-anonymity of chunks"}
    more = {"model": "differential privacy", "column": None, "asked": 1, "found": 1}
    change(plain, lambda statement: statement["predicate"]["claims"].append(more))
    assert failed(plain) == {"k^m-anonymity of chunks", "differential privacy"}


@pytest.mark.parametrize(
    "text", [b"b\na\n", b"b a\n", b"a a\n", b"a\n\na\n", b"a\nb", b"\xff\n", b"z\n", b"a  b\n", b" \n", b"a\r\n"]
)
def test_a_neighbour_has_lines_of_published_labels_in_order(text):
    with pytest.raises(ReadError, match=r"'neighbour.dat' is not a list of records in order"):
        read_neighbour(text, "neighbour.dat", ("a", "b"))


@pytest.mark.parametrize(
    "text", [b"[[]]", b"[1]", b"{}", b'[["a", 1]]', b"[[[]]]", b"[", b'[["b"], ["a"]]', b"7", b'["a"]']
)
def test_a_json_neighbour_is_a_list_of_lists_of_labels(text):
    with pytest.raises(ReadError, match=r"'neighbour.json' is not a list of records in order"):
        read_neighbour(text, "neighbour.json", ("a", "b"))


def test_labels_with_blanks_make_the_neighbour_a_json_file(tmp_path):
    folder = written(tmp_path / "out", {**NAMED, "labels": ["a", "b", "c", "d", "e e"]})
    assert (folder / "neighbour.json").is_file()
    assert check_release(folder).holds
    (folder / "neighbour.json").write_text((folder / "neighbour.json").read_text().replace('"a"', '"\\u0061"', 1))
    redigest(folder)
    assert failed(folder) == {"neighbour", "k^m-anonymity of the neighbour"}


def test_a_raw_neighbour_is_declared_not_anonymous_by_itself(tmp_path):
    checked = check_release(written(tmp_path / "raw", kind="raw"))
    assert checked.holds
    assert "not k^m-anonymous as it stands" in checked.notes[0]


def test_an_unlisted_or_missing_file_is_found(folder):
    (folder / "map.csv").write_text("who is who")
    assert failed(folder) == {"file map.csv"}
    change(folder, lambda s: s["subject"].append({"name": "map.csv", "digest": {"sha256": ""}}))
    redigest(folder)
    assert failed(folder) == {"file map.csv"}
    (folder / "neighbour.dat").unlink()
    assert "file neighbour.dat" in failed(folder)


def test_a_neighbour_missing_from_the_certificate_is_found(plain):
    change(plain, lambda statement: statement["predicate"].update(neighbour=None))
    assert failed(plain) == {"file neighbour.dat", "k^m-anonymity of the neighbour"}


@pytest.mark.parametrize("name", ["certificate.json", "neighbour.dat", JSON_FILE])
def test_links_and_pipes_are_not_read(plain, name):
    (plain / name).rename(plain.parent / name)
    (plain / name).symlink_to(plain.parent / name)
    assert failed(plain)
    (plain / name).unlink()
    os.mkfifo(plain / name)
    if name == "certificate.json":
        with pytest.raises(ReadError, match=r"has no certificate.json"):
            check_release(plain)
    else:
        assert failed(plain)


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s.update(predicateType="urn:shoal:release:v1"),
        lambda s: s.update(comment="free text"),
        lambda s: s["predicate"].update(seed=7),
        lambda s: s["predicate"].update(format="disassoc/2"),
        lambda s: s["predicate"].update(records="15"),
        lambda s: s["predicate"].update(shoal="free text!"),
        lambda s: s["predicate"]["parameters"].update(seed=7),
        lambda s: s["predicate"]["parameters"].update(k=[2]),
        lambda s: s["predicate"].update(parameters=None),
        lambda s: s["predicate"].update(neighbour="km"),
        lambda s: s["predicate"]["neighbour"].update(seed=7),
        lambda s: s["predicate"]["neighbour"].update(kind="dp"),
        lambda s: s["predicate"]["neighbour"].update(k=0),
        lambda s: s["subject"].append(dict(s["subject"][0])),
        lambda s: s["predicate"]["claims"][0].update(found=float("nan")),
    ],
)
def test_a_certificate_with_extra_or_different_fields_is_found(plain, edit):
    change(plain, edit)
    assert failed(plain) == {"certificate"}


def test_a_certificate_has_no_seed_and_no_time_and_names_its_neighbour(plain):
    statement = json.loads((plain / "certificate.json").read_text())
    assert statement["predicateType"] == "urn:shoal:sets:v1"
    assert set(statement["predicate"]) == {"shoal", "format", "parameters", "records", "neighbour", "claims"}
    assert statement["predicate"]["neighbour"] == {"kind": "km", "k": 2, "m": 2}


JSON_EDITS = {
    "an index": lambda d: d.update(index=[1, 2]),
    "a seed": lambda d: d["params"].update(seed=3),
    "a seed of a cluster": lambda d: d["clusters"][0].update(seed=3),
    "a record of a sub-record": lambda d: first_sub(d).update(row=3),
    "a negative count": lambda d: first_sub(d).update(count=-2),
    "a huge count": lambda d: first_sub(d).update(count=1 << 60),
    "a count that is a truth": lambda d: first_sub(d).update(count=True),
    "a count with a point": lambda d: first_sub(d).update(count=2.0),
    "a negative item": lambda d: first_sub(d).update(items=[-1]),
    "another domain": lambda d: d["clusters"][0]["chunks"][0].update(domain=[0]),
    "an empty chunk": lambda d: d["clusters"][0]["chunks"].append({"domain": [], "subrecords": []}),
    "a label that is no text": lambda d: d["items"].append("\ud800"),
    "a policy of free text": lambda d: d["params"].update(partition="Peter was here"),
    "an opened of numbers": lambda d: d["clusters"][0].update(opened=0),
}


@pytest.mark.parametrize("edit", JSON_EDITS.values(), ids=JSON_EDITS.keys())
def test_json_with_extra_or_different_fields_is_found(plain, edit):
    change(plain, edit, JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"data"}


@pytest.mark.parametrize("item", [6, 1 << 30])
def test_references_to_absent_items_are_found(plain, item):
    change(plain, lambda d: d["term_global"].append(item), JSON_FILE)
    redigest(plain)
    assert "form" in failed(plain)


@pytest.mark.parametrize(
    "text", ["", "[" * 200_000, '{"format": "disassoc/1", "format": "disassoc/1"}', "NaN", "9" * 5000, "\x00"]
)
def test_an_invalid_document_is_found(plain, text):
    (plain / JSON_FILE).write_text(text)
    redigest(plain)
    assert failed(plain) == {"data"}


@pytest.mark.slow
def test_tampered_parquet_files_never_crash_the_check(tmp_path):
    folder = written(tmp_path / "out", format="parquet")
    rng = random.Random(1)
    before = {name: (folder / name).read_bytes() for name in PARQUET_FILES}
    for _ in range(300):
        name = rng.choice(PARQUET_FILES)
        broken = bytearray(before[name])
        for _ in range(rng.randint(1, 3)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        (folder / name).write_bytes(broken)
        redigest(folder)
        assert check_release(folder).holds == (bytes(broken) == before[name])
        (folder / name).write_bytes(before[name])


def scrambled(rng, value):
    """Change something somewhere in a document."""
    odd = [None, -1, 0, 1, 5, 1 << 40, 10**50, 1.5, True, "", "a", [], {}, [[0]], {"items": [0], "count": 2}]
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        return {**value, key: scrambled(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], scrambled(rng, value[place]), *value[place + 1 :]]
    return copy.deepcopy(rng.choice(odd))


@pytest.mark.slow
@pytest.mark.parametrize("name", [JSON_FILE, "certificate.json"])
def test_tampered_documents_never_crash_the_check(plain, name):
    rng = random.Random(2)
    before = (plain / name).read_text()
    for _ in range(400):
        other = scrambled(rng, json.loads(before))
        (plain / name).write_text(before)
        if type(other) is dict:
            change(plain, lambda document, other=other: document.update(other), name)
        else:
            (plain / name).write_text(json.dumps(other))
        same = (plain / name).read_text() == before
        if name == JSON_FILE:
            redigest(plain)
        assert check_release(plain).holds == same


def test_anything_but_a_release_folder_is_refused(tmp_path):
    with pytest.raises(ReadError, match="there is no folder"):
        check_release(tmp_path / "nothing")
    with pytest.raises(ReadError, match=r"has no certificate.json"):
        check_release(tmp_path)


def test_no_label_is_revealed_whatever_is_wrong(tmp_path):
    made = {**NAMED, "labels": [f"secret{letter}" for letter in "abcde"]}
    folder = written(tmp_path / "out", made, neighbour=Transactions.of([["secretz"], ["secreta", "secretb"]]))
    change(folder, lambda document: first_sub(document).update(count=1), JSON_FILE)
    checked = check_release(folder)
    assert not checked.holds
    assert "secret" not in str(checked) + repr(checked.as_dict())


def test_a_folder_inside_the_folder_is_refused(folder):
    (folder / "more").mkdir()
    assert failed(folder) == {"file more"}
