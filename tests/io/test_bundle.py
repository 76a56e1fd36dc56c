"""Folders appear complete or not at all."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager

import pytest

from shoal.errors import WriteError
from shoal.io import bundle, swaps
from shoal.io.bundle import draft, draft_file

OWNED = {"mark": "mark", "data": ""}


def fill(folder, text):
    with draft(folder, OWNED) as made:
        (made / "mark").write_text("mark")
        (made / "data").write_text(text)


def drafts(folder):
    return [path for path in folder.parent.iterdir() if path.name.startswith(f".{folder.name}.shoal-")]


def test_a_new_folder_appears_with_everything_in_it(tmp_path):
    fill(tmp_path / "deep" / "out", "new")
    assert (tmp_path / "deep" / "out" / "data").read_text() == "new"
    assert not drafts(tmp_path / "deep" / "out")


def test_an_earlier_folder_is_replaced(tmp_path):
    fill(tmp_path / "out", "old")
    fill(tmp_path / "out", "new")
    assert (tmp_path / "out" / "data").read_text() == "new"
    assert not drafts(tmp_path / "out")


def test_an_earlier_folder_is_replaced_where_names_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(swaps, "_exchange", lambda *_: False)
    fill(tmp_path / "out", "old")
    fill(tmp_path / "out", "new")
    assert (tmp_path / "out" / "data").read_text() == "new"
    assert not drafts(tmp_path / "out")


def test_an_error_leaves_the_old_folder_and_no_draft(tmp_path):
    fill(tmp_path / "out", "old")
    with pytest.raises(RuntimeError), draft(tmp_path / "out", OWNED) as made:
        (made / "data").write_text("half")
        raise RuntimeError
    assert (tmp_path / "out" / "data").read_text() == "old"
    assert not drafts(tmp_path / "out")


def test_a_folder_with_other_files_is_never_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(WriteError, match="holds other files"):
        fill(tmp_path / "out", "new")
    fill(tmp_path / "mine", "old")
    (tmp_path / "mine" / "notes.txt").write_text("a note beside a release")
    with pytest.raises(WriteError, match="holds other files"):
        fill(tmp_path / "mine", "new")
    assert (tmp_path / "mine" / "data").read_text() == "old"


def test_a_file_or_a_link_in_the_way_is_refused(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(WriteError, match="is not a folder"):
        fill(tmp_path / "out", "new")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(WriteError, match="is not a folder"):
        fill(tmp_path / "link", "new")


def test_a_location_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        fill(tmp_path / "file" / "out", "new")


def test_private_folders_are_accessible_to_the_owner_only(tmp_path):
    with draft(tmp_path / "out", OWNED, private=True) as made:
        (made / "mark").write_text("")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "out" / "mark").stat().st_mode) == 0o600


@pytest.mark.process
def test_drafts_of_dead_processes_are_removed_and_others_left(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = tmp_path / f".out.shoal-{gone.pid}-0a0b0c0d"
    mine = tmp_path / f".out.shoal-{os.getpid()}-0a0b0c0d"
    dead.mkdir()
    mine.mkdir()
    fill(tmp_path / "out", "new")
    assert not dead.exists()
    assert mine.exists()


HELD = """
    import sys, time
    from pathlib import Path
    from shoal.io.bundle import draft
    with draft(sys.argv[1], {"mark": "mark"}) as made:
        (made / "secret").write_text("a draft")
        Path(sys.argv[2]).touch()
        time.sleep(60)
"""


@contextmanager
def at_work(tmp_path, target):
    """Run another process that is in the middle of writing a folder."""
    ready = tmp_path / "ready"
    running = subprocess.Popen([sys.executable, "-c", textwrap.dedent(HELD), str(target), str(ready)])
    try:
        while not ready.exists():
            assert running.poll() is None
            time.sleep(0.02)
        ready.unlink()
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.mark.process
def test_the_draft_of_a_running_process_is_left_alone_whatever_its_pid(tmp_path):
    with at_work(tmp_path, tmp_path / "one"):
        (box,) = tmp_path.glob(".one.shoal-*")
        renamed = box.rename(tmp_path / ".one.shoal-999999-0a0b0c0d")  # a pid that no process has
        fill(tmp_path / "two", "new")
        assert (renamed / "new" / "secret").read_text() == "a draft"


@pytest.mark.process
def test_drafts_are_removed_even_if_their_pid_is_in_use_again(tmp_path):
    with at_work(tmp_path, tmp_path / "one") as running:
        running.kill()
        running.wait()
        (box,) = tmp_path.glob(".one.shoal-*")
        box.rename(tmp_path / f".one.shoal-{os.getpid()}-0a0b0c0d")  # a pid that is in use again
        fill(tmp_path / "two", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


@pytest.mark.process
def test_without_locks_the_pid_decides(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "try_lock", lambda _: None)
    with at_work(tmp_path, tmp_path / "one") as running:
        (box,) = tmp_path.glob(".one.shoal-*")
        fill(tmp_path / "two", "new")
        assert box.exists()
        running.kill()
        running.wait()
        fill(tmp_path / "two", "newer")
        assert not box.exists()


def test_a_file_is_replaced_completely_and_unchanged_by_an_error(tmp_path):
    place = tmp_path / "deep" / "report.html"
    with draft_file(place, 0o600) as made:
        made.write_text("old")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    with pytest.raises(RuntimeError), draft_file(place, 0o600) as made:
        made.write_text("half")
        raise RuntimeError
    assert place.read_text() == "old"
    with draft_file(place, 0o600) as made:
        made.write_text("new")
        (box,) = place.parent.glob(".report.html.shoal-*")
        assert stat.S_IMODE(box.stat().st_mode) == 0o700
    assert place.read_text() == "new"
    assert [path.name for path in place.parent.iterdir()] == ["report.html"]


@pytest.mark.process
def test_two_folders_are_written_beside_each_other_at_the_same_time(tmp_path):
    with at_work(tmp_path, tmp_path / "one"):
        fill(tmp_path / "two", "new")
        with draft(tmp_path / "three", OWNED) as made:
            fill(tmp_path / "four", "new")
            (made / "mark").write_text("mark")
    assert {path.name for path in tmp_path.iterdir()} >= {"two", "three", "four"}


def test_files_put_into_the_target_meanwhile_are_not_lost(tmp_path):
    fill(tmp_path / "out", "old")
    with pytest.raises(WriteError, match="holds other files"), draft(tmp_path / "out", OWNED) as made:
        (made / "mark").write_text("mark")
        (tmp_path / "out" / "thesis.tex").write_text("years of work")
    assert (tmp_path / "out" / "thesis.tex").read_text() == "years of work"
    assert not drafts(tmp_path / "out")


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from shoal.io.bundle import draft
    calls = 0
    def hook(event, args):
        global calls
        if event in ("open", "os.mkdir", "os.rename", "os.chmod", "os.remove", "os.rmdir", "ctypes.call_function"):
            calls += 1
            if calls == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
    target = Path(sys.argv[1])
    sys.addaudithook(hook)
    with draft(target, {"mark": "mark", "data": ""}) as made:
        (made / "mark").write_text("mark")
        (made / "data").write_text("new" * 1000)
    print(calls)
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_kill_at_any_point_leaves_the_old_folder_or_the_complete_new_one(tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(KILLED))
    seen = set()
    for point in range(1, 200):
        target = tmp_path / f"out{point}"
        fill(target, "old")
        done = subprocess.run([sys.executable, str(script), str(target), str(point)], capture_output=True, check=False)
        content = (target / "data").read_text()
        assert content in ("old", "new" * 1000)
        assert (target / "mark").read_text() == "mark"
        seen.add(content[:3])
        if done.returncode == 0:
            break
    else:
        pytest.fail("the script never ended by itself")
    assert seen == {"old", "new"}
    fill(target, "newest")
    assert not drafts(target)


def test_a_folder_with_only_the_file_names_of_a_release_is_not_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mark").write_text("something of my own")
    with pytest.raises(WriteError, match="holds other files"):
        fill(tmp_path / "out", "new")


def test_the_working_directory_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WriteError, match="the current folder"):
        fill(".", "new")


def test_names_that_only_look_like_drafts_are_left_alone(tmp_path):
    for name in (".out.shoal-999999-keep", ".out.shoal-²-00000000", ".out.shoal-99999999999999999999-00000000"):
        (tmp_path / name).mkdir()
    strange = tmp_path / ".out.shoal-999999-00000000"
    strange.mkdir()
    (strange / "thesis.tex").write_text("years of work")
    copied = tmp_path / ".other.shoal-999999-00000000"
    copied.mkdir()
    (copied / bundle.MARK).write_text("another mark")
    (tmp_path / ".linked.shoal-999999-00000000").symlink_to(strange)
    fill(tmp_path / "out", "new")
    assert len(list(tmp_path.iterdir())) == 7
    assert (strange / "thesis.tex").read_text() == "years of work"


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(WriteError, match="cannot be written"):
        fill(tmp_path / ("x" * 300), "new")


TWO_WRITERS = """
    import sys
    import pyarrow as pa, shoal
    for turn in range(15):
        table = pa.table({"a": [int(sys.argv[1]) + turn] * 4})
        shoal.anonymize(table, k=2).save("rel", private="prv", report=False)
"""


@pytest.mark.slow
@pytest.mark.process
def test_two_writers_leave_a_map_that_belongs_to_the_release(tmp_path):
    script = tmp_path / "writer.py"
    script.write_text(textwrap.dedent(TWO_WRITERS))
    (tmp_path / "work").mkdir()
    running = [
        subprocess.Popen([sys.executable, str(script), str(start)], cwd=tmp_path / "work") for start in (100, 500)
    ]
    assert [one.wait() for one in running] == [0, 0]
    certificate = hashlib.sha256((tmp_path / "work" / "rel" / "certificate.json").read_bytes()).hexdigest()
    assert json.loads((tmp_path / "work" / "prv" / "findings.json").read_text())["certificate"] == certificate
    assert {path.name for path in (tmp_path / "work").iterdir()} == {"rel", "prv"}


def test_a_path_with_a_null_character_is_refused(tmp_path):
    for place in (f"{tmp_path}/a\0b", tmp_path / "a\0b"):
        with pytest.raises(WriteError, match="contains a null character"):
            fill(place, "new")
