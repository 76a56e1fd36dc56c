"""Generalization hierarchies of a policy: files and nested tables become trees."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import LONG, PolicyError, near
from shoal.model.policy import MOST_TEXT, Policy
from shoal.model.table import Table
from shoal.prepare.hierarchy import Hierarchy, from_nested, read_csv
from shoal.prepare.trees import WORDS, leaf_of


def given_trees(policy: Policy) -> dict[str, Hierarchy]:
    """Return the tree of each column for which the policy gives a file or nested tables."""
    found = {}
    for name, column in policy.columns.items():
        given, who = column.hierarchy, f"policy: column {name!r}"
        if isinstance(given, str) and given not in WORDS:
            found[name] = read_csv(_text(given, who), who)
        elif given is not None and not isinstance(given, str):
            found[name] = from_nested(given, who)
    return found


def with_values(policy: Policy, table: Table, trees: Mapping[str, Hierarchy]) -> Policy:
    """Return the policy with the tree of each sensitive column as nested tables of only those values that occur.

    The judge reads the trees from the published policy, which must not contain values that are not in the release.
    """
    columns = dict(policy.columns)
    for name in policy.names("sensitive"):
        given = policy.columns[name].hierarchy
        if given is None:
            continue
        if name not in trees:
            raise PolicyError(
                f"policy: column {name!r}: the hierarchy of a sensitive column must be a file or nested tables, "
                f"not a keyword; got {given!r}."
            )
        leaf_of(table.column(name), name, trees[name])
        used = set(table.column(name).cast(pa.string()).drop_null().unique().to_pylist())
        nested: dict[str, Any] = {}
        for value, path in trees[name].paths().items():
            if value in used:
                place = nested
                for node in reversed(path[1:-1]):
                    place = place.setdefault(node, {})
                place.setdefault("", []).append(value)
        alone = {value: [value] for value in nested.pop("", [])}
        tree = {**(_tidy(nested) or {}), **alone}
        columns[name] = policy.columns[name].model_copy(update={"hierarchy": tree})
    return policy.model_copy(update={"columns": columns})


def _tidy(nested: dict[str, Any]) -> Any:
    """Return nested tables with values in lists, followed by a table of the subtrees if there are both."""
    values = nested.get("", [])
    below = {name: _tidy(inner) for name, inner in nested.items() if name}
    return values if not below else [*values, below] if values else below


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
    if not there and (len(path) > LONG or any(mark in path for mark in "\n\r;")):
        # It may be the tree itself, with values of the column, and is not quoted.
        raise PolicyError(
            f"{who}: the hierarchy is neither an existing file nor one of the keywords {words}. Give the path of a CSV "
            "file, a keyword or nested tables."
        )
    what = "a text file in UTF-8" if there else "an existing file"
    raise PolicyError(
        f"{who}: hierarchy {path!r} is neither {what} nor one of the keywords {words}.{near(path, WORDS)}"
    )
