"""Notes for the data holder before publishing, without cell values.

They are listed in this order: what identifies someone or reveals a value, what is lost, how the release was made.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.catalogue import attacks, measures, models
from shoal.model.findings import Finding
from shoal.model.notes import Note, as_note
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.sentences import Rows, Sentence, few, for_page
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.oddities import unread_dates
from shoal.privacy.attacks.unchanged import exposed_by
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.values import Values
from shoal.recode.steps import has_extremes
from shoal.recode.table import Recoded
from shoal.recode.truthful import hidden_categories
from shoal.utility.labels import columns_that_decide_label

USUAL = ("encoding utf-8", "delimiter comma")
EMPTIED = (
    "column {name}: {emptied} of its {n} cells are published as missing, because too few rows share their values. If "
    'the column matters, give it another kind or role, or publish ranges or sets (output = "truthful").'
)
UNREAD = " Its values look like dates, but are not read as dates: write them like 2024-01-31 before the release."


def unusual(table: Table) -> tuple[Note, ...]:
    """Return how the file was read, if that is unusual."""
    return tuple(Note("reading", f"reading: {note}") for note in table.origin.notes if note not in USUAL)


def of_method(notes: Iterable[str], n: int, k: int, *, built_in: bool) -> tuple[Note, ...]:
    """Return the notes of a method; those of a plug-in without numbers of unknown meaning."""
    if built_in:
        return tuple(map(as_note, notes))
    parts = [(note.fact, note.remedy) for note in map(as_note, notes)]
    sound = [(fact, more) for fact, more in parts if for_page(fact, n, k) and (not more or for_page(more, n, k))]
    return tuple(Note("method", fact, more) for fact, more in sound)


def with_plug_in(ours: tuple[Finding, ...], partition: Partition) -> tuple[Finding, ...]:
    """Return our findings, and those of a plug-in's method that have no name of ours."""
    sections = (measures, attacks, models)
    reserved = {name for section in sections for name in (*section.built_in, *section.aliases)}
    reserved |= {name for one in ours for name in (one.name, one.measure)}
    return (*ours, *(one for one in partition.findings if not {one.name, one.measure} & reserved))


def ended_early(seconds: float | None, *, cut: bool) -> tuple[Note, ...]:
    """Return a note if the time budget was used up."""
    if not cut or seconds is None:
        return ()
    again = "another run may give different groups, and a larger budget a lower information loss"
    return (Note("budget", f"a budget of {seconds:g} s ended the search early: {again}."),)


def extremes(table: Table, policy: Policy) -> tuple[Note, ...]:
    """Return a warning for columns published as means or ranges in which a few values are far from all others."""
    k = policy.constraints.k
    return tuple(
        Note(
            "extremes",
            f"column {name!r} is published as {form}s, and a few of its values are far from all others: the {form}s of "
            "their classes reveal roughly how large they are. Cap such values before the release.",
        )
        for name in policy.names("quasi")
        if (form := policy.columns[name].form) in ("mean", "range")
        and policy.columns[name].kind in ("numeric", "date")
        and has_extremes(table.column(name), k)
    )


def hidden(table: Table, policy: Policy) -> tuple[Note, ...]:
    """Return a note for columns published as sets in which a category of k rows or more is hidden with rare ones."""
    notes, k = [], policy.constraints.k
    for name in policy.names("quasi"):
        if policy.columns[name].form == "set":
            cells = table.column(name).drop_null()
            counts = np.asarray(pc.value_counts(cells.combine_chunks()).field("counts"), dtype=np.int64)
            if (hidden_categories(counts, k) & (counts >= k)).any():
                note = (
                    f"column {name!r}: its rare categories, each in fewer than {k} rows, are in too few rows to be "
                    "published together as *. So a more frequent category is published as * with them. To keep it, "
                    "merge the rare categories into others before the release, or use a hierarchy."
                )
                notes.append(Note("frequent-category-hidden", note))
    return tuple(notes)


def about_labels(table: Table, policy: Policy) -> tuple[Note, ...]:
    """Return a warning for columns that determine the label, so that figures about it mean little."""
    return tuple(
        Note(
            "copy-of-label",
            f"column {name!r} alone determines the label: it may be a copy of the label or derived from it. If so, "
            "make it an identifier, or sensitive.",
        )
        for name in columns_that_decide_label(table, policy)
    )


def respelt(sensitive: Mapping[str, Values]) -> tuple[Note, ...]:
    """Return how many spellings of sensitive values were counted as the same value."""
    return tuple(
        Note(
            "spelling",
            f"column {name!r}: {column.folded:,} variant spelling{' was' if column.folded == 1 else 's were'} counted "
            "together with another spelling of the same value, which differs in case, in spaces, or in how a letter, a "
            "number or a missing value is written. All are published unchanged. To count them separately, set "
            'spelling = "exact" for the column.',
        )
        for name, column in sensitive.items()
        if column.folded
    )


def left_out(encoded: Encoded) -> tuple[Note, ...]:
    """Return what does not count in the distances."""
    return tuple(as_note(note, "left-out-of-distances") for note in encoded.notes)


def warnings(recoded: Recoded, policy: Policy, findings: tuple[Finding, ...], case: Case) -> list[Note]:
    """Return what the data holder should know before publishing."""
    found = {finding.name: finding.value for finding in findings}
    emptied = [
        Note(
            "cells-emptied",
            Sentence(
                EMPTIED + UNREAD * _of_unread_dates(case, change.column),
                name=repr(change.column),
                emptied=Rows(change.emptied),
                n=recoded.data.num_rows,
            ),
        )
        for change in recoded.ledger
        if change.emptied * 10 >= recoded.data.num_rows
    ]
    notes = [*_unchanged(case), *(Note("plug-in-failed", fault) for fault in case.faults.values())]
    medoids = [name for name in policy.names("quasi") if policy.columns[name].form == "medoid"]
    if len(medoids) > 1:
        note = (
            "classes are published as medoids, which are rows of the table: anyone who knows a person's complete "
            "combination can see that they are in it. The form 'representative' publishes no original rows."
        )
        notes.append(Note("medoids", note))
    unlimited = policy.constraints.l is None and (policy.constraints.t or 1.0) >= 1.0  # t = 1 allows everything
    if policy.names("sensitive") and unlimited:
        notes.append(
            Note(
                "no-limit-on-sensitive",
                "sensitive columns are published unchanged;",
                "only l or t limits what a class reveals about its rows.",
            )
        )
    one = found.get("classes of one label %", 0.0)
    if one >= 1 and unlimited:
        note = (
            f"{one:.0f}% of the classes have a single label: it is revealed for anyone known to be in such a class. "
            "If that matters, make the label sensitive and set l or t."
        )
        notes.append(Note("one-label", note))
    if policy.protect is not None and len(policy.names("sensitive")) > 1:
        note = "protection from minimality treats sensitive columns separately, not what they reveal together."
        notes.append(Note("protection", note))
    if found["classes"] == 1:
        notes.append(Note("one-class", "all rows are in one class: the release says nothing specific about anyone."))
    return notes + emptied


def _of_unread_dates(case: Case, name: str) -> bool:
    """Return whether a column of the original is text that looks like dates but is not read as dates."""
    if case.original is None or case.policy.columns[name].kind != "nominal":
        return False
    cells = case.original.column(name)
    text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
    return bool(text) and unread_dates(cells.drop_null().unique())


def _unchanged(case: Case) -> list[Note]:
    """Return what the columns published unchanged reveal, if any value or combination is rare."""
    found, k = exposed_by(case), case.policy.constraints.k
    notes: list[Note] = []
    if found.alone:
        alone = (
            f"{few(found.alone, case.n, k)} of {case.n:,} rows are unique in the columns that are published unchanged, "
            "sensitive and kept together. Anyone who knows these values of a person can find the row."
        )
        notes.append(Note("unique-rows", alone))
    for name in found.rare:
        rare = (
            f"column {name!r} is published unchanged and has rare values, each in fewer than {k} rows. Anyone who "
            "knows that a person has such a value can narrow them down to these few rows."
        )
        remedy = (
            f"Merge rare values of {name!r} into broader ones before the release, or make the column a "
            "quasi-identifier."
        )
        notes.append(Note("rare-values", rare, remedy))
    return notes
