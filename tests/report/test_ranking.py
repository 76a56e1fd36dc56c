"""Findings by group, the most telling first."""

import pytest

import shoal
from shoal.model.findings import Finding
from shoal.reports.ranking import grouped


@pytest.fixture(scope="module")
def findings():
    identifiers = ["patient_id", "name"]
    return shoal.anonymize(shoal.sample(100, seed=1), k=4, identifiers=identifiers, seed=1, method="gower").findings


def names(groups):
    return {group: [one.name for one in held] for group, held in groups}


def test_the_findings_of_a_release_are_grouped_and_its_side_figures_come_last(findings):
    groups, hidden = grouped(findings, 10)
    assert hidden == len(findings) - 10
    shown = names(groups)
    assert list(shown) == [group for group in ("risk", "information loss", "classes") if group in shown]
    assert shown["classes"][0] == "classes"
    assert shown["information loss"][:2] == ["cell loss %", "class loss %"]
    assert "partition SSE" not in shown["information loss"]


def test_all_findings_are_shown_if_no_number_is_given(findings):
    groups, hidden = grouped(findings)
    assert hidden == 0
    assert sorted(one for held in names(groups).values() for one in held) == sorted(one.name for one in findings)


def test_a_finding_of_an_attack_is_a_risk_and_one_of_a_method_is_listed_last():
    found = [
        Finding("gap %", 1.0, "", "groups"),
        Finding("cell loss %", 2.0, "", "pair"),
        Finding("minimality", 0.5, "", "groups", part="excess"),
    ]
    assert names(grouped(found)[0]) == {"risk": ["minimality, excess"], "information loss": ["cell loss %", "gap %"]}
    assert names(grouped(found, 2)[0]) == {"risk": ["minimality, excess"], "information loss": ["cell loss %"]}
