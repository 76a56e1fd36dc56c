"""Minimality from its definition: every placement written out, as fractions."""

from fractions import Fraction
from itertools import permutations, product


def placements(classes, values):
    """Every way to put the values of each class on its rows, as tuples of values row by row."""
    ways = [sorted(set(permutations([values[row] for row in rows]))) for rows in classes]
    for chosen in product(*ways):
        placed = list(values)
        for rows, held in zip(classes, chosen, strict=True):
            for row, value in zip(rows, held, strict=True):
                placed[row] = value
        yield tuple(placed)


def posteriors(classes, values, likely):
    """The posterior of each value of each row; `likely` is the chance that a placement leads to these classes."""
    weights = {placed: Fraction(likely(placed)) for placed in placements(classes, values)}
    total = sum(weights.values())
    found = {}
    for row in range(len(values)):
        for value in set(values):
            found[row, value] = sum(weight for placed, weight in weights.items() if placed[row] == value) / total
    return found


def randomization(counts, first, fails, epsilon):
    """The p of a part and its excess, from all placements of its values on its rows; `fails` is asked for each half."""
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    n = len(values)
    every = sorted(set(permutations(values)))
    split = [(placed[:first], placed[first:]) for placed in every]
    bad = [halves for halves in split if any(fails(half) for half in halves)]
    good = [halves for halves in split if not any(fails(half) for half in halves)]
    p = Fraction(0)
    if 2 * first != n:
        for half in (0, 1):
            for value, count in enumerate(counts):
                if not count:
                    continue
                level = Fraction(count, n) + epsilon
                above = sum(share(halves[half], value) for halves in bad) - level * len(bad)
                below = level * len(good) - sum(share(halves[half], value) for halves in good)
                if above > 0:
                    p = max(p, Fraction(1) if below <= 0 else min(Fraction(1), above / below))
    whole = len(bad) + p * len(good)
    if not whole:
        return p, Fraction(0)
    excess = max(
        (sum(share(h[half], value) for h in bad) + p * sum(share(h[half], value) for h in good)) / whole
        - Fraction(count, n)
        for half in (0, 1)
        for value, count in enumerate(counts)
    )
    return p, excess


def share(half, value):
    return Fraction(half.count(value), len(half))
