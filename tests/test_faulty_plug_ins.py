"""Plug-ins that return something else than they should: they are named, and nothing else is lost."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import shoal
from command_line import shoal_command
from shoal.catalogue import Whole, attack, file_format, measure, method
from shoal.errors import LeftOut
from shoal.model.findings import Finding
from shoal.model.partition import Partition


def faulty_method(result):
    @method("faulty", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
    def faulty(X, k):
        """Return something else."""
        return result(X)

    return faulty


def faulty_measure(result):
    @measure("faulty", formula="n", better="high", need="release", cost="1")
    def faulty(_case):
        """Return something else."""
        return result() if callable(result) else result

    return faulty


def finding(value, **more):
    return Finding("faulty", value, "of the release", "release", counts_rows=False, **more)


@pytest.fixture
def table():
    return pa.table({"age": [30, 31, 32, 33, 34, 60, 61, 62, 63, 64], "ill": ["a", "b"] * 5})


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda _: None, "it returned None instead of a Partition"),
        (lambda X: np.zeros(len(X), int), "it returned an ndarray instead of a Partition"),
        (lambda X: Partition([0] * len(X)), "its Partition was not made by `Partition.of`"),
        (lambda X: Partition(np.arange(len(X)) // 2 + 1), "its Partition was not made by `Partition.of`"),
        (lambda X: Partition.of([0] * (len(X) - 1)), "it returned groups for 9 of 10 rows"),
    ],
)
def test_a_method_that_returns_something_else_is_named(install, table, result, said):
    install("methods", faulty=faulty_method(result))
    with pytest.raises(shoal.UseError) as caught:
        shoal.anonymize(table, k=3, method="faulty")
    assert str(caught.value).startswith(f"plug-in: 'faulty' failed ({said}")
    assert str(caught.value).endswith(". Report this to its authors.")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, r"it returned None instead of a tuple of findings"),
        ((None,), r"it returned None among its findings"),
        (3.0, r"it returned a float instead of a tuple of findings"),
        (lambda: (finding("3 rows"),), "MethodError"),
        (lambda: (finding(3.0, interval=("low", "high")),), "MethodError"),
        (lambda: (finding(3.0, interval=5),), "MethodError"),
    ],
)
def test_a_measure_that_returns_something_else_is_named_and_the_others_are_computed(install, table, result, said):
    release = shoal.anonymize(table, k=5, sensitive=["ill"], seed=1)
    others = shoal.measure(table, release)
    install("measures", faulty=faulty_measure(result))
    release = shoal.anonymize(table, k=5, sensitive=["ill"], seed=1)
    with pytest.raises(shoal.UseError, match=rf"plug-in: 'faulty' failed \({said}\)\. Report this to its authors\."):
        shoal.measure(table, release, only=["faulty"])
    with pytest.warns(LeftOut, match=rf"'faulty' was left out\. plug-in: 'faulty' failed \({said}\)"):
        found = shoal.measure(table, release)
    assert found == others
    with pytest.raises(shoal.UseError, match="plug-in: 'faulty' failed"):
        shoal.measure(table, release, only=["faulty"])


def test_the_holders_report_says_which_measure_was_left_out(install, table, tmp_path):
    install("measures", faulty=faulty_measure(None))
    release = shoal.anonymize(table, k=5, sensitive=["ill"])
    with pytest.warns(LeftOut):
        assert "plug-in: 'faulty' failed (it returned None" in release.report(table, format="md")
    assert "'faulty'" not in release.report(format="md")
    folder, private = tmp_path / "release", tmp_path / "private"
    release.save(folder, private=private)
    with pytest.warns(LeftOut):
        text = shoal.report(table, folder, private=private, format="md")
    assert text.count("plug-in: 'faulty' failed") == 1


def test_the_command_says_which_measure_was_left_out(install, table, tmp_path):
    from pyarrow.csv import write_csv

    install("measures", faulty=faulty_measure(None))
    write_csv(table, tmp_path / "people.csv")
    words = ("measure", "people.csv", "people.csv", "--sensitive", "ill")
    done = shoal_command(*words, cwd=tmp_path)
    assert done.code == 0
    assert "k-anonymity" in done.out
    assert done.err.count("shoal: measure: 'faulty' was left out. plug-in: 'faulty' failed") == 1
    assert shoal_command(*words, "--only", "faulty", cwd=tmp_path).code == 2


def test_a_measure_of_every_release_that_fails_leads_to_a_note(install, table):
    @measure("faulty", formula="n", better="high", need="release", cost="1", always=True)
    def faulty(_case):
        """Return nothing."""

    install("measures", faulty=faulty)
    with pytest.warns(LeftOut):
        release = shoal.anonymize(table, k=5, sensitive=["ill"])
    assert any("plug-in: 'faulty' failed (it returned None" in note for note in release.notes)


def test_an_attack_that_returns_something_else_was_not_tried(install, table):
    @attack("faulty")
    def faulty(_case, _profile, _clock):
        """Return nothing."""

    install("attacks", faulty=faulty)
    release = shoal.anonymize(table, k=5, sensitive=["ill"])
    found = {one.name: one for one in shoal.attack(table, release)}
    assert len(found) > 3
    assert found["faulty"].outcome == "not tried"
    assert "plug-in: 'faulty' failed (it returned None instead of an Attack)" in found["faulty"].note
    assert "plug-in: 'faulty' failed" in release.report(table, attacks=True, format="md")
    with pytest.raises(shoal.UseError, match="plug-in: 'faulty' failed"):
        shoal.attack(table, release, only="faulty")


def test_a_reader_that_returns_something_else_is_named(install, tmp_path):
    @file_format("odd", endings=(".odd",), called="Odd", read=lambda _path: SimpleNamespace())
    def odd(table, file):
        """Write nothing."""

    install("formats", odd=odd)
    (tmp_path / "people.odd").write_text("odd")
    with pytest.raises(shoal.UseError, match=r"'odd' failed \(its `read` returned a SimpleNamespace instead of"):
        shoal.profile(tmp_path / "people.odd")
