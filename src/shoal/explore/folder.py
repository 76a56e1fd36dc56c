"""The folder of an exploration: private, and written to as soon as a point is done.

| file | what |
| --- | --- |
| `key` | a random key; marks of the table are made with it, so that they tell nothing without this file |
| `preflight.json` | what the trials of each method told |
| `points/*.json` | one file for each point that is done: a run that is there is not done again |
| `front/*.toml` | one policy for each point of the front; they hold seeds, and are private too |
| `front/earlier/*.toml` | those of an earlier call that are not on the front of this one |
| `explore.html`, `explore.json` | what was found |

Nobody but the owner may look inside. A file is there whole or not at all.
"""

import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shoal.errors import WriteError
from shoal.io.bundle import check_outside
from shoal.pipeline.write import MARKS

__all__ = ["Folder"]

KEY, POINTS, FRONT, TRIALS = "key", "points", "front", "preflight.json"
EARLIER = "earlier"
PAGE, FACTS = "explore.html", "explore.json"
OWN = {KEY, POINTS, FRONT, TRIALS, PAGE, FACTS}
DRAFT = re.compile(r"\..+\.[0-9]+\.draft")


class Folder:
    """A folder that keeps what is done.

    Parameters
    ----------
    place : path
        Absent, empty, or the folder of an earlier exploration.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = Path(place)
        self._check()
        try:
            for folder in (self.place, self.place / POINTS, self.place / FRONT):
                folder.mkdir(parents=True, exist_ok=True)
                folder.chmod(0o700)
            for left in (path for folder in (self.place, self.place / POINTS) for path in folder.iterdir()):
                if DRAFT.fullmatch(left.name):
                    left.unlink(missing_ok=True)
            if not (self.place / KEY).exists():
                self.put(KEY, secrets.token_hex(32) + "\n")
            self.key = bytes.fromhex((self.place / KEY).read_text(encoding="ascii").strip())
        except (OSError, ValueError) as problem:
            raise self._problem(problem) from None

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
            raise self._problem(problem) from None

    def point(self, mark: str) -> dict[str, Any] | None:
        """Return what is known of a point, if it was done before."""
        return self._json(f"{POINTS}/{mark}.json")

    def keep(self, mark: str, facts: Mapping[str, Any]) -> None:
        """Keep what is known of a point."""
        self.put(f"{POINTS}/{mark}.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n")

    def trials(self) -> dict[str, Any]:
        """Return what the trials of methods told earlier."""
        return self._json(TRIALS) or {}

    def keep_trials(self, facts: Mapping[str, Any]) -> None:
        """Keep what the trials of methods told."""
        self.put(TRIALS, json.dumps(facts, indent=1) + "\n")

    def finish(self, page: str, facts: str, policies: Mapping[str, str]) -> None:
        """Write what was found, and the policies of the front in place of earlier ones, which are put aside."""
        for old in list((self.place / FRONT).glob("*.toml")):
            if old.stem not in policies:
                self._put_aside(old)
        for name, text in policies.items():
            self.put(f"{FRONT}/{name}.toml", text)
        self.put(FACTS, facts)
        self.put(PAGE, page)

    def _put_aside(self, policy: Path) -> None:
        """Move a policy that is on the front no more to where earlier ones are: somebody may have chosen it."""
        try:
            (self.place / FRONT / EARLIER).mkdir(mode=0o700, exist_ok=True)
            policy.replace(self.place / FRONT / EARLIER / policy.name)
        except OSError as problem:
            raise self._problem(problem) from None

    def _json(self, name: str) -> dict[str, Any] | None:
        """Return what a file of the folder holds, or nothing if it is not there or not whole."""
        try:
            found = json.loads((self.place / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _check(self) -> None:
        """Refuse a place that holds anything but an earlier exploration."""
        check_outside(self.place, MARKS)
        try:
            if self.place.exists() and not self.place.is_dir():
                raise WriteError(f"explore: {str(self.place)!r} is not a folder. Choose another place.")
            names = {path.name for path in self.place.iterdir()} if self.place.is_dir() else set()
        except OSError as problem:
            raise self._problem(problem) from None
        settled = {name for name in names if not DRAFT.fullmatch(name)}
        if not settled <= OWN or (KEY not in settled and not settled <= {POINTS, FRONT}):
            raise WriteError(
                f"explore: {str(self.place)!r} holds other files, which shoal will not touch. Choose a new folder."
            )

    def _problem(self, problem: Exception) -> WriteError:
        """Say that the folder cannot be used."""
        why = problem.strerror if isinstance(problem, OSError) else "its key is damaged"
        return WriteError(f"explore: the folder {str(self.place)!r} cannot be used: {why}. Choose another place.")
