"""An interrupted swap is finished or undone by the next process, and other folders are left alone."""

import json
import os
import shutil
import sys

import pytest

from shoal.errors import WriteError
from shoal.io import bundle, swaps
from shoal.io.bundle import Place, drafts, settle
from shoal.model.progress import listening

OWNED = {"mark": "mark", "data": ""}


class Killed(BaseException):
    """Simulates a kill: nothing is cleaned up after it."""


@pytest.fixture
def places(tmp_path):
    found = tmp_path / "a" / "release", tmp_path / "b" / "private"
    put(found, "old")
    return found


def put(places, text):
    with drafts(*(Place(place, OWNED) for place in reversed(places))) as folders:
        for folder in folders:
            (folder / "mark").write_text("mark")
            (folder / "data").write_text(text)


def interrupted(places, monkeypatch, swapped=1, text="new"):
    """Write two folders, and stop dead when this many of them are in place."""
    whole, count = swaps._swap, 0

    def swap(move):
        nonlocal count
        if count == swapped:
            raise Killed
        count += 1
        whole(move)

    def stop(*_):
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(swaps, "_swap", swap)
        patched.setattr(swaps, "_resolve", stop)
        patched.setattr(swaps, "_forget", stop)
        patched.setattr(bundle, "_discard", stop)
        put(places, text)


def found(places):
    return [(place / "data").read_text() if place.exists() else None for place in places]


def names(places):
    return {path.name for place in places for path in place.parent.iterdir()}


@pytest.mark.parametrize("swapped", [0, 1])
@pytest.mark.parametrize("reader", [0, 1])
def test_reading_either_folder_finishes_the_swap(places, monkeypatch, swapped, reader):
    interrupted(places, monkeypatch, swapped)
    assert found(places) == (["old", "old"] if swapped == 0 else ["old", "new"])
    settle(places[reader])
    assert found(places) == ["new", "new"]
    assert names(places) == {"release", "private"}


def test_writing_beside_them_finishes_the_swap(places, monkeypatch):
    interrupted(places, monkeypatch)
    put((places[0].parent / "other", places[0].parent / "another"), "x")
    assert found(places) == ["new", "new"]


def test_a_moved_directory_is_still_repaired(places, monkeypatch, tmp_path):
    interrupted(places, monkeypatch)
    moved = [tmp_path / "moved" / place.parent.name / place.name for place in places]
    (tmp_path / "moved").mkdir()
    for place, new in zip(places, moved, strict=True):
        place.parent.rename(new.parent)
    settle(moved[1])
    assert found(moved) == ["new", "new"]


def test_a_damaged_draft_undoes_the_swap(places, monkeypatch):
    interrupted(places, monkeypatch)
    (box,) = places[0].parent.glob(".release.shoal-*-*")
    (box / "new" / "data").write_text("damaged")
    settle(places[1])
    assert found(places) == ["old", "old"]
    assert names(places) == {"release", "private"}


def test_a_deleted_target_is_restored(places, monkeypatch):
    interrupted(places, monkeypatch)
    shutil.rmtree(places[1])
    settle(places[0])
    assert found(places) == ["old", "old"]


def test_another_folder_in_place_of_a_target_is_left_alone(places, monkeypatch):
    interrupted(places, monkeypatch)
    shutil.rmtree(places[0])
    places[0].mkdir()
    (places[0] / "thesis.tex").write_text("years of work")
    messages = []
    with listening(lambda *_: None, messages.append):
        settle(places[0])
    assert len(messages) == 1
    assert ".release.shoal-journal" in messages[0]
    assert (places[0] / "thesis.tex").read_text() == "years of work"
    (places[0] / "thesis.tex").unlink()
    (places[0] / "mark").write_text("mark")
    with pytest.raises(WriteError, match="an earlier run was interrupted"):
        put(places, "newest")
    put((places[0].parent / "other",), "x")  # unrelated folders can be written
    for place in places:
        (place.parent / f".{place.name}.shoal-journal").unlink()
    put(places, "newest")
    assert found(places) == ["newest", "newest"]
    assert names(places) == {"release", "private", "other"}


@pytest.mark.parametrize("gone", [0, 1])
def test_a_missing_disk_is_waited_for(places, monkeypatch, gone, tmp_path):
    interrupted(places, monkeypatch)
    away, here = places[gone].parent, places[1 - gone]
    away.rename(tmp_path / "unplugged")
    away.mkdir()  # as the mount point of a disk exists without it
    before = names(places)
    settle(here)
    assert names(places) == before
    away.rmdir()
    (tmp_path / "unplugged").rename(away)
    settle(here)
    assert found(places) == ["new", "new"]
    assert names(places) == {"release", "private"}


def test_new_folders_are_both_kept_if_one_disk_is_missing(monkeypatch, tmp_path):
    places = tmp_path / "a" / "release", tmp_path / "b" / "private"
    interrupted(places, monkeypatch, swapped=2)
    places[0].parent.rename(tmp_path / "unplugged")
    places[0].parent.mkdir()
    settle(places[1])
    places[0].parent.rmdir()
    (tmp_path / "unplugged").rename(places[0].parent)
    settle(places[1])
    assert found(places) == ["new", "new"]
    assert names(places) == {"release", "private"}


def test_a_swap_that_fails_is_undone_at_once(places, monkeypatch):
    def refuse(move):
        if move.target.name == "release":
            raise PermissionError(13, "Permission denied")
        whole(move)

    whole = swaps._swap
    with monkeypatch.context() as patched:
        patched.setattr(swaps, "_swap", refuse)
        with pytest.raises(WriteError, match="cannot be written: Permission denied"):
            put(places, "new")
    assert found(places) == ["old", "old"]
    assert names(places) == {"release", "private"}


def test_after_an_interrupt_between_the_swaps_both_are_finished(places, monkeypatch):
    whole = swaps._swap

    def stop(move):
        if move.target.name == "release" and not stopped:
            stopped.append(True)
            raise SystemExit(143)
        whole(move)

    stopped = []
    monkeypatch.setattr(swaps, "_swap", stop)
    with pytest.raises(SystemExit):
        put(places, "new")
    assert found(places) == ["new", "new"]
    assert names(places) == {"release", "private"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such links")
@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts["moves"][0].update(target="../../elsewhere"),
        lambda facts: facts["moves"][0].update(box="thesis"),
        lambda facts: facts["moves"][0].update(box=".other.shoal-1-00000000"),
        lambda facts: facts.update(kind="something else"),
        lambda facts: facts.update(moves=[]),
        lambda facts: facts.update(moves="x"),
        lambda facts: facts.clear(),
    ],
)
def test_a_journal_that_shoal_did_not_write_moves_nothing(places, monkeypatch, change):
    interrupted(places, monkeypatch)
    for place in places:
        journal = place.parent / f".{place.name}.shoal-journal"
        facts = json.loads(journal.read_text())
        change(facts)
        journal.write_text(json.dumps(facts))
    before = found(places)
    settle(*places)
    assert found(places) == before
    with pytest.raises(WriteError, match="delete this file"):
        put(places, "newest")


def test_a_journal_of_another_user_moves_nothing(places, monkeypatch):
    interrupted(places, monkeypatch)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    settle(*places)
    assert found(places) == ["old", "new"]


def test_without_locks_a_running_process_is_left_alone(places, monkeypatch):
    interrupted(places, monkeypatch)
    for place in places:
        journal = place.parent / f".{place.name}.shoal-journal"
        journal.write_text(json.dumps(json.loads(journal.read_text()) | {"process": os.getppid()}))
    with monkeypatch.context() as patched:
        patched.setattr("shoal.io.locks.try_lock", lambda _: None)
        patched.setattr(bundle, "try_lock", lambda _: None)
        settle(*places)
        assert found(places) == ["old", "new"]
    settle(*places)
    assert found(places) == ["new", "new"]


def test_names_that_no_system_allows_need_no_repair():
    settle("a\0b", "", "/", None, "https://example.org/x")
