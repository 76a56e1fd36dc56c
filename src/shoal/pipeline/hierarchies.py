"""Hierarchies that a policy gives: files are read here, nested tables and files become trees."""

from pathlib import Path

from shoal.errors import PolicyError
from shoal.model.policy import MOST_TEXT, Policy
from shoal.prepare.hierarchy import Hierarchy, from_nested, read_csv
from shoal.prepare.trees import WORDS

__all__ = ["given_trees"]


def given_trees(policy: Policy) -> dict[str, Hierarchy]:
    """Return the tree of each column for which the policy gives one, by a file or by nested tables."""
    found = {}
    for name, column in policy.columns.items():
        given, who = column.hierarchy, f"policy: column {name!r}"
        if isinstance(given, str) and given not in WORDS:
            found[name] = read_csv(_text(given, who), who)
        elif given is not None and not isinstance(given, str):
            found[name] = from_nested(given, who)
    return found


def _text(path: str, who: str) -> str:
    """Return the text of a file, or say why it cannot be read."""
    where, there = Path(path), False
    try:
        there = where.exists()
        if where.is_file() and where.stat().st_size <= MOST_TEXT:
            return where.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        pass
    words = ", ".join(WORDS)
    what = "a text file in UTF-8" if there else "a file that there is"
    raise PolicyError(f"{who}: hierarchy {path!r} is neither {what} nor one of the words {words}.")
