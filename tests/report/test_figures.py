"""Pictures are SVG without scripts, addresses and rows."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import shoal
from shoal.model.sketches import CurveSketch, MapSketch, PlaneSketch, ViewsSketch
from shoal.reports.figures import NAMES, pictures

RNG = np.random.default_rng(0)
PLACES = np.argwhere(np.ones((3, 4))).astype(float)
MAP = MapSketch(PLACES, True, RNG.random(12), RNG.random(12), RNG.random((12, 3)))
CURVE = CurveSketch(
    1, np.linspace(-2, 2, 99), np.exp(-(np.linspace(-2, 2, 99) ** 2)), np.array([0.7]), np.array([0, 1.0])
)
VIEWS = ViewsSketch(
    [[0, 2], [1]], [0, 1, 0, 1], [3.0, 2.0, 3.0, 2.0], [2.5, 2.5, 3.5, float("inf")], [True, False, False, False]
)
PLANE = PlaneSketch((np.arange(4.0), np.arange(4.0)), np.eye(3) * 7, np.ones((3, 3)))
COLUMNS = ("age", "<script>weight & 'height'", "sex", "sex")


def texts(svg):
    return [node.text for node in ElementTree.fromstring(svg).iter() if node.text and node.text.strip()]


def test_every_sketch_has_a_picture():
    made = pictures([MAP, CURVE, VIEWS, PLANE], COLUMNS)
    assert tuple(made) == NAMES
    assert {"ridges", "rows", "age", COLUMNS[1]} <= set(texts(made["self-organising-map.svg"]))
    assert {"before", "after", "kept", "not kept"} <= set(texts(made["views.svg"]))
    assert {"view 1: age, sex", f"view 2: {COLUMNS[1]}"} <= set(texts(made["views.svg"]))
    assert {"before", "after", "first principal axis"} <= set(texts(made["plane.svg"]))
    assert COLUMNS[1] in texts(made["densities.svg"])


def test_views_have_the_names_of_the_policy():
    views = {"age": "habits", "sex": "habits", COLUMNS[1]: None}
    shown = texts(pictures([VIEWS], COLUMNS, views)["views.svg"])
    assert {"habits: age, sex", f"view 2: {COLUMNS[1]}", "habits, round 1", "view 2, round 2"} <= set(shown)


def test_the_columns_of_a_view_have_their_full_names():
    names = ("pay (EUR)", "pay (GBP)", "sex")
    shown = texts(pictures([VIEWS], names)["views.svg"])
    assert {"view 1: pay (EUR), sex", "view 2: pay (GBP)"} <= set(shown)


def test_pictures_have_no_scripts_and_fetch_nothing():
    for svg in pictures([MAP, CURVE, VIEWS, PLANE], COLUMNS).values():
        ElementTree.fromstring(svg)
        assert "<script" not in svg
        assert not re.search(r"(?:href|src)\s*=|url\((?!#)|@import", svg)


def test_every_column_is_drawn_once_before_any_twice_and_the_rest_are_counted():
    planes = MapSketch(PLACES, False, MAP.ridges, MAP.hits, RNG.random((12, 26)))
    shown = texts(pictures([planes], ("sex", "sex", *(f"x{place}" for place in range(24))))["self-organising-map.svg"])
    assert [name for name in shown if name.startswith(("x", "sex"))] == [
        "sex (1)",
        *(f"x{place}" for place in range(23)),
    ]
    assert "24 of 26 columns of the matrix, in standard deviations from the mean" in shown
    assert "sex (2)" in texts(pictures([MAP], ("a", "sex", "sex"))["self-organising-map.svg"])


def test_columns_of_one_or_two_values_have_no_curve():
    two = CurveSketch(0, np.array([0.0, 1.0]), np.array([5.0, 5.0]), np.array([0.5]), np.array([0.0, 1.0]))
    assert pictures([two], ("a",)) == {}
    assert pictures([], ()) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "held"), [("k_tca", {"self-organising-map.svg", "views.svg", "plane.svg"}), ("mdav", set())]
)
def test_the_private_folder_holds_the_pictures_of_a_method(method, held, tmp_path):
    table = shoal.sample(150, seed=5).select(["height_cm", "weight_kg", "systolic", "days", "cost_eur"])
    release = shoal.anonymize(table, k=5, method=method, missing="suppress-row")
    for _ in range(2):  # an existing folder is replaced
        release.save(tmp_path / "out", private=tmp_path / "mine", report=False)
    assert {path.name for path in (tmp_path / "mine").glob("*.svg")} == held
    assert not list((tmp_path / "out").glob("*.svg"))


def test_the_units_of_a_map_are_drawn_as_one_path_for_each_colour_at_their_positions():
    picture = ElementTree.fromstring(pictures([MAP], COLUMNS)["self-organising-map.svg"])
    paths = [[part for part in group if part.tag.endswith("}path")] for group in picture.iter()]
    maps = ["".join(part.get("d") for part in group) for group in paths if group]
    maps = [outlines for outlines in maps if outlines.count("M") == outlines.count("z") == 12]
    assert len(maps) == 5
    for outlines in maps:
        places = {tuple(map(float, one.split(","))) for one in re.findall(r"M([-\d.]+,[-\d.]+)", outlines)}
        assert len(places) == 12


def test_a_curve_ends_where_single_rows_would_show():
    far = CurveSketch(0, np.linspace(-9, 31, 400), np.ones(400), np.array([0.5, 20.0]), np.array([0.0, 31.0]))
    svg = pictures([far], COLUMNS)["densities.svg"]
    curves = [part.get("d") for part in ElementTree.fromstring(svg).iter() if part.get("fill") == "#b9d2e3"]
    rights = [float(one) for curve in curves for one in re.findall(r"([-\d.]+),", curve)]
    assert 0 <= min(rights) <= max(rights) <= 190
    assert svg.count("<circle") == 1  # the peak at 31 is not shown
    assert svg.count("stroke-dasharray") == 1
