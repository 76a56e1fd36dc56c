"""Notes to the data holder that know what they are about, so that they can be sorted, and shortened where they repeat.

A plain text is a note as well, and less important than any of these.
"""

from collections.abc import Iterable
from typing import Literal, get_args

# The most important first.
Topic = Literal["attacks", "identifier", "alone", "repetition", "rare", "unlimited", "unchanged", "risk"]


class Note(str):
    """A text of two parts: a fact about the release on this topic, and what to do about it.

    Where the fact has been stated already, `remedy` is what remains to be said.

    Examples
    --------
    >>> note = Note("column 'town' has rare values.", "Merge them.", "rare")
    >>> str(note), note.remedy
    ("column 'town' has rare values. Merge them.", 'Merge them.')
    """

    remedy: str
    topic: Topic
    fact: str

    def __new__(cls, fact: str, remedy: str, topic: Topic) -> "Note":
        """Write the note with both parts."""
        made = super().__new__(cls, f"{fact} {remedy}".strip())
        made.fact, made.remedy, made.topic = fact, remedy, topic
        return made

    def __getnewargs__(self) -> tuple[str, str, Topic]:  # type: ignore[override]
        """Return the parts of the note, so that it survives pickling."""
        return self.fact, self.remedy, self.topic


def by_importance(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes with the most important topics first, and otherwise in their order."""
    topics = get_args(Topic)
    return tuple(sorted(notes, key=lambda one: topics.index(one.topic) if isinstance(one, Note) else len(topics)))
