"""SVG: a picture holds everything drawn in it, any text can be drawn, and text is cut by its width."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.reports.axes import Scale, dates_between, labels_of, round_numbers, rounded_out
from shoal.reports.svg import EDGE, SHAPES, Picture, cut, number, plain, width

NOT_CHARACTERS = ["\x00", "\x01", "\x0b", "\x1f", "\x7f", "\x85", "\ud83d", "\ude00", "\ufdd0", "\uffff", "\U0001fffe"]
FACE = "\U0001f600"
NUMBERS = st.floats(-1e6, 1e6)


@pytest.mark.parametrize("sign", NOT_CHARACTERS, ids=ascii)
def test_what_is_no_character_is_shown_as_a_replacement_character(sign):
    drawn = Picture()
    drawn.text(0, 0, f"as{sign}thma", description=f"as{sign}thma")
    [text] = [part for part in ElementTree.fromstring(drawn.svg()) if part.tag.endswith("}text")]
    assert text.text == text.get("aria-label") == "as\ufffdthma"


@settings(max_examples=200)
@given(st.text(st.characters(), max_size=40))
def test_any_text_can_be_drawn(words):
    drawn = Picture()
    drawn.text(0, 0, words, description=words)
    drawn.dot(0, 0, 4, "red", description=words)
    picture = drawn.svg()
    ElementTree.fromstring(picture)
    assert plain(picture) == picture


def test_a_description_cannot_end_its_attribute():
    drawn = Picture()
    drawn.rectangle(0, 0, 1, 1, "red", description='"><script>alert(1)</script>')
    [mark] = ElementTree.fromstring(drawn.svg())
    assert mark.get("aria-label") == '"><script>alert(1)</script>'


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=9))
def test_a_picture_is_as_large_as_what_is_drawn(points):
    drawn = Picture()
    drawn.line(points)
    _, _, wide, tall = map(float, re.search(r'viewBox="([^"]*)"', drawn.svg())[1].split())
    for size, side in zip((wide, tall), zip(*points, strict=True), strict=True):
        assert max(side) - min(side) + 2 * EDGE <= size <= max(side) - min(side) + 2 * EDGE + 1.01


def test_turned_text_takes_as_much_height_as_it_is_wide():
    drawn = Picture()
    drawn.text(0, 0, "m" * 20, turned=-90)
    assert drawn.size[1] == pytest.approx(width("m" * 20) + 2 * EDGE, abs=1)
    assert drawn.size[0] < 25


def test_a_picture_within_another_is_moved():
    inner, outer = Picture(), Picture()
    inner.rectangle(0, 0, 10, 10, "red")
    outer.place(inner, 100, 50, group="one & two")
    [group] = ElementTree.fromstring(outer.svg())
    assert (group.get("transform"), group.get("data-group")) == ("translate(100,50)", "one & two")
    assert (outer.right, outer.bottom) == (110, 60)


def test_an_empty_picture_is_valid():
    outer = Picture()
    outer.place(Picture(), 9, 9)
    ElementTree.fromstring(outer.svg())


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_drawn_within_its_width(shape):
    drawn = Picture()
    drawn.dot(50, 50, 10, "red", shape=shape, description="one")
    [mark] = ElementTree.fromstring(drawn.svg())
    if shape != "circle":
        places = [float(one) for one in re.findall(r"[-\d.]+", mark.get("d"))]
        assert all(44 <= one <= 56 for one in places)


@pytest.mark.parametrize("limit", range(20, 180, 13))
def test_a_name_is_cut_to_its_width_and_never_inside_an_emoji(limit):
    for name in (FACE * 25, f"a{FACE * 9}", "W" * 40, "i" * 90, "日本" * 20):
        shown = cut(name, limit)
        assert width(shown) <= limit or shown == "…"
        assert shown == name or (shown.endswith("…") and name.startswith(shown[:-1]))
    assert cut("short", 150) == "short"


def test_wide_letters_are_wider():
    assert width("i") < width("e") < width("W") < 2 * width("日")
    assert width("e\u0301") == width("e")


@given(NUMBERS, st.floats(1e-3, 1e6), st.integers(2, 9))
def test_ticks_are_round_within_the_ends_and_about_as_many_as_asked(low, span, count):
    high = low + span
    ticks = round_numbers(low, high, count)
    assert 1 <= len(ticks) <= 2.1 * count + 1
    assert all(low - 1e-6 * span <= one <= high + 1e-6 * span for one in ticks)
    assert sorted(set(ticks)) == ticks
    start, end = rounded_out(low, high, count)
    assert start <= low + 1e-6 * span
    assert end >= high - 1e-6 * span
    assert len(set(labels_of(ticks))) == len(ticks)


def test_labels_have_as_many_digits_as_needed():
    assert labels_of([0.0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert labels_of([-2000.0, 0.0, 2000.0]) == ["-2,000", "0", "2,000"]
    assert labels_of([1e9, 2e9]) == ["1e+09", "2e+09"]


def test_scales_reach_from_end_to_end_even_near_the_limits_of_floats():
    for low, high in ((0.0, 1.0), (5.0, -5.0), (-1.7e308, 1.7e308)):
        scale = Scale(low, high, 10, 110)
        assert (scale(low), scale(high)) == (10, 110)
        assert scale(low / 2 + high / 2) == pytest.approx(60)
    assert Scale(3.0, 3.0, 0, 100)(3.0) == 50


@given(st.integers(-700_000, 2_900_000), st.integers(2, 900_000), st.integers(3, 8))
def test_days_years_and_months_are_within_the_ends(low, span, count):
    places, labels = dates_between(low, low + span, count)
    assert all(low <= place <= low + span for place in places)
    assert len(set(labels)) == len(labels) <= 3 * count + 2


def test_positions_have_two_decimals_at_most():
    assert [number(one) for one in (1.005, -0.0001, 2.0, -3.456)] == ["1", "0", "2", "-3.46"]
