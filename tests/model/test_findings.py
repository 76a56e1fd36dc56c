"""Findings: plain numbers whatever a measure gives, and nothing that a page could misread."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import shoal
from plug_ins import put
from shoal.errors import LeftOut
from shoal.model.findings import Finding, value_of


@pytest.mark.parametrize("value", [np.int64(50), np.float32(50), Decimal(50), Fraction(50), 50, 50.0])
def test_figures_of_any_type_become_numbers_of_python(value):
    found = Finding("mine", value, "counted", "pair", interval=np.array([49, 51]), whole=np.int32(90))
    assert type(found.value) in (int, float)
    assert json.dumps(found.as_dict())
    assert (found.value, found.interval, type(found.whole)) == (50, (49, 51), int)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"value": "Anna"}, "value must be a number; got a str"),
        ({"value": None}, "value must be a number; got None"),
        ({"value": True}, "value must be a number; got a bool"),
        ({"value": 1j}, "value must be a number; got a complex"),
        ({"interval": (1.0,)}, "interval must be a pair of numbers or None; got a tuple"),
        ({"interval": "12"}, "interval must be a pair of numbers or None; got a str"),
        ({"interval": (0.0, "Anna")}, "interval must be a number; got a str"),
        ({"how": None}, "how must be text; got None"),
        ({"part": 5}, "part must be text; got an int"),
        ({"column": 5}, "column must be text; got an int"),
        ({"need": "sideways"}, "need must be one of 'release', 'pair', 'groups'"),
        ({"unit": "rows"}, "unit must be one of '', '%'"),
        ({"whole": "a"}, "whole must be a whole number; got a str"),
        ({"whole": -1}, "whole must be at least 0"),
        ({"counts_rows": 1}, "counts_rows must be True, False or None; got an int"),
        ({"share": None}, "share must be True or False; got None"),
    ],
)
def test_what_is_not_a_figure_is_refused_by_its_type_alone(given, message):
    with pytest.raises(shoal.MethodError, match=f"measure 'mine': {message}") as caught:
        Finding(**{"measure": "mine", "value": 1.0, "how": "counted", "need": "pair", **given})
    assert "Anna" not in str(caught.value)


def test_an_interval_without_two_finite_ends_is_none():
    for ends in ((-math.inf, math.inf), (math.nan, 1.0)):
        assert Finding("mine", 1.0, "counted", "pair", interval=ends).interval is None


def test_the_first_finding_of_a_name_counts():
    twice = [Finding("mine", value, "counted", "pair") for value in (1.0, 2.0)]
    assert value_of(twice, "mine") == 1.0


MEASURE = """
import math

from shoal.catalogue import measure
from shoal.model.findings import Finding


@measure("mine", formula="f", better="low", need="release", cost="n", always=True)
def mine(case):
    \"\"\"Return two figures.\"\"\"
    return (Finding("mine", math.inf, "x", "release", interval=(1.0, math.inf)), Finding(OTHER, 9.0, "x", "release"))
"""
METHOD = """
import numpy as np

from shoal.catalogue import Whole, method
from shoal.model.findings import Finding
from shoal.model.partition import Partition


@method("whole", data="numeric", ensures={"k"}, params={"k": Whole(2, help="Rows in a group.")})
def whole(X, k):
    \"\"\"Put all rows into one group.\"\"\"
    return Partition.of([0] * len(X), findings=(Finding("rows", 3.0, "x", "groups", part="of 4 rows"),))
"""


@pytest.fixture
def people():
    return shoal.sample(60, seed=4).select(["height_cm", "weight_kg"])


def test_an_infinite_figure_of_a_plug_in_is_null_in_json(tmp_path, monkeypatch, people):
    put(tmp_path, monkeypatch, "infinite", MEASURE.replace("OTHER", '"other"'), measures={"mine": "mine"})
    facts = json.loads(shoal.anonymize(people, k=5, method="mdav").report(people, format="json"))
    [line] = [one for one in facts["findings"] if one["name"] == "mine"]
    assert (line["value"], line["interval"], line["shown"]) == (None, None, "without limit")


def test_a_finding_of_a_plug_in_that_has_the_name_of_a_built_in_one_is_left_out(tmp_path, monkeypatch, people):
    loss = shoal.anonymize(people, k=5, method="mdav", seed=1).finding("cell loss %")
    put(tmp_path, monkeypatch, "shadowing", MEASURE.replace("OTHER", '"cell loss %"'), measures={"mine": "mine"})
    with pytest.warns(LeftOut, match="'mine' has findings with names of shoal, which were left out"):
        release = shoal.anonymize(people, k=5, method="mdav", seed=1)
    assert release.finding("mine") == math.inf
    assert [one.value for one in release.findings if one.name == "cell loss %"] == [loss]
    assert release.finding("cell loss %") == loss != 9.0


def test_the_findings_of_a_plug_in_method_are_checked_like_those_of_a_measure(tmp_path, monkeypatch, people):
    put(tmp_path, monkeypatch, "counting", METHOD, methods={"whole": "whole"})
    with pytest.raises(shoal.MethodError, match="method 'whole': the `part` of a finding must not contain a number"):
        shoal.anonymize(people, k=5, method="whole")
