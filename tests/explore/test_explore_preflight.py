"""The preflight: what runs cost, and which are too expensive to try."""

import pyarrow as pa
import pytest

from shoal.catalogue import methods
from shoal.exploration import memory, preflight
from shoal.exploration.aims import aim_of
from shoal.exploration.plan import grid
from shoal.exploration.points import Aims
from shoal.exploration.preflight import Probed, Shape, affordable, estimate, probe, probes, seconds_of
from shoal.model.policy import Policy
from shoal.model.table import Table

AIMS = Aims(aim_of(None, "utility", Policy.of()), aim_of(None, "risk", Policy.of()))


def rows(n):
    return Shape(n, 10, 1.0)


def trials(power, fixed=0.5, factor=1e-5, k=(3, 20)):
    made = tuple(fixed + factor * rows**power for _ in k for rows in (250, 1000))
    return Probed((250, 1000) * len(k), tuple(one for one in k for _ in range(2)), made, (0.0,) * len(made), 300.0)


def test_seconds_grow_as_the_rows_to_a_known_power_beside_a_fixed_part():
    (point,), _ = grid(Policy.of(), "mdav", k=3)
    expected = 0.5 + 1e-5 * 8000 ** methods.load("mdav").growth.power
    assert seconds_of(point, trials(methods.load("mdav").growth.power), rows(8000)) == pytest.approx(expected)


def test_a_method_that_was_not_timed_has_the_seconds_of_its_card():
    (point,), _ = grid(Policy.of(), "gower", k=3, seeds=2)
    growth = methods.load("gower").growth
    stated = seconds_of(point, Probed(), rows(10_000))
    assert stated == pytest.approx(2 * (preflight.LEAST + growth.seconds))
    grown = 2 * (preflight.LEAST + growth.seconds * 10**growth.power)
    assert seconds_of(point, Probed(), rows(100_000)) == pytest.approx(grown)
    (divided,), _ = grid(Policy.of(), "hac", k=3)
    known, growth = rows(10 * methods.load("hac").growth.linear_beyond), methods.load("hac").growth
    once = growth.seconds * (growth.linear_beyond / 10_000) ** growth.power
    assert seconds_of(divided, Probed(), known) == pytest.approx(preflight.LEAST + 10 * once)


def test_costs_of_other_k_are_interpolated():
    points, _ = grid(Policy.of(), "gower", k=[3, 8, 20])
    probed = Probed((1000, 1000), (3, 20), (1.0, 3.0), (0.0, 0.0), 300.0)
    cheap, middle, dear = (seconds_of(point, probed, rows(1000)) for point in points)
    assert (cheap, dear) == (1.0, 3.0)
    assert cheap < middle < dear


def test_beyond_its_cells_the_cost_of_a_method_is_linear_in_rows():
    (point,), _ = grid(Policy.of(), "hac", k=3)
    probed = Probed((1000,), (3,), (1.0,), (0.0,), 300.0)
    assert seconds_of(point, probed, rows(10_000)) == pytest.approx(100.0)
    assert seconds_of(point, probed, rows(30_000)) == pytest.approx(300.0)


def test_the_cost_of_measuring_grows_with_rows_and_is_multiplied_by_seeds():
    (point,), _ = grid(Policy.of(), "anneal", k=3, seeds=4)
    probed = Probed((1000,), (3,), (0.0,), (0.5,), 300.0)
    assert seconds_of(point, probed, rows(2000)) == pytest.approx(4.0)


def test_the_cost_of_bounded_measures_does_not_grow_with_rows():
    (point,), _ = grid(Policy.of(), "mdav", k=3)
    probed = Probed((1000,), (3,), (0.0,), (0.5,), 300.0, bounded=(0.75,))
    assert seconds_of(point, probed, rows(2000)) == pytest.approx(1.0 + 1.5)
    assert seconds_of(point, probed, rows(100_000)) == pytest.approx(50.0 + 1.5)


def test_honest_separability_is_bounded_and_counted_separately():
    policy = Policy.of(label="buys", keep=["buys"])
    aims = Aims(aim_of(None, "utility", policy), aim_of(None, "risk", policy))
    table = Table.of(pa.table({"age": [i * 7 % 97 for i in range(300)], "buys": ["no", "yes"] * 150}))
    points, _ = grid(policy, "mdav", k=4)
    probed = probe(probes(points, table, aims)[0])
    assert len(probed.bounded) == len(probed.rows) == 2
    assert min(probed.bounded) > 0
    assert min(probed.measured) > 0


def test_methods_slower_than_the_limit_are_left_out_and_named_once():
    points, _ = grid(Policy.of(), ["mdav", "vmdav"], k=[3, 20])
    power = methods.load("vmdav").growth.power
    known = {"mdav": trials(1.7, 0.0), "vmdav": trials(power, 0.0, 2500 / 5_000**power)}
    kept, skipped, costs, _ = affordable(points, known, Shape(5_000, 10, 1.0), longest=60)
    assert [point.method for point in kept] == ["mdav", "mdav"]
    assert set(costs) == {"mdav-k3", "mdav-k20"}
    (gone,) = skipped
    assert gone.name == "vmdav"
    assert "one run would take about 2,500 s on 5,000 rows; the limit is 60 s." in gone.reason


def test_a_method_that_is_expensive_for_one_k_is_left_out_for_that_k():
    points, _ = grid(Policy.of(), "grow", k=[3, 20])
    known = {"grow": Probed((1000, 1000), (3, 20), (1.0, 500.0), (0.0, 0.0), 300.0)}
    kept, skipped, _, _ = affordable(points, known, Shape(1_000, 10, 1.0))
    assert [point.name for point in kept] == ["grow-k3"]
    assert [one.name for one in skipped] == ["grow-k20"]


def test_exact_is_left_out_without_a_trial_for_tables_that_it_refuses():
    points, _ = grid(Policy.of(), ["exact", "mdav"], k=3)
    table = Table.of(pa.table({"age": list(range(2001))}))
    assert [one.line for one in probes(points, table, AIMS)] == ["mdav"]
    _, skipped, _, _ = affordable(points, {"mdav": trials(1.7)}, Shape.of(table))
    assert [one.reason for one in skipped] == ["exact: accepts at most 2,000 rows; the table has 2,001."]


def test_runs_that_need_more_than_the_free_memory_are_left_out():
    (point,), _ = grid(Policy.of(), "mdav", k=3)
    probed = Probed((1000,), (3,), (0.01,), (0.0,), 1e9)
    kept, skipped, _, _ = affordable([point], {"mdav": probed}, Shape(1_000, 10, 1.0))
    assert kept == []
    assert "one run would take about" in skipped[0].reason


def test_the_number_of_processes_is_limited_by_points_and_memory(monkeypatch):
    monkeypatch.setattr(memory, "free", lambda: 1_000.0)
    assert memory.at_once(500, 3, 200.0) == 3
    assert memory.at_once(500, 30, 200.0) == 4
    assert memory.at_once(500, 30, 5_000.0) == 1
    monkeypatch.setattr(memory, "free", lambda: None)
    assert memory.at_once(500, 30, 5_000.0) == 30


def test_with_little_memory_fewer_processes_run_and_a_note_says_so(monkeypatch):
    points, _ = grid(Policy.of(), "mdav", k=[3, 4, 5, 6])
    seconds, megabytes = ({point.name: one for point in points} for one in (10.0, 300.0))
    monkeypatch.setattr(preflight, "cores", lambda: 4)
    monkeypatch.setattr(memory, "free", lambda: 1_000.0)
    short = estimate(points, seconds, megabytes, 4)
    assert (short.jobs, short.short) == (2, True)
    assert str(short) == "4 runs, about 23 s and 750 MB in 2 processes; not enough memory for more at once"
    monkeypatch.setattr(memory, "free", lambda: 100_000.0)
    assert str(estimate(points, seconds, megabytes, 500)) == "4 runs, about 13 s and 1,400 MB in 4 processes"


@pytest.mark.parametrize("meminfo", ["MemFree: 5 kB\nMemAvailable:  2000000 kB\n", "", "MemAvailable:\n", None])
def test_free_memory_is_what_a_program_may_allocate(monkeypatch, tmp_path, meminfo):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    if meminfo is not None:
        (tmp_path / "meminfo").write_text(meminfo)
    found = memory.free()
    assert found == pytest.approx(2048.0) if meminfo and "2000000" in meminfo else found is None or found > 0


def test_a_trial_runs_a_method_with_the_smallest_and_the_largest_k():
    points, _ = grid(Policy.of(), "mdav", k=[3, 5, 10])
    table = Table.of(pa.table({"age": [i % 37 for i in range(400)], "pay": [i * 7 % 101 for i in range(400)]}))
    (task,) = probes(points, table, AIMS)
    probed = probe(task)
    assert probed.rows == (250, 400, 250, 400)
    assert probed.k == (3, 3, 10, 10)
    assert min(probed.made) > 0
    assert Probed.from_dict(probed.as_dict()) == probed


def test_a_method_that_refuses_its_parameters_fails_in_the_trial():
    points, _ = grid(Policy.of(), "exact", k=9)
    table = Table.of(pa.table({"age": [i % 37 for i in range(100)]}))
    (task,) = probes(points, table, AIMS)
    probed = probe(task)
    assert "exact: k must be at most 6" in probed.reason
    _, skipped, _, _ = affordable(points, {"exact": probed}, Shape.of(table))
    assert skipped[0].reason == probed.reason


def test_the_estimate_has_runs_seconds_megabytes_and_processes(monkeypatch):
    points, _ = grid(Policy.of(), "mdav", k=[3, 5])
    monkeypatch.setattr(preflight, "cores", lambda: 2)
    megabytes = {"mdav-k3": 200.0, "mdav-k5": 300.0}
    estimated = estimate(points, {"mdav-k3": 30.0, "mdav-k5": 44.0}, megabytes, 2)
    assert str(estimated) == "2 runs, about 47 s and 750 MB in 2 processes"
    assert str(estimate(points[:1], {"mdav-k3": 0.1}, megabytes, 1)) == "1 run, about 3 s and 350 MB in 1 process"
    assert str(estimate([], {}, {}, 2)) == "nothing left to run"
