"""The folder of an exploration: private, whole at any time, and never somebody else's."""

import os
import stat

import pytest

import shoal
from shoal.errors import WriteError
from shoal.explore.folder import Folder


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_nobody_but_the_owner_may_look_inside(tmp_path):
    mask = os.umask(0)
    try:
        folder = Folder(tmp_path / "explored")
        folder.keep("a", {"x": 1})
        folder.keep_trials({})
        folder.finish("page", "{}", {"mdav-k3": "k = 3"})
    finally:
        os.umask(mask)
    paths = [folder.place, *folder.place.rglob("*")]
    assert len(paths) == 9
    assert {mode(path) for path in paths if path.is_dir()} == {0o700}
    assert {mode(path) for path in paths if path.is_file()} == {0o600}


def test_what_was_kept_is_found_again_and_what_is_not_whole_is_not(tmp_path):
    folder = Folder(tmp_path / "explored")
    folder.keep("a", {"x": 1})
    again = Folder(tmp_path / "explored")
    assert again.key == folder.key
    assert len(folder.key) == 32
    assert again.point("a") == {"x": 1}
    assert again.point("b") is None
    (again.place / "points" / "a.json").write_text('{"x": ')
    assert again.point("a") is None


def test_drafts_of_a_killed_run_are_swept_up(tmp_path):
    folder = Folder(tmp_path / "explored")
    left = folder.place / "points" / ".a.json.123.draft"
    left.write_text("{")
    Folder(tmp_path / "explored")
    assert not left.exists()


def test_policies_of_an_earlier_front_are_put_aside_and_not_lost(tmp_path):
    folder = Folder(tmp_path / "explored")
    folder.finish("page", "{}", {"mdav-k3": "k = 3", "mdav-k5": "k = 5"})
    folder.finish("page", "{}", {"mdav-k5": "k = 5"})
    assert [path.name for path in (folder.place / "front").glob("*.toml")] == ["mdav-k5.toml"]
    assert (folder.place / "front" / "earlier" / "mdav-k3.toml").read_text() == "k = 3"
    assert Folder(folder.place).point("none") is None  # it is still a folder of ours


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(WriteError, match="holds other files, which shoal will not touch"):
        Folder(tmp_path / "mine")
    (tmp_path / "file").write_text("x")
    with pytest.raises(WriteError, match="is not a folder"):
        Folder(tmp_path / "file")
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


def test_a_release_is_no_place_for_an_exploration(tmp_path):
    table = shoal.sample(60).select(["days", "cost_eur"])
    shoal.anonymize(table, k=3, method="mdav").save(tmp_path / "release")
    with pytest.raises(WriteError, match="lies inside a folder that shoal wrote"):
        Folder(tmp_path / "release" / "explored")


def test_a_damaged_key_is_told(tmp_path):
    folder = Folder(tmp_path / "explored")
    (folder.place / "key").write_text("no key")
    with pytest.raises(WriteError, match="its key is damaged"):
        Folder(tmp_path / "explored")
