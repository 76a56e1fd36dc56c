"""The result of an exploration: its points, the Pareto front, and their presentation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import UseError, counted, listed, near
from shoal.exploration.asked import place
from shoal.exploration.folder import Folder
from shoal.exploration.front import front
from shoal.exploration.plan import Skipped
from shoal.exploration.points import DONE, RISKS, Aims, Outcome
from shoal.exploration.preflight import Estimate
from shoal.io.frames import to_frame
from shoal.model.policy import Policy
from shoal.reports.exploring import explore_card, explore_html
from shoal.reports.frontier import by_method
from shoal.reports.interactive import Chart
from shoal.reports.render import as_json

RULE = (
    "A point dominates another only if it is at least as good in risk and utility, and clearly better in one of them: "
    "with its whole 95% interval on the better side of the other's. "
    "Points that no other dominates form the Pareto front."
)
CAUTION = (
    "A choice based on the data can itself leak information: the chosen method and k reveal a little about the rows, "
    "and no guarantee of a release accounts for that. Choose according to the purpose of the data, prefer a choice "
    "that you could have made beforehand, and keep this folder private."
)
HEAD = """\
# {name}: a Pareto-optimal policy of an exploration, made by shoal {version}.
# Private: it contains the random seed, which must not be published. This policy gives the same bytes again:
#   shoal anonymize FILE --policy THIS_FILE -o release --private mine
"""
ENDS = {"value": "", "low": "_low", "high": "_high"}  # suffixes of column names
TEXT, WHOLE, NUMBER = pa.string(), pa.int64(), pa.float64()
COLUMNS = {"point": TEXT, "method": TEXT, "k": WHOLE, "l": NUMBER, "t": NUMBER, "parameters": TEXT, "seeds": WHOLE}
COLUMNS |= {"status": TEXT, "front": pa.bool_(), "same_as": TEXT}


@dataclass(frozen=True, eq=False)
class Exploration:
    """The result of `shoal.explore`. It is confidential: its figures use the original table.

    Attributes
    ----------
    outcomes : tuple of Outcome
        The result of each point that was tried.
    skipped : tuple of Skipped
        Methods and points that were left out, with reasons.
    aims : Aims
        The measures of utility and risk that are compared.
    rows, columns : int
        Number of rows and columns of the table.
    estimate : Estimate
        The expected cost of the runs that remained to be done.
    policies : dict of str to Policy
        The policy of every point, by name.
    folder : Path or None
        Where it was saved.
    references : dict of str to float
        Reference figures of the utility, by what they describe; empty if there are none.
    budget : float or None
        The seconds that it was given.
    waiting : tuple of str
        The points that are still to be run, while it is running.
    """

    outcomes: tuple[Outcome, ...]
    skipped: tuple[Skipped, ...]
    aims: Aims
    rows: int
    columns: int
    estimate: Estimate
    policies: dict[str, Policy] = field(repr=False)
    source: str = ""
    frame: Any = field(default=None, repr=False)
    folder: Path | None = None
    label: str | None = None
    references: dict[str, float] = field(default_factory=dict)
    budget: float | None = None
    waiting: tuple[str, ...] = ()

    def with_outcomes(self, found: Mapping[str, Outcome]) -> "Exploration":
        """Return it with the points that were run so far, by name."""
        outcomes = tuple(found[name] for name in self.policies if name in found)
        return replace(self, outcomes=outcomes, waiting=tuple(name for name in self.waiting if name not in found))

    @cached_property
    def front(self) -> tuple[Outcome, ...]:
        """The Pareto-optimal points, lowest risk first; of identical releases the first one."""
        known = [one for one in self.compared if one.name not in self.same_as]
        risks, utilities = [one.risk for one in known if one.risk], [one.utility for one in known if one.utility]
        on = front((risks, self.aims.risk.higher), (utilities, self.aims.utility.higher))
        sign = -1 if self.aims.risk.higher else 1
        kept = [(sign * risk.value, one.name, one) for one, risk, stays in zip(known, risks, on, strict=True) if stays]
        return tuple(one for _, _, one in sorted(kept, key=lambda item: item[:2]))

    @property
    def compared(self) -> tuple[Outcome, ...]:
        """The points that were released and have both figures."""
        return tuple(one for one in self.outcomes if one.status == DONE and one.utility and one.risk)

    @cached_property
    def same_as(self) -> dict[str, str]:
        """The name of the earlier point, for each point whose release is identical to that of an earlier one."""
        first: dict[str, str] = {}
        for one in self.outcomes:
            first.setdefault(one.data or one.name, one.name)
        made = {one.name: first[one.data or one.name] for one in self.outcomes}
        return {name: other for name, other in made.items() if other != name}

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The points that could not be released."""
        return tuple(one for one in self.outcomes if one.status != DONE)

    @property
    def late(self) -> tuple[str, ...]:
        """The points for which the budget did not suffice; the same call with the same folder continues with them."""
        return tuple(one.name for one in self.skipped if one.late)

    def policy(self, name: str) -> Policy:
        """Return the policy of a point. It contains the random seed, so it is confidential."""
        if name not in self.policies:
            hint = near(name, self.policies)
            raise UseError(f"explore: unknown point {name!r}. Known: {listed(self.policies)}.{hint}")
        return self.policies[name]

    def table(self) -> Any:
        """Return one row per point: its settings, both figures with their intervals, and all others.

        Returns
        -------
        frame
            Of the input's type; an Arrow table for a file.
        """
        on, rows = {one.name for one in self.front}, []
        for one in self.outcomes:
            row = {name: getattr(one, name) for name in ("method", "k", "l", "t", "seeds", "status", "seconds")}
            row |= {"point": one.name, "parameters": json.dumps(one.parameters, sort_keys=True)}
            row |= {"front": one.name in on, "same_as": self.same_as.get(one.name)}
            for what, figure in (("utility", one.utility), ("risk", one.risk)):
                row |= {f"{what}{end}": getattr(figure, name, None) for name, end in ENDS.items()}
            rows.append({**row, **{name: figure.value for name, figure in one.figures.items()}})
        compared = [f"{what}{end}" for what in ("utility", "risk") for end in ENDS.values()]
        figures = dict.fromkeys(name for one in self.outcomes for name in one.figures)
        kinds = {**COLUMNS, **dict.fromkeys((*compared, *figures, "seconds"), NUMBER)}
        return to_frame(pa.Table.from_pylist(rows, pa.schema(kinds)), self.frame)

    def as_dict(self) -> dict[str, Any]:
        """Return everything except the policies as plain values, for JSON."""
        on, compared = {one.name for one in self.front}, {one.name for one in self.compared}
        aims = (("utility", self.aims.utility), ("risk", self.aims.risk))
        points = []
        for one in self.outcomes:
            placed = {"front": one.name in on, "compared": one.name in compared, "same_as": self.same_as.get(one.name)}
            points.append({**one.as_dict(), **placed})
        return {
            "kind": "shoal exploration",
            "shoal": version("shoal"),
            "source": self.source,
            "rows": self.rows,
            "columns": self.columns,
            **{what: {"name": aim.name, "higher_is_better": aim.higher, "how": aim.how} for what, aim in aims},
            "risks": RISKS,
            "folds": self.aims.folds,
            "rule": RULE,
            "caution": CAUTION,
            "estimate": {**vars(self.estimate), "summary": str(self.estimate)},
            "budget": self.budget,
            "waiting": list(self.waiting),
            "late": list(self.late),
            "written": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC" if self.waiting else None,
            "points": points,
            "front": [one.name for one in self.front],
            "references": self.references,
            "left_out": [vars(one) for one in self.skipped],
        }

    def chart(self) -> Chart:
        """Return risk against utility, with the points of each method; a click in the legend highlights a method."""
        return Chart(by_method(self.as_dict()))

    def save(self, folder: "Folder | str | Path") -> Path:
        """Write explore.html, explore.json and the policies of the Pareto front to a private folder.

        Parameters
        ----------
        folder : path
            New, empty, or that of an earlier exploration.
        """
        if not isinstance(folder, Folder):
            with Folder(place(folder)) as held:
                return self.save(held)
        facts, made = self.as_dict(), version("shoal")
        policies = {
            one.name: HEAD.format(name=one.name, version=made) + self.policies[one.name].to_toml() for one in self.front
        }
        folder.finish(explore_html(facts), as_json(facts), policies)
        return folder.place

    def sketch(self, folder: Folder) -> None:
        """Write explore.html and explore.json of an exploration that is still running."""
        facts = self.as_dict()
        folder.publish(explore_html(facts), as_json(facts))

    def __repr__(self) -> str:
        """Describe the exploration by its size, and why points failed; after a dry run, by its estimate."""
        if not self.outcomes:
            return f"<Exploration: no point yet; {self.estimate}; {len(self.skipped)} left out>"
        points, front = counted(len(self.outcomes), "point"), len(self.front)
        failed = f"; {len(self.failed)} not released, the first: {self.failed[0].reason}" if self.failed else ""
        return f"<Exploration: {points}, {front} on the Pareto front; {len(self.skipped)} left out{failed.rstrip('.')}>"

    def _repr_html_(self) -> str:
        """Show the Pareto front in a notebook: a chart and a table."""
        return explore_card(self.as_dict())
