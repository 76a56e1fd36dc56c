"""Releases of several methods with marked values planted in them, and both of their reports."""

import shutil
from types import SimpleNamespace

import pytest
from marked_report import MARK, K, marked_table

import shoal
from shoal.pipeline.reporting import facts_of
from shoal.pipeline.write import write
from shoal.reports.render import as_html, as_json, as_markdown

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync"
)
WAYS = {
    "mdav": {"label": "sex", "keep": ["kept", "sex"]},
    "cover": {"output": "truthful", "hierarchies": {"town": {"upper": ["north", "east"], "lower": ["south", "west"]}}},
    "k_tca": {},
    "kde": {},
}


@pytest.fixture(scope="session", params=list(WAYS))
def reported(request, tmp_path_factory):
    """A release of one method, its folders, and its two reports in all formats."""
    table = marked_table()
    options = dict(WAYS[request.param])
    if request.param == "cover":  # a tree contains every value
        names = {f"town {place}": [f"{MARK}-town-{place}"] for place in range(3)}
        options["hierarchies"] = {"town": {**options["hierarchies"]["town"], **names}}
    options.setdefault("keep", ["kept"])
    options.setdefault("accept", ["unique-kept"])
    release = shoal.anonymize(table, k=K, method=request.param, identifiers=["person"], sensitive=["ill"], **options)
    place = tmp_path_factory.mktemp(request.param)
    folder, private = place / "release", place / "private"
    write(release, folder, private=private, format="csv", report=True, original=table)
    public = facts_of(None, folder)
    holder = facts_of(table, folder, private=private)
    return SimpleNamespace(
        method=request.param,
        table=table,
        release=release,
        folder=folder,
        private=private,
        facts={"public": public, "holder": holder},
        texts={
            (kind, form): render(facts)
            for kind, facts in (("public", public), ("holder", holder))
            for form, render in (("html", as_html), ("md", as_markdown), ("json", as_json))
        },
    )


@pytest.fixture(scope="session")
def browser():
    """A real browser, without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=[*FLAGS.split(), "--no-first-run"])
        yield opened
        opened.close()
