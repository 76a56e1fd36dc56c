"""One addition of each kind from outside the package: a plug-in is found wherever a built-in is.

The plug-in is a folder as pip would install it: a module and a distribution with entry points. Nothing of shoal is
changed for it.
"""

import json

import pyarrow as pa
import pytest

import shoal
from command_line import shoal_command
from shoal.conformance import check_attack, check_measure, check_model

MODULE = '''
import numpy as np
import pyarrow as pa

from shoal.catalogue import Whole, attack, file_format, measure, method, model
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.privacy.attacks.attack import concluded


@method("runs", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
def runs(X, k):
    """Cut the rows, sorted by the sum of their columns, into runs of k to 2k - 1 rows."""
    order = np.argsort(X.sum(axis=1), kind="stable")
    labels = np.empty(len(X), np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return Partition.of(labels)


@model("values of a class", high=True, promise="In every class there are {asked} values or more.", symbol="values")
def values_of_a_class(counts, _):
    """Count the values of each class."""
    return np.bincount(counts.owner).astype(float)


@measure(
    "mean rows of a class",
    formula="n / classes",
    low=1,
    better="high",
    need="pair",
    cost="n",
    words={"mean rows of a class": "How many rows share a class, on average."},
)
def mean_rows(case):
    """Measure the mean size of a class."""
    if not case.n:
        return ()
    return (Finding("mean rows of a class", case.n / case.sizes.size, "of all classes", "pair", counts_rows=False),)


@attack("same first column")
def first_column(case, profile, clock):
    """Take the row whose first known column is nearest for that of the target."""
    column = case.columns[0]
    before, after = (np.asarray(one.to_pylist(), float) for one in (column.before, column.after))
    right = np.array([float(np.abs(after - one).argmin() == row) for row, one in enumerate(before)])
    return concluded("same first column", profile, right, baseline=1 / max(1, case.n), power=1.0, allowed=1 / 3)


@file_format("orc", endings=(".orc",), magic=b"ORC", called="ORC", read=lambda path: pa.orc.read_table(path))
def orc(table, file):
    """Write an ORC file."""
    import pyarrow.orc

    sink = pa.BufferOutputStream()
    pyarrow.orc.write_table(table, sink)
    file.write(sink.getvalue().to_pybytes())
'''
ENTRIES = """
[shoal.methods]
runs = outside:runs
[shoal.models]
values of a class = outside:values_of_a_class
[shoal.measures]
mean rows of a class = outside:mean_rows
[shoal.attacks]
same first column = outside:first_column
[shoal.formats]
orc = outside:orc
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """The plug-in, installed."""
    place = tmp_path / "site"
    information = place / "outside-1.0.dist-info"
    information.mkdir(parents=True)
    (place / "outside.py").write_text(MODULE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(place))
    import outside

    return outside


@pytest.fixture
def people():
    return shoal.sample(90, seed=4).select(["height_cm", "weight_kg", "days", "diagnosis"])


def listed(command):
    return {one["name"] for one in json.loads(shoal_command(command, "--json").out)}


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ("methods", "runs"),
        ("models", "values of a class"),
        ("measures", "mean rows of a class"),
        ("attacks", "same first column"),
        ("formats", "orc"),
    ],
)
def test_an_addition_is_listed_in_python_and_by_the_command(outside, section, name):
    assert name in {one["name"] for one in getattr(shoal, section)()}
    assert name in listed(section)


def test_a_method_from_outside_makes_releases_and_is_explored(outside, people):
    release = shoal.anonymize(people, k=5, method="runs", sensitive=["diagnosis"])
    assert all(one.holds for one in release.verdicts)
    with pytest.raises(shoal.MethodError, match="runs: unknown parameter 'kk'"):
        shoal.anonymize(people, k=5, method="runs", parameters={"kk": 3})
    assert "runs" in shoal_command("methods", "runs").out


@pytest.mark.slow
def test_a_model_from_outside_is_met_and_recounted_in_the_written_file(outside, people, tmp_path):
    check_model(outside.values_of_a_class)
    asked = {"others": {"values of a class": 2}}
    release = shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints=asked)
    assert [one.model for one in release.verdicts] == ["k-anonymity", "values of a class"]
    folder = release.save(tmp_path / "release", report=True)
    checked = shoal.verify(folder)
    assert checked.holds
    assert checked.verdicts[1].found >= 2
    with pytest.raises(shoal.InfeasibleError, match="Lower values to 13 or less"):
        shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints={"others": {"values of a class": 50}})


def test_a_measure_from_outside_is_computed_and_in_the_holders_report(outside, people):
    check_measure(outside.mean_rows)
    release = shoal.anonymize(people, k=5, sensitive=["diagnosis"])
    [found] = shoal.measure(people, release, only=["mean rows of a class"])
    assert found.value == pytest.approx(90 / len(set(release.labels.tolist())))
    assert "How many rows share a class, on average." in release.report(people, format="md")
    assert "How many rows share a class" not in release.report(format="md")


def test_an_attack_from_outside_is_tried(outside, people):
    release = shoal.anonymize(people, k=5, sensitive=["diagnosis"])
    [found] = shoal.attack(people, release, only=["same first column"])
    assert found.trials == 90
    check_attack(outside.first_column)


def test_a_format_from_outside_is_read_written_and_verified(outside, people, tmp_path):
    import pyarrow.orc

    pyarrow.orc.write_table(people, tmp_path / "people.orc")
    release = shoal.anonymize(tmp_path / "people.orc", k=5, sensitive=["diagnosis"])
    folder = release.save(tmp_path / "release")
    assert (folder / "data.orc").is_file()
    assert shoal.verify(folder).holds
    assert pa.Table.from_pandas(pyarrow.orc.read_table(folder / "data.orc").to_pandas()).num_rows == 90
    damaged = (folder / "data.orc").read_bytes()
    (folder / "data.orc").write_bytes(damaged[:-1])
    assert not shoal.verify(folder).holds
