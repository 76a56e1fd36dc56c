"""Itemsets and rules by counting every subset of every record."""

from collections import Counter
from fractions import Fraction
from itertools import combinations


def every_support(records, longest=None):
    """The number of records that hold each itemset, for all itemsets that occur, as sorted tuples."""
    counts = Counter()
    for record in records:
        items = sorted(set(record))
        top = len(items) if longest is None else min(longest, len(items))
        for size in range(1, top + 1):
            counts.update(combinations(items, size))
    return counts


def frequent(records, least, longest=None):
    """Itemsets with their supports, by size, then support, the highest first, then items."""
    counts = every_support(records, longest)
    kept = [(itemset, support) for itemset, support in counts.items() if support >= least]
    return sorted(kept, key=lambda pair: (len(pair[0]), -pair[1], pair[0]))


def of_size(records, least, size):
    """Itemsets of one size with their supports, by items."""
    return sorted((itemset, support) for itemset, support in frequent(records, least, size) if len(itemset) == size)


def support(records, itemset):
    """The number of records that hold all items of one itemset."""
    return sum(set(itemset) <= set(record) for record in records)


def rules(records, least, confidence):
    """(antecedent, consequent, support, confidence, lift) for every rule, exactly, in order."""
    counts = every_support(records)
    found = []
    for itemset, count in counts.items():
        if count < least or len(itemset) < 2:
            continue
        for consequent in itemset:
            antecedent = tuple(item for item in itemset if item != consequent)
            share = Fraction(count, counts[antecedent])
            if share >= confidence:
                lift = share * len(records) / counts[(consequent,)]
                found.append((antecedent, consequent, count, share, lift))
    return sorted(found, key=lambda rule: (-rule[2], -rule[3], rule[0], rule[1]))


def least_of_share(numerator, denominator, n):
    """The least number of records that are a share of n or more."""
    return next(count for count in range(1, n + 2) if count * denominator >= numerator * n)
