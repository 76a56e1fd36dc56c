"""Waiting for a lock of another process: with a message, and not for ever."""

import os
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager

import pytest

from shoal.errors import WriteError
from shoal.io import locks
from shoal.io.bundle import Place, drafts
from shoal.io.locks import alive, locked
from shoal.model.progress import listening

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks"),
]

HOLD = """
    import sys, time
    from pathlib import Path
    from shoal.io.locks import locked
    with locked(Path(sys.argv[1])):
        Path(sys.argv[2]).touch()
        time.sleep(float(sys.argv[3]))
"""


@contextmanager
def held(folder, seconds=60.0):
    """Let another process hold the lock of a folder."""
    ready = folder.parent / f"{folder.name}-is-held"
    running = subprocess.Popen([sys.executable, "-c", textwrap.dedent(HOLD), str(folder), str(ready), str(seconds)])
    try:
        while not ready.exists():
            assert running.poll() is None
            time.sleep(0.02)
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "here"
    place.mkdir()
    return place


def write(folder, patience):
    with drafts(Place(folder / "out", {"mark": ""}), patience=patience) as (made,):
        (made / "mark").touch()


def test_waiting_for_a_lock_ends_after_a_while(folder):
    with held(folder):
        start = time.monotonic()
        with pytest.raises(WriteError, match=r"another process has been writing into '.*here' for 0.3 seconds"):
            write(folder, 0.3)
        assert 0.3 <= time.monotonic() - start < 10
    assert list(folder.iterdir()) == []


def test_the_reason_for_waiting_is_announced_once(folder, monkeypatch):
    monkeypatch.setattr(locks, "QUIET", 0.1)
    messages = []
    with held(folder), listening(lambda *_: None, messages.append), pytest.raises(WriteError):
        write(folder, 0.5)
    assert messages == [f"write: another process is writing into {str(folder)!r}; waiting up to 0.5 seconds."]


def test_a_short_wait_is_not_announced(folder):
    messages = []
    with held(folder, 0.3), listening(lambda *_: None, messages.append):
        write(folder, 60)
    assert messages == []
    assert [path.name for path in folder.iterdir()] == ["out"]


def test_a_killed_process_holds_no_lock(folder):
    with held(folder) as running:
        running.kill()
        write(folder, 10)
    assert [path.name for path in folder.iterdir()] == ["out"]


def test_one_folder_under_two_names_is_locked_once(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    with locked(folder, tmp_path / "link", patience=0.2) as sure:
        assert sure


def test_a_file_system_without_locks_is_used_and_announced(folder, monkeypatch):
    monkeypatch.setattr(locks, "try_lock", lambda _: None)
    with locked(folder, patience=0.2) as sure:
        assert not sure
    write(folder, 0.2)
    assert [path.name for path in folder.iterdir()] == ["out"]


def test_a_running_process_is_known_to_be_alive():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert alive(os.getpid())
    assert not alive(gone.pid)
    assert not alive(10**30)
