"""Pictures: bins and names are distinguished, whatever the names in a table are."""

import itertools
import re
from xml.etree import ElementTree

import pytest

from shoal.reports.charts import svg
from shoal.reports.counting import round_limits
from shoal.reports.diagrams import figure_chart
from shoal.reports.drawing import LONGEST, draw, parts_of

FACE = "\U0001f600"
STRANGE = ["as\x01thma", "as\x02thma", FACE * 25, FACE * 24 + "b", "x" * 40, "x" * 50, "x" * 21 + "…\u200b"]


def steps(limits):
    return {"kind": "steps", "dates": False, "limits": limits, "after": [9] * (len(limits) - 1), "before": None}


@pytest.mark.parametrize(("low", "high"), [(1e6, 1e6 + 50), (1e9, 1e9 + 0.01), (0.3, 0.3000001), (-1e300, 1e300)])
def test_every_bin_has_its_own_name(low, high):
    picture = steps(round_limits(low, high, whole=False).tolist())
    names = [row[0] for row in parts_of(picture)[1]]
    assert len(set(names)) == len(names) > 9
    for name in names[1:-1]:
        start, end = name.split(" to ")
        assert float(start) < float(end)


def test_round_limits_are_written_with_few_digits():
    names = [row[0] for row in parts_of(steps([0.1, 0.2, 0.30000000000000004, 0.4]))[1]]
    assert names == ["below 0.2", "0.2 to 0.3", "0.3 and above"]


def test_heights_are_those_of_a_bin_of_the_usual_width():
    picture = {**steps([0.0, 1.0, 2.0, 4.0]), "after": [8, 8, 8]}
    tops = [float(one) for one in re.findall(r'aria-label="[^"]*rows"[^>]* d="M[-\d.]+,([-\d.]+)h', draw(picture))]
    assert tops == [0, 0, 60]


ONES = [float(place) for place in range(1, len(STRANGE) + 1)]
PICTURES = [
    {"kind": "bars", "labels": STRANGE, "after": [9] * len(STRANGE), "before": [8] * len(STRANGE)},
    {"kind": "lengths", "labels": STRANGE, "values": ONES, "unit": f"\x00{FACE * 40}"},
    {"kind": "ranges", "labels": STRANGE, "values": ONES, "low": ONES, "high": ONES, "unit": "\ud800"},
    {"kind": "matrix", "labels": STRANGE, "values": [ONES] * len(STRANGE)},
]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture["kind"])
def test_any_names_can_be_drawn_and_have_their_own_positions(picture):
    drawn = draw(picture)
    marks = [part for part in ElementTree.fromstring(drawn).iter() if part.get("aria-roledescription")]
    places = [(part.get("d"), part.get("transform")) for part in marks if part.get("aria-label")]
    assert len(set(places)) >= len(STRANGE)
    assert "\x01" not in drawn
    drawn.encode()


def test_long_names_are_cut_and_are_still_different():
    drawn = draw({"kind": "bars", "labels": STRANGE, "after": [9] * len(STRANGE), "before": None})
    texts = [part.text for part in ElementTree.fromstring(drawn).iter() if part.tag.endswith("}text") and part.text]
    names = [text.rstrip("\u200b") for text in texts if not text.isdigit()]
    assert all(len(name) <= LONGEST for name in names)
    assert [name.count(FACE) > 5 and name.endswith("…") for name in names].count(True) == 2
    downs = re.findall(r'aria-label="[^"]*rows"[^>]* d="M0,([-\d.]+)h', drawn)
    assert all(float(low) < float(high) for low, high in itertools.pairwise(downs))


@pytest.mark.parametrize("name", [FACE * 30, "a\x00b", "\ud83d"], ids=ascii)
def test_a_comparison_can_be_drawn_whatever_its_data_sets_are_called(name):
    measure = {
        "title": "honest accuracy %",
        "comparison": {"methods": ["mdav", "kde"]},
        "figures": [
            {"method": method, "set": called, "mean": 70.0, "low": 69.0, "high": 71.0}
            for called in (name, "other")
            for method in ("mdav", "kde")
        ],
    }
    svg(figure_chart(measure)).encode()
