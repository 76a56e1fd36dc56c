"""What breaks other programs: each input is certified, or refused in one clear sentence."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError, InfeasibleError, PolicyError, ReadError, UseError

RNG = np.random.default_rng(60)
PLAIN = RNG.normal(50, 10, (60, 3))


def table(values):
    return pa.table({name: values[:, place] for place, name in enumerate("abc")})


def certified(source, **options):
    options = {"k": 5, **options}
    release = shoal.anonymize(source, **options)
    assert all(verdict.holds for verdict in release.verdicts)
    cells = zip(*(column.to_pylist() for column in release.table.columns), strict=True)
    counts = {}
    for cell in cells:
        counts[cell] = counts.get(cell, 0) + 1
    assert min(counts.values()) >= options["k"]
    assert sum(counts.values()) + release.suppressed == release._making.inputs
    return release


@pytest.mark.parametrize("odd", [math.inf, -math.inf])
def test_infinity_is_refused_by_column_and_count(odd):
    values = PLAIN.copy()
    values[7, 1] = odd
    with pytest.raises(DataError, match="column 'b' has 1 infinite value"):
        shoal.anonymize(table(values), k=5)
    policy = {"columns": {"b": {"missing_codes": [odd]}}}
    certified(table(values), policy=policy)


@pytest.mark.parametrize("odd", [1e300, -1e300, 1.7e308, 5e-324, -999.0, 0.1 + 0.2])
def test_a_strange_but_finite_number_is_a_number(odd):
    values = PLAIN.copy()
    values[7, 1] = odd
    release = certified(table(values))
    assert odd not in release.table.column("b").to_pylist()


def test_extremes_of_both_signs_in_one_column_are_certified():
    values = PLAIN.copy()
    values[:2, 0] = 1.7e308, -1.7e308
    certified(table(values))


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [1, 2, 7, 30, 59, 60])
def test_gaps_never_make_a_class_below_k_and_no_row_is_lost(gaps):
    values = PLAIN.copy()
    values[:gaps, 1] = math.nan
    release = certified(table(values))
    assert release.table.num_rows == 60
    values[:gaps, 2] = math.nan
    certified(table(values))


def test_scattered_gaps_never_make_a_class_below_k():
    values = PLAIN.copy()
    values[RNG.random(values.shape) < 0.4] = math.nan
    assert certified(table(values)).table.num_rows == 60


@pytest.mark.parametrize("k", [0, 1, -5, 2.5, "5"])
def test_a_k_that_makes_no_sense_is_refused(k):
    with pytest.raises(PolicyError, match=r"^policy: k must be"):
        shoal.anonymize(table(PLAIN), k=k)


def test_fewer_rows_than_k_are_refused_with_a_feasible_k():
    with pytest.raises(InfeasibleError, match="Lower k to 4 or less"):
        shoal.anonymize(table(PLAIN[:4]), k=5)


@pytest.mark.parametrize("index", [[7] * 120, list(range(119, -1, -1)), [None] * 120])
def test_a_duplicate_index_gives_every_row_back_once(index):
    frame = pd.DataFrame(RNG.normal(size=(120, 2)), columns=["a", "b"], index=index)
    release = certified(frame, seed=1)
    assert len(release.aligned()) == 120
    plain = shoal.anonymize(frame.reset_index(drop=True), k=5, seed=1)
    assert release.table.equals(plain.table)


def test_an_empty_table_is_refused(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "head.csv").write_text("a,b\n")
    for source in (tmp_path / "empty.csv", tmp_path / "head.csv", pd.DataFrame({"a": []}), pa.table({})):
        with pytest.raises(ReadError):
            shoal.anonymize(source, k=2)


def test_floats_of_a_group_are_the_same_bytes_in_the_file(tmp_path):
    values = np.array([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3] * 4)
    release = certified(pa.table({"a": values}))
    release.save(tmp_path / "out", format="csv", report=False)
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()[1:]
    assert min(lines.count(line) for line in lines) >= 5


def test_one_constant_column_is_published_unchanged():
    assert set(certified(pa.table({"a": [3.5] * 20})).table.column("a").to_pylist()) == {3.5}


def test_one_column_of_all_different_text_is_published_empty():
    table = pa.table({"a": [f"text {i}" for i in range(20)]})
    release = certified(table, quasi=["a"])
    assert release.table.column("a").null_count == 20
    with pytest.raises(PolicyError, match="look like identifiers .* are dropped by default"):
        shoal.anonymize(table)


def test_a_table_of_missing_values_alone_is_one_class():
    certified(pa.table({"a": pa.array([None] * 10, pa.float64()), "b": pa.array([None] * 10, pa.string())}))


@pytest.mark.slow
def test_two_thousand_columns_are_certified():
    wide = RNG.normal(size=(20, 2000))
    certified(pa.table({f"c{i}": wide[:, i] for i in range(wide.shape[1])}), method="mdav")


def test_offset_and_scale_give_the_same_partition():
    whole = RNG.integers(0, 30, (60, 3)).astype(float)
    plain = shoal.anonymize(table(whole), k=5, seed=1).labels
    for other in (whole + 1e12, whole * 1e-9, whole * 2.0**200):
        assert shoal.anonymize(table(other), k=5, seed=1).labels.tolist() == plain.tolist()


@pytest.mark.slow
def test_released_order_says_nothing_of_the_order_of_the_input(tmp_path):
    n = 2000
    values = RNG.normal(size=(n, 3))
    release = shoal.anonymize(table(values), k=5)
    ranks = np.corrcoef(np.arange(n), release._making.position)[0, 1]
    assert abs(ranks) < 3 / math.sqrt(n)


@pytest.mark.parametrize("bad", [5, None, [1, 2], {"a": [1, 2], "b": [1]}, np.zeros(3), pd.Series([1, 2])])
def test_what_is_no_table_is_refused(bad):
    with pytest.raises(UseError):
        shoal.anonymize(bad, k=2)


@pytest.mark.parametrize("ends", [(dt.date(9999, 12, 31), dt.datetime(7731, 1, 1)), (dt.date(1, 1, 1),) * 2], ids=str)
def test_dates_at_the_ends_of_the_calendar_are_released_as_dates(ends):
    release = certified(pd.DataFrame({"a": ends * 20, "b": range(40)}), k=5)
    assert {type(day) for day in release.data["a"]} == {dt.date}


def test_string_views_are_released_as_such():
    words = pa.array(["a", "b"] * 20, pa.string_view())
    release = certified(pa.table({"age": range(40), "town": words}), k=5)
    assert release.data.schema.field("town").type == release.aligned().schema.field("town").type == pa.string_view()
