"""Re-identification risk: how likely it is that a released row is matched to the right person.

1. The prosecutor knows that a person is in the release: a row is found with probability 1/size of its class.
2. The journalist does not know this: the class is looked up in the whole population.
3. The marketer assigns a name to every row: what counts is the expected share of correct ones.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import measure
from shoal.model.findings import Finding
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.population import counted, given_fraction
from shoal.privacy.verdict.classes import Labels

Floats = NDArray[np.float64]
THRESHOLD = 0.2  # the risk of a row in a class of five
BANDS = (1, 2, 3, 5, 10, 20, 50)  # lower ends of bands of class sizes
SIZES = ("1 row", "2 rows", "3 to 4 rows", "5 to 9 rows", "10 to 19 rows", "20 to 49 rows", "50 rows or more")
RISKS = ("1", "1/2", "1/4 to 1/3", "1/9 to 1/5", "1/19 to 1/10", "1/49 to 1/20", "1/50 or less")
of_risk = partial(Finding, need="release", counts_rows=False)  # probabilities and numbers of classes
OF_CLASS = Sentence("1/size of the class of a row")
COST = "n log n"


class Risk(NamedTuple):
    """The largest risk of a row, the mean risk, and the share of rows whose risk is above a threshold."""

    most: float
    mean: float
    above: float


def risk(sizes: Labels, among: NDArray[np.number] | None = None, threshold: float = THRESHOLD) -> Risk:
    """Return how likely rows are to be re-identified.

    Formula: the risk of a row is 1/size of its class. Range: 0 to 1; low is good. Need: the release. There is at least
    one class. `among` has the people among whom the rows of each class are looked up, by default those of the release.
    """
    each = 1.0 / (sizes if among is None else among)
    rows = int(sizes.sum())
    above = int(sizes[each > threshold * (1 + 1e-9)].sum())
    return Risk(float(each.max()), min(1.0, float(sizes @ each) / rows), above / rows)


def histogram(sizes: Labels) -> tuple[Labels, Labels]:
    """Return the class sizes that occur, ascending, and the number of classes of each."""
    values, counts = np.unique(sizes, return_counts=True)
    return values.astype(np.int64), counts.astype(np.int64)


def band_rows(sizes: Labels) -> Labels:
    """Return the rows in classes of 1, 2, 3-4, 5-9, 10-19, 20-49 and 50 or more rows."""
    return np.bincount(np.searchsorted(BANDS, sizes, "right") - 1, sizes, len(BANDS)).astype(np.int64)


@measure(
    "prosecutor risk",
    formula="max over rows of 1/size(E)",
    high=1,
    better="low",
    need="release",
    cost=COST,
    also=("prosecutor risk, mean",),
    rank=1,
    words={
        "prosecutor risk": (
            "The largest probability of picking the right row for a person who is known to be in the release."
        ),
        "prosecutor risk, mean": "The mean over all rows.",
        "prosecutor risk, % of rows above 0.2": "Rows whose risk is above one in five, as a percentage.",
    },
)
def prosecutor(case: Case) -> tuple[Finding, ...]:
    """Measure how likely an attacker who knows that a person is in the release is to find the row."""
    return _findings("prosecutor risk", risk(case.sizes), OF_CLASS) if case.n else ()


@measure(
    "journalist risk",
    formula="max over rows of 1/size(E in the population)",
    high=1,
    better="low",
    need="release",
    cost=COST,
    requires=("population",),
    rank=2,
    words={
        "journalist risk": "The largest probability if it is not known whether the person is in the release.",
    },
)
def journalist(case: Case) -> tuple[Finding, ...]:
    """Measure how likely an attacker who does not know who is in the release is to find a row."""
    among = _among(case)
    if among is None:
        return ()
    return _findings("journalist risk", risk(case.sizes, among[0]), among[1])


@measure(
    "marketer risk",
    formula="mean over rows of 1/size(E)",
    high=1,
    better="low",
    need="release",
    cost=COST,
    rank=3,
    words={
        "marketer risk": "The expected share of correct names if an attacker assigns a name to every row.",
        "marketer risk, chance": "The same for an attacker who guesses at random, without the release.",
    },
    aliases=("success rate",),
)
def marketer(case: Case) -> tuple[Finding, ...]:
    """Measure the expected share of rows that an attacker who assigns a name to every row gets right."""
    if not case.n:
        return ()
    among, how = _among(case) or (case.sizes, OF_CLASS)
    share = risk(case.sizes, among).mean
    return (
        of_risk("marketer risk", share, Sentence("expected share of rows re-identified correctly; {how}", how=how)),
        of_risk("marketer risk", share * case.n, Sentence("expected number, of {n} rows", n=case.n), part="rows"),
        of_risk("marketer risk", 1 / case.n, "a guess among all rows, without the release", part="chance"),
    )


@measure(
    "sample uniques %",
    formula="100 x rows with size(E) = 1 / n",
    high=100,
    better="low",
    need="release",
    cost=COST,
    rank=5,
    words={
        "sample uniques %": "Rows that differ from every other row in the quasi-identifiers, as a percentage.",
    },
)
def sample_uniques(case: Case) -> tuple[Finding, ...]:
    """Measure the share of rows that are unique in the release."""
    if not case.n:
        return ()
    alone = int((case.sizes == 1).sum())
    how = Sentence("{alone} of {n} rows", alone=Rows(alone), n=case.n)
    return (Finding("sample uniques %", 100 * alone / case.n, how, "release", unit="%", counts_rows=True),)


@measure(
    "class sizes",
    formula="number of classes; rows by size(E)",
    better="neither",
    need="release",
    cost=COST,
    about="classes",
)
def class_sizes(case: Case) -> tuple[Finding, ...]:
    """Count the classes, and the share of rows in small and in large ones."""
    if not case.n:
        return ()
    of = Sentence("number of classes, of {n} rows", n=case.n)
    first = of_risk("class sizes", float(case.sizes.size), of)
    shares = 100 * band_rows(case.sizes) / case.n
    bands = zip(SIZES, shares.tolist(), strict=True)
    how = "share of the rows that are in such classes"
    each = (
        Finding("class sizes", share, how, "release", part=f"{band} %", unit="%", counts_rows=True)
        for band, share in bands
    )
    return (first, *each)


@measure("rows by risk", formula="number of rows by prosecutor risk", better="neither", need="release", cost=COST)
def risk_bands(case: Case) -> tuple[Finding, ...]:
    """Count the rows at the highest risk, and in each band of prosecutor risk."""
    if not case.n:
        return ()
    least = int(case.sizes.min())
    highest = float(case.sizes[case.sizes == least].sum())
    how = Sentence("rows at the highest risk, 1/{least}, of {n}", least=least, n=case.n)
    found = [Finding("rows by risk", highest, how, "release", counts_rows=True)]
    of = Sentence("of {n} rows", n=case.n)
    for band, rows in zip(RISKS, band_rows(case.sizes).tolist(), strict=True):
        found.append(Finding("rows by risk", float(rows), of, "release", part=band, counts_rows=True))
    return tuple(found)


def _findings(name: str, found: Risk, how: str) -> tuple[Finding, ...]:
    """Return the three figures of a risk."""
    return (
        of_risk(name, found.most, Sentence("the largest of all rows; {how}", how=how)),
        of_risk(name, found.mean, Sentence("over all rows; {how}", how=how), part="mean"),
        Finding(
            name,
            100 * found.above,
            Sentence("share of rows; {how}", how=how),
            "release",
            part=f"% of rows above {THRESHOLD:g}",
            unit="%",
            counts_rows=True,
        ),
    )


def _among(case: Case) -> tuple[NDArray[np.number], str] | None:
    """Return the people among whom each class is looked up, and how they were counted; None if unknown."""
    if not case.n:
        return None
    counts = counted(case)
    if counts is not None:
        few = int((counts < case.sizes).sum())
        tail = Sentence("; {few} classes are larger in the release, and counted there", few=few) if few else ""
        return np.maximum(counts, case.sizes), Sentence("classes counted in the population{tail}", tail=tail)
    fraction = given_fraction(case)
    if fraction is None:
        return None
    how = Sentence("no population: class sizes divided by the sampling fraction {fraction:g}", fraction=fraction)
    return case.sizes / fraction, how
