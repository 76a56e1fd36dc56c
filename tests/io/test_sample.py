"""The sample table is plausible, invented and the same each time."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pytest

from shoal.errors import UseError
from shoal.io.sample import sample

TABLE = sample()


def bytes_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink, compression="uncompressed")
    return sink.getvalue()


def paired(a: str, b: str) -> float:
    both = TABLE.select([a, b]).drop_null()
    first, second = (np.asarray(both[name].to_numpy(), float) for name in (a, b))
    return float(np.corrcoef(first, second)[0, 1])


def test_columns_and_types_are_those_described():
    assert {field.name: str(field.type) for field in TABLE.schema} == {
        "patient_id": "string",
        "name": "string",
        "birth_date": "date32[day]",
        "sex": "string",
        "postcode": "string",
        "height_cm": "int64",
        "weight_kg": "double",
        "systolic": "int64",
        "smoker": "bool",
        "education": "string",
        "admitted": "date32[day]",
        "days": "int64",
        "diagnosis": "string",
        "cost_eur": "double",
    }
    assert TABLE.num_rows == 5000


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not():
    assert bytes_of(sample(300, 1)) == bytes_of(sample(300, 1))
    assert bytes_of(sample(300, 1)) != bytes_of(sample(300, 2))


def test_every_patient_has_a_code_and_a_name():
    assert pc.count_distinct(TABLE["patient_id"]).as_py() == 5000
    assert all(len(name.split()) == 2 for name in TABLE["name"].to_pylist())


def test_some_cells_are_missing_and_identifiers_are_not():
    gaps = {name: TABLE[name].null_count / 5000 for name in TABLE.column_names}
    for name in ("height_cm", "weight_kg", "systolic", "smoker", "education"):
        assert 0.01 < gaps[name] < 0.06
    for name in ("patient_id", "name", "birth_date", "sex", "admitted", "days", "diagnosis", "cost_eur"):
        assert gaps[name] == 0


def test_postcodes_are_five_digits_and_some_begin_with_zero():
    codes = TABLE["postcode"].drop_null().to_pylist()
    assert all(len(code) == 5 and code.isdigit() for code in codes)
    assert 0.02 < sum(code.startswith("0") for code in codes) / len(codes) < 0.5


@pytest.mark.parametrize(("rows", "rare"), [(5000, 10), (2000, 4), (100, 2), (2, 2)])
def test_one_diagnosis_is_rare(rows, rare):
    counts = pc.value_counts(sample(rows)["diagnosis"]).to_pylist()
    assert {"values": "porphyria", "counts": rare} in counts


def test_diagnoses_are_skewed():
    counts = sorted(line["counts"] for line in pc.value_counts(TABLE["diagnosis"]).to_pylist())
    assert len(counts) == 13
    assert counts[-1] > 5 * counts[1]


def test_columns_are_correlated():
    assert paired("height_cm", "weight_kg") > 0.4
    assert paired("days", "cost_eur") > 0.6
    age = TABLE["admitted"].cast(pa.int32()).to_numpy() - TABLE["birth_date"].cast(pa.int32()).to_numpy()
    systolic = TABLE["systolic"].to_numpy()
    there = ~np.isnan(systolic)
    assert np.corrcoef(age[there], systolic[there])[0, 1] > 0.3
    assert age.min() >= 18 * 365
    assert age.max() <= 101 * 366
    by_smoking = TABLE.filter(pc.less(TABLE["birth_date"], pa.scalar(0, pa.int32()).cast(pa.date32())))
    means = by_smoking.group_by("smoker").aggregate([("systolic", "mean")]).to_pydict()
    pressure = dict(zip(means["smoker"], means["systolic_mean"], strict=True))
    assert pressure[True] > pressure[False] + 2


@pytest.mark.parametrize("arguments", [{"rows": 1}, {"rows": 2.5}, {"rows": True}, {"seed": -1}, {"seed": "x"}])
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(UseError, match=r"sample: (rows|seed) must be a whole number of at least"):
        sample(**arguments)
