"""Reports in a browser: wide and narrow, light and dark; nothing is fetched, nothing overflows, nothing complains."""

import shutil

import pytest

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=[*FLAGS.split(), "--no-first-run"])
        yield opened
        opened.close()


def opened(browser, path, width, scheme, *, script=True):
    """Return a page, what it asked for and what it complained of."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=script,
        reduced_motion="reduce",
    )
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda problem: said.append(str(problem)))
    page.goto(path.as_uri())
    return page, asked, said


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (380, "light"), (380, "dark")])
@pytest.mark.parametrize("kind", ["release", "private"])
def test_a_report_fits_asks_for_nothing_and_is_read_in_light_and_dark(browser, reported, kind, width, scheme):
    path = reported.folder.parent / kind / "report.html"
    page, asked, said = opened(browser, path, width, scheme)
    assert asked == [path.as_uri()]
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('svg text')).fill]"
    )
    bright = [sum(map(int, colour[4:-1].split(",")[:3])) for colour in (ground, ink)]
    assert (bright[0] > bright[1]) == (scheme == "light")
    assert page.locator("section h2").count() >= 8
    page.context.close()


def test_a_mark_says_what_it_is_when_it_is_pointed_at(browser, reported):
    page, _, said = opened(browser, reported.folder / "report.html", 1280, "light")
    mark = page.locator("#classes .picture path[aria-label]").first
    mark.hover()
    page.wait_for_timeout(500)  # the page is still scrolling to it, which hides what is said
    page.mouse.move(0, 0)
    mark.hover()
    page.locator("#tip").wait_for(state="visible")
    assert "rows" in page.locator("#tip").inner_text()
    assert said == []
    page.context.close()


def test_everything_can_be_read_without_the_script(browser, reported):
    page, _, _ = opened(browser, reported.folder / "report.html", 1280, "light", script=False)
    assert page.locator("h1").inner_text()
    assert page.locator(".verdicts li").first.inner_text().startswith("✓")
    page.locator("summary").first.click()
    assert page.locator("details table").first.is_visible()
    page.context.close()
