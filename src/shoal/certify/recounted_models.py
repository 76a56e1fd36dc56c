"""The privacy models of sensitive values as the verifier counts them: one figure for each class.

Implemented from the papers, independently of the judge. P_E(s) = c_E(s) / |E| is the share of a value s in a class E,
P(s) = c(s) / n its share in the whole release; c are counts of rows. Where a figure has two equivalent formulas,
the judge uses one and this module the other, so that a mistake in one of them shows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import requested_model
from shoal.errors import MisfitError, failed
from shoal.model.policy import Constraints
from shoal.model.read_only import read_only

SLACK = 1e-9  # figures are ratios of counts: a difference this small is rounding

Counts = NDArray[np.int64]
Figures = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """A sensitive column: the value of each row as a number from 0 up.

    `ordered` says whether the numbers ascend with the values; `tree` has the node of each value at each level, the
    values themselves first and the root last.
    """

    codes: Counts
    ordered: bool = False
    tree: Counts | None = None

    @property
    def distinct(self) -> int:
        """The number of values."""
        return int(self.codes.max(initial=-1)) + 1

    @property
    def shares(self) -> Figures:
        """The share of each value."""
        return np.bincount(self.codes) / max(1, self.codes.size)


@dataclass(frozen=True, eq=False)
class Tally:
    """How often each value of a sensitive column occurs in each class; the input of models.

    `owner`, `value` and `count` give class, value and rows of every pair that occurs, by class and then by value;
    `sizes` the rows of each class, and `whole` the rows of each value.
    """

    owner: Counts
    value: Counts
    count: Counts
    sizes: Counts
    whole: Counts
    column: Cells

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    @property
    def base(self) -> Figures:
        """The share of each value in the whole release."""
        return self.whole / self.n

    @cached_property
    def share(self) -> Figures:
        """The share of each pair's value in its class."""
        return self.count / self.sizes[self.owner]

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether a pair is the first one of its class."""
        return np.diff(self.owner, prepend=-1) > 0

    def most(self, figures: Figures) -> Figures:
        """Return the largest of the pairs' figures, class by class."""
        largest = np.full(self.sizes.size, -np.inf)
        np.maximum.at(largest, self.owner, figures)
        return largest

    def total(self, figures: Figures) -> Figures:
        """Return the sum of the pairs' figures, class by class."""
        sums = np.zeros(self.sizes.size)
        np.add.at(sums, self.owner, figures)
        return sums


class Asked(NamedTuple):
    """A model that a policy asks for: its name, the bound, the figure of each class, and which figures are good."""

    name: str
    asked: float
    figures: Callable[[Tally], Figures]
    high: bool = False
    strict: bool = False

    def holds(self, figures: Figures) -> NDArray[np.bool_]:
        """Return which figures are good enough; NaN never is."""
        if self.high:
            return figures >= self.asked - SLACK
        return figures < self.asked - SLACK if self.strict else figures <= self.asked + SLACK


def asked_models(asked: Constraints) -> list[Asked]:
    """Return the models of sensitive values that constraints ask for, plug-ins last."""
    found = []
    if asked.l is not None and asked.l_kind == "distinct":
        found.append(Asked("distinct l-diversity", asked.l, distinct, high=True))
    if asked.l is not None and asked.l_kind == "entropy":
        found.append(Asked("entropy l-diversity", asked.l, entropy, high=True))
    if asked.l is not None and asked.l_kind == "recursive" and asked.c is not None:
        l = int(asked.l)  # noqa: E741
        found.append(Asked("recursive (c,l)-diversity", asked.c, lambda tally: recursive(tally, l), strict=True))
    if asked.t is not None:
        found.append(Asked("t-closeness", asked.t, closeness))
    if asked.alpha is not None:
        found.append(Asked("(alpha,k)-anonymity", asked.alpha, alpha))
    if asked.beta is not None and asked.beta_kind == "basic":
        found.append(Asked("basic beta-likeness", asked.beta, likeness))
    if asked.beta is not None and asked.beta_kind == "enhanced":
        found.append(Asked("enhanced beta-likeness", asked.beta, enhanced_likeness))
    if asked.delta is not None:
        found.append(Asked("delta-disclosure", asked.delta, disclosure))
    return found + [_installed(name, value, asked) for name, value in asked.others.items()]


def _installed(name: str, value: float, asked: Constraints) -> Asked:
    """Return a model of a plug-in; it is given a `Tally`, and its figures are checked and compared here.

    PolicyError is raised for any other model, as the policy of a folder need not have been checked.
    """
    model = requested_model(name)

    def figures(tally: Tally) -> Figures:
        found = model.function(read_only(tally), asked)
        numbers = isinstance(found, np.ndarray) and found.dtype.kind in "iuf" and found.shape == tally.sizes.shape
        if not numbers or bool(np.isnan(found).any()):
            raise MisfitError(failed(name, "a model must give one number for each class, and none may be NaN"))
        return np.array(found, np.float64)

    return Asked(name, value, figures, high=bool(model.high), strict=bool(model.strict))


def distinct(tally: Tally) -> Figures:
    """Return the number of values s with c_E(s) > 0: distinct l-diversity (Machanavajjhala et al. 2007)."""
    return tally.total(np.ones(tally.owner.size))


def entropy(tally: Tally) -> Figures:
    """Return exp of the entropy of P_E: entropy l-diversity (Machanavajjhala et al. 2007).

    From counts: -sum P_E ln P_E = ln |E| - (sum c_E ln c_E) / |E|.
    """
    return np.asarray(
        np.exp(np.log(tally.sizes) - tally.total(np.asarray(tally.count * np.log(tally.count))) / tally.sizes)
    )


def recursive(tally: Tally, l: int) -> Figures:  # noqa: E741
    """Return r_1 / (r_l + ... + r_m), r the counts of a class, largest first: Machanavajjhala et al. (2007).

    A class is (c,l)-diverse if r_1 < c (r_l + ... + r_m). The tail is |E| less the l - 1 largest counts; where
    nothing is left of it, no c is enough.
    """
    order = np.lexsort((-tally.count, tally.owner))
    starts = np.searchsorted(tally.owner, np.arange(tally.sizes.size))
    place = np.arange(order.size) - starts[tally.owner]
    head = np.zeros(tally.sizes.size, np.int64)
    np.add.at(head, tally.owner[place < l - 1], tally.count[order][place < l - 1])
    tail = tally.sizes - head
    return np.where(tail > 0, tally.most(tally.count.astype(np.float64)) / np.maximum(tail, 1), np.inf)


def alpha(tally: Tally) -> Figures:
    """Return the largest P_E(s): (alpha,k)-anonymity (Wong et al. 2006)."""
    return np.asarray(tally.most(tally.count.astype(np.float64)) / tally.sizes)


def likeness(tally: Tally) -> Figures:
    """Return the largest (P_E(s) - P(s)) / P(s), at least 0: basic beta-likeness (Cao and Karras 2012).

    From counts: c_E(s) n / (|E| c(s)) - 1.
    """
    return np.maximum(tally.most(_rise(tally)), 0.0)


def enhanced_likeness(tally: Tally) -> Figures:
    """Return the largest rise, of which s may have min(beta, -ln P(s)): enhanced likeness (Cao and Karras 2012).

    A class with a rise above -ln P(s) meets no beta, and its figure is infinite.
    """
    rise, bound = _rise(tally), np.log(tally.n / tally.whole[tally.value])
    found = np.maximum(tally.most(np.minimum(rise, bound)), 0.0)
    return np.where(tally.most(rise - bound) > SLACK, np.inf, found)


def disclosure(tally: Tally) -> Figures:
    """Return the largest |ln(P_E(s) / P(s))| over s in E: delta-disclosure (Brickell and Shmatikov 2008).

    Values that a class lacks are left out here, as docs/judge/models.md says.
    """
    inside, outside = np.log(tally.count / tally.sizes[tally.owner]), np.log(tally.whole / tally.n)
    return tally.most(np.abs(inside - outside[tally.value]))


def closeness(tally: Tally) -> Figures:
    """Return the earth mover's distance of P_E from P: t-closeness (Li, Li and Venkatasubramanian 2007).

    - *Equal distance*: half the sum of |P_E - P|, which is 1 - sum over s of min(P_E(s), P(s)).
    - *Along a tree* of height H, where d(s, s') is the height of the lowest common node over H. Such a distance is a
      sum over levels, 1/H for each below the root where s and s' are at different nodes; the distance of P_E from P is
      then the mean over these levels of the equal distance of what their nodes hold.
    - *Ordered distance*, |rank - rank'| / (values - 1): the area between the two quantile functions.
    """
    tree = tally.column.tree
    if tally.whole.size > 1 and tree is not None:
        return np.asarray(sum(_equal_distance(tally, level) for level in tree[:-1]) / (len(tree) - 1))
    if tally.whole.size > 1 and tally.column.ordered:
        return _between_quantiles(tally)
    return _equal_distance(tally, np.arange(tally.whole.size))


def _rise(tally: Tally) -> Figures:
    """Return the relative increase of the share of each pair's value from the release to the class."""
    expected = tally.sizes[tally.owner] * (tally.whole / tally.n)[tally.value]
    return np.asarray((tally.count - expected) / expected)


def _equal_distance(tally: Tally, node: Counts) -> Figures:
    """Return the equal distance of each class when values at the same node are merged."""
    width = int(node.max(initial=0)) + 1
    pairs, place = np.unique(tally.owner * width + node[tally.value], return_inverse=True)
    own = np.zeros(pairs.size, np.int64)
    np.add.at(own, place.reshape(-1), tally.count)
    every = np.zeros(width, np.int64)
    np.add.at(every, node, tally.whole)
    owner = pairs // width
    shared = np.zeros(tally.sizes.size)
    np.add.at(shared, owner, np.minimum(own / tally.sizes[owner], every[pairs % width] / tally.n))
    return np.maximum(1.0 - shared, 0.0)


def _between_quantiles(tally: Tally) -> Figures:
    """Return the area between the quantile functions of each class and of the release, ranks over values - 1.

    The rows of the release are lined up by rank, from 0 to n. The c rows of a class that have rank r are stretched to c
    n / |E| positions, and r is compared with the rank of the release at each of them: cumulative sums of ranks give the
    area on the two sides of the positions that have rank r themselves.
    """
    n, whole, value = tally.n, tally.whole, tally.value
    ends = np.cumsum(whole)  # where the positions of each rank end
    # The sum of the ranks of all positions before each rank.
    summed = np.concatenate([[0], np.cumsum(whole * np.arange(whole.size))])

    def before(place: Figures) -> Figures:
        rank = np.minimum(np.searchsorted(ends, place, side="right"), whole.size - 1)
        return np.asarray(summed[rank] + rank * (place - (ends - whole)[rank]))

    upto = np.cumsum(tally.count)
    upto -= (upto - tally.count)[tally.first][tally.owner]
    scale = n / tally.sizes[tally.owner]
    start, end = (upto - tally.count) * scale, np.minimum(upto * scale, n)
    low, high = (ends - whole)[value].astype(np.float64), ends[value].astype(np.float64)
    a, b = np.minimum(start, low), np.minimum(end, low)
    under = value * (b - a) - (before(b) - before(a))
    a, b = np.maximum(start, high), np.maximum(end, high)
    over = (before(b) - before(a)) - value * (b - a)
    return np.asarray(tally.total(under + over) / n / (whole.size - 1))
