"""Folders of set-valued releases are checked from their bytes: whatever was changed is found and named."""

import copy
import hashlib
import json
import os
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from set_releases import SOUND, damaged, published, release
from shoal.certify.check_sets import check_sets_folder, neighbour_verdict
from shoal.certify.sets_bytes import read_document, read_tables
from shoal.certify.sets_certificate import write_sets_certificate
from shoal.errors import ReadError, WriteError
from shoal.io.disassociated import JSON_FILE, PARQUET_FILES, write_disassociated, write_neighbour
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.privacy.km import verify

NEIGHBOUR = ["ab", "ab", "ac", "ac", "ad", "ad", "a", "b", "b", "bd", "bd", "b", "d", "e", "e"]


def written(folder, made=SOUND, format="json", neighbour=NEIGHBOUR, kind="km"):
    """Write a release with its certificate, as the line does."""
    folder.mkdir()
    given = published(made)
    names, verdicts = write_disassociated(given, folder, format), [*verify(given).verdicts]
    if neighbour is not None:
        names.append(write_neighbour(Transactions.of(neighbour), folder))
        verdicts += [neighbour_verdict(Transactions.of(neighbour), made["k"], made["m"])] if kind == "km" else []
    write_sets_certificate(folder, names, given, verdicts, kind if neighbour is not None else None)
    return folder


@pytest.fixture(params=["json", "parquet"])
def folder(request, tmp_path):
    return written(tmp_path / "out", format=request.param)


@pytest.fixture
def plain(tmp_path):
    return written(tmp_path / "out")


def failed(folder):
    checked = check_sets_folder(folder)
    assert not checked.holds
    return {line.what for line in checked.lines if not line.holds}


def change(folder, edit, name="certificate.json"):
    document = json.loads((folder / name).read_text())
    edit(document)
    (folder / name).write_text(json.dumps(document))


def redigest(folder):
    """Forge the digests after a change."""

    def forge(statement):
        for entry in statement["subject"]:
            entry["digest"]["sha256"] = hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()

    change(folder, forge)


def test_an_untouched_folder_holds_in_every_format(folder):
    checked = check_sets_folder(folder)
    assert checked.holds
    assert checked.notes == ()
    said = {line.what for line in checked.lines}
    assert said >= {"k^m-anonymity of chunks", "cover condition", "k^m-anonymity of the neighbour", "records"}


@pytest.mark.parametrize("format", ["json", "parquet"])
def test_the_reader_of_the_check_reads_what_was_written(format, tmp_path):
    rng = random.Random(12)
    for turn in range(60):
        made, _ = release(rng, rng.choice(["global", "cluster"]))
        folder = written(tmp_path / str(turn), made, format, neighbour=None)
        comp = read_document(folder / JSON_FILE) if format == "json" else read_tables(folder)
        for name in Disassociated.__dataclass_fields__:
            assert np.array_equal(getattr(comp, name), getattr(published(made), name)), name
        checked = check_sets_folder(folder)
        assert checked.holds
        assert bool(checked.notes) == bool(verify(comp).warnings)


@pytest.mark.parametrize("format", ["json", "parquet"])
def test_damage_is_found_though_the_certificate_admits_it(format, tmp_path):
    rng = random.Random(13)
    found = 0
    for turn in range(150):
        made = damaged(rng, release(rng)[0])
        if any(not chunk for each in made["clusters"] + made["joints"] for chunk in each["chunks"]):
            continue
        sound = verify(published(made)).holds
        folder = written(tmp_path / str(turn), made, format, neighbour=None)
        assert check_sets_folder(folder).holds == sound
        found += not sound
    assert found > 80


def first_sub(document):
    return document["clusters"][0]["chunks"][0]["subrecords"][1]


def test_a_count_changed_by_one_is_found_even_with_forged_digests(plain):
    change(plain, lambda document: first_sub(document).update(count=1), JSON_FILE)
    assert f"file {JSON_FILE}" in failed(plain)
    redigest(plain)
    assert failed(plain) >= {"k^m-anonymity of chunks", "cover condition"}


def test_a_cluster_that_grew_is_found_even_with_forged_digests(plain):
    change(plain, lambda document: document["clusters"][2].update(size=7), JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"data"}
    change(plain, lambda document: document.update(n_records=16), JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"records", "cluster sizes"}


def test_other_parameters_than_the_certificate_has_are_found(plain):
    change(plain, lambda document: document["params"].update(delta=9), JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"parameters"}


def test_a_better_claim_than_the_files_bear_is_found(plain):
    change(plain, lambda statement: statement["predicate"]["claims"][0].update(found=9.0))
    assert failed(plain) == {"k^m-anonymity of chunks"}


def test_a_dropped_and_an_added_claim_are_found(plain):
    change(plain, lambda statement: statement["predicate"]["claims"].pop(0))
    assert failed(plain) == {"k^m-anonymity of chunks"}
    more = {"model": "differential privacy", "column": None, "asked": 1, "found": 1}
    change(plain, lambda statement: statement["predicate"]["claims"].append(more))
    assert failed(plain) == {"k^m-anonymity of chunks", "differential privacy"}


def test_a_neighbour_with_a_rare_pair_is_found(tmp_path):
    rare = [*NEIGHBOUR[:6], *NEIGHBOUR[7:-1], "ae"]
    assert failed(written(tmp_path / "km", neighbour=rare)) == {"k^m-anonymity of the neighbour"}
    checked = check_sets_folder(written(tmp_path / "raw", neighbour=rare, kind="raw"))
    assert checked.holds
    assert "not k^m-anonymous as it stands" in checked.notes[0]


@pytest.mark.parametrize(
    ("neighbour", "what"),
    [
        ([*NEIGHBOUR, "b"], "neighbour records"),
        (["z", "z"], "neighbour items"),
        (["c", "c", "c"], "neighbour items"),
    ],
)
def test_a_neighbour_that_cannot_come_from_the_release_is_found(neighbour, what, tmp_path):
    assert what in failed(written(tmp_path / "out", neighbour=neighbour))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"b\na\n", "neighbour order"),
        (b"b a\nb a\n", "neighbour order"),
        (b"a a\na a\n", "neighbour order"),
        (b"a\n\na\n", "neighbour items"),
        (b"a\nb", "neighbour"),
        (b"\xff\n", "neighbour"),
    ],
)
def test_a_neighbour_that_is_not_as_shoal_writes_it_is_found(plain, text, what):
    (plain / "neighbour.dat").write_bytes(text)
    redigest(plain)
    assert what in failed(plain)


@pytest.mark.parametrize("text", ["[[]]", "[1]", "{}", '[["a", 1]]', "[[[]]]", "["])
def test_a_neighbour_of_json_is_a_list_of_lists_of_labels(text, tmp_path):
    made = {**SOUND, "labels": ["a", "b", "c", "d", "e", "f f"]}
    folder = written(tmp_path / "out", made, neighbour=["a", "a", ["f f"], ["f f"]])
    assert check_sets_folder(folder).holds
    (folder / "neighbour.json").write_text(text)
    redigest(folder)
    assert "neighbour" in failed(folder)


def test_a_file_that_nobody_listed_or_that_is_missing_is_found(folder):
    (folder / "map.csv").write_text("who is who")
    assert failed(folder) == {"file map.csv"}
    change(folder, lambda s: s["subject"].append({"name": "map.csv", "digest": {"sha256": ""}}))
    redigest(folder)
    assert failed(folder) == {"file map.csv"}
    (folder / "neighbour.dat").unlink()
    assert "file neighbour.dat" in failed(folder)


def test_a_neighbour_that_the_certificate_does_not_tell_of_is_found(plain):
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
            check_sets_folder(plain)
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
def test_a_certificate_that_says_more_or_other_than_it_may_is_found(plain, edit):
    change(plain, edit)
    assert failed(plain) == {"certificate"}


def test_a_certificate_has_no_seed_and_no_time_and_names_its_neighbour(plain):
    statement = json.loads((plain / "certificate.json").read_text())
    assert statement["predicateType"] == "urn:shoal:sets:v1"
    assert set(statement["predicate"]) == {"shoal", "format", "parameters", "records", "neighbour", "claims"}
    assert statement["predicate"]["neighbour"] == {"kind": "km", "k": 2, "m": 2}
    with pytest.raises(WriteError, match="a neighbour must be named among the files"):
        write_sets_certificate(plain, [JSON_FILE], published(SOUND), [], "km")


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
def test_json_that_says_more_or_other_than_the_format_is_found(plain, edit):
    change(plain, edit, JSON_FILE)
    redigest(plain)
    assert failed(plain) == {"data"}


@pytest.mark.parametrize("item", [6, 1 << 30])
def test_items_that_are_not_there_are_found(plain, item):
    change(plain, lambda d: d["term_global"].append(item), JSON_FILE)
    redigest(plain)
    assert "form" in failed(plain)


def test_negative_numbers_of_a_parquet_file_are_found(tmp_path):
    folder = written(tmp_path / "out", format="parquet")
    low = pa.array([-1_526_726_651], pa.int32())
    rewrite(folder, "terms", lambda table: table.set_column(1, table.schema.field("item"), low))
    assert "form" in failed(folder)


@pytest.mark.parametrize(
    "text", ["", "[" * 200_000, '{"format": "disassoc/1", "format": "disassoc/1"}', "NaN", "9" * 5000, "\x00"]
)
def test_what_is_no_document_is_found(plain, text):
    (plain / JSON_FILE).write_text(text)
    redigest(plain)
    assert failed(plain) == {"data"}


def rewrite(folder, name, change=lambda table: table, **more):
    """Write a Parquet file of the release anew, with its parameters."""
    path = folder / f"{name}.parquet"
    facts, table = pq.read_metadata(path).metadata or {}, change(pq.read_table(path))
    with pq.ParquetWriter(path, table.schema, store_schema=False) as file:
        file.write_table(table)
        file.add_key_value_metadata({**facts, **more})
    redigest(folder)


@pytest.mark.parametrize("name", [name.removesuffix(".parquet") for name in PARQUET_FILES])
def test_a_seed_or_an_index_in_a_parquet_file_is_found(name, tmp_path):
    folder = written(tmp_path / "out", format="parquet")
    rewrite(folder, name)
    assert check_sets_folder(folder).holds
    rewrite(folder, name, lambda table: table.append_column("row", [list(range(table.num_rows))]))
    assert failed(folder) == {"data"}
    rewrite(folder, name, lambda table: table.drop_columns(["row"]), seed="7")
    assert failed(folder) == {"data"}


@pytest.mark.parametrize("name", PARQUET_FILES)
def test_bytes_that_belong_to_no_column_are_found(name, tmp_path):
    folder = written(tmp_path / "out", format="parquet")
    whole = (folder / name).read_bytes()
    length = int.from_bytes(whole[-8:-4], "little") + 8
    (folder / name).write_bytes(whole[:-length] + b"seed 7" + whole[-length:])
    redigest(folder)
    assert failed(folder) == {"data"}


def test_a_small_file_of_very_many_rows_is_not_read(tmp_path):
    folder = written(tmp_path / "out", format="parquet")
    rows = pa.array(np.zeros(40_000_000, np.int32))
    pq.write_table(pa.table({"cluster": rows, "item": rows}), folder / "terms.parquet", store_schema=False)
    assert (folder / "terms.parquet").stat().st_size < 1 << 20
    redigest(folder)
    assert failed(folder) == {"data"}


def test_parquet_files_that_were_tampered_with_never_crash_the_check(tmp_path):
    folder = written(tmp_path / "out", format="parquet")
    chance = random.Random(1)
    before = {name: (folder / name).read_bytes() for name in PARQUET_FILES}
    refused = 0
    for _ in range(300):
        name = chance.choice(PARQUET_FILES)
        broken = bytearray(before[name])
        for _ in range(chance.randint(1, 3)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        (folder / name).write_bytes(broken)
        redigest(folder)
        refused += not check_sets_folder(folder).holds
        (folder / name).write_bytes(before[name])
    assert refused > 100


def scrambled(chance, value):
    """Change something somewhere in a document."""
    odd = [None, -1, 0, 1, 5, 1 << 40, 10**50, 1.5, True, "", "a", [], {}, [[0]], {"items": [0], "count": 2}]
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        return {**value, key: scrambled(chance, value[key])}
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        return [*value[:place], scrambled(chance, value[place]), *value[place + 1 :]]
    return copy.deepcopy(chance.choice(odd))


@pytest.mark.parametrize("name", [JSON_FILE, "certificate.json"])
def test_documents_that_were_tampered_with_never_crash_the_check(plain, name):
    chance = random.Random(2)
    before = (plain / name).read_text()
    refused = 0
    for _ in range(400):
        (plain / name).write_text(json.dumps(scrambled(chance, json.loads(before))))
        if name == JSON_FILE:
            redigest(plain)
        refused += not check_sets_folder(plain).holds
    assert refused > 300


def test_what_is_no_folder_of_a_release_is_refused(tmp_path):
    with pytest.raises(ReadError, match="there is no folder"):
        check_sets_folder(tmp_path / "nothing")
    with pytest.raises(ReadError, match=r"has no certificate.json"):
        check_sets_folder(tmp_path)


def test_no_label_is_told_whatever_is_wrong(tmp_path):
    made = {**SOUND, "labels": [f"secret{letter}" for letter in "abcdef"]}
    folder = written(tmp_path / "out", made, neighbour=[["secretz"], ["secreta", "secretb"]])
    change(folder, lambda document: first_sub(document).update(count=1), JSON_FILE)
    checked = check_sets_folder(folder)
    assert not checked.holds
    assert "secret" not in str(checked) + repr(checked.as_dict())
