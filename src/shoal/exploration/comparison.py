"""The result of a comparison: figures, tests, and their presentation."""

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import DataError, MethodError, counted, listed, near
from shoal.io.bundle import check_outside, draft
from shoal.reports.compare_page import compare_card, compare_html, compare_words
from shoal.reports.diagrams import critical_words, diagram, figure_chart
from shoal.reports.interactive import Chart, standing_alone
from shoal.reports.render import as_json
from shoal.utility.rank_tests import Comparison

PAGE, FACTS = "compare.html", "compare.json"
MARK = "shoal comparison"
MOST = 100  # measures, and therefore diagrams, of a folder

Floats = NDArray[np.float64]
Format = Literal["html", "md", "json"]


@dataclass(frozen=True)
class Set:
    """A data set in the comparison: its name, its rows, and its columns without label and identifiers."""

    name: str
    rows: int
    columns: int


@dataclass(frozen=True)
class LeftOut:
    """A data set that was left out, the method that failed on it, and the reason."""

    set: str
    method: str
    reason: str


@dataclass(frozen=True, eq=False)
class Measured:
    """One measure of every method on every data set.

    `name` is as requested, `title` as displayed; `values` have the shape (methods, data sets, seeds). Ranks and tests
    of `comparison` are on the means over seeds. `ends` is the range of the measure, which clips intervals.
    """

    name: str
    title: str
    how: str
    higher: bool
    values: Floats
    comparison: Comparison
    ends: tuple[float, float] = (-math.inf, math.inf)

    @cached_property
    def means(self) -> Floats:
        """The mean over seeds of every method on every data set."""
        return np.asarray(self.values.mean(axis=2))

    @cached_property
    def halves(self) -> Floats | None:
        """Half the width of Student's 95% interval over seeds; None with one seed."""
        from scipy.stats import t

        seeds = self.values.shape[2]
        if seeds < 2:
            return None
        return np.asarray(t.ppf(0.975, seeds - 1) * self.values.std(axis=2, ddof=1) / np.sqrt(seeds))

    def interval(self, method: int, column: int) -> tuple[float, float | None, float | None]:
        """Return the mean of a method on a data set and its interval, clipped to the range of the measure."""
        mean = float(self.means[method, column])
        if self.halves is None:
            return mean, None, None
        half = float(self.halves[method, column])
        return mean, min(mean, max(self.ends[0], mean - half)), max(mean, min(self.ends[1], mean + half))


@dataclass(frozen=True, eq=False)
class MethodComparison:
    """The result of `shoal.compare`. It is for the data holder only: its figures use the original tables.

    Attributes
    ----------
    methods : tuple of str
    sets : tuple of Set
        The data sets that every method could release.
    left_out : tuple of LeftOut
        The data sets that were left out, with reasons.
    measures : tuple of Measured
        The figures, ranks and tests of each measure.
    k, seeds, folds : int
    alpha : float
    label : str or None
    """

    methods: tuple[str, ...]
    sets: tuple[Set, ...]
    left_out: tuple[LeftOut, ...]
    measures: tuple[Measured, ...]
    k: int
    seeds: int
    folds: int
    alpha: float
    label: str | None

    def measure(self, name: str | None = None) -> Measured:
        """Return one measure by name; the first by default."""
        found = {one.name: one for one in self.measures}
        if name is None:
            return self.measures[0]
        if name not in found:
            raise MethodError(
                f"compare: {name!r} was not compared. Known: {listed(found)}.{near(name, found)} Add it to `measure`."
            )
        return found[name]

    @property
    def comparison(self) -> Comparison:
        """Ranks and tests of the first measure."""
        return self.measures[0].comparison

    def diagram(self, measure: str | None = None) -> Chart:
        """Return the critical-difference diagram of a measure."""
        if len(self.sets) < 2:
            raise DataError("compare: one data set has no diagram of ranks. Compare several, or see `chart`.")
        return Chart(diagram(self._facts(self.measure(measure))))

    def chart(self, measure: str | None = None) -> Chart:
        """Return the figures of a measure; a click in the legend highlights a method."""
        return Chart(figure_chart(self._facts(self.measure(measure))))

    def report(self, format: Format = "html") -> str:  # noqa: A002
        """Return the whole comparison as an HTML page, as Markdown or as JSON.

        Parameters
        ----------
        format : {"html", "md", "json"}
        """
        writers = {"html": compare_html, "md": compare_words, "json": as_json}
        if format not in writers:
            raise DataError(f"compare: unknown format {format!r}. Known: 'html', 'md' and 'json'.")
        return writers[format](self.as_dict())

    def save(self, folder: str | Path) -> Path:
        """Write `compare.html`, `compare.json` and, of several data sets, a diagram for each measure.

        An earlier comparison is replaced.

        Parameters
        ----------
        folder : path
            A private folder.
        """
        check_outside(folder)
        with draft(folder, owned_files(), private=True) as made:
            texts = {FACTS: self.report("json"), PAGE: self.report("html")}
            for number, one in enumerate(self.measures if len(self.sets) > 1 else ()):
                texts[diagram_name(number)] = standing_alone(diagram(self._facts(one)).svg())
            for name, text in texts.items():
                (made / name).write_text(text, encoding="utf-8", newline="\n")
        return Path(folder)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "kind": MARK,
            "k": self.k,
            "label": self.label,
            "seeds": self.seeds,
            "folds": self.folds,
            "alpha": self.alpha,
            "methods": list(self.methods),
            "sets": [asdict(one) for one in self.sets],
            "left_out": [asdict(one) for one in self.left_out],
            "measures": [self._facts(one) for one in self.measures],
        }

    def __str__(self) -> str:
        """Summarize the comparison in a few lines."""
        if len(self.sets) > 1:
            words = (f"{one.comparison}\n{critical_words(self._facts(one))}" for one in self.measures)
        else:
            words = ("\n".join([*self._lines(one), *one.comparison.results()]) for one in self.measures)
        return "\n\n".join(f"{one.title}\n{text}" for one, text in zip(self.measures, words, strict=True))

    def __repr__(self) -> str:
        """Describe what was compared."""
        names = ", ".join(one.title for one in self.measures)
        return f"<MethodComparison: {len(self.methods)} methods on {counted(len(self.sets), 'data set')} by {names}>"

    def _repr_html_(self) -> str:
        """Show ranks, diagrams and figures in a notebook."""
        return compare_card(self.as_dict())

    def _lines(self, one: Measured) -> list[str]:
        """Return the figure of each method on the first data set with its interval, the best first."""
        lines = []
        for name in one.comparison.methods:
            mean, low, high = one.interval(self.methods.index(name), 0)
            lines.append(f"{name}: {mean:.4g}" + ("" if low is None else f", 95% interval {low:.4g} to {high:.4g}"))
        return lines

    def _facts(self, one: Measured) -> dict[str, Any]:
        """Return one measure as plain values."""
        figures = []
        for place, method in enumerate(self.methods):
            for column, data in enumerate(self.sets):
                mean, low, high = one.interval(place, column)
                figure = {"set": data.name, "method": method, "mean": mean, "low": low, "high": high}
                figures.append({**figure, "values": one.values[place, column].tolist()})
        described = {"name": one.name, "title": one.title, "how": one.how, "higher": one.higher}
        return {**described, "figures": figures, "comparison": one.comparison.as_dict()}


def diagram_name(number: int) -> str:
    """Return the file name of a diagram, from the number of its measure."""
    return "diagram.svg" if number == 0 else f"diagram-{number + 1}.svg"


def owned_files() -> dict[str, str]:
    """Return the files that the folder of a comparison may contain, each with a string that marks it as ours."""
    return {FACTS: MARK, PAGE: "<html", **{diagram_name(number): "<svg" for number in range(MOST)}}
