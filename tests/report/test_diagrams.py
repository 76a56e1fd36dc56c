"""The critical-difference diagram and the page of a comparison: positions, wording, and no scripts."""

import itertools
import os
import re
import stat
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from browsing import opened

from shoal.errors import WriteError
from shoal.exploration.comparison import LeftOut, Measured, MethodComparison, Set
from shoal.reports.diagrams import critical_words, diagram, figure_chart
from shoal.reports.interactive import standing_alone
from shoal.utility.rank_tests import compare

NASTY = "<img src=x onerror=alert(1)>|*[a](javascript:b)"
VOID = {"meta", "br", "img", "link", "hr", "input"}


def comparison(count=6, sets=9, seeds=3, gap=0.6, names=None, left_out=(), higher=True):
    rng = np.random.default_rng(count * 100 + sets)
    values = 70 + gap * np.arange(count)[:, None, None] + 0.6 * rng.normal(size=(count, sets, 1))
    values = values + 0.1 * rng.normal(size=(count, sets, seeds))
    called = names or [f"method{place}" for place in range(count)]
    one = Measured(
        "honest", "honest accuracy %", "a tree", higher, values, compare(values.mean(axis=2), called, higher=higher)
    )
    held = tuple(Set(f"set {place}", 100 + place, 7) for place in range(sets))
    return MethodComparison(tuple(called), held, tuple(left_out), (one,), 5, seeds, 5, 0.5, "last")


def facts(**options):
    return comparison(**options).as_dict()["measures"][0]


def drawn(measure):
    """Return the dots, the bars, the texts and the lines of a diagram."""
    parts = list(ElementTree.fromstring(diagram(measure).svg()).iter())
    dots = [part for part in parts if part.tag.endswith("}circle")]
    texts = [part for part in parts if part.tag.endswith("}text")]
    paths = [(part, points(part)) for part in parts if part.tag.endswith("}path")]
    bars = [(*places[0], places[1][0], part.get("aria-label")) for part, places in paths if part.get("stroke-linecap")]
    lines = [places for part, places in paths if not part.get("stroke-linecap")]
    return [float(dot.get("cx")) for dot in dots], bars, texts, lines


def points(path):
    return [tuple(map(float, one.split(","))) for one in path.get("d")[1:].split("L")]


def place(text):
    return float(text.get("x")), float(text.get("y"))


def test_dots_are_at_the_mean_ranks_with_the_best_on_the_left():
    measure = facts()
    dots, _, texts, _ = drawn(measure)
    ticks = {int(one.text): place(one)[0] for one in texts if one.text.isdigit()}
    assert sorted(ticks) == [1, 2, 3, 4, 5, 6]
    unit = (ticks[6] - ticks[1]) / 5
    ranks = measure["comparison"]["mean_ranks"]
    assert dots == pytest.approx([ticks[1] + (rank - 1) * unit for rank in ranks], abs=0.02)
    assert list(ranks) == sorted(ranks)


def test_bars_join_the_groups_and_the_ruler_is_the_critical_difference_long():
    measure = facts()
    found = measure["comparison"]
    dots, bars, texts, lines = drawn(measure)
    at = dict(zip(found["methods"], dots, strict=True))
    assert len(bars) == len(found["groups"]) > 1
    for (x, _, x2, description), group in zip(bars, found["groups"], strict=True):
        assert (x + 4, x2 - 4) == pytest.approx((at[group[0]], at[group[-1]]), abs=0.02)
        assert description == f"no difference found: {', '.join(group)}"
    unit = (dots[-1] - dots[0]) / (found["mean_ranks"][-1] - found["mean_ranks"][0])
    lengths = [abs(line[-1][0] - line[0][0]) for line in lines]
    assert any(length == pytest.approx(found["critical"] * unit, abs=0.05) for length in lengths)
    assert any(one.text == f"critical difference {found['critical']:.3f}" for one in texts)


def test_overlapping_bars_are_in_separate_lanes():
    _, bars, _, _ = drawn(facts(count=10, sets=20))
    for number, (x, y, x2, _) in enumerate(bars):
        for start, down, end, _ in bars[:number]:
            assert y != down or x > end or start > x2


@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_no_names_overlap_and_no_lines_cross(count):
    names = [f"method_{number}_" + "x" * (4 * number) for number in range(count)]
    measure = facts(count=count, names=names)
    dots, bars, texts, lines = drawn(measure)
    shown = [place(one) for one in texts if "mean rank" in (one.get("aria-label") or "")]
    assert len(shown) == count
    middle = (min(dots) + max(dots)) / 2
    for side in (lambda x: x < middle, lambda x: x >= middle):
        downs = sorted(y for x, y in shown if side(x))
        assert all(b - a >= 20 for a, b in itertools.pairwise(downs))
    elbows = [line for line in lines if len(line) == 3]  # from a dot down, then to a name
    assert len(elbows) == count
    for _, (x, y), (end, _) in elbows:
        low, high = sorted((x, end))
        assert not [up for up, (_, below), _ in elbows if low < up[0] < high and up[1] < y < below]
    assert all(y < min(down for _, down in shown) for _, y, _, _ in bars)


def test_text_has_the_colour_of_the_page_and_the_background_is_transparent():
    for chart in (diagram(facts()), figure_chart(facts())):
        picture = chart.svg()
        root = ElementTree.fromstring(picture)
        texts = [one for one in root.iter() if one.tag.endswith("}text") and one.text]
        assert texts
        assert {one.get("fill") for one in texts} == {"currentColor"}
        assert "white" not in picture
        assert not re.search(r"<(script|image|a|foreignObject)\b|https?://(?!www\.w3\.org)", picture)
    assert "method5: mean rank" in diagram(facts()).svg()


def test_a_standalone_diagram_has_a_light_and_a_dark_theme():
    picture = standing_alone(diagram(facts()).svg())
    ElementTree.fromstring(picture)
    assert "prefers-color-scheme:dark" in picture


def test_no_ruler_is_drawn_where_no_difference_was_found():
    measure = facts(count=4, sets=4, gap=0.0)
    assert measure["comparison"]["critical"] is None
    _, bars, texts, _ = drawn(measure)
    assert len(bars) == 1
    assert not any("critical" in one.text for one in texts)
    assert "does not mean that there is none" in critical_words(measure)


def test_two_methods_are_compared_by_wilcoxons_test():
    clear = facts(count=2, sets=9, gap=5.0)
    assert critical_words(clear).endswith("method1 is better than method0.")
    assert "p = 0.0039" in critical_words(clear)
    assert drawn(clear)[1] == []
    assert "No difference was found" in critical_words(facts(count=2, sets=9, gap=0.0))
    few = critical_words(facts(count=2, sets=4, gap=0.0))
    assert "No difference could have been found: with 4 data sets p is at least 0.125" in few


def test_the_text_names_statistic_and_critical_difference():
    measure = facts()
    words = critical_words(measure)
    assert f"chi-square {measure['comparison']['friedman']['statistic']:.3f}" in words
    assert f"at least {measure['comparison']['critical']:.3f} apart" in words
    found = measure["comparison"]
    best, worst = found["methods"][0], found["methods"][-1]
    assert found["mean_ranks"][-1] - found["mean_ranks"][0] >= found["critical"]
    assert re.search(rf"{best} is better than [^;]*\b{worst}\b", words)


class Stack(HTMLParser):
    """Checks that tags are closed in order, and collects text."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [name for name, _ in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    stack = Stack()
    stack.feed(page)
    assert stack.open == []
    assert not [name for name in stack.attributes if name.startswith("on")]
    return "".join(stack.text)


def test_the_page_says_what_was_found_and_escapes_everything():
    names = ["mdav", "kde", NASTY]
    found = comparison(count=3, names=names, left_out=[LeftOut(NASTY, "mdav", f"because {NASTY}")])
    page = found.report("html")
    text = read(page)
    assert NASTY in text
    assert "<img" not in page
    assert "<img" not in found._repr_html_()
    assert "<img" not in found.report("md").replace("\\<img", "")
    assert "How to read it" in text
    assert "for the data holder only" in text
    assert f"{found.comparison.mean_ranks[0]:.3f}" in text
    assert len(page) < 1_000_000
    assert "Content-Security-Policy" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    read(found._repr_html_())


def test_markdown_has_the_same_figures():
    found = comparison()
    words = found.report("md")
    for rank in found.comparison.mean_ranks:
        assert f"| {rank:.3f} |" in words
    assert words.count("\n| set ") == 18  # figures, and sizes
    assert "Lower is better" in comparison(higher=False).report("html")


def test_figures_are_written_with_significant_digits():
    one = Measured(
        "x", "x", "x", True, np.array([[[83.1, 83.3]] * 2, [[80.0, 80.0]] * 2]), compare([[1, 1], [2, 2]], ["a", "b"])
    )
    found = MethodComparison(("a", "b"), (Set("s", 9, 1), Set("t", 9, 1)), (), (one,), 5, 2, 5, 0.5, None)
    assert "| s | 80 ± 0 | 83.2 ± 1.3 \\* |" in found.report("md")


def test_charts_respond_to_the_pointer_in_notebooks():
    found = comparison()
    groups = re.findall(r'data-group="([^"]*)"', found.chart().svg)
    assert sorted(groups) == sorted(found.methods)
    assert "<iframe" in found.chart()._repr_html_()
    assert "critical difference" in found.diagram("honest").svg
    assert repr(found) == "<MethodComparison: 6 methods on 9 data sets by honest accuracy %>"
    assert str(found).startswith("honest accuracy %\nmethod5: mean rank")


def test_a_saved_comparison_is_private_and_replaces_an_earlier_one(tmp_path):
    folder = comparison().save(tmp_path / "out")
    assert sorted(path.name for path in folder.iterdir()) == ["compare.html", "compare.json", "diagram.svg"]
    if os.name == "posix":
        assert stat.S_IMODE((folder / "compare.json").stat().st_mode) == 0o600
    before = (folder / "compare.json").read_bytes()
    comparison(count=3).save(folder)
    assert (folder / "compare.json").read_bytes() != before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("keep")
    with pytest.raises(WriteError, match="holds other files"):
        comparison().save(tmp_path / "other")


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (380, "light"), (380, "dark")])
def test_a_browser_shows_the_page_without_a_request_or_an_overflow(browser, tmp_path, width, scheme):
    folder = comparison(count=9, names=[f"a_long_name_of_method_{place}" for place in range(9)]).save(tmp_path / "out")
    page, asked, logged = opened(browser, folder / "compare.html", width, scheme)
    assert logged == []
    assert asked == [(folder / "compare.html").as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.context.close()
