"""Notes: sentences for the data holder, each of a kind that programs can test.

A note is its text; `kind` is one of `KINDS` and does not change with the wording. No code reads the text. By their
kinds, notes are sorted, shortened where they repeat what was said, and refused by strict runs.
"""

from collections.abc import Iterable
from typing import Any

from shoal.errors import PolicyError, listed, near
from shoal.model.asking import one_or_several
from shoal.model.sentences import Sentence

# What each kind of note says.
KINDS = {
    "auto-choice": "the method that `auto` chose, and why",
    "budget": "the time budget ended a search early",
    "cells-emptied": "a tenth or more of the cells of a column are published as missing",
    "codes-for-missing": "some cells look like codes for missing values",
    "copy-of-label": "a column alone determines the label",
    "direct-identifier": "a column was dropped because it looks like a direct identifier and has no role",
    "extremes": "a few values far from all others show in means or ranges",
    "form": "the form of a column is not used, or not truthful",
    "frequent-category-hidden": "a frequent category is published as `*` with rare ones",
    "groups-merged": "groups were merged to meet constraints that the method ignores",
    "ignored-by-method": "row weights or views that the method ignores",
    "items-not-named": "items in no chunk are not named",
    "items-repeated": "items that occurred twice in a record were counted once",
    "left-out-of-distances": "a column, or a part of it, does not count when groups are formed",
    "medoids": "classes are published as rows of the table",
    "method": "what the method reports about itself",
    "minimality": "the groups depend on sensitive values",
    "missing-page": "a report or a picture could not be drawn, or lacks its original",
    "neighbour-raw": "the neighbour is not itself k^m-anonymous",
    "no-limit-on-sensitive": "there are sensitive columns, but neither l nor t",
    "one-class": "all rows are in one class",
    "one-label": "classes in which all rows have the same label",
    "plug-in-failed": "a measure of a plug-in failed and is left out",
    "possible-code": "numbers that are published per class may be codes",
    "protection": "what the protection from minimality leaves open",
    "published-identifier": "a column looks like a direct identifier, but is published because of its role",
    "rare-values": "a column that is published unchanged has rare values",
    "reading": "how the input was read, if that is unusual",
    "records-left-out": "records without items are not part of the release",
    "risk-allowed": "a risk that the parameters of a release of sets allow",
    "row-number": "a quasi-identifier contains row numbers",
    "spelling": "different spellings of a sensitive value were counted together",
    "text-dates": "text that looks like dates",
    "unique-rows": "rows that are unique in the columns published unchanged",
    "unlisted-column": "an unlisted column looks like an identifier or sensitive, and is a quasi-identifier by default",
}


# Kinds that come first among the notes of a release, the most important first.
FIRST = (
    "published-identifier",
    "row-number",
    "unique-rows",
    "minimality",
    "rare-values",
    "no-limit-on-sensitive",
)


class Note(str):
    """A fact about the release, of a kind that programs can test, and what to do about it if that is a separate part.

    It compares and prints as its text. Where the fact has been stated already, `remedy` is what remains to be said. A
    fact that is a `Sentence` keeps what its numbers count until the note is `suppressed`.

    Examples
    --------
    >>> note = Note("rare-values", "column 'town' has rare values.", "Merge them.")
    >>> note.kind, str(note), note.remedy
    ('rare-values', "column 'town' has rare values. Merge them.", 'Merge them.')
    """

    kind: str
    fact: str
    remedy: str

    def __new__(cls, kind: str, fact: str, remedy: str = "") -> "Note":
        """Make a note of one of the known kinds."""
        if kind not in KINDS:
            raise ValueError(f"unknown kind of note: {kind}")
        made = super().__new__(cls, f"{fact} {remedy}".strip())
        made.kind, made.fact, made.remedy = kind, fact, remedy
        return made

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        """Return the parts of the note, so that it survives copying and pickling."""
        return self.kind, self.fact, self.remedy

    def suppressed(self, n: int, k: int) -> "Note":
        """Return the note without numbers that reveal fewer than k rows, for a release of n rows."""
        return Note(self.kind, self.fact.suppressed(n, k), self.remedy) if isinstance(self.fact, Sentence) else self

    def as_dict(self) -> dict[str, Any]:
        """Return kind and text, for JSON."""
        return {"kind": self.kind, "text": str(self)}


def as_note(said: str, kind: str = "method") -> Note:
    """Return a note as it is, and any other text as a note of this kind."""
    return said if isinstance(said, Note) else Note(kind, said)


def text_of(stored: Any) -> str:
    """Return the text of a note from JSON: an object, or plain text as earlier versions wrote it."""
    return str(stored["text"] if isinstance(stored, dict) else stored)


def known_kinds(given: Any, who: str, name: str) -> frozenset[str]:
    """Return kinds of notes that were given as an option, or refuse an unknown one; `who` begins the message."""
    kinds = one_or_several(given, who, name)
    for kind in kinds:
        if kind not in KINDS:
            raise PolicyError(
                f"{who}: unknown kind of note {kind!r}. Known: {listed(KINDS, len(KINDS))}.{near(kind, KINDS)}"
            )
    return frozenset(kinds)


def by_importance(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return notes with the most important kinds first, and otherwise in their order."""
    return tuple(sorted(notes, key=lambda one: FIRST.index(one.kind) if one.kind in FIRST else len(FIRST)))
