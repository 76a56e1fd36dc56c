"""What every card has, and how a function gets its card."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

from shoal.errors import CardError, listed, near, shortened

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Card(Generic[F]):
    """A declaration in the catalogue, and at the same time the decorator that attaches it: `@measure("name", ...)`.

    Parameters
    ----------
    name : str
        As in policies, on the command line and in reports.
    summary : str
        The first line of the function's docstring.
    function : callable
        The decorated function.
    built_in : bool
        Whether the catalogue found it in shoal itself. Any other card is treated as that of a plug-in.
    """

    name: str
    summary: str = field(init=False)
    function: F = field(init=False, repr=False)
    built_in: bool = field(init=False, repr=False, default=False)

    def __call__(self, function: F) -> F:
        """Attach the card to a function."""
        self._set("summary", (function.__doc__ or "").strip().split("\n", 1)[0])
        self._set("function", function)
        function.card = self  # type: ignore[attr-defined]
        return function

    @staticmethod
    def misfit(part: str, result: Any) -> str:  # noqa: ARG004 - a card may override this
        """Say what is wrong with what a function of the card, its attribute `part`, returned; empty if nothing."""
        return ""

    def as_dict(self) -> dict[str, Any]:
        """Return the card as plain values, for JSON, tables and forms; without functions."""
        functions = {one.name for one in fields(self) if not one.repr}
        return {key: value for key, value in vars(self).items() if key not in functions}

    def _check_words(self, field: str, given: Iterable[object], known: Iterable[str]) -> None:
        """Refuse a declaration with a word that is not known."""
        words = list(known)
        for one in given:
            if one not in words:
                kind = type(self).__name__.removesuffix("Card").lower()
                raise CardError(
                    f"{kind}: the card of {self.name!r} has {shortened(one)} in {field}; expected one of "
                    f"{listed(words)}.{near(one, words)}"
                )

    def _set(self, name: str, value: object) -> None:
        """Complete the card while it is being declared; from then on it is frozen."""
        object.__setattr__(self, name, value)


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring on one line."""
    return (docstring or "").split("\n\n", 1)[0].replace("\n", " ")
