"""A release: the new values, what the judge found in them, and what was changed."""

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import listed
from shoal.model.findings import Finding, Verdict
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.sketches import Sketch

__all__ = ["Change", "Release"]


@dataclass(frozen=True)
class Change:
    """The ledger's line for one column: cells changed, filled where a value was missing, and emptied."""

    column: str
    role: str
    form: str
    changed: int
    filled: int
    emptied: int


@dataclass(frozen=True, eq=False)
class Release:
    """What `shoal.anonymize` gives back.

    Attributes
    ----------
    data : frame
        The released rows as the caller's type of frame, in the order of the input rows. For the
        holder's eyes: row order tells who is who. What `save` writes is ordered by its own values.
    table : pyarrow.Table
        The released rows in the order in which they are written.
    rows : int64 array
        The input row behind each row of `data` (all of them, unless rows with gaps were suppressed).
    labels : int64 array
        The group of each row of `data`.
    policy : Policy
        The policy with every column named.
    verdicts : tuple of Verdict
    findings : tuple of Finding
    ledger : tuple of Change
    suppressed : int
        Rows left out because of missing values.
    notes : tuple of str
        What the holder should know: columns that look like identifiers, for instance.
    sketches, sketched : tuples
        Figures for the pictures of the private folder, and the columns that they speak of.
    """

    data: Any
    table: pa.Table
    rows: NDArray[np.int64]
    position: NDArray[np.int64]
    partition: Partition
    policy: Policy
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    ledger: tuple[Change, ...]
    suppressed: int
    inputs: int
    format: str
    notes: tuple[str, ...] = ()
    sketches: tuple[Sketch, ...] = ()
    sketched: tuple[str, ...] = ()
    writer: Callable[..., Path] | None = field(default=None, repr=False)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The group of each row of `data`."""
        return self.partition.labels

    def finding(self, name: str) -> float:
        """Return the value of one finding."""
        found = {finding.name: finding.value for finding in self.findings}
        if name not in found:
            raise KeyError(f"there is no finding {name!r}; there are {listed(found)}")
        return found[name]

    def save(
        self,
        folder: str | Path,
        *,
        private: str | Path | None = None,
        format: str | None = None,  # noqa: A002
    ) -> Path:
        """Write the release as a folder with its certificate, checked from its bytes before it appears.

        Parameters
        ----------
        folder : path
            Where the release goes. An earlier release there is replaced in one step.
        private : path, optional
            A second folder for what only the holder may see: the map of rows and the findings.
        format : {"csv", "csv.gz", "parquet", "feather"}, optional
            The format of the data file; that of the input if not given, Parquet for frames.

        Returns
        -------
        Path
            The folder.
        """
        if self.writer is None:
            raise RuntimeError("this release was not made by shoal's line and cannot be written")
        return self.writer(self, folder, private=private, format=format)

    def __repr__(self) -> str:
        """Name the release by its figures, never by its values."""
        return f"<Release: {self.partition.n} rows in {self.partition.groups} groups; {len(self.verdicts)} x verified>"

    def _repr_html_(self) -> str:
        """Show verdicts and findings in a notebook, without a single cell value."""
        return (
            f"<div><p><b>shoal release</b>: {self.partition.n} rows in {self.partition.groups} groups</p>"
            + _rows(
                ("guarantee", "column", "asked", "found", "verdict"),
                [
                    (
                        v.model,
                        v.column or "",
                        f"{v.asked:g}",
                        f"{v.found:.6g}",
                        "holds" if v.holds else "fails",
                    )
                    for v in self.verdicts
                ],
            )
            + _rows(("finding", "value", "how"), [(f.name, f"{f.value:.6g}", f.how) for f in self.findings])
            + "".join(f"<p>Note: {html.escape(note)}</p>" for note in self.notes)
            + "</div>"
        )


def _rows(head: tuple[str, ...], body: list[tuple[str, ...]]) -> str:
    """Return an HTML table."""
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
    return "<table><tr>" + "".join(f"<th>{cell}</th>" for cell in head) + f"</tr>{lines}</table>"
