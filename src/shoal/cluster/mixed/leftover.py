"""Leftover: rows of a mixed table without a group, and groups that violate a requirement.

1. Each row without a group joins, among the groups of its closest rows and theirs, the one where it costs least and
   violates nothing. Where these are unknown or none is suitable, random groups are tried, or all of them if there are
   not too many. Rows that find none are a group of their own.
2. A group that has fewer than k rows or violates the limits is merged with the cheapest of some hundred random groups,
   until none is left.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.inputs import Rows
from shoal.cluster.mixed.closest import Near
from shoal.cluster.search.limits import Limits, Rules, meets_in
from shoal.kernels.columns import Columns, Hulls, add, clear, hulls_of, join_loss, loss
from shoal.kernels.loops import callable_inner_loop, inner_loop

ASKED = 400  # least number of groups compared with a row or a failing group
WORK = 4_000_000  # comparisons of rows with groups, if there are few rows


def placed(
    columns: Columns, labels: Rows, near: Near | None, k: int, limits: Limits | None, rng: np.random.Generator
) -> Rows:
    """Return labels in which every row has a group and no group violates anything.

    If even all rows as one group violate something, they are that group. Groups are numbered from 0 up, and a row
    without one has -1. The labels are modified in place.
    """
    groups = int(labels.max()) + 1
    rules = None if limits is None else limits.rules
    waiting = np.flatnonzero(labels < 0)
    if groups > 0 and waiting.size:
        chain, head = chained(labels, groups)
        most = int(np.bincount(labels[labels >= 0]).max()) + waiting.size
        scratch = hulls_of(columns, 1), np.zeros(most, np.int64), np.zeros(most, np.int32)
        asked = np.sort(rng.permutation(groups)[: max(ASKED, WORK // max(1, waiting.size))])
        close = np.zeros((labels.size, 0), np.int32) if near is None else near
        _join(_LinkedGroups(columns, chain, head, *scratch), rules, labels, close, asked, waiting)
    labels[labels < 0] = groups
    return _mended(columns, labels, k, limits, rng)


def chained(labels: Rows, groups: int) -> tuple[Rows, Rows]:
    """Return the next row of the same group for each row, and the first row of each group; -1 where there is none."""
    chain, head = np.full(labels.size, -1, np.int64), np.full(groups, -1, np.int64)
    _chain(labels, chain, head)
    return chain, head


@callable_inner_loop
def _chain(labels: Rows, chain: Rows, head: Rows) -> None:
    """Link each row to the next one of its group."""
    for row in range(labels.size - 1, -1, -1):
        group = labels[row]
        if group >= 0:
            chain[row], head[group] = head[group], row


def _mended(columns: Columns, labels: Rows, k: int, limits: Limits | None, rng: np.random.Generator) -> Rows:
    """Merge groups that violate a requirement with others until none does."""
    if limits is None and np.bincount(labels).min() >= k:
        return labels
    members = list(np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1]))
    failing = [g for g, rows in enumerate(members) if rows.size < k or (limits is not None and not limits.met(rows))]
    alive = np.ones(len(members), bool)
    hulls = hulls_of(columns, 1)
    while failing and alive.sum() > 1:
        group = failing.pop()
        if not alive[group]:
            continue
        others = np.flatnonzero(alive)
        others = others[others != group]
        if others.size > ASKED:
            others = np.sort(rng.choice(others, ASKED, replace=False))
        rises = [
            _cost(columns, hulls, np.concatenate([members[group], members[other]]))
            - _cost(columns, hulls, members[other])
            for other in others
        ]
        best = int(others[int(np.argmin(rises))])
        members[best] = np.concatenate([members[best], members[group]])
        alive[group] = False
        if members[best].size < k or (limits is not None and not limits.met(members[best])):
            failing.append(best)
    found = np.empty_like(labels)
    for number, kept in enumerate(np.flatnonzero(alive)):
        found[members[kept]] = number
    return found


@callable_inner_loop
def _cost(columns: Columns, hulls: Hulls, rows: Rows) -> float:
    """Return the cost of these rows as one group."""
    clear(columns, hulls, 0)
    for row in rows:
        add(columns, hulls, 0, row)
    return rows.size * loss(columns, hulls, 0)


class _LinkedGroups(NamedTuple):
    """Groups as linked lists of rows, and working arrays for the hull, rows and values of one of them."""

    columns: Columns
    chain: Rows
    head: Rows
    hulls: Hulls
    members: Rows
    values: NDArray[np.int32]


@callable_inner_loop
def _join(linked: _LinkedGroups, rules: Rules | None, labels: Rows, near: Near, asked: Rows, waiting: Rows) -> None:
    """Let rows join groups of their closest rows, or others."""
    chain, head = linked.chain, linked.head
    for row in waiting:
        best, home, last = np.inf, -1, -1
        for c in range(near.shape[1]):
            one = near[row, c]
            if one < 0:
                break
            for e in range(-1, near.shape[1]):
                other = one if e < 0 else near[one, e]
                if other >= 0 and labels[other] >= 0 and labels[other] != last and labels[other] != home:
                    last = int(labels[other])
                    best, home = _better(linked, rules, row, last, best, home)
        if home < 0:
            for group in asked:
                best, home = _better(linked, rules, row, group, best, home)
        if home >= 0:
            labels[row] = home
            chain[row], head[home] = head[home], row


@inner_loop
def _better(
    linked: _LinkedGroups, rules: Rules | None, row: int, group: int, best: float, home: int
) -> tuple[float, int]:
    """Return the increase of cost and the group where a row costs less: the best so far, or this one if it may join."""
    columns, chain, head, hulls, members, values = linked
    clear(columns, hulls, 0)
    size, at = 0, head[group]
    while at >= 0:
        add(columns, hulls, 0, at)
        members[size] = at
        size, at = size + 1, chain[at]
    rise = (size + 1) * join_loss(columns, hulls, 0, row, np.inf) - size * loss(columns, hulls, 0)
    if rise < best or (rise == best and group < home):
        members[size] = row
        if rules is None or meets_in(rules, members, size + 1, values):
            return rise, group
    return best, home
