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
from shoal.reports.charts import svg
from shoal.reports.diagrams import critical_words, diagram, figure_chart, standing_alone
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


def layers(chart):
    """Return the rows of every layer, including nested ones."""
    for layer in chart.get("layer", []):
        if "data" in layer:
            yield layer["mark"], layer["data"]["values"]
        yield from layers(layer)


def drawn(measure):
    found = list(layers(diagram(measure).to_dict()))
    dots = next(values for mark, values in found if mark["type"] == "point")
    bars = [values for mark, values in found if mark["type"] == "rule" and mark.get("strokeCap") == "round"]
    texts = [one for mark, values in found if mark["type"] == "text" for one in values]
    lines = [
        one for mark, values in found if mark["type"] == "rule" and mark.get("strokeCap") != "round" for one in values
    ]
    return dots, bars[0] if bars else [], texts, lines


def test_dots_are_at_the_mean_ranks_with_the_best_on_the_left():
    measure = facts()
    dots, _, texts, _ = drawn(measure)
    ticks = {int(one["words"]): one["x"] for one in texts if one["words"].isdigit()}
    assert sorted(ticks) == [1, 2, 3, 4, 5, 6]
    unit = (ticks[6] - ticks[1]) / 5
    ranks = measure["comparison"]["mean_ranks"]
    assert [dot["x"] for dot in dots] == pytest.approx([ticks[1] + (rank - 1) * unit for rank in ranks])
    assert list(ranks) == sorted(ranks)


def test_bars_join_the_groups_and_the_ruler_is_the_critical_difference_long():
    measure = facts()
    found = measure["comparison"]
    dots, bars, texts, lines = drawn(measure)
    at = dict(zip(found["methods"], (dot["x"] for dot in dots), strict=True))
    assert len(bars) == len(found["groups"]) > 1
    for bar, group in zip(bars, found["groups"], strict=True):
        assert (bar["x"] + 4, bar["x2"] - 4) == pytest.approx((at[group[0]], at[group[-1]]))
        assert bar["description"] == f"no difference found: {', '.join(group)}"
    unit = (dots[-1]["x"] - dots[0]["x"]) / (found["mean_ranks"][-1] - found["mean_ranks"][0])
    lengths = [abs(line["x2"] - line["x"]) for line in lines]
    assert any(length == pytest.approx(found["critical"] * unit) for length in lengths)
    assert any(one["words"] == f"critical difference {found['critical']:.3f}" for one in texts)


def test_overlapping_bars_are_in_separate_lanes():
    _, bars, _, _ = drawn(facts(count=10, sets=20))
    for place, one in enumerate(bars):
        for other in bars[:place]:
            assert one["y"] != other["y"] or one["x"] > other["x2"] or other["x"] > one["x2"]


@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_no_names_overlap_and_no_lines_cross(count):
    names = [f"method_{place}_" + "x" * (4 * place) for place in range(count)]
    measure = facts(count=count, names=names)
    dots, bars, texts, lines = drawn(measure)
    shown = [one for one in texts if "mean rank" in one["description"]]
    assert len(shown) == count
    middle = (min(dot["x"] for dot in dots) + max(dot["x"] for dot in dots)) / 2
    for side in (lambda x: x < middle, lambda x: x >= middle):
        downs = sorted(one["y"] for one in shown if side(one["x"]))
        assert all(b - a >= 20 for a, b in itertools.pairwise(downs))
    flat = [line for line in lines if line["y"] == line["y2"] and line["description"]]
    upright = [line for line in lines if line["x"] == line["x2"] and line["description"]]
    for one in flat:
        low, high = sorted((one["x"], one["x2"]))
        crossing = [up for up in upright if low < up["x"] < high and up["y"] < one["y"] < up["y2"]]
        assert not crossing
    assert all(bar["y"] < min(one["y"] for one in shown) for bar in bars)


def test_text_has_the_colour_of_the_page_and_the_background_is_transparent():
    for chart in (diagram(facts()), figure_chart(facts())):
        picture = svg(chart)
        root = ElementTree.fromstring(picture)
        texts = [one for one in root.iter() if one.tag.endswith("}text") and one.text]
        assert texts
        assert {one.get("fill") for one in texts} == {"currentColor"}
        assert "white" not in picture
        assert not re.search(r"<(script|image|a|foreignObject)\b|https?://(?!www\.w3\.org)", picture)
    assert "method5: mean rank" in svg(diagram(facts()))


def test_a_standalone_diagram_has_a_light_and_a_dark_theme():
    picture = standing_alone(svg(diagram(facts())))
    ElementTree.fromstring(picture)
    assert "prefers-color-scheme:dark" in picture


def test_no_ruler_is_drawn_where_no_difference_was_found():
    measure = facts(count=4, sets=4, gap=0.0)
    assert measure["comparison"]["critical"] is None
    _, bars, texts, _ = drawn(measure)
    assert len(bars) == 1
    assert not any("critical" in one["words"] for one in texts)
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


def test_charts_stay_interactive_in_notebooks():
    found = comparison()
    moving = found.chart().to_dict()
    assert moving["params"][0]["bind"] == "legend"
    assert "tooltip" in str(moving)
    assert "params" not in figure_chart(facts()).to_dict()
    assert found.diagram("honest").to_dict()["config"]["background"] == "transparent"
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
