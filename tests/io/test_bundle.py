"""Folders appear whole or not at all."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import textwrap

import pytest

from shoal.errors import WriteError
from shoal.io import bundle
from shoal.io.bundle import draft

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
    monkeypatch.setattr(bundle, "_exchange", lambda *_: False)
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


def test_a_place_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        fill(tmp_path / "file" / "out", "new")


def test_private_folders_are_for_the_owner_alone(tmp_path):
    with draft(tmp_path / "out", OWNED, private=True) as made:
        (made / "mark").write_text("")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "out" / "mark").stat().st_mode) == 0o600


def test_drafts_of_dead_processes_are_swept_up_and_others_left(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = tmp_path / f".out.shoal-{gone.pid}-0a0b0c0d"
    mine = tmp_path / f".out.shoal-{os.getpid()}-0a0b0c0d"
    dead.mkdir()
    mine.mkdir()
    fill(tmp_path / "out", "new")
    assert not dead.exists()
    assert mine.exists()


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


def test_a_folder_that_only_has_the_names_of_a_release_is_not_replaced(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mark").write_text("something of my own")
    with pytest.raises(WriteError, match="holds other files"):
        fill(tmp_path / "out", "new")


def test_the_folder_that_one_is_in_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WriteError, match="the folder that you are in"):
        fill(".", "new")


def test_names_that_only_look_like_drafts_are_left_alone(tmp_path):
    for name in (".out.shoal-999999-keep", ".out.shoal-²-00000000", ".out.shoal-99999999999999999999-00000000"):
        (tmp_path / name).mkdir()
    fill(tmp_path / "out", "new")
    assert len(list(tmp_path.iterdir())) == 4


def test_a_name_that_is_too_long_is_refused(tmp_path):
    with pytest.raises(WriteError, match="cannot be written"):
        fill(tmp_path / ("x" * 300), "new")


TWO_WRITERS = """
    import sys
    import pyarrow as pa, shoal
    for turn in range(15):
        table = pa.table({"a": [int(sys.argv[1]) + turn] * 4})
        shoal.anonymize(table, k=2).save("rel", private="prv")
"""


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
