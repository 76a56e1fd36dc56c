"""The folder of an exploration: private, and written to as soon as a point is done.

| file | what |
| --- | --- |
| `key` | a random key: marks of the table tell nothing without it; policies without a seed get theirs from it |
| `lock` | empty; whoever works in the folder holds it, and the system frees it even after kill -9 |
| `preflight.json` | what the trials of each method told |
| `points/*.json` | one file for each point that is done: a run that is there is not done again |
| `front/*.toml` | one policy for each point of the front; they hold seeds, and are private too |
| `front/earlier/*.toml` | those of an earlier call that are not on the front of this one, and edited ones |
| `explore.html`, `explore.json` | what was found |

Nobody but the owner may look inside. A file is there whole or not at all. What is read again bears a seal of its name
and its text, made with the key: a file whose seal does not fit is as good as not there. Nothing is touched before it is
clear that the folder is one of ours; and in `front`, what somebody has edited or put there is never lost.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.errors import WriteError
from shoal.io.bundle import check_outside
from shoal.io.locks import try_lock
from shoal.model.progress import announce
from shoal.model.seeds import derived_seed

__all__ = ["Folder"]

KEY, LOCK, POINTS, FRONT, EARLIER = "key", "lock", "points", "front", "earlier"
PAGE, FACTS = "explore.html", "explore.json"
OWN = {KEY, LOCK, POINTS, FRONT, "preflight.json", PAGE, FACTS}
DRAFT = re.compile(r"\.(key|.+\.(json|html|toml))\.[0-9]+\.draft")
HEX = re.compile(r"[0-9a-f]{64}\n?")


class Folder:
    """A folder that keeps what is done, for one exploration at a time: it is held until it is closed.

    Parameters
    ----------
    place : path
        Absent, empty, or the folder of an earlier exploration.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = Path(place)
        self._handle: int | None = None
        try:
            self._check()
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
            alone = self._hold()
            known = self._check()  # again: somebody may have been here meanwhile
            self.place.chmod(0o700)
            self.key = secrets.token_bytes(32) if known is None else known
            if known is None:
                self.put(KEY, self.key.hex() + "\n")
            for folder in (self.place / POINTS, self.place / FRONT):
                folder.mkdir(mode=0o700, exist_ok=True)
                folder.chmod(0o700)
            for left in self._drafts() if alone else ():
                left.unlink(missing_ok=True)
        except WriteError:
            self.close()
            raise
        except (OSError, ValueError) as problem:
            self.close()
            raise self._problem(problem) from None

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others work in the folder."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def seed(self) -> int:
        """The random seed of policies that name none: from the key, so that a run that is continued has the same."""
        return derived_seed(self.key)

    def put(self, name: str, text: str) -> None:
        """Write a file in one step, for the owner alone."""
        target = self.place / name
        made = target.parent / f".{target.name}.{os.getpid()}.draft"
        try:
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            made.replace(target)
        except OSError as problem:
            with suppress(OSError):
                made.unlink(missing_ok=True)
            raise self._problem(problem) from None

    def keep(self, name: str, facts: Mapping[str, Any]) -> None:
        """Write facts that are to be read again, under a name such as "points/MARK"."""
        held = {"seal": self._seal(name, json.dumps(facts)), "facts": facts}
        self.put(f"{name}.json", json.dumps(held, indent=1, ensure_ascii=False) + "\n")

    def kept(self, name: str) -> dict[str, Any]:
        """Return the facts that were kept under this name; nothing if they are not there or not as they were kept."""
        try:
            held = json.loads((self.place / f"{name}.json").read_bytes())
            facts: dict[str, Any] = held["facts"]
            whole = hmac.compare_digest(held["seal"], self._seal(name, json.dumps(facts)))
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return {}
        return facts if whole else {}

    def finish(self, page: str, facts: str, policies: Mapping[str, str]) -> None:
        """Write what was found, and the policies of the front in place of earlier ones, which are put aside.

        So is one that was edited, if another takes its place. Else it stays, as does every other file.
        """
        for old in sorted((self.place / FRONT).glob("*.toml")):
            if old.stem not in policies and self._as_written(old):
                self._put_aside(old)
        for name, text in policies.items():
            target = self.place / FRONT / f"{name}.toml"
            if os.path.lexists(target) and not self._as_written(target):
                aside = self._put_aside(target)
                announce(f"explore: front/{target.name} was edited; it is front/{EARLIER}/{aside.name} now.")
            self.put(f"{FRONT}/{target.name}", self._with_seal(target.name, text))
        self.put(FACTS, facts)
        self.put(PAGE, page)

    def _put_aside(self, policy: Path) -> Path:
        """Move a policy to where earlier ones are, over none that differs: somebody may have chosen it."""
        try:
            (self.place / FRONT / EARLIER).mkdir(mode=0o700, exist_ok=True)
            target, number = self.place / FRONT / EARLIER / policy.name, 1
            while os.path.lexists(target) and not (target.is_file() and target.read_bytes() == policy.read_bytes()):
                number += 1
                target = target.with_name(f"{policy.stem}-{number}{policy.suffix}")
            return policy.replace(target)
        except OSError as problem:
            raise self._problem(problem) from None

    def _as_written(self, policy: Path) -> bool:
        """Say whether a policy is one that was written here under this name, and not edited since."""
        if policy.is_symlink() or not policy.is_file():
            return False
        try:
            whole = policy.read_bytes().decode("utf-8")
        except (OSError, ValueError):
            return False
        return whole == self._with_seal(policy.name, whole[:-1].rpartition("\n")[0])

    def _with_seal(self, name: str, text: str) -> str:
        """Return a policy with a last line that tells whether it was edited."""
        text = text.rstrip("\n") + "\n"
        return f"{text}# As it was written, if this fits: {self._seal(f'{FRONT}/{name}', text)}\n"

    def _seal(self, name: str, text: str) -> str:
        """Return a digest of a name and a text that nobody can make without the key."""
        return hmac.new(self.key, f"{name}\0{text}".encode(), hashlib.sha256).hexdigest()

    def _hold(self) -> bool:
        """Keep others from working here; say whether that can be done on this system."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._handle = os.open(self.place / LOCK, flags, 0o600)
        got = try_lock(self._handle)
        if got is False:
            raise WriteError(
                f"explore: another exploration works in the folder {str(self.place)!r}. Wait for its end, or choose "
                "another place."
            )
        return bool(got)

    def _drafts(self) -> Iterator[Path]:
        """Give what a killed run has left behind."""
        for folder in (self.place, self.place / POINTS, self.place / FRONT):
            yield from [path for path in folder.iterdir() if DRAFT.fullmatch(path.name)]

    def _check(self) -> bytes | None:
        """Return the key, if there is one; refuse a place that holds anything but an earlier exploration."""
        check_outside(self.place)
        if self.place.exists() and not self.place.is_dir():
            raise WriteError(f"explore: {str(self.place)!r} is not a folder. Choose another place.")
        names = {path.name for path in self.place.iterdir()} if self.place.is_dir() else set()
        settled = {name for name in names if not DRAFT.fullmatch(name)}
        folders = [self.place / name for name in (POINTS, FRONT) if name in settled]
        ours = settled <= OWN and all(stat.S_ISDIR(folder.lstat().st_mode) for folder in folders)
        if ours and KEY not in settled:
            # Killed before there was a key, so that nothing can be inside.
            empty = LOCK not in settled or not (self.place / LOCK).lstat().st_size
            ours = empty and settled <= {LOCK, POINTS, FRONT} and not any(any(one.iterdir()) for one in folders)
        if not ours:
            raise WriteError(
                f"explore: {str(self.place)!r} holds other files, which shoal will not touch. Choose a new folder."
            )
        return _key(self.place / KEY) if KEY in settled else None

    def _problem(self, problem: Exception) -> WriteError:
        """Say that the folder cannot be used."""
        why = problem.strerror if isinstance(problem, OSError) else "its key is damaged"
        return WriteError(f"explore: the folder {str(self.place)!r} cannot be used: {why}. Choose another place.")


def _key(path: Path) -> bytes:
    """Return the key that a file holds, if it holds a whole one and nothing else."""
    if not stat.S_ISREG(path.lstat().st_mode) or path.stat().st_size > 65:
        raise ValueError
    text = path.read_text(encoding="ascii")
    if not HEX.fullmatch(text):
        raise ValueError
    return bytes.fromhex(text)
