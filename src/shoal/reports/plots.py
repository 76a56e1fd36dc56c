"""The columns of a release beside the original, as pictures for a notebook."""

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from shoal.errors import DataError, listed, near, shortened
from shoal.privacy.measures.case import Case
from shoal.reports.drawing import draw
from shoal.reports.facts import MOST, released_picture, undrawn
from shoal.reports.holder import before_and_after
from shoal.reports.wording import legend, say

BOX = "display:inline-block;vertical-align:top;margin:.3em 1em .3em 0"


@dataclass(frozen=True, eq=False, repr=False)
class Plot:
    """Pictures of columns, displayed by a notebook.

    Attributes
    ----------
    columns : tuple of str
        The columns that are drawn.
    caption : str
        What is shown, and whether it is confidential.
    """

    columns: tuple[str, ...]
    caption: str
    _pictures: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @cached_property
    def svg(self) -> dict[str, str]:
        """The picture of each column as SVG."""
        return {name: draw(dict(self._pictures[name])) for name in self.columns}

    def _repr_html_(self) -> str:
        """Show the pictures in a notebook."""
        drawn = "".join(
            f'<figure style="{BOX}"><figcaption><b>{html.escape(name)}</b></figcaption>{svg}</figure>'
            for name, svg in self.svg.items()
        )
        return f'<div style="max-width:70em">{drawn}<p><small>{html.escape(self.caption)}</small></p></div>'

    def __repr__(self) -> str:
        """Name the columns; a notebook shows their pictures."""
        return f"<Plot: {', '.join(map(repr, self.columns)) or 'no column'}>"


def plot_of(case: Case, column: str | None = None) -> Plot:
    """Return pictures of a column, or of all quasi-identifiers, before and after; without the original, after.

    Guarantee
    ---------
    Every number of rows in a picture is 0 or at least k; see `counting.of_column`.
    """
    known = case.released.column_names
    if column is not None and (not isinstance(column, str) or column not in known):
        raise DataError(
            f"plot: {shortened(column)} is not a column of the release. It has {listed(known)}.{near(column, known)}"
        )
    names = [one for one in known if case.policy.columns[one].role == "quasi"] if column is None else [column]
    found = _pictures(case, names[:MOST])
    drawn = tuple(name for name, picture in found.items() if picture is not None)
    return Plot(drawn, " ".join(_caption(case, found, drawn, len(names))), {name: found[name] or {} for name in drawn})


def _pictures(case: Case, names: Iterable[str]) -> dict[str, dict[str, Any] | None]:
    """Return the picture of each column, None where every value is too rare."""
    if case.original is None:
        return {name: released_picture(case, name) for name in names}
    return before_and_after(case, names)


def _caption(
    case: Case, found: Mapping[str, dict[str, Any] | None], drawn: tuple[str, ...], asked: int
) -> Iterable[str]:
    """Yield the sentences below the pictures."""
    if any((found[name] or {})["before"] is not None for name in drawn):
        yield f"Confidential: this shows the original. {legend('both')}"
    elif case.original is None:
        yield "Released values only: a release that was pickled or copied no longer has its original."
    elif drawn:
        yield "Released unchanged."
    yield say("both", k=case.policy.constraints.k)
    if rare := [name for name in found if name not in drawn]:
        yield from undrawn(case, rare)
    if asked > len(found):
        yield f"{asked - len(found)} more columns are not drawn: name one."
