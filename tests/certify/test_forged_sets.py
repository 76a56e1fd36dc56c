"""Forged folders of set-valued releases: digests are corrected, so that only the content reveals them."""

import json
import random
import re
import struct
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal.sets
from set_folders import NAMED, change, check_release, failed, redigest, written
from shoal.certify import sets_neighbour
from shoal.io.disassociated import JSON_FILE, PARQUET_FILES, write_neighbour
from shoal.io.transactions import read as read_transactions
from shoal.model.transactions import Transactions
from shoal.privacy.verdict.km import verify_plain
from shoal.transactions.reassociation.harden import harden_km

NEIGHBOUR = {"neighbour", "k^m-anonymity of the neighbour"}


@pytest.fixture(params=["json", "parquet"])
def folder(request, tmp_path):
    return written(tmp_path / "out", format=request.param)


@pytest.fixture
def plain(tmp_path):
    return written(tmp_path / "out")


@pytest.fixture
def tables(tmp_path):
    return written(tmp_path / "out", format="parquet")


# the neighbour


def with_neighbour(folder, records):
    """Replace the neighbour by other records."""
    for name in ("neighbour.dat", "neighbour.json"):
        (folder / name).unlink(missing_ok=True)
    write_neighbour(records, folder)
    redigest(folder)


def only(records, labels):
    """Return the records of a data set without other labels than these."""
    return Transactions.of([[label for label in record if label in labels] for record in records])


def random_records(seed, n=300):
    rng = random.Random(seed)
    kinds = [rng.sample("abcdefghijklm", rng.randint(2, 4)) for _ in range(6)]
    return [sorted({*rng.choice(kinds), *rng.choices("mnopqrstuvwxyz", k=rng.randint(0, 3))}) for _ in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["raw", "km"])
@pytest.mark.parametrize("source", ["groceries.dat", "random"])
def test_the_original_is_not_accepted_as_a_neighbour(source, kind, tmp_path, request):
    if source == "random":
        data = Transactions.of(random_records(1))
    else:
        data = read_transactions(request.getfixturevalue("data_file")(source))
    folder = shoal.sets.anonymize(data, k=3, m=2, neighbour=kind).save(tmp_path / "out")
    labels = set(pq.read_table(folder / "items.parquet")["label"].to_pylist())
    with_neighbour(folder, only(data.records(), labels))
    assert failed(folder) == ({"neighbour"} if kind == "raw" else NEIGHBOUR)


def test_not_even_an_anonymous_original_is_accepted_as_a_neighbour(tmp_path):
    records = random_records(5)
    records = harden_km(Transactions.of(records), 3, 2).data.records()
    folder = shoal.sets.anonymize(records, k=3, m=2, delta=40).save(tmp_path / "out")
    assert verify_plain(Transactions.of(records), 3, 2).holds
    with_neighbour(folder, Transactions.of(records))
    assert failed(folder) == NEIGHBOUR


def test_a_neighbour_drawn_with_a_chosen_seed_is_refused(tmp_path):
    release = shoal.sets.anonymize(random_records(2), k=3, delta=30, neighbour="raw")
    folder = release.save(tmp_path / "out")
    shoal.sets.reassociate(folder, tmp_path / "again.dat", neighbour="raw", seed=7)
    with_neighbour(folder, shoal.sets.read(tmp_path / "again.dat"))
    assert failed(folder) == {"neighbour"}


def test_a_neighbour_with_one_item_removed_is_refused(folder):
    lines = (folder / "neighbour.dat").read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if " " in line)
    lines[place] = lines[place].split()[0]
    (folder / "neighbour.dat").write_text("".join(f"{line}\n" for line in sorted(lines)))
    redigest(folder)
    assert failed(folder) == NEIGHBOUR


@pytest.mark.parametrize("more", ["\n", " ", "\0", "# drawn by hand\n", "a\n"])
def test_a_neighbour_with_trailing_bytes_is_refused(folder, more):
    with (folder / "neighbour.dat").open("a") as file:
        file.write(more)
    redigest(folder)
    assert failed(folder) == NEIGHBOUR


def test_a_neighbour_of_another_version_is_noted(plain):
    change(plain, lambda statement: statement["predicate"].update(shoal="9.1.2"))
    checked = check_release(plain)
    assert checked.holds
    assert any("name shoal 9.1.2 as their writer" in note for note in checked.notes)
    (plain / "neighbour.dat").write_text("a\n")
    redigest(plain)
    line = next(line for line in check_release(plain).lines if line.what == "neighbour")
    assert re.fullmatch(r"different \(by shoal 9\.1\.2, drawn again by \S+\)", line.found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["raw", "km"])
def test_honest_neighbours_are_never_refused(kind, tmp_path):
    rng = random.Random(17)
    for turn in range(110):
        k = rng.randint(2, 5)
        records = random_records(turn, rng.randint(k, 120))
        how = {"k": k, "m": rng.randint(1, 3), "delta": rng.randint(2 * k, 40), "levels": rng.randint(0, 3)}
        rules = [["a", "m"], ["b", "n"]] if rng.random() < 0.4 else None
        if rules and {"a", "b", "m", "n"} <= set().union(*records):
            how |= {"rules": rules, "partition": rng.choice(["rules", "ugac"]), "rounds": 50}
        else:
            how["partition"] = rng.choice(["recursive", "iterative"])
        how["terms"] = rng.choice(["global", "drop", "cluster", "suppress"])
        release = shoal.sets.anonymize(records, neighbour=kind, **how)
        folder = release.save(tmp_path / str(turn), format=rng.choice(["json", "parquet"]))
        assert check_release(folder).holds, how


def enlarge(folder, records):
    """Let the last cluster of a release have very many records."""

    def edit(document):
        document["clusters"][2]["size"] = records
        document["params"]["delta"] = 10**9
        document["n_records"] += records - 6

    change(folder, edit, JSON_FILE)
    change(folder, lambda s: s["predicate"].update(records=records + 9))
    change(folder, lambda s: s["predicate"]["parameters"].update(delta=10**9))
    redigest(folder)


def failed_within(folder, memory):
    """Return what fails in a folder, and check that finding out takes at most this many bytes."""
    tracemalloc.start()
    found = failed(folder)
    assert tracemalloc.get_traced_memory()[1] < memory
    tracemalloc.stop()
    return found


def test_no_neighbour_of_very_many_records_is_drawn_for_a_small_release(plain):
    enlarge(plain, 1 << 29)
    assert failed_within(plain, 1 << 24) == NEIGHBOUR
    line = next(line for line in check_release(plain).lines if line.what == "neighbour")
    assert "too many records for files of this size" in line.found


def test_a_long_label_that_very_many_records_hold_is_not_written_out(plain):
    def edit(document):
        label = document["items"][0]
        document["items"] = [word * 10_000 if word == label else word for word in document["items"]]
        document["clusters"][2]["chunks"][0] = {"domain": [0], "subrecords": [{"items": [0], "count": 1 << 20}]}

    change(plain, edit, JSON_FILE)
    enlarge(plain, 1 << 20)
    assert failed_within(plain, 1 << 26)


def test_records_with_too_many_combinations_are_not_hardened(plain, monkeypatch):
    monkeypatch.setattr("shoal.pipeline.set_neighbours.MOST_COMBINATIONS", 10)
    assert failed(plain) == NEIGHBOUR


def test_a_draw_that_takes_too_much_work_is_given_up(plain, monkeypatch):
    monkeypatch.setattr("shoal.pipeline.set_neighbours.WORK", 10.0)
    monkeypatch.setattr("shoal.pipeline.set_neighbours.WORK_PER_ITEM", 1.0)
    assert failed(plain) == NEIGHBOUR
    line = next(line for line in check_release(plain).lines if line.what == "neighbour")
    assert line.found == "not compared: it takes too long for files of this size"


def test_a_wrongly_drawn_neighbour_is_still_counted(plain, monkeypatch):
    monkeypatch.setattr(sets_neighbour, "neighbour_file", lambda data: ("neighbour.dat", b"a\na b\nb\nb\n"))
    (plain / "neighbour.dat").write_bytes(b"a\na b\nb\nb\n")
    redigest(plain)
    assert failed(plain) == {"k^m-anonymity of the neighbour"}


# labels


@pytest.mark.parametrize("terms", ["global", "cluster"])
def test_a_label_that_no_chunk_holds_is_refused(terms, tmp_path):
    made = {**NAMED, "labels": [*NAMED["labels"], "Jane Doe"], "terms": terms}
    made["term_global"] = [4, 5] if terms == "global" else []
    if terms == "cluster":
        made["clusters"] = [*made["clusters"][:2], {**made["clusters"][2], "term": [5]}]
    assert "labels" in failed(written(tmp_path / "out", made))


def test_a_label_that_nothing_refers_to_is_refused(tmp_path):
    made = {**NAMED, "labels": [*NAMED["labels"], "f"]}
    assert failed(written(tmp_path / "out", made)) >= {"labels", "order"}


# parameters


@pytest.mark.parametrize(
    "parameter",
    [
        {"partition": "jane-doe"},
        {"terms": "jane-doe"},
        {"partition": "Recursive"},
        {"levels": 17},
        {"levels": True},
        {"delta": 10**9 + 1},
        {"delta": 2},
        {"m": 0},
        {"k": 2.0},
        {"jane": "doe"},
    ],
    ids=str,
)
@pytest.mark.parametrize("format", ["json", "parquet"])
def test_parameters_that_shoal_does_not_accept_are_refused(parameter, format, tmp_path):
    folder = written(tmp_path / "out", format=format)
    if format == "json":
        change(folder, lambda document: document["params"].update(parameter), JSON_FILE)
    else:
        facts = json.loads(pq.read_metadata(folder / "clusters.parquet").metadata[b"disassoc"])
        facts["params"].update(parameter)
        rewrite(folder, "clusters", facts=json.dumps(facts))
    redigest(folder)
    assert failed(folder) == {"data"}
    change(folder, lambda statement: statement["predicate"]["parameters"].update(parameter))
    assert failed(folder) == {"certificate"}


# the bytes of Parquet files


def rewrite(folder, name, change=lambda table: table, facts=None, rows=None, metadata=None, **how):
    """Write a Parquet file of the release again, in another way than shoal does."""
    path = folder / f"{name}.parquet"
    kept, table = pq.read_metadata(path).metadata or {}, change(pq.read_table(path))
    kept = {"disassoc": facts} if facts else kept
    how = {"compression": "none", "write_statistics": False, "use_dictionary": False, **how}
    with pq.ParquetWriter(path, table.schema, store_schema=False, **how) as file:
        file.write_table(table, row_group_size=rows)
        file.add_key_value_metadata({**kept, **(metadata or {})})
    redigest(folder)


@pytest.mark.parametrize("name", [name.removesuffix(".parquet") for name in PARQUET_FILES])
def test_parquet_files_written_in_another_way_are_refused(name, tables):
    before = (tables / f"{name}.parquet").read_bytes()
    ways = {
        "metadata": {"metadata": {"who": "Jane Doe"}},
        "statistics": {"write_statistics": True},
        "compressed": {"compression": "zstd"},
        "dictionary": {"use_dictionary": True},
        "old pages": {"data_page_version": "2.0"},
        "a column": {"change": lambda table: table.append_column("row", [list(range(table.num_rows))])},
    }
    for way in ways.values():
        rewrite(tables, name, **way)
        failures = failed(tables)
        assert failures in ({"data"}, {f"bytes of {name}.parquet"}), way
        (tables / f"{name}.parquet").write_bytes(before)
    redigest(tables)
    assert check_release(tables).holds


def test_row_groups_cut_elsewhere_are_refused(tables):
    rewrite(tables, "subrecords", rows=4)
    assert pq.read_metadata(tables / "subrecords.parquet").num_row_groups == 3
    assert failed(tables) == {"bytes of subrecords.parquet"}


def test_pages_cut_elsewhere_are_refused(tables):
    rewrite(tables, "subrecords", data_page_size=8, write_batch_size=1)
    assert failed(tables) == {"bytes of subrecords.parquet"}


def test_an_unused_dictionary_entry_is_refused(tables):
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 7 + [1] * 2, pa.int8()), ["c", "j", "Jane Doe"])

    def edit(table):
        return table.set_column(0, pa.field("scope", words.type, nullable=False), words)

    rewrite(tables, "subrecords", edit, use_dictionary=["scope"])
    assert b"Jane Doe" in (tables / "subrecords.parquet").read_bytes()
    assert failed(tables) == {"data"}


@pytest.mark.parametrize("name", PARQUET_FILES)
def test_bytes_that_belong_to_no_column_are_refused(name, tables):
    whole = (tables / name).read_bytes()
    length = int.from_bytes(whole[-8:-4], "little") + 8
    for place in (4, len(whole) - length, len(whole)):
        (tables / name).write_bytes(whole[:place] + b"Jane Doe" + whole[place:])
        redigest(tables)
        assert failed(tables) in ({"data"}, {f"bytes of {name}"})


def test_values_stored_for_missing_cells_are_refused(tmp_path):
    made = {**NAMED, "term_global": [3, 4]}
    folder = written(tmp_path / "out", made, format="parquet")
    path = folder / "terms.parquet"
    raw = path.read_bytes()
    # Two missing clusters: a run of two levels that are 0. Here they become two cells with a cluster each.
    there = raw.replace(
        struct.pack("<I", 2) + b"\x04\x00", struct.pack("<I", 2) + b"\x04\x01" + struct.pack("<2i", 7, 8)
    )
    assert len(there) == len(raw) + 8
    path.write_bytes(there)
    redigest(folder)
    assert failed(folder) == {"data"}


def test_another_version_of_pyarrow_may_be_named_if_all_files_name_it(tables):
    old, new = f"parquet-cpp-arrow version {pa.__version__}".encode(), b"parquet-cpp-arrow version 123.0.10"
    for name in PARQUET_FILES:
        raw = (tables / name).read_bytes()
        longer = raw.replace(bytes([len(old)]) + old, bytes([len(new)]) + new)
        length = int.from_bytes(raw[-8:-4], "little") + len(new) - len(old)
        (tables / name).write_bytes(longer[:-8] + struct.pack("<I", length) + longer[-4:])
        redigest(tables)
        assert check_release(tables).holds == (name == PARQUET_FILES[-1])
    assert any("name pyarrow 123.0.10 as their writer" in note for note in check_release(tables).notes)
    rewrite(tables, "items", use_dictionary=True)
    assert failed(tables) == {"data"}


def test_free_text_as_creator_is_refused(tables):
    for name in PARQUET_FILES:
        raw = (tables / name).read_bytes()
        (tables / name).write_bytes(raw.replace(b"parquet-cpp-arrow version", b"Jane-Doe-lives-here-not  "))
    redigest(tables)
    assert failed(tables) == {"data"}


# costs


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"compression": "zstd"}, {"use_dictionary": True}, {}], ids=["zstd", "runs", "plain"])
def test_a_small_file_with_a_very_long_list_is_not_unpacked(how, tables):
    table = pq.read_table(tables / "subrecords.parquet").slice(0, 1)
    long = pa.ListArray.from_arrays([0, 20_000_000], pa.array(np.zeros(20_000_000, np.int32)))
    field = table.schema.field("items")
    table = table.set_column(3, field, long.cast(field.type))
    how = {"compression": "none", "use_dictionary": False, **how}
    pq.write_table(table, tables / "subrecords.parquet", store_schema=False, write_statistics=False, **how)
    raw = (tables / "subrecords.parquet").read_bytes()
    if not how["use_dictionary"] and how["compression"] == "none":
        raw = raw[:2000] + raw[-2000:]  # a footer that promises more than there is
        (tables / "subrecords.parquet").write_bytes(raw)
    assert len(raw) < 1 << 17
    redigest(tables)
    tracemalloc.start()
    assert failed(tables) == {"data"}
    assert tracemalloc.get_traced_memory()[1] < 1 << 23
    tracemalloc.stop()


# documents and certificates


@pytest.mark.parametrize("name", [JSON_FILE, "certificate.json"])
@pytest.mark.parametrize(
    "edit",
    [
        lambda t: t + " ",
        lambda t: " " + t,
        lambda t: t.replace("\n", "\n ", 1),
        lambda t: t.replace('"a"', '"\\u0061"') if '"a"' in t else t.replace("k^m", "\\u006b^m"),
    ],
)
def test_documents_in_another_form_are_refused(plain, name, edit):
    text = (plain / name).read_text()
    assert edit(text) != text
    (plain / name).write_text(edit(text))
    if name == JSON_FILE:
        redigest(plain)
        assert failed(plain) == {f"bytes of {JSON_FILE}"}
    else:
        assert failed(plain) == {"bytes of the certificate"}


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s["subject"].reverse(),
        lambda s: s["predicate"]["claims"].reverse(),
        lambda s: s["predicate"]["claims"][0].update(found=2),
        lambda s: s["predicate"]["claims"][0].update(found=2.0 + 1e-13),
    ],
    ids=["files", "claims", "a number", "a digit"],
)
def test_an_equivalent_certificate_with_other_bytes_is_refused(plain, edit):
    change(plain, edit)
    assert failed(plain) == {"bytes of the certificate"}


@pytest.mark.parametrize("version", ["0.1.0+jane.doe", "jane", "0.1.0-jane", "1" * 50, ""])
def test_free_text_as_version_is_refused(plain, version):
    change(plain, lambda statement: statement["predicate"].update(shoal=version))
    assert failed(plain) == {"certificate"}
