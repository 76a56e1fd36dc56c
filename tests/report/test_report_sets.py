"""Reports of a set-valued release: no item is named, no few records are counted, and pictures are read in a browser."""

import json
import re
import shutil
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import opened
from marked_report import MARK

from shoal import sets
from shoal.errors import GuaranteeError
from shoal.pipeline.set_report import report as set_report
from shoal.pipeline.set_report import set_page
from shoal.reports.render import as_html, as_json, as_markdown

K, N = 4, 500
FORMS = {"html": as_html, "md": as_markdown, "json": as_json}
KINDS = [(kind, form) for kind in ("public", "holder") for form in FORMS]


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A release whose items are all marked, and both of its reports."""
    rng = np.random.default_rng(5)
    weights = 1 / np.arange(1, 41)
    lengths = 1 + rng.poisson(2, N)
    records = [
        [f"{MARK}-{item}" for item in rng.choice(40, length, replace=False, p=weights / weights.sum())]
        for length in lengths
    ]
    records[3].append(f"<img src=x onerror={MARK}>")
    folder = tmp_path_factory.mktemp("sets") / "release"
    sets.anonymize(records, k=K, m=2, seed=2).save(folder)
    figures = set_report(records, folder, top=10, draws=1)
    facts = {"public": set_page(folder), "holder": set_page(folder, figures)}
    texts = {(kind, form): FORMS[form](facts[kind]) for kind, form in KINDS}
    return SimpleNamespace(records=records, folder=folder, figures=figures, facts=facts, texts=texts)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "form"), KINDS)
def test_no_item_is_named(reported, kind, form):
    assert MARK not in reported.texts[kind, form]


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_the_page_is_valid_small_and_fetches_nothing(reported, kind):
    html5lib = pytest.importorskip("html5lib", reason="html5lib is not installed")
    text = reported.texts[kind, "html"]
    strict = html5lib.HTMLParser(strict=True)
    strict.parse(text)
    assert len(text) < 1_000_000
    links = []

    class Links(HTMLParser):
        def handle_starttag(self, tag, attrs):
            links.extend(value for name, value in attrs if name in ("src", "href") and value)

    Links().feed(text)
    assert all(link.startswith("#") for link in links)


def test_the_holder_reads_every_figure_of_the_report_command(reported):
    shown = json.loads(reported.texts["holder", "json"])
    titles = [section["title"] for section in shown["sections"]]
    for title in (
        "Utility",
        "Which items occur together",
        "What analysts find in a neighbour",
        "What is risky in a neighbour",
        "How far the data have moved",
    ):
        assert title in titles
    cells = {cell for section in shown["sections"] for block in section["blocks"] for cell in rows_of(block)}
    for figures in (reported.figures["Risk of the km neighbour"], reported.figures["Neighbours, raw: pairs"]):
        for name, value in figures.items():
            assert name in cells
            if isinstance(value, int) and not isinstance(value, bool):
                assert f"{value:,}" in cells
    assert ">Utility<" not in reported.texts["public", "html"]


def rows_of(block):
    """Return the cells of a table."""
    return [cell for row in block.get("rows", ()) for cell in row] if block["type"] == "table" else []


def test_records_are_counted_before_and_after_and_never_fewer_than_k(reported):
    before, after = (reported.figures[f"Records by their items, {when}"] for when in ("before", "after"))
    assert list(before) == list(after)
    assert sum(before.values()) == sum(after.values()) == N
    assert all(count == 0 or count >= K for counts in (before, after) for count in counts.values())
    single = sum(len(set(record)) == 1 for record in reported.records)
    assert before["1 item"] == single
    assert re.fullmatch(r"[\d,]+ or more items", list(before)[-1])
    assert not any(" up to " in name for name in before)


def test_items_are_counted_by_their_records(reported):
    before, after = (reported.figures[f"Items by their records, {when}"] for when in ("before", "after"))
    supports = {
        item: sum(item in record for record in reported.records) for record in reported.records for item in record
    }
    assert sum(before.values()) == len(supports)
    assert sum(after.values()) <= len(supports)
    assert before["fewer than 5 records"] == sum(support < 5 for support in supports.values())


@pytest.mark.parametrize("damage", ["subrecords.parquet", "neighbour.dat", "extra", "gone"])
def test_a_folder_that_does_not_hold_what_it_claims_has_no_report(reported, tmp_path, damage):
    folder = shutil.copytree(reported.folder, tmp_path / "release")
    if damage == "gone":
        (folder / "neighbour.dat").unlink()
    else:
        with (folder / damage).open("ab") as file:
            file.write(b"x y\n")
    with pytest.raises(GuaranteeError, match="does not pass verification"):
        set_page(folder)


def test_the_published_neighbour_is_the_one_that_is_measured(reported):
    assert reported.figures["Where neighbours come from"] == {"raw": "drawn for this report", "km": "as published"}
    lines = (reported.folder / "neighbour.dat").read_text().splitlines()
    after = reported.figures["Records by their items, after"]
    assert after["1 item"] == sum(len(line.split()) == 1 for line in lines)
    assert "The km neighbour is as published." in reported.texts["holder", "html"]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (380, "light"), (380, "dark")])
@pytest.mark.parametrize("kind", ["public", "holder"])
def test_it_fits_and_asks_for_nothing_in_a_browser(browser, reported, tmp_path, kind, width, scheme):
    path = tmp_path / "report.html"
    path.write_text(reported.texts[kind, "html"], encoding="utf-8")
    page, asked, logged = opened(browser, path, width, scheme)
    assert asked == [path.as_uri()]
    assert logged == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".picture svg").count() >= (3 if kind == "public" else 6)
    page.context.close()
