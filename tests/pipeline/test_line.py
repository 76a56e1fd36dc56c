"""The pipeline, end to end."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import GuaranteeError, PolicyError, ReadError, WriteError
from shoal.model.progress import listening
from shoal.pipeline import grouping, write


def hospital(rows=200):
    return shoal.sample(rows, seed=1)


ROLES = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}


@pytest.fixture(scope="module")
def release():
    return shoal.anonymize(hospital(), k=5, l=2, t=0.6, **ROLES)


def test_a_table_goes_in_and_a_verified_release_comes_out(release):
    assert [v.model for v in release.verdicts] == ["k-anonymity", "distinct l-diversity", "t-closeness"]
    assert all(v.holds for v in release.verdicts)
    assert release.finding("smallest class") >= 5
    assert "name" not in release.table.column_names
    with pytest.raises(
        shoal.UseError, match="unknown finding 'smalest class'. Known: .* Did you mean 'smallest class'?"
    ):
        release.finding("smalest class")


def test_an_independent_count_of_equal_lines_gives_at_least_k(release, tmp_path):
    release.save(tmp_path / "out", format="csv", report=False)
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()
    place = lines[0].split(",").index("diagnosis")
    classes = Counter(tuple(cell for i, cell in enumerate(line.split(",")) if i != place) for line in lines[1:])
    assert min(classes.values()) >= 5


def test_data_is_aligned_with_the_input_rows(release):
    table = hospital()
    assert release.aligned().column("diagnosis").to_pylist() == table.column("diagnosis").to_pylist()
    assert release.rows.tolist() == list(range(200))
    assert release.labels.size == 200


def test_written_rows_are_in_the_order_of_their_own_values(release):
    rows = list(zip(*(column.to_pylist() for column in release.table.columns), strict=True))
    heights = [row[release.table.column_names.index("birth_date")] for row in rows]
    assert heights == sorted(heights)
    assert Counter(rows) == Counter(zip(*(column.to_pylist() for column in release.aligned().columns), strict=True))


@pytest.mark.parametrize("make", [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow])
def test_the_type_of_frame_of_the_caller_is_returned(make):
    frame = make(hospital(60))
    data = shoal.anonymize(frame, method="mdav", k=5, **ROLES).aligned()
    assert type(data) is type(frame)
    assert len(data) == 60


def test_an_odd_pandas_index_changes_nothing():
    frame = hospital(60).to_pandas()
    odd = frame.set_index(pd.Index([7] * 60, name="person"))
    one, two = (shoal.anonymize(f, method="mdav", k=5, seed=1, **ROLES) for f in (frame, odd))
    assert one.table.equals(two.table)
    assert two.aligned().index.equals(odd.index)
    assert one.data.equals(two.data)


def test_unused_categories_do_not_survive(tmp_path):
    town = pd.Categorical(["a", "a", "a", "b", "b", "b", "rare"])
    frame = pd.DataFrame({"town": town, "age": [1, 2, 3, 50, 51, 52, 53]})
    release = shoal.anonymize(frame, k=3)
    assert "rare" not in list(release.aligned()["town"].cat.categories)
    release.save(tmp_path / "out", report=False)
    assert b"rare" not in (tmp_path / "out" / "data.parquet").read_bytes()
    assert pa.types.is_dictionary(pyarrow.parquet.read_table(tmp_path / "out" / "data.parquet").column("town").type)


def test_ordered_categories_are_levels_and_stay_ordered():
    grade = pd.Categorical(["low", "mid", "high"] * 4, categories=["low", "mid", "high", "never"], ordered=True)
    release = shoal.anonymize(pd.DataFrame({"grade": grade, "age": range(12)}), k=3)
    assert release.policy.columns["grade"].kind == "ordinal"
    assert release.aligned()["grade"].cat.ordered
    assert "never" not in list(release.aligned()["grade"].cat.categories)


def test_permuted_rows_give_the_same_bytes(tmp_path):
    table = hospital(150)
    order = np.random.default_rng(5).permutation(150)
    files = []
    for name, some in (("one", table), ("two", table.take(pa.array(order)))):
        folder = shoal.anonymize(some, k=4, l=2, seed=1, **ROLES).save(tmp_path / name, format="csv", report=False)
        files.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert files[0] == files[1]


ties = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.sampled_from("xy")), min_size=4, max_size=24)


@pytest.mark.slow
@settings(max_examples=40)
@given(ties, st.randoms())
def test_permuted_rows_give_the_same_release_despite_ties(rows, rng):
    mixed = rows.copy()
    rng.shuffle(mixed)
    made = []
    for some in (rows, mixed):
        table = pa.table({"n": [r[0] for r in some], "c": [r[1] for r in some], "s": [r[2] for r in some]})
        made.append(shoal.anonymize(table, method="mdav", k=2, sensitive=["s"], seed=1).table.to_pydict())
    assert made[0] == made[1]


def test_without_a_seed_every_run_draws_its_own_and_the_private_folder_repeats_it(tmp_path):
    one, two = (shoal.anonymize(hospital(60), method="mdav", k=3, **ROLES) for _ in range(2))
    assert one.policy.seed != two.policy.seed
    one.save(tmp_path / "out", private=tmp_path / "mine", report=False)
    assert shoal.seed_of(tmp_path / "mine") == one.policy.seed
    again = shoal.anonymize(hospital(60), method="mdav", k=3, seed=shoal.seed_of(tmp_path / "mine"), **ROLES)
    assert again.table.equals(one.table)
    assert again.labels.tolist() == one.labels.tolist()
    drawn = str(one.policy.seed).encode()
    assert all(drawn not in path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert drawn in (tmp_path / "mine" / "findings.json").read_bytes()


def test_groups_of_tied_rows_differ_between_runs_without_a_seed():
    table = pa.table({"a": [1] * 12, "s": list("abcdefghijkl")})
    options = {"method": "mdav", "k": 6, "sensitive": ["s"], "accept": ["unique-kept"]}
    found = {tuple(shoal.anonymize(table, **options).labels.tolist()) for _ in range(5)}
    assert len(found) > 1


@pytest.mark.parametrize(
    "text", [None, "", "[]", "{}", '{"policy": {}}', '{"policy": {"seed": "7"}}', '{"seed": true}']
)
def test_a_folder_without_a_seed_is_refused(text, tmp_path):
    if text is not None:
        (tmp_path / "findings.json").write_text(text)
    with pytest.raises(ReadError, match="^seed: .* contains no random seed; expected the private folder"):
        shoal.seed_of(tmp_path)


def test_a_missing_seed_folder_is_reported(tmp_path):
    with pytest.raises(ReadError, match="^seed: .*nowhere' does not exist; expected the private folder"):
        shoal.seed_of(tmp_path / "nowhere")


def test_the_same_seed_gives_the_same_release_and_the_seed_is_not_published(tmp_path):
    one = shoal.anonymize(hospital(60), k=3, seed=987654, **ROLES)
    two = shoal.anonymize(hospital(60), k=3, seed=987654, **ROLES)
    assert one.table.equals(two.table)
    one.save(tmp_path / "out", report=False)
    assert all(b"987654" not in path.read_bytes() for path in (tmp_path / "out").iterdir())


def test_the_private_folder_has_the_map_and_the_findings(release, tmp_path):
    release.save(tmp_path / "out", private=tmp_path / "mine", format="csv", report=False)
    lines = (tmp_path / "mine" / "map.csv").read_text().splitlines()
    assert lines[0] == "input_row,released_row"
    place = [int(line.split(",")[1]) for line in lines[1:]]
    assert sorted(place) == list(range(200))
    for row in (0, 77, 199):
        assert release.table.slice(place[row], 1).to_pylist() == release.aligned().slice(row, 1).to_pylist()
    facts = json.loads((tmp_path / "mine" / "findings.json").read_text())
    assert {f["name"] for f in facts["findings"]} >= {"partition SSE", "information loss %", "cells changed %"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"data.csv", "policy.toml", "certificate.json"}


def test_the_two_folders_must_not_contain_each_other(release, tmp_path):
    for private in (tmp_path / "out", tmp_path / "out" / "mine", tmp_path):
        with pytest.raises(WriteError, match="may be inside the other"):
            release.save(tmp_path / "out", private=private, report=False)
    assert not (tmp_path / "out").exists()


def test_suppressed_rows_are_counted_and_not_in_the_map(tmp_path):
    table = pa.table({"a": [1, None, 3, 4, 5, None], "b": [1, 2, 3, 4, 5, 6]})
    release = shoal.anonymize(table, k=2, missing="suppress-row")
    assert (release.suppressed, release.rows.tolist()) == (2, [0, 2, 3, 4])
    release.save(tmp_path / "out", private=tmp_path / "mine", report=False)
    assert (tmp_path / "mine" / "map.csv").read_text().splitlines()[2] == "1,"


def test_nothing_is_written_if_a_verdict_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(grouping, "enforce", lambda partition, *_: partition)
    monkeypatch.setattr(grouping, "cluster", lambda encoded, *_: shoal.Partition.of(np.arange(len(encoded.X))))
    with pytest.raises(GuaranteeError, match="k-anonymity: required 3, found 1: FAILS"):
        shoal.anonymize(pa.table({"a": [1, 2, 3, 4]}), k=3)


def test_bytes_that_do_not_confirm_the_claims_are_never_published(tmp_path, monkeypatch):
    release = shoal.anonymize(hospital(60), method="mdav", k=3, **ROLES)
    release.save(tmp_path / "out", format="csv", report=False)
    before = (tmp_path / "out" / "data.csv").read_bytes()

    def broken(table, folder, format, style):
        (folder / "data.csv").write_text("a\n1\n2\n")
        return "data.csv"

    monkeypatch.setattr(write, "write_data", broken)
    with pytest.raises(GuaranteeError, match="Nothing was written"):
        release.save(tmp_path / "out", private=tmp_path / "mine", format="csv", report=False)
    assert (tmp_path / "out" / "data.csv").read_bytes() == before
    assert not (tmp_path / "mine").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_repr_of_a_release_has_no_cell_values(release):
    shown = release._repr_html_() + repr(release)
    assert "k-anonymity" in shown
    for column in hospital().select(["name", "patient_id", "diagnosis", "education"]).columns:
        for value in set(column.to_pylist()) - {None}:
            assert value not in shown


def test_progress_is_sent_to_the_listener():
    steps = []
    with listening(lambda step, done, total: steps.append(step)):
        shoal.anonymize(hospital(60), method="mdav", k=3, **ROLES)
    assert list(dict.fromkeys(steps)) == [
        "read",
        "profile",
        "encode",
        "cluster",
        "enforce",
        "refine",
        "recode",
        "verify",
        "measure",
        "",
    ]


def test_any_file_can_be_judged(tmp_path):
    table = pa.table({"age": [1, 1, 2, 2, 2], "id": ["a", "b", "c", "d", "e"], "ill": ["x", "y", "x", "x", "x"]})
    assert not shoal.verify(table, k=2).holds
    checked = shoal.verify(table, k=2, quasi=["age"])
    assert checked.holds
    assert not shoal.verify(table, k=2, l=2, quasi=["age"], sensitive=["ill"]).holds
    assert not shoal.verify(table, k=3, quasi=["age"]).holds


def test_weights_count_in_the_means():
    table = pa.table({"a": [0.0, 10.0, 100.0, 110.0], "w": [1.0, 3.0, 1.0, 1.0]})
    policy = {"columns": {"a": {"step": 0.5}}}
    release = shoal.anonymize(table, policy=policy, method="mdav", k=2, keep=["w"], weight="w")
    assert release.aligned().column("a").to_pylist() == [7.5, 7.5, 105.0, 105.0]


def notes_of(table, **options):
    return " ".join(shoal.anonymize(pa.table(table), method="mdav", k=2, **options).notes)


def test_notes_say_what_a_holder_should_know():
    different = {"a": [1, 2, 3, 4], "b": ["p", "q", "r", "s"]}
    assert "column 'b': 4 of its 4 cells are published as missing" in notes_of(different)
    known = {"accept": ["unique-kept"]}
    assert "4 of 4 rows are unique in the columns that are published" in notes_of(different, keep=["b"], **known)
    assert "only l or t limits" in notes_of(different, sensitive=["b"], **known)
    assert "only l or t limits" not in notes_of(different, sensitive=["b"], l=2, **known)
    assert "all rows are in one class" in notes_of({"a": [1, 1, 1]})


def test_an_unknown_argument_is_refused():
    with pytest.raises(PolicyError, match="anonymize: unknown option 'sensitiv'. Did you mean 'sensitive'"):
        shoal.anonymize(pa.table({"a": [1, 2]}), sensitiv=["a"])


def test_a_release_folder_is_judged_by_its_own_policy_only(release, tmp_path):
    folder = release.save(tmp_path / "out", format="csv", report=False)
    with pytest.raises(PolicyError, match="contains its own policy"):
        shoal.verify(folder, k=3)
    checked = shoal.verify(folder / "data.csv", policy=folder / "policy.toml")
    assert checked.holds
    assert "Everything holds." in str(checked)
    with pytest.raises(ReadError, match="does not exist; expected a release folder"):
        shoal.verify(tmp_path / "nothing")


def test_a_folder_may_be_given_as_any_path(release, tmp_path):
    class Place:
        def __fspath__(self):
            return str(tmp_path / "out")

    release.save(Place(), format="csv", report=False)
    assert shoal.verify(Place()).holds


def test_a_release_cannot_be_written_inside_another(release, tmp_path):
    release.save(tmp_path / "out", report=False)
    with pytest.raises(WriteError, match="is inside a folder that shoal wrote"):
        release.save(tmp_path / "out" / "deeper" / "still", report=False)
    with pytest.raises(WriteError, match="is inside a folder that shoal wrote"):
        release.save(tmp_path / "other", private=tmp_path / "out" / "mine", report=False)
    release.save(tmp_path / "third", private=tmp_path / "mine", report=False)
    with pytest.raises(WriteError, match="is inside a folder that shoal wrote"):
        release.save(tmp_path / "mine" / "release", report=False)


def test_floats_are_published_as_multiples_of_their_step():
    table = pa.table({"a": [62.4, 62.5, 62.4, 90.1, 90.2, 90.4]})
    assert set(shoal.anonymize(table, k=3).aligned().column("a").to_pylist()) == {62.5, 90.0}
    fine = shoal.anonymize(table, policy={"columns": {"a": {"step": 0.01}}}, k=3)
    assert set(fine.data.column("a").to_pylist()) == {62.43, 90.23}


def test_integers_beyond_53_bits_stay_distinct_in_the_file_too(tmp_path):
    table = pa.table({"a": [1, 1, 1, 1], "s": [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3]})
    release = shoal.anonymize(table, k=4, l=4, t=0.5, sensitive=["s"], accept=["unique-kept"])
    assert shoal.verify(release.save(tmp_path / "out", format="csv", report=False)).holds


def test_the_input_frame_is_not_changed():
    frame = hospital(60).to_pandas()
    before = frame.copy(deep=True)
    shoal.anonymize(frame, method="mdav", k=3, **ROLES)
    pd.testing.assert_frame_equal(frame, before)


def test_all_columns_constant_is_one_class():
    release = shoal.anonymize(pa.table({"a": [7] * 6, "b": ["x"] * 6}), k=3)
    assert release.table.to_pydict() == {"a": [7] * 6, "b": ["x"] * 6}


def test_levels_of_a_sensitive_column_are_published_only_if_they_occur(tmp_path):
    order = ["none", "mild", "=severe", "never seen"]
    table = pa.table({"a": [1, 1, 1, 9, 9, 9], "s": ["none", "mild", "=severe"] * 2})
    policy = {"columns": {"s": {"role": "sensitive", "kind": "ordinal", "order": order}}}
    folder = shoal.anonymize(table, policy=policy, k=3, l=3, t=0.1).save(tmp_path / "out", format="csv", report=False)
    assert shoal.verify(folder).holds
    assert all("never seen" not in path.read_text() for path in folder.iterdir())


def test_kept_columns_of_any_type_are_published(tmp_path):
    table = pa.table(
        {
            "a": [1, 1, 2, 2],
            "list": [["x"], None, ["y", "z"], []],
            "moment": pa.array([0, 1_500_000, None, 2], pa.timestamp("us", tz="UTC")),
            "bytes": [b"\xff", b"a", None, b"b"],
        }
    )
    release = shoal.anonymize(table, k=2, keep=["list", "moment", "bytes"], accept=["unique-kept"])
    assert release.aligned().column("list").to_pylist() == table.column("list").to_pylist()
    assert shoal.verify(release.save(tmp_path / "parquet", format="parquet", report=False)).holds
    with pytest.raises(WriteError, match="cells of type binary cannot be written to a CSV file"):
        release.save(tmp_path / "csv", format="csv", report=False)
    plain = shoal.anonymize(table.drop_columns(["bytes"]), k=2, keep=["list", "moment"], accept=["unique-kept"])
    folder = plain.save(tmp_path / "csv", format="csv", report=False)
    assert shoal.verify(folder).holds
    assert (folder / "data.csv").read_text().splitlines()[1] == "1,['x'],1970-01-01 00:00:00Z"


def test_nested_sensitive_columns_are_judged_cell_by_cell():
    table = pa.table({"a": [1, 1, 1], "s": [["x"], ["x"], ["y"]]})
    assert shoal.anonymize(table, k=3, l=2, sensitive=["s"]).verdicts[1].found == 2


def test_a_column_of_means_with_an_extreme_value_is_pointed_out():
    plain = pa.table({"pay": [float(30 + row % 17) for row in range(60)], "age": [20 + row % 23 for row in range(60)]})
    extreme = plain.set_column(0, "pay", pa.array([9_876.0, *plain["pay"].to_pylist()[1:]]))
    warnings = [note for note in shoal.anonymize(extreme, k=5, seed=1).notes if "far from all others" in note]
    assert len(warnings) == 1
    assert "'pay'" in warnings[0]
    assert "9876" not in warnings[0]
    assert not [note for note in shoal.anonymize(plain, k=5, seed=1).notes if "far from all others" in note]
    mostly_zero = pa.table({"gain": [0.0] * 500 + [1e6]})
    for form in ({"method": "mdav"}, {"output": "truthful"}):
        notes = shoal.anonymize(mostly_zero, k=5, seed=1, **form).notes
        assert [note for note in notes if "far from all others" in note]


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_timestamps_are_published_by_representatives_in_every_unit_and_time_zone(unit, zone):
    seconds = pa.array([row * 86_400 * 37 for row in range(60)]).cast(pa.timestamp("s"))
    table = pa.table({"at": seconds.cast(pa.timestamp(unit)).cast(pa.timestamp(unit, zone)), "b": ["x", "y"] * 30})
    release = shoal.anonymize(table, k=3, quasi=["at", "b"], method="gower", seed=1)
    assert release.aligned()["at"].type == table["at"].type
    assert all(verdict.holds for verdict in release.verdicts)
