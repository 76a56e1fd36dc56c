"""Exact and near combinations: whether people whose combination of values is published are in the table.

The attacker has a register of people: the members of the table and people who are not in it (the control). A class is
published as one combination of quasi-identifiers. If this is the combination of a real person, the only one in the
register who has it must be a member, and everyone who has it is a member more often than by chance.

1. **Exact combination**: people who have a published combination.
2. **Near combination**: people who have none, but differ from one in a single cell.

Only values that can be compared for equality form a combination: columns that are published by range, set or tree are
left out.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attack
from shoal.model.asking import either
from shoal.model.column import Kind
from shoal.model.findings import Attack
from shoal.model.sentences import Sentence, Share
from shoal.privacy.attacks.attack import FEW, Clock, Profile, concluded
from shoal.privacy.attacks.singling import control_case
from shoal.privacy.measures.case import Case
from shoal.privacy.measures.intervals import wilson
from shoal.privacy.verdict.classes import Labels, classes
from shoal.privacy.verdict.values import read_column

Flags = NDArray[np.bool_]
EXACT, NEAR = 0.03, 0.10  # how much a rate may exceed the baseline


def is_number(kind: pa.DataType) -> bool:
    """Say whether cells of this type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


# Types in which values of different types are compared; others are compared as text.
COMMON = ((is_number, pa.float64()), (pa.types.is_temporal, pa.timestamp("us")))


class Matches(NamedTuple):
    """Which people have a published combination, one flag per person."""

    exact: Flags  # the combination is published
    near: Flags  # it is not, but differs from a published one in a single cell
    alone: Flags  # no other person has the same combination


class Register(NamedTuple):
    """The combinations of a register and of a release, as codes that are equal where the values are.

    In `people`, one row per person, the members come first, row by row as the release, then the control.
    """

    people: Labels
    published: Labels
    member: Flags
    left_out: int  # known columns that cannot be compared for equality


def alike(parts: Sequence[pa.ChunkedArray], kind: Kind | None = None) -> Labels:
    """Return the cells of several columns in sequence as codes, equal where the values are.

    Types that differ are compared as numbers, timestamps or else as text. With the kind "numeric" or "date", codes
    ascend with the values.

    Examples
    --------
    >>> alike([pa.chunked_array([[1, 2]]), pa.chunked_array([[2.0, 2.5]])]).tolist()
    [0, 1, 1, 2]
    """
    plain = [part.cast(part.type.value_type) if pa.types.is_dictionary(part.type) else part for part in parts]
    kinds = {part.type for part in plain}
    if len(kinds) > 1:
        target = next((to for fits, to in COMMON if all(map(fits, kinds))), pa.string())
        plain = [part.cast(target, safe=False) for part in plain]
    whole = pa.chunked_array([chunk for part in plain for chunk in part.chunks], plain[0].type)
    return read_column(whole, kind).codes


def matches(people: Labels, published: Labels) -> Matches:
    """Return which people have a published combination, and which are one cell off.

    Both have one row per combination, and equal values have equal codes in both.

    Examples
    --------
    >>> found = matches(np.array([[1, 2], [1, 3], [7, 8]]), np.array([[1, 2]]))
    >>> found.exact.tolist(), found.near.tolist()
    ([True, False, False], [False, True, False])
    """
    m, d = people.shape
    columns = list(np.vstack([people, np.unique(published, axis=0)]).T) if d else []
    n = columns[0].size if d else m
    # Combinations of the first columns and of the last ones: pairs of them leave out a single column.
    first, last = [np.zeros(n, np.int64)], [np.zeros(n, np.int64)]
    for forward, backward in zip(columns, reversed(columns), strict=True):
        first.append(classes([first[-1], forward], n))
        last.append(classes([last[-1], backward], n))
    exact, near = _held(first[-1], m), np.zeros(m, np.bool_)
    for left_out in range(d):
        near |= _held(classes([first[left_out], last[d - 1 - left_out]], n), m)
    whole = first[-1][:m]
    return Matches(exact, near & ~exact, np.bincount(whole, minlength=1)[whole] == 1)


def register(case: Case, known: Sequence[str]) -> Register:
    """Return the register and the release in the known columns, as codes; controls must have every quasi-identifier."""
    _, outsiders = control_case(case)
    columns = [column for column in case.columns if column.name in known]
    compared = [column for column in columns if not column.truthful]
    others = [case.control] if case.control is not None and outsiders else []
    coded = [
        alike([column.before, *(table.column(column.name) for table in others), column.after]) for column in compared
    ]
    m = case.before.n + outsiders
    cells = np.column_stack([np.zeros((m + case.n, 0), np.int64), *coded])
    member = np.arange(m) < case.before.n
    return Register(cells[:m], cells[m:], member, len(columns) - len(compared))


@attack("exact combination", requires=("control",), control=True)
def exact_combination(case: Case, profile: Profile, clock: Clock) -> Attack:  # noqa: ARG001
    """Claim membership of everyone in a register whose combination of values is published.

    Success: the person is a member. Trials: the people who are the only ones of the register with a published
    combination; if these are fewer than 20, all people who have one. Baseline: the share of members among the people of
    the register, or among those with a unique combination. Allowed: 0.03 above it. Power: the attack on an unprotected
    copy. A rate far below the baseline reveals who is *not* a member, which the note says.
    """
    return _membership("exact combination", case, profile, EXACT, near=False)


@attack("near combination", requires=("control",), control=True)
def near_combination(case: Case, profile: Profile, clock: Clock) -> Attack:  # noqa: ARG001
    """Claim membership of everyone in a register whose combination differs from a published one in a single cell.

    Success, trials and baseline: as in exact combination. If fewer than 20 people are one cell off, those who have a
    published combination count as well. Allowed: 0.10 above the baseline, as the published values of a class are near
    its members if they are of any use. Power: that of exact combination, as the people nearest to an unprotected copy
    match its combinations exactly.
    """
    return _membership("near combination", case, profile, NEAR, near=True)


def _membership(name: str, case: Case, profile: Profile, margin: float, *, near: bool) -> Attack:
    """Return the result of one of the two attacks: that on exact combinations, or with `near` the other one."""

    def nothing(why: str) -> Attack:
        return concluded(name, profile, np.zeros(0), baseline=0.0, note=why)

    if case.control is None or not case.control.n or not case.n:
        return nothing(
            f"it needs people who are not in the table ({either('control', 'FILE')}): without them everyone is a member"
        )
    held = register(case, profile.known)
    if not held.people.shape[1]:
        return nothing("no known column can be compared for equality: ranges, sets and trees have no exact combination")
    if near and held.people.shape[1] < 2:
        return nothing("with one column everyone is one cell off")
    found, copy = matches(held.people, held.published), matches(held.people, held.people[held.member])
    who, notes = found.near if near else found.exact, list[str]()
    if near and int(who.sum()) < FEW:
        who = found.near | found.exact
        if who.any():
            notes.append(
                "few people differ from a published combination in exactly one cell, so people who match one exactly "
                "are counted as well"
            )
    every, single = held.member[who], held.member[who & found.alone]
    alone = single.size >= FEW
    right = (single if alone else every).astype(np.float64)
    everyone = held.member[found.alone] if alone else held.member
    base = float(everyone.mean())
    tried = held.member[copy.exact & copy.alone] if alone else held.member[copy.exact]
    if alone:
        whole = Sentence(
            "people alone in the register with their combination; all who match: {rate:.3f} with a baseline of "
            "{base:.3f}",
            rate=Share(every.mean(), every.size),
            base=Share(held.member.mean(), held.member.size),
        )
        notes.insert(0, whole)
    elif every.size:
        notes.insert(0, "all who match, as few are alone in the register with their combination")
    else:
        but = " exactly or in all cells but one" if near else ""
        notes.insert(0, f"no one in the register matches a published combination{but}")
    if right.size >= FEW and wilson(float(right.sum()), right.size)[1] < base:
        below = Sentence(
            "below the baseline: conversely, {others:.3f} of the people who match are not in the table, compared with "
            "{expected:.3f} by chance",
            others=Share(1 - right.mean(), right.size),
            expected=Share(1 - base, everyone.size),
        )
        notes.append(below)
    if held.left_out:
        notes.append("columns published by range, set or tree are left out")
    return concluded(
        name,
        profile,
        right,
        baseline=base,
        power=float(tried.mean()) if tried.size else 0.0,
        allowed=min(1.0, base + margin),
        note=Sentence.joined(notes),
        baseline_of=everyone.size,
    )


def _held(combinations: Labels, m: int) -> Flags:
    """Return which of the first m combinations are among the others."""
    published = np.zeros(int(combinations.max(initial=0)) + 1, np.bool_)
    published[combinations[m:]] = True
    return published[combinations[:m]]
