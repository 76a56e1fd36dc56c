"""Composition: what several sources reveal together, each of which alone reveals little.

1. Intersection: two releases of the same people, made with another k, method or seed. A person hidden among k rows
   in each of them may be alone in what the two have in common. Ganta et al. (2008).
2. Row order: the values of a row, and its position in the file.

Below them, who a person may be: the released rows that are nearest to them.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.errors import DataError
from shoal.model.asking import either
from shoal.model.findings import Attack
from shoal.model.sentences import RowShare, Sentence
from shoal.privacy.attacks.attack import Clock, Profile, allowed_by_k, concluded, sampled, time_up
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.space import blocks, nearest_rows, places, points
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.values import read_column

MOST = 2_000  # targets
SPREADS = 3.0  # standard deviations, 1 / sqrt(n) each, of the rank correlation of unrelated orders


class Crossing(NamedTuple):
    """What two releases of the same rows leave of k."""

    candidates: Labels  # number of rows that share both classes of each row, itself included
    below: float  # share of rows with fewer than k candidates
    single: float  # share of rows with one candidate


class Suspects(NamedTuple):
    """The rows that each target may be, as sets that targets share."""

    who: Labels  # the set of each target
    owner: Labels  # the set of each entry, ascending
    row: Labels  # the row of each entry

    @property
    def starts(self) -> Labels:
        """Where each set begins."""
        return np.flatnonzero(np.append(True, self.owner[1:] != self.owner[:-1]))


def candidates(labels: Labels, other: Labels) -> Labels:
    """Return how many rows share both classes of each row, one per release: at least 1, high is good.

    Examples
    --------
    >>> candidates(np.array([0, 0, 0, 1]), np.array([5, 5, 7, 7])).tolist()
    [2, 2, 1, 1]
    """
    both = classes([labels, np.unique(other, return_inverse=True)[1].reshape(-1)], labels.size)
    return np.bincount(both)[both]


def intersect(case: Case, other: Labels) -> Crossing:
    """Return what is left of the classes of a release when intersected with those of another one of the same rows."""
    if other.size != case.n:
        raise DataError(f"attack: the other release has {other.size} rows; the first has {case.n}. Give the same rows.")
    left = candidates(case.labels, other)
    if not left.size:
        return Crossing(left, 0.0, 0.0)
    return Crossing(left, float((left < case.policy.constraints.k).mean()), float((left == 1).mean()))


def suspects(case: Case, known: tuple[str, ...], targets: Labels, clock: Clock) -> Suspects:
    """Return the released rows nearest to each target in the known columns, whole classes and ties included.

    There is at least one released row. Targets for which there is no time are left out, the last ones first.
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
    """Return 1 for each pair of rows that are in the same order in two positions, 0 for others, and 1/2 for ties."""
    one, two = (np.sign(np.diff(where[pairs], axis=1).reshape(-1)) for where in (first, second))
    return np.asarray((1 + one * two) / 2, np.float64)


@attack("intersection", requires=("other",))
def intersection(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Find a person in two releases of the same table, and guess among the rows that are candidates in both.

    Success: 1/m for a target whose own row is among the m rows that are nearest in both releases. Trials: up to 2,000
    rows. Baseline: 1/n, a random row. Allowed: 1/k + 0.01. Power: the attack on two unprotected copies. It is the worst
    case: the attacker is assumed to see which rows of the two releases belong together, as a sensitive or kept column
    often reveals.
    """
    name, other = "intersection", _other(case)
    if other is None or not case.n:
        why = "there are no rows" if other is not None else f"it needs another release ({either('other', 'FILE')})"
        return concluded(name, profile, np.zeros(0), baseline=0.0, note=why)
    twice = replace(case, released=other)
    k, crossing = case.policy.constraints.k, intersect(case, twice.labels)
    rng = np.random.default_rng((case.seed, 81))
    targets = rng.permutation(sampled(case.n, MOST, rng))  # so that the first ones represent all
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
            "for {below:.1f}% of the rows, fewer than k = {k} are in both of their classes",
            below=RowShare(100 * crossing.below),
            k=k,
        ),
        Sentence("for {single:.1f}%, the row alone", single=RowShare(100 * crossing.single)),
        *time_up(done.size, targets.size),
    ]
    return concluded(
        name,
        profile,
        right,
        baseline=1 / case.n,
        power=float((1 / np.bincount(same)[same[done]]).mean()),
        allowed=allowed_by_k(case),
        note=Sentence.joined(notes),
        ended=done.size < targets.size,
        baseline_of=0,
    )


@attack("row order")
def row_order(case: Case, profile: Profile, clock: Clock) -> Attack:  # noqa: ARG001
    """Guess that two rows of the released file are in the same order as in the original table.

    Success: they are. Trials: n/2 random pairs, each row in one of them, so that pairs are independent. Baseline: 1/2.
    Allowed: 1/2 + 1 / sqrt(n), the rate of all pairs at a rank correlation of 3 / sqrt(n), which chance hardly exceeds.
    Power: 1, as a copy keeps the order. If the rank correlation is below -3 / sqrt(n), the attacker reads the file
    backwards. Two rows that are alike in every released cell are a tie: no one can tell which is which.
    """
    name, n = "row order", case.n
    own = np.arange(n) if case.original is None else case.original.rows
    given = case.places
    stands = np.arange(n) if given is None else given
    if stands.shape != (n,) or own.shape != (n,):
        raise DataError(f"attack: positions of {stands.size} rows are given; the release has {n}. Give one per row.")
    notes = [] if given is not None else ["positions in the file are not known: the rows are taken as they are aligned"]
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
    # A small rank correlation r corresponds to a share of (1 + 2 r / 3) / 2 of pairs in the same order.
    note, allowed = Sentence.joined(notes), 0.5 + luck / 3
    return concluded(name, profile, right, baseline=0.5, power=1.0, allowed=allowed, note=note, baseline_of=0)


def _other(case: Case) -> pa.Table | None:
    """Return the other release of the same rows, if there is one."""
    other = case.other
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
    """Return Spearman's rank correlation of two orders of rows; 0 if all ranks of one are tied."""
    ranks = []
    for values in (one, two):
        known = np.sort(values)
        middle = np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")
        ranks.append(middle - middle.mean())
    size = float(np.sqrt((ranks[0] ** 2).sum() * (ranks[1] ** 2).sum()))
    return float((ranks[0] * ranks[1]).sum()) / size if size else 0.0
