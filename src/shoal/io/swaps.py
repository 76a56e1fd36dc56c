"""Swaps: drafts replace their targets, all of them or none.

1. A single draft takes its place in one step: by rename if there is no target, by an exchange of the two names (Linux)
   if an earlier folder exists.
2. Several drafts, and a single one where names cannot be exchanged, take several steps. Before the first of them, a
   journal is written beside each target, beside the first target last. Once that one exists, the swap is committed: if
   the process is killed after that, whoever finds a journal puts the remaining drafts in place. If that is impossible,
   what was swapped is swapped back.
3. The journal beside the first target is removed first. A journal without that first one commits nothing.

A journal names folders relative to its own and identifies each by the SHA-256 of its contents. A folder that is neither
the draft nor the former target is left alone.
"""

import ctypes
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.io.locks import alive

EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
HERE = -100  # AT_FDCWD
BOX = re.compile(r"\.(.+)\.shoal-([0-9]{1,9})-[0-9a-f]{8}", re.ASCII | re.DOTALL)
JOURNAL = re.compile(r"\.(.+)\.shoal-journal", re.DOTALL)
KIND = "shoal journal"
LONGEST = 1 << 16  # bytes of a journal
NEW, OLD, UNDONE = "new", "old", "undone"


@dataclass(frozen=True)
class Move:
    """A draft in its box, and its target; both are in one folder.

    `new` and `old` are the `contents` of draft and target; None for a target that does not exist.
    """

    target: Path
    box: Path
    new: str | None = None
    old: str | None = None

    @property
    def draft(self) -> Path:
        """The draft itself; after the swap, the former target."""
        return self.box / NEW

    @property
    def journal(self) -> Path:
        """The path of this target's journal."""
        return self.target.parent / f".{self.target.name}.shoal-journal"


@dataclass(frozen=True)
class _Journal:
    """A journal as read: its marker, the process that wrote it, and its moves."""

    mark: str
    process: int
    moves: tuple[Move, ...]
    places: tuple[int, ...]  # inodes of the parent folders of the targets


class _ChangedError(OSError):
    """A folder is not the one that the journal describes."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "a folder was changed by another process meanwhile")


def appear(moves: Sequence[Move]) -> None:
    """Put drafts in place of their targets; the former targets are left in the boxes.

    The parent folders are locked, and the drafts are flushed to disk.
    """
    if len(moves) == 1 and _at_once(moves[0]):
        return
    known = [replace(move, new=contents(move.draft), old=contents(move.target)) for move in moves]
    try:
        _write_journals(known)
        for move in known:
            _swap(move)
        _forget(known)
    except BaseException as problem:  # including signals, which are then handled like a kill
        if not (_resolve(known) and isinstance(problem, OSError)):
            raise


def partners(folder: Path) -> set[Path]:
    """Return the folders that the journals in a folder refer to."""
    found = (_read(path) for path in _journals(folder))
    return {move.target.parent for one in found if one for move in one.moves if move.target.parent.is_dir()}


def recover(folder: Path, *, sure: bool) -> set[Path]:
    """Finish or undo the swaps of the journals in a folder; return the boxes of those that remain.

    The folder and its `partners` are locked. If these locks are not `sure`, the journal of a running process is left
    alone.
    """
    kept: set[Path] = set()
    for path in _journals(folder):
        found = _read(path)
        if found is None:
            continue
        waits = not sure and found.process != os.getpid() and alive(found.process)
        try:
            if waits or not _finished(found, path):
                raise _ChangedError
        except OSError:
            kept |= {move.box for move in found.moves}
    return kept


def _finished(found: _Journal, path: Path) -> bool:
    """Finish or undo a swap; return whether that was possible."""
    decided = _read(found.moves[0].journal)
    if decided is not None and decided.mark == found.mark:
        # An unmounted disk looks like an empty folder.
        if not all(_reached(decided, number) for number in range(len(decided.moves))):
            return False
        _resolve(decided.moves)
        return True
    if decided is None and not _reached(found, 0):
        return False
    path.unlink(missing_ok=True)
    return True


def _resolve(moves: Sequence[Move]) -> bool:
    """Finish a committed swap, or undo it; return whether the drafts are in place now."""
    done = False
    if os.path.lexists(moves[0].journal):
        try:
            for move in moves:
                _forward(move)
            done = True
        except OSError:
            for move in reversed(moves):
                _back(move)
    _forget(moves)
    return done


def _forward(move: Move) -> None:
    """Put a draft in place, unless it is there already."""
    there = contents(move.target)
    if there != move.new:
        if contents(move.draft) != move.new or there not in (None, move.old):
            raise _ChangedError
        _swap(move)


def _back(move: Move) -> None:
    """Put the former target back, unless it is there already."""
    there = contents(move.target)
    if there == move.old:
        return
    before = next((path for path in (move.draft, move.box / OLD) if contents(path) == move.old), None)
    if there not in (None, move.new) or (before is None and move.old is not None):
        raise _ChangedError
    if there is not None and (before is None or not _exchange(before, move.target)):
        move.target.rename(move.box / UNDONE)
        there = None
    if there is None and before is not None:
        before.rename(move.target)
    sync(move.target.parent)


def _at_once(move: Move) -> bool:
    """Put a draft in place in one step, if there is such a step."""
    if not os.path.lexists(move.target):
        move.draft.rename(move.target)
    elif not _exchange(move.draft, move.target):
        return False
    sync(move.target.parent)
    return True


def _swap(move: Move) -> None:
    """Put a draft in place, in one step or two."""
    if not _at_once(move):
        move.target.rename(move.box / OLD)
        move.draft.rename(move.target)
        sync(move.target.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step, where the system can."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)


def _write_journals(moves: Sequence[Move]) -> None:
    """Write a journal beside each target, beside the first one last: that commits the swap."""
    mark = secrets.token_hex(16)
    for own in reversed(moves):
        facts = {"kind": KIND, "mark": mark, "process": os.getpid(), "moves": [_entry(own, one) for one in moves]}
        made = own.box / "journal"
        with made.open("x", encoding="utf-8") as file:
            json.dump(facts, file)
            file.flush()
            os.fsync(file.fileno())
        sync(own.box)
        made.rename(own.journal)
        sync(own.target.parent)


def _entry(own: Move, one: Move) -> dict[str, Any]:
    """Return a move as it is written in the journal of one of them."""
    parent = one.target.parent
    try:
        place = os.path.relpath(parent, own.target.parent)
    except ValueError:  # another drive of Windows
        place = str(parent)
    return {
        "place": place,
        "inode": parent.stat().st_ino,
        "target": one.target.name,
        "box": one.box.name,
        "new": one.new,
        "old": one.old,
    }


def _forget(moves: Iterable[Move]) -> None:
    """Remove the journals, the first one first."""
    for move in moves:
        if os.path.lexists(move.journal):
            move.journal.unlink()
            sync(move.target.parent)


def _journals(folder: Path) -> list[Path]:
    """Return the files of a folder that look like journals."""
    return sorted(path for path in folder.iterdir() if JOURNAL.fullmatch(path.name))


def _read(path: Path) -> _Journal | None:
    """Return a journal, or None for anything that shoal did not write here for the current user."""
    try:
        found = path.lstat()
        if not (stat.S_ISREG(found.st_mode) and found.st_size <= LONGEST and mine(found)):
            return None
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["kind"] != KIND:
            return None
        moves = tuple(_move(path.parent, entry) for entry in facts["moves"])
        places = tuple(int(entry["inode"]) for entry in facts["moves"])
        journal = _Journal(str(facts["mark"]), int(facts["process"]), moves, places)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return journal if path in {move.journal for move in moves} else None


def _move(folder: Path, entry: dict[str, Any]) -> Move:
    """Return a move of a journal; raise ValueError for names that shoal does not use."""
    place = Path(os.path.normpath(folder / entry["place"]))
    target, box = str(entry["target"]), str(entry["box"])
    named = BOX.fullmatch(box)
    if named is None or named[1] != target or {"/", os.sep} & {*target, *box}:
        raise ValueError
    digests = [None if one is None else str(one) for one in (entry["new"], entry["old"])]
    return Move(place / target, place / box, *digests)


def _reached(journal: _Journal, number: int) -> bool:
    """Return whether the parent folder of a target is the one that a journal refers to."""
    move = journal.moves[number]
    beside = _read(move.journal)
    try:
        return (beside is not None and beside.mark == journal.mark) or (
            move.target.parent.stat().st_ino == journal.places[number]
        )
    except OSError:
        return False


def mine(found: os.stat_result) -> bool:
    """Return whether a file belongs to the current user."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def contents(folder: Path) -> str | None:
    """Return the SHA-256 of the contents of a folder, names and bytes; None if it does not exist."""
    if not os.path.lexists(folder):
        return None
    if folder.is_symlink() or not folder.is_dir():
        raise _ChangedError
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not path.is_file():
            raise _ChangedError
        with path.open("rb") as file:
            part = hashlib.file_digest(file, "sha256").digest()
        whole.update(hashlib.sha256(os.fsencode(path.name)).digest() + part)
    return whole.hexdigest()


def sync(path: Path) -> None:
    """Flush a file or a folder to disk; on Windows, folders cannot be flushed."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
