"""Text of dates and numbers in frames is read as in CSV files, and written back as text."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.io.csv_types import written_like
from shoal.io.text_columns import read_for
from shoal.model.policy import Policy

N = 120
RNG = np.random.default_rng(2)
DAYS = [dt.date(1950, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 15_000, N)]
ISO = [day.isoformat() for day in DAYS]
DOTTED = [f"{day:%d.%m.%Y}" for day in DAYS]
MOMENTS = [f"{day}T10:30:00" for day in ISO]
PAY = [f"{pay:.2f}" for pay in RNG.normal(3000, 500, N)]
COMMAS = [pay.replace(".", ",") for pay in PAY]
ILL = RNG.choice(["flu", "gout"], N).tolist()


def type_of(cells, **given):
    policy = Policy.of({"columns": {"x": given}} if given else None, k=2)
    return read_for(pd.DataFrame({"x": cells}), policy).column("x").type


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (ISO, pa.date32()),
        ([*ISO, None, "NA", " "], pa.date32()),
        (DOTTED, pa.date32()),
        (MOMENTS, pa.timestamp("us")),
        (PAY, pa.float64()),
        (COMMAS, pa.float64()),
        ([str(number) for number in range(N)], pa.int64()),
    ],
)
def test_text_with_only_dates_or_numbers_is_read_as_such(cells, kind):
    assert type_of(cells) == kind


@pytest.mark.parametrize(
    "cells",
    [
        [*ISO, "later"],
        [f"{place:05d}" for place in range(N)],  # postcodes
        [str(place % 5) for place in range(N)],  # grades
        ["True", "False"] * 60,
        pd.Categorical(ISO),
    ],
)
def test_other_text_stays_text(cells):
    assert pa.types.is_large_string(type_of(cells)) or pa.types.is_string(type_of(cells))


@pytest.mark.parametrize(
    "given",
    [{"kind": "nominal"}, {"role": "sensitive"}, {"role": "keep"}, {"order": sorted(set(ISO))}, {"hierarchy": "mask"}],
)
def test_a_policy_may_need_the_text_of_a_column(given):
    assert not pa.types.is_temporal(type_of(ISO, **given))


def test_a_few_numbers_as_text_are_numbers_if_the_policy_says_so():
    assert type_of([str(place % 5) for place in range(N)], kind="numeric") == pa.int64()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_and_numbers_stored_as_text_are_published_and_returned_as_text(frame):
    given = frame({"iso": ISO, "dotted": DOTTED, "moment": MOMENTS, "pay": PAY, "comma": COMMAS, "ill": ILL})
    release = shoal.anonymize(given, k=4, sensitive=["ill"], seed=3)
    if frame is pa.table:
        assert release.aligned().schema == given.schema
        cells = release.aligned().to_pydict()
    else:
        assert list(release.aligned().dtypes) == list(given.dtypes)
        cells = (
            release.aligned().to_dict("list") if frame is pd.DataFrame else release.aligned().to_dict(as_series=False)
        )
    for name, form in {"iso": "%Y-%m-%d", "dotted": "%d.%m.%Y", "moment": "%Y-%m-%dT%H:%M:%S"}.items():
        assert all(dt.datetime.strptime(cell, form) for cell in cells[name])
    assert not any("," in cell for cell in cells["pay"])
    assert all(float(cell.replace(",", ".")) for cell in cells["comma"])
    assert cells["ill"] == ILL
    message = [note for note in release.notes if "text read as" in note]
    assert len(message) == 5
    assert message[0] == "reading: text read as dates in column 'iso' (kind nominal keeps text)"
    [found] = shoal.measure(given, release, only=["k-anonymity"])
    assert found.value >= 4


def test_parquet_files_are_read_in_the_same_way_and_their_releases_verify(tmp_path):
    table = pa.table({"born": ISO, "pay": PAY, "ill": ILL})
    pq.write_table(table, tmp_path / "x.parquet")
    pq.write_table(table.slice(60), tmp_path / "control.parquet")
    release = shoal.anonymize(tmp_path / "x.parquet", k=4, sensitive=["ill"], seed=3)
    assert release.policy.columns["born"].kind == "date"
    release.save(tmp_path / "out", private=tmp_path / "mine", report=False)
    assert shoal.verify(tmp_path / "out").holds
    files = {"private": tmp_path / "mine", "control": tmp_path / "control.parquet"}
    [found] = shoal.attack(tmp_path / "x.parquet", tmp_path / "out", only=["linkability"], **files)
    assert found.trials == N
    assert found.control is not None
    assert shoal.profile(tmp_path / "x.parquet").column("born").kind == "date"


def test_timestamps_are_written_with_time_zone_and_fractions():
    zoned = pa.chunked_array([pa.array([dt.datetime(2021, 3, 4, tzinfo=dt.UTC)], pa.timestamp("us", "+01:00"))])
    assert written_like(zoned, ["2021-03-04 10:00:00+01:00"]).to_pylist() == ["2021-03-04 01:00:00+0100"]
    fine = pa.chunked_array([pa.array([dt.datetime(2021, 3, 4, 1, 2, 3, 500)])])
    assert written_like(fine, ["2021-03-04T10:00:00"]).to_pylist() == ["2021-03-04T01:02:03.000500"]


def test_decimal_commas_far_down_a_column_are_found():
    cells = [str(row) for row in range(150)] + [f"{row},25" for row in range(150)]
    pay = shoal.anonymize(pd.DataFrame({"pay": cells}), k=5, seed=1).aligned()["pay"]
    assert pay.str.contains(",").any()
    assert not pay.str.contains(".", regex=False).any()
