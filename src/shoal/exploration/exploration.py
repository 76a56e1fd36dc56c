"""What an exploration found: its points, the front, and how it shows itself."""

import json
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.exploration.aims import Aim, Figure
from shoal.exploration.asked import place
from shoal.exploration.folder import Folder
from shoal.exploration.front import Spot, front
from shoal.exploration.plan import Skipped
from shoal.exploration.points import DONE, Aims, Outcome
from shoal.exploration.preflight import Estimate
from shoal.io.frames import to_frame
from shoal.model.policy import Policy
from shoal.report.exploring import explore_card, explore_chart, explore_html

__all__ = ["CHANNEL", "RULE", "Exploration"]

RULE = (
    "A point is beaten only if another is at least as good in risk and utility, and clearly better in one of them: "
    "with its whole 95 % interval on the better side of the other's. What nothing beats is on the front."
)
CHANNEL = (
    "To choose by looking at the data is itself a channel: which method and which k were chosen tells a little of the "
    "rows that they were chosen on, and no guarantee of a release counts that. Choose by what the data are for, prefer "
    "a choice that you could have made before, and keep this folder to yourself."
)
HEAD = """\
# {name}: a policy of the front of an exploration, made by shoal {version}.
# Private: it holds the seed, which is never to be published. The same table and this policy give the same bytes again:
#   shoal anonymize FILE --policy THIS_FILE -o release --private mine
"""


@dataclass(frozen=True, eq=False)
class Exploration:
    """What `shoal.explore` gives back. It is private: its figures are of the table and its releases together.

    Attributes
    ----------
    outcomes : tuple of Outcome
        What became of each point that was tried.
    skipped : tuple of Skipped
        Methods and points that were left out, and why.
    aims : Aims
        The utility and the risk that are weighed.
    rows, columns : int
        Of the table.
    estimate : Estimate
        What the pre-flight expected of the runs that were left to do.
    policies : dict of str to Policy
        The policy of every point, by its name.
    folder : Path or None
        Where it was saved.
    beside : dict of str to float
        Figures of the utility that releases are to be compared with, by what they are of; empty if there are none.
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
    beside: dict[str, float] = field(default_factory=dict)

    @cached_property
    def front(self) -> tuple[Outcome, ...]:
        """The points that nothing else clearly beats, the least risk first; of twins the first."""
        known = [one for one in self.weighed if one.name not in self.twins]
        risks = [_spot(one.risk, self.aims.risk).turned for one in known if one.risk is not None]
        utilities = [_spot(one.utility, self.aims.utility) for one in known if one.utility is not None]
        on = front(risks, utilities)
        kept = [(risk.value, one) for one, risk, stays in zip(known, risks, on, strict=True) if stays]
        return tuple(one for _, one in sorted(kept, key=lambda pair: (pair[0], pair[1].name)))

    @property
    def weighed(self) -> tuple[Outcome, ...]:
        """The points that were released and have both figures."""
        return tuple(
            one for one in self.outcomes if one.status == DONE and one.utility is not None and one.risk is not None
        )

    @cached_property
    def twins(self) -> dict[str, str]:
        """The points whose release is that of an earlier point, byte for byte, by name with the name of the other."""
        first: dict[str, str] = {}
        for one in self.outcomes:
            first.setdefault(one.data or one.name, one.name)
        made = {one.name: first[one.data or one.name] for one in self.outcomes}
        return {name: other for name, other in made.items() if other != name}

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The points that could not be released, or were not begun in time."""
        return tuple(one for one in self.outcomes if one.status != DONE)

    def policy(self, name: str) -> Policy:
        """Return the policy of a point, with its seed: it is private."""
        if name not in self.policies:
            raise KeyError(f"there is no point {name!r}")
        return self.policies[name]

    def table(self) -> Any:
        """Return a row for each point: what was asked, both figures with their intervals, and all others.

        Returns
        -------
        frame
            Of the kind that was explored; an arrow table for a file.
        """
        on = {one.name for one in self.front}
        names = list(dict.fromkeys(name for one in self.outcomes for name in one.figures))
        rows = []
        for one in self.outcomes:
            row: dict[str, Any] = {"point": one.name, "method": one.method, "k": one.k, "l": one.l, "t": one.t}
            row |= {"parameters": json.dumps(one.parameters, sort_keys=True), "seeds": one.seeds, "status": one.status}
            row |= {"front": one.name in on, "twin": self.twins.get(one.name)}
            row |= {**_columns("utility", one.utility), **_columns("risk", one.risk)}
            row |= {name: one.figures[name].value if name in one.figures else None for name in names}
            rows.append({**row, "seconds": one.seconds})
        return to_frame(pa.Table.from_pylist(rows, self._schema(names)), self.frame)

    def as_dict(self) -> dict[str, Any]:
        """Return everything but the policies as plain values, for JSON."""
        on = {one.name for one in self.front}
        weighed = {
            what: {"name": aim.name, "higher_is_better": aim.higher, "how": aim.how}
            for what, aim in (("utility", self.aims.utility), ("risk", self.aims.risk))
        }
        return {
            "kind": "shoal exploration",
            "shoal": version("shoal"),
            "source": self.source,
            "rows": self.rows,
            "columns": self.columns,
            **weighed,
            "folds": self.aims.folds,
            "rule": RULE,
            "channel": CHANNEL,
            "estimate": {**vars(self.estimate), "said": str(self.estimate)},
            "points": [
                {**one.as_dict(), "front": one.name in on, "twin": self.twins.get(one.name)} for one in self.outcomes
            ],
            "front": [one.name for one in self.front],
            "beside": self.beside,
            "left_out": [vars(one) for one in self.skipped],
        }

    def chart(self) -> Any:
        """Return risk against utility as an interactive Altair chart."""
        return explore_chart(self.as_dict())

    def save(self, folder: "Folder | str | Path") -> Path:
        """Write explore.html, explore.json and the policies of the front into a private folder.

        Parameters
        ----------
        folder : path
            Absent, empty, or that of an earlier exploration.
        """
        if not isinstance(folder, Folder):
            with Folder(place(folder)) as held:
                return self.save(held)
        facts = self.as_dict()
        head = {"version": version("shoal")}
        policies = {
            one.name: HEAD.format(name=one.name, **head) + self.policies[one.name].to_toml() for one in self.front
        }
        folder.finish(explore_html(facts), json.dumps(facts, indent=2, ensure_ascii=False) + "\n", policies)
        return folder.place

    def __repr__(self) -> str:
        """Name the exploration by its size."""
        return (
            f"<Exploration: {len(self.outcomes)} points, {len(self.front)} on the front; {len(self.skipped)} left out>"
        )

    def _repr_html_(self) -> str:
        """Show the front in a notebook: a chart and a table."""
        return explore_card(self.as_dict())

    def _schema(self, names: list[str]) -> pa.Schema:
        """Return the types of the columns of the table."""
        words = {"point", "method", "parameters", "status", "twin"}
        order = ["point", "method", "k", "l", "t", "parameters", "seeds", "status", "front", "twin"]
        order += [f"{what}{end}" for what in ("utility", "risk") for end in ("", "_low", "_high")]
        kinds = {"k": pa.int64(), "seeds": pa.int64(), "front": pa.bool_(), **dict.fromkeys(words, pa.string())}
        return pa.schema([(name, kinds.get(name, pa.float64())) for name in (*order, *names, "seconds")])


def _spot(figure: Figure, aim: Aim) -> Spot:
    """Return a figure as one where more is better."""
    spot = Spot.of(figure.value, figure.low, figure.high)
    return spot if aim.higher else spot.turned


def _columns(what: str, figure: Figure | None) -> dict[str, float | None]:
    """Return a figure and its ends as columns."""
    if figure is None:
        return {what: None, f"{what}_low": None, f"{what}_high": None}
    return {what: figure.value, f"{what}_low": figure.low, f"{what}_high": figure.high}
