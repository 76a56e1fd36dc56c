"""Size-bounded k-means from its definition: lists and `sorted`, no heap, no blocks, and every length looked at.

Sums are taken one by one in the order of rows and columns, so that they are rounded as those of the method.
"""

from itertools import product

from naive.mdav import numbered


def kmeans(rows, weights, draws, k, rounds, near=16):
    """Return the group of each row; groups are numbered in the order of their first rows."""
    if len(rows) < 2 * k:
        return [0] * len(rows)
    least = [min(column) for column in zip(*rows, strict=True)]
    table = [[float(x - low) for x, low in zip(row, least, strict=True)] for row in rows]
    seeds, home = drawn(table, weights, draws, k)
    centres, found = [table[i] for i in seeds], []
    for turn in range(rounds):
        eager = 1.25 * (1 - (turn - 1) / rounds) if turn > 0 else 0.0
        after = filled(open_costs(table, weights, centres, home, eager, near), home, len(centres), k)
        if turn > 0 and after == home:
            break
        home = after
        members = [[i for i in range(len(table)) if home[i] == g] for g in range(len(centres))]
        centres = [mean(table, weights, group) for group in members]
        found.append((total(weights[i] * squared(table[i], centres[home[i]]) for i in range(len(table))), home))
    best = min(found, key=lambda pair: pair[0])[1]
    return numbered([[i for i in range(len(table)) if best[i] == g] for g in range(len(centres))], len(table))


def drawn(rows, weights, draws, k):
    """The rows that draws from 0 to 1 make centres, and the centre that takes each row."""
    centres, labels = [], [None] * len(rows)
    for draw in draws:
        free = [i for i in range(len(rows)) if labels[i] is None]
        masses = {i: weights[i] * min((squared(rows[i], rows[c]) for c in centres), default=1) for i in free}
        if total(masses.values()) == 0:
            masses = {i: weights[i] for i in free}
        limit, reached, row = draw * total(masses.values()), 0.0, free[-1]
        for i in free:
            reached += masses[i]
            if reached > limit:
                row = i
                break
        for other in sorted(free, key=lambda j, row=row: (j != row, squared(rows[row], rows[j]), j))[:k]:
            labels[other] = len(centres)
        centres.append(row)
    for i in range(len(rows)):
        if labels[i] is None:
            labels[i] = min(range(len(centres)), key=lambda c, i=i: (squared(rows[i], rows[centres[c]]), c))
    return centres, labels


def open_costs(rows, weights, centres, home, eager, near):
    """What each row costs at its home and at the centres near it."""
    costs = []
    for i, row in enumerate(rows):
        places = sorted(range(len(centres)), key=lambda c, row=row: (squared(row, centres[c]), c))[:near]
        costs.append({c: cost(rows, weights, centres, home, eager, i, c) for c in {home[i], *places}})
    return costs


def cost(rows, weights, centres, home, eager, i, c):
    plain = weights[i] * squared(rows[i], centres[c])
    if c != home[i]:
        return plain
    mass = total(weights[j] for j in range(len(rows)) if home[j] == c)
    part = min(weights[i] * (eager / mass), 0.9)
    return plain * ((1 + part) / (1 - part))


def filled(costs, home, groups, k):
    """The cheapest assignment, by one cheapest way after another to each group that lacks rows."""
    labels = [min(open_to, key=lambda c, i=i: (costs[i][c], c != home[i], c)) for i, open_to in enumerate(costs)]
    prices = [0.0] * groups
    for lacking in range(groups):
        while labels.count(lacking) < k:
            lengths, onward, done = {lacking: 0.0}, {}, []
            here = lacking
            while labels.count(here) <= k:
                done.append(here)
                for i, open_to in enumerate(costs):
                    if here in open_to:
                        there = labels[i]
                        step = (open_to[here] - prices[here]) - (open_to[there] - prices[there])
                        far = lengths[here] + max(0.0, step)
                        if there not in lengths or far < lengths[there]:
                            lengths[there], onward[there] = far, (i, here)
                here = min((c for c in lengths if c not in done), key=lambda c: (lengths[c], c))
            whole = lengths[here]
            for c, length in lengths.items():
                prices[c] += max(0.0, whole - length)
            while here != lacking:
                row, here = onward[here]
                labels[row] = here
    return labels


def cheapest(costs, groups, k):
    """The least cost of all assignments with k rows or more in each group, each of them tried."""
    return min(
        sum(costs[i][c] for i, c in enumerate(labels))
        for labels in product(range(groups), repeat=len(costs))
        if all(labels.count(c) >= k for c in range(groups))
    )


def mean(rows, weights, group):
    mass = total(weights[i] for i in group)
    return [total(weights[i] * rows[i][j] for i in group) / mass for j in range(len(rows[0]))]


def squared(x, y):
    return total((a - b) ** 2 for a, b in zip(x, y, strict=True))


def total(numbers):
    """The sum one by one: the built-in one is more exact than the method in some versions of Python."""
    reached = 0
    for number in numbers:
        reached += number
    return reached
