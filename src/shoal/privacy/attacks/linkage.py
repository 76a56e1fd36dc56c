"""Linkage attacks: which row of a release belongs to which of the people known to an attacker.

1. **Record linkage**: a person is linked to the nearest released rows.
2. **Probabilistic linkage**: to the rows that agree with the person in the columns in which agreement is most
   informative. How informative is learned from all pairs, without knowing one true match. Fellegi and Sunter (1969),
   Jaro (1989).
3. **Linkability**: two tables of the same people, each with half of the columns, are joined through the release.

A guess among m rows that are equally good is right with probability 1/m, so a release whose classes have k rows or more
allows 1/k. An attack may exceed it by 0.01 before it is called a leak.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.errors import DataError
from shoal.model.findings import Attack
from shoal.model.sentences import Rows, RowShare, Sentence
from shoal.privacy.attacks.attack import Clock, Profile, allowed_by_k, concluded, sampled, time_up
from shoal.privacy.attacks.singling import control_case
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.space import Compared, Places, agreement, blocks, nearest_rows, places, points
from shoal.privacy.verdict.classes import classes

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Steps = NDArray[np.uint8]
MOST = 10_000  # targets of an attack by distance
MOST_PROBABLE = 1_000  # targets of the probabilistic attack
FEWEST = 100  # of these targets, however many rows there are
PAIRS = 30_000_000  # of these targets and released rows, about
LEARNED = 2_000_000  # pairs from which agreement is learned, about
COLUMNS = 39  # 3 ** 39 patterns are numbered in 64 bits
TURNS = 200  # iterations of expectation maximization


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a release in some columns, identical ones stored once."""

    columns: list[Places]
    labels: Labels  # the class of each row
    sizes: Floats  # the rows of each class
    first: Labels  # a row of each class

    @classmethod
    def of(cls, columns: list[Places], n: int) -> "_Rows":
        """Group identical rows."""
        labels = classes([column.codes for column in columns], n)
        first = np.unique(labels, return_index=True)[1]
        return cls(columns, labels, np.bincount(labels).astype(np.float64), first)

    @property
    def alike(self) -> Floats:
        """How many rows are identical to each row, itself included."""
        return self.sizes[self.labels]


@attack("record linkage")
def record_linkage(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Link each target to the nearest released rows, in the columns that the attacker knows.

    Success: 1/ties if the target's own row is among the nearest rows, else 0; ties are counted in rows. Baseline: 1/n,
    a random row. Allowed: 1/k + 0.01. Power: the same attack on a raw copy. With more than 10,000 rows, a random sample
    of 10,000 are targets.
    """
    return record_linkage_of(case, profile, clock, MOST)


def record_linkage_of(case: Case, profile: Profile, clock: Clock, most: int) -> Attack:
    """Return record linkage of at most this many random targets."""
    before, released, targets = _prepared(case, profile, most, 1)
    rows = points(released.columns, released.first)

    def tried(block: Labels) -> Floats:
        return _share(nearest_rows(points(before, block), rows)[0], released, block)

    right, note = _in_blocks(tried, targets, released.sizes.size, clock)
    # In a raw copy the nearest rows are those at a distance of 0: the ones that equal the target.
    power = 1 / _Rows.of(before, case.n).alike[targets[: right.size]]
    return _concluded("record linkage", case, profile, right, power, [], note)


@attack("linkability", control=True)
def linkability(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Join two tables of the same people, each with half of the known columns, through the release.

    The columns are split at random. A is the set of released rows nearest to a target by the first half, B the one by
    the second. Success: |A and B| / (|A| |B|), the probability that a row drawn from A and one drawn from B are the
    same row. Baseline: 1/n, its mean for two random sets of any size. Allowed: 1/k + 0.01; in a release with classes of
    k rows it is at most 1/k, as A and B contain whole classes. Control, if the case has one: the same attack on people
    who are not in the release. Power: the same attack on a raw copy. With fewer than two known columns, only chance is
    left.
    """
    before, released, targets = _prepared(case, profile, MOST, 2)
    order = np.random.default_rng((case.seed, 20)).permutation(len(before)).tolist()
    halves = order[: len(order) // 2], order[len(order) // 2 :]

    def joined(people: list[Places], seen: _Rows, targets: Labels) -> tuple[Floats, list[str]]:
        rows = [points([seen.columns[j] for j in half], seen.first) for half in halves]

        def tried(block: Labels) -> Floats:
            mine = [points([people[j] for j in half], block) for half in halves]
            one, other = (nearest_rows(*both)[0] for both in zip(mine, rows, strict=True))
            common = (one & other) @ seen.sizes
            return np.asarray(common / (one @ seen.sizes) / (other @ seen.sizes))

        return _in_blocks(tried, targets, seen.sizes.size, clock)

    right, note = joined(before, released, targets)
    whole, *parts = (_Rows.of([before[j] for j in half], case.n).alike for half in (order, *halves))
    power = (whole / parts[0] / parts[1])[targets[: right.size]]
    control, outside = None, 0
    others, m = control_case(case)
    if m:
        outsiders, seen = places(others, profile.known)
        rng = np.random.default_rng((case.seed, 21))
        some = rng.permutation(sampled(m, MOST, rng))
        found = joined(outsiders, _Rows.of(seen, case.n), some)[0]
        control, outside = float(found.mean()), found.size
    share = RowShare(100 * np.count_nonzero(right) / max(1, right.size))
    meet = Sentence("the two sets share rows for {share:.1f}% of the targets", share=share)
    return _concluded("linkability", case, profile, right, power, [meet] * (right.size > 0), note, control, outside)


@attack("probabilistic linkage")
def probabilistic_linkage(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Link each target to the released rows that agree with it where agreement is most informative.

    A known column agrees in three steps: 2 if the cell is the value of the target, 1 if it is near (a number within a
    quarter of a standard deviation; a range, a set or a node that covers the value), 0 if not. How often matching and
    other pairs reach each step, m and u, is learned by expectation maximization without labels. A pair weighs sum of
    log(m/u). Success, baseline, allowed and power are as in record linkage.

    Up to 1,000 random targets are compared with every distinct released row; fewer, but at least 100, if that makes
    more than some 30 million pairs. m and u are learned from some two million of these. With more than 39 columns, the
    39 are compared in which pairs agree most rarely.
    """
    before, released, _ = _prepared(case, profile, 1, 3)
    found = _probable(case, before, released, clock)
    raw = _probable(case, before, _Rows.of(before, case.n), clock)
    short = [Sentence("power from {some} targets", some=Rows(raw.right.size))] if raw.late else []
    return _concluded(
        "probabilistic linkage", case, profile, found.right, raw.right, [*found.notes, *short], found.late
    )


def fellegi_sunter(patterns: Steps, counts: Floats, share: float) -> tuple[Floats, Floats]:
    """Estimate how often matching and other pairs reach each step of agreement, from pairs without labels.

    Expectation maximization of a mixture of two kinds of pairs, in each of which columns agree independently of each
    other. The share of matches is given, as an attacker knows it: one row in n. Half a pair is added to each step.

    `patterns` are distinct rows of steps, 0 to 2, one column each, and `counts` how many pairs have each. Returns m and
    u, (columns, 3): the share of each step among matches and among other pairs.
    """
    width = patterns.shape[1]
    reached = np.stack([patterns == step for step in range(3)], axis=2).reshape(len(patterns), -1).astype(np.float64)

    def shares(pairs: Floats) -> Floats:
        mass = (pairs @ reached).reshape(width, 3) + 0.5
        return np.asarray(mass / mass.sum(axis=1, keepdims=True))

    m, u = np.tile([0.1, 0.3, 0.6], (width, 1)), shares(counts)
    for _ in range(TURNS):
        odds = np.log(share / (1 - share)) + reached @ np.log(m / u).ravel()
        matching = counts / (1 + np.exp(-np.clip(odds, -500, 500)))
        last, m, u = m, shares(matching), shares(counts - matching)
        if np.abs(m - last).max(initial=0.0) < 1e-7:
            break
    return m, u


class _Probable(NamedTuple):
    """How right the guess about each target is, notes on it, and a note if time ran out."""

    right: Floats
    notes: list[str]
    late: list[str]


def _probable(case: Case, before: list[Places], rows: _Rows, clock: Clock) -> _Probable:
    """Guess the row of each target by the weights of agreement."""
    rng = np.random.default_rng((case.seed, 30))
    most = min(MOST_PROBABLE, max(FEWEST, PAIRS // max(1, rows.first.size)))
    targets = rng.permutation(sampled(case.n, most, rng))
    learned = targets[: max(20, LEARNED // max(1, rows.first.size))]
    compared = [agreement(one, other) for one, other in zip(before, rows.columns, strict=True)]
    if len(before) > COLUMNS:
        # Those in which pairs agree most rarely are the most informative.
        often = [one(learned[:20], rows.first).mean() for one in compared]
        compared = [compared[j] for j in sorted(np.argsort(often, kind="stable")[:COLUMNS].tolist())]
    weights = _weights(compared, rows, learned, case.n) if case.n > 1 else np.zeros((len(compared), 3))

    def tried(block: Labels) -> Floats:
        total = np.zeros((block.size, rows.first.size))
        for one, worth in zip(compared, weights, strict=True):
            total += worth[one(block, rows.first)]
        return _share(total >= total.max(axis=1, keepdims=True) - 1e-9, rows, block)

    right, note = _in_blocks(tried, targets, rows.first.size, clock)
    few = [f"{len(compared)} of {len(before)} columns were compared"] if len(compared) < len(before) else []
    return _Probable(right, few, note)


def _weights(compared: Sequence[Compared], rows: _Rows, targets: Labels, n: int) -> Floats:
    """Return log(m/u) of each step of agreement in each column, learned from all pairs of some targets."""
    found: dict[int, float] = {}
    for block in blocks(targets, rows.first.size):
        codes = np.zeros((block.size, rows.first.size), np.int64)
        for one in compared:
            codes *= 3
            codes += one(block, rows.first)
        kinds, kind = np.unique(codes, return_inverse=True)
        counts = np.bincount(kind.reshape(-1), np.tile(rows.sizes, block.size))
        for code, count in zip(kinds.tolist(), counts.tolist(), strict=True):
            found[code] = found.get(code, 0.0) + count
    left = np.array([*found], np.int64)
    patterns = np.zeros((left.size, len(compared)), np.uint8)
    for place in reversed(range(len(compared))):
        patterns[:, place] = left % 3
        left //= 3
    m, u = fellegi_sunter(patterns, np.array([*found.values()], np.float64), 1 / n)
    return np.asarray(np.log(m / u))


def _prepared(case: Case, profile: Profile, most: int, number: int) -> tuple[list[Places], _Rows, Labels]:
    """Return the columns of the people and the rows of the release, and the targets in random order."""
    if case.before.n != case.n:
        raise DataError(
            f"attack: the table has {case.before.n} rows and the release {case.n}. Give the rows that were released."
        )
    before, after = places(case, profile.known)
    rng = np.random.default_rng((case.seed, number))
    return before, _Rows.of(after, case.n), rng.permutation(sampled(case.n, most, rng))


def _share(best: NDArray[np.bool_], rows: _Rows, targets: Labels) -> Floats:
    """Return 1/ties for each target whose own row is among the best ones, else 0."""
    return np.asarray(best[np.arange(targets.size), rows.labels[targets]] / (best @ rows.sizes))


def _in_blocks(tried: Callable[[Labels], Floats], targets: Labels, rows: int, clock: Clock) -> tuple[Floats, list[str]]:
    """Try blocks of targets until the time is up, at least one; return how right each guess is, and a note."""
    found = [np.zeros(0)]
    for block in blocks(targets, rows):
        if clock.over and len(found) > 1:
            break
        found.append(tried(block))
    right = np.concatenate(found)
    return right, time_up(right.size, targets.size)


def _concluded(
    name: str,
    case: Case,
    profile: Profile,
    right: Floats,
    power: Floats,
    notes: Sequence[str],
    late: list[str],
    control: float | None = None,
    control_of: int = 0,
) -> Attack:
    """Return the result of an attack, compared with a random row and what k allows."""
    if not case.n:
        return concluded(name, profile, right, baseline=0.0, note="the release has no rows")
    return concluded(
        name,
        profile,
        right,
        baseline=1 / case.n,
        control=control,
        power=float(power.mean()),
        allowed=allowed_by_k(case),
        note=Sentence.joined([*notes, *late]) if profile.known else "no column is known: the guess is random",
        ended=bool(late),
        baseline_of=0,
        control_of=control_of,
    )
