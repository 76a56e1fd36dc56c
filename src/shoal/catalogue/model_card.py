"""The card of a privacy model: what a policy requests, the figure of a class, and the guarantee in plain words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue.card import Card
from shoal.errors import MisfitError, failed
from shoal.model.policy import Constraints
from shoal.model.read_only import read_only

SLACK = 1e-9  # figures are ratios of counts: a difference this small is rounding
About = Literal["classes", "sensitive", "items", "records"]
Asks = Callable[[Constraints], float | None]
Figures = NDArray[np.float64]
OTHER = (
    "This constraint comes from a plug-in package, whose documentation explains it.",
    "Ask its authors what it does not protect against.",
)


def _other(_: Constraints) -> float | None:
    """Stand for a model that policies request by name in `constraints.others`."""
    return None


@dataclass(frozen=True, kw_only=True)
class ModelCard(Card[Callable[..., Any]]):
    """A privacy model.

    The function of a model of sensitive values takes the counts of values by class and the constraints, and returns
    one figure per class.

    Parameters
    ----------
    name : str
        As in verdicts.
    about : {"classes", "sensitive", "items", "records"}
        What it limits: the size of classes, the sensitive values of a class, the items that rows of a class share, or
        the items that records of set-valued data share.
    asks : callable, optional
        Takes constraints and returns the value they request, None if nothing. A plug-in needs none: policies request
        its model by name in `constraints.others`.
    high : bool
        Whether high figures are good, as for l; for t they are bad.
    strict : bool
        Whether a figure equal to the requested value fails.
    symbol : str
        A short name for the requested value, such as t; by default the name. Constraints fill in names in braces.
    set_by : tuple of str
        The keys of `constraints` that request it, such as l, or l_kind=entropy for a key with a fixed value; the first
        one has the requested value. A plug-in needs none.
    promise, leaves_open : str
        The guarantee and its limits for readers of a report; `{asked}` and `{column}` are filled in.
    """

    about: About = "sensitive"
    asks: Asks = field(default=_other, repr=False)
    high: bool = False
    strict: bool = False
    symbol: str = ""
    set_by: tuple[str, ...] = ()
    promise: str = OTHER[0]
    leaves_open: str = OTHER[1]

    def __post_init__(self) -> None:
        self._check_words("about", [self.about], get_args(About))
        self._set("symbol", self.symbol or self.name)
        self._set("set_by", self.set_by or (self.name,))
        if self.asks is _other:
            self._set("asks", lambda constraints: constraints.others.get(self.name))

    def fails(self, figures: Figures, asked: float) -> NDArray[np.bool_]:
        """Return which figures are not good enough; NaN never is."""
        if self.high:
            return ~(figures >= asked - SLACK)
        return ~(figures < asked - SLACK) if self.strict else ~(figures <= asked + SLACK)

    def figures(self, counts: Any, constraints: Constraints) -> Figures:
        """Return the figure of each class; MisfitError is raised if a plug-in does not give one for each."""
        if self.name not in constraints.others:
            return np.asarray(self.function(counts, constraints))
        if not counts.sizes.size:
            return np.empty(0)
        return one_each(self.name, self.function(read_only(counts), constraints), counts.sizes.size)

    def short(self, constraints: Constraints) -> str:
        """Return the short name of the requested value."""
        return self.symbol.format(**constraints.model_dump()) if "{" in self.symbol else self.symbol


model = ModelCard


def one_each(name: str, found: object, classes: int) -> Figures:
    """Return the figures that a plug-in's model gave, or raise MisfitError if they are not one number per class."""
    good = isinstance(found, np.ndarray) and found.shape == (classes,) and found.dtype.kind in "iuf"
    figures = np.array(found, np.float64) if good else np.full(1, np.nan)
    if np.isnan(figures).any():
        raise MisfitError(failed(name, "a model must give an array of one number for each class, and none may be NaN"))
    return figures
