"""The folder of an exploration: private, and updated whenever a point is finished.

| file | content |
| --- | --- |
| `key` | a random key: fingerprints of the table reveal nothing without it; also the source of missing seeds |
| `lock` | empty; locked by the running exploration and released by the system even after kill -9 |
| `preflight.json` | the measured cost of each method |
| `points/*.json` | one file per finished point, which is not run again |
| `front/*.toml` | one policy per Pareto-optimal point; they contain seeds, and are private too |
| `front/earlier/*.toml` | those of an earlier call that are no longer Pareto-optimal, and edited ones |
| `explore.html`, `explore.json` | the result, so far while it is running |

Only the owner can read it. Files are written atomically. Files that are read back carry a keyed digest of their name
and content, and are ignored if it does not match. Nothing is touched before it is clear that the folder is one of
ours; files that a user has edited or added in `front` are never lost.
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

KEY, LOCK, POINTS, FRONT, EARLIER = "key", "lock", "points", "front", "earlier"
PAGE, FACTS = "explore.html", "explore.json"
OWN = {KEY, LOCK, POINTS, FRONT, "preflight.json", PAGE, FACTS}
DRAFT = re.compile(r"\.(key|.+\.(json|html|toml))\.[0-9]+\.draft")
HEX = re.compile(r"[0-9a-f]{64}\n?")


class Folder:
    """The folder of one exploration at a time, locked until it is closed; new, empty or of an earlier exploration."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = Path(place)
        self._handle: int | None = None
        try:
            self._check()
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
            alone = self._hold()
            known = self._check()  # again: another process may have come first
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
        """Release the lock."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def seed(self) -> int:
        """The random seed of policies without one: derived from the key, so that a resumed run uses the same."""
        return derived_seed(self.key)

    def put(self, name: str, text: str) -> None:
        """Write a file atomically, readable by the owner only."""
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
        """Write facts to be read back, under a name such as "points/MARK"."""
        held = {"seal": self._seal(name, json.dumps(facts)), "facts": facts}
        self.put(f"{name}.json", json.dumps(held, indent=1, ensure_ascii=False) + "\n")

    def kept(self, name: str) -> dict[str, Any]:
        """Return the facts kept under this name; empty if they are missing or were altered."""
        try:
            held = json.loads((self.place / f"{name}.json").read_bytes())
            facts: dict[str, Any] = held["facts"]
            whole = hmac.compare_digest(held["seal"], self._seal(name, json.dumps(facts)))
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return {}
        return facts if whole else {}

    def finish(self, page: str, facts: str, policies: Mapping[str, str]) -> None:
        """Write the result and the policies of the Pareto front; earlier policies are moved aside.

        An edited policy is moved aside only if another takes its place. All other files stay.
        """
        for old in sorted((self.place / FRONT).glob("*.toml")):
            if old.stem not in policies and self._as_written(old):
                self._put_aside(old)
        for name, text in policies.items():
            target = self.place / FRONT / f"{name}.toml"
            if os.path.lexists(target) and not self._as_written(target):
                aside = self._put_aside(target)
                announce(f"explore: front/{target.name} was edited; it has been moved to front/{EARLIER}/{aside.name}.")
            self.put(f"{FRONT}/{target.name}", self._with_seal(target.name, text))
        self.publish(page, facts)

    def publish(self, page: str, facts: str) -> None:
        """Write the result as a page and as figures."""
        self.put(FACTS, facts)
        self.put(PAGE, page)

    def _put_aside(self, policy: Path) -> Path:
        """Move a policy to the earlier ones without overwriting a different one: somebody may have chosen it."""
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
        """Return whether a policy was written here under this name, and not edited since."""
        if policy.is_symlink() or not policy.is_file():
            return False
        try:
            whole = policy.read_bytes().decode("utf-8")
        except (OSError, ValueError):
            return False
        return whole == self._with_seal(policy.name, whole[:-1].rpartition("\n")[0])

    def _with_seal(self, name: str, text: str) -> str:
        """Return a policy with a last line that reveals later edits."""
        text = text.rstrip("\n") + "\n"
        return f"{text}# Keyed digest of the lines above: {self._seal(f'{FRONT}/{name}', text)}\n"

    def _seal(self, name: str, text: str) -> str:
        """Return a keyed digest of a name and a text."""
        return hmac.new(self.key, f"{name}\0{text}".encode(), hashlib.sha256).hexdigest()

    def _hold(self) -> bool:
        """Lock the folder; return whether the system supports that."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        self._handle = os.open(self.place / LOCK, flags, 0o600)
        got = try_lock(self._handle)
        if got is False:
            raise WriteError(
                f"explore: another exploration is using the folder {str(self.place)!r}. Wait until it ends, or choose "
                "another folder."
            )
        return bool(got)

    def _drafts(self) -> Iterator[Path]:
        """Yield what a killed run has left behind."""
        for folder in (self.place, self.place / POINTS, self.place / FRONT):
            yield from [path for path in folder.iterdir() if DRAFT.fullmatch(path.name)]

    def _check(self) -> bytes | None:
        """Return the key, if any; refuse a folder that contains anything but an earlier exploration."""
        check_outside(self.place)
        if self.place.exists() and not self.place.is_dir():
            raise WriteError(f"explore: {str(self.place)!r} is not a folder. Choose another path.")
        names = {path.name for path in self.place.iterdir()} if self.place.is_dir() else set()
        settled = {name for name in names if not DRAFT.fullmatch(name)}
        folders = [self.place / name for name in (POINTS, FRONT) if name in settled]
        ours = settled <= OWN and all(stat.S_ISDIR(folder.lstat().st_mode) for folder in folders)
        if ours and KEY not in settled:
            # Killed before there was a key: nothing can be inside.
            empty = LOCK not in settled or not (self.place / LOCK).lstat().st_size
            ours = empty and settled <= {LOCK, POINTS, FRONT} and not any(any(one.iterdir()) for one in folders)
        if not ours:
            raise WriteError(
                f"explore: {str(self.place)!r} holds other files, which shoal will not touch. Choose a new folder."
            )
        return _key(self.place / KEY) if KEY in settled else None

    def _problem(self, problem: Exception) -> WriteError:
        """Return the error for a folder that cannot be used."""
        why = problem.strerror if isinstance(problem, OSError) else "its key is damaged"
        return WriteError(f"explore: the folder {str(self.place)!r} cannot be used: {why}. Choose another folder.")


def _key(path: Path) -> bytes:
    """Return the key of a file that contains a complete one and nothing else."""
    if not stat.S_ISREG(path.lstat().st_mode) or path.stat().st_size > 65:
        raise ValueError
    text = path.read_text(encoding="ascii")
    if not HEX.fullmatch(text):
        raise ValueError
    return bytes.fromhex(text)
