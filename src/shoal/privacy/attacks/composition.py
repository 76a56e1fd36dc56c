"""Composition: what several things together tell, each of which alone tells little.

1. Intersection: two releases of the same people, made with another k, method or seed. Whoever is hidden among k rows
   in each of them may be alone in what the two have in common. Ganta et al. (2008).
2. Row order: the values of a row, and where it stands in the file.

Below them, who a person may be: the released rows that are nearest to them.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.errors import DataError
from shoal.model.findings import Attack
from shoal.model.sentences import RowShare, Sentence
from shoal.privacy.attacks.attack import Clock, Profile, concluded, sampled, time_up
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.space import blocks, nearest_rows, places, points
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.values import read_column

__all__ = ["Crossing", "Suspects", "candidates", "intersect", "intersection", "order_kept", "row_order", "suspects"]

MOST = 2_000  # targets
MARGIN = 0.01  # above 1/k
SPREADS = 3.0  # standard deviations of the rank correlation of two unrelated orders, 1 / sqrt(n) each, are luck


class Crossing(NamedTuple):
    """What two releases of the same rows leave of k.

    Parameters
    ----------
    candidates : int64 array of shape (n,)
        The rows that share both classes of each row, itself included.
    below, single : float
        The share of rows with fewer than k candidates, and with one.
    """

    candidates: Labels
    below: float
    single: float


class Suspects(NamedTuple):
    """The rows that a target may be.

    Parameters
    ----------
    who : int64 array of shape (targets,)
        The set of each target.
    owner, row : int64 arrays
        The set and the number of each row that is in a set, by set.
    """

    who: Labels
    owner: Labels
    row: Labels

    @property
    def starts(self) -> Labels:
        """Where each set begins."""
        return np.flatnonzero(np.append(True, self.owner[1:] != self.owner[:-1]))


def candidates(labels: Labels, other: Labels) -> Labels:
    """Return how many rows share both classes of each row: at least 1, high is good.

    Parameters
    ----------
    labels, other : int64 arrays of shape (n,)
        The class of each row in the one and in the other release.

    Examples
    --------
    >>> candidates(np.array([0, 0, 0, 1]), np.array([5, 5, 7, 7])).tolist()
    [2, 2, 1, 1]
    """
    both = classes([labels, np.unique(other, return_inverse=True)[1].reshape(-1)], labels.size)
    return np.bincount(both)[both]


def intersect(case: Case, other: Labels) -> Crossing:
    """Return what is left of the classes of a release when another one of the same rows is laid over it.

    Parameters
    ----------
    case : Case
        Its k is that of the policy.
    other : int64 array of shape (n,)
        The class of each row in the other release.
    """
    if other.size != case.n:
        raise DataError(f"attack: the other release has {other.size} rows; the first has {case.n}. Give the same rows.")
    left = candidates(case.labels, other)
    if not left.size:
        return Crossing(left, 0.0, 0.0)
    return Crossing(left, float((left < case.policy.constraints.k).mean()), float((left == 1).mean()))


def suspects(case: Case, known: tuple[str, ...], targets: Labels, clock: Clock) -> Suspects:
    """Return the released rows nearest to each target, all rows of a class together, ties included.

    Parameters
    ----------
    case : Case
        With one released row or more.
    known : tuple of str
        Columns that are compared.
    targets : int64 array
        Rows of the original table. Those that there is no time for are left out, the last ones first.
    clock : Clock
    """
    before, after = places(case, known)
    seen = classes([column.codes for column in after], case.n)
    members = np.split(np.argsort(seen, kind="stable"), np.cumsum(np.bincount(seen))[:-1])
    released = points(after, np.array([rows[0] for rows in members], np.int64))
    numbers: dict[bytes, int] = {}
    rows: list[Labels] = [np.zeros(0, np.int64)]
    who: list[int] = []
    for block in blocks(targets, len(released)):
        if who and clock.over:
            break
        near = nearest_rows(points(before, block), released)[0]
        for word, match in zip(np.packbits(near, axis=1), near, strict=True):
            number = numbers.setdefault(word.tobytes(), len(numbers))
            if number == len(rows) - 1:
                rows.append(np.concatenate([members[place] for place in np.flatnonzero(match)]))
            who.append(number)
    owner = np.repeat(np.arange(len(rows) - 1), [one.size for one in rows[1:]])
    return Suspects(np.array(who, np.int64), owner, np.concatenate(rows))


def order_kept(first: Labels, second: Labels, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 for each pair of rows that stand in the same order twice, 0 for others, and 1/2 for ties.

    Parameters
    ----------
    first, second : int64 arrays of shape (n,)
        Two positions of each row.
    pairs : int64 array of shape (p, 2)
        Rows.
    """
    one, two = (np.sign(np.diff(where[pairs], axis=1).reshape(-1)) for where in (first, second))
    return np.asarray((1 + one * two) / 2, np.float64)


@attack("intersection", requires=("other",))
def intersection(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Find a person in two releases of the same table, and guess among the rows that both leave.

    Success: 1/m for a target whose own row is among the m rows that are nearest in both releases. Trials: up to 2,000
    rows. Baseline: 1/n, a row drawn by chance. Allowed: 1/k + 0.01. Power: the attack on two unprotected copies. It is
    the worst case: the attacker is taken to see which rows of the two releases belong together, as a sensitive or
    kept column often tells.
    """
    name, other = "intersection", _other(case)
    if other is None or not case.n:
        said = "there are no rows" if other is not None else "there is no other release of the same rows"
        return concluded(name, profile, np.zeros(0), baseline=0.0, note=said)
    twice = replace(case, released=other)
    k, crossing = case.policy.constraints.k, intersect(case, twice.labels)
    chance = np.random.default_rng((case.seed, 81))
    targets = chance.permutation(sampled(case.n, MOST, chance))  # so that the first ones stand for all
    one = suspects(case, profile.known, targets, clock)
    two = suspects(twice, profile.known, targets[: one.who.size], clock)
    done = targets[: two.who.size]
    firsts, seconds = (np.split(found.row, found.starts[1:]) for found in (one, two))
    right = np.zeros(done.size)
    for place, (target, first, second) in enumerate(zip(done, one.who, two.who, strict=False)):
        common = np.intersect1d(firsts[first], seconds[second], assume_unique=True)
        right[place] = 1 / common.size if common.size and (common == target).any() else 0.0
    same = classes([column.codes for column in places(case, profile.known)[0]], case.n)
    notes = [
        Sentence(
            "for {below:.1f} % of the rows, fewer than k = {k} are in both of their classes",
            below=RowShare(100 * crossing.below),
            k=k,
        ),
        Sentence("for {single:.1f} %, the row alone", single=RowShare(100 * crossing.single)),
        *time_up(done.size, targets.size),
    ]
    return concluded(
        name,
        profile,
        right,
        baseline=1 / case.n,
        power=float((1 / np.bincount(same)[same[done]]).mean()),
        allowed=1 / k + MARGIN,
        note=Sentence.joined(notes),
        ended=done.size < targets.size,
    )


@attack("row order")
def row_order(case: Case, profile: Profile, clock: Clock) -> Attack:  # noqa: ARG001
    """Guess of two rows of the released file that they stood in the same order in the original table.

    Success: they did. Trials: each row is in one pair, drawn by chance, so that pairs tell nothing of each other: n/2
    of them. Baseline: 1/2, by luck. Allowed: 1/2 + 1 / sqrt(n), the rate of all pairs at a rank correlation of 3 /
    sqrt(n), which luck hardly passes. Power: 1, as a copy keeps the order. If the rank correlation is below -3 /
    sqrt(n), the attacker reads the file backwards. Two rows that are alike in every released cell are a tie: nobody can
    tell which of them is which.
    """
    name, n = "row order", case.n
    own = np.arange(n) if case.original is None else case.original.rows
    given = getattr(case, "places", None)
    stands = np.arange(n) if given is None else np.asarray(given, np.int64)
    if stands.shape != (n,) or own.shape != (n,):
        raise DataError(f"attack: the places of {stands.size} rows are given; the release has {n}. Give one for each.")
    notes = [] if given is not None else ["the places in the file are not known: the rows are read as they are aligned"]
    if n < 2:
        return concluded(name, profile, np.zeros(0), baseline=0.5, power=1.0, note="there are no two rows")
    moved = _correlation(own, stands)
    notes.append(f"rank correlation {moved:.3f}")
    luck = SPREADS / float(np.sqrt(n))
    if moved < -luck:
        stands = -stands
        notes.append("read backwards")
    order = np.random.default_rng((case.seed, 91)).permutation(n)
    pairs = order[: n // 2 * 2].reshape(-1, 2)
    right = order_kept(own, stands, pairs)
    alike = classes([read_column(column).codes for column in case.released.columns], n)[pairs]
    right[alike[:, 0] == alike[:, 1]] = 0.5
    # A rank correlation of r, if small, goes with a share of (1 + 2 r / 3) / 2 of pairs in the same order.
    return concluded(name, profile, right, baseline=0.5, power=1.0, allowed=0.5 + luck / 3, note=Sentence.joined(notes))


def _other(case: Case) -> pa.Table | None:
    """Return the other release of the same rows, if there is one."""
    other: pa.Table | None = getattr(case, "other", None)
    if other is not None:
        missing = [name for name in case.released.column_names if name not in other.column_names]
        if missing:
            raise DataError(f"attack: the other release has no column {missing[0]!r}. Give the same columns.")
        if other.num_rows != case.n:
            raise DataError(
                f"attack: the other release has {other.num_rows} rows; the first has {case.n}. Give the same rows."
            )
    return other


def _correlation(one: Labels, two: Labels) -> float:
    """Return Spearman's rank correlation of two orders of rows; 0 if one of them tells none apart."""
    ranks = []
    for values in (one, two):
        known = np.sort(values)
        middle = np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")
        ranks.append(middle - middle.mean())
    size = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / size if size else 0.0
