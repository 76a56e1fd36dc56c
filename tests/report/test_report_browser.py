"""Reports in a browser: wide and narrow, light and dark; nothing is fetched, nothing overflows, nothing is logged."""

import pytest
from browsing import opened


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (380, "light"), (380, "dark")])
@pytest.mark.parametrize("kind", ["release", "private"])
def test_a_report_fits_makes_no_requests_and_is_legible_in_light_and_dark(browser, reported, kind, width, scheme):
    path = reported.folder.parent / kind / "report.html"
    page, asked, logged = opened(browser, path, width, scheme)
    assert asked == [path.as_uri()]
    assert logged == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('svg text')).fill]"
    )
    bright = [sum(map(int, colour[4:-1].split(",")[:3])) for colour in (ground, ink)]
    assert (bright[0] > bright[1]) == (scheme == "light")
    assert page.locator("section h2").count() >= 8
    page.context.close()


def test_a_mark_shows_a_tooltip(browser, reported):
    page, _, logged = opened(browser, reported.folder / "report.html", 1280, "light")
    mark = page.locator("#classes .picture rect[aria-label]").first
    mark.hover()
    page.wait_for_timeout(500)  # the page is still scrolling to it, which hides the tooltip
    page.mouse.move(0, 0)
    mark.hover()
    page.locator("#tip").wait_for(state="visible")
    assert "rows" in page.locator("#tip").inner_text()
    assert logged == []
    page.context.close()


def test_everything_can_be_read_without_the_script(browser, reported):
    page, _, _ = opened(browser, reported.folder / "report.html", 1280, "light", script=False)
    assert page.locator("h1").inner_text()
    assert page.locator(".verdicts li").first.inner_text().startswith("✓")
    page.locator("summary").first.click()
    assert page.locator("details table").first.is_visible()
    page.context.close()
