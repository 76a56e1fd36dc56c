"""What both kinds of report contain, and what they never contain."""

import json
import math
import re

import pyarrow as pa
import pytest
from marked_report import EXTREMES, MARK, K, N

import shoal
from shoal.pipeline.judging import case_of
from shoal.reports import blocks
from shoal.reports.holder import holder_facts

SECTIONS = ["done", "guarantees", "classes", "risk", "columns", "limits", "verify", "figures"]


def walk(part):
    """Return every dictionary inside some facts."""
    if isinstance(part, dict):
        yield part
        for inner in part.values():
            yield from walk(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from walk(inner)


def numbers(text):
    """Return the integers in a cell of a table."""
    return [int(one.replace(",", "")) for one in re.findall(r"(?<![\d.])\d[\d,]*(?![\d.]*\d)", text)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["public", "holder"])
def test_no_marked_value_is_in_any_report(reported, kind):
    spellings = {form for value in EXTREMES for form in (f"{value:,}", f"{value}")}
    spellings |= {f"{int(value):,}" for value in EXTREMES if value > 1} | {
        f"{int(value)}" for value in EXTREMES if value > 1
    }
    for form in ("html", "md", "json"):
        text = reported.texts[kind, form]
        assert MARK not in text
        for spelling in spellings:
            assert spelling not in text, (form, spelling)
    for name in ("release", "private"):
        written = (reported.folder.parent / name / "report.html").read_text(encoding="utf-8")
        assert MARK not in written
        assert not any(spelling in written for spelling in spellings)


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_no_axis_reaches_an_extreme(reported, kind):
    for picture in walk(reported.facts[kind]):
        if picture.get("kind") == "steps" and not picture["dates"]:
            # Ranges end at round numbers beyond the extremes, which the release shows, too.
            assert not {abs(limit) for limit in picture["limits"]} & {*EXTREMES}
            assert reported.release.policy.method.name == "cover" or all(
                abs(limit) < 30_000 for limit in picture["limits"]
            )


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_every_number_of_rows_is_0_or_at_least_k(reported, kind):
    seen = 0
    for part in walk(reported.facts[kind]):
        for key in ("after", "before", "missing", "rows"):
            held = part.get(key)
            flat = held if isinstance(held, list) else []
            flat = [one for row in flat for one in (row if isinstance(row, list) else [row])]
            for rows in flat:
                if isinstance(rows, int | float):
                    seen += 1
                    assert rows == 0 or rows >= K, (key, rows)
        if part.get("type") == "table":
            for place, head in enumerate(part["heads"]):
                if re.search(r"rows|cells|filled|emptied", head):
                    for row in part["rows"]:
                        found = numbers(row[place].replace(f"fewer than {K}", ""))
                        assert all(one == 0 or K <= one <= N - K or one == N for one in found), (head, row)
                        seen += 1
    assert seen > 20


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_sentences_mention_no_rows_or_at_least_k(reported, kind):
    parts = list(walk(reported.facts[kind]))
    words = [part[key] for part in parts for key in ("how", "text", "caption", "lead", "more") if key in part]
    words += [cell for part in parts if part.get("type") == "table" for row in part["rows"] for cell in row[1:]]
    words += [line for part in parts if part.get("type") == "list" for line in part["items"]]
    words += [line for _, line in reported.facts[kind]["answer"]]
    for text in words:
        for found in re.findall(r"(?<![\d.,=])(\d+) (?:of [\d,]+ )?(?:rows|cells)\b", text):
            assert int(found) == 0 or int(found) >= K or f"fewer than {found}" in text, text


def test_the_public_report_is_made_from_the_release_alone(reported):
    facts = reported.facts["public"]
    assert {finding["need"] for finding in facts["findings"]} == {"release"}
    assert [part["id"] for part in facts["sections"]] == SECTIONS
    assert facts["holds"]
    assert facts["verdicts"][0]["constraint"] == f"k = {K}"
    for verdict in facts["verdicts"]:
        assert verdict["claimed"] == verdict["found"]


@pytest.mark.slow
def test_the_report_in_the_release_can_be_made_again_by_anyone(reported):
    written = (reported.folder / "report.html").read_text(encoding="utf-8")
    assert written == reported.texts["public", "html"]
    assert shoal.verify(reported.folder).holds


def test_the_holders_report_compares_before_and_after(reported):
    facts = reported.facts["holder"]
    ids = [part["id"] for part in facts["sections"]]
    assert {"worth", "columns", "changes"} <= set(ids)
    both = [part for part in walk(facts) if part.get("kind") in ("steps", "bars") and part["before"] is not None]
    assert len(both) >= 3
    pictured = {"k_tca": "method", "kde": "method", "mdav": "plane"}
    assert pictured.get(reported.method, "columns") in ids
    if reported.method == "mdav":
        names = [one["name"] for one in facts["findings"]]
        lines = next(part["blocks"] for part in facts["sections"] if part["id"] == "worth")
        measured = [row[0] for block in lines if block["type"] == "table" for row in block["rows"]]
        assert measured[:2] == ["honest separability %", "separability as published %"]
        assert "honest accuracy %" in names
        assert "correlations" in ids


@pytest.mark.slow
def test_figures_equal_those_of_measure(reported):
    found = shoal.measure(reported.table, reported.folder, private=reported.private)
    findings = reported.facts["holder"]["findings"]
    if any(0 < change.changed < K for change in reported.release.ledger):
        sums = ("minimal distortion", "cells changed %", "mean squared error of the adversary")
        shown = {one["name"] for one in findings}
        assert all(one.name in shown or one.name.startswith(sums) for one in found)
        found = [one for one in found if one.name in shown]
    assert [one["name"] for one in findings] == [one.name for one in found]
    for one, finding in zip(findings, found, strict=True):
        if one["value"] is not None:
            assert one["value"] == finding.value
            assert one["interval"] == finding.interval
        else:
            assert math.isinf(finding.value) or one["shown"].startswith(("fewer", "below", "above"))
    alone = shoal.measure(None, reported.folder)
    public = reported.facts["public"]["findings"]
    assert [(one["name"], one["value"]) for one in public if one["value"] is not None] == [
        (one.name, one.value)
        for one in alone
        if math.isfinite(one.value) and one.name in {line["name"] for line in public if line["value"] is not None}
    ]


def test_every_figure_has_an_explanation(reported):
    for kind in ("public", "holder"):
        drawn = [part for part in walk(reported.facts[kind]) if part.get("type") == "figure"]
        assert drawn
        assert all(part["caption"].endswith(".") for part in drawn)


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_every_finding_says_how_it_was_computed(reported, kind):
    assert [one["name"] for one in reported.facts[kind]["findings"] if not one["how"]] == []


def test_more_sections_can_be_added():
    table = pa.table({"age": [34, 36, 35, 61, 60, 62], "ill": ["a", "b", "a", "b", "b", "a"]})
    release = shoal.anonymize(table, k=3, sensitive=["ill"])
    case = case_of(table, release)
    own = blocks.section("chunks", "Chunks", [blocks.text("Three."), None])
    facts = holder_facts(case, release.verdicts, release.findings, sections=[own])
    assert own in facts["sections"]


@pytest.mark.parametrize("accept", [(), ("unique-kept",)])
def test_accepted_unique_rows_are_mentioned_first(accept):
    table = pa.table(
        {"age": [20, 21, 22, 40, 41, 42] * 5, "cost": [float(row // (1 if accept else 6)) for row in range(30)]}
    )
    release = shoal.anonymize(table, k=3, sensitive=["cost"], accept=accept, seed=1)
    done = json.loads(release.report(format="json"))["sections"][0]
    notes = [block["text"] for block in done["blocks"] if block["type"] == "note"]
    assert [text.startswith("The data holder accepted that many rows are unique") for text in notes] == [True] * len(
        accept
    )


def test_protection_from_minimality_is_mentioned():
    table = pa.table({"age": list(range(40)), "ill": ["a", "b"] * 20})
    notes = [
        shoal.anonymize(table, k=3, l=2, sensitive=["ill"], protect=protect, seed=1).report(format="md")
        for protect in (None, "minimality")
    ]
    assert ["asks for protection from minimality" in text for text in notes] == [False, True]


@pytest.mark.parametrize("cells", [[["a"], ["b"], ["a", "b"]] * 10, [b"a", b"\xff", b"b"] * 10])
def test_sensitive_lists_and_bytes_have_a_report(cells):
    table = pa.table({"age": [20, 21, 22, 40, 41, 42] * 5, "ill": cells})
    release = shoal.anonymize(table, k=3, l=2, sensitive=["ill"], seed=1)
    assert "k = 3" in release.report(format="md")
