"""Minimality on tables so small that everything can be enumerated.

    python -m benchmarks.minimality

Nine rows, k = 3, l = 2, and every placement of two and of three cases of an illness on them: 36 + 84 tables. Each is
released with every seed of a list, so that for each release the posterior probability of every person's illness is
known: an attacker who knows all quasi-identifiers, the policy and the code gives a placement the probability with which
it leads to the published classes.

Before: with a known seed of 0, 15 of the 84 tables with three cases proved somebody's illness, on nine other rows. The
rows here are fixed, and the same attack is run on them.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

import shoal
from shoal.pipeline.judging import case_of

__all__ = ["Figures", "figures", "main", "releases", "table"]

Placement = tuple[int, ...]
Classes = tuple[tuple[int, ...], ...]
Release = tuple[Classes, tuple[int, ...]]  # the rows of each class, and how many of them are ill

QUASI = {"age": [21, 24, 27, 33, 38, 45, 52, 58, 66], "bmi": [19.4, 31.2, 22.1, 28.7, 24.3, 33.5, 21.6, 29.9, 26.8]}
ROWS = 9
LIKELY = 0.75
ASKED = {"k": 3, "l": 2, "sensitive": ["ill"]}


@dataclass(frozen=True)
class Figures:
    """What an attacker learns from releases of all placements, and what they lose.

    Parameters
    ----------
    proved, likely : frozenset of placements
        Those of which some release proves an illness, and those of which some release gives one more than 0.75.
    posterior, excess : float
        Of an illness: the largest over all releases and persons.
    sse : float
        The mean over placements and seeds.
    """

    proved: frozenset[Placement]
    likely: frozenset[Placement]
    posterior: float
    excess: float
    sse: float


def table(ill: Iterable[int]) -> pa.Table:
    """Return the nine rows, these of them ill."""
    held = set(ill)
    return pa.table({**QUASI, "ill": ["yes" if row in held else "no" for row in range(ROWS)]})


def releases(cases: int, seeds: Iterable[int], **options: str) -> Iterator[tuple[Placement, Release, float]]:
    """Release every placement of so many cases from every seed; give the classes and their SSE.

    The steps between encoding and recoding are repeated, as the attack minimality repeats them.
    """
    placements = list(itertools.combinations(range(ROWS), cases))
    made = shoal.anonymize(table(placements[0]), seed=1, **ASKED, **options)
    regroup = case_of(table(placements[0]), made).regroup
    assert regroup is not None
    X = np.column_stack([(values - np.mean(values)) / np.std(values) for values in QUASI.values()])
    for ill in placements:
        for seed in seeds:
            labels = regroup(_moved(placements[0], ill), seed)
            classes = tuple(sorted(tuple(np.flatnonzero(labels == one).tolist()) for one in np.unique(labels)))
            loss = sum(float(((X[list(rows)] - X[list(rows)].mean(axis=0)) ** 2).sum()) for rows in classes)
            yield ill, (classes, tuple(len(set(rows) & set(ill)) for rows in classes)), loss


def figures(cases: int, seeds: Iterable[int], **options: str) -> Figures:
    """Return what an attacker learns who does not know which of these seeds was drawn."""
    led: defaultdict[Release, Counter[Placement]] = defaultdict(Counter)
    losses = []
    for ill, release, loss in releases(cases, list(seeds), **options):
        led[release][ill] += 1
        losses.append(loss)
    proved: set[Placement] = set()
    likely: set[Placement] = set()
    posterior = excess = 0.0
    for (classes, counts), weights in led.items():
        total = weights.total()
        for rows, count in zip(classes, counts, strict=True):
            for row in rows:
                sure = sum(weight for ill, weight in weights.items() if row in ill) / total
                posterior, excess = max(posterior, sure), max(excess, sure - count / len(rows))
                proved |= set(weights) if sure == 1 else set()
                likely |= set(weights) if sure > LIKELY else set()
    return Figures(frozenset(proved), frozenset(likely), posterior, excess, float(np.mean(losses)))


def main() -> None:
    """Print the figures of the seed 0, of a drawn seed, of the warning, and of the protection."""
    print("nine rows, k = 3, l = 2; an illness of 2 and of 3 persons")
    print("before, on the rows of the review: 15 of 84 tables reveal an illness to anyone who knows the seed 0\n")
    print(f"{'':34}{'tables':>8}{'prove it':>10}{'posterior':>11}{'excess':>9}{'SSE':>8}")
    seeds = range(1000, 1040)
    for cases in (2, 3):
        total = len(list(itertools.combinations(range(ROWS), cases)))
        known = figures(cases, [0])
        drawn = figures(cases, seeds)
        safe = figures(cases, range(1000, 1200), protect="minimality")
        for what, found in (("seed 0, known", known), ("drawn seed", drawn), ("protect = minimality", safe)):
            line = f"{len(found.proved):>10}{found.posterior:>11.3f}{found.excess:>9.3f}{found.sse:>8.2f}"
            print(f"{f'{cases} cases, {what}':34}{total:>8}{line}")
        print(f"{'':34}protection loses {safe.sse / drawn.sse:.2f} times the SSE")
        warned = {ill for ill in itertools.combinations(range(ROWS), cases) if _warned(ill)}
        print(f"{'':34}releases with a warning: {len(warned)} of {total}")
        print(f"{'':34}above {LIKELY} without one: {len(drawn.likely - warned)} of {len(drawn.likely)}\n")


def _warned(ill: Placement) -> bool:
    """Say whether the release of a placement carries a note on minimality."""
    return any(note.startswith("minimality: ") for note in shoal.anonymize(table(ill), **ASKED).notes)


def _moved(before: Placement, after: Placement) -> np.ndarray:
    """Return for each row the row whose value it gets, so that others are ill."""
    sources = {True: iter(before), False: iter([row for row in range(ROWS) if row not in before])}
    return np.array([next(sources[row in after]) for row in range(ROWS)])


if __name__ == "__main__":
    main()
