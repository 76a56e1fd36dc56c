"""Hierarchies: the values of a column as the leaves of a tree, whose nodes have labels that may be published.

A hierarchy comes from

* a CSV file as ARX and Amnesia write it: one line per value, from the value to the root, with or without a header
  (level0, level1 ...), separated by semicolons or commas;
* nested tables: `{Europe = ["France", "Spain"], Asia = ["Japan"]}`;
* the values themselves (`prepare.trees`): numbers, dates, codes.

It is validated on construction: a line of another length, a duplicate value, a label with two parents and a tree with
two roots are refused.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import PolicyError, counted
from shoal.model.column import MOST_LEVELS

ROOT = "*"

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree of values; the leaves below a node are adjacent."""

    names: tuple[str, ...]  # labels of all nodes, the leaves first, in tree order
    parent: Whole  # the node above each; -1 for the root
    leaves: int  # their number

    @cached_property
    def first(self) -> Whole:
        """The first leaf below each node."""
        return self._spans[0]

    @cached_property
    def last(self) -> Whole:
        """The last leaf below each node."""
        return self._spans[1]

    @cached_property
    def _spans(self) -> tuple[Whole, Whole]:
        first, last = np.full(len(self.names), self.leaves), np.full(len(self.names), -1)
        leaves = np.arange(self.leaves)
        for level in self.levels:
            np.minimum.at(first, level, leaves)
            np.maximum.at(last, level, leaves)
        return first, last

    @cached_property
    def steps(self) -> Floats:
        """The loss of the lowest node above each leaf and the next one: (leaves - 1) / (all leaves - 1)."""
        nodes = np.full(max(self.leaves - 1, 0), -1)
        for level in self.levels:
            both = (nodes < 0) & (level[:-1] == level[1:])
            nodes[both] = level[:-1][both]
        return np.asarray((self.last[nodes] - self.first[nodes]) / max(self.leaves - 1, 1), np.float64)

    def above(self, low: int, high: int) -> int:
        """Return the lowest node above both leaves."""
        node = low
        while self.last[node] < high:
            node = int(self.parent[node])
        return node

    def paths(self) -> dict[str, tuple[str, ...]]:
        """Return the labels above each value, from its own node to the root."""
        found = {}
        for leaf in range(self.leaves):
            names, node = [], leaf
            while node >= 0:
                names.append(self.names[node])
                node = int(self.parent[node])
            found[self.names[leaf]] = tuple(names)
        return found

    @cached_property
    def levels(self) -> Whole:
        """The node of each leaf at each level, from the leaves to the root; one row per level."""
        depth, nodes = self._depth, np.arange(self.leaves)
        deepest, rows = int(depth.max()), []
        for level in range(deepest + 1):
            nodes = np.where(depth[nodes] > deepest - level, self.parent[nodes], nodes)
            rows.append(nodes)
        return np.array(rows, np.int64)

    @cached_property
    def _depth(self) -> Whole:
        depth, above = np.zeros(len(self.names), np.int64), self.parent
        while (above >= 0).any():
            depth += above >= 0
            above = np.where(above >= 0, self.parent[above], -1)
        return depth


def read_csv(text: str, who: str) -> Hierarchy:
    r"""Return the hierarchy of the text of a CSV file, one line per value; `who` names it in messages.

    Examples
    --------
    >>> read_csv("Paris;France;*\nLyon;France;*\nRome;Italy;*\n", "towns").names
    ('Paris', 'Lyon', 'Rome', 'France', '*', 'Italy')
    """
    plain = text.lstrip("\ufeff")
    # Semicolons, unless commas make lines of equal length and semicolons do not.
    lines, wrong = _read(plain, ";")
    if wrong or _ragged(lines):
        others, wrong_too = _read(plain, ",")
        if not wrong_too and not _ragged(others):
            lines, wrong = others, 0
    if wrong:
        raise PolicyError(f"{who}: line {wrong} of the hierarchy cannot be read as CSV. Check its quotes.")
    if lines and all(cell.strip().lower() == f"level{place}" for place, cell in enumerate(lines[0][1])):
        lines = lines[1:]
    if lines and len(lines[0][1]) > MOST_LEVELS + 2:
        raise PolicyError(f"{who}: the hierarchy has more than {MOST_LEVELS} levels.")
    return from_lines([line for _, line in lines], who, [number for number, _ in lines])


def _read(text: str, delimiter: str) -> tuple[list[tuple[int, list[str]]], int]:
    """Return the lines of a CSV file with their numbers, and the number of one that cannot be read, or 0."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        return [(reader.line_num, line) for line in reader if line], 0
    except csv.Error:
        return [], max(1, reader.line_num)


def _ragged(lines: list[tuple[int, list[str]]]) -> bool:
    """Return whether lines have different lengths, or one cell each."""
    return len({len(line) for _, line in lines}) != 1 or len(lines[0][1]) == 1


def from_lines(lines: Sequence[Sequence[str]], who: str, numbers: Sequence[int] | None = None) -> Hierarchy:
    """Return the hierarchy of lines from a value to the root; `numbers` are their line numbers in a file."""
    if not lines:
        raise PolicyError(
            f"{who}: the hierarchy is empty. Give a line for each value: the value, what it belongs to, *."
        )
    width = len(lines[0])
    wrong = [place for place, line in enumerate(lines) if len(line) != width]
    if wrong:
        first = numbers[wrong[0]] if numbers else wrong[0] + 1
        raise PolicyError(
            f"{who}: line {first} of the hierarchy does not have {width} cells, as the first line does "
            f"({counted(len(wrong), 'such line')}). Repeat a label where a value has fewer levels."
        )
    _check(lines, who)
    return _tree(lines)


def from_nested(given: Mapping[str, Any] | Sequence[Any], who: str) -> Hierarchy:
    """Return the hierarchy of nested tables; the values are in lists.

    Examples
    --------
    >>> from_nested({"Europe": ["France", "Spain"], "Asia": {"East": ["Japan"]}}, "countries").leaves
    3
    """
    lines = [[*reversed(path), ROOT] for path in _paths(given, [], who)]
    deepest = max((len(line) for line in lines), default=0)
    # A value with fewer levels than others repeats itself at some of them.
    return from_lines([[line[0]] * (deepest - len(line)) + line for line in lines], who)


def _paths(given: Any, above: list[str], who: str) -> Iterable[list[str]]:
    """Return the labels from the root to each value."""
    if len(above) > MOST_LEVELS:
        raise PolicyError(f"{who}: the hierarchy has more than {MOST_LEVELS} levels.")
    if isinstance(given, Mapping):
        for name, below in given.items():
            yield from _paths(below, [*above, str(name)], who)
    elif isinstance(given, Sequence) and not isinstance(given, str):
        for below in given:
            if isinstance(below, Mapping):
                yield from _paths(below, above, who)
            elif isinstance(below, Sequence) and not isinstance(below, str):
                raise PolicyError(f"{who}: a list of the hierarchy is inside another list. Give the inner one a label.")
            else:
                yield [*above, _text(below)]
    else:
        raise PolicyError(f"{who}: the values of a hierarchy must be in lists, such as Europe = ['France', 'Spain'].")


def _text(value: Any) -> str:
    """Return a value as it is written in a table."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check(lines: Sequence[Sequence[str]], who: str) -> None:
    """Refuse lines that do not form a tree."""
    values = [line[0] for line in lines]
    twice = len(values) - len(set(values))
    if twice:
        raise PolicyError(f"{who}: the hierarchy repeats {counted(twice, 'value')}. Give each value one line only.")
    nameless = sum("" in line[1:] for line in lines)
    if nameless:
        raise PolicyError(
            f"{who}: the hierarchy has an empty cell in {counted(nameless, 'line')}. Repeat the preceding label there."
        )
    invalid = sum(not _writable(name) for line in lines for name in line)
    if invalid:
        raise PolicyError(
            f"{who}: the hierarchy has {counted(invalid, 'label')} with unpaired surrogates, which no file can store."
        )
    roots = {line[-1] for line in lines}
    if len(roots) > 1:
        raise PolicyError(
            f"{who}: the lines of the hierarchy end in {len(roots)} different labels. "
            "End all of them in the same label, such as *."
        )
    levels: dict[str, set[int]] = {}
    for line in lines:
        for level, name in enumerate(line):
            levels.setdefault(name, set()).add(level)
    scattered = sum(max(where) - min(where) >= len(where) for where in levels.values())
    if scattered:
        raise PolicyError(
            f"{who}: the hierarchy has {counted(scattered, 'label')} at two levels with another label in between. "
            "Give each label one place."
        )
    above: dict[str, str | None] = dict.fromkeys(roots)
    ambiguous = set()
    for line in lines:
        for level, (name, over) in enumerate(pairwise(line)):
            if name != over and above.setdefault(name, over) != over:
                ambiguous.add(level)
    if ambiguous:
        raise PolicyError(
            f"{who}: at level {min(ambiguous)} of the hierarchy one label is below two different labels. "
            "Give each label one place, or rename one of the two."
        )


def _tree(lines: Sequence[Sequence[str]]) -> Hierarchy:
    """Return the tree of lines of equal length."""
    paths = [_once(line) for line in lines]
    inner = {name for path in paths for name in path[1:]}
    # A value that is also a parent is a leaf below the node of its own label.
    paths = [[path[0], *path] if path[0] in inner else path for path in paths]
    # Leaves below a label are made adjacent, in order of appearance.
    rank: dict[str, int] = {}
    for name in (name for path in paths for name in path):
        rank.setdefault(name, len(rank))
    paths.sort(key=lambda path: [rank[name] for name in reversed(path)])
    names, parent = [path[0] for path in paths], [-1] * len(paths)
    node: dict[str, int] = {}
    for leaf, path in enumerate(paths):
        below = leaf
        for name in path[1:]:
            if name not in node:
                node[name] = len(names)
                names.append(name)
                parent.append(-1)
            parent[below] = node[name]
            below = node[name]
    return Hierarchy(tuple(names), np.array(parent, np.int64), len(paths))


def _writable(name: str) -> bool:
    """Return whether a label can be written as UTF-8: unpaired surrogates cannot."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def _once(line: Sequence[str]) -> list[str]:
    """Return the labels of a line without consecutive duplicates."""
    return [name for place, name in enumerate(line) if not place or name != line[place - 1]]
