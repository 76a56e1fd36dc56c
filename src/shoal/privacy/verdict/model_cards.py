"""The privacy models of a policy as cards: what is asked, the figure of each class, and its wording in reports.

The formulas are in `models`; verdicts on a release come in the order of this file.
"""

from collections.abc import Callable

import numpy as np

from shoal.catalogue import model
from shoal.model.policy import Constraints
from shoal.privacy.verdict import models
from shoal.privacy.verdict.classes import Counts, Figures


def _l(kind: str) -> Callable[[Constraints], float | None]:
    """Return a function that gives the l of constraints, if it is of this kind."""
    return lambda asked: asked.l if asked.l_kind == kind else None


def _beta(kind: str) -> Callable[[Constraints], float | None]:
    """Return a function that gives the beta of constraints, if it is of this kind."""
    return lambda asked: asked.beta if asked.beta_kind == kind else None


@model(
    "k-anonymity",
    about="classes",
    asks=lambda asked: asked.k,
    high=True,
    symbol="k",
    set_by=("k",),
    promise=(
        "Every row shares all its published quasi-identifiers with others, at least {asked} rows in all (a class). "
        "Whoever finds a person's class cannot tell which of its rows is that person's."
    ),
    leaves_open=(
        "It does not protect what these rows have in common. If all of them show the same illness, the "
        "illness of the person is known although the row is not. Only l-diversity, t-closeness and similar "
        "models limit that."
    ),
)
def k_anonymity(sizes: Figures) -> Figures:
    """Return the number of rows of each class."""
    return sizes


@model(
    "distinct l-diversity",
    asks=_l("distinct"),
    high=True,
    symbol="l",
    set_by=("l",),
    promise="In every class, {column} takes at least {asked} different values.",
    leaves_open=(
        "The values need not be equally likely, nor mean different things: two names of one illness are "
        "two values. Anyone who can rule some of them out is left with fewer."
    ),
)
def distinct_l_diversity(counts: Counts, _: Constraints) -> Figures:
    """Count the values of each class."""
    return models.distinct(counts)


@model(
    "entropy l-diversity",
    asks=_l("entropy"),
    high=True,
    symbol="entropy l",
    set_by=("l", "l_kind=entropy"),
    promise="In every class, {column} is at least as uncertain as if {asked} values were equally likely.",
    leaves_open=(
        "The values may still mean much the same, and anyone who can rule some of them out is left with fewer."
    ),
)
def entropy_l_diversity(counts: Counts, _: Constraints) -> Figures:
    """Return the number of equally frequent values with the same entropy as each class."""
    return models.entropy(counts)


@model(
    "recursive (c,l)-diversity",
    asks=lambda asked: asked.c if asked.l_kind == "recursive" and asked.l is not None else None,
    strict=True,
    symbol="l = {l:g}, c",
    set_by=("c", "l", "l_kind=recursive"),
    promise=(
        "In every class, the most frequent value of {column} has fewer than {asked} times as many rows as the l-th "
        "most frequent value and all rarer ones together."
    ),
    leaves_open="The values may still mean much the same.",
)
def recursive_diversity(counts: Counts, asked: Constraints) -> Figures:
    """Return the ratio of the most frequent value of each class to the l-th most frequent and all rarer ones."""
    return models.recursive(counts, int(asked.l or 1))


@model(
    "t-closeness",
    asks=lambda asked: asked.t,
    symbol="t",
    set_by=("t",),
    promise="In every class, {column} is distributed as in the whole release, up to a distance of {asked}.",
    leaves_open=(
        "What holds for everyone in the release still holds for each person in it. Within the distance, "
        "a class may reveal somewhat more about its people than the whole release does."
    ),
)
def t_closeness(counts: Counts, _: Constraints) -> Figures:
    """Return how far the values of each class are from those of the whole release."""
    return models.closeness(counts)


@model(
    "(alpha,k)-anonymity",
    asks=lambda asked: asked.alpha,
    symbol="alpha",
    set_by=("alpha",),
    promise="No value of {column} has a share of more than {asked} in any class.",
    leaves_open="A likely value is still likely, and values may mean much the same.",
)
def alpha_k_anonymity(counts: Counts, _: Constraints) -> Figures:
    """Return the largest share of a value in each class."""
    return models.alpha(counts)


@model(
    "basic beta-likeness",
    asks=_beta("basic"),
    symbol="beta",
    set_by=("beta",),
    promise=(
        "In no class does the share of a value of {column} exceed its share in the whole release by more than {asked} "
        "times the latter."
    ),
    leaves_open="What is frequent in the whole release may be frequent in a class.",
)
def basic_beta_likeness(counts: Counts, _: Constraints) -> Figures:
    """Return the largest relative increase of a share in each class."""
    return models.likeness(counts)


@model(
    "enhanced beta-likeness",
    asks=_beta("enhanced"),
    symbol="beta",
    set_by=("beta", "beta_kind=enhanced"),
    promise=(
        "In no class does the share of a value of {column} exceed its share p in the whole release by more than "
        "{asked} times p, or by more than -ln(p) times p."
    ),
    leaves_open="What is frequent in the whole release may be frequent in a class.",
)
def enhanced_beta_likeness(counts: Counts, _: Constraints) -> Figures:
    """Return the largest bounded increase of a share in each class, infinite where no beta is enough."""
    return np.where(models.unbounded(counts), np.inf, models.likeness(counts, enhanced=True))


@model(
    "delta-disclosure",
    asks=lambda asked: asked.delta,
    symbol="delta",
    set_by=("delta",),
    promise=(
        "The shares of a value of {column} in a class that has it and in the whole release differ by a factor of at "
        "most e^{asked}."
    ),
    leaves_open=(
        "What is frequent in the whole release may be frequent in a class. A class that lacks a value reveals that no "
        "one in it has that value."
    ),
)
def delta_disclosure(counts: Counts, _: Constraints) -> Figures:
    """Return the largest change of the logarithm of a share in each class."""
    return models.disclosure(counts)
