"""Charts in notebooks: several on one page, marks that describe themselves, a highlight, and no requests."""

import html
from xml.etree import ElementTree

from browsing import opened

from shoal.reports.interactive import Chart
from shoal.reports.svg import Picture


def chart(*names):
    drawn = Picture()
    for place, name in enumerate(names):
        own = Picture()
        own.dot(20 + 40 * place, 20, 20, "#2a6f9e", description=f"{name}; 7 rows")
        drawn.place(own, group=name)
    return Chart(drawn)


def test_no_name_ends_the_frame_or_runs():
    shown = chart("</script><script>alert(1)</script>", '"><img src=x>')._repr_html_()
    assert shown.count("<iframe") == 1
    assert "<img" not in html.unescape(shown).replace("&lt;img", "")
    assert html.unescape(html.unescape(shown)).count("<script>alert(1)") == 2  # as text, in a label and in a group
    assert "<script>alert(1)" not in html.unescape(shown)


def test_a_saved_chart_is_an_svg_for_light_and_dark_screens(tmp_path):
    path = chart("a").save(tmp_path / "chart.svg")
    assert "prefers-color-scheme:dark" in path.read_text()
    ElementTree.fromstring(path.read_text())


def test_two_charts_on_one_page_respond_to_the_pointer_without_requests(browser, tmp_path):
    path = tmp_path / "notebook.html"
    shown = [chart("mdav", "kde")._repr_html_() for _ in range(2)]
    path.write_text(f"<!doctype html><title>notebook</title>{''.join(shown)}", encoding="utf-8")
    page, asked, logged = opened(browser, path, 1280, "light")
    for number in range(2):
        frame = page.frame_locator("iframe").nth(number)
        frame.locator("[aria-label='mdav; 7 rows']").hover()
        assert frame.locator("#tip").inner_text() == "mdav\n7 rows"
        frame.locator("[data-group=mdav]").click()
        assert frame.locator("[data-group=kde]").get_attribute("class") == "faint"
        frame.locator("svg").click(position={"x": 1, "y": 1})
        assert frame.locator("[data-group=kde]").get_attribute("class") == ""
    assert [url for url in asked if url != "about:srcdoc"] == [path.as_uri()]
    assert logged == []
    page.context.close()
