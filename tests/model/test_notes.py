"""Notes know their topic and what to do about it."""

import pickle

from shoal.model.notes import Note, by_importance


def test_a_note_is_the_text_of_its_two_parts():
    note = Note("a fact.", "A remedy.", "rare")
    assert note == "a fact. A remedy."
    assert Note("a fact.", "", "alone") == "a fact."


def test_a_note_survives_pickling():
    copy = pickle.loads(pickle.dumps(Note("a fact.", "A remedy.", "rare")))
    assert (copy, copy.fact, copy.remedy, copy.topic) == ("a fact. A remedy.", "a fact.", "A remedy.", "rare")


def test_topics_are_sorted_by_importance_and_plain_texts_follow_in_their_order():
    rare, direct = Note("x", "", "rare"), Note("y", "", "identifier")
    assert by_importance(["b", rare, "a", direct]) == (direct, rare, "b", "a")
