"""Exploring: every point is verified, measured and saved at once, and gives the same bytes when repeated."""

import hashlib
import json
import re
import stat
import time

import numpy as np
import pyarrow as pa
import pytest

import shoal
import shoal.exploration.run as running
from shoal.exploration.run import explore
from shoal.exploration.spawned import Failure
from shoal.io.data_file import write_data
from shoal.reports.exploring import explore_html

pytestmark = pytest.mark.slow

ROLES = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}
METHODS = ["mdav", "mondrian"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    write_data(shoal.sample(160, seed=3), folder, "csv")
    return (folder / "data.csv").rename(folder / "hospital.csv")


@pytest.fixture(scope="module")
def explored(file, tmp_path_factory):
    place = tmp_path_factory.mktemp("out") / "explored"
    return explore(file, methods=METHODS, k=[3, 5, 8], l=2, jobs=2, output=place, **ROLES)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_point_is_verified_and_has_both_figures(explored):
    assert [one.name for one in explored.outcomes] == [f"{name}-k{k}-l2" for name in METHODS for k in (3, 5, 8)]
    for one in explored.outcomes:
        assert one.status == "done"
        assert [verdict.model for verdict in one.verdicts] == ["k-anonymity", "distinct l-diversity"]
        assert all(verdict.holds for verdict in one.verdicts)
        assert one.figures["smallest class"].value >= one.k
        assert one.utility.low < one.utility.value < one.utility.high
        assert 0 < one.risk.value <= 1 / one.k
        assert one.figures["prosecutor risk"].value <= 1 / one.k
        assert one.figures["record linkage"].high is not None


def test_figures_equal_those_of_measure(explored, file):
    one = next(one for one in explored.outcomes if one.name == "mondrian-k5-l2")
    release = shoal.anonymize(file, policy=explored.policy(one.name))
    measured = {
        finding.name: finding.value for finding in shoal.measure(file, release, only=["cell loss %", "marketer risk"])
    }
    assert one.utility.value == measured["cell loss %"]
    assert one.risk.value == measured["marketer risk"]


def test_policies_of_the_front_make_the_same_bytes_and_verdicts_again(explored, file, tmp_path):
    assert explored.front
    for one in explored.front:
        policy = explored.folder / "front" / f"{one.name}.toml"
        first = shoal.anonymize(file, policy=policy, threads=2)
        second = shoal.anonymize(file, policy=explored.policy(one.name), threads=1)
        assert first.verdicts == second.verdicts == one.verdicts
        first.save(tmp_path / "first")
        second.save(tmp_path / "second")
        assert contents(tmp_path / "first") == contents(tmp_path / "second")
        assert hashlib.sha256((tmp_path / "first" / "data.csv").read_bytes()).hexdigest() == one.data


def test_of_points_with_the_same_release_the_first_is_on_the_front_and_the_other_is_named(file):
    found = explore(file, methods=["cover", "grow"], k=4, l=2, jobs=1, seed=0, **ROLES)
    assert [one.name for one in found.front] == ["cover-k4-l2"]
    assert found.same_as == {"grow-k4-l2": "cover-k4-l2"}
    assert found.table()["same_as"].to_pylist() == [None, "cover-k4-l2"]
    page = explore_html(found.as_dict())
    assert "Others give the same release, byte for byte: grow-k4-l2 as cover-k4-l2." in page
    assert 'aria-label="grow-k4-l2;' in page
    assert "the same release as cover-k4-l2" in page


def test_the_front_is_in_the_order_of_risk_and_has_a_policy_for_each_point(explored):
    risks = [one.risk.value for one in explored.front]
    assert risks == sorted(risks)
    files = {path.stem for path in (explored.folder / "front").iterdir()}
    assert files == {one.name for one in explored.front}
    text = (explored.folder / "front" / f"{explored.front[0].name}.toml").read_text()
    assert text.startswith("# ")
    assert "Private" in text
    seed = explored.policy(explored.front[0].name).seed
    assert f"seed = {seed}\n" in text
    assert seed > 0


def test_the_folder_is_private_and_complete(explored):
    names = {path.name for path in explored.folder.iterdir()}
    # On a slow machine no method can be timed, and there is no preflight.json.
    assert names | {"preflight.json"} == {
        "key",
        "lock",
        "preflight.json",
        "points",
        "front",
        "explore.html",
        "explore.json",
    }
    assert stat.S_IMODE(explored.folder.stat().st_mode) == 0o700
    facts = json.loads((explored.folder / "explore.json").read_text())
    assert facts["front"] == [one.name for one in explored.front]
    assert "can itself leak information" in facts["caution"]
    assert len(list((explored.folder / "points").iterdir())) == 6


def test_what_is_done_is_not_done_again(explored, file, monkeypatch):
    def spread(work, tasks, *_, **__):
        assert not list(tasks), "nothing was left to do"
        yield from ()

    monkeypatch.setattr(running, "spread", spread)
    again = explore(file, methods=METHODS, k=[3, 5, 8], l=2, output=explored.folder, **ROLES)
    assert str(again.estimate) == "nothing left to run"
    assert again.as_dict()["points"] == explored.as_dict()["points"]
    assert again.as_dict()["front"] == explored.as_dict()["front"]


def test_another_table_policy_or_aim_is_run_again(explored, file, tmp_path):
    copy = tmp_path / "hospital.csv"
    text = file.read_text().splitlines()
    options = {
        "methods": "mdav",
        "k": [3, 5, 8],
        "l": 2,
        "output": explored.folder,
        "dry_run": True,
        "jobs": 1,
        **ROLES,
    }
    copy.write_text("\n".join(text) + "\n")
    assert explore(copy, **options).estimate.runs == 0
    copy.write_text("\n".join(text[:-1]) + "\n")
    assert explore(copy, **options).estimate.runs == 3
    assert explore(file, **options, utility="query error %").estimate.runs == 3
    assert explore(file, **options, seed=1).estimate.runs == 3
    assert explore(file, **{**options, "k": [3, 6]}).estimate.runs == 1


def test_a_dry_run_estimates_the_cost_and_runs_nothing(file, tmp_path):
    found = explore(file, methods="mdav", k=3, output=tmp_path / "dry", dry_run=True, jobs=1, **ROLES)
    assert found.outcomes == ()
    assert str(found.estimate).startswith("1 run, about ")
    names = {path.name for path in (tmp_path / "dry").iterdir()}
    assert names | {"preflight.json"} == {"key", "lock", "preflight.json", "points", "front"}


@pytest.mark.process
def test_a_point_whose_process_dies_is_reported_and_tried_again_next_time(file, tmp_path, monkeypatch):
    real = running.spread

    def deadly(work, tasks, *_, **__):
        if work is running.probe:
            yield from real(work, tasks, 1)
            return
        next(tasks)
        yield 0, Failure("its process died (exit -9), perhaps for lack of memory.")
        yield from ((number + 1, result) for number, result in real(work, tasks, 1))

    options = {"methods": METHODS, "k": 4, "output": tmp_path / "explored", "jobs": 1, **ROLES}
    monkeypatch.setattr(running, "spread", deadly)
    found = explore(file, **options)
    (dead,) = found.failed
    assert dead.reason.startswith("its process died")
    assert len(found.outcomes) == 2
    monkeypatch.setattr(running, "spread", real)
    again = explore(file, **options)
    assert again.failed == ()
    assert again.estimate.runs == 1


def test_a_point_that_cannot_be_released_has_a_reason(file):
    found = explore(file, methods="mdav", k=[3, 500], jobs=1, **ROLES)
    (failed,) = found.failed
    assert failed.k == 500
    assert "500" in failed.reason
    assert [one.k for one in found.front] == [3]


@pytest.mark.process
def test_a_frame_gives_the_same_as_its_file_and_returns_its_own_type(explored, file):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(file, dtype={"postcode": str}, parse_dates=[])
    arrow = pa.Table.from_pandas(frame)
    found = explore(frame, methods="mdav", k=[3, 5], jobs=2, seed=1, **ROLES)
    other = explore(arrow, methods="mdav", k=[3, 5], jobs=1, seed=1, **ROLES)
    assert isinstance(found.table(), pandas.DataFrame)
    assert isinstance(other.table(), pa.Table)
    assert found.table()["utility"].tolist() == other.table()["utility"].to_pylist()
    release = shoal.anonymize(frame, policy=found.policy("mdav-k3"))
    assert release.finding("cell loss %") == found.outcomes[0].utility.value


def test_the_table_is_tidy(explored):
    table = explored.table()
    assert table.num_rows == 6
    assert table.column_names[:6] == ["point", "method", "k", "l", "t", "parameters"]
    assert table["l"].to_pylist() == [2.0] * 6
    assert table["t"].to_pylist() == [None] * 6
    assert sum(table["front"].to_pylist()) == len(explored.front)
    assert table["risk_low"].null_count == 6


def test_a_label_brings_honest_figures_and_methods_that_learn_from_it(file):
    roles = {"identifiers": ["patient_id", "name"], "keep": ["smoker"], "sensitive": ["diagnosis"]}
    found = explore(file, methods=["mdav"], k=[4], jobs=1, label="smoker", folds=3, **roles)
    assert found.aims.utility.name == "honest separability %"
    assert found.skipped == ()
    (one,) = found.outcomes
    assert one.utility.low <= one.utility.value <= one.utility.high


def test_attacks_are_run_on_demand_without_counts_of_few_rows(file):
    found = explore(file, methods="mdav", k=5, jobs=1, attacks=True, risk="record linkage", **ROLES)
    (one,) = found.outcomes
    assert {"record linkage", "homogeneity", "singling out"} <= {tried["name"] for tried in one.attacks}
    assert all("note" not in tried for tried in one.attacks)
    assert one.risk == one.figures["record linkage"]


def test_several_seeds_give_every_figure_an_interval(file):
    columns = {"quasi": ["height_cm", "weight_kg", "days"]}
    numbers = pa.csv.read_csv(file).select(["height_cm", "weight_kg", "days"]).drop_null()
    found = explore(numbers, methods=["kmeans", "mdav"], k=4, seeds=3, jobs=1, seed=7, **columns)
    kmeans, mdav = found.outcomes
    assert (kmeans.seeds, mdav.seeds) == (3, 1)
    assert kmeans.risk.low is not None
    assert mdav.risk.low is None
    assert found.policy("kmeans-k4").seed == 7


def test_a_budget_leaves_out_what_does_not_fit_names_it_and_the_same_call_continues(file, tmp_path):
    options = {"methods": METHODS, "k": [3, 5], "jobs": 1, "output": tmp_path / "explored", **ROLES}
    found = explore(file, budget=1e-3, **options)
    assert found.outcomes == found.front == ()
    assert set(found.late) == {f"{name}-k{k}" for name in METHODS for k in (3, 5)}
    assert all(one.late and "budget" in one.reason for one in found.skipped)
    page = (tmp_path / "explored" / "explore.html").read_text()
    assert "0 of 4 points: the others were left out for lack of time (the budget was 0.001 s)" in page
    again = explore(file, budget=None, **options)
    assert again.late == ()
    assert len(again.outcomes) == 4
    assert "left out for lack of time" not in (tmp_path / "explored" / "explore.html").read_text()


def test_the_budget_does_not_change_a_result(explored, file):
    found = explore(file, methods=METHODS, k=[3, 8], l=2, jobs=1, budget=1_000.0, seed=1, **ROLES)
    unlimited = explore(file, methods=METHODS, k=[3, 8], l=2, jobs=1, budget=None, seed=1, **ROLES)
    assert [one.data for one in found.outcomes] == [one.data for one in unlimited.outcomes]
    assert found.budget == 1_000.0
    assert explored.budget == 300.0


@pytest.mark.process
def test_a_run_that_outlasts_the_budget_is_stopped_and_left_out(file, monkeypatch):
    monkeypatch.setattr(running, "probes", lambda *_: [])
    monkeypatch.setattr(running.Schedule, "fits", lambda *_: True)
    begin = time.monotonic()
    found = explore(shoal.sample(3_000), methods="k_tca", k=[3], jobs=2, budget=1.0, **ROLES)
    assert time.monotonic() - begin < 30
    (late,) = found.skipped
    assert late.reason == "k_tca-k3: it was stopped at the end of the budget."
    assert found.outcomes == ()


def test_by_default_the_method_of_auto_is_run_first_and_methods_that_suit_the_table_follow(file, monkeypatch):
    started = []

    def note(work, tasks, *_, **__):
        started.extend(task.point.name for task in tasks) if work is running.attempt else None
        yield from ()

    monkeypatch.setattr(running, "spread", note)
    found = explore(file, k=[3, 5], jobs=1, budget=None, **ROLES)
    assert started[:2] == ["gower-k3", "gower-k5"]
    methods = list(dict.fromkeys(name.rpartition("-")[0] for name in started))
    assert set(methods) == {"gower", "grow", "mondrian", "bisection", "mdav", "k_member"}
    (others,) = (one for one in found.skipped if not one.late)
    assert "anneal, " in others.name
    assert "Name them, or ask for all methods." in others.reason


def test_the_page_of_a_running_exploration_says_how_far_it_is_and_reloads_itself(file, tmp_path, monkeypatch):
    pages = []

    class Seen:
        def __init__(self, draw):
            self.draw = draw

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def changed(self):
            self.draw()
            pages.append((tmp_path / "explored" / "explore.html").read_text())

    monkeypatch.setattr(running, "GrowingPage", Seen)
    explore(file, methods="mdav", k=[3, 5, 8], jobs=1, output=tmp_path / "explored", **ROLES)
    assert ["In progress: 1 of 3" in pages[0], "In progress: 2 of 3" in pages[1]] == [True, True]
    assert '<meta http-equiv="refresh" content="10">' in pages[0]
    assert "mdav-k3" in pages[0]
    assert "mdav-k5" not in pages[0]
    last = (tmp_path / "explored" / "explore.html").read_text()
    assert "In progress" not in last
    assert 'http-equiv="refresh"' not in last


def test_progress_is_ticked_and_the_estimate_announced(file):
    from shoal.model.progress import listening

    ticks, messages = [], []
    with listening(lambda step, done, total: ticks.append((step, done, total)), messages.append):
        explore(file, methods="mdav", k=[3, 5], jobs=1, **ROLES)
    assert ("explore", 2, 2) in ticks
    assert any(sentence.startswith("explore: 2 runs, about") for sentence in messages)


def test_no_cell_of_the_table_is_written(tmp_path):
    several = np.random.default_rng(8)
    mark, n = "Zq7Xw", 120
    table = pa.table(
        {
            "person": [f"{mark}-id-{i}" for i in range(n)],
            "age": several.integers(18, 90, n),
            "town": [f"{mark}-town-{i % 40}" for i in range(n)],
            "ill": [f"{mark}-ill-{i % 7}" for i in range(n)],
        }
    )
    roles = {"identifiers": ["person"], "sensitive": ["ill"]}
    options = {"methods": METHODS, "k": [3, 200], "l": 2, "jobs": 1, "attacks": True}
    found = explore(table, output=tmp_path / "explored", **options, **roles)
    assert len(found.failed) == 2
    text = "".join(path.read_text() for path in (tmp_path / "explored").rglob("*") if path.is_file())
    text += repr(found) + found._repr_html_() + found.chart()._repr_html_() + str(found.table().to_pydict())
    assert "mondrian-k3-l2" in text
    assert mark not in text


def test_an_exploration_shows_its_size_and_refuses_unknown_points(file):
    found = shoal.explore(file, methods="mdav", k=3, jobs=1, **ROLES)
    assert repr(found) == "<Exploration: 1 point, 1 on the Pareto front; 0 left out>"
    dry = shoal.explore(file, methods="mdav", k=3, jobs=1, dry_run=True, **ROLES)
    assert re.fullmatch(r"<Exploration: no point yet; 1 run, about .+ in 1 process; 0 left out>", repr(dry))
    with pytest.raises(shoal.UseError, match="unknown point 'mdav'. Known: 'mdav-k3'. Did you mean 'mdav-k3'?"):
        found.policy("mdav")


def test_with_a_label_the_table_and_the_most_frequent_label_are_shown_for_comparison(file):
    roles = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"], "keep": ["smoker"], "label": "smoker"}
    found = explore(file, methods="mdav", k=[4], jobs=1, **roles)
    labels = shoal.sample(160, seed=3)["smoker"].to_pylist()
    assert found.references["the most frequent label alone"] == 100 * max(labels.count(True), labels.count(False)) / 160
    release = shoal.anonymize(file, policy=found.policy("mdav-k4"))
    honest = {one.name: one.value for one in shoal.measure(file, release, only=["honest separability %"])}
    assert found.outcomes[0].utility.value == honest["honest separability %"]
    page = explore_html(found.as_dict())
    assert f"the most frequent label alone: {found.references['the most frequent label alone']:.4g}" in page
    assert "the table itself" in page
    assert explore(file, methods="mdav", k=[4], jobs=1, **ROLES).references == {}


def test_an_exploration_draws_a_seed_once_and_its_folder_keeps_it(file, tmp_path):
    options = {"methods": "mdav", "k": [3, 4], "jobs": 1, **ROLES}
    found = explore(file, output=tmp_path / "one", dry_run=True, **options)
    again = explore(file, output=tmp_path / "one", **{**options, "k": [4, 5]})
    other = explore(file, output=tmp_path / "two", dry_run=True, **options)
    (seed,) = {one.seed for one in (*found.policies.values(), *again.policies.values())}
    assert seed != other.policy("mdav-k3").seed
    text = (tmp_path / "one" / "explore.json").read_text() + (tmp_path / "one" / "explore.html").read_text()
    assert str(seed) not in text


def test_the_text_of_an_exploration_says_why_points_were_not_released():
    table = pa.table({"age": [34, 36, 35, 61, 60, 62]})
    found = shoal.explore(table, methods=["mdav"], k=[500])
    assert "; 1 not released, the first: encode: k is 500, but there are 6 rows" in repr(found)
