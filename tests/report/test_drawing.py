"""Pictures: bins and names are distinguished, whatever the names in a table are."""

import itertools
from xml.etree import ElementTree

import pytest

from shoal.reports.counting import round_limits
from shoal.reports.diagrams import figure_chart
from shoal.reports.drawing import LONGEST, draw, parts_of

FACE = "\U0001f600"
STRANGE = ["as\x01thma", "as\x02thma", FACE * 25, FACE * 24 + "b", "x" * 40, "x" * 50, "x" * 21 + "…\u200b"]


def steps(limits, **other):
    return {
        "kind": "steps",
        "dates": False,
        "limits": limits,
        "after": [9] * (len(limits) - 1),
        "before": None,
        **other,
    }


def marks(picture):
    """Return the described marks of a picture."""
    parts = ElementTree.fromstring(draw(picture)).iter()
    return [part for part in parts if part.get("aria-label") and not part.tag.endswith("}text")]


def texts(picture):
    return [part.text for part in ElementTree.fromstring(draw(picture)).iter() if part.tag.endswith("}text")]


@pytest.mark.parametrize(("low", "high"), [(1e6, 1e6 + 50), (1e9, 1e9 + 0.01), (0.3, 0.3000001), (-1e300, 1e300)])
def test_every_bin_has_its_own_name(low, high):
    picture = steps(round_limits(low, high, whole=False).tolist())
    names = [row[0] for row in parts_of(picture)[1]]
    assert len(set(names)) == len(names) > 9
    for name in names[1:-1]:
        start, end = name.split(" to ")
        assert float(start) < float(end)
    assert len(marks(picture)) == len(names)


def test_round_limits_are_written_with_few_digits():
    names = [row[0] for row in parts_of(steps([0.1, 0.2, 0.30000000000000004, 0.4]))[1]]
    assert names == ["below 0.2", "0.2 to 0.3", "0.3 and above"]


def test_the_area_of_a_bin_is_proportional_to_its_rows():
    drawn = marks(steps([0.0, 1.0, 2.0, 4.0], after=[8, 8, 8]))
    areas = [float(mark.get("width")) * float(mark.get("height")) for mark in drawn]
    assert areas == pytest.approx([areas[0]] * 3)
    assert [mark.get("aria-label") for mark in drawn] == ["below 1; 8 rows", "1 to 2; 8 rows", "2 and above; 8 rows"]


def test_original_rows_are_a_line_at_their_own_heights():
    picture = steps([0.0, 1.0, 2.0], after=[10, 20], before=[20, 5])
    root = ElementTree.fromstring(draw(picture))
    [line] = [part for part in root.iter() if part.get("stroke-width") == "2"]
    heights = [float(point.split(",")[1]) for point in line.get("d")[1:].split("L")]
    tops = [float(mark.get("y")) for mark in marks(picture)]
    assert heights == [tops[1], tops[1], 90, 90]
    assert tops == [60, 0]


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        (["1930-01-01", "1960-01-01", "1990-01-01"], ["1940", "1960", "1980"]),
        (["2020-01-01", "2020-06-01", "2020-12-31"], ["2020-04", "2020-07", "2020-10"]),
        (["2020-02-27", "2020-02-29", "2020-03-02"], ["2020-02-27", "2020-02-29", "2020-03-02"]),
        (["0001-01-01", "4000-01-01", "9999-12-31"], ["2000", "4000", "6000", "8000"]),
    ],
)
def test_dates_have_round_ticks(limits, shown):
    assert set(shown) <= set(texts(steps(limits, dates=True)))


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
    keys = ("x", "y", "cx", "cy", "d")
    assert len({tuple(map(mark.get, keys)) for mark in marks(picture)}) >= len(STRANGE)
    assert "\x01" not in drawn
    drawn.encode()


def test_long_names_are_cut_and_each_has_a_bar_of_its_own():
    picture = {"kind": "bars", "labels": STRANGE, "after": [9] * len(STRANGE), "before": None}
    names = [text for text in texts(picture) if not text.isdigit()]
    assert len(names) == len(STRANGE)
    assert all(len(name) <= LONGEST for name in names)
    assert [name.count(FACE) > 5 and name.endswith("…") for name in names].count(True) == 2
    downs = [float(mark.get("y")) for mark in marks(picture)]
    assert all(low < high for low, high in itertools.pairwise(downs))


def test_lengths_may_be_negative():
    picture = {"kind": "lengths", "labels": ["a", "b"], "values": [-1.0, 2.0], "unit": "points"}
    left, right = marks(picture)
    assert float(left.get("x")) + float(left.get("width")) == pytest.approx(float(right.get("x")))
    assert 2 * float(left.get("width")) == pytest.approx(float(right.get("width")))


def test_squares_of_a_plane_are_drawn_where_they_lie_with_the_second_axis_upwards():
    picture = {"kind": "squares", "rows": [[9, 0], [0, 5]], "most": 9, "ticks": [5, 9]}
    low, high = marks(picture)
    assert (low.get("aria-label"), high.get("aria-label")) == ("9 rows", "5 rows")
    assert float(low.get("x")) < float(high.get("x"))
    assert float(low.get("y")) > float(high.get("y"))
    assert {"rows", "5", "9", "first principal axis"} <= set(texts(picture))


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
    figure_chart(measure).svg().encode()
