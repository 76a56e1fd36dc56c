"""Swaps: drafts take the places of their targets, all of them or none.

1. A single draft takes its place in one step: by rename if there is nothing, by an exchange of the two names (Linux)
   if an earlier folder is there.
2. Several drafts, and a single one where names cannot be exchanged, take several steps. Before the first of them, a
   journal is written beside each target, beside the first one last. Once that one is there, the swap is decided: a
   process that is killed from then on has done it, and whoever finds a journal puts the remaining drafts in place. If
   that cannot be done, what was swapped is swapped back.
3. The journal beside the first target is removed first. A journal whose first one is missing decides nothing.

A journal names folders relative to its own place and knows each by the SHA-256 of what is in it. A folder that is
neither the draft nor what was there before is left alone.
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

__all__ = ["BOX", "JOURNAL", "Move", "appear", "mine", "partners", "recover", "sync"]

EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
HERE = -100  # AT_FDCWD
BOX = re.compile(r"\.(.+)\.shoal-([0-9]{1,9})-[0-9a-f]{8}", re.ASCII | re.DOTALL)
JOURNAL = re.compile(r"\.(.+)\.shoal-journal", re.DOTALL)
KIND = "shoal journal"
LONGEST = 1 << 16  # bytes of a journal
NEW, OLD, UNDONE = "new", "old", "undone"


@dataclass(frozen=True)
class Move:
    """A draft in its box, and the target that it is for; both lie in one folder.

    Parameters
    ----------
    target, box : Path
    new, old : str or None
        What is in the draft and in the target, as `contents` has it; None for a target that is not there.
    """

    target: Path
    box: Path
    new: str | None = None
    old: str | None = None

    @property
    def draft(self) -> Path:
        """The draft itself; once it is in its place, what was there before."""
        return self.box / NEW

    @property
    def journal(self) -> Path:
        """Where the journal of this target lies."""
        return self.target.parent / f".{self.target.name}.shoal-journal"


@dataclass(frozen=True)
class _Journal:
    """A journal as it was read: its mark, the process that wrote it, and its moves."""

    mark: str
    process: int
    moves: tuple[Move, ...]
    places: tuple[int, ...]  # inodes of the folders in which the targets lie


class _ChangedError(OSError):
    """A folder is not what the journal knows."""

    def __init__(self) -> None:
        super().__init__(errno.ESTALE, "a folder was changed by somebody else meanwhile")


def appear(moves: Sequence[Move]) -> None:
    """Put drafts in the places of their targets; what was there before is left in the boxes.

    Parameters
    ----------
    moves : sequence of Move
        The folders in which they lie are locked, and the drafts are on the disk.
    """
    if len(moves) == 1 and _at_once(moves[0]):
        return
    known = [replace(move, new=contents(move.draft), old=contents(move.target)) for move in moves]
    try:
        _write_journals(known)
        for move in known:
            _swap(move)
        _forget(known)
    except BaseException as problem:  # a signal may come at any moment: then it is as after a kill
        if not (_resolve(known) and isinstance(problem, OSError)):
            raise


def partners(folder: Path) -> set[Path]:
    """Return the folders that the journals in a folder speak of."""
    found = (_read(path) for path in _journals(folder))
    return {move.target.parent for one in found if one for move in one.moves if move.target.parent.is_dir()}


def recover(folder: Path, *, sure: bool) -> set[Path]:
    """Finish or undo what the journals in a folder speak of; return the boxes of those that stay.

    Parameters
    ----------
    folder : Path
        It is locked, and so are its `partners`.
    sure : bool
        Whether these locks mean anything; else a journal of a process that runs is left alone.
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
    """Finish or undo a swap; say whether that could be done."""
    decided = _read(found.moves[0].journal)
    if decided is not None and decided.mark == found.mark:
        # A disk that is not there at present looks like a folder without anything in it.
        if not all(_reached(decided, number) for number in range(len(decided.moves))):
            return False
        _resolve(decided.moves)
        return True
    if decided is None and not _reached(found, 0):
        return False
    path.unlink(missing_ok=True)
    return True


def _resolve(moves: Sequence[Move]) -> bool:
    """Finish a swap that is decided, or undo it; say whether the drafts are in place now."""
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
    """Put a draft in its place, unless it is there."""
    there = contents(move.target)
    if there != move.new:
        if contents(move.draft) != move.new or there not in (None, move.old):
            raise _ChangedError
        _swap(move)


def _back(move: Move) -> None:
    """Put back what was there before, unless it is there."""
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
    """Put a draft in its place in one step, if there is such a step."""
    if not os.path.lexists(move.target):
        move.draft.rename(move.target)
    elif not _exchange(move.draft, move.target):
        return False
    sync(move.target.parent)
    return True


def _swap(move: Move) -> None:
    """Put a draft in its place, in one step or two."""
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
    """Write a journal beside each target, beside the first one last: with that it is decided."""
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
    """Return a move as it stands in the journal of one of them."""
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
    """Return what looks like a journal in a folder."""
    return sorted(path for path in folder.iterdir() if JOURNAL.fullmatch(path.name))


def _read(path: Path) -> _Journal | None:
    """Return a journal, or None for anything that shoal did not write here for the present user."""
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
    """Return a move of a journal, or raise ValueError for names that shoal does not give."""
    place = Path(os.path.normpath(folder / entry["place"]))
    target, box = str(entry["target"]), str(entry["box"])
    named = BOX.fullmatch(box)
    if named is None or named[1] != target or {"/", os.sep} & {*target, *box}:
        raise ValueError
    digests = [None if one is None else str(one) for one in (entry["new"], entry["old"])]
    return Move(place / target, place / box, *digests)


def _reached(journal: _Journal, number: int) -> bool:
    """Say whether the folder of a target is the one that a journal speaks of."""
    move = journal.moves[number]
    beside = _read(move.journal)
    try:
        return (beside is not None and beside.mark == journal.mark) or (
            move.target.parent.stat().st_ino == journal.places[number]
        )
    except OSError:
        return False


def mine(found: os.stat_result) -> bool:
    """Say whether a file belongs to the present user."""
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def contents(folder: Path) -> str | None:
    """Return the SHA-256 of all that is in a folder, names and bytes; None if there is nothing of this name."""
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
    """Flush a file or a folder to the disk; Windows cannot do that to a folder."""
    if sys.platform == "win32" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
