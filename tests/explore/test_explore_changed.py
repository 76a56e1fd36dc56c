"""An exploration whose files change or are damaged: versions are not mixed, and only intact results are used."""

import json
import math
import os
import shutil

import pyarrow as pa
import pytest

import shoal
import shoal.exploration.run as running
from shoal.errors import ReadError, WriteError
from shoal.exploration import memory, preflight
from shoal.exploration.folder import Folder
from shoal.exploration.run import explore
from shoal.io.data_file import write_data

ROLES = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}
OPTIONS = {"methods": ["mdav", "mondrian"], "k": 4, "jobs": 1, "seed": 1, **ROLES}


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """A table, and another of the same size in bytes."""
    folder = tmp_path_factory.mktemp("versions")
    write_data(shoal.sample(80, seed=3), folder, "csv")
    lines = (folder / "data.csv").read_bytes().splitlines(keepends=True)
    return b"".join(lines), b"".join([lines[0], lines[1], lines[1], *lines[3:]]).ljust(sum(map(len, lines)), b"\n")


@pytest.fixture
def file(tmp_path, versions):
    (tmp_path / "hospital.csv").write_bytes(versions[0])
    return tmp_path / "hospital.csv"


@pytest.fixture(scope="module")
def done(versions, tmp_path_factory):
    """A folder in which two points were done, and their table."""
    folder = tmp_path_factory.mktemp("done")
    (folder / "hospital.csv").write_bytes(versions[0])
    return folder, explore(folder / "hospital.csv", output=folder / "explored", **OPTIONS)


def meddling(monkeypatch, meddle):
    """Do something in the middle of the first run, and record all runs."""
    real, tried = running.attempt, []

    def attempt(task):
        if not tried:
            meddle()
        tried.append(task.point.name)
        return real(task)

    monkeypatch.setattr(running, "attempt", attempt)
    return tried


def test_a_table_that_changes_meanwhile_ends_the_exploration_without_results(file, versions, tmp_path, monkeypatch):
    assert len(versions[0]) == len(versions[1])
    tried = meddling(monkeypatch, lambda: file.write_bytes(versions[1]))
    with pytest.raises(ReadError, match="explore: the table has changed since the exploration began. Start it again."):
        explore(file, output=tmp_path / "explored", **OPTIONS)
    assert len(tried) == 1
    assert list((tmp_path / "explored" / "points").iterdir()) == []
    assert not (tmp_path / "explored" / "explore.json").exists()


@pytest.mark.slow
def test_a_table_that_is_deleted_or_replaced_meanwhile_is_reported_too(file, versions, monkeypatch):
    other = file.with_name("other.csv")
    other.write_bytes(versions[1])
    for meddle in (lambda: other.replace(file), file.unlink):
        with monkeypatch.context() as context:
            meddling(context, meddle)
            with pytest.raises(ReadError, match="the table has changed"):
                explore(file, **OPTIONS)


def test_a_table_that_changes_during_the_preflight_is_reported_before_anything_is_run(file, versions, monkeypatch):
    real = running.probe
    monkeypatch.setattr(running, "probe", lambda task: (file.write_bytes(versions[1]), real(task))[1])
    tried = meddling(monkeypatch, lambda: None)
    with pytest.raises(ReadError, match="the table has changed"):
        explore(file, **OPTIONS)
    assert tried == []


def test_a_hierarchy_that_changes_meanwhile_ends_the_exploration(tmp_path, monkeypatch):
    table = pa.table({"town": [f"t{i % 4}" for i in range(40)], "pay": [i * 7 % 31 for i in range(40)]})
    tree = tmp_path / "towns.csv"
    rows = [f"t{i},{'north' if i < 2 else 'south'},all" for i in range(4)]
    tree.write_text("\n".join(rows) + "\n")
    meddling(monkeypatch, lambda: tree.write_text("\n".join(rows[::-1]) + "\n"))
    with pytest.raises(ReadError, match="a hierarchy of the policy has changed since the exploration began"):
        explore(table, methods="mondrian", k=3, jobs=1, hierarchies={"town": str(tree)})


def test_a_table_that_was_changed_and_changed_back_ends_the_exploration(file, versions, monkeypatch):
    def there_and_back():
        file.write_bytes(versions[1])
        file.write_bytes(versions[0])
        os.utime(file, ns=(0, 0))

    meddling(monkeypatch, there_and_back)
    with pytest.raises(ReadError, match="the table has changed"):
        explore(file, **OPTIONS)


def damage(path, change):
    """Change the facts of a file, and give it a seal that does not match."""
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({**whole, "facts": change(whole["facts"])}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda facts: {**facts, "figures": []},
        lambda facts: {**facts, "utility": "much"},
        lambda facts: {**facts, "utility": {**facts["utility"], "value": float("nan")}},
        lambda facts: {**facts, "attacks": 5},
        lambda facts: {**facts, "notes": [[[]]]},
        lambda facts: {**facts, "k": 400},
        lambda facts: {**facts, "status": "failed"},
        lambda facts: {**facts, "verdicts": [{**facts["verdicts"][0], "holds": False}]},
        lambda _: [],
    ],
)
def test_a_damaged_point_is_done_again(done, tmp_path, change):
    folder, found = done
    shutil.copytree(folder / "explored", tmp_path / "explored")
    first, _ = sorted((tmp_path / "explored" / "points").iterdir())
    damage(first, change)
    again = explore(folder / "hospital.csv", output=tmp_path / "explored", **OPTIONS)
    assert again.estimate.runs == 1
    assert [(one.name, one.utility, one.data) for one in again.outcomes] == [
        (one.name, one.utility, one.data) for one in found.outcomes
    ]
    assert explore(folder / "hospital.csv", output=tmp_path / "explored", **OPTIONS).estimate.runs == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "change", [{"k": 5}, {"l": 3.0}, {"method": "tfrp"}, {"seeds": 2}, {"parameters": {"x": 1}}, {"status": "failed"}]
)
def test_a_point_under_the_name_of_another_is_not_used_even_if_its_seal_matches(done, tmp_path, change):
    folder, _ = done
    shutil.copytree(folder / "explored", tmp_path / "explored")
    with Folder(tmp_path / "explored") as held:
        for path in (held.place / "points").iterdir():
            held.keep(f"points/{path.stem}", {**held.kept(f"points/{path.stem}"), **change})
    options = {**OPTIONS, "dry_run": True}
    assert explore(folder / "hospital.csv", output=tmp_path / "explored", **options).estimate.runs == 2


@pytest.mark.slow
@pytest.mark.parametrize("text", ['"x"', "[]", "", "nothing", '{"mdav": {"strange": 1}}', "[" * 100_000])
def test_damaged_trials_are_repeated(done, tmp_path, text):
    folder, _ = done
    shutil.copytree(folder / "explored", tmp_path / "explored")
    (tmp_path / "explored" / "preflight.json").write_text(text)
    shutil.rmtree(tmp_path / "explored" / "points")
    options = {**OPTIONS, "methods": "mdav", "dry_run": True}
    assert explore(folder / "hospital.csv", output=tmp_path / "explored", **options).estimate.runs == 1
    assert len(json.loads((tmp_path / "explored" / "preflight.json").read_text())["facts"]) == 1


@pytest.mark.slow
def test_a_second_exploration_in_a_folder_is_refused_and_does_not_harm_the_first(done, tmp_path, monkeypatch):
    folder, found = done

    def second():
        with pytest.raises(WriteError, match="another exploration is using the folder"):
            explore(folder / "hospital.csv", output=tmp_path / "explored", **{**OPTIONS, "dry_run": True})

    meddling(monkeypatch, second)
    first = explore(folder / "hospital.csv", output=tmp_path / "explored", **OPTIONS)
    assert [one.data for one in first.outcomes] == [one.data for one in found.outcomes]


def here(monkeypatch, megabytes):
    """Let trials report that a process needs this many megabytes of 1,000 free ones, and run all in this process."""
    real, seen = running.spread, []

    def spread(work, tasks, jobs, until=math.inf, *, isolated):
        seen.append((jobs, isolated))
        return real(work, tasks, 1, until)

    monkeypatch.setattr(memory, "free", lambda: 1_000.0)
    monkeypatch.setattr(preflight, "free", lambda: 1_000.0)
    monkeypatch.setattr(preflight, "peak", lambda: megabytes)
    monkeypatch.setattr(running, "spread", spread)
    return seen


@pytest.mark.slow
def test_more_processes_than_memory_or_tasks_leave_nothing_out(done, monkeypatch):
    folder, _ = done
    seen = here(monkeypatch, 300.0)
    found = explore(folder / "hospital.csv", **{**OPTIONS, "k": [3, 4, 5], "jobs": 500, "dry_run": True})
    assert (found.estimate.runs, found.estimate.jobs, found.skipped) == (6, 2, ())
    found = explore(folder / "hospital.csv", **{**OPTIONS, "methods": "mdav", "jobs": 500, "dry_run": True})
    assert (found.estimate.runs, found.estimate.jobs, found.estimate.short) == (1, 1, False)
    assert seen == [(2, True), (1, True)]


def test_a_task_that_runs_alone_for_lack_of_memory_has_its_own_process(done, monkeypatch):
    folder, _ = done
    seen = here(monkeypatch, 500.0)
    found = explore(folder / "hospital.csv", **{**OPTIONS, "jobs": 8})
    assert seen == [(2, True), (1, True)]
    assert found.failed == ()
    assert found.skipped == ()
    assert "in 1 process; not enough memory for more at once" in str(found.estimate)


def test_tasks_that_do_not_fit_into_memory_are_left_out_and_reported(done, monkeypatch):
    folder, _ = done
    here(monkeypatch, 900.0)
    found = explore(folder / "hospital.csv", **{**OPTIONS, "jobs": 8})
    assert found.outcomes == ()
    assert [one.name for one in found.skipped] == ["mdav", "mondrian"]
    assert all("one run would take about 900 MB; 1,000 MB are free." in one.reason for one in found.skipped)
