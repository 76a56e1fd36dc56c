"""One addition of each kind from outside the package: a plug-in is found wherever a built-in is.

The plug-in is a folder as pip would install it: a module and a distribution with entry points. Nothing of shoal is
changed for it.
"""

import errno
import json
import os
import sys
import traceback

import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import shoal
from command_line import shoal_command
from shoal.catalogue.sections import _guarded
from shoal.conformance import check_attack, check_measure, check_model
from shoal.errors import PlugInError, Stopped

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
    with pytest.raises(shoal.InfeasibleError, match="Lower values of a class to 13 or less"):
        shoal.anonymize(people, k=5, sensitive=["diagnosis"], constraints={"others": {"values of a class": 50}})


@pytest.mark.slow
def test_a_model_from_outside_is_requested_on_the_command_line(outside, people, tmp_path):
    write_csv(people, tmp_path / "people.csv")
    words = ("anonymize", "people.csv", "-k", 5, "--sensitive", "diagnosis", "-o", "release", "--no-report", "--json")
    done = shoal_command(*words, "--constraint", "values of a class=2", cwd=tmp_path)
    assert [one["model"] for one in json.loads(done.out)["verdicts"]] == ["k-anonymity", "values of a class"]
    policy = shoal.Policy.of({"constraints": {"others": {"another model": 3}}}, constraints={"others": {"one": 2}})
    assert policy.constraints.others == {"another model": 3, "one": 2}


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
    folder = release.save(tmp_path / "release", report=False)
    assert (folder / "data.orc").is_file()
    assert shoal.verify(folder).holds
    assert pa.Table.from_pandas(pyarrow.orc.read_table(folder / "data.orc").to_pandas()).num_rows == 90
    damaged = (folder / "data.orc").read_bytes()
    (folder / "data.orc").write_bytes(damaged[:-1])
    assert not shoal.verify(folder).holds


FAILING = """
from shoal.catalogue import Whole, method
from shoal.model.partition import Partition


@method("failing", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
def failing(X, k):
    \"\"\"Fail with a cell in the message.\"\"\"
    raise KeyError(f"{X[0, 0]} SECRET")


@method("talking", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
def talking(X, k):
    \"\"\"Put all rows into one group, and count rows in a note.\"\"\"
    return Partition.of([0] * len(X), notes=("3 rows are far from all others", "one group"))
"""


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """A plug-in with a method that fails, and one whose notes count rows."""
    information = tmp_path / "failing-1.0.dist-info"
    information.mkdir()
    (tmp_path / "failing_plug_in.py").write_text(FAILING)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1.0\n")
    entries = "[shoal.methods]\nfailing = failing_plug_in:failing\ntalking = failing_plug_in:talking\n"
    (information / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_an_error_of_a_plug_in_is_reported_without_its_text(failing, people):
    with pytest.raises(shoal.UseError, match=r"plug-in: 'failing' failed \(KeyError\)") as caught:
        shoal.anonymize(people, method="failing", k=5)
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.ENOENT])
def test_an_error_of_the_system_in_a_plug_in_keeps_its_number_but_not_its_text(code):
    def write():
        raise OSError(code, "SECRET", "SECRET")

    with pytest.raises(OSError, match=os.strerror(code)) as caught:
        _guarded(write, "mine")()
    assert caught.value.errno == code
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))


def raised(problem):
    """Return what shoal raises if a plug-in raises this."""

    def fail():
        raise problem

    with pytest.raises(shoal.ShoalError, match="plug-in") as caught:
        _guarded(fail, "mine")()
    assert "SECRET" not in "".join(traceback.format_exception(caught.value))
    return caught.value


@pytest.mark.parametrize(
    "problem",
    [OSError("SECRET", "SECRET"), OSError(10**30, "SECRET"), OSError("SECRET"), SystemExit(0), GeneratorExit()],
)
def test_an_error_of_any_kind_in_a_plug_in_is_one_of_shoal(problem):
    found = raised(problem)
    assert isinstance(found, shoal.UseError)
    assert str(found).startswith(f"plug-in: 'mine' failed ({type(problem).__name__})")


@pytest.mark.parametrize("kind", [shoal.DataError, shoal.InfeasibleError])
def test_an_error_of_shoal_in_a_plug_in_keeps_its_kind_but_not_its_text(kind):
    assert type(raised(kind("SECRET"))) is kind

    class Own(kind):
        pass

    assert type(raised(Own("SECRET"))) is PlugInError


def test_what_a_plug_in_yields_is_taken_where_its_errors_are_reported():
    def several():
        yield 1
        raise KeyError("SECRET")

    with pytest.raises(shoal.UseError, match=r"'mine' failed \(KeyError\)"):
        _guarded(several, "mine")()
    assert _guarded(lambda: iter("ab"), "mine")() == ("a", "b")


@pytest.mark.parametrize("problem", [KeyboardInterrupt, Stopped])
def test_a_plug_in_does_not_keep_the_program_from_being_stopped(problem):
    def fail():
        raise problem

    with pytest.raises(problem):
        _guarded(fail, "mine")()


def test_notes_of_a_plug_in_that_contain_numbers_are_left_out(failing, people):
    notes = shoal.anonymize(people, method="talking", k=5).notes
    assert "one group" in notes
    assert not any("far from all others" in note for note in notes)


@pytest.mark.parametrize("source", ["def (", "import no_such_module", "1 / 0", "other = 1", "import sys; sys.exit(0)"])
def test_a_plug_in_that_cannot_be_loaded_is_named(tmp_path, monkeypatch, source):
    information = tmp_path / "broken-1.0.dist-info"
    information.mkdir()
    (tmp_path / "broken_plug_in.py").write_text(source)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[shoal.methods]\nbroken = broken_plug_in:broken\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "broken_plug_in", raising=False)
    done = shoal_command("methods", "broken")
    assert done.code == 2
    assert "plug-in: 'broken' cannot be loaded" in done.err


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A package with a plug-in of each kind, which ends the process when it is imported."""
    place = tmp_path / "site"
    information = place / "ending-1.0.dist-info"
    information.mkdir(parents=True)
    (place / "ending_plug_in.py").write_text("import sys\nsys.exit(0)\n")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: ending\nVersion: 1.0\n")
    kinds = ("methods", "models", "measures", "attacks", "formats")
    entries = "".join(f"[shoal.{kind}]\nending = ending_plug_in:ending\n" for kind in kinds)
    (information / "entry_points.txt").write_text(entries)
    monkeypatch.syspath_prepend(str(place))


def test_a_broken_plug_in_does_not_disturb_work_without_it(broken, people, tmp_path):
    write_csv(people, tmp_path / "people.csv")
    release = shoal.anonymize(tmp_path / "people.csv", k=5, method="mdav", sensitive=["diagnosis"])
    folder = release.save(tmp_path / "release", report=True)
    assert shoal.verify(folder).holds
    (folder / "policy.toml").write_text((folder / "policy.toml").read_text().replace('"mdav"', '"ending"'))
    assert not shoal.verify(folder).holds
    assert shoal_command("verify", folder).code == 1
    assert "k = 5" in release.report(people, format="md")
    with pytest.raises(shoal.MethodError, match=r"'ending' cannot be loaded \(SystemExit\)"):
        shoal.anonymize(people, k=5, method="ending")


@pytest.mark.parametrize("section", ["methods", "models", "measures", "attacks", "formats"])
def test_lists_name_the_plug_ins_that_cannot_be_loaded(broken, section):
    done = shoal_command(section, "--json")
    assert done.code == 0
    assert "plug-in: 'ending' cannot be loaded (SystemExit)" in done.err
    assert json.loads(done.out)
    assert "ending" not in {one["name"] for one in getattr(shoal, section)()}


def test_a_release_whose_plug_ins_are_missing_says_which(outside, people, tmp_path, monkeypatch):
    made = {"k": 5, "sensitive": ["diagnosis"]}
    model = {"constraints": {"others": {"values of a class": 2}}}
    folders = {
        "the format 'orc'": shoal.anonymize(people, **made).save(tmp_path / "format", format="orc"),
        "the method 'runs'": shoal.anonymize(people, method="runs", **made).save(tmp_path / "method"),
        "the model 'values of a class'": shoal.anonymize(people, **made, **model).save(tmp_path / "model"),
    }
    assert all(shoal.verify(folder).holds for folder in folders.values())
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not path.endswith("site")])
    for what, folder in folders.items():
        checked = shoal.verify(folder)
        kind, _, name = what.removeprefix("the ").partition(" ")
        assert [(one.claimed, one.found) for one in checked.lines if not one.holds] == [(what, "not known here")]
        [note] = checked.notes
        assert note == f"T{what[1:]} of this release is not known here. Install the plug-in that provides it."
        with pytest.raises(shoal.GuaranteeError, match=f"does not pass verification. The {kind} {name}"):
            shoal.report(None, folder)
        with pytest.raises(shoal.DataError, match=f"The {kind} {name} of this release is not known here"):
            shoal.measure(None, folder)
