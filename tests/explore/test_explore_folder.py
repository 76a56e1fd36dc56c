"""The folder of an exploration: private, intact at any time, and never a folder of someone else."""

import errno
import os
import stat
import subprocess
import sys

import pytest

import shoal
from shoal.errors import WriteError
from shoal.exploration.folder import Folder
from shoal.model.progress import listening


@pytest.fixture
def place(tmp_path):
    return tmp_path / "explored"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def seen(folder):
    """Everything in a folder, with its permissions."""
    return {
        str(path.relative_to(folder)): (mode(path), path.read_bytes() if path.is_file() else None)
        for path in (folder, *folder.rglob("*"))
    }


def finish(place, **policies):
    with Folder(place) as folder:
        folder.finish("page", "{}", {name.replace("_", "-"): text for name, text in policies.items()})


def test_only_the_owner_has_access(place):
    mask = os.umask(0)
    try:
        with Folder(place) as folder:
            folder.keep("points/a", {"x": 1})
            folder.keep("preflight", {})
            folder.finish("page", "{}", {"mdav-k3": "k = 3"})
    finally:
        os.umask(mask)
    paths = [place, *place.rglob("*")]
    assert len(paths) == 10
    assert {mode(path) for path in paths if path.is_dir()} == {0o700}
    assert {mode(path) for path in paths if path.is_file()} == {0o600}


def test_saved_results_are_found_again(place):
    with Folder(place) as folder:
        folder.keep("points/a", {"x": 1})
        folder.keep("preflight", {"y": {"rows": [1]}})
    with Folder(place) as again:
        assert again.key == folder.key
        assert len(folder.key) == 32
        assert again.kept("points/a") == {"x": 1}
        assert again.kept("points/b") == {}
        assert again.kept("preflight") == {"y": {"rows": [1]}}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', "[" * 100_000, '{"x": 1}', '{"seal": "0", "facts": {}}', "\xff"]
)
def test_changed_results_are_ignored(place, text):
    with Folder(place) as folder:
        folder.keep("points/a", {"x": 1})
        folder.keep("preflight", {"y": 1})
        for name in ("points/a.json", "preflight.json"):
            (place / name).write_text(text, encoding="latin-1")
        assert folder.kept("points/a") == {}
        assert folder.kept("preflight") == {}


def test_a_changed_number_is_noticed_and_so_is_a_file_of_another_name(place):
    with Folder(place) as folder:
        folder.keep("points/a", {"x": 1})
        path = place / "points" / "a.json"
        (place / "points" / "b.json").write_bytes(path.read_bytes())
        path.write_text(path.read_text().replace('"x": 1', '"x": 2'))
        assert folder.kept("points/a") == {}
        assert folder.kept("points/b") == {}


def test_drafts_of_a_killed_run_are_removed(place):
    Folder(place).close()
    left = [place / name for name in (".explore.json.9.draft", "points/.a.json.123.draft", "front/.b.toml.7.draft")]
    for path in left:
        path.write_text("{")
    Folder(place).close()
    assert not any(path.exists() for path in left)


def test_a_full_disk_is_reported_and_leaves_no_draft(place, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with Folder(place) as folder:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match="cannot be used: No space left on device"):
            folder.finish("page", "{}", {"mdav-k3": "k = 3"})
    assert not list(place.rglob("*.draft"))


def test_a_folder_is_used_by_one_exploration_at_a_time(place):
    with Folder(place) as folder:
        draft = place / "points" / f".a.json.{os.getpid()}.draft"
        draft.write_text("{")
        before = seen(place)
        with pytest.raises(WriteError, match="another exploration is using the folder"):
            Folder(place)
        assert seen(place) == before
        draft.unlink()
        folder.keep("points/a", {"x": 1})
    with Folder(place) as again:
        assert again.kept("points/a") == {"x": 1}


@pytest.mark.process
def test_a_killed_process_does_not_lock_the_folder(place):
    code = "from shoal.exploration.folder import Folder\n"
    code += f"held = Folder({str(place)!r})\nprint('held', flush=True)\ninput()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(WriteError, match="another exploration is using"):
            Folder(place)
    finally:
        other.kill()
        other.communicate()
    Folder(place).close()


def test_policies_of_an_earlier_front_are_renamed_and_not_lost(place):
    finish(place, mdav_k3="k = 3\n", mdav_k5="k = 5\n")
    finish(place, mdav_k5="k = 5\n")
    assert [path.name for path in (place / "front").glob("*.toml")] == ["mdav-k5.toml"]
    assert (place / "front" / "earlier" / "mdav-k3.toml").read_text().startswith("k = 3\n# ")
    Folder(place).close()  # it is still an exploration folder


def test_foreign_files_in_the_front_folder_stay(place):
    finish(place, mdav_k3="k = 3\n")
    front = place / "front"
    written = (front / "mdav-k3.toml").read_bytes()
    (front / "chosen.toml").write_bytes(written)
    (front / "notes.txt").write_text("mine")
    (front / "link.toml").symlink_to("mdav-k3.toml")
    finish(place, mdav_k5="k = 5\n")
    assert (front / "chosen.toml").read_bytes() == written
    assert (front / "notes.txt").read_text() == "mine"
    assert (front / "link.toml").is_symlink()
    assert {path.name for path in (front / "earlier").iterdir()} == {"mdav-k3.toml"}


def test_an_edited_policy_stays_or_is_renamed_before_it_is_replaced(place):
    finish(place, mdav_k3="k = 3\n", mdav_k5="k = 5\n")
    front, messages = place / "front", []
    for edit in ("k = 33\n", "k = 34\n", "k = 33\n"):
        for name in ("mdav-k3", "mdav-k5"):
            (front / f"{name}.toml").write_text(edit)
        with listening(lambda *_: None, messages.append):
            finish(place, mdav_k5="k = 5\n")
        assert (front / "mdav-k3.toml").read_text() == edit  # not Pareto-optimal, and edited
        assert (front / "mdav-k5.toml").read_text().startswith("k = 5\n")
    aside = {path.name: path.read_text() for path in (front / "earlier").iterdir()}
    assert aside == {"mdav-k5.toml": "k = 33\n", "mdav-k5-2.toml": "k = 34\n"}
    assert messages[0] == "explore: front/mdav-k5.toml was edited; it has been moved to front/earlier/mdav-k5.toml."
    finish(place, mdav_k5="k = 5\n")
    assert len(messages) == 3


@pytest.mark.parametrize(
    "files",
    [
        {"letter.txt": "dear"},
        {"key": "0" * 64, "letter.txt": "dear"},
        {"points/mine.json": "{}"},
        {"front/chosen.toml": "k = 3"},
        {"lock": "a lock of my own"},
        {"explore.html": "mine"},
        {"key": "0" * 64, "points": "a file"},
        {".notes.5.draft": "mine"},
    ],
)
def test_a_foreign_folder_is_refused_and_left_unchanged(place, files):
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    place.chmod(0o755)
    before = seen(place)
    with pytest.raises(WriteError, match="holds other files, which shoal will not touch"):
        Folder(place)
    assert seen(place) == before


@pytest.mark.parametrize("key", ["no key", "", "ab", "0" * 63, "0" * 65, "0" * 64 + "\nmore", "g" * 64])
def test_a_damaged_key_is_reported_and_nothing_is_changed(place, key):
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    (place / "key").write_text(key)
    before = seen(place)
    with pytest.raises(WriteError, match="its key is damaged"):
        Folder(place)
    assert seen(place) == before


def test_a_run_killed_before_it_had_a_key_can_start_again(place):
    for name in ("points", "front"):
        (place / name).mkdir(parents=True)
    (place / "lock").touch()
    (place / ".key.12.draft").write_text("00")
    Folder(place).close()
    assert {path.name for path in place.iterdir()} == {"key", "lock", "points", "front"}


def test_a_file_is_refused_as_a_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(WriteError, match="is not a folder"):
        Folder(tmp_path / "file")


def test_a_release_folder_is_refused_for_an_exploration(tmp_path):
    table = shoal.sample(60).select(["days", "cost_eur"])
    shoal.anonymize(table, k=3, method="mdav").save(tmp_path / "release", report=False)
    with pytest.raises(WriteError, match="is inside a folder that shoal wrote"):
        Folder(tmp_path / "release" / "explored")
