"""Charts: any name can be drawn; in notebooks they are interactive, also several on one page; nothing is fetched."""

import html
import json
from xml.etree import ElementTree

import altair as alt
import pytest
from browsing import opened
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.reports.charts import moving, plain, rows, svg

FACE = "\U0001f600"
NO_SIGNS = ["\x00", "\x01", "\x0b", "\x1f", "\x7f", "\x85", "\ud83d", "\ude00", "\ufdd0", "\uffff", "\U0001fffe"]


def chart():
    return alt.Chart(rows(a=[1, 2], b=[3, 4])).mark_point().encode(x="a:Q", y="b:Q").interactive()


def named(*names, limit=150):
    """Return a bar for each name; the first is also the title of the chart and of the axis."""
    bars = alt.Chart(rows(name=names, value=range(1, len(names) + 1)), title=names[0]).mark_bar()
    y = alt.Y("name:N", sort=None, scale=alt.Scale(domain=list(names)), axis=alt.Axis(labelLimit=limit, title=names[0]))
    return bars.encode(y=y, x="value:Q", description="name:N")


def texts_of(picture):
    """Return every text of a picture, and every description."""
    parts = list(ElementTree.fromstring(picture).iter())
    texts = [part.text for part in parts if part.tag.endswith("}text") and part.text]
    return texts, [part.get("aria-label") for part in parts if part.get("aria-roledescription") == "bar"]


@pytest.mark.slow
@pytest.mark.parametrize("sign", NO_SIGNS, ids=ascii)
def test_control_characters_are_drawn_as_stand_ins_in_any_position(sign):
    texts, descriptions = texts_of(svg(named(f"as{sign}thma", "flu")))
    assert texts.count("as\ufffdthma") == 3
    assert descriptions == ["as\ufffdthma", "flu"]


def test_names_that_differ_in_control_characters_have_separate_bars():
    texts, descriptions = texts_of(svg(named("a\x01b", "a\x02b", "a\ufffdb")))
    assert descriptions == ["a\ufffdb"] * 3
    assert texts.count("a\ufffdb") == 5


@pytest.mark.slow
@pytest.mark.parametrize("limit", range(20, 180, 13))
def test_a_name_of_emoji_is_never_cut_inside_an_emoji(limit):
    texts, descriptions = texts_of(svg(named(FACE * 25, f"a{FACE * 9}", limit=limit)))
    assert descriptions == [FACE * 25, f"a{FACE * 9}"]
    cut = [text for text in texts if text.endswith("…")]
    assert cut
    assert all(set(text) <= {"a", FACE, "…"} for text in cut)


def test_private_use_characters_and_wide_spaces_stay_unchanged():
    name = f"\ue000\u2003{FACE}\u2003\ue001\uf8ff"
    texts, descriptions = texts_of(svg(named(name, "\ue000")))
    assert texts.count(name) == 3
    assert descriptions == [name, "\ue000"]


@pytest.mark.slow
def test_more_characters_than_stand_ins_are_still_drawn():
    many = "".join(chr(0x20000 + place) for place in range(7000))
    _, (description,) = texts_of(svg(named(many)))
    assert description.rstrip("\ufffd") == many[:6400]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(), min_size=1, max_size=40))
def test_any_name_at_all_can_be_drawn(name):
    picture = svg(named(name, "flu", limit=60))
    ElementTree.fromstring(picture)
    assert plain(picture) == picture


@pytest.mark.slow
def test_no_name_ends_the_process_or_the_script_of_an_interactive_chart():
    made = moving(named("as\x01thma\ud800", "</script><script>alert(1)</script>"))
    for one in (made, made.properties(width=100)):
        spec = json.dumps(one.to_dict(), ensure_ascii=False)
        assert spec.count("as\ufffdthma\ufffd") == 4
        assert "thma\ud800" not in spec
    page = html.unescape(made._repr_mimebundle_()["text/html"])
    assert "<script>alert(1)" not in page
    assert "\\u003c/script>" in page


def test_two_charts_on_one_page_are_drawn_without_requests(browser, tmp_path):
    path = tmp_path / "notebook.html"
    shown = [moving(chart())._repr_mimebundle_()["text/html"] for _ in range(2)]
    path.write_text(f"<!doctype html><title>notebook</title>{''.join(shown)}", encoding="utf-8")
    page, asked, logged = opened(browser, path, 1280, "light")
    for number in range(2):
        frame = page.frame_locator("iframe").nth(number)
        frame.locator("canvas, svg").first.wait_for(state="visible")
    assert [url for url in asked if url != "about:srcdoc"] == [path.as_uri()]
    assert logged == []
    page.context.close()


@pytest.mark.slow
def test_it_is_still_an_altair_chart():
    made = moving(chart())
    assert isinstance(made, alt.Chart)
    assert "text/html" in made.properties(width=100)._repr_mimebundle_()
    assert made.to_dict()["config"]["background"] == "transparent"
