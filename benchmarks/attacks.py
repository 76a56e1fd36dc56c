"""Attacks on the defaults: `python -m benchmarks.attacks [PART ...]`.

Parts: combination (membership by exact and near combinations, and the remaining utility: Adult, German credit, the
hospital sample), last (the last member of a class, from its mean), subset (the members of a class, from its means).
"before" was measured before the defaults were made safe; a target is what they must reach.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

import shoal
from benchmarks.measuring import DATA, Line, measure, timed
from shoal.catalogue import attacks
from shoal.io.files import read
from shoal.model.findings import Attack
from shoal.model.release import Release
from shoal.model.table import Table
from shoal.pipeline.judging import case_of
from shoal.privacy.attacks.attack import FEW, Clock, profiles
from shoal.privacy.attacks.averages import averages
from shoal.privacy.attacks.combination import matches, register
from shoal.privacy.attacks.last_member import guesses
from shoal.privacy.measures.case import Case

SIZES = (5, 10)
FIVE = {
    "german credit": ["personal_status_sex", "age", "job", "housing", "employment"],
    "hospital": ["sex", "education", "smoker", "height_cm", "systolic"],
}
# From the review, by attack, table and k.
BEFORE = {
    ("exact, alone in the register", "Adult", 5): 1.0,
    ("exact, alone in the register", "Adult", 10): 1.0,
    ("near, alone in the register", "Adult", 5): 0.313,
    ("combinations of one row", "Adult", 5): 0.629,
    ("unchanged cells", "Adult", 5): 0.852,
    ("unchanged cells", "Adult, whole", 5): 0.909,
    ("two-way total variation", "Adult, whole", 5): 0.0219,
    ("last member, exact", "whole numbers", 5): 0.175,
    ("subset sum", "8 digits, 3 columns", 3): 1.0,
    **{("last member, exact", "two decimals", k): 1.0 for k in range(3, 10)},
}


@dataclass(frozen=True)
class Tried(Line):
    """A line of the table: what the review found, what is found now, and the bar."""

    k: int = 0

    def __str__(self) -> str:
        before = BEFORE.get((self.name, self.case, self.k))
        bar = "" if self.bar is None else f"{'at least' if self.higher else 'at most'} {self.bar:.3f}"
        met = {None: "", True: "met", False: "MISSED"}[self.reaches(self.bar)]
        return (
            f"{self.name:<30} {self.case:<24} {self.k:>3} {'' if before is None else f'{before:.3f}':>8} "
            f"{self.measured:>8.3f}  {bar:<15} {met:<7} {self.note}"
        )


def combination_bars() -> Iterator[Line]:
    """Membership by published combinations: the table, and as many again or more people who are not in it."""
    yield from _membership(
        "Adult", read(DATA / "arx_adult.csv.gz").data, 10_000, {"sensitive": ["salary-class"], "l": 2}
    )
    credit, patients = read(DATA / "german_credit.csv").data, read(shoal.sample(15_000)).data
    yield from _membership("german credit", credit, 500, {"sensitive": ["class"]})
    few = credit.select([*FIVE["german credit"], "class"])
    yield from _membership("german credit, five", few, 500, {"sensitive": ["class"]})
    known = {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}
    yield from _membership("hospital", patients, 5_000, known)
    few = patients.select([*FIVE["hospital"], "diagnosis"])
    yield from _membership("hospital, five", few, 5_000, {"sensitive": ["diagnosis"]})
    whole = read(DATA / "arx_adult.csv.gz").data
    release, cpu, wall = timed(lambda: shoal.anonymize(whole, k=5, sensitive=["salary-class"]))
    varied = release.finding("2-way total variation %") / 100
    yield Tried("two-way total variation", "Adult, whole", varied, 0.03, None, cpu, wall, k=5)
    yield _unchanged(release, "Adult, whole", 5, 0.89, cpu, wall)


def _membership(name: str, table: pa.Table, rows: int, options: dict[str, object]) -> Iterator[Line]:
    """Release some rows of a table and attack it with the others as strangers."""
    order = np.random.default_rng(0).permutation(table.num_rows)
    members, strangers = (table.take(pa.array(np.sort(some))) for some in (order[:rows], order[rows:]))
    for k in SIZES:
        release, cpu, wall = timed(lambda k=k: shoal.anonymize(members, k=k, **options))
        case = case_of(members, release, control=strangers)
        held = register(case, [*case.policy.names("quasi")])
        found = matches(held.people, held.published)
        for what, who, margin in (("exact", found.exact, 0.03), ("near", found.near, 0.10)):
            for which, some in (("alone in the register", found.alone), ("all who match", np.full(who.size, True))):
                tried, base = held.member[who & some], float(held.member[some].mean())
                rate = float(tried.mean()) if tried.size else 0.0
                bar = base + margin if tried.size >= FEW else None
                note = f"{int(tried.sum())} of {tried.size}, base rate {base:.3f}"
                note += "" if bar is not None else ": too few to tell"
                yield Tried(f"{what}, {which}", name, rate, bar, None, cpu, wall, k=k, note=note)
        distinct = np.unique(held.published, axis=0)
        theirs = matches(distinct, held.people[held.member][matches(held.people[held.member], distinct).alone])
        single = float(theirs.exact.mean())
        yield Tried("combinations of one row", name, single, None, None, cpu, wall, k=k, note="of those published")
        yield _unchanged(release, name, k, 0.84 if (name, k) == ("Adult", 5) else None, cpu, wall)


def _unchanged(release: Release, name: str, k: int, bar: float | None, cpu: float, wall: float) -> Line:
    """Say which share of the cells of quasi-identifiers is published as it was."""
    kept = 1 - release.finding("cells changed %") / 100
    return Tried("unchanged cells", name, kept, bar, None, cpu, wall, higher=True, k=k)


def last_bars() -> Iterator[Line]:
    """The last member of each class of 600 rows, three columns of two decimals or of whole numbers."""
    numbers = np.random.default_rng(0).normal(50, 15, (600, 3))
    for name, rows in (("two decimals", numbers.round(2)), ("whole numbers", numbers.round().astype(np.int64))):
        table = pa.table({f"x{place}": column for place, column in enumerate(rows.T)})
        for k in range(3, 10):
            case, (tried,), cpu, wall = _attacked(table, k, ["last member"])
            columns = averages(case, [*case.policy.names("quasi")])
            exact = [np.abs(guesses(one, case.labels)[0] - one.before) <= one.tolerance for one in columns]
            wide = min(float(case.sizes.min() * one.step / one.spread) for one in columns)
            yield Tried("last member, exact", name, float(np.mean(exact)), None, None, cpu, wall, k=k)
            note = f"{tried.outcome}; rate {tried.rate:.3f}, baseline {tried.baseline:.3f}; bar: what is allowed"
            low = tried.interval[0]
            yield Tried("last member, lower end", name, low, tried.bound, None, cpu, wall, k=k, note=note)
            note = "least, standard deviations"
            yield Tried("interval left", name, wide, 0.1, None, cpu, wall, higher=True, k=k, note=note)


def subset_bars() -> Iterator[Line]:
    """The members of 40 classes of three, searched in a register of 1,000 people."""
    for width, bar in ((3, 0.0), (8, None)):
        rows = np.random.default_rng(0).normal(size=(1000, width)).round(8)
        table = pa.table({f"x{place}": column for place, column in enumerate(rows.T)})
        release = shoal.anonymize(table, k=3)
        case = case_of(table, release)
        some = np.flatnonzero(np.isin(case.labels, np.flatnonzero(case.sizes == 3)[:40]))
        others = np.setdiff1d(np.arange(case.n), some)
        few = replace(
            case,
            released=case.released.take(pa.array(some)),
            original=case.before.take(some),
            control=Table.of(case.before.data.take(pa.array(others))),
            places=None,
        )
        tried, cpu, wall = timed(lambda few=few: _run(few, "subset sum"))
        note = f"{tried.successes:g} of {tried.trials} classes named; {tried.note}; power {tried.power:.2f}"
        yield Tried("subset sum", f"8 digits, {width} columns", tried.rate, bar, None, cpu, wall, k=3, note=note)


def _attacked(table: pa.Table, k: int, names: list[str]) -> tuple[Case, list[Attack], float, float]:
    """Release a table by the defaults and attack it."""
    case = case_of(table, shoal.anonymize(table, k=k))
    found, cpu, wall = timed(lambda: [_run(case, name) for name in names])
    return case, found, cpu, wall


def _run(case: Case, name: str) -> Attack:
    """Run one attack by somebody who knows all quasi-identifiers."""
    return attacks.load(name).function(case, profiles(case)["all"], Clock())


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "combination": combination_bars,
    "last": last_bars,
    "subset": subset_bars,
}

if __name__ == "__main__":
    print(f"{'attack':<30} {'table':<24} {'k':>3} {'before':>8} {'now':>8}  {'target':<15} {'met?':<7} note")
    sys.exit(measure(PARTS, __doc__))
