"""Support in disassociated data from the definition: every way to give sub-records to slots, one after the other.

A publication is a list of chunks (slots, sub-records): the numbers of the slots that it may use, and a list of sets.
"""

from fractions import Fraction
from itertools import permutations
from math import perm, prod


def ways(chunks):
    """How many re-associations there are."""
    return prod(perm(len(slots), len(subs)) for slots, subs in chunks)


def reassociations(chunks, n):
    """Every data set that comes out, as a list of n sets."""
    if not chunks:
        yield [frozenset()] * n
        return
    (slots, subs), *others = chunks
    for rest in reassociations(others, n):
        for chosen in permutations(slots, len(subs)):
            made = list(rest)
            for slot, sub in zip(chosen, subs, strict=True):
                made[slot] = made[slot] | sub
            yield made


def supports(chunks, n, itemset):
    """The least, the mean and the most support of an itemset over all re-associations."""
    found = [sum(itemset <= record for record in records) for records in reassociations(chunks, n)]
    return min(found), Fraction(sum(found), len(found)), max(found)


def certain(chunks, itemset):
    return sum(itemset <= sub for _, subs in chunks for sub in subs)


def expected(chunks, n, itemset):
    """Slot by slot: the chance that each chunk gives it exactly the part of the itemset that the chunk has."""
    total = Fraction(0)
    for slot in range(n):
        probability, covered = Fraction(1), set()
        for slots, subs in chunks:
            part = itemset & frozenset().union(*subs)
            if slot in slots and part:
                probability *= Fraction(sum(part <= sub for sub in subs), len(slots))
                covered |= part
        total += probability if covered == itemset else 0
    return total


def drawn(chunks, n, rng):
    """One re-association drawn at random."""
    records = [set() for _ in range(n)]
    for slots, subs in chunks:
        for slot, sub in zip(rng.sample(slots, len(subs)), subs, strict=True):
            records[slot] |= sub
    return records
