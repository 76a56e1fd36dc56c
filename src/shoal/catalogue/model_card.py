"""The card of a privacy model: what a policy asks by it, the figure of a class, and what it promises in words."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.model.policy import Constraints

__all__ = ["About", "ModelCard", "model"]

SLACK = 1e-9  # figures are ratios of counts: a difference this small is rounding
About = Literal["classes", "sensitive", "items", "records"]
Asks = Callable[[Constraints], float | None]
Figures = NDArray[np.float64]
OTHER = (
    "This constraint comes from a package beside shoal, which says what it means.",
    "Ask its authors what it leaves open.",
)


@dataclass(frozen=True)
class ModelCard:
    """A privacy model.

    Parameters
    ----------
    name : str
        As in verdicts.
    about : {"classes", "sensitive", "items", "records"}
        What it limits: the size of classes, the sensitive values of a class, the items that rows of a class share, or
        the items that records of set-valued data share.
    asks : callable
        What constraints ask by it; None if nothing.
    high : bool
        Whether large figures are good, as for l; for t they are bad.
    strict : bool
        Whether a figure that equals what is asked fails.
    symbol : str
        What is asked, in short: «t». Constraints fill in what stands in braces.
    promise, leaves_open : str
        In words for readers of a report. `{asked}` and `{column}` are filled in.
    summary : str
        The first sentence of the function's docstring.
    function : callable
        For a model of sensitive values: takes the counts of values by class and the constraints, returns one figure
        per class.
    """

    name: str
    about: About
    asks: Asks
    high: bool
    strict: bool
    symbol: str
    promise: str
    leaves_open: str
    summary: str
    function: Callable[..., Any] = field(repr=False)

    def fails(self, figures: Figures, asked: float) -> NDArray[np.bool_]:
        """Return which figures are not good enough."""
        if self.high:
            return figures < asked - SLACK
        return figures >= asked - SLACK if self.strict else figures > asked + SLACK

    def short(self, constraints: Constraints) -> str:
        """Return what is asked, in short."""
        return self.symbol.format(**constraints.model_dump()) if "{" in self.symbol else self.symbol

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, for JSON and tables."""
        return {key: value for key, value in vars(self).items() if key not in ("function", "asks")}


def model(
    name: str,
    *,
    about: About = "sensitive",
    asks: Asks | None = None,
    high: bool = False,
    strict: bool = False,
    symbol: str | None = None,
    promise: str = OTHER[0],
    leaves_open: str = OTHER[1],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function its card.

    A policy asks for the model of a plug-in by its name in `constraints.others`, so a plug-in gives no `asks`.
    """

    def others(constraints: Constraints) -> float | None:
        return constraints.others.get(name)

    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        summary = (function.__doc__ or "").strip().split("\n", 1)[0]
        function.card = ModelCard(  # type: ignore[attr-defined]
            name, about, asks or others, high, strict, symbol or name, promise, leaves_open, summary, function
        )
        return function

    return give
