"""Protect: groups whose construction reveals almost nothing about the sensitive values inside them.

A group that is left whole because its halves would miss l, t or another constraint reveals just that about its values:
the minimality attack. Here cuts are decided from the top down, and randomized where the decision would reveal too much.

1. The cuts are given, and depend on quasi-identifiers alone (`cluster.methods.bisection`).
2. From the whole table down: if a half of a part misses a constraint, the part is published whole. No other cut is
   tried, and nothing is merged.
3. If both halves meet them, the part is still published whole with probability p, by secret randomness; otherwise
   both halves are examined in turn. For halves of equal size p is 0: what fails in one half is as likely to fail in
   the other, so failing says nothing about a person. Otherwise, over all placements of the part's own values,
   split into failing (b) and passing (g) ones, with T their number, S the sum of a value's share in a half, and s its
   share in the part,

       p = max over halves and values of clip((S_b - (s + eps) T_b) / ((s + eps) T_g - S_g), 0, 1).

   Then the posterior probability that a person of a whole part has a value is at most s + eps: (S_b + p S_g) / (T_b + p
   T_g). In a part that was cut it is the share of the value in the published half.
4. The outcome is published as it is. Nothing is tried twice, and nothing is chosen by its loss.

What matters is how many rows of each value are in the first half, which has a multivariate hypergeometric distribution:
all such counts if there are few, otherwise a sample of them, with p at the upper end of an interval of three standard
errors.

Limits: the prior is uniform, and sensitive columns are examined one by one; the largest p is used. Distinct l alone
allows one value to fill nearly the whole class; request alpha to bound the posterior itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InfeasibleError
from shoal.model.cuts import Cuts
from shoal.model.findings import Finding
from shoal.model.partition import Partition
from shoal.model.policy import Constraints
from shoal.model.progress import tick
from shoal.privacy.verdict.classes import Counts
from shoal.privacy.verdict.judge import asked_of, failing
from shoal.privacy.verdict.values import Values

EPSILON = 0.1  # how much the posterior of a value may exceed its share in the class
ALL = 5_000  # possible counts of a half up to which all are enumerated
DRAWN = 5_000  # counts that are sampled if there are more
ERRORS = 3.0  # standard errors

Whole = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Randomization:
    """How a decision to cut a part is randomized."""

    p: float  # probability that a part whose halves meet the constraints is published whole
    excess: float  # largest posterior of a value less its share, if the part is published whole


def protected(
    cuts: Cuts, constraints: Constraints, sensitive: Mapping[str, Values], seed: int, epsilon: float = EPSILON
) -> Partition:
    """Publish parts from the top down, so that which of them are left whole reveals little about sensitive values.

    `cuts` split into halves that differ by at most one row, and every part has k rows. `seed` is secret. `epsilon` is
    how much the posterior of a value may exceed its share in the class. The findings are the largest excess and the
    share of rows in parts that were left whole at random.

    Guarantee
    ---------
    Every group meets every constraint. For one sensitive column and a uniform prior, an attacker who knows all
    quasi-identifiers and this procedure, but not the seed, assigns no person a probability of a value that exceeds its
    share in the class by more than epsilon; where counts are sampled, up to their sampling error.

    Cost
    ----
    For each part of an odd size, O(v) time for v possible counts of its first half, at most 5,000 of which are
    examined; in addition O(n log n).
    """
    rng = np.random.default_rng((seed, 61))
    if _fails(cuts, 0, constraints, sensitive):
        raise InfeasibleError("protect: the table as a whole misses the constraints on sensitive values. Relax them.")
    labels = np.empty(cuts.n, np.int64)
    known: dict[tuple[object, ...], Randomization] = {}
    waiting, worst, held = [0], 0.0, 0
    while waiting:
        part = waiting.pop()
        rows, halves = cuts.part(part), cuts.halves(part)
        tick(int(cuts.low[part]), cuts.n)
        if halves is None:
            labels[rows] = part
            continue
        each = [
            _randomization_of_part(cuts, part, name, column, constraints, epsilon, seed, known)
            for name, column in sensitive.items()
        ]
        p = max((one.p for one in each), default=0.0)
        bad = [
            any(_fails(cuts, half, constraints, {name: column}) for half in halves)
            for name, column in sensitive.items()
        ]
        if not any(bad):
            if rng.random() >= p:
                waiting += reversed(halves)
                continue
            held += rows.size
            bad = [one.p > 0 for one in each]
        worst = max([worst, *(one.excess for one, failed in zip(each, bad, strict=True) if failed)])
        labels[rows] = part
    how = "posterior of a person's value for an attacker who repeats the run, less its share; worst class"
    findings = (
        Finding("minimality", worst, how, "groups", part="excess"),
        Finding(
            "rows left in larger groups %", 100 * held / cuts.n, "at random, against minimality", "groups", unit="%"
        ),
    )
    return Partition.of(labels, (), findings)


def randomization_of(
    counts: Whole, first: int, constraints: Constraints, column: Values, epsilon: float, rng: np.random.Generator
) -> Randomization:
    """Return how the decision to cut a part with these `counts` of each sensitive value is randomized.

    `first` is the number of rows of its first half, and `column` the whole column, since models compare with its
    shares. `rng` samples counts for parts with too many of them to enumerate.
    """
    n = int(counts.sum())
    if 2 * first == n:
        return Randomization(0.0, 0.0)
    held = np.flatnonzero(counts)
    own, share = counts[held], counts[held] / n
    everything = _ways(own, first) <= ALL
    if everything:
        drawn = _every(own, first)
        weights = _hypergeometric(own, drawn)
    else:
        drawn = rng.multivariate_hypergeometric(own, first, DRAWN, method="marginals")
        weights = np.full(DRAWN, 1 / DRAWN)
    sizes = (first, n - first)
    sides = (drawn, own - drawn)
    bad = np.zeros(len(drawn), bool)
    for side, size in zip(sides, sizes, strict=True):
        bad |= _missing(side, size, held, constraints, column)
    if not bad.any():
        # A sample without a failure shows that failures are rare, not what one would reveal.
        return Randomization(0.0, 0.0 if everything else float(1 - share.min()))
    p, both = 0.0, []
    for side, size in zip(sides, sizes, strict=True):
        over = side / size - share - epsilon
        above, below = (weights[:, None] * np.where(part[:, None], over, 0.0) for part in (bad, ~bad))
        a, b = above.sum(axis=0), -below.sum(axis=0)
        if not everything:
            a, b = a + _error(above), b - _error(below)
        p = max([p, *(1.0 if low <= 0 else min(1.0, high / low) for high, low in zip(a, b, strict=True) if high > 0)])
        both.append(side / size)
    mass = weights * np.where(bad, 1.0, p)
    posterior = np.max([mass @ one / mass.sum() for one in both], axis=0)
    return Randomization(float(p), max(0.0, float((posterior - share).max())))


def _randomization_of_part(
    cuts: Cuts,
    part: int,
    name: str,
    column: Values,
    constraints: Constraints,
    epsilon: float,
    seed: int,
    known: dict[tuple[object, ...], Randomization],
) -> Randomization:
    """Return how the decision to cut a part is randomized for one column; parts with equal counts share it."""
    counts = np.bincount(column.codes[cuts.part(part)], minlength=column.distinct)
    first = int(cuts.high[cuts.first[part]] - cuts.low[part])
    key = (name, first, counts.tobytes())
    if key not in known:
        known[key] = randomization_of(
            counts, first, constraints, column, epsilon, np.random.default_rng((seed, 62, part))
        )
    return known[key]


def _fails(cuts: Cuts, part: int, constraints: Constraints, sensitive: Mapping[str, Values]) -> bool:
    """Ask the judge whether the rows of a part, as one class, miss a constraint."""
    rows = cuts.part(part)
    some = {name: column.some(rows) for name, column in sensitive.items()}
    return bool(failing(np.zeros(rows.size, np.int64), constraints, some, sensitive)[0])


def _missing(side: Whole, size: int, values: Whole, constraints: Constraints, column: Values) -> NDArray[np.bool_]:
    """Return which of these counts of a class miss a constraint on this column."""
    owner, place = np.nonzero(side)
    sizes = np.full(len(side), size)
    counts = Counts(owner, values[place], side[owner, place], sizes, column.shares, column)
    bad = np.zeros(len(side), bool)
    for model, asked in asked_of(constraints):
        bad |= model.fails(model.figures(counts, constraints), asked)
    return bad


def _ways(counts: Whole, first: int) -> float:
    """Return how many different counts the first half may have."""
    ways = np.ones(1)
    for count in counts:
        ways = np.convolve(ways, np.ones(int(count) + 1))[: first + 1]
        if ways.sum() > 1e12:
            return float("inf")
    return float(ways[first]) if ways.size > first else 0.0


def _every(counts: Whole, first: int) -> Whole:
    """Return all counts that the first half may have, one per row."""
    made, left = np.zeros((1, 0), np.int64), np.array([first])
    behind = counts[::-1].cumsum()[::-1] - counts  # rows of the values still to be placed
    for count, rest in zip(counts, behind, strict=True):
        low, high = np.maximum(0, left - rest), np.minimum(count, left)
        turns = high - low + 1
        owner = np.repeat(np.arange(len(made)), turns)
        number = np.arange(owner.size) - np.repeat(turns.cumsum() - turns, turns) + low[owner]
        made, left = np.column_stack([made[owner], number]), left[owner] - number
    return made


def _hypergeometric(counts: Whole, drawn: Whole) -> Floats:
    """Return the probability of each count of the first half, if all placements are equally likely."""
    log = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(counts.sum()) + 1)))])
    ways = (log[counts] - log[drawn] - log[counts - drawn]).sum(axis=1)
    weights = np.exp(ways - ways.max())
    return np.asarray(weights / weights.sum())


def _error(weighted: Floats) -> Floats:
    """Return three standard errors of the sums of these columns, whose rows were sampled."""
    return np.asarray(ERRORS * weighted.std(axis=0) * np.sqrt(len(weighted)))
