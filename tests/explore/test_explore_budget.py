"""The budget of an exploration: what is started, and in which order."""

import time
from threading import Event

import pytest

import shoal
from shoal.exploration.budget import Budget, Schedule
from shoal.exploration.growing import GrowingPage
from shoal.exploration.plan import grid
from shoal.exploration.selection import Preferred, ordered, suitable
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile


def points_of(*methods, k=(3, 5)):
    return grid(Policy.of(), methods, k=k)[0]


def preferred(table, **options):
    data = Table.of(table)
    named, _ = complete(Policy.of(method="auto", **options), data, profile(data))
    return Preferred.of(named, data.n)


def test_the_preflight_has_a_tenth_of_the_budget_and_at_most_15_seconds():
    for seconds, expected in ((300.0, 15.0), (60.0, 6.0), (None, 15.0)):
        limits = Budget(seconds)
        assert limits.trials - time.monotonic() == pytest.approx(expected, abs=0.5)
    assert 280 < Budget(300.0).left < 300
    assert Budget(None).left == float("inf")


def test_points_are_started_in_their_order_as_long_as_they_fit():
    points = points_of("mdav", "mondrian")
    seconds = dict(zip((point.name for point in points), (1.0, 500.0, 2.0, 400.0), strict=True))
    schedule = Schedule(points, seconds, Budget(100.0))
    assert schedule.warning() == " One run alone would exceed it: mdav-k5, mondrian-k5."
    assert [point.name for point in schedule] == ["mdav-k3", "mondrian-k3"]
    for point in list(schedule.started)[:1]:
        schedule.finished(point, 1.0)
    assert {one.name: one.reason.partition(": ")[2] for one in schedule.late()} == {
        "mondrian-k3": "it was stopped at the end of the budget.",
        "mdav-k5": "it would have exceeded the budget.",
        "mondrian-k5": "it would have exceeded the budget.",
    }


def test_estimates_are_corrected_by_finished_points_of_the_same_method_first():
    points = points_of("mdav", "mondrian", k=(3, 5, 8))
    schedule = Schedule(points, dict.fromkeys((point.name for point in points), 10.0), Budget(100.0))
    several = iter(schedule)
    schedule.finished(next(several), 150.0)
    assert next(several, None) is None  # all others are expected to take as long
    schedule.finished(points[3], 10.0)
    assert [point.name for point in points if schedule.fits(point)] == ["mondrian-k3", "mondrian-k5", "mondrian-k8"]


def test_a_point_that_fails_at_once_does_not_make_others_look_fast():
    points = points_of("mdav", k=(3, 5, 8))
    schedule = Schedule(points, dict.fromkeys((point.name for point in points), 10.0), Budget(100.0))
    several = iter(schedule)
    schedule.finished(next(several), 120.0)
    assert not schedule.fits(points[2])
    schedule.finished(points[1], 0.0)
    assert not schedule.fits(points[2])


def test_the_method_of_auto_comes_first_then_suitable_ones_then_others_cheap_ones_first():
    points = points_of("tfrp", "grow", "mdav", "gower", k=(3,))
    seconds = {"gower-k3": 9.0, "grow-k3": 5.0, "mdav-k3": 2.0, "tfrp-k3": 1.0}
    order = ordered(points, preferred(shoal.sample(100), sensitive=["diagnosis"]), seconds)
    assert [point.method for point in order] == ["gower", "mdav", "grow", "tfrp"]


def test_what_suits_depends_on_the_table_and_the_policy():
    people = shoal.sample(100)
    numbers = people.select(["height_cm", "weight_kg", "days"])
    assert preferred(people, identifiers=["name"]).method == "gower"
    assert preferred(people, output="truthful").method == "grow"
    assert preferred(people, hierarchies={"postcode": "mask"}).method == "cover"
    assert preferred(numbers).method == "anneal"
    assert preferred(numbers).suits("mdav")
    assert not preferred(numbers).suits("gower")
    assert preferred(people, keep=["smoker"], label="smoker").suits("kde_pp")
    assert not preferred(people).suits("kde_pp")


def test_a_method_whose_parameters_are_named_is_kept():
    points, _ = grid(Policy.of(), k=5, parameters={"kde.width": [1.0, 2.0]})
    kept, (gone,) = suitable(points, preferred(shoal.sample(100)), {"kde.width": [1.0, 2.0]})
    assert {point.line for point in kept if point.method == "kde"} == {"kde, width 1", "kde, width 2"}
    assert "kde" not in gone.name.split(", ")


def test_a_growing_picture_is_drawn_soon_and_then_not_too_often():
    drawn = []
    with GrowingPage(lambda: drawn.append(time.monotonic())) as picture:
        for _ in range(5):
            picture.changed()
            time.sleep(0.1)
        assert len(drawn) == 1
    picture.changed()
    time.sleep(0.1)
    assert len(drawn) == 1


def test_a_picture_that_cannot_be_drawn_stops_nothing():
    tried = Event()

    def fail():
        tried.set()
        raise OSError("the disk is full")

    with GrowingPage(fail) as picture:
        picture.changed()
        assert tried.wait(5)
