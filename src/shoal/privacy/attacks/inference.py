"""Inference: what a release reveals about the values of a person, whichever row is theirs.

1. Rank interval: published numbers that are within 2 per cent of the ranks of the true ones.
2. Homogeneity: sensitive values that the rows nearest to a person give away, because nearly all of them have the same
   value (skewness), or because their values are close to each other (similarity). Machanavajjhala et al. (2007), Li et
   al. (2007).
3. Attribute inference: the sensitive value guessed from the rows nearest to a person.

A useful release reveals something about everyone in the second and third sense, and its published values are near the
true ones. So 1 and 3 compare with what k permits: the same attack on a release in which each person is hidden among
the k rows nearest to them in the original table, themselves included.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.catalogue.model_card import SLACK
from shoal.errors import DataError
from shoal.model.findings import Attack
from shoal.model.sentences import Rows, Sentence, Share
from shoal.privacy.attacks.attack import Clock, Profile, concluded, sampled, time_up
from shoal.privacy.attacks.composition import Suspects, suspects
from shoal.privacy.attacks.singling import control_case, limits
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.measures.space import blocks, places, space
from shoal.privacy.verdict.classes import Counts, Labels, classes
from shoal.privacy.verdict.values import Values

MOST = 2_000  # targets
NEAR = 0.02  # share of the ranks of a column
TAU = 0.9  # posterior above which an attacker is sure
WINDOW = 0.05  # share of the range of a sensitive column
SHUFFLES = 19  # the largest of these is exceeded by chance once in twenty
PERMITTED = "k = {k} already permits {allowed:.3f}"
FEW = 20  # numbers with at most this many distinct values are guessed like categories

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


class Secret(NamedTuple):
    """A sensitive column: the released value of each row, and the true value of each row of the table.

    As codes, equal where the values are, and, if the column has an order, as numbers, NaN where one is missing.
    """

    codes: Labels
    true: Labels
    numbers: Floats | None = None
    truth: Floats | None = None

    @property
    def span(self) -> float:
        """The range of what is released; 0 without an order."""
        present = self.numbers[np.isfinite(self.numbers)] if self.numbers is not None else np.zeros(0)
        return float(np.ptp(present)) if present.size else 0.0

    def shuffled(self, order: Labels) -> "Secret":
        """Return the column with its released values in another order."""
        return self._replace(codes=self.codes[order], numbers=None if self.numbers is None else self.numbers[order])

    def raw(self) -> "Secret":
        """Return the column as an unprotected copy would have it."""
        return self._replace(codes=self.true, numbers=self.truth)


def peers(points: Floats, targets: Labels, k: int, clock: Clock) -> Labels:
    """Return the k rows nearest to each target, itself first.

    If there are fewer than k rows, all of them. Targets for which there is no time are left out, the last ones first.
    """
    k, found = min(k, len(points)), [np.zeros((0, min(k, len(points))), np.int64)]
    square = (points**2).sum(axis=1)
    for block in blocks(targets, len(points)):
        if len(found) > 1 and clock.over:
            break
        squares = square - 2 * points[block] @ points.T
        squares[np.arange(block.size), block] = -np.inf
        some = np.argpartition(squares, k - 1, axis=1)[:, :k]
        found.append(np.take_along_axis(some, np.take_along_axis(squares, some, axis=1).argsort(axis=1), axis=1))
    return np.vstack(found)


def posterior(found: Suspects, codes: Labels, true: Labels) -> tuple[Floats, Floats, Floats]:
    """Return the share of each target's true value among its suspects, the largest share, and how many values have it.

    `codes` are the released values of all rows, `true` the true values of the targets.
    """
    counts = Counts.of(found.owner, Values(codes[found.row]))
    top = counts.most(counts.share)
    ties = np.bincount(counts.owner, counts.share >= top[counts.owner] - SLACK).astype(np.float64)
    width = int(max(codes.max(), true.max())) + 1
    keys, wanted = counts.owner * width + counts.value, found.who * width + true
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    share = np.where(keys[place] == wanted, counts.share[place], 0.0)
    return share, top[found.who], ties[found.who]


def revealed(found: Suspects, secret: Secret, targets: Labels) -> Truths:
    """Return whose sensitive value is given away: the attacker is certain of it, and right.

    Certain if one value has a share of more than 0.9 among the suspects, or if their values span less than 5 per cent
    of the range; right if it is the true value, or if that lies in the window of 5 per cent around them.
    """
    plain = posterior(found, secret.codes, secret.true[targets])[0] > TAU
    if secret.numbers is None or secret.truth is None or not secret.span:
        return plain
    values, starts = secret.numbers[found.row], found.starts
    with np.errstate(invalid="ignore"):
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        sure = high - low < WINDOW * secret.span
        middle = np.where(sure, (low + high) / 2, np.nan)[found.who]
        return plain | (np.abs(secret.truth[targets] - middle) <= WINDOW / 2 * secret.span)


def guessed(found: Suspects, secret: Secret, targets: Labels) -> Floats:
    """Return the probability that the best guess about each target is right.

    The commonest value among the suspects; with m values equally common it is right with probability 1/m. For numbers
    with more than 20 distinct values their mean, right if it is within 5 per cent of the range; missing if all are.
    """
    if secret.numbers is None or secret.truth is None or not _counted(secret):
        share, top, ties = posterior(found, secret.codes, secret.true[targets])
        return np.where(share >= top - SLACK, 1.0 / ties, 0.0)
    values, truth = secret.numbers[found.row], secret.truth[targets]
    present = ~np.isnan(values)
    number = np.bincount(found.owner, present)
    mean = np.bincount(found.owner, np.where(present, values, 0.0)) / np.maximum(number, 1)
    mean = np.where(number > 0, mean, np.nan)[found.who]
    slack = WINDOW * secret.span + SLACK * float(np.nanmax(np.abs(truth), initial=0.0))
    return ((np.abs(truth - mean) <= slack) | (np.isnan(truth) & np.isnan(mean))).astype(np.float64)


def within_ranks(values: Floats, truth: Floats, column: Floats) -> Truths:
    """Return which values lie within 2 per cent of the ranks of a column from the true ones; NaN is near nothing.

    `column` has all cells of the original column, whose ranks are counted; equal cells share the middle rank.
    """
    known = np.sort(column[~np.isnan(column)])
    return np.abs(_ranks(values, known) - _ranks(truth, known)) <= NEAR + SLACK


@attack("rank interval")
def rank_interval(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Guess that each published number is the true one, to within 2 per cent of the ranks.

    Success: rank of the published value within 2 per cent of the ranks of the true one. Trials: cells of the ordered
    columns of the profile that are not missing in the table, of up to 2,000 rows. Baseline: the published value of a
    random row, or the best constant, whichever is better. Allowed: the middle of the k original rows nearest to the
    target by all quasi-identifiers, itself included. Power: 1, as a copy publishes the values themselves.
    """
    name = "rank interval"
    columns = [column for column in case.columns if column.name in profile.known and column.ordered]
    if not columns or not case.n:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note="there is no column with an order")
    targets = _targets(case, 31)
    close = peers(space(case, case.policy.names("quasi"))[0], targets, case.policy.constraints.k, clock)
    note = time_up(len(close), targets.size)
    targets = targets[: len(close)]
    right, baselines, conceded = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    for column in columns:
        cells, low, high = limits(case, column)
        there = targets[~np.isnan(cells[targets])]
        if not there.size:
            continue
        published = (low + high) / 2
        right.append(within_ranks(published[there], cells[there], cells).astype(np.float64))
        baselines.append(np.full(there.size, _blind(published, cells[there], cells)))
        middle = _middle(column, cells[close[~np.isnan(cells[targets])]], published)
        conceded.append(within_ranks(middle, cells[there], cells).astype(np.float64))
    hits = np.concatenate(right)
    baseline, allowed = (float(np.concatenate(each).mean()) if hits.size else 0.0 for each in (baselines, conceded))
    permitted = Sentence(PERMITTED, k=case.policy.constraints.k, allowed=Share(allowed, hits.size))
    text = Sentence.joined([permitted, *note])
    return concluded(
        name,
        profile,
        hits,
        baseline=baseline,
        power=1.0,
        allowed=allowed,
        note=text,
        ended=bool(note),
        baseline_of=hits.size,
    )


@attack("homogeneity", requires=("sensitive",))
def homogeneity(case: Case, profile: Profile, clock: Clock) -> Attack:
    """State the sensitive value of each person where the rows nearest to them leave no doubt.

    Success: certain and right; see `revealed`. Trials: up to 2,000 rows. Baseline: the same on 19 copies whose
    sensitive column is shuffled, on average; or the best constant guess, if its share is above 0.9, so that it may be
    certain as well. Allowed: the largest rate of these copies. Power: the attack on an unprotected copy. With several
    sensitive columns, the worst.
    """
    name = "homogeneity"
    secrets = _secrets(case, case.policy.names("sensitive"))
    if not secrets or not case.n:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note="there is no sensitive column")
    targets = _targets(case, 41)
    found = suspects(case, profile.known, targets, clock)
    note, targets = time_up(found.who.size, targets.size), targets[: found.who.size]
    copy = _copies(case, profile.known, targets)
    worst: list[tuple[float, Attack]] = []
    for column, secret in secrets.items():
        right = revealed(found, secret, targets).astype(np.float64)
        rng = np.random.default_rng((case.seed, 42))
        mixed = [revealed(found, secret.shuffled(rng.permutation(case.n)), targets) for _ in range(SHUFFLES)]
        rates = [float(one.mean()) for one in mixed]
        baseline, most = max(float(np.mean(rates)), _sure(secret)), max(*rates, SLACK)
        power = float(revealed(copy, secret.raw(), targets).mean())
        alike = int(case.sizes[np.bincount(case.counts[column].owner) == 1].sum())
        close = int(right.sum()) - int((posterior(found, secret.codes, secret.true[targets])[0] > TAU).sum())
        notes: list[str] = [
            Sentence(
                "{column!r}: {alike} of {n} rows are in classes with one value",
                column=column,
                alike=Rows(alike),
                n=case.n,
            )
        ]
        if close:
            template = "{close} targets are given away by values that are close to each other"
            notes.append(Sentence(template, close=Rows(close)))
        text = Sentence.joined([*notes, *note])
        made = concluded(
            name,
            profile,
            right,
            baseline=baseline,
            power=power,
            allowed=most,
            note=text,
            ended=bool(note),
            baseline_of=targets.size,
        )
        worst.append(((made.rate or 0.0) - max(baseline, most), made))
    return max(worst, key=lambda one: one[0])[1]


@attack("attribute inference", requires=("sensitive",), control=True)
def attribute_inference(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Guess the sensitive value of each person from the rows nearest to them.

    Success: see `guessed`. Trials: up to 2,000 rows. Baseline: the commonest value, or the best number, without the
    release. Allowed: the same guess from the k original rows nearest to the target, itself included. Control: the same
    on the control rows, if there are any with this column. Power: the attack on an unprotected copy. With several
    sensitive columns, the worst.
    """
    name, k = "attribute inference", case.policy.constraints.k
    secrets = _secrets(case, case.policy.names("sensitive"))
    if not secrets or not case.n:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note="there is no sensitive column")
    targets = _targets(case, 51)
    close = peers(space(case, profile.known)[0], targets, k, clock)
    found = suspects(case, profile.known, targets[: len(close)], clock)
    note, targets = time_up(found.who.size, targets.size), targets[: found.who.size]
    close = close[: targets.size]
    hidden = Suspects(np.arange(targets.size), np.repeat(np.arange(targets.size), close.shape[1]), close.reshape(-1))
    copy = _copies(case, profile.known, targets)
    others, m = control_case(case)
    rng = np.random.default_rng((case.seed, 52))
    outsiders = rng.permutation(sampled(m, MOST, rng))  # so that the first ones represent all
    theirs = suspects(others, profile.known, outsiders, clock) if m else None
    controls = _secrets(others, [name for name in secrets if name in others.before.names]) if m else {}
    worst: list[tuple[float, Attack]] = []
    for column, secret in secrets.items():
        right = guessed(found, secret, targets)
        allowed = float(guessed(hidden, secret.raw(), targets).mean())
        control = None
        if theirs is not None and column in controls:
            control = float(guessed(theirs, controls[column], outsiders[: theirs.who.size]).mean())
        baseline = _constant(secret)
        power = float(guessed(copy, secret.raw(), targets).mean())
        permitted = Sentence(PERMITTED, k=k, allowed=Share(allowed, targets.size))
        notes = [repr(column), permitted, *note]
        made = concluded(
            name,
            profile,
            right,
            baseline=baseline,
            control=control,
            power=power,
            allowed=allowed,
            note=Sentence.joined(notes),
            ended=bool(note),
            baseline_of=secret.true.size,
            control_of=None if theirs is None else theirs.who.size,
        )
        worst.append(((made.rate or 0.0) - max(baseline, allowed, control or 0.0), made))
    return max(worst, key=lambda one: one[0])[1]


def _secrets(case: Case, names: Sequence[str]) -> dict[str, Secret]:
    """Return these sensitive columns, by name."""
    found = {}
    for name in names:
        if name not in case.before.names or name not in case.released.column_names:
            raise DataError(f"attack: the sensitive column {name!r} is not in both the table and the release.")
        given = case.policy.columns[name]
        column = Pair(name, given.kind or "nominal", "mode", case.before.column(name), case.released.column(name))
        if pa.types.is_nested(column.before.type):
            column = replace(column, before=_words(column.before), after=_words(column.after))
        codes = column.codes
        if not column.ordered or (column.kind == "ordinal" and given.order is None):
            found[name] = Secret(codes[1], codes[0])
        else:
            numbers = replace(column, order=given.order).numbers
            found[name] = Secret(codes[1], codes[0], numbers[1], numbers[0])
    return found


def _words(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return nested cells as text, equal where they are."""
    cells = [None if cell is None else repr(cell) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(cells, pa.string())])


def _copies(case: Case, known: tuple[str, ...], targets: Labels) -> Suspects:
    """Return the rows nearest to each target in an unprotected copy: those that are equal in the known columns."""
    same = classes([column.codes for column in places(case, known)[0]], case.n)
    order = np.argsort(same, kind="stable")
    return Suspects(same[targets], same[order], order)


def _ranks(values: Floats, known: Floats) -> Floats:
    """Return the middle ranks of values among sorted ones, from 0 to 1; NaN stays."""
    places = np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")
    return np.where(np.isnan(values), np.nan, places / 2 / max(1, known.size))


def _window(values: Floats, width: float) -> float:
    """Return the largest share of the values in a window of this width; missing ones are in none."""
    present = np.sort(values[~np.isnan(values)])
    if not present.size:
        return 0.0
    return float((np.searchsorted(present, present + width, "right") - np.arange(present.size)).max() / values.size)


def _blind(published: Floats, truth: Floats, column: Floats) -> float:
    """Return how often the published value of a random row, or the best constant, is near enough."""
    known = np.sort(column[~np.isnan(column)])
    present = np.sort(_ranks(published[~np.isnan(published)], known))
    own = _ranks(truth, known)
    reach = NEAR + SLACK
    near = np.searchsorted(present, own + reach, "right") - np.searchsorted(present, own - reach, "left")
    return max(float(near.mean()) / max(1, published.size), _window(_ranks(known, known), 2 * reach))


def _middle(column: Pair, cells: Floats, published: Floats) -> Floats:
    """Return what a column's form would publish for each row of cells; integers if all published values are."""
    gone = np.isnan(cells)
    if column.form in ("median", "mode", "representative", "medoid"):
        ascending = np.sort(cells, axis=1)  # missing ones go last
        place = (np.maximum((~gone).sum(axis=1), 1) - 1) // 2
        return np.asarray(ascending[np.arange(len(cells)), place])
    if column.truthful:
        return np.asarray((np.fmin.reduce(cells, axis=1) + np.fmax.reduce(cells, axis=1)) / 2)
    mean = np.where(gone, 0.0, cells).sum(axis=1) / np.maximum((~gone).sum(axis=1), 1)
    present = published[~np.isnan(published)]
    return np.asarray(np.rint(mean) if bool((present == np.rint(present)).all()) else mean)


def _counted(secret: Secret) -> bool:
    """Say whether the mean of such values is a better guess than the commonest one."""
    return secret.numbers is not None and np.unique(secret.true).size > FEW


def _constant(secret: Secret) -> float:
    """Return how often the best guess without the release is right."""
    if not _counted(secret) or secret.truth is None:
        return float(np.bincount(secret.true).max() / secret.true.size)
    return max(_window(secret.truth, 2 * WINDOW * secret.span), float(np.isnan(secret.truth).mean()))


def _sure(secret: Secret) -> float:
    """Return how often the best guess without the release is right, if it may be certain; else 0."""
    best = float(np.bincount(secret.true).max() / secret.true.size)
    if secret.truth is not None:
        best = max(best, _window(secret.truth, WINDOW * secret.span))
    return best if best > TAU else 0.0


def _targets(case: Case, number: int) -> Labels:
    """Return the targets in random order, so that the first ones represent all."""
    rng = np.random.default_rng((case.seed, number))
    return rng.permutation(sampled(case.n, MOST, rng))
