"""Reports are one valid file, with no script but our own, and fetch nothing."""

import json
import re
from html.parser import HTMLParser

import pytest
from marked_report import HOSTILE

from shoal.errors import WriteError
from shoal.reports import blocks
from shoal.reports.drawing import draw
from shoal.reports.render import TEMPLATES, as_html, as_markdown

SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'


class Tags(HTMLParser):
    """Records the contents of a page."""

    def __init__(self):
        super().__init__()
        self.seen = []
        self.ids = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]


def parsed(text):
    tags = Tags()
    tags.feed(text)
    return tags


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_the_page_is_valid_html(reported, kind):
    html5lib = pytest.importorskip("html5lib")
    parser = html5lib.HTMLParser(strict=True)
    parser.parse(reported.texts[kind, "html"])
    assert not parser.errors


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_the_page_is_small_complete_and_fetches_nothing(reported, kind):
    text = reported.texts[kind, "html"]
    assert len(text.encode()) < 1_000_000
    tags = parsed(text)
    assert len(set(tags.ids)) == len(tags.ids)
    assert [tag for tag, _ in tags.seen].count("script") == 1
    for tag, attributes in tags.seen:
        assert tag not in ("img", "link", "iframe", "object", "image", "use")
        assert not any(name.startswith("on") or name == "src" for name in attributes)
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/2000/svg)", text)
    safety = next(held["content"] for tag, held in tags.seen if held.get("http-equiv") == "Content-Security-Policy")
    assert safety.startswith("default-src 'none'; script-src 'sha256-")


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_a_hostile_name_is_shown_as_text(reported, kind):
    text = reported.texts[kind, "html"]
    assert HOSTILE not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert HOSTILE not in reported.texts[kind, "md"]


@pytest.mark.parametrize("kind", ["public", "holder"])
def test_every_link_of_the_contents_has_a_target(reported, kind):
    tags = parsed(reported.texts[kind, "html"])
    links = [held["href"][1:] for tag, held in tags.seen if tag == "a"]
    assert len(links) >= 8
    assert set(links) <= set(tags.ids)


def test_the_answer_and_then_the_verdict_come_first(reported):
    text = reported.texts["public", "html"]
    assert text.index("k = 5</b>: holds") < text.index("<nav")
    lines = reported.texts["public", "md"].splitlines()
    heads = [line[: line.index("**:")] for line in lines[4:7]]
    assert heads == ["- **What holds", "- **What is exposed", "- **What to do next"]
    assert lines[8] == "- **k = 5: holds**"


def test_json_contains_the_facts(reported):
    for kind in ("public", "holder"):
        loaded = json.loads(reported.texts[kind, "json"])
        assert loaded["kind"] == kind
        assert loaded["sections"] == json.loads(json.dumps(reported.facts[kind]["sections"]))


def test_markdown_has_every_section_and_the_figures_of_its_pictures(reported):
    text = as_markdown(reported.facts["public"])
    for part in reported.facts["public"]["sections"]:
        assert f"## {part['title']}" in text
    assert "| class size | rows |" in text


def test_markdown_explains_figures_and_not_how_they_are_drawn(reported):
    for kind in ("public", "holder"):
        text = as_markdown(reported.facts[kind])
        assert not re.search(r"\b(bars?|ticks?|blue|orange|darker|pale|dots?)\b", text, re.IGNORECASE)
        assert "How to read it" not in text
        assert "`shoal measure`" in text
        assert "\\`" not in text
    assert "How to read it" in reported.texts["public", "html"]


def test_only_whole_pairs_of_backticks_are_code_in_markdown():
    facts = {"title": "t", "kicker": "k", "lead": "l", "sections": []}
    text = as_markdown({**facts, "head": [blocks.text("run `shoal *x*` or ``a *b* `c")]})
    assert "run `shoal *x*` or \\`\\`a \\*b\\* \\`c" in text


def test_the_shares_of_risk_add_up_to_all_of_it(reported):
    sections = {part["id"]: part for part in reported.facts["public"]["sections"]}
    drawn = [block["picture"] for block in sections["risk"]["blocks"] if block["type"] == "figure"]
    for picture in drawn:
        assert picture["unit"] == "share of the mean risk in %"
        assert sum(picture["values"]) == pytest.approx(100)
    assert drawn


def test_the_script_is_short():
    assert len((TEMPLATES / "tooltip.js").read_text().splitlines()) <= 30


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        '<g onload="alert(1)"/>',
        '<a href="https://example.org"/>',
        '<rect fill="url(https://example.org/x)"/>',
        '<rect style="background: red"/>',
        '<rect fill="url(#inside)"/>',
        "<clipPath/>",
        "<image/>",
        '<x:script xmlns:x="http://www.w3.org/1999/xhtml"/>',
        '<rect id="tip"/>',
    ],
)
def test_a_picture_that_could_run_or_fetch_is_refused(inside):
    with pytest.raises(WriteError, match="run code or load data"):
        as_html(bare({"kind": "svg", "svg": SVG.format(inside)}))


def test_text_of_a_picture_has_the_colour_of_the_page():
    drawn = draw({"kind": "lengths", "labels": ["a"], "values": [1.0], "unit": "u"})
    assert 'fill="currentColor"' in drawn
    assert 'fill="white"' not in drawn


def bare(*pictures):
    """Return the facts of a report with nothing in it but pictures."""
    drawn = [{"type": "figure", "title": "t", "picture": one, "caption": "c."} for one in pictures]
    return {"title": "t", "lead": "", "verdicts": [], "sections": [{"id": "a", "title": "a", "blocks": drawn}]}
