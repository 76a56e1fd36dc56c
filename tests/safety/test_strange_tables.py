"""Unusual tables: odd names, types, categories, weights; nothing leaks, nothing is lost."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import shoal
from shoal.errors import DataError, ShoalError


def saved(table, folder, format="csv", **options):
    release = shoal.anonymize(table, **{"k": 2, **options})
    place = release.save(folder / "out", format=format, report=False)
    assert shoal.verify(place).holds
    return release, place


def test_a_name_that_looks_like_a_path_is_a_name(tmp_path):
    values = np.random.default_rng(1).permutation(60)
    table = pa.table({".y": values, "y": [0] * 60})
    release, _ = saved(table, tmp_path, keep=[".y"], k=5, seed=1, accept=["unique-kept"])
    assert release.table.column(".y").to_pylist() == sorted(values)
    reversed_ = table.take(pa.array(np.arange(59, -1, -1)))
    mixed = shoal.anonymize(reversed_, keep=[".y"], k=5, seed=1, accept=["unique-kept"])
    assert mixed.table.equals(release.table)


@pytest.mark.parametrize(
    "name", ["", " ", "a.b", "a[0]", "\ufeffage", "x\ny", "'q", '"', "=cmd", "[bold]", "é" * 300, "x0"]
)
def test_any_name_is_written_and_verified(name, tmp_path):
    table = pa.table({name: [1, 1, 2, 2], "other": ["a", "a", "b", "b"]})
    saved(table, tmp_path)


@pytest.mark.parametrize("form", ["range", "set", "median", "mode"])
def test_ordered_categories_in_any_form_are_in_the_file_what_they_are_in_memory(form, tmp_path):
    frame = pd.DataFrame({"e": pd.Categorical(list("abcd") * 5, ordered=True), "n": range(20)})
    release, place = saved(frame, tmp_path, "parquet", policy={"columns": {"e": {"form": form}}}, k=5)
    written = pyarrow.parquet.read_table(place / "data.parquet").column("e").to_pylist()
    assert sorted(map(str, written)) == sorted(map(str, release.aligned()["e"]))
    assert written.count(None) == 0


@pytest.mark.parametrize("values", [[1.5, 2.5], [True, False], [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]])
def test_ordered_categories_of_any_type_are_levels(values, tmp_path):
    frame = pd.DataFrame({"e": pd.Categorical(values * 6, categories=values, ordered=True), "n": range(12)})
    saved(frame, tmp_path, k=3)


@pytest.mark.parametrize("form", ["mean", "median"])
def test_decimals_are_averaged_to_the_last_digit(form):
    for text in ("9999999999999999", "999999999999999.99", "12345678901234567890", "-0.01"):
        column = pa.array([Decimal(text)] * 4)
        release = shoal.anonymize(pa.table({"a": column}), k=2, policy={"columns": {"a": {"form": form}}})
        assert release.aligned().column("a").to_pylist() == [Decimal(text)] * 4
    column = pa.array([Decimal("1.10"), Decimal("1.13")])
    got = shoal.anonymize(pa.table({"a": column}), k=2, policy={"columns": {"a": {"form": form}}})
    assert got.data.column("a")[0].as_py() in (Decimal("1.11"), Decimal("1.12"))


@pytest.mark.parametrize("day", [dt.date(1, 1, 1), dt.date(1500, 6, 1), dt.date(9999, 12, 31)])
def test_dates_of_any_year_are_averaged(day, tmp_path):
    release, _ = saved(pa.table({"a": [day] * 4}), tmp_path)
    assert release.aligned().column("a").to_pylist() == [day] * 4


def test_wide_whole_numbers_are_averaged_exactly():
    policy = {"columns": {"a": {"step": 1}}}  # the default step is a part of the standard deviation
    release = shoal.anonymize(pa.table({"a": [0, 2**60 + 1]}), policy=policy, k=2)
    assert release.aligned().column("a").to_pylist() == [2**59 + 1] * 2


def test_tiny_numbers_beside_huge_ones_keep_their_mean():
    release = shoal.anonymize(pa.table({"a": [1e-300, 3e-300, 1e300, 3e300]}), k=2)
    assert release.aligned().column("a").to_pylist() == pytest.approx([0, 0, 2e300, 2e300], rel=0.2, abs=0)
    policy = {"columns": {"a": {"step": 1e-300}}}
    release = shoal.anonymize(pa.table({"a": [1e-300, 3e-300, 1e300, 3e300]}), policy=policy, k=2)
    assert release.aligned().column("a").to_pylist() == pytest.approx([2e-300, 2e-300, 2e300, 2e300], rel=1e-9, abs=0)


@pytest.mark.parametrize("weights", [[1e308] * 4, [5e-324] * 4, [1e308, 1e-308, 0.0, 1.0]])
def test_extreme_weights_give_a_mean_inside_the_group(weights):
    for values in ([1, 3, 1, 3], [1.0, 3.0, 1.0, 3.0]):
        table = pa.table({"a": values, "w": weights})
        got = (
            shoal.anonymize(table, k=4, keep=["w"], weight="w", accept=["unique-kept"])
            .aligned()
            .column("a")
            .to_pylist()
        )
        assert 1 <= got[0] <= 3
    assert shoal.anonymize(
        pa.table({"a": [1.0, 3.0], "w": [1e308, 1e308]}), k=2, keep=["w"], weight="w"
    ).aligned().column("a").to_pylist() == [2.0, 2.0]


def test_a_code_for_missing_is_compared_to_the_last_digit():
    table = pa.table({"a": [2**53, 2**53 + 2, 2**53, 2**53 + 2]})
    policy = {"columns": {"a": {"missing_codes": [float(2**53)]}}}
    release = shoal.anonymize(table, k=2, policy=policy)
    assert release.aligned().column("a").null_count == 2


def test_what_lies_behind_missing_cells_is_not_published(tmp_path):
    names = pa.array([f"SECRET{i}" for i in range(6)])
    hidden = pa.StructArray.from_arrays([names], ["who"], mask=pa.array([True] * 3 + [False] * 3))
    numbers = pa.array(np.array([111.25, 222.5, 333.75, 1, 1, 1]), mask=np.array([True] * 3 + [False] * 3))
    table = pa.table({"a": [1, 1, 1, 2, 2, 2], "kept": hidden, "n": numbers})
    release = shoal.anonymize(table, k=3, keep=["kept", "n"], accept=["unique-kept"])
    place = release.save(tmp_path / "out", format="feather", report=False)
    back = pyarrow.feather.read_table(place / "data.feather")
    for chunk in back.column("kept").chunks:
        assert {f"SECRET{i}" for i in range(3)}.isdisjoint(set(chunk.field(0).to_pylist()))
    for chunk in back.column("n").chunks:
        assert 222.5 not in np.frombuffer(chunk.buffers()[1])


def test_categories_inside_lists_do_not_survive_their_rows(tmp_path):
    inner = pa.array(["SECRET", "x", "y", "z"]).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2, 3, 4]), inner)
    table = pa.table({"a": pa.array([None, 1, 1, 1], pa.int64()), "l": lists})
    for format in ("parquet", "feather"):
        release = shoal.anonymize(table, k=3, keep=["l"], missing="suppress-row", accept=["unique-kept"])
        place = release.save(tmp_path / format, format=format, report=False)
        assert b"SECRET" not in (place / f"data.{format}").read_bytes()


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary(4), pa.string(), pa.large_string()])
def test_formulas_in_any_kind_of_text_are_made_harmless(kind, tmp_path):
    cell = "=cmd" if kind in (pa.string(), pa.large_string()) else b"=cmd"
    table = pa.table({"a": [1, 1], "t": pa.array([cell, cell], kind)})
    _, place = saved(table, tmp_path, keep=["t"])
    assert "'=cmd" in (place / "data.csv").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "column",
    [
        pa.array([2**63 + 1, 2**63 + 2, 2**63, 2**64 - 1], pa.uint64()),
        pa.array([Decimal("123456789012345678901"), Decimal(1), Decimal(2), Decimal("123456789012345678902")]),
        pa.array([0, 1, 2, 3], pa.timestamp("us", tz="Europe/Berlin")),
        pa.array([1729990800 + 1800 * i for i in range(4)], pa.timestamp("s", tz="Europe/Berlin")),
        pa.array([1, 2, 3, 4], pa.timestamp("ns")),
        pa.array([True, False, True, None]),
        pa.array([0.1, float("nan"), 1e300, -5e-324]),
    ],
    ids=str,
)
@pytest.mark.parametrize("format", ["csv", "parquet", "feather"])
def test_sensitive_values_of_any_type_are_judged_alike_in_memory_and_in_the_file(column, format, tmp_path):
    table = pa.table({"a": [1, 1, 9, 9], "s": column})
    release, place = saved(table, tmp_path, format, sensitive=["s"], l=2, t=1.0, accept=["unique-kept"])
    assert [v.found for v in shoal.verify(place).verdicts] == pytest.approx([v.found for v in release.verdicts])


def test_levels_that_are_numbers_are_found_in_the_file(tmp_path):
    table = pa.table({"a": [1, 1, 9, 9], "s": [1.0, 2.0, 1.0, 2.0]})
    policy = {"columns": {"s": {"role": "sensitive", "kind": "ordinal", "order": ["1", "2"]}}}
    saved(table, tmp_path, policy=policy, t=0.5)


def test_a_cell_of_some_megabytes_is_written_and_verified(tmp_path):
    saved(pa.table({"a": [1, 1], "t": ["x" * 3_000_000, "y"]}), tmp_path, keep=["t"], accept=["unique-kept"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 3, 4], pa.duration("s")),
        pa.array([1, 2, 3, 4], pa.time32("s")),
        pa.array([1, 2, 3, 4], pa.float32()).cast(pa.float16()),
        pa.nulls(4),
        pa.array([[1], [2], None, []]),
        pa.array([{"x": 1}] * 4),
        pa.array([b"\xff", b"a", None, b""]),
        pa.array([1, 2, 3, 4], pa.uint8()),
        pa.array(["a", "b", None, "c"], pa.large_string()),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "keep", "identifier"])
def test_a_column_of_any_type_and_role_is_released_or_refused_in_a_sentence(column, role, tmp_path):
    table = pa.table({"SECRET": column, "n": [1, 1, 2, 2]})
    options = {"identifiers" if role == "identifier" else role: ["SECRET"]}
    for format in ("csv", "parquet"):
        try:
            release = shoal.anonymize(table, k=2, **options)
            release.save(tmp_path / format, format=format, report=False)
        except ShoalError as refusal:
            assert "\n" not in str(refusal)
            assert refusal.__cause__ is None


def test_pandas_types_without_a_counterpart_are_text_or_refused():
    for values in (pd.interval_range(0, 4), pd.period_range("2020", periods=4, freq="M"), [1 + 2j] * 4):
        frame = pd.DataFrame({"a": values, "n": [1, 1, 2, 2]})
        try:
            shoal.anonymize(frame, k=2)
        except ShoalError as refusal:
            assert "\n" not in str(refusal)


@pytest.mark.parametrize("bad", [[["Alice"], ["Bob"]], ["Alice", "Bob"], [[1 + 2j], [3j]]])
def test_the_estimator_shows_no_cell_of_what_it_refuses(bad):
    with pytest.raises(DataError) as caught:
        shoal.Anonymizer(k=2).fit(np.array(bad))
    assert "Alice" not in str(caught.value)
    assert "2j" not in str(caught.value)
    assert caught.value.__cause__ is None
