"""Sentences know what their numbers count, also inside longer ones and in other processes."""

import pickle

import pytest

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
    assert [Sentence("{rows}", rows=Rows(rows)).suppressed(1000, 5) for rows in (0, 1000)] == ["0", "1,000"]
    assert Sentence("{share:.1f}% of the rows", share=RowShare(0.2)).suppressed(1000, 5) == "below 0.5% of the rows"
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


@pytest.mark.parametrize("text", ["Ⅲ rows", "½ of the rows", "③ rows", "٣ rows"])
def test_signs_for_numbers_other_than_digits_are_not_shown_either(text):
    assert for_page(text, 1000, 5) == ""


def test_a_subclass_cannot_write_its_numbers_in_its_own_way():
    class Loud(Sentence):
        def suppressed(self, n, k):
            return str(self)

    class Quiet(str):
        __slots__ = ()

        def __iter__(self):
            return iter(())

    loud = Loud("{alone} rows", alone=Rows(3))
    assert for_page(loud, 1000, 5) == ""
    assert for_page(Quiet("3 rows"), 1000, 5) == ""
    assert Sentence("all; {loud}", loud=loud).suppressed(1000, 5) == "all; fewer than 5 rows"


def test_a_negative_number_of_rows_is_treated_as_a_positive_one():
    texts = [Sentence("{rows}", rows=Rows(rows)).suppressed(1000, 5) for rows in (-3, -998, -40)]
    assert texts == ["fewer than 5", "all but fewer than 5", "-40"]


@pytest.mark.parametrize(
    ("share", "wanted"),
    [(0.2, "below 0.5"), (-0.2, "below 0.5"), (0.5, "0.5"), (99.5, "99.5"), (99.8, "above 99.5"), (100.0, "100.0")],
)
def test_a_share_of_rows_is_hidden_if_it_or_the_remainder_is_of_fewer_than_k(share, wanted):
    assert Sentence("{share:.1f}", share=RowShare(share)).suppressed(1000, 5) == wanted


def test_integers_have_separators_of_thousands_unless_another_format_is_given():
    sentence = Sentence("{n} of {all} rows, {year:d}, {share:.1f}", n=Rows(1200), all=98000, year=2024, share=1234.5)
    assert sentence == "1,200 of 98,000 rows, 2024, 1234.5"
    assert sentence.suppressed(98000, 5) == "1,200 of 98,000 rows, 2024, 1234.5"
