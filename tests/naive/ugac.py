"""Ants from the definition: clusters are sets of records, and everything is counted anew for every step."""

from naive.rules import clusters_of, settle


def by_ants(records, rules, k, delta, beta, rounds, shuffled, rest):
    """Return the clusters as lists of record numbers, and the number of moves.

    `shuffled` gives the holders of each rule with an ant in the order in which it takes them, `rest` partitions the
    records of no rule.
    """
    held = [[r for r, record in enumerate(records) if rule <= record] for rule in rules]
    holders = dict(enumerate(own for own in held if len(own) >= k))
    owner = first(shuffled)
    goals = {i: max(beta, k / len(own)) for i, own in holders.items()}
    moves = 0
    for _ in range(rounds):
        moved = [turn(i, holders, owner, goals, k) for i in holders]
        moves += sum(moved)
        if not any(moved):
            break
    return clusters_of(records, holders, settle(holders, owner, k), k, delta, rest), moves


def first(shuffled):
    """In turn, each ant takes its next free record."""
    owner, queues = {}, [list(queue) for queue in shuffled]
    while any(queues):
        for i, queue in enumerate(queues):
            while queue and queue[0] in owner:
                queue.pop(0)
            if queue:
                owner[queue.pop(0)] = i
    return owner


def turn(i, holders, owner, goals, k):
    """Pick up for the own rule if it is short of records, else for the neediest; say whether a record moved."""
    if deficit(i, have(i, i, holders, owner), holders, goals) == 0:
        needs = {j: len(holders[j]) * deficit(j, have(j, j, holders, owner), holders, goals) for j in holders}
        i = min(needs, key=lambda j: (-needs[j], j))
        if needs[i] == 0:
            return False
    mine = have(i, i, holders, owner)
    donors = []
    for c in holders:
        count, size = have(i, c, holders, owner), sum(o == c for o in owner.values())
        if c == i or count == 0 or size <= k:
            continue
        now = max(deficit(i, mine, holders, goals), deficit(c, size, holders, goals))
        then = max(deficit(i, mine + 1, holders, goals), deficit(c, size - 1, holders, goals))
        if then < now:
            donors.append((-count / size, -count, c))
    if not donors:
        return False
    donor = min(donors)[2]
    owner[min(r for r in holders[i] if owner[r] == donor)] = i
    return True


def have(i, c, holders, owner):
    return sum(owner[r] == c for r in holders[i])


def deficit(i, count, holders, goals):
    return max(0.0, goals[i] - count / len(holders[i]))
