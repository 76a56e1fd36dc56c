"""Disassociated data sets on disk: what is written is read back, nothing else is written, and damage is refused."""

import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from set_releases import published, release
from shoal.certify.sets_bytes import read_files
from shoal.errors import ReadError, WriteError
from shoal.io.disassociated import (
    JSON_FILE,
    PARQUET_FILES,
    write_disassociated,
    write_neighbour,
)
from shoal.model.disassociated import Disassociated
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km import verify

FORMATS = ["json", "parquet"]


def back(folder):
    return read_files(folder).published


def refused(folder):
    """Return whether files cannot be read, or fail a verdict."""
    try:
        return not verify(back(folder)).holds
    except ReadError:
        return True


def same(one, two):
    for name in Disassociated.__dataclass_fields__:
        a, b = getattr(one, name), getattr(two, name)
        if isinstance(a, np.ndarray):
            assert np.array_equal(a, b), name
            assert a.dtype == b.dtype, name
        else:
            assert a == b, name
    return True


def some(seed=4, terms="global"):
    rng = random.Random(seed)
    while True:
        made, _ = release(rng, terms)
        if made["joints"] and len(made["clusters"]) > 2 and (made["term_global"] or terms == "cluster"):
            return made


@pytest.mark.parametrize("format", FORMATS)
def test_written_data_are_read_back(format, tmp_path):
    rng = random.Random(11)
    for turn in range(40):
        made, _ = release(rng, rng.choice(["global", "cluster"]))
        folder = tmp_path / str(turn)
        folder.mkdir()
        given = published(made)
        names = write_disassociated(given, folder, format)
        assert sorted(path.name for path in folder.iterdir()) == names
        assert same(back(folder), given)


@pytest.mark.parametrize("format", FORMATS)
def test_equal_data_give_equal_bytes(format, tmp_path):
    bytes_of = []
    for turn in ("one", "two"):
        (tmp_path / turn).mkdir()
        names = write_disassociated(published(some()), tmp_path / turn, format)
        bytes_of.append([(tmp_path / turn / name).read_bytes() for name in names])
    assert bytes_of[0] == bytes_of[1]


def test_json_has_the_documented_format(tmp_path):
    made = some(terms="cluster")
    write_disassociated(published(made), tmp_path, "json")
    document = json.loads((tmp_path / JSON_FILE).read_text(encoding="utf-8"))
    assert list(document) == ["format", "params", "n_records", "items", "clusters", "joints", "term_global"]
    assert set(document["params"]) == {"k", "m", "delta", "partition", "levels", "terms"}
    assert document["n_records"] == sum(cluster["size"] for cluster in made["clusters"])
    for ref, comp in zip(made["clusters"], document["clusters"], strict=True):
        assert comp.get("term", []) == ref["term"]
        subs = [[(sub["items"], sub["count"]) for sub in chunk["subrecords"]] for chunk in comp["chunks"]]
        assert subs == ref["chunks"]
        domains = [sorted({i for items, _ in chunk for i in items}) for chunk in ref["chunks"]]
        assert [chunk["domain"] for chunk in comp["chunks"]] == domains


def test_parquet_files_have_their_columns_and_no_metadata_but_the_parameters(tmp_path):
    write_disassociated(published(some()), tmp_path)
    columns = {name: pq.read_schema(tmp_path / name).names for name in PARQUET_FILES}
    assert columns == {
        "clusters.parquet": ["cluster", "size", "opened"],
        "items.parquet": ["id", "label"],
        "joints.parquet": ["joint", "cluster"],
        "subrecords.parquet": ["scope", "scope_id", "chunk", "items", "count"],
        "terms.parquet": ["cluster", "item"],
    }
    for name in PARQUET_FILES:
        facts = pq.read_metadata(tmp_path / name).metadata
        if name == "clusters.parquet":
            assert set(json.loads(facts.pop(b"disassoc"))) == {"format", "params", "n_records"}
        assert not facts


@pytest.mark.parametrize("format", FORMATS)
def test_labels_of_any_text_are_read_back(format, tmp_path):
    made = some()
    odd = ["", " a b", '"quoted"', "=1+1", "line\nend", "nul\0", "älter", "名前", "\u2028", "😀"]
    made["labels"] = sorted(odd[: len(made["labels"])], key=str.encode)
    write_disassociated(published(made), tmp_path, format)
    assert back(tmp_path).labels == tuple(made["labels"])


@pytest.mark.parametrize("format", FORMATS)
def test_labels_that_cannot_be_written_are_refused_but_not_shown(format, tmp_path):
    made = some()
    made["labels"][0] = "secret\ud800"
    with pytest.raises(WriteError, match="1 labels cannot be written") as raised:
        write_disassociated(published(made), tmp_path, format)
    assert "secret" not in str(raised.value)
    made = some()
    made["clusters"][0]["chunks"].append([])
    with pytest.raises(WriteError, match="1 chunks have no sub-record"):
        write_disassociated(published(made), tmp_path, format)
    with pytest.raises(WriteError, match="'csv' is not one for disassociated data"):
        write_disassociated(published(some()), tmp_path, "csv")


def test_a_huge_json_file_is_neither_written_nor_read(tmp_path, monkeypatch):
    write_disassociated(published(some()), tmp_path, "json")
    monkeypatch.setattr("shoal.io.disassociated.MOST_JSON", 100)
    monkeypatch.setattr("shoal.certify.sets_bytes.MOST_JSON", 100)
    with pytest.raises(WriteError, match="Choose parquet"):
        write_disassociated(published(some()), tmp_path, "json")
    with pytest.raises(ReadError, match="'disassociated.json' is not part of a disassociated data set"):
        back(tmp_path)


EDITS = {
    "another format": lambda d: d.update(format="disassoc/2"),
    "another number of records": lambda d: d.update(n_records=d["n_records"] + 1),
    "no clusters": lambda d: d.pop("clusters"),
    "a label that is no text": lambda d: d["items"].append(3),
    "a label twice": lambda d: d["items"].append(d["items"][0]),
    "an item that is not there": lambda d: d["term_global"].append(99),
    "a negative item": lambda d: d["term_global"].append(-1),
    "a cluster that is not there": lambda d: d["joints"][0]["clusters"].append(99),
    "a size of text": lambda d: d["clusters"][0].update(size="3"),
    "a count of nothing": lambda d: d["joints"][0]["chunks"][0]["subrecords"][0].update(count=0),
    "a count with a point": lambda d: d["joints"][0]["chunks"][0]["subrecords"][0].update(count=1.5),
    "a count that is a truth": lambda d: d["joints"][0]["chunks"][0]["subrecords"][0].update(count=True),
    "a huge count": lambda d: d["joints"][0]["chunks"][0]["subrecords"][0].update(count=10**30),
    "another domain": lambda d: d["joints"][0]["chunks"][0]["domain"].append(0),
    "opened by a number": lambda d: d["clusters"][0].update(opened=1),
    "k of 0": lambda d: d["params"].update(k=0),
    "k of text": lambda d: d["params"].update(k="3"),
    "terms that are not known": lambda d: d["params"].update(terms="other"),
    "clusters that are a number": lambda d: d.update(clusters=3),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_inconsistent_json_is_refused(edit, tmp_path):
    write_disassociated(published(some()), tmp_path, "json")
    document = json.loads((tmp_path / JSON_FILE).read_text())
    edit(document)
    (tmp_path / JSON_FILE).write_text(json.dumps(document))
    assert refused(tmp_path)


@pytest.mark.parametrize("text", [b"", b"[", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"format": 1, "format": 1}'])
def test_json_of_another_format_is_refused(text, tmp_path):
    (tmp_path / JSON_FILE).write_bytes(text)
    with pytest.raises(ReadError, match="'disassociated.json' is not part of"):
        back(tmp_path)


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(ReadError, match="'clusters.parquet' is not part of"):
        back(tmp_path)
    write_disassociated(published(some()), tmp_path)
    (tmp_path / "terms.parquet").unlink()
    with pytest.raises(ReadError, match="'clusters.parquet' is not part of"):
        back(tmp_path)


CHANGES = [
    ("items", lambda t: t.rename_columns(["id", "name"])),
    ("items", lambda t: t.slice(1)),
    ("clusters", lambda t: t.slice(1).replace_schema_metadata(t.schema.metadata)),
    ("clusters", lambda t: t.set_column(1, "size", t["size"].cast(pa.int32()))),
    ("clusters", lambda t: t),
    ("joints", lambda t: t.slice(2)),
    ("subrecords", lambda t: t.set_column(0, "scope", pa.array(["x"] * t.num_rows))),
    ("subrecords", lambda t: t.set_column(4, "count", pa.array([0] * t.num_rows, pa.int64()))),
    ("subrecords", lambda t: t.set_column(4, "count", pa.array([None] * t.num_rows, pa.int64()))),
    ("terms", lambda t: t.set_column(1, "item", pa.array([99] * t.num_rows, pa.int32()))),
]


@pytest.mark.parametrize(("name", "change"), CHANGES)
def test_inconsistent_parquet_files_are_refused(name, change, tmp_path):
    write_disassociated(published(some()), tmp_path)
    path = tmp_path / f"{name}.parquet"
    pq.write_table(change(pq.read_table(path)), path, store_schema=False)
    assert refused(tmp_path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    write_disassociated(published(some()), tmp_path)
    (tmp_path / "terms.parquet").write_bytes((tmp_path / "terms.parquet").read_bytes()[:-20])
    with pytest.raises(ReadError, match="'terms.parquet' is not part of"):
        back(tmp_path)


@pytest.mark.parametrize("format", FORMATS)
def test_tampered_files_are_read_or_refused_but_never_crash(format, tmp_path):
    rng = random.Random(5)
    names = write_disassociated(published(some()), tmp_path, format)
    before = {name: (tmp_path / name).read_bytes() for name in names}
    refused = 0
    for _ in range(200):
        name = rng.choice(names)
        broken = bytearray(before[name])
        for _ in range(rng.randint(1, 3)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        (tmp_path / name).write_bytes(broken)
        try:
            back(tmp_path)
        except ReadError:
            refused += 1
        (tmp_path / name).write_bytes(before[name])
    assert refused > 50


def test_the_order_of_the_lines_of_a_neighbour_reveals_nothing(tmp_path):
    records = [["b", "c"], ["a"], ["a", "b"], ["10", "9"]]
    assert write_neighbour(Transactions.of(records), tmp_path) == "neighbour.dat"
    text = (tmp_path / "neighbour.dat").read_bytes()
    assert text == b"10 9\na\na b\nb c\n"
    write_neighbour(Transactions.of(reversed(records)), tmp_path)
    assert (tmp_path / "neighbour.dat").read_bytes() == text


@pytest.mark.parametrize("label", ["two words", "", "\ufeffmark", "line\nend"])
def test_labels_with_blanks_make_the_neighbour_a_list_of_lists(label, tmp_path):
    assert write_neighbour(Transactions.of([["b", label], ["b"]]), tmp_path) == "neighbour.json"
    found = json.loads((tmp_path / "neighbour.json").read_text(encoding="utf-8"))
    assert found == sorted([sorted(["b", label]), ["b"]])


def test_an_empty_neighbour_is_an_empty_file(tmp_path):
    assert write_neighbour(Transactions.of([]), tmp_path) == "neighbour.dat"
    assert (tmp_path / "neighbour.dat").read_bytes() == b""
    with pytest.raises(WriteError, match="1 labels cannot be written"):
        write_neighbour(Transactions.of([["\ud800"]]), tmp_path)
