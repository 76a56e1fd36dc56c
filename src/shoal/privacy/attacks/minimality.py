"""Minimality: what the construction of groups reveals about the sensitive values inside them.

The attacker knows the quasi-identifiers of everyone, the method, the policy and the code, and sees the release: the
classes, and how often each sensitive value occurs in each. The random seed is unknown. Before running anything, every
**placement** of the published values on the rows of their classes is equally likely. Then the run is repeated for
placements and random seeds. A placement that never leads to the published classes is ruled out; the posterior
probability of any other one is proportional to how often it does.

1. If all classes together have few placements, every one of them is tried, and the result is exact: the same classes
   must result.
2. Otherwise classes are drawn at random. The values of one class are moved among its rows, those of all other classes
   stay as they are, and this one class must result.

**Worst posterior**: the largest probability that a certain person has a certain value. **Share**: how often the value
occurs in the class, which is what the release says without repeating anything. **Excess**: their difference.

Wong, Fu, Wang and Pei, Minimality attack in privacy preserving data publishing, VLDB 2007.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import comb
from statistics import NormalDist

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.model.findings import NOT_TRIED, Attack, Outcome
from shoal.model.sentences import Sentence
from shoal.privacy.attacks.attack import Clock, Profile, concluded
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.values import Values, read_column

Regroup = Callable[[Labels, int], Labels]
Matches = Callable[[Labels], bool]

MARGIN = 0.1  # above 1/l
NEGLIGIBLE = 0.01  # excess that is negligible
ALL = 2_000  # placements of all classes up to which every one is tried
EACH = 24  # placements of one class up to which every one is tried
ROUNDS = 8  # seeds per placement, if runs with different seeds differ
SURE, MANY = 2, 24  # seeds, and runs, after which runs that agree are assumed not to depend on the seed
MOST_CLASSES = 40
SECONDS = 30.0  # default time limit
FEW = 20  # matching runs below which nothing is concluded


@dataclass(frozen=True)
class Revealed:
    """What repeating the run reveals, for the person and value about which it reveals most."""

    column: str  # the sensitive column
    posterior: float  # probability that the person has the value
    share: float  # share of the value in the class
    low: float  # 95% interval of the posterior, corrected for the number of persons and values
    high: float
    hits: float  # matching runs in which the person has the value
    runs: int
    matching: int  # runs that led to the published classes
    exact: bool  # whether every placement was tried and the seed does not matter

    @property
    def excess(self) -> float:
        """How much more likely the value is than the class alone says."""
        return self.posterior - self.share


def allowed(l: float | None, share: float) -> float:  # noqa: E741
    """Return the highest tolerated posterior: 1/l + 0.1, or without l the share of the value + 0.1.

    A posterior hardly above the share is not due to minimality, whatever l is.
    """
    return max(share + NEGLIGIBLE, 1 / l + MARGIN) if l else share + MARGIN


def revealed_by_all(
    labels: Labels, sensitive: Mapping[str, Values], regroup: Regroup, seed: int, clock: Clock, most: int = ALL
) -> Revealed | None:
    """Return what trying every placement of every class reveals; None if there are too many, or no time for them.

    `labels` is the class of each row. `regroup` repeats the run with the sensitive values of row `origin[i]` at row i
    and another seed, and returns the classes. `seed` generates those seeds. At most `most` placements are tried.
    """
    whole = classes([column.codes for column in sensitive.values()], labels.size)
    members = [np.flatnonzero(labels == one) for one in range(int(labels.max()) + 1)]
    total = 1
    for rows in members:
        total *= _placements(whole[rows], most)
        if total > most:
            return None
    wanted = _numbered(labels)
    parts = [list(_arranged(whole[rows], rows)) for rows in members]
    origins = [_origin(labels.size, members, chosen) for chosen in product(*parts)]
    counted = _counted(origins, regroup, lambda made: bool(np.array_equal(_numbered(made), wanted)), seed, clock)
    return (
        None if counted is None else _revealed(origins, *counted, labels, sensitive, np.arange(labels.size), whole=True)
    )


def revealed_by_some(
    labels: Labels, sensitive: Mapping[str, Values], regroup: Regroup, seed: int, clock: Clock
) -> tuple[list[Revealed], bool]:
    """Return what moving the values of one class at a time reveals, for classes drawn at random.

    The parameters are those of `revealed_by_all`. Returns an entry for each class with two placements or more for which
    there was time, and whether time ran out before all were tried.
    """
    rng = np.random.default_rng((seed, 51))
    whole = classes([column.codes for column in sensitive.values()], labels.size)
    found: list[Revealed] = []
    for number in rng.permutation(int(labels.max()) + 1)[:MOST_CLASSES]:
        rows = np.flatnonzero(labels == number)
        every = _placements(whole[rows], EACH)
        if every < 2:
            continue
        if every <= EACH:
            moved = list(_arranged(whole[rows], rows))
        else:  # all rotations of a random order: every row has every value as often as the class does
            orders = [rows[rng.permutation(rows.size)] for _ in range(max(1, EACH // rows.size))]
            moved = [np.roll(order, turn) for order in orders for turn in range(rows.size)]
        origins = [_origin(labels.size, [rows], [one]) for one in moved]

        def matches(made: Labels, rows: Labels = rows) -> bool:
            own = made == made[rows[0]]
            return int(own.sum()) == rows.size and bool(own[rows].all())

        counted = _counted(origins, regroup, matches, int(rng.integers(2**62)), clock)
        if counted is None:
            return found, True
        revealed = _revealed(origins, *counted, labels, sensitive, rows, whole=every <= EACH)
        found += [] if revealed is None else [revealed]
    return found, False


@attack("minimality", requires=("sensitive",), repeats=True)
def minimality(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Repeat the run for placements of the published sensitive values, and rule out those that lead to other classes.

    The attacker knows all quasi-identifiers, whatever the profile, and the method, but not the random seed. The rate is
    the worst posterior: the largest probability that a certain person has a certain value. The baseline is the share of
    that value in the class, which the release itself states. The power is 1, as on an unprotected copy where each row
    is its own class, or 0 if no repetition leads to the published classes. Allowed is 1/l + 0.1, or without l the share
    + 0.1. With more than 2,000 placements, up to 40 classes are drawn at random and tried one by one. Classes of fewer
    than k rows need no repetition: their values are read off, and the rate counts how often that is right.
    """
    profile = replace(profile, name="knows all quasi-identifiers and the method")
    few = np.flatnonzero(case.sizes[case.labels] < case.policy.constraints.k) if case.n else np.zeros(0, np.int64)
    if few.size and case.sensitive and case.original is not None:
        right = np.concatenate([_as_released(case, name)[few] for name in case.sensitive])
        commonest = max(float(column.shares.max()) for column in case.sensitive.values())
        note = "the values of classes of fewer than k rows were read off"
        return concluded("minimality", profile, right.astype(np.float64), baseline=commonest, note=note)
    if case.regroup is None or not case.sensitive or not case.n:
        why = "it needs a sensitive column and a release of shoal, whose run can be repeated"
        return _unknown(profile, why)
    clock = clock if clock.limited else Clock(SECONDS)
    whole = revealed_by_all(case.labels, case.sensitive, case.regroup, case.seed, clock)
    found, ended = ([whole], False) if whole is not None else ([], clock.over)
    if not found and not ended:
        found, ended = revealed_by_some(case.labels, case.sensitive, case.regroup, case.seed, clock)
    note = _time_up(len(found)) if ended else ""
    if not found:
        return _unknown(profile, note or "no repetition of the run led to the published classes", failed=not ended)
    l = case.policy.constraints.l  # noqa: E741
    leaks = [one for one in found if one.low > allowed(l, one.share)]
    worst = max(leaks or found, key=lambda one: (one.low, one.posterior))  # a posterior from few runs says little
    matching = sum(one.matching for one in found)
    outcome: Outcome = "leak" if leaks else "no evidence"
    unsure = any(one.posterior > allowed(l, one.share) for one in found)
    if not leaks and (ended or unsure or (not all(one.exact for one in found) and matching < FEW)):
        outcome = "too weak to tell"
    runs = sum(one.runs for one in found)
    counted_note = Sentence(
        "{matching} of {runs} repetitions led to the published classes, excess {excess:.3f}",
        matching=matching,
        runs=runs,
        excess=worst.excess,
    )
    note = Sentence.joined([note, counted_note] if note else [counted_note])
    bound = allowed(l, worst.share)
    return Attack(
        "minimality",
        profile.name,
        worst.hits,
        worst.matching,
        (worst.low, worst.high),
        worst.share,
        None,
        1.0,
        outcome,
        note,
        bound,
        baseline_of=0,  # a share in one class
    )


def _time_up(tried: int) -> str:
    """Say that time ran out, and how many classes had been tried by then."""
    if not tried:
        return "time ran out before a class had been tried"
    return Sentence("time ran out after {tried} class" + ("es" if tried > 1 else ""), tried=tried)


def _as_released(case: Case, name: str) -> NDArray[np.bool_]:
    """Return which rows have the same sensitive value in the original and in the release."""
    sides = [part.column(name).cast(pa.string()) for part in (case.before.data, case.released)]
    codes = read_column(pa.chunked_array([chunk for side in sides for chunk in side.chunks], pa.string())).codes
    return np.asarray(codes[: case.n] == codes[case.n :])


def _unknown(profile: Profile, why: str, *, failed: bool = False) -> Attack:
    """Return an attack that could not be tried."""
    power = 0.0 if failed else None
    return Attack("minimality", profile.name, 0.0, 0, None, 0.0, None, power, NOT_TRIED, why, 0.0)


def _placements(codes: Labels, most: int) -> int:
    """Return in how many ways these values can be assigned to their rows; most + 1 if there are more."""
    total, left = 1, codes.size
    for count in np.unique(codes, return_counts=True)[1].tolist():
        total *= comb(left, count)
        left -= count
        if total > most:
            return most + 1
    return total


def _arranged(codes: Labels, rows: Labels) -> Iterator[Labels]:
    """Yield every placement of the values of a class: for each of its rows, the row whose values it gets."""
    owners = {code: rows[codes == code] for code in np.unique(codes).tolist()}

    def placed(left: dict[int, int], chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == rows.size:
            yield chosen
        for code, count in left.items():
            if count:
                yield from placed({**left, code: count - 1}, (*chosen, code))

    for values in placed({code: own.size for code, own in owners.items()}, ()):
        taken = {code: iter(own.tolist()) for code, own in owners.items()}
        yield np.array([next(taken[code]) for code in values], np.int64)


def _origin(n: int, members: Sequence[Labels], chosen: Sequence[Labels]) -> Labels:
    """Return for each row of the table the row whose values it gets."""
    origin = np.arange(n)
    for rows, sources in zip(members, chosen, strict=True):
        origin[rows] = sources
    return origin


def _numbered(labels: Labels) -> Labels:
    """Return labels numbered in the order of their first rows, so that equal partitions are equal."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return np.asarray(rank[inverse.reshape(-1)])


def _counted(
    origins: Sequence[Labels], regroup: Regroup, matches: Matches, seed: int, clock: Clock
) -> tuple[NDArray[np.int64], int, bool] | None:
    """Return how often each placement led to the published classes, for how many seeds, and if seeds do not matter."""
    rng = np.random.default_rng((seed, 52))
    hits = np.zeros(len(origins), np.int64)
    done, steady = 0, False
    for number in range(ROUNDS):
        now = np.zeros(len(origins), np.int64)
        for place, origin in enumerate(origins):
            if clock.over:
                return (hits, done, steady) if done >= SURE else None
            now[place] = matches(regroup(origin, int(rng.integers(2**62))))
        hits, done = hits + now, number + 1
        steady = bool(((hits == 0) | (hits == done)).all())
        if done >= SURE and done * len(origins) >= MANY and steady:
            break
    return hits, done, steady


def _revealed(
    origins: Sequence[Labels],
    hits: NDArray[np.int64],
    rounds: int,
    steady: bool,
    labels: Labels,
    sensitive: Mapping[str, Values],
    rows: Labels,
    *,
    whole: bool,
) -> Revealed | None:
    """Return the person and value about which the counted runs reveal most."""
    matching = int(hits.sum())
    if not matching:
        return None
    exact = whole and steady
    # If placements were sampled, further seeds say nothing about the others.
    sure = matching if whole else int((hits > 0).sum())
    cells = rows.size * sum(column.distinct for column in sensitive.values())
    wide = NormalDist().inv_cdf(1 - 0.025 / cells)
    best: Revealed | None = None
    for name, column in sensitive.items():
        placed = np.stack([column.codes[origin[rows]] for origin in origins])
        for value in range(column.distinct):
            held = hits @ (placed == value)  # for each row, the matching runs in which it has the value
            for row, count in zip(rows.tolist(), held.tolist(), strict=True):
                share = float((column.codes[labels == labels[row]] == value).mean())
                posterior = count / matching
                low, high = (posterior, posterior) if exact else wilson(posterior * sure, sure, wide)
                revealed = Revealed(name, posterior, share, low, high, count, rounds * len(origins), matching, exact)
                best = revealed if best is None or _rank(revealed) > _rank(best) else best
    return best


def _rank(revealed: Revealed) -> tuple[bool, float, float]:
    """Return what makes one finding worse than another: that it reveals more than the class, and how certainly."""
    return revealed.low > revealed.share + NEGLIGIBLE, revealed.low, revealed.posterior
