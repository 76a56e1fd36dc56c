"""UGAC: ants gather the records of their rules, and take them from each other until the worst-off cannot be helped.

1. Rules held by fewer than k records cannot be preserved, and get no ant. Every other rule has an ant and a cluster.
2. In turn, each ant takes its next free record, its records being shuffled by the seed, until all are taken.
3. Round after round, ant by ant: an ant whose cluster has less than a share beta of its rule's records, or fewer than k
   of them, picks one up. Any other ant helps the rule that is short of the most records.
4. Pick up: of the clusters of more than k records that hold records of the rule, the one where they are densest gives
   its first one, provided that the worse off of the two rules is better off afterwards.
5. It ends when no record moved in a whole round, or the rounds are used up.
6. Clusters are split, and the records of no rule partitioned, as in `rules`.

The proviso of step 4 ensures termination: of the deficits, sorted from the worst, the first that changes falls with
every move. Without it two ants can take one record from each other for ever. A record holds the rule of its cluster at
all times, so a cluster has as many records as its rule has in it.

Awad, Couchot, Al Bouna and Philippe, Publishing Anonymized Set-Valued Data via Disassociation towards Analysis, Future
Internet 12(4):71 (2020), with its loop, donors and helpers corrected.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import MethodError
from shoal.kernels.loops import inner_loop, loop
from shoal.transactions.disassociation.rule_split import Held
from shoal.transactions.disassociation.rules import (
    Rules,
    check_sizes,
    checked_rules,
    clustered,
    held_rules,
    settled,
)
from shoal.transactions.lexical import Places, Whole

Floats = NDArray[np.float64]


class Feasible(NamedTuple):
    """How many records all rules together want, how many there are, and whether these suffice."""

    wanted: int
    there: int
    holds: bool


def by_ants(
    indptr: Places,
    items: Whole,
    n_items: int,
    rules: Rules,
    k: int,
    delta: int,
    beta: float = 0.6,
    rounds: int = 10_000,
    seed: int = 0,
) -> tuple[Places, Places]:
    """Partition records so that rules keep a share of their support: ants gather the records of each rule.

    Inputs and result are as of `by_rules`. `beta` is the share of its records that each rule asks for; some hundred
    `rounds` are usually enough.

    Guarantee
    ---------
    Every cluster holds k to delta records, if there are k records at all. It always terminates. The result depends on
    the arguments alone: ties go to the denser, then the larger share, then the lowest cluster and record.

    Cost
    ----
    O(moves and rounds * (rules^2 + sum of supports)) at worst; memory O(rules^2) in addition to the records.

    Examples
    --------
    >>> records = np.array([[0, 1], [0, 2], [0, 1], [0, 2]], np.int32)
    >>> order, cuts = by_ants(np.arange(0, 9, 2), records.ravel(), 3, [np.array([0, 1]), np.array([0, 2])], 2, 3)
    >>> order.tolist(), cuts.tolist()
    ([0, 2, 1, 3], [0, 2, 4])
    """
    wanted = checked_rules(rules, n_items, "by_ants")
    check_sizes(k, delta, "by_ants")
    if not 0 < beta <= 1:
        raise MethodError(f"by_ants: beta must be above 0 and at most 1; got {beta}.")
    if rounds < 0:
        raise MethodError(f"by_ants: rounds must be a whole number of at least 0; got {rounds}.")
    held = _with_ants(indptr, items, n_items, wanted, k)
    ends = np.concatenate(([0], np.cumsum(held.supports))).astype(np.int64)
    records = np.repeat(np.arange(indptr.size - 1), np.diff(held.ptr))[np.argsort(held.rules, kind="stable")]
    shuffled = records.copy()
    generator = np.random.Generator(np.random.PCG64(seed))
    for ant in range(held.supports.size):
        generator.shuffle(shuffled[ends[ant] : ends[ant + 1]])
    owner = _first_records(shuffled, ends, indptr.size - 1)
    goals = np.maximum(beta, k / np.maximum(held.supports, 1))
    _gather(held.ptr, held.rules, records, ends, held.supports, goals, owner, k, rounds)
    return clustered(indptr, items, n_items, held, settled(held, owner, k), k, delta)


def feasible(indptr: Places, items: Whole, n_items: int, rules: Rules, k: int, beta: float = 0.6) -> Feasible:
    """Return whether there are as many records with rules as the rules want, each a share beta of its own.

    Wanted are ceil(beta * support) records for each rule of support k or more; there are the records that hold such a
    rule. If they do not suffice, some rule stays below its share; if they do, one still may.
    """
    held = _with_ants(indptr, items, n_items, checked_rules(rules, n_items, "feasible"), k)
    wanted = sum(math.ceil(beta * support) for support in held.supports.tolist())
    there = int((np.diff(held.ptr) > 0).sum())
    return Feasible(wanted, there, wanted <= there)


def _with_ants(indptr: Places, items: Whole, n_items: int, rules: Rules, k: int) -> Held:
    """Return which of the rules of support k or more each record holds, numbered consecutively."""
    supports = held_rules(indptr, items, n_items, rules).supports
    return held_rules(indptr, items, n_items, [rule for rule, s in zip(rules, supports, strict=True) if s >= k])


@loop
def _first_records(shuffled: Places, ends: Places, n: int) -> Places:
    """Let the ants take their next free records in turn; return the ant of each record, or -1."""
    owner = np.full(n, -1, np.int64)
    at = ends[:-1].copy()
    taken = True
    while taken:
        taken = False
        for ant in range(at.size):
            while at[ant] < ends[ant + 1] and owner[shuffled[at[ant]]] >= 0:
                at[ant] += 1
            if at[ant] < ends[ant + 1]:
                owner[shuffled[at[ant]]] = ant
                taken = True
    return owner


@inner_loop
def _deficit(goal: float, have: int, support: int) -> float:
    """Return the share of its records that a rule is short of."""
    return max(0.0, goal - have / support)


@inner_loop
def _donor(ant: int, have: Places, supports: Places, goals: Floats, k: int) -> int:
    """Return the cluster that gives the ant a record, or -1; `have[i, c]` counts the records of rule i in cluster c."""
    short = _deficit(goals[ant], have[ant, ant], supports[ant])
    then = _deficit(goals[ant], have[ant, ant] + 1, supports[ant])
    best = -1
    for c in range(supports.size):
        count, size = have[ant, c], have[c, c]
        if c == ant or count == 0 or size <= k:
            continue
        before = max(short, _deficit(goals[c], size, supports[c]))
        if max(then, _deficit(goals[c], size - 1, supports[c])) >= before:
            continue
        if best < 0:
            best = c
            continue
        # Densities are compared in integers: count / size against the best one's.
        mine, its = count * have[best, best], have[ant, best] * size
        if mine > its or (mine == its and count > have[ant, best]):
            best = c
    return best


@inner_loop
def _neediest(have: Places, supports: Places, goals: Floats) -> int:
    """Return the rule that is short of the most records, or -1 if none is."""
    best, most = -1, 0.0
    for rule in range(supports.size):
        need = supports[rule] * _deficit(goals[rule], have[rule, rule], supports[rule])
        if need > most:
            best, most = rule, need
    return best


@loop
def _gather(
    ptr: Places,
    held: Whole,
    records: Places,
    ends: Places,
    supports: Places,
    goals: Floats,
    owner: Places,
    k: int,
    rounds: int,
) -> int:
    """Let the ants pick up records until none moves; changes `owner`, returns the number of moves."""
    u = supports.size
    have = np.zeros((u, u), np.int64)
    for r in range(owner.size):
        for a in range(ptr[r], ptr[r + 1]):
            have[held[a], owner[r]] += 1
    moves = 0
    for _ in range(rounds):
        before = moves
        for turn in range(u):
            ant = turn
            if _deficit(goals[ant], have[ant, ant], supports[ant]) == 0.0:
                ant = _neediest(have, supports, goals)
            if ant < 0:
                continue
            donor = _donor(ant, have, supports, goals, k)
            if donor < 0:
                continue
            at = ends[ant]
            while owner[records[at]] != donor:
                at += 1
            r = records[at]
            owner[r] = ant
            for a in range(ptr[r], ptr[r + 1]):
                have[held[a], donor] -= 1
                have[held[a], ant] += 1
            moves += 1
        if moves == before:
            break
    return moves
