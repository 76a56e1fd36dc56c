"""Tables with a column of sets, through the whole pipeline."""

import random

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, InfeasibleError, PolicyError, WriteError


def visits(n=300, seed=0):
    """A table with two quasi-identifiers, a list column and a sensitive one."""
    rng = random.Random(seed)
    common = [["flu", "cough"], ["gout"], ["asthma", "cough"], []]
    sets = [sorted({*rng.choice(common), *([rng.choice("abcdef")] if rng.random() < 0.4 else [])}) for _ in range(n)]
    return pa.table(
        {
            "age": [rng.randint(18, 90) for _ in range(n)],
            "height": [rng.gauss(170, 10) for _ in range(n)],
            "ills": sets,
            "pay": [rng.choice("xyz") for _ in range(n)],
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "csv.gz", "parquet", "feather"])
def test_a_release_with_sets_is_verified_from_its_bytes(tmp_path, format):
    release = shoal.anonymize(visits(), k=5, m=2, sensitive=["pay"])
    assert [verdict.model for verdict in release.verdicts] == ["k-anonymity", "(k,k^m)-anonymity"]
    assert release.verdicts[0].found >= 50
    assert 50 < release.finding("items kept %") <= 100
    folder = release.save(tmp_path / "release", format=format, report=False)
    checked = shoal.verify(folder)
    assert checked.holds
    assert [verdict.found for verdict in checked.verdicts] == [verdict.found for verdict in release.verdicts]


def test_larger_groups_keep_more_items():
    kept = [
        shoal.anonymize(
            visits(), k=5, sensitive=["pay"], method="mdav", policy={"columns": {"ills": {"role": "items", "group": g}}}
        ).finding("items kept %")
        for g in (5, 50, 300)
    ]
    assert kept == sorted(kept)
    assert kept[0] < kept[2]


def test_text_with_a_separator_stays_text(tmp_path):
    table = visits()
    words = [";".join(cell) for cell in table["ills"].to_pylist()]
    place = tmp_path / "visits.csv"
    table.set_column(2, "ills", pa.array(words)).to_pandas().to_csv(place, index=False)
    policy = {"columns": {"ills": {"role": "items", "separator": ";"}}}
    release = shoal.anonymize(place, k=5, policy=policy, sensitive=["pay"])
    assert shoal.verify(release.save(tmp_path / "release", report=False)).holds
    assert any(";" in cell for cell in release.table["ills"].to_pylist())


@pytest.mark.parametrize("frame", [pa.Table.to_pandas, pl.from_arrow, lambda table: table])
def test_lists_are_returned_as_lists_of_the_same_frame_type(frame):
    given = frame(visits())
    release = shoal.anonymize(given, k=5, sensitive=["pay"], seed=3)
    assert type(release.aligned()) is type(given)
    cells = release.table["ills"].to_pylist()
    assert all(isinstance(cell, list) for cell in cells)
    if isinstance(given, pd.DataFrame):
        assert len(release.aligned()["ills"][0]) >= 0


def test_a_table_with_only_sets_is_released_too(tmp_path):
    release = shoal.anonymize(visits().select(["ills"]), k=5, m=2)
    assert release.verdicts[1].holds
    assert shoal.verify(release.save(tmp_path / "release", format="csv", report=False)).holds


def test_the_order_of_the_input_does_not_matter():
    table = visits()
    order = random.Random(1).sample(range(table.num_rows), table.num_rows)
    one, two = (shoal.anonymize(given, k=5, sensitive=["pay"], seed=1).table for given in (table, table.take(order)))
    assert one.equals(two)


def test_a_tampered_set_is_found(tmp_path):
    folder = shoal.anonymize(visits(), k=5, sensitive=["pay"]).save(tmp_path / "release", format="csv", report=False)
    lines = (folder / "data.csv").read_text().splitlines()
    lines[1] = lines[1].rsplit(",", 2)[0] + ',"cough|rare",x'
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    checked = shoal.verify(folder)
    assert not checked.holds
    assert not checked.verdicts[1].holds


def test_invalid_arguments_are_refused_in_a_sentence(tmp_path):
    table = visits()
    with pytest.raises(PolicyError, match="2 columns have the role items"):
        shoal.anonymize(table.append_column("more", table["ills"]), k=5)
    with pytest.raises(PolicyError, match="m is for sets"):
        shoal.anonymize(table.drop_columns(["ills"]), k=5, m=2)
    with pytest.raises(PolicyError, match="are not sets"):
        shoal.anonymize(table, k=5, items=["age"])
    with pytest.raises(PolicyError, match="separator"):
        shoal.anonymize(table, k=5, items=["pay"], keep=["ills"])
    with pytest.raises(PolicyError, match="separator is for columns with the role items"):
        shoal.anonymize(table, k=5, policy={"columns": {"age": {"separator": ";"}}})
    with pytest.raises(InfeasibleError, match="groups of 1000 rows, but there are only 300"):
        shoal.anonymize(table, k=5, policy={"columns": {"ills": {"role": "items", "group": 1000}}})
    with pytest.raises(DataError, match="column 'ills' of items is not in the release"):
        shoal.pipeline.line.judge(table.drop_columns(["ills"]), shoal.Policy.of(k=2, items=["ills"]))
    barred = table.set_column(2, "ills", pa.array([["a|b"]] * table.num_rows))
    release = shoal.anonymize(barred, k=5, sensitive=["pay"])
    with pytest.raises(WriteError, match="contain the separator"):
        release.save(tmp_path / "release", format="csv", report=False)
    assert shoal.verify(release.save(tmp_path / "release", format="parquet", report=False)).holds


def test_items_that_a_spreadsheet_would_run_are_written_and_verified(tmp_path):
    table = pa.table({"age": [1] * 20, "ills": [["3d", "@home"]] * 17 + [["@home"]] * 3})
    folder = shoal.anonymize(table, k=3, m=2).save(tmp_path / "release", format="csv", report=False)
    assert shoal.verify(folder).verdicts[1].found == 17


def test_sets_are_measured_and_unknown_columns_refused():
    table = visits()
    raw = shoal.measure(None, table, sensitive=["pay"], only=["(k,k^m)-anonymity"])
    assert [finding.value for finding in raw] == [1.0]
    release = shoal.anonymize(table, k=5, m=2, sensitive=["pay"])
    assert shoal.measure(table, release, only=["(k,k^m)-anonymity"])[0].value >= 5
    more = release.aligned().append_column("name", pa.array([f"n{i}" for i in range(table.num_rows)]))
    with pytest.raises(DataError, match="'name', which the original lacks"):
        shoal.measure(table, more, sensitive=["pay"])


def test_a_list_column_is_proposed_as_items():
    facts = {column.name: column.role for column in shoal.profile(visits()).columns}
    assert facts["ills"] == "items"
