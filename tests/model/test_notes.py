"""Notes: texts with a kind that programs can test."""

import copy
import json
import pickle
import re
from pathlib import Path

import pytest

import shoal
from shoal.errors import PolicyError
from shoal.model.notes import FIRST, KINDS, Note, as_note, by_importance, known_kinds, text_of
from shoal.model.sentences import Rows, Sentence

ROOT = Path(__file__).parent.parent.parent


def test_a_note_is_its_text_and_keeps_its_kind_in_copies():
    note = Note("one-class", "all rows are in one class.", "Lower k.")
    assert note == "all rows are in one class. Lower k."
    assert Note("one-class", "all rows are in one class.") == "all rows are in one class."
    for other in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
        assert (other, other.kind, other.remedy) == (note, "one-class", "Lower k.")
    assert json.loads(json.dumps([note, note.as_dict()])) == [str(note), {"kind": "one-class", "text": str(note)}]


def test_a_note_of_an_unknown_kind_cannot_be_made():
    with pytest.raises(ValueError, match="unknown kind of note: odd"):
        Note("odd", "text")


def test_numbers_of_few_rows_are_suppressed_and_the_kind_is_kept():
    note = Note("cells-emptied", Sentence("{cells} of {n} cells.", cells=Rows(3), n=100), "Merge.").suppressed(100, 5)
    assert (note, note.kind, note.remedy) == ("fewer than 5 of 100 cells. Merge.", "cells-emptied", "Merge.")
    assert Note("medoids", "3 rows").suppressed(100, 5) == "3 rows"


def test_the_most_important_kinds_come_first_and_others_stay_in_their_order():
    assert set(FIRST) <= set(KINDS)
    rare, direct = Note("rare-values", "x"), Note("published-identifier", "y")
    b, a = Note("method", "b"), Note("reading", "a")
    assert by_importance([b, rare, a, direct]) == (direct, rare, b, a)


def test_plain_texts_of_methods_become_notes():
    assert as_note("two views").kind == "method"
    assert as_note(Note("auto-choice", "auto: mdav")).kind == "auto-choice"


def test_stored_notes_are_read_with_and_without_a_kind():
    assert text_of(Note("medoids", "rows").as_dict()) == text_of("rows") == "rows"


def test_an_unknown_kind_given_as_an_option_is_refused_with_a_suggestion():
    assert known_kinds(["minimality"], "anonymize", "strict_notes") == {"minimality"}
    assert known_kinds("minimality", "anonymize", "strict_notes") == {"minimality"}
    with pytest.raises(PolicyError, match=r"unknown kind of note 'minimalty'. Known: .* Did you mean 'minimality'\?"):
        known_kinds(["minimalty"], "anonymize", "strict_notes")


def test_every_kind_is_used_by_the_code_and_explained_in_the_docs():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "shoal").rglob("*.py"))
    page = (ROOT / "docs" / "pipelines.md").read_text(encoding="utf-8")
    for kind, meaning in KINDS.items():
        assert code.count(f'"{kind}"') > 1, kind
        assert f"| `{kind}` | {meaning} |" in page, kind
    listed = re.findall(r"^\| `([a-z-]+)` \| ", page.partition("## Kinds of notes")[2].partition("\n## ")[0], re.M)
    assert listed == sorted(KINDS)


def test_the_notes_of_a_release_have_kinds():
    people = shoal.sample(60, seed=1)
    release = shoal.anonymize(people, k=3, l=2, sensitive=["diagnosis"], seed=1)
    kinds = {note.kind for note in release.notes}
    assert {"auto-choice", "direct-identifier", "minimality"} <= kinds
    assert {note.kind for note in release.notes if note.startswith("auto: ")} == {"auto-choice"}
    assert {note.kind for note in release.notes if "IS DROPPED" in note} == {"direct-identifier"}
