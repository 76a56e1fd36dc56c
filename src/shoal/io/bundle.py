"""Folders that appear whole or not at all.

1. A draft folder is made beside the target, with a name that carries the process number.
2. Everything is written into the draft and checked there; then files and folder are flushed to disk.
3. The draft takes the target's place in one step: by rename if there is none, by an exchange of the two
   names (Linux) or two renames (elsewhere) if an earlier folder of shoal is there. What was there before is
   removed last.

A kill at any moment leaves the old folder or the complete new one; drafts of dead processes are swept up by
the next run.
"""

import ctypes
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from shoal.errors import WriteError

__all__ = ["check_outside", "check_target", "draft", "locked"]

EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
HERE = -100  # AT_FDCWD
# A file of every folder that shoal writes, and what stands in it.
OURS = {
    "certificate.json": "urn:shoal:",
    "findings.json": '"certificate"',
    "explore.json": '"shoal exploration"',
    "compare.json": '"shoal comparison"',
}


@contextmanager
def draft(folder: str | Path, owned: Mapping[str, str], *, private: bool = False) -> Iterator[Path]:
    """Give a folder to write into that becomes `folder` if the block ends without an error.

    Parameters
    ----------
    folder : path
        The target. It may be absent, empty, or an earlier folder of the same make.
    owned : mapping of str to str
        The files that an earlier folder of the same make may hold, and a word that stands in them; the first one
        it must hold.
    private : bool
        Whether only the owner may look inside.

    Yields
    ------
    Path
        The draft.
    """
    target = check_target(folder, owned)
    made = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
        made = target.parent / f".{target.name}.shoal-{os.getpid()}-{secrets.token_hex(4)}"
        made.mkdir(mode=0o700)
        yield made
        _flush(made, private=private)
        _swap(made, target)
    except OSError as problem:
        raise WriteError(f"write: {str(folder)!r} cannot be written: {problem.strerror or 'unknown reason'}.") from None
    finally:
        if made is not None and made.exists():
            shutil.rmtree(made, ignore_errors=True)


def check_target(folder: str | Path, owned: Mapping[str, str]) -> Path:
    """Return the target's full path, or refuse one that holds anything but an earlier folder of the same make."""
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link and replace its target
    first, mark = next(iter(owned.items()))
    try:
        if target == Path.cwd():
            raise WriteError("write: the folder that you are in cannot be replaced. Name a folder below it.")
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            raise WriteError(f"write: {str(target)!r} is not a folder. Choose another place.")
        names = {path.name for path in target.iterdir()} if target.is_dir() else set()
        if names and not (names <= set(owned) and _made(target / first, mark)):
            raise WriteError(
                f"write: {str(target)!r} holds other files, which shoal will not replace. Choose a new folder."
            )
        there = next(parent for parent in target.parents if parent.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise WriteError(f"write: {str(folder)!r} cannot be written: {str(there)!r} is closed.")
    except OSError as problem:
        raise WriteError(f"write: {str(folder)!r} cannot be written: {problem.strerror}.") from None
    return target


def check_outside(folder: str | Path) -> None:
    """Refuse a target inside any folder that holds a file with the mark of shoal."""
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - as in check_target
    if any(_made(parent / name, mark) for parent in target.parents for name, mark in OURS.items()):
        raise WriteError(f"write: {str(target)!r} lies inside a folder that shoal wrote. Choose another place.")


def _made(path: Path, mark: str) -> bool:
    """Say whether a file is there and bears the mark of shoal."""
    try:
        if not path.is_file():
            return False
        with path.open(encoding="utf-8", errors="replace") as file:
            return mark in file.read(1 << 26)
    except OSError:
        return False


@contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Let one process at a time write into these folders, where the system can lock a folder."""
    with ExitStack() as held:
        for folder in sorted(set(folders)):  # always in one order, so that two processes cannot wait for each other
            folder.mkdir(parents=True, exist_ok=True)
            if sys.platform.startswith("linux"):
                import fcntl

                handle = os.open(folder, os.O_RDONLY)
                held.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _sweep(target: Path) -> None:
    """Remove the drafts of processes that are no longer there."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.shoal-([0-9]{{1,9}})-[0-9a-f]{{8}}(-old)?", re.ASCII)
    for left in target.parent.iterdir():
        found = pattern.fullmatch(left.name)
        if found and not _alive(int(found[1])):
            shutil.rmtree(left, ignore_errors=True)


def _alive(number: int) -> bool:
    """Say whether a process runs."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _flush(folder: Path, *, private: bool) -> None:
    """Set permissions and bring every file to the disk."""
    mask = os.umask(0)
    os.umask(mask)
    for path in folder.iterdir():
        path.chmod(0o600 if private else 0o666 & ~mask)
        _sync(path)
    folder.chmod(0o700 if private else 0o777 & ~mask)
    _sync(folder)


def _swap(made: Path, target: Path) -> None:
    """Put the draft in the place of the target; what was there before is left under the draft's name."""
    if target.exists() and not _exchange(made, target):
        aside = made.with_name(made.name + "-old")
        target.rename(aside)
        made.rename(target)
        aside.rename(made)
    elif made.exists() and not target.exists():
        made.rename(target)
    _sync(target.parent)


def _exchange(made: Path, target: Path) -> bool:
    """Exchange two names in one step, where the system can."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(HERE, os.fsencode(made), HERE, os.fsencode(target), EXCHANGE) == 0)


def _sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
