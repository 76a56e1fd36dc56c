"""Subset sum: which people of a register are the members of a class, from its published means alone.

The means of a class in several columns are a fingerprint of its members: of all groups of as many people, few have the
same means, and without rounding only one. All of them are searched by meeting in the middle.

1. The sums of all combinations of half as many people are listed once and put into the cells of a grid.
2. For each combination of the other half, the cells are looked up in which the rest of the sum must lie.

If the means are rounded to a step, a group fits if its means are within half a step in every column. Some classes are
published a few steps off. If no group fits, the closest one counts if every other group is more than twice as far away.
"""

from collections.abc import Iterator
from math import comb

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.model.findings import Attack
from shoal.model.sentences import Sentence
from shoal.privacy.attacks.attack import FEW, Clock, Profile, concluded
from shoal.privacy.attacks.averages import Average, averages, numbers_of
from shoal.privacy.attacks.singling import control_case
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.classes import Labels

Floats = NDArray[np.float64]
CLASSES = 40  # most classes that are tried
LARGEST = 10  # most rows of a class that is tried
PEOPLE = 1_000  # in a register
LISTED = 500_000  # sums of pairs that are listed
LISTED_LARGE = 50_000  # sums of larger combinations
CELLS = 20_000_000  # most numbers in a list
BLOCK = 200_000  # sums that are compared at once
PARTS = 2.0**20  # into which the cells of a grid divide the range of a column at most
AXES = 4  # columns of a grid
CELLS_PER_SUM = 16  # cells per sum
WIDER = 6  # times that the interval is doubled if no group fits
TIES = 1_000  # most groups among which the closest is sought
COMPARED = 5_000  # most fitting groups among which the most compact is sought


def combinations(n: int, size: int) -> Labels:
    """Return all ascending combinations of `size` of the numbers below n, one per row.

    Examples
    --------
    >>> combinations(3, 2).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    found = np.zeros((1, 0), np.int64)
    for _ in range(size):
        last = found[:, -1] if found.shape[1] else np.full(len(found), -1)
        more = n - 1 - last
        start = np.repeat(np.cumsum(more) - more, more)
        following = np.arange(int(more.sum())) - start + np.repeat(last, more) + 1
        found = np.column_stack([np.repeat(found, more, axis=0), following])
    return found


class Sums:
    """The sums of all groups of `size` people, at least one and at most all, to be searched.

    `width` is the widest interval that will be requested, column by column.
    """

    def __init__(self, people: Floats, size: int, width: Floats) -> None:
        self.people = people
        self.variance = np.where(np.ptp(people, axis=0) > 0, people.var(axis=0), 1.0)
        high = (size + 1) // 2
        self.low, self.high = combinations(len(people), size - high), combinations(len(people), high)
        self.low_sums, self.high_sums = (_sums(people, one) for one in (self.low, self.high))
        least, most = self.high_sums.min(axis=0), self.high_sums.max(axis=0)
        spread = np.where(most > least, most - least, 1.0)
        narrow = np.argsort(width / spread, kind="stable")  # the most informative columns come first
        rows = np.floor((most - least) / np.maximum(width, spread / PARTS)).astype(np.int64) + 1
        enough = np.searchsorted(np.cumprod(rows[narrow[:AXES]].astype(np.float64)), CELLS_PER_SUM * len(self.high)) + 1
        self.grid = narrow[: min(AXES, int(enough))]
        self.cell = np.maximum(width, spread / PARTS)[self.grid]
        self.least, self.rows = least[self.grid], rows[self.grid]
        self.stride = np.append(np.cumprod(self.rows[:0:-1])[::-1], 1)
        keys = self._place(self.high_sums[:, self.grid]) @ self.stride
        order = np.argsort(keys, kind="stable")
        self.keys, self.high, self.high_sums = keys[order], self.high[order], self.high_sums[order]

    def fitting(self, least: Floats, most: Floats, clock: Clock, limit: int = 2) -> list[tuple[int, ...]] | None:
        """Return at most `limit` groups whose sums lie between two limits in every column; None if time is up."""
        found: list[tuple[int, ...]] = []
        for low, high in self._candidates(least, most):
            if clock.over:
                return None
            fits = np.arange(low.size)
            if self.low.shape[1]:
                fits = np.flatnonzero(self.low[low, -1] < self.high[high, 0])  # so that a group is found once
            for j in range(least.size):
                sums = self.low_sums[low[fits], j] + self.high_sums[high[fits], j]
                fits = fits[(sums >= least[j]) & (sums <= most[j])]
            for place in fits[: limit - len(found)]:
                found.append((*self.low[low[place]].tolist(), *self.high[high[place]].tolist()))
            if len(found) >= limit:
                break
        return found

    def _place(self, sums: Floats) -> Labels:
        """Return the cells of the grid that sums lie in."""
        return np.asarray(np.floor((sums - self.least) / self.cell), np.int64)

    def _candidates(self, least: Floats, most: Floats) -> Iterator[tuple[Labels, Labels]]:
        """Return pairs of a lower and an upper half whose sum may lie between the limits, in blocks."""
        rest = self.low_sums[:, self.grid]
        with np.errstate(over="ignore"):
            start = np.clip(self._place(least[self.grid] - rest), 0, self.rows)
            end = np.clip(self._place(most[self.grid] - rest), -1, self.rows - 1)
        there = np.flatnonzero((start <= end).all(axis=1))
        reach = (end - start)[there, :-1].max(axis=0, initial=0)
        for steps in np.ndindex(*(reach + 1)):
            cells = start[there, :-1] + np.array(steps, np.int64)
            inside = (cells <= end[there, :-1]).all(axis=1)
            some, base = there[inside], cells[inside] @ self.stride[:-1]
            first = np.searchsorted(self.keys, base + start[some, -1], "left")
            count = np.searchsorted(self.keys, base + end[some, -1], "right") - first
            some, first, count = some[count > 0], first[count > 0], count[count > 0]
            block = np.cumsum(count) // BLOCK
            for number in np.unique(block):
                mine = block == number
                low, many = some[mine], count[mine]
                high = np.arange(int(many.sum())) + np.repeat(first[mine] - (np.cumsum(many) - many), many)
                yield np.repeat(low, many), high


@attack("subset sum", control=True)
def subset_sum(case: Case, profile: Profile, clock: Clock) -> Attack:
    """Search a register for the people whose means are the published values of a class.

    Success: exactly one group of as many people fits in all columns of numbers and dates, or none does and one is less
    than half as far away as all others, and it is the class. Trials: up to 40 classes of at most 10 rows. The register
    has the members of the class and others, from the table and from the control if there is one: 1,000 people for
    classes of up to three rows, fewer for larger ones, so that every group can be searched. The note also says how
    often the most compact group that fits is the class, since clustering makes compact groups. Baseline: one group
    drawn at random. Power: the attack on exact means.
    """
    name = "subset sum"

    def nothing(why: str) -> Attack:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note=why)

    columns = averages(case, profile.known) if case.n else []
    columns = [column for column in columns if column.form == "mean"] or columns
    if not columns:
        return nothing("no known column of numbers is published")
    if case.policy.weight is not None:
        return nothing("means are weighted, and no unweighted mean fits them")
    people = _people(case, columns)
    whole = np.isfinite(people[: case.n]).all(axis=1) & np.isfinite([column.after for column in columns]).all(axis=0)
    gaps = np.bincount(case.labels, ~whole) > 0
    able = np.flatnonzero(~gaps & (case.sizes <= LARGEST))
    if not able.size:
        return nothing(f"no class without missing values has at most {LARGEST} rows")
    rng = np.random.default_rng((case.seed, 111))
    tried = rng.permutation(able)[:CLASSES]
    right: list[bool] = []
    power: list[bool] = []
    compact: list[bool] = []
    blind, registers = [], []
    for size, some in _batches(case.sizes, tried, len(columns)):
        if right and clock.over:
            break
        members = [np.flatnonzero(case.labels == one) for one in some]
        listed = _register(people, np.concatenate(members), _largest(size, len(columns)), rng)
        rows = people[listed]
        registers.append(listed.size)
        slack = size * np.array([column.slack for column in columns])
        half = size * np.array([column.step for column in columns]) / 2 + slack
        places = [tuple(np.sort(np.flatnonzero(np.isin(listed, mine))).tolist()) for mine in members]
        published = size * np.array([[column.after[mine[0]] for column in columns] for mine in members])
        exact = np.array([people[mine].sum(axis=0) for mine in members])
        sums = Sums(rows, size, 2 * half)
        found, closest = _searched(sums, published, half, places, clock)
        right += found
        compact += closest
        blind += [1 / comb(listed.size, size)] * len(found)
        if len(power) < FEW and found:
            power += _searched(Sums(rows, size, 2 * slack), exact, slack, places, clock)[0]
    if not right:  # time ran out before the first class was searched
        return nothing(f"time ran out after 0 of {tried.size} classes")
    notes = [f"by {len(columns)} column{'s' * (len(columns) > 1)}, in registers of {_between(registers)} people"]
    if compact:
        notes.append(f"the most compact group that fits is the class in {sum(compact)} of {len(compact)} cases")
    left = int((case.sizes > LARGEST).sum())
    notes += [f"classes of more than {LARGEST} rows are not searched"] if left else []
    if len(right) < tried.size:
        notes.append(f"time ran out after {len(right)} of {tried.size} classes")
    return concluded(
        name,
        profile,
        np.array(right, np.float64),
        baseline=float(np.mean(blind)),
        power=float(np.mean(power)) if power else None,
        note=Sentence.joined(notes),
        ended=len(right) < tried.size,
        baseline_of=0,
    )


def _searched(
    sums: Sums, wanted: Floats, half: Floats, members: list[tuple[int, ...]], clock: Clock
) -> tuple[list[bool], list[bool]]:
    """Search the groups that fit each class, as long as there is time.

    Returns for each class whether its members stand out among all groups, and whether it has the least SSE of the
    groups that fit, or of those at most a step away; classes that too many groups fit are left out of the latter.
    """
    named, compact = [], []
    for total, own in zip(wanted, members, strict=True):
        fits = sums.fitting(total - half, total + half, clock, COMPARED)
        alone = _closest(sums, total, half, clock) if fits == [] else fits
        if alone is None:
            break
        named.append(alone == [own])
        if fits == []:
            fits = sums.fitting(total - 2 * half, total + 2 * half, clock, COMPARED)
        if fits is not None and len(fits) < COMPARED:
            rows = sums.people[np.array(fits, np.int64).reshape(len(fits), len(own))]
            spread = ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) / sums.variance
            compact.append(bool(fits) and fits[int(np.argmin(spread.sum(axis=1)))] == own)
    return named, compact


def _closest(sums: Sums, total: Floats, half: Floats, clock: Clock) -> list[tuple[int, ...]] | None:
    """Return the closest group and those up to twice as far away, at most two; None if time is up."""
    for doubled in range(1, WIDER + 1):
        wide = half * 2.0**doubled
        near = sums.fitting(total - wide, total + wide, clock, TIES)
        if near is None or len(near) == TIES:
            return near
        if near:
            least = min(float((np.abs(sums.people[[*one]].sum(axis=0) - total) / half).max()) for one in near)
            return sums.fitting(total - 2 * least * half, total + 2 * least * half, clock)
    return []


def _sums(people: Floats, groups: Labels) -> Floats:
    """Return the sums over groups of people, column by column."""
    total = np.zeros((len(groups), people.shape[1]))
    for column in groups.T:
        total += people[column]
    return total


def _people(case: Case, columns: list[Average]) -> Floats:
    """Return the numbers of the members, row by row as the release, and of the control."""
    mine = np.column_stack([column.before for column in columns])
    others, outsiders = control_case(case)
    if not outsiders:
        return mine
    theirs = {column.name: column for column in others.columns}
    return np.vstack([mine, np.column_stack([numbers_of(theirs[column.name])[0] for column in columns])])


def _largest(size: int, width: int) -> int:
    """Return how many people a register may have, so that all halves of groups of this size can be listed."""
    half, most = (size + 1) // 2, LISTED if size <= 3 else LISTED_LARGE
    people = PEOPLE
    while people > 2 * size and comb(people, half) > min(most, CELLS // width):
        people -= 1
    return people


def _batches(sizes: Labels, tried: Labels, width: int) -> Iterator[tuple[int, Labels]]:
    """Return classes of one size that share a register, filling at most half of it."""
    for size in np.unique(sizes[tried]).tolist():
        some = tried[sizes[tried] == size]
        each = max(1, _largest(size, width) // (2 * size))
        for start in range(0, some.size, each):
            yield size, some[start : start + each]


def _register(people: Floats, members: Labels, most: int, rng: np.random.Generator) -> Labels:
    """Return the members and others drawn at random, in random order."""
    others = np.setdiff1d(np.flatnonzero(np.isfinite(people).all(axis=1)), members)
    needed = max(0, most - members.size)
    drawn = rng.choice(others, needed, replace=False) if others.size > needed else others
    return rng.permutation(np.concatenate([members, drawn]))


def _between(numbers: list[int]) -> str:
    """Write the least and the largest of some numbers."""
    return f"{min(numbers):,}" if min(numbers) == max(numbers) else f"{min(numbers):,} to {max(numbers):,}"
