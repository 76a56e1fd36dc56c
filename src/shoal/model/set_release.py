"""The result of anonymizing set-valued data: chunks, a neighbour, and what was found in them."""

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.errors import WriteError, counted
from shoal.model import html_parts
from shoal.model.disassociated import Disassociated
from shoal.model.findings import Finding, Verdict, value_of
from shoal.model.notes import Note
from shoal.model.options import with_options
from shoal.model.transactions import Transactions

Neighbour = Literal["km", "raw", "none"]


@dataclass(frozen=True, eq=False)
class SetRelease:
    """A verified release of set-valued data.

    Parameters
    ----------
    published : Disassociated
        The chunks, without a link between them.
    neighbour : Transactions or None
        Records drawn from the chunks, for tools that need plain records.
    kind : {"km", "raw", "none"}
        Whether the neighbour is itself k^m-anonymous, merely drawn, or absent.
    cluster_of : int64 array
        The published cluster of each input record, -1 for records without items. For the holder.
    seed : int
        Random seed. For the holder.
    verdicts : tuple of Verdict
    findings : tuple of Finding
    notes : tuple of Note
        What the holder should know; each is a text with a `kind`.
    """

    published: Disassociated
    neighbour: Transactions | None
    kind: Neighbour
    cluster_of: NDArray[np.int64]
    seed: int
    verdicts: tuple[Verdict, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...] = ()
    writer: Callable[..., Path] | None = field(default=None, repr=False)
    answerer: Callable[..., Any] | None = field(default=None, repr=False)

    def finding(self, name: str) -> float:
        """Return the value of one finding, such as "clusters"."""
        return value_of(self.findings, name)

    @with_options("save")
    def save(self, folder: str | Path, *, private: str | Path | None = None, format: str = "parquet") -> Path:  # noqa: A002
        """Write the release as a folder with its certificate, checked from its bytes before it appears.

        Parameters
        ----------
        folder : path
            Where to write the release. An earlier release there is replaced in one step.
        private : path, optional
            A second folder for what only the holder may see: the cluster of each record, and the findings.
        format : {"parquet", "json"}
            Five Parquet files, or one JSON file for small data.

        Returns
        -------
        Path
            The folder.
        """
        if self.writer is None:
            raise WriteError("write: this release was not made by `shoal.sets.anonymize`, so it cannot be written.")
        return self.writer(self, folder, private=private, format=format)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, for JSON; no item and no seed is among them."""
        return {
            "records": self.published.n,
            "clusters": self.published.clusters,
            "chunks": self.published.chunks,
            "neighbour": self.kind,
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "findings": [finding.as_dict() for finding in self.findings],
            "notes": [note.as_dict() for note in self.notes],
        }

    def __repr__(self) -> str:
        """Describe the release by figures, never by items."""
        size = f"{counted(self.published.n, 'record')} in {counted(self.published.clusters, 'cluster')}"
        return f"<SetRelease: {size}; {self.kind} neighbour>"

    def _repr_html_(self) -> str:
        """Show what holds, what is exposed and what to do next; verdicts, notes and findings, without an item."""
        first = "" if self.answerer is None else html_parts.answer(self.answerer(self).lines("long"))
        verdicts = [
            (v.model, f"{v.asked:g}", f"{v.found:.6g}", "holds" if v.holds else "fails", v.note) for v in self.verdicts
        ]
        findings = [(f.name, f"{f.value:.6g}", f.how) for f in self.findings]
        return (
            f'<div style="max-width:60em"><p>{html.escape(repr(self))}</p>{first}'
            + html_parts.rows(("guarantee", ">required", ">found", "verdict", ""), verdicts)
            + html_parts.listed_notes(self.notes)
            + html_parts.rows(("finding", ">value", "how"), findings)
            + "</div>"
        )
