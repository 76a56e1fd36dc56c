"""Sentences know what their numbers count, also inside longer ones and in other processes."""

import pickle

from shoal.model.sentences import Rows, RowShare, Sentence, for_page

ALONE = Sentence("{alone:,} of {n:,} rows", alone=Rows(3), n=1000)


def test_a_sentence_is_its_text():
    assert ALONE == "3 of 1,000 rows"
    assert f"{ALONE}." == "3 of 1,000 rows."
    assert ALONE[:1] == "3"


def test_numbers_of_fewer_than_k_rows_are_left_out_and_others_stay():
    assert ALONE.suppressed(1000, 5) == "fewer than 5 of 1,000 rows"
    assert ALONE.suppressed(1000, 2) == "3 of 1,000 rows"
    assert Sentence("{rows}", rows=Rows(998)).suppressed(1000, 5) == "all but fewer than 5"
    assert [Sentence("{rows}", rows=Rows(rows)).suppressed(1000, 5) for rows in (0, 1000)] == ["0", "1000"]
    assert Sentence("{share:.1f} % of the rows", share=RowShare(0.2)).suppressed(1000, 5) == "below 0.5 % of the rows"
    assert Sentence("{classes} classes", classes=3).suppressed(1000, 5) == "3 classes"


def test_joined_sentences_keep_what_their_numbers_count():
    longer = Sentence("by hand; {alone}", alone=ALONE) + "; mean over rows"
    assert longer == "by hand; 3 of 1,000 rows; mean over rows"
    assert longer.suppressed(1000, 5) == "by hand; fewer than 5 of 1,000 rows; mean over rows"
    joined = Sentence.joined([ALONE, "read backwards"])
    assert joined.suppressed(1000, 5) == "fewer than 5 of 1,000 rows; read backwards"
    assert Sentence.joined([]) == ""


def test_braces_in_values_are_kept():
    sentence = Sentence("column {name!r}: {alone}", name="{a}", alone=ALONE)
    assert sentence.suppressed(1000, 5) == "column '{a}': fewer than 5 of 1,000 rows"


def test_a_sentence_can_be_pickled():
    again = pickle.loads(pickle.dumps(Sentence("{alone}; {b}", alone=ALONE, b="{x}")))
    assert again == "3 of 1,000 rows; {x}"
    assert again.suppressed(1000, 5) == "fewer than 5 of 1,000 rows; {x}"


def test_plain_text_with_a_number_of_unknown_kind_is_not_shown():
    assert for_page("3 records of the file have it", 1000, 5) == ""
    assert for_page("the mean of all cells", 1000, 5) == "the mean of all cells"
    assert for_page(ALONE, 1000, 5) == "fewer than 5 of 1,000 rows"
