"""A release in a notebook: verdicts in words and colours, collapsible findings, no scripts."""

import pickle
from dataclasses import replace

import pyarrow as pa
import pytest

import shoal

NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def release():
    table = pa.table({"age": [34, 36, 35, 61, 60, 62], NASTY: ["a", "b", "a", "b", "b", "a"]})
    return shoal.anonymize(table, k=3, l=2, sensitive=[NASTY], method="mdav")


def test_column_names_are_escaped(release):
    page = release._repr_html_()
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_verdicts_have_distinct_words_and_colours(release):
    page = release._repr_html_()
    assert page.count(">holds</span>") == 2
    failed = replace(release, verdicts=tuple(replace(one, holds=False) for one in release.verdicts))._repr_html_()
    assert failed.count(">fails</span>") == 2
    colours = {text.split("background:")[1][:7] for text in (page, failed)}
    assert len(colours) == 2


def test_findings_are_collapsed_and_notes_are_not(release):
    page = replace(release, notes=(f"look at {NASTY}",))._repr_html_()
    assert f"<summary>Findings ({len(release.findings)}), for the data holder</summary>" in page
    assert "<details open><summary>Notes (1)</summary>" in page
    assert "<img" not in page
    assert "6 rows in 2 groups, by mdav, k = 3" in page


def test_what_holds_what_is_exposed_and_what_to_do_come_first(release):
    page = release._repr_html_()
    places = [page.index(text) for text in ("What holds", "What is exposed", "What to do next", "guarantee")]
    assert places == sorted(places)
    assert "<code>shoal.attack(TABLE, release)</code>" in page


def test_a_copy_without_the_original_shows_the_same_lines(release):
    assert pickle.loads(pickle.dumps(release))._repr_html_() == release._repr_html_()


def test_suppressed_rows_are_mentioned(release):
    assert "Left out" not in release._repr_html_()
    assert "Left out: 12 rows with missing values." in replace(release, suppressed=12)._repr_html_()


def test_notes_of_a_release_of_sets_are_shown_too():
    page = shoal.sets.anonymize([["tea", "milk"]] * 9, k=3, neighbour="raw")._repr_html_()
    assert "<summary>Notes (1)</summary>" in page
    assert "tea" not in page
