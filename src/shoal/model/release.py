"""A release: the new values, what the judge found in them, and what was changed."""

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import counted
from shoal.model import html_parts
from shoal.model.csv_style import STANDARD, CsvStyle
from shoal.model.findings import Finding, Verdict, value_of
from shoal.model.notes import Note
from shoal.model.options import ReportFormat, with_options
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.read_only import read_only
from shoal.model.sketches import Sketch


@dataclass(frozen=True)
class Change:
    """The ledger entry of one column: cells changed, filled where a value was missing, and emptied."""

    column: str
    role: str
    form: str
    changed: int
    filled: int
    emptied: int


@dataclass(frozen=True, eq=False)
class Making:
    """How a release was made, and how it is written: for the pipeline, not for users.

    `source` and `case` contain original values, so they are dropped when a release is pickled or copied.
    """

    aligned: Any  # the released rows as the caller's type of frame, in the order of the input rows
    position: NDArray[np.int64]  # of each of them in the order in which rows are written
    partition: Partition  # in the order of the input rows
    inputs: int  # rows of the input
    format: str  # of the input, "frame" for a frame
    sketches: tuple[Sketch, ...]  # figures for the charts of the private folder
    sketched: tuple[str, ...]  # the columns of the sketches
    reorder: Callable[[Any, NDArray[np.int64]], Any]  # returns these rows of a frame under a new index
    copied: Callable[[Any], Any]  # returns a frame whose changes do not show in the one that it was made from
    writer: Callable[..., Path]  # called by `save`
    reporter: Callable[..., str]  # called by `report`
    answerer: Callable[..., Any]  # returns the lines that a notebook shows first
    plotter: Callable[..., Any]  # called by `plot`
    source: Any = None  # the argument of `anonymize`
    refused: frozenset[str] = frozenset()  # kinds of notes that `save` refuses as well
    case: Any = None  # the pair of table and release that was measured
    csv: CsvStyle = STANDARD  # of the input

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "source": None, "case": None}

    def made_from(self, original: Any) -> bool:
        """Return whether a table is the one that was given to `anonymize`: the same object, or the same path."""
        if original is None or self.case is None:
            return False
        paths = isinstance(original, str | Path) and isinstance(self.source, str | Path)
        return original is self.source or (paths and Path(original) == Path(self.source))


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """The result of `shoal.anonymize`.

    Attributes
    ----------
    table : pyarrow.Table
        The released rows in the order in which they are written.
    rows : int64 array
        The number of the input row of each row of `aligned()`: 0 to n - 1, without suppressed rows. Read-only.
    policy : Policy
        The complete policy, with the role and form of every column and the random seed.
    verdicts : tuple of Verdict
        What the judge found for each constraint.
    findings : tuple of Finding
        Measures of information loss and risk.
    ledger : tuple of Change
        For each column, how many cells were changed, filled or emptied.
    suppressed : int
        Number of rows left out because of missing values.
    notes : tuple of Note
        What the holder should know, the most important first, such as columns that look like identifiers, and pages
        or charts that the last `save` did not write. Each is a text with a `kind`.
    missing : tuple of Note
        Pages or charts that the last `save` did not write.
    """

    table: pa.Table
    rows: NDArray[np.int64]
    policy: Policy
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    ledger: tuple[Change, ...]
    suppressed: int
    notes: tuple[Note, ...]
    _making: Making
    missing: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", read_only(self.rows))

    @cached_property
    def data(self) -> Any:
        """The released rows as the caller's type of frame, in the order in which they are written.

        That order follows from the released values alone, so it may be shown to others. A pandas frame has an index of
        its own, called `released_row`: to compare rows with the original, use `aligned()`. Two releases have the same
        labels, r0, r1 and so on, for rows of different people.
        """
        return self._making.reorder(self._making.aligned, np.argsort(self._making.position))

    def aligned(self) -> Any:
        """Return the released rows in the order of the input rows, with the index of a pandas frame: for the holder.

        Order and index reveal who is who. Do not pass this frame on.

        Returns
        -------
        frame
            Of the caller's type, without suppressed rows. Each call returns a frame of its own: what is added to one
            appears neither in another nor in `data`.
        """
        return self._making.copied(self._making.aligned)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The group of each row of `aligned()`."""
        return self._making.partition.labels

    def finding(self, name: str) -> float:
        """Return the value of one finding, such as "cell loss %"."""
        return value_of(self.findings, name)

    def _note_missing(self, missing: tuple[Note, ...]) -> None:
        """Note what could not be drawn when the release was last saved, in place of any earlier such note."""
        notes = (*self._own_notes(), *missing)
        for name, new in (("notes", notes), ("missing", missing)):
            object.__setattr__(self, name, new)

    def _own_notes(self) -> tuple[Note, ...]:
        """Return the notes without what the last `save` could not draw."""
        return tuple(note for note in self.notes if note not in self.missing)

    @with_options("save")
    def save(
        self,
        folder: str | Path,
        *,
        private: str | Path | None = None,
        format: str | None = None,  # noqa: A002
        report: bool = True,
        original: Any = None,
        csv_style: str | None = None,
    ) -> Path:
        """Write the release as a folder with its certificate, checked from its bytes before it appears.

        Parameters
        ----------
        folder : path
            Where to write the release. An earlier release there is replaced in one step.
        private : path, optional
            A second folder for what only the holder may see: the map of rows and the findings.
        format : {"csv", "csv.gz", "parquet", "feather"}, optional
            The format of the data file; that of the input if not given, Parquet for frames.
        report : bool
            Whether to add a page for recipients to the folder, and one for the holder to the private folder.
        original : path or frame, optional
            The table that the release was made from, for the holder's page. A release keeps it until it is pickled or
            copied; if it is then not given, there is no such page, and `missing` says so.
        csv_style : {"excel", "standard"}, optional
            How a CSV file is written: with the separator and the decimal sign of the input and a byte order mark, so
            that Excel opens it, or with commas and decimal points. If not given, as the policy says, else with
            separator, decimal sign and byte order mark as in the input.

        Returns
        -------
        Path
            The folder. A page that cannot be drawn is left out, and `notes` says so.
        """
        return self._making.writer(
            self, folder, private=private, format=format, report=report, original=original, csv_style=csv_style
        )

    @with_options("report")
    def report(
        self,
        original: Any = None,
        *,
        attacks: bool = False,
        control: Any = None,
        format: ReportFormat = "html",  # noqa: A002
    ) -> str:
        """Return the report of the release as the text of one file: for the public, or for the holder.

        Parameters
        ----------
        original : path or frame, optional
            The table that it was made from. The report is then for the holder only.
        attacks : bool
            Whether to attack the release, which takes a while. Needs the original.
        control : path or frame, optional
            People similar to those of the table who are not in the release, for attacks that need them.
        format : {"html", "md", "json"}

        Returns
        -------
        str
        """
        return self._making.reporter(self, original, attacks=attacks, control=control, format=format)

    def plot(self, column: str | None = None) -> Any:
        """Return pictures of the release and the original, one above the other, for a notebook: for the holder.

        Parameters
        ----------
        column : str, optional
            A released column; by default all quasi-identifiers.

        Returns
        -------
        Plot
            A notebook displays it; `.svg` has the picture of each column. It shows no number of rows from 1 to k - 1.
            Without the original, which a pickled release lacks, it shows the released values alone.
        """
        return self._making.plotter(self, column)

    def __repr__(self) -> str:
        """Describe the release by figures, never by values."""
        groups = self._making.partition.groups
        held = counted(len(self.verdicts), "guarantee")
        return f"<Release: {counted(self.table.num_rows, 'row')} in {counted(groups, 'group')}; {held} verified>"

    def _repr_html_(self) -> str:
        """Show what holds, what is exposed and what to do next; verdicts, notes and findings, without a cell value."""
        n, groups, k = self.table.num_rows, self._making.partition.groups, self.policy.constraints.k
        head = f"{n:,} rows in {counted(groups, 'group')}, by {html.escape(self.policy.method.name)}, k = {k}"
        left = f"<p>Left out: {counted(self.suppressed, 'row')} with missing values.</p>" if self.suppressed else ""
        verdicts = [
            (v.model, v.column or "", f"{v.asked:g}", f"{v.found:.6g}", "holds" if v.holds else "fails", v.note)
            for v in self.verdicts
        ]
        findings = [(f.name, f"{f.value:.6g}", f.how) for f in self.findings]
        return (
            f'<div style="max-width:60em"><p><b>shoal release</b>: {head}</p>'
            + html_parts.answer(self._making.answerer(self).lines("long"))
            + left
            + html_parts.rows(("guarantee", "column", ">required", ">found", "verdict", ""), verdicts)
            + html_parts.listed_notes(self.notes)
            + html_parts.fold(
                f"Findings ({len(findings)}), for the data holder",
                html_parts.rows(("finding", ">value", "how"), findings),
            )
            + "</div>"
        )
