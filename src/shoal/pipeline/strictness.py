"""Strictness: refuse a table that is not the one its policy was written for, and releases with certain notes.

A policy is usually written once and used for every delivery of a table. A column that was added since would be a
quasi-identifier by default, and one whose type changed would be treated by its new type.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from shoal.errors import PolicyError, kind_of, listed
from shoal.model.asking import argument
from shoal.model.notes import Note, known_kinds
from shoal.model.policy import Column, Policy
from shoal.model.table import Table
from shoal.prepare.profile import ColumnFacts, Profile

DROPPED = "direct-identifier"  # the kind of the note on columns that are dropped by default


@dataclass(frozen=True)
class Strictness:
    """What is refused: columns that differ from the policy, and kinds of notes."""

    columns: bool = False
    notes: frozenset[str] = frozenset()

    @classmethod
    def of(cls, strict: Any, notes: Any) -> "Strictness":
        """Check the options `strict` and `strict_notes`."""
        if not isinstance(strict, bool):
            raise PolicyError(f"anonymize: {argument('strict')} must be True or False; got {kind_of(strict)}.")
        kinds = known_kinds(notes, "anonymize", "strict_notes")
        return cls(strict, kinds | {DROPPED} if strict else kinds)

    def check_columns(self, policy: Policy, table: Table, facts: Profile) -> None:
        """Refuse columns that the policy does not name, and columns of another kind than it states."""
        if not self.columns:
            return
        new = [found.name for found in facts.columns if found.name not in policy.columns]
        named = f"columns {listed(new)} are" if len(new) > 1 else f"column {listed(new)} is"
        wrong = [f"{named} not named in the policy"] if new else []
        for found in facts.columns:
            given = policy.columns.get(found.name)
            if given is not None and _changed(given, found, table):
                wrong.append(f"column {found.name!r} is {found.kind} ({found.type}), not {given.kind} as in the policy")
        if wrong:
            raise PolicyError(
                f"strict: the table differs from the policy: {'; '.join(wrong)}. Nothing was written. Correct the "
                f"policy or the table, or leave {argument('strict')} out."
            )

    def check_notes(self, notes: Iterable[Note]) -> None:
        """Refuse notes of the kinds that were named."""
        refused = [note for note in notes if note.kind in self.notes]
        if refused:
            kinds = listed(dict.fromkeys(note.kind for note in refused))
            said = " ".join(f"Note: {one}" for one in refused)
            raise PolicyError(f"strict: notes of these kinds are refused, and nothing was written: {kinds}. {said}")


def _changed(given: Column, found: ColumnFacts, table: Table) -> bool:
    """Return whether a column is of another kind than its policy states, beyond what a policy may restate.

    Whole numbers and dates may be categories, text may have two values, levels have any type, and cells are read as
    numbers, dates or sets where the policy says how: `arrange` refuses those that are not.
    """
    if given.kind in (None, "ordinal", found.kind) or found.missing == table.n:
        return False
    whole = pa.types.is_integer(table.column(found.name).type)
    if given.kind == "nominal":
        return not (whole or found.kind == "date")
    if given.kind == "boolean":
        return not (whole or found.kind == "nominal")
    if given.kind == "set":
        return given.separator is None
    return not any(isinstance(code, str) for code in given.missing_codes or ())
