"""Pages of explorations and comparisons, on a phone and on paper: nothing is cut off, and everything is legible."""

import pytest
from browsing import opened
from test_diagrams import comparison

from shoal.reports import blocks
from shoal.reports.compare_page import compare_html
from shoal.reports.render import as_html
from shoal.reports.svg import Picture

PHONE, PAPER = 380, 718  # pixels; those of a sheet A4 within its margins
HEADS = "point >k >cell_loss_% >marketer_risk >highest_risk >record_linkage >information_loss_% >class_loss_% "
HEADS += ">2-way_variation_% >classes >seconds front"


def picture(width):
    chart = Picture()
    chart.dot(0, 0, 8, "red")
    chart.dot(width, 90, 8, "red")
    chart.text(0, 90, "a label")
    return blocks.chart("Risk against utility", chart, "how to read it")


def table(heads, count):
    cells = [["univariate-k20-l2", "20", "14.04 [12.39, 15.69]", *["0.08167"] * (len(heads) - 3)]] * count
    return {**blocks.table(heads, cells, "Every point that was released"), "tight": True}


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """A page like that of an exploration, with a wide picture and wide tables."""
    heads = [head.replace("_", " ") for head in HEADS.split()]
    shown = [
        picture(600),
        table(heads[:6], 4),
        blocks.figures([picture(240), picture(320)], "how to read them"),
        table(heads, 30),
        blocks.table([*heads, *heads[2:10]], table([*heads, *heads[2:10]], 3)["rows"]),
    ]
    facts = {"title": "releases compared", "kicker": "some words", "lead": "some more words"}
    made = as_html({**facts, "sections": [blocks.section("points", "Every point", shown)]})
    path = tmp_path_factory.mktemp("explored") / "explore.html"
    path.write_text(made, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The page of a comparison of many methods."""
    names = [f"method_{place}_{'x' * place}" for place in range(12)]
    path = tmp_path_factory.mktemp("compared") / "compare.html"
    path.write_text(compare_html(comparison(count=12, names=names).as_dict()), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["explored", "compared"])
def test_on_a_phone_a_wide_picture_keeps_its_size_and_scrolls(browser, request, kind):
    shown, _, _ = opened(browser, request.getfixturevalue(kind), PHONE, "light")
    sizes = shown.evaluate(
        "[...document.querySelectorAll('.picture svg')].map(one => [+one.getAttribute('width'),"
        " one.getBoundingClientRect().width, one.closest('.picture').clientWidth,"
        " getComputedStyle(one.closest('.picture')).overflowX])"
    )
    assert max(natural for natural, *_ in sizes) > 450
    for natural, seen, frame, overflow in sizes:
        assert seen >= 0.75 * natural
        assert natural >= 400 or seen <= frame
        assert frame <= PHONE
        assert overflow == "auto"
    assert shown.evaluate("document.documentElement.scrollWidth") <= PHONE
    shown.context.close()


@pytest.mark.parametrize("kind", ["explored", "compared"])
def test_on_paper_every_table_fits(browser, request, kind):
    shown, _, _ = opened(browser, request.getfixturevalue(kind), PAPER, "light")
    shown.emulate_media(media="print")
    ends = shown.evaluate("[...document.querySelectorAll('td, th')].map(one => one.getBoundingClientRect().right)")
    assert max(ends) <= PAPER
    assert shown.evaluate("document.documentElement.scrollWidth") <= PAPER
    shown.context.close()


def test_on_paper_collapsed_sections_are_printed_too(browser, reported):
    shown, _, _ = opened(browser, reported.folder / "report.html", PAPER, "light")
    folded = "details:not([open]) td"
    assert not shown.locator(folded).first.evaluate("one => one.checkVisibility({contentVisibilityAuto: true})")
    shown.emulate_media(media="print")
    assert shown.locator(folded).count() > 10
    assert shown.evaluate(f"[...document.querySelectorAll('{folded}')].every(one => one.checkVisibility())")
    assert shown.locator(folded).last.bounding_box()["height"] > 5
    assert shown.evaluate("document.documentElement.scrollWidth") <= PAPER
    shown.context.close()
