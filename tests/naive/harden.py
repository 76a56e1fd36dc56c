"""Hardening from its definition: every itemset counted by combinations, after every single step."""

from collections import Counter
from fractions import Fraction
from itertools import combinations


def supports(records, m):
    """Count the itemsets of up to m items of records, which are sorted tuples."""
    held = Counter()
    for record in records:
        for size in range(1, m + 1):
            held.update(combinations(record, size))
    return held


def holds(records, k, m):
    return all(count >= k for count in supports(records, m).values())


def harden(records, k, m):
    """Return the records that are left, sorted and without empty ones, and the number of rounds."""
    given = [tuple(sorted(record)) for record in records if record]
    now = {record: record for record in given}
    rounds = 0
    for size in range(1, min(m, max(map(len, given), default=0)) + 1):
        while True:
            rounds += 1
            lost = losses([now[record] for record in given], k, size)
            if not lost:
                break
            now = {record: tuple(i for i in left if i != lost.get(left)) for record, left in now.items()}
    while give_back(given, now, k, m):
        pass
    return sorted(now[record] for record in given if now[record]), rounds


def losses(records, k, m):
    """Return the item that each record loses, for those that lose one."""
    held, copies = supports(records, m), Counter(records)
    best = {}
    for record, weight in copies.items():
        rare, fragile = Counter(), Counter()
        for size in range(1, m + 1):
            for itemset in combinations(record, size):
                if any(held[itemset[:end]] < k for end in range(1, size)):
                    continue
                if held[itemset] < k:
                    rare.update(itemset)
                elif held[itemset] < k + weight:
                    fragile.update(itemset)
        if rare:
            worth = {i: Fraction(rare[i] * (rare[i] + fragile[i]), rare[i] + k * fragile[i]) for i in rare}
            item = max(rare, key=lambda i: (worth[i], -held[i,], i))
            best[record] = worth[item], item
    top = max((worth for worth, _ in best.values()), default=0)
    return {record: item for record, (worth, item) in best.items() if 2 * worth >= top}


def give_back(given, now, k, m):
    """Give back, in order, every item after which the data still hold; return whether there was one."""
    found = False
    for record in sorted(now):
        for item in record:
            if item not in now[record]:
                tried = {**now, record: tuple(sorted((*now[record], item)))}
                if holds([tried[other] for other in given], k, m):
                    now[record] = tried[record]
                    found = True
    return found
