"""Plug-ins: what conformance accepts, what it refuses, and a plug-in model in a policy."""

import json

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.catalogue import attack, attacks, measure, measures, model
from shoal.conformance import check_attack, check_measure, check_model
from shoal.errors import PolicyError
from shoal.model.findings import Finding
from shoal.privacy.attacks.attack import concluded
from shoal.privacy.verdict.classes import Counts


@model("rows of a class", high=True)
def rows_of_a_class(counts, _):
    """Count the rows of each class."""
    return counts.sizes.astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("name", measures.cards())
def test_every_measure_of_shoal_conforms(name):
    check_measure(measures.load(name).function)


@pytest.mark.slow
@pytest.mark.parametrize("name", attacks.cards())
def test_every_attack_of_shoal_conforms(name):
    check_attack(attacks.load(name).function)


def test_a_model_conforms_or_is_refused_with_a_sentence():
    check_model(rows_of_a_class)
    with pytest.raises(AssertionError, match="one figure for each class"):
        check_model(model("short")(lambda _, __: np.zeros(1)[:0]))
    with pytest.raises(AssertionError, match="NaN"):
        check_model(model("gaps")(lambda counts, _: np.full(counts.sizes.size, np.nan)))


def counted(value, name="rows", how="of the release", need="release", counts_rows=True):
    @measure("rows", formula="n", low=0, high=1000, better="high", need="release", cost="O(1)")
    def rows(case):
        """Return the number of rows."""
        return (Finding(name, value(case), how, need, counts_rows=counts_rows),)

    return rows


def test_a_measure_conforms_or_is_refused_with_a_sentence():
    check_measure(counted(lambda case: float(case.n)))
    for wrong, message in (
        (counted(lambda case: case.n * 1e6), "range of the card"),
        (counted(lambda case: float("nan")), "NaN"),
        (counted(lambda case: float(case.n), name="other"), "begins with the name"),
        (counted(lambda case: float(case.n), how="canary"), "quote no cell"),
        (counted(lambda case: float(case.n), counts_rows=None), "whether it counts rows"),
        (counted(lambda case: float(case.n), how="3 records of the file have it"), "those of a Sentence"),
        (counted(lambda case: float(case.released.column("age")[0].as_py())), "order"),
        (lambda case: (), "decorated"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_measure(wrong)


def test_an_attack_that_never_succeeds_is_refused():
    @attack("idle")
    def idle(case, profile, clock):
        """Try nothing."""
        return concluded("idle", profile, np.zeros(case.n), baseline=0.0)

    with pytest.raises(AssertionError, match="raw copy must be called a leak"):
        check_attack(idle)


def test_a_model_that_works_only_in_the_pipeline_is_refused():
    with pytest.raises(AssertionError, match="the counts of the verifier"):
        check_model(model("narrow")(lambda counts, _: counts.sizes * float(isinstance(counts, Counts))))


@pytest.mark.slow
@pytest.mark.parametrize("counts_rows", [None, True])
def test_a_plug_in_measure_cannot_show_a_count_of_fewer_than_k_rows(install, counts_rows):
    rare = counted(lambda _: 3.0, how="3 records of the file have it", counts_rows=counts_rows)
    install("measures", rows=rare)
    table = pa.table({"age": [30, 31, 32, 33, 34, 60, 61, 62, 63, 64], "ill": ["a", "b"] * 5})
    release = shoal.anonymize(table, k=5, sensitive=["ill"], seed=1)
    assert [one for one in shoal.measure(table, release) if one.name == "rows"] != []
    facts = json.loads(release.report(table, format="json"))
    [line] = [one for one in facts["findings"] if one["name"] == "rows"]
    assert (line["shown"], line["value"], line["how"]) == ("fewer than 5", None, "")
    for form in ("html", "md"):
        assert "records of the file" not in release.report(table, format=form)


def test_a_policy_may_request_a_plug_in_model(install, tmp_path):
    install("models", {"rows of a class": rows_of_a_class})
    table = pa.table({"age": list(range(40)), "ill": ["a", "b"] * 20})
    release = shoal.anonymize(table, k=3, sensitive=["ill"], constraints={"others": {"rows of a class": 8}})
    assert release.verdicts[1].model == "rows of a class"
    assert release.verdicts[1].found >= 8
    folder = release.save(tmp_path / "release", format="csv")
    assert shoal.verify(folder).verdicts[1].found == release.verdicts[1].found
    assert not shoal.verify(table, k=2, sensitive=["ill"], constraints={"others": {"rows of a class": 8}}).holds
    with pytest.raises(PolicyError, match="Did you mean 'rows of a class'"):
        shoal.anonymize(table, k=3, sensitive=["ill"], constraints={"others": {"row of a class": 8}})
