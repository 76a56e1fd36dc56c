"""Last member: what an attacker who knows all members of a class but one learns about that one.

A mean of g numbers, g - 1 of which are known, is an equation with one unknown. Rounding the mean to a step turns the
solution into an interval of g steps.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.model.findings import Attack
from shoal.model.sentences import Sentence
from shoal.privacy.attacks.attack import Clock, Profile, concluded, sampled
from shoal.privacy.attacks.averages import Average, averages
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.classes import Labels

Floats = NDArray[np.float64]
MOST = 2_000  # targets, each of another class
CLOSE = 0.01  # standard deviations of the column; finer decimals do not matter
WIDTH = 0.1  # standard deviations of the column that rounding should leave the last member
MARGIN = 0.01  # above what is allowed


def guesses(column: Average, labels: Labels, weights: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Return three guesses of each row by an attacker who knows the other rows of its class; NaN where it has no value.

    With the published value; without it, from the mean of the known members (of all other rows if the class has no
    other); and with the exact mean. `labels` is the class of each row, `weights` its weight in a mean.
    """
    x, there = column.before, np.isfinite(column.before)
    w = np.where(there, 1.0 if weights is None else weights, 0.0)
    if weights is not None:  # in a class of weight 0 all rows count equally
        w = np.where((np.bincount(labels, w)[labels] > 0) | ~there, w, 1.0)
    filled = np.where(there, x, 0.0)
    middle = float(filled[there].mean()) if there.any() else 0.0  # sums of small numbers lose fewer digits
    centred = np.where(there, x - middle, 0.0)
    mass, total = np.bincount(labels, w), np.bincount(labels, w * centred)
    known, rest = mass[labels] - w, total[labels] - w * centred
    members, plain = np.bincount(labels, there), np.bincount(labels, centred)
    others = members[labels] - there
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = middle + (mass[labels] * (total / mass)[labels] - rest) / w
        outside = (float(centred.sum()) - centred) / (there.sum() - 1)
        blind = middle + np.where(others > 0, (plain[labels] - centred) / others, outside)
        if column.form == "mean":
            guess = middle + ((known + w) * (column.after - middle) - rest) / w
        else:
            equal = np.abs(x - column.after) <= column.tolerance
            seen = np.bincount(labels, equal)[labels] - equal
            guess = np.where(seen > 0, blind, column.after)
    return tuple(np.where(there & np.isfinite(one), one, np.nan) for one in (guess, blind, exact))  # type: ignore[return-value]


@attack("last member")
def last_member(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Solve the published value of a class for its one unknown member.

    The guess is size * mean - sum of the known members. A published value that is not a mean (a median, the value of
    one row) is taken for the value of the last member if no known member has it; otherwise the guess is the mean of the
    known members. Success: the guess is the true value to the last decimal of the column, or to a hundredth of a
    standard deviation if that is coarser. Trials: cells of numbers and dates of one row of each class, up to 2,000
    rows. Baseline: the mean of the known members, or the commonest value if that is right more often. Allowed, and 0.01
    more: for a mean what chance gives in an interval of a tenth of a standard deviation, at most 1/k; for other values
    1/k, and the baseline in the other cases. Power: the attack on exact means. The note gives the median width of the
    interval that rounding leaves.
    """
    name, k = "last member", case.policy.constraints.k
    columns = averages(case, profile.known) if case.n else []
    if not columns:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note="no known column of numbers is published")
    rng = np.random.default_rng((case.seed, 101))
    order = rng.permutation(case.n)
    # One row of each class, as a flaw of the mean affects all of them.
    drawn = order[np.unique(case.labels[order], return_index=True)[1]]
    targets = drawn[sampled(drawn.size, MOST, rng)]
    weights = _weights(case)
    right, blind, power, allowed, widths, done = [], [], [], [], [], 0
    for column in columns:
        if done and clock.over:
            break
        done += 1
        tried = targets[np.isfinite(column.before[targets]) & np.isfinite(column.after[targets])]
        truth = column.before[tried]
        near = max(column.tolerance, CLOSE / 2 * column.spread)
        guess, without, exact = (np.abs(one[tried] - truth) <= near for one in guesses(column, case.labels, weights))
        held = column.before[np.isfinite(column.before)]
        commonest = np.unique(held, return_counts=True)[1].max() / held.size
        base = max(float(without.mean()) if tried.size else 0.0, float(commonest))
        right.append(guess)
        power.append(exact)
        blind.append(np.full(tried.size, base))
        conceded = min(1 / k, 2 * near / (WIDTH * column.spread))
        if column.form != "mean":
            conceded = 1 / k + (1 - 1 / k) * base
        allowed.append(np.full(tried.size, min(1.0, conceded + MARGIN)))
        if column.form == "mean":
            sizes = np.bincount(case.labels, np.isfinite(column.before))[case.labels[tried]]
            widths.append(sizes * column.step / column.spread)
    hits = np.concatenate(right).astype(np.float64)
    baseline, able, bound = (
        float(np.concatenate(each).mean()) if hits.size else 0.0 for each in (blind, power, allowed)
    )
    notes = []
    if any(one.size for one in widths):
        wide = float(np.median(np.concatenate(widths)))
        notes.append(f"means leave the last member an interval of {wide:.3g} standard deviations (median)")
    if done < len(columns):
        notes.append(f"time ran out after {done} of {len(columns)} columns")
    text, ended = Sentence.joined(notes), done < len(columns)
    return concluded(
        name,
        profile,
        hits,
        baseline=baseline,
        power=able,
        allowed=bound,
        note=text,
        ended=ended,
        baseline_of=hits.size,
    )


def _weights(case: Case) -> Floats | None:
    """Return the weights of the rows, if the policy names a column of them that the table has."""
    name = case.policy.weight
    if name is None or name not in case.before.names:
        return None
    cells = case.before.column(name).cast("float64", safe=False).fill_null(0.0)
    return np.asarray(cells.to_numpy(), np.float64)
