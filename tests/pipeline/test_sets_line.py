"""The pipeline of set-valued data: a release, its folder, its report, and what is refused."""

import json
import random

import numpy as np
import pytest

import shoal
import shoal.sets
from shoal.errors import DataError, GuaranteeError, InfeasibleError, MethodError, PolicyError, ReadError, WriteError
from shoal.model.transactions import Transactions
from shoal.pipeline import sets as line
from shoal.pipeline.set_neighbours import neighbour_seed

MARK = "Zq7Xw"


def baskets(n=400, seed=0):
    """Records in which some items go together, and some are rare and secret."""
    rng = random.Random(seed)
    kinds = [["tea", "milk"], ["beer", "crisps", "nuts"], ["bread"], ["tea", "bread", "jam"]]
    records = []
    for row in range(n):
        record = {*rng.choice(kinds), *(rng.choice("abcdefghijklmnop") for _ in range(rng.randint(0, 2)))}
        if row % 20 == 0:
            record.add(f"{MARK}-{row}")
        records.append(sorted(record))
    return records


@pytest.fixture(scope="module")
def release():
    return shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, seed=5)


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_a_release_is_verified_from_its_bytes_and_against_its_records(release, tmp_path, format):
    folder = release.save(tmp_path / "release", private=tmp_path / "private", format=format)
    assert shoal.verify(folder).holds
    checked = shoal.sets.verify(folder, original=baskets(), private=tmp_path / "private")
    assert checked.holds
    assert sum(line.what.startswith("against the records") for line in checked.lines) >= 5
    other = shoal.sets.verify(folder, original=baskets(seed=1), private=tmp_path / "private")
    assert not other.holds


def test_the_same_seed_gives_the_same_bytes_and_the_order_of_records_does_not_matter(tmp_path):
    records = baskets()
    shuffled = random.Random(3).sample(records, len(records))
    for place, given, seed in (("one", records, 5), ("two", shuffled, 5), ("three", records, 6)):
        shoal.sets.anonymize(given, k=3, m=2, delta=30, seed=seed).save(tmp_path / place, format="json")
    bytes_of = {
        place: {p.name: p.read_bytes() for p in (tmp_path / place).iterdir()} for place in ("one", "two", "three")
    }
    assert bytes_of["one"] == bytes_of["two"]
    # The neighbour follows from what is published, and these clusters need no random numbers.
    assert bytes_of["one"] == bytes_of["three"]


def test_a_rare_label_is_nowhere_in_the_folder(release, tmp_path):
    folder = release.save(tmp_path / "release", private=tmp_path / "private", format="json")
    for path in folder.iterdir():
        assert MARK.encode() not in path.read_bytes()
    assert MARK not in repr(release) + release._repr_html_() + json.dumps(release.as_dict())
    assert b"seed" not in b"".join(path.read_bytes() for path in folder.iterdir())
    assert MARK not in json.dumps(shoal.sets.report(baskets(), folder, top=5, draws=1))


def test_a_km_neighbour_is_km_anonymous_and_a_raw_one_has_a_warning(tmp_path):
    raw = shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, neighbour="raw", seed=1)
    assert any("not itself k^m-anonymous" in note for note in raw.notes)
    none = shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, neighbour="none", seed=1)
    assert none.neighbour is None
    assert {path.suffix for path in none.save(tmp_path / "none").iterdir()} == {".parquet", ".json"}
    km = shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, seed=1)
    assert km.verdicts[-1].model == "k^m-anonymity of the neighbour"
    assert km.verdicts[-1].holds
    assert km.neighbour.items.size <= raw.neighbour.items.size


def test_rules_keep_their_support():
    rule = [["beer", "nuts"], ["jam", "tea"]]
    with_rules = shoal.sets.anonymize(baskets(), k=3, m=2, delta=12, rules=rule, neighbour="none", seed=1)
    assert with_rules.published.partition == "rules"
    text = shoal.sets.anonymize(baskets(), k=3, m=2, delta=12, rules="beer nuts\njam tea\n", neighbour="none", seed=1)
    assert np.array_equal(text.published.items, with_rules.published.items)


def test_a_neighbour_can_be_drawn_from_a_folder_later(release, tmp_path):
    folder = release.save(tmp_path / "release")
    facts = shoal.sets.reassociate(
        folder, tmp_path / "again.dat", neighbour="km", seed=neighbour_seed(release.published)
    )
    assert facts["records"] == release.neighbour.n
    drawn = shoal.sets.read(tmp_path / "again.dat")
    assert drawn.records() == release.neighbour.records()
    shoal.sets.reassociate(folder, tmp_path / "other.dat", neighbour="km", seed=5)
    assert shoal.sets.read(tmp_path / "other.dat").records() != release.neighbour.records()
    with pytest.raises(WriteError, match="already exists"):
        shoal.sets.reassociate(folder, tmp_path / "again.dat")
    with pytest.raises(PolicyError, match="'km' or 'raw'"):
        shoal.sets.reassociate(folder, tmp_path / "x.dat", neighbour="none")
    for name in ("x.dat", "x.json"):
        with pytest.raises(WriteError, match=f"{name}' cannot be written: No such file or directory"):
            shoal.sets.reassociate(folder, tmp_path / "nowhere" / name)


def test_distance_to_a_folder_is_that_to_its_neighbour(release, tmp_path):
    folder = release.save(tmp_path / "release")
    found = shoal.sets.distance(baskets(), folder)
    assert found["distance"] == shoal.sets.distance(baskets(), release.neighbour)["distance"]
    assert found["histogram"] <= found["distance"]
    assert shoal.sets.distance(baskets(), baskets())["distance"] == 0
    bare = shoal.sets.anonymize(baskets(), k=3, delta=30, neighbour="none").save(tmp_path / "bare")
    with pytest.raises(ReadError, match="has no neighbour"):
        shoal.sets.distance(baskets(), bare)


def test_mining_returns_itemsets_and_rules():
    found = shoal.sets.mine(baskets(), support=0.05, confidence=0.9, most=5)
    assert found["itemsets"][0]["support"] >= found["itemsets"][-1]["support"]
    assert {"if": ["milk"], "then": "tea"}.items() <= found["rules"][0].items()
    assert shoal.sets.mine(baskets(), support=20)["itemsets found"] > 10


def test_a_report_has_every_section(release, tmp_path):
    facts = shoal.sets.report(baskets(), release.save(tmp_path / "release"), top=5, draws=2)
    assert "What is left out" in facts
    assert facts["Risk of the km neighbour"]["pairs in fewer than k records"] == 0
    assert facts["Tree edit distance, raw neighbour"]["distance"] > 0
    short = shoal.sets.report(baskets(), tmp_path / "release", top=5, draws=1, distance=False)
    assert "Tree edit distance, raw neighbour" not in short


def test_a_failed_verdict_writes_nothing(monkeypatch, tmp_path):
    def broken(data, k, m, most):
        return type("Hard", (), {"data": data, "suppressed": 0})

    monkeypatch.setattr("shoal.transactions.reassociation.harden.harden_km", broken)
    with pytest.raises(GuaranteeError, match="Nothing was written"):
        shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, seed=1)

    def another(published, data, cluster_of):
        return [type("Check", (), {"ok": False, "id": "projections"})]

    monkeypatch.setattr(line, "verify_against", another)
    with pytest.raises(GuaranteeError, match="do not match the original records"):
        shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, neighbour="none", seed=1)


def test_no_neighbour_is_drawn_from_a_tampered_folder(release, tmp_path):
    folder = release.save(tmp_path / "release", format="json")
    text = (folder / "disassociated.json").read_text()
    (folder / "disassociated.json").write_text(text.replace('"count": 3', '"count": 4', 1))
    assert not shoal.verify(folder).holds
    with pytest.raises(DataError, match="does not pass verification"):
        shoal.sets.reassociate(folder, tmp_path / "x.dat")


def test_invalid_arguments_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(MethodError, match="2k - 1"):
        shoal.sets.anonymize(baskets(), k=20, delta=30)
    with pytest.raises(PolicyError, match="neighbour must be one of"):
        shoal.sets.anonymize(baskets(), neighbour="dp")
    with pytest.raises(ReadError, match="line 1 has 1 item not found in the data"):
        shoal.sets.anonymize(baskets(), rules="tea whisky\ntea milk\n")
    (tmp_path / "rules.txt").write_bytes(b"tea milk\ntea \xff\n")
    with pytest.raises(ReadError, match="line 2: not UTF-8"):
        shoal.sets.anonymize(baskets(), rules=tmp_path / "rules.txt")
    with pytest.raises(PolicyError, match="private folder"):
        shoal.sets.verify(
            shoal.sets.anonymize(baskets(60), k=2, delta=20).save(tmp_path / "release"), original=baskets(60)
        )
    with pytest.raises(WriteError, match="inside the other"):
        shoal.sets.anonymize(baskets(60), k=2, delta=20).save(tmp_path / "a", private=tmp_path / "a" / "b")
    with pytest.raises(AttributeError):
        _ = shoal.sets.nothing_like_it


@pytest.mark.parametrize(
    ("records", "options", "error", "message"),
    [
        ([], {"k": 3}, InfeasibleError, "k is 3, but there are 0 records with items. No release is possible."),
        ([[], []], {"k": 3}, InfeasibleError, "there are 0 records with items. No release is possible."),
        ([["jane"]], {"k": 3}, InfeasibleError, "there are 1 records with items. No release is possible."),
        ([["a"], ["b"], []], {"k": 3}, InfeasibleError, "there are 2 records with items. Lower k to 2 or less."),
        ([["a"]] * 9, {"k": 1}, PolicyError, "sets: k must be at least 2; got 1."),
        ([["a"]] * 9, {"k": True}, PolicyError, "sets: k must be a whole number; got True."),
        ([["a"]] * 9, {"k": 2.5}, PolicyError, "sets: k must be a whole number; got 2.5."),
    ],
)
def test_fewer_than_k_records_or_a_k_below_2_are_refused(records, options, error, message):
    with pytest.raises(error) as caught:
        shoal.sets.anonymize(records, **options)
    assert message in str(caught.value)
    assert "jane" not in str(caught.value)


@pytest.mark.parametrize("k", [1, 0, 2.5, "5"])
def test_a_wrong_k_is_refused_in_the_words_used_for_tables(k):
    refusals = []
    for refuse in (lambda: shoal.sets.anonymize([["a"]] * 9, k=k), lambda: shoal.anonymize(shoal.sample(9), k=k)):
        with pytest.raises(PolicyError) as caught:
            refuse()
        refusals.append(str(caught.value))
    assert refusals[0].removeprefix("sets: ") == refusals[1].removeprefix("policy: ")


def test_records_without_items_and_duplicate_items_are_noted():
    some = shoal.sets.anonymize([["a"], [], ["a", "a"], ["a"]], k=3)
    assert any("fewer than 3 of the records have no items" in note for note in some.notes)
    assert any("occurred twice" in note for note in some.notes)
    assert some.cluster_of.tolist() == [0, -1, 0, 0]
    assert isinstance(some.neighbour, Transactions)


def test_an_item_of_fewer_than_k_records_is_not_published_not_even_its_label(tmp_path):
    release = shoal.sets.anonymize([["jane", "gout"], ["ann"], ["eve"]], k=3, neighbour="none")
    assert release.published.labels == ()
    folder = release.save(tmp_path / "release", format="json")
    assert b"gout" not in b"".join(path.read_bytes() for path in folder.iterdir())


@pytest.mark.parametrize("terms", ["global", "cluster", "suppress"])
def test_only_labels_of_chunks_are_published_for_any_treatment_of_terms(terms, tmp_path):
    release = shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, levels=0, terms=terms, seed=2)
    published = release.published
    assert published.term_item.size
    assert set(published.term_item.tolist()) <= set(published.items.tolist()) == set(range(len(published.labels)))
    assert any("in no chunk" in note and "not named" in note for note in release.notes)
    folder = release.save(tmp_path / "release", private=tmp_path / "private", format="json")
    assert MARK.encode() not in b"".join(path.read_bytes() for path in folder.iterdir())
    assert shoal.sets.verify(folder, original=baskets(), private=tmp_path / "private").holds
    with pytest.raises(PolicyError, match="unknown option 'publish_rare_labels'"):
        shoal.sets.anonymize(baskets(), publish_rare_labels=True)


def test_columns_taken_as_records_and_items_are_noted(tmp_path):
    place = tmp_path / "visits.csv"
    place.write_text("patient,ill\n" + "".join(f"{i % 20},{'abc'[i % 3]}\n" for i in range(60)))
    notes = shoal.sets.anonymize(place, k=2, delta=20).notes
    assert any("'patient' was taken for the records and column 'ill' for their items" in note for note in notes)
    assert not any("taken for" in note for note in shoal.sets.anonymize(place, k=2, record="patient", item="ill").notes)


def test_labels_with_blanks_are_accepted_everywhere(tmp_path):
    records = [["high blood pressure", "flu"]] * 6 + [["dry cough", "flu"]] * 6
    release = shoal.sets.anonymize(records, k=3, delta=12, seed=1)
    folder = release.save(tmp_path / "release")
    assert (folder / "neighbour.json").is_file()
    with pytest.raises(WriteError, match="ends in .json"):
        shoal.sets.reassociate(folder, tmp_path / "near.dat")
    shoal.sets.reassociate(folder, tmp_path / "near.json", seed=1)
    assert shoal.sets.read(tmp_path / "near.json").records() == release.neighbour.records()
    assert shoal.sets.distance(records, folder)["distance"] == shoal.sets.distance(records, release)["distance"]
    (tmp_path / "semi.txt").write_text("".join(";".join(record) + "\n" for record in records))
    ruled = shoal.sets.anonymize(
        tmp_path / "semi.txt", k=3, delta=12, separator=";", rules="flu;high blood pressure\nflu ; dry cough\n", seed=1
    )
    assert ruled.published.partition == "rules"


def test_a_release_in_memory_is_accepted_like_a_folder(release):
    assert shoal.sets.verify(release).holds
    assert shoal.sets.report(baskets(), release, top=3, draws=1, distance=False)


@pytest.mark.parametrize(
    "option",
    [
        {"k": 2.0},
        {"k": None},
        {"m": float("nan")},
        {"delta": float("inf")},
        {"m": 2**40},
        {"levels": 2.5},
        {"seed": -1},
        {"seed": "x"},
        {"kk": 3},
        {"rules": 5},
    ],
    ids=str,
)
def test_parameters_of_wrong_types_are_refused_in_a_sentence(option):
    with pytest.raises((MethodError, PolicyError)):
        shoal.sets.anonymize(baskets(60), **{"k": 2, "delta": 20, **option})


def test_numpy_numbers_are_accepted(tmp_path):
    release = shoal.sets.anonymize(baskets(60), k=np.int64(2), m=np.int32(2), delta=np.int64(20))
    assert shoal.verify(release.save(tmp_path / "release", format="json")).holds


def test_columns_without_any_item_are_empty_data():
    import pyarrow as pa

    for cells in ([[], []], [None, None]):
        table = pa.table({"age": [1, 1], "ills": pa.array(cells, pa.list_(pa.string()))})
        assert shoal.anonymize(table, k=2).verdicts[1].holds
        with pytest.raises(InfeasibleError, match="there are 0 records with items"):
            shoal.sets.anonymize(table.select(["ills"]), k=2)


def test_a_release_in_memory_is_compared_with_the_original_records():
    release = shoal.sets.anonymize(baskets(), k=3, m=2, delta=30, seed=2)
    report = shoal.sets.verify(release, original=baskets())
    assert report.holds
    assert any(line.what.startswith("against the records") for line in report.lines)
    with pytest.raises(DataError, match="does not have the records that the release was made from"):
        shoal.sets.verify(release, original=baskets()[:9])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda release: shoal.sets.mine(baskets(), support="x"), "mine: support must be a number; got 'x'"),
        (
            lambda release: shoal.sets.report(baskets(), release, top=0),
            "report: top must be a whole number of at least 1",
        ),
        (lambda release: shoal.sets.reassociate(release, 5), "expected the path of a file; got an int"),
        (lambda release: shoal.sets.reassociate(release, "x", seed=-1), "seed must be a whole number of at least 0"),
        (lambda release: shoal.sets.anonymize(baskets(), beta="x"), "sets: beta must be a number; got 'x'"),
        (lambda release: shoal.sets.anonymize(baskets(), rules=[5]), "each rule must be a list of items"),
        (lambda release: shoal.sets.read(baskets(), layout=5), "layout 5 is not known"),
        (lambda release: shoal.sets.read(np.eye(2), labels=5), "labels must be a list of names; got an int"),
        (lambda release: shoal.sets.verify(5), "expected the path of a folder; got an int"),
        (lambda release: release.finding("cluster"), "unknown finding 'cluster'. .* Did you mean 'clusters'?"),
        (shoal.verify, "a release in memory has already been verified: see its `verdicts`"),
    ],
)
def test_wrong_arguments_are_refused_in_a_sentence(call, message):
    release = shoal.sets.anonymize([["a", "b"]] * 6, k=3)
    with pytest.raises(shoal.ShoalError, match=message):
        call(release)
