"""Folders that appear complete or not at all, singly or several together.

1. A box is created beside each target: a folder whose name contains the process number, with a marker file that is
   locked while its process works on it, and the draft, another folder.
2. Everything is written into the drafts and checked there; then files and folders are flushed to disk.
3. The drafts replace their targets, all of them or none: see `swaps`. The boxes, with the former contents of the
   targets, are removed last.

A kill at any moment leaves the old folders or the complete new ones, if necessary after the next process has finished
the swap (`settle`). Boxes of dead processes are removed by the next process that writes beside them.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from shoal.errors import ReadError, WriteError, kind_of
from shoal.io.locks import PATIENCE, alive, locked, try_lock
from shoal.io.swaps import BOX, JOURNAL, Move, appear, mine, partners, recover, sync
from shoal.model.progress import announce

# A file of every folder that shoal writes, and a string in it.
OURS = {
    "certificate.json": "urn:shoal:",
    "findings.json": '"certificate"',
    "explore.json": '"shoal exploration"',
    "compare.json": '"shoal comparison"',
}
SHORT = 60  # characters of a file name that are part of the name of its draft
MARK, MARKED = "shoal-draft", b"A draft of shoal. It may be deleted if no run of shoal is under way.\n"


@dataclass(frozen=True)
class Place:
    """Where a folder is to appear: the target may be absent, empty, or an earlier folder of the same kind.

    `owned` lists the files that such an earlier folder may contain, each with a string found in it; the first file is
    compulsory. A `private` folder is readable by its owner alone.
    """

    folder: str | Path
    owned: Mapping[str, str]
    private: bool = False


@contextmanager
def draft(folder: str | Path, owned: Mapping[str, str], *, private: bool = False) -> Iterator[Path]:
    """Yield a folder to write into that becomes `folder` if the block ends without an error; see `Place`."""
    with drafts(Place(folder, owned, private)) as (made,):
        yield made


@contextmanager
def drafts(*places: Place, patience: float = PATIENCE) -> Iterator[tuple[Path, ...]]:
    """Yield one draft folder per place; they replace their targets together if the block ends without an error.

    `patience` is the number of seconds to wait for other processes that write beside the targets.
    """
    names = " and ".join(repr(str(place.folder)) for place in places)
    for place in places:
        check_target(place.folder, place.owned)
    try:
        targets = [_real(place.folder) for place in places]
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        parents = {target.parent for target in targets}
        with ExitStack() as held:
            with _settled(parents, patience):
                _refuse_unsettled(targets)
                moves = [held.enter_context(_box(target)) for target in targets]
            yield tuple(move.draft for move in moves)
            for move, place in zip(moves, places, strict=True):
                _flush(move.draft, private=place.private)
                sync(move.box)
            with _settled(parents, patience):
                _refuse_unsettled(targets)
                for place in places:
                    check_target(place.folder, place.owned)  # again: another process may have written here
                appear(moves)
    except OSError as problem:
        raise WriteError(f"write: {names} cannot be written: {problem.strerror or 'unknown reason'}.") from None


@contextmanager
def draft_file(place: Path, mode: int, *, patience: float = PATIENCE) -> Iterator[Path]:
    """Yield a file to write that replaces `place` in one step if the block ends without an error.

    The caller has checked that `place` is absent or may be replaced; `mode` gives the permissions of the new file.
    """
    try:
        target = _real(place)
        target.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            with _settled({target.parent}, patience):
                box = held.enter_context(_box(target.with_name(target.name[:SHORT]))).box
            made = box / "file"
            made.touch(mode=mode)
            yield made
            sync(made)
            made.replace(target)
            sync(target.parent)
    except OSError as problem:
        raise WriteError(f"write: {str(place)!r} cannot be written: {problem.strerror or 'unknown reason'}.") from None


def settle(*folders: str | Path | None, patience: float = PATIENCE) -> None:
    """Finish or undo what a killed process left half done, before these folders are read.

    Where nothing was left behind, this costs a check for one file. `patience` is the number of seconds to wait for a
    process that is writing the folders now. What is not a path is refused.
    """
    for folder in folders:
        if not isinstance(folder, str | os.PathLike | None):
            raise ReadError(f"read: expected the path of a folder; got {kind_of(folder)}.")
    with suppress(OSError, ValueError):  # what cannot be repaired can still be read
        journals = [_journal(_real(folder)) for folder in folders if folder is not None]
        left = [path for path in journals if os.path.lexists(path)]
        if left:
            with suppress(WriteError), _settled({path.parent for path in left}, patience):
                pass
        for path in left:
            if os.path.lexists(path):
                announce(f"read: {_unsettled(path)}")


def is_folder(source: object) -> bool:
    """Return whether a source is given as the path of a folder."""
    return isinstance(source, str | os.PathLike) and Path(source).is_dir()


def is_left_over(name: str) -> bool:
    """Return whether a file or folder of this name may have been left behind by a killed process."""
    return bool(BOX.fullmatch(name) or JOURNAL.fullmatch(name))


def check_target(folder: str | Path, owned: Mapping[str, str]) -> Path:
    """Return the target's absolute path; refuse one that holds anything but an earlier folder of the same kind."""
    target = _absolute(folder)
    first, mark = next(iter(owned.items()))
    try:
        if target == Path.cwd():
            raise WriteError("write: the current folder cannot be replaced. Choose a folder below it.")
        if target.is_symlink() or (target.exists() and not target.is_dir()):
            raise WriteError(f"write: {str(target)!r} is not a folder. Choose another place.")
        names = {path.name for path in target.iterdir()} if target.is_dir() else set()
        if names and not (names <= set(owned) and _made(target / first, mark)):
            raise WriteError(
                f"write: {str(target)!r} holds other files, which shoal will not replace. Choose a new folder."
            )
        there = next(parent for parent in target.parents if parent.exists())
        if not os.access(there, os.W_OK | os.X_OK):
            raise WriteError(f"write: {str(folder)!r} cannot be written: {str(there)!r} is not accessible.")
    except OSError as problem:
        raise WriteError(f"write: {str(folder)!r} cannot be written: {problem.strerror}.") from None
    return target


def check_outside(folder: str | Path) -> None:
    """Refuse a target inside a folder that shoal wrote, and what is not a path."""
    target = _absolute(folder)
    if any(_made(parent / name, mark) for parent in target.parents for name, mark in OURS.items()):
        raise WriteError(f"write: {str(target)!r} is inside a folder that shoal wrote. Choose another place.")


def _absolute(folder: str | Path) -> Path:
    """Return the absolute path of a target; refuse what is not a path."""
    if not isinstance(folder, str | os.PathLike):
        raise WriteError(f"write: expected the path of a folder; got {kind_of(folder)}.")
    if "\0" in os.fspath(folder):
        raise WriteError(f"write: {os.fspath(folder)!r} contains a null character. Choose another place.")
    return Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link and replace its target


def _made(path: Path, mark: str) -> bool:
    """Return whether a file exists and contains the marker of shoal."""
    try:
        if not path.is_file():
            return False
        with path.open(encoding="utf-8", errors="replace") as file:
            return mark in file.read(1 << 26)
    except OSError:
        return False


@contextmanager
def _settled(parents: set[Path], patience: float) -> Iterator[None]:
    """Lock folders, and clear up what dead processes have left in them and in the folders linked to it."""
    wanted = set(parents)
    while True:
        wanted = wanted.union(*(partners(parent) for parent in wanted))
        with locked(*wanted, patience=patience) as sure:
            if all(partners(parent) <= wanted for parent in wanted):
                _sweep(wanted, {box for parent in wanted for box in recover(parent, sure=sure)})
                yield
                return


def _refuse_unsettled(targets: list[Path]) -> None:
    """Refuse to overwrite what was left half done and cannot be repaired."""
    for target in targets:
        if os.path.lexists(_journal(target)):
            raise WriteError(f"write: {_unsettled(_journal(target))}")


def _unsettled(journal: Path) -> str:
    """Explain a journal that could not be resolved."""
    return (
        f"an earlier run was interrupted while it replaced the folders named in {str(journal)!r}, and they have been "
        "moved or changed since. Put them back, or delete this file to keep them as they are."
    )


def _real(folder: str | Path) -> Path:
    """Return the absolute path of a target, with links in its parents resolved."""
    target = _absolute(folder)
    return Path(os.path.realpath(target.parent)) / target.name


def _journal(target: Path) -> Path:
    """Return the path of a target's journal."""
    return Move(target, target).journal


@contextmanager
def _box(target: Path) -> Iterator[Move]:
    """Yield a marked and locked box with an empty draft beside a target; remove it with its contents afterwards."""
    box = target.parent / f".{target.name}.shoal-{os.getpid()}-{secrets.token_hex(4)}"
    move = Move(target, box)
    box.mkdir(mode=0o700)
    try:
        handle = os.open(box / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(handle, MARKED)
            try_lock(handle)
            move.draft.mkdir(mode=0o700)
            yield move
        finally:
            if not os.path.lexists(move.journal):  # else it may still be needed
                with suppress(OSError):
                    _discard(box)
            os.close(handle)
    finally:
        with suppress(OSError):
            box.rmdir()  # it is empty, or it stays


def _sweep(parents: set[Path], kept: set[Path]) -> None:
    """Remove the boxes of dead processes except `kept`, and nothing that shoal did not create for this user."""
    for box in [path for parent in parents for path in parent.iterdir()]:
        named = BOX.fullmatch(box.name)
        if named and box not in kept:
            with suppress(OSError):
                _sweep_box(box, int(named[2]))


def _sweep_box(box: Path, process: int) -> None:
    """Remove a box if its process is dead: its marker is not locked or, where there are no locks, it is not running."""
    found = box.lstat()
    if not (stat.S_ISDIR(found.st_mode) and mine(found)):
        return
    if not os.path.lexists(box / MARK):
        if not alive(process):
            box.rmdir()  # only if it is empty
        return
    handle = os.open(box / MARK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        ours = stat.S_ISREG(os.fstat(handle).st_mode) and MARKED.startswith(os.read(handle, len(MARKED) + 1))
        free = try_lock(handle)
        if ours and (free or (free is None and not alive(process))):
            _discard(box)
            box.rmdir()
    finally:
        os.close(handle)


def _discard(box: Path) -> None:
    """Remove the contents of a box, its marker last: what is left after a kill can still be recognized as a draft."""
    for path in box.iterdir():
        if path.name != MARK:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    if [path.name for path in box.iterdir()] == [MARK]:
        (box / MARK).unlink()


def _flush(folder: Path, *, private: bool) -> None:
    """Set permissions and flush every file to disk."""
    mask = os.umask(0)
    os.umask(mask)
    for path in folder.iterdir():
        path.chmod(0o600 if private else 0o666 & ~mask)
        sync(path)
    folder.chmod(0o700 if private else 0o777 & ~mask)
    sync(folder)
