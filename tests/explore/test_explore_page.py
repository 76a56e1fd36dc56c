"""The page of an exploration: one file without network requests, complete, and without anything confidential."""

import html
import re
from dataclasses import replace

import pyarrow as pa
import pytest

from shoal.exploration.aims import Aim, Figure
from shoal.exploration.exploration import Exploration
from shoal.exploration.plan import Skipped
from shoal.exploration.points import Aims, Outcome
from shoal.exploration.preflight import Estimate
from shoal.model.findings import Verdict
from shoal.model.policy import Policy
from shoal.reports.exploring import explore_html

AIMS = Aims(
    Aim("cell loss %", "measure", higher=False, how="mean of what a cell leaves open"),
    Aim("marketer risk", "measure", higher=False, how="mean over rows of 1/size(E)", exact=True),
)
STRANGE = "<img src=x onerror=alert(1)>"


def outcome(name, k, utility, risk, **more):
    options = {"l": None, "t": None, "parameters": {}, "seeds": 1, "status": "done"} | more
    verdicts = (Verdict("k-anonymity", None, k, k, holds=True),)
    figures = {"prosecutor risk": Figure(1 / k), "record linkage": Figure(0.1, 0.05, 0.2)}
    return Outcome(
        f"{name}-k{k}", name, name, k, utility=utility, risk=risk, figures=figures, verdicts=verdicts, **options
    )


def made(*outcomes, skipped=(), aims=AIMS):
    policies = {one.name: Policy.of(k=one.k, method=one.method) for one in outcomes}
    return Exploration(
        outcomes, tuple(skipped), aims, 500, 8, Estimate(len(outcomes), 12.0, 300.0, 2), policies, source="people.csv"
    )


@pytest.fixture(scope="module")
def exploration():
    tried = (
        {
            "name": "record linkage",
            "rate": 0.1,
            "interval": (0.05, 0.2),
            "baseline": 0.01,
            "bound": 0.21,
            "outcome": "no evidence",
        },
        {
            "name": "exact combination",
            "rate": None,
            "interval": None,
            "baseline": 0.0,
            "bound": 0.0,
            "outcome": "not tried",
        },
    )
    notes = (f"column '{STRANGE}': fewer than 5 rows are strange.", "mdav: something of its own.")
    given = {"notes": notes, "method_notes": notes[1:]}
    return made(
        outcome("mdav", 3, Figure(9.0, 8.0, 10.0), Figure(0.3), attacks=tried, **given),
        outcome("mdav", 5, Figure(14.0, 13.0, 15.0), Figure(0.19), **given),
        outcome("mondrian", 3, Figure(18.0, 17.0, 19.0), Figure(0.3)),
        replace(outcome("mondrian", 5, None, None), status="failed", reason="verify: it does not hold."),
        skipped=[Skipped("exact", "exact: accepts at most 2,000 rows; the table has 5,000.")],
    )


@pytest.fixture(scope="module")
def page(exploration):
    return explore_html(exploration.as_dict())


def test_a_page_of_a_running_exploration_says_so_and_reloads_itself_without_a_script(exploration, page):
    running = replace(exploration, waiting=("mdav-k10", "mdav-k20"))
    shown = explore_html(running.as_dict())
    assert "In progress: 4 of 6 points on 20" in shown
    assert '<meta http-equiv="refresh" content="10">' in shown
    assert "In progress" in running._repr_html_()
    assert 'http-equiv="refresh"' not in page
    assert "In progress" not in page


def test_a_page_names_the_points_that_were_left_out_for_lack_of_time(exploration):
    late = (Skipped("mdav-k10", "mdav-k10: it would have exceeded the budget.", late=True),)
    facts = replace(exploration, skipped=(*exploration.skipped, *late), budget=60.0).as_dict()
    assert facts["late"] == ["mdav-k10"]
    shown = explore_html(facts)
    assert "4 of 5 points: the others were left out for lack of time (the budget was 60 s)" in shown
    assert "mdav-k10: it would have exceeded the budget." in shown


def test_the_page_shows_the_front_every_point_and_what_was_left_out(page):
    for words in (
        "3 releases of 4 verified and measured; 2 on the Pareto front",
        "Nothing has been chosen",
        "14 [13, 15]",
        ">failed</td>",
        ">verify: it does not hold.</td>",
        ">not tried</td>",
        "exact: accepts at most 2,000 rows",
        "can itself leak information",
        "clearly better in one of them",
        "4 runs, about 12 s and 300 MB in 2 processes.",
        "shoal anonymize people.csv --policy front/NAME.toml",
        "Attacks on the Pareto-optimal points",
        "delete-a-group jackknife over 5 groups",
    ):
        assert words in page, words


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("people.csv", "people.csv"),
        ("my people.csv", "'my people.csv'"),
        ("a;rm -rf ~.csv", "'a;rm -rf ~.csv'"),
        ("it's $(x).csv", "'it'\"'\"'s $(x).csv'"),
        ("-o.csv", "./-o.csv"),
        ("", "FILE"),
    ],
)
def test_the_command_can_be_pasted_into_a_shell_whatever_the_file_is_called(exploration, name, shown):
    facts = {**exploration.as_dict(), "source": name}
    command = f"shoal anonymize {shown} --policy front/NAME.toml -o release --private mine"
    assert f">{command}<" in html.unescape(explore_html(facts))


def test_every_chart_is_explained_and_every_dot_described(page):
    assert page.count("How to read") == 2
    assert page.count("<svg") == 3
    assert 'aria-label="mdav-k5; cell loss % 14 (13 to 15); marketer risk 0.19; Pareto-optimal"' in page
    assert 'aria-label="mondrian-k3; cell loss % 18 (17 to 19); marketer risk 0.3; clearly worse than another"' in page


def test_the_page_is_one_file_without_network_requests(page):
    html5lib = pytest.importorskip("html5lib")
    parts = list(html5lib.HTMLParser(strict=True).parse(page).iter())
    assert "default-src 'none'" in html.unescape(page)
    addresses = [part.attrib[name] for part in parts for name in part.attrib if str(name).endswith(("src", "href"))]
    assert len(addresses) == 7
    assert all(address.startswith("#") for address in addresses), addresses
    assert len(page.encode()) < 1_000_000


def test_text_of_the_table_is_escaped(page):
    assert STRANGE not in page
    assert "&lt;img src=x" in page
    assert "fewer than 5 rows are strange" in page
    assert "something of its own" not in page


def test_an_exploration_without_results_still_has_a_page():
    page = explore_html(made(skipped=[Skipped("mdav", "mdav: too dear.")]).as_dict())
    assert "there is nothing to compare" in page
    assert "mdav: too dear." in page
    assert "<svg" not in page


def test_the_axis_is_not_reversed_if_more_is_better():
    aims = replace(AIMS, utility=Aim("honest", "honest", higher=True, how="held-out rows"))
    turned = made(outcome("mdav", 3, Figure(9.0), Figure(0.3))).chart().svg
    plain = made(outcome("mdav", 3, Figure(9.0), Figure(0.3)), aims=aims).chart().svg
    for picture, title, falling in ((turned, "cell loss % (lower is better →)", True), (plain, "honest", False)):
        assert title in picture
        ticks = [(float(x), float(words)) for x, words in TICK.findall(picture)]
        assert len(ticks) > 3
        assert sorted(ticks, reverse=falling) == sorted(ticks, key=lambda one: one[1])


TICK = re.compile(
    r'<text x="([-\d.]+)" y="[\d.]+" dy="0.35em" fill="currentColor" text-anchor="middle">([\d.]+)</text>'
)


def test_the_notebook_chart_highlights_a_method_on_a_click(exploration):
    chart = exploration.chart()
    assert set(re.findall(r'data-group="([^"]*)"', chart.svg)) == {"mdav", "mondrian"}
    for point in exploration.as_dict()["points"]:
        assert (f'aria-label="{point["name"]}; ' in chart.svg) == point["compared"]
    assert "classList.toggle" in chart._repr_html_()


def test_it_shows_itself_in_a_notebook(exploration):
    shown = exploration._repr_html_()
    assert shown.startswith("<div")
    assert "<svg" in shown
    assert "mdav-k5" in shown
    assert "can itself leak information" in shown


def test_it_can_be_saved_later(exploration, tmp_path):
    place = exploration.save(tmp_path / "explored")
    assert {path.name for path in (place / "front").iterdir()} == {"mdav-k3.toml", "mdav-k5.toml"}
    assert Policy.load(place / "front" / "mdav-k3.toml") == exploration.policy("mdav-k3")


def test_points_without_both_figures_are_never_on_the_front(exploration):
    assert [one.name for one in exploration.front] == ["mdav-k5", "mdav-k3"]
    assert isinstance(exploration.table(), pa.Table)
    assert exploration.table()["utility"].to_pylist()[-1] is None
