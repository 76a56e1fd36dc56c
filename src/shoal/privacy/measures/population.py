"""The population: the people whom an attacker must tell apart, in the release or not.

1. k-map: the class of a released row is looked up in the population; k is the least number of people found there.
   Sweeney (2002).
2. delta-presence: of the people of the population who could be in a class of the release, what share is. A share near
   1, or near 0, reveals who is in the release. Nergiz, Atzori and Clifton (2007).
3. Population uniques: a row that is unique in the release may be unique in the population too. From a sampling
   fraction, how often is estimated by the Poisson-gamma model of Bethlehem, Keller and Pannekoek (1990), fitted to the
   numbers of classes and of unique rows.

The population has the quasi-identifiers as they are released, and cells are compared by value.
"""

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import measure
from shoal.errors import DataError, listed
from shoal.model.findings import Finding
from shoal.model.sentences import Sentence
from shoal.model.table import type_name
from shoal.privacy.measures.case import Case, once_per_case
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.values import quasi_names, read_column

Floats = NDArray[np.float64]
COST = "(n + N) log (n + N), N rows of the population"


def population_sizes(released: pa.Table, population: pa.Table, names: list[str], labels: Labels) -> Labels:
    """Return how many rows of the population fall into each class of the release.

    Cells of the columns `names` are compared by value: integers with floats as numbers, other types that differ as
    text. Missing counts as a value. `labels` is the class of each released row.
    """
    missing = [name for name in names if name not in population.column_names]
    if missing:
        raise DataError(
            f"population: it lacks {listed(missing)}, which the release has as quasi-identifiers. "
            "Give it the same columns, with values as they are released."
        )
    n = released.num_rows
    codes = [read_column(_together(name, released, population)).codes for name in names]
    whole = classes(codes, n + population.num_rows)
    counts = np.bincount(whole[n:], minlength=int(whole.max()) + 1 if whole.size else 0)
    firsts = np.unique(labels, return_index=True)[1]
    return np.asarray(counts[whole[firsts]], np.int64)


def presence(sizes: Labels, counts: Labels) -> Floats:
    """Return the share of the population of each class that is in the release: above 0, at most 1.

    `sizes` and `counts` are the rows of each class in the release and in the population. A class with more rows in the
    release has a share of 1: everyone whom the population lists there may be assumed to be in.
    """
    return np.minimum(sizes / np.maximum(counts, 1), 1.0)


class Uniques(NamedTuple):
    """The share of rows that are unique in the population, and the shape of the model; infinite for even risks."""

    share: float
    shape: float


def unique_in_population(sizes: Labels, fraction: float) -> Uniques:
    r"""Estimate the share of rows that are unique in the population, of which the release is a `fraction`.

    The expected count of a class is gamma distributed over classes, with shape a and, in the sample, scale x; counts
    are Poisson. Of n rows, n (1 + x)^-(1 + a) are then unique, and there are n (1 - (1 + x)^-a) / (a x) classes. Both
    are set equal to what is counted, and solved for a > -1 and x > 0. In a population 1/f times as large the share of
    unique rows is (1 + x/f)^-(1 + a). The same share holds for the released rows.

    Range: 0 to the share of sample uniques. It is 0 without sample uniques; with a fraction of 1 it is their share. If
    the classes are more even than any gamma, it is the limit of equal classes, s^(1/f) with s the share of sample
    uniques. If every row is unique, the sample says nothing about the population, and the share is 1.
    """
    n, alone = int(sizes.sum()), int((sizes == 1).sum())
    if alone in (0, n):
        return Uniques(float(alone == n), float("nan"))
    share, wanted = alone / n, sizes.size / n
    if wanted >= (share - 1) / log(share):
        return Uniques(exp(log(share) / fraction), float("inf"))
    low, high = -30.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if _classes_share(share, exp(middle)) > wanted else (low, middle)
    scale = exp((low + high) / 2)
    return Uniques(exp(log(share) * log1p(scale / fraction) / log1p(scale)), -log(share) / log1p(scale) - 1)


@measure(
    "k-map",
    formula="min over classes E of the release of size(E in the population)",
    better="high",
    need="release",
    cost=COST,
    requires=("population",),
)
def k_map(case: Case) -> tuple[Finding, ...]:
    """Count the people of the population who match a released row; the minimum over all rows."""
    counts = counted(case)
    if counts is None:
        return ()
    how = Sentence(
        "the least count of {classes} classes in the population{unexpected}",
        classes=counts.size,
        unexpected=_inconsistent(case.sizes, counts),
    )
    return (Finding("k-map", float(counts.min()), how, "release", counts_rows=False),)


@measure(
    "delta-presence",
    formula="min and max over classes E of size(E in the release) / size(E in the population)",
    high=1,
    better="neither",
    need="release",
    cost=COST,
    requires=("population",),
)
def delta_presence(case: Case) -> tuple[Finding, ...]:
    """Measure how certain one can be that a person of the population is in the release."""
    counts = counted(case)
    if counts is None or case.population is None:
        return ()
    shares = presence(case.sizes, counts)
    outside = 1 - int(counts.sum()) / max(1, case.population.num_rows)
    unexpected = _inconsistent(case.sizes, counts)
    return (
        Finding(
            "delta-presence",
            float(shares.max()),
            Sentence("the largest of {classes} classes{unexpected}", classes=counts.size, unexpected=unexpected),
            "release",
            counts_rows=False,
        ),
        Finding(
            "delta-presence",
            float(shares.min()),
            Sentence("of {classes} classes{unexpected}", classes=counts.size, unexpected=unexpected),
            "release",
            part="least",
            counts_rows=False,
        ),
        Finding(
            "delta-presence",
            100 * outside,
            "people of the population in no class of the release, who are known not to be in it",
            "release",
            part="population outside %",
            unit="%",
            counts_rows=True,
            whole=case.population.num_rows,
        ),
    )


@measure(
    "population uniques %",
    formula="100 (1 + x/f)^-(1 + a), a and x fitted to the numbers of classes and of sample uniques",
    high=100,
    better="low",
    need="release",
    cost="n log n",
    requires=("population",),
)
def population_uniques(case: Case) -> tuple[Finding, ...]:
    """Estimate the share of rows that are unique in the population, from the sampling fraction."""
    fraction = given_fraction(case)
    if fraction is None or not case.n:
        return ()
    alone, found = int((case.sizes == 1).sum()), unique_in_population(case.sizes, fraction)
    if alone == 0:
        how = "no row is unique in the release, so none is in the population"
    elif fraction == 1:
        how = "the release is the whole population"
    elif alone == case.n:
        how = "every row is unique in the release, which says nothing about the population: an upper bound"
    elif np.isinf(found.shape):
        how = Sentence("Poisson model of classes of equal size, fraction {fraction:g}", fraction=fraction)
    else:
        how = Sentence(
            "Poisson-gamma model (Bethlehem et al. 1990), shape {shape:.3g}, fraction {fraction:g}",
            shape=found.shape,
            fraction=fraction,
        )
    of = 100 * found.share * case.n / alone if alone else 0.0
    return (
        Finding("population uniques %", 100 * found.share, how, "release", unit="%"),
        Finding("population uniques", of, how, "release", part="of sample uniques %", unit="%"),
    )


@once_per_case
def counted(case: Case) -> Labels | None:
    """Return the rows of the population in each class of the release; None without rows or a population."""
    if case.population is None or not case.n:
        return None
    return population_sizes(case.released, case.population, quasi_names(case.released, case.policy), case.labels)


def given_fraction(case: Case) -> float | None:
    """Return the sampling fraction, if there is one; refuse it outside 0 to 1."""
    if case.fraction is not None and not 0 < case.fraction <= 1:
        raise DataError(f"risk: the sampling fraction must be above 0 and at most 1; got {case.fraction:g}.")
    return case.fraction


def _classes_share(share: float, scale: float) -> float:
    """Return the number of classes per row, given the share of unique rows and the scale."""
    shape = -log(share) / log1p(scale) - 1
    if abs(shape) < 1e-9:
        return log1p(scale) / scale
    return (1 - share * (1 + scale)) / (shape * scale)


def _inconsistent(sizes: Labels, counts: Labels) -> str:
    """Say how many classes have fewer rows in the population than in the release, which no true population has."""
    few = int((counts < sizes).sum())
    note = Sentence("; {few} of them have fewer rows in the population than in the release", few=few)
    return note if few else ""


def _together(name: str, released: pa.Table, population: pa.Table) -> pa.ChunkedArray:
    """Return the cells of a column in the release and then in the population, of one type."""
    both = []
    for table in (released, population):
        column = table.column(name)
        both.append(column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column)
    one, other = (column.type for column in both)
    if one != other:
        numbers = {pa.types.is_integer(one), pa.types.is_integer(other)} == {True, False} and (
            pa.types.is_floating(one) or pa.types.is_floating(other)
        )
        target = pa.float64() if numbers else pa.string()
        try:
            both = [column.cast(target, safe=False) for column in both]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise DataError(
                f"population: column {name!r} contains {type_name(other)} there and {type_name(one)} in the release, "
                "which cannot be compared. Give it the type of the release."
            ) from None
    return pa.chunked_array([chunk for column in both for chunk in column.chunks], both[0].type)
