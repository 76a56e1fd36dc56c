"""What every attack shares: what the attacker knows, a time limit, and the conclusion.

An attack is an experiment, not a definition. It is given the original rows of its targets in the columns that the
attacker knows, and the release, and counts how often a guess about a target is right. Its rate is compared with

- the **baseline**: the best guess of someone who has not seen the release;
- the **control**, where it makes sense: the same attack on people who are not in the release;
- the **power**: the same attack on an unprotected copy.

It is a **leak** if the lower end of the interval lies above baseline and control, and above what the policy allows in
any case (1/k for guessing whose row it is). If the attack fails even on an unprotected copy, has too few trials to
tell, or was cut short, it is **too weak to tell**; otherwise there is **no evidence**. An attack without trials is
**not tried**, with the reason in its note.
"""

from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from shoal.model.findings import NOT_TRIED, Attack, Outcome
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson

FEW = 20  # trials below which nothing is concluded
MARGIN = 0.01  # above 1/k


@dataclass(frozen=True)
class Profile:
    """What an attacker knows of each target: columns, in the order of the table."""

    name: str
    known: tuple[str, ...]


def profiles(case: Case) -> dict[str, Profile]:
    """Return the attackers that the roles suggest, by name: all quasi-identifiers, all but one, any three."""
    quasi = tuple(case.policy.names("quasi"))
    rng = np.random.default_rng((case.seed, 11))
    found = {"all": Profile("knows all quasi-identifiers", quasi)}
    if len(quasi) > 1:
        left = int(rng.integers(len(quasi)))
        known = tuple(name for name in quasi if name != quasi[left])
        found["all-but-one"] = Profile("knows all quasi-identifiers but one", known)
    if len(quasi) > 3:
        some = sorted(rng.choice(len(quasi), 3, replace=False).tolist())
        found["three"] = Profile("knows three quasi-identifiers", tuple(quasi[place] for place in some))
    return found


class Clock:
    """A time limit for an attack; it is checked between parts, and the attack ends with what it has."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._end is not None

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return self._end is not None and monotonic() >= self._end

    def part(self, of: int) -> "Clock":
        """Return a clock for an equal part of the remaining time."""
        return Clock(None if self._end is None else max(0.0, self._end - monotonic()) / of)


def concluded(
    name: str,
    profile: Profile,
    right: NDArray[np.float64],
    *,
    baseline: float,
    control: float | None = None,
    power: float | None = None,
    allowed: float = 0.0,
    note: str = "",
    ended: bool = False,
    baseline_of: int | None = None,
    control_of: int | None = None,
) -> Attack:
    """Return the result of an attack.

    `right` has one entry per trial: 1 for a right guess, 0 for a wrong one, 1/m for a guess among m of which one is
    right. `allowed` is what the policy allows in any case. Without trials the note must say why, by default that there
    were no targets; numbers of rows in it must be those of a `Sentence`. `ended` says that time ran out before
    everything was tried: what was tried may be the weaker part of the attack. `baseline_of` and `control_of` are as in
    `Attack`.
    """
    trials, successes = int(right.size), float(right.sum())
    note = note or ("" if trials else "there were no targets")
    low, high = wilson(successes, trials)
    bound = max(baseline, allowed, 0.0 if control is None else control)
    outcome: Outcome
    if not trials:
        outcome = NOT_TRIED
    elif low > bound:
        outcome = "leak"
    elif trials < FEW or (power is not None and power <= bound) or ended:
        outcome = "too weak to tell"
    else:
        outcome = "no evidence"
    return Attack(
        name,
        profile.name,
        successes,
        trials,
        (low, high),
        baseline,
        control,
        power,
        outcome,
        note,
        bound,
        baseline_of,
        control_of,
    )


def allowed_by_k(case: Case) -> float:
    """Return the rate that k allows anyone who guesses which row is a person's: 1/k, and 0.01 more."""
    return 1 / case.policy.constraints.k + MARGIN


def time_up(done: int, targets: int) -> list[str]:
    """Say that time ran out before all targets were tried, if it did."""
    note = Sentence("time ran out after {done} of {targets} targets", done=Rows(done), targets=targets)
    return [note] if done < targets else []


def sampled(n: int, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the targets: all rows, or a random sample of `most`, in the order of the table."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))
