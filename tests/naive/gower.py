"""Gower's grouping from the definition: every row knows every other, and nothing is moved afterwards."""

from collections import Counter

from naive.columns import tree_loss


def on_grid(value):
    """Return a multiple of 2^-40."""
    return round(value * 2**40) / 2**40


def places(rows, columns, weights):
    """Return for each column where its values lie, or how far two names that differ are apart."""
    found = []
    for j, (kind, there) in enumerate(columns):
        weight, cells = weights[j] / sum(weights), [row[j] for row in rows]
        counts = Counter(cells)
        if kind == "set":
            differ = 1 - sum((counts[name] / len(cells)) ** 2 for name in there)
            found.append(on_grid(weight / max(differ, 1 / 64) ** 0.5))
        elif kind == "range":
            known = sorted(place for place in there if place is not None)
            held = sum(counts[place] for place in known)
            below, ranks = 0, {}
            for place in known:
                below += counts[place]
                ranks[place] = on_grid((below - counts[place] / 2) / max(1, held) * weight)
            found.append((ranks, on_grid(weight)))
        else:
            found.append(weight)
    return found


def distances(one, two, columns, at):
    """Return the distance of two rows, with what `places` gives."""
    total = 0
    for a, b, (kind, there), place in zip(one, two, columns, at, strict=True):
        if a == b:
            continue
        if kind == "set":
            total += place
        elif kind == "tree":
            total += on_grid(place * tree_loss([a, b], there))
        elif a is None or b is None:
            total += place[1]
        else:
            total += abs(place[0][a] - place[0][b])
    return total


def gower(rows, k, columns, weights):
    """Return groups as lists of row numbers."""
    everyone = range(len(rows))
    at = places(rows, columns, weights)
    gap = [[distances(rows[i], rows[j], columns, at) for j in everyone] for i in everyone]

    def hardness(row):
        return sorted(gap[row][other] for other in everyone if other != row)[k - 2]

    def cost(members):
        return sum(gap[a][b] for a in members for b in members if a < b) / len(members)

    groups, taken = [], set()
    for seed in sorted(everyone, key=lambda row: (hardness(row), row)):
        if seed in taken:
            continue
        members = [seed]
        while len(members) < k:
            others = [row for row in everyone if row not in taken and row not in members]
            if not others:
                break
            members.append(min(others, key=lambda row: (sum(gap[row][one] for one in members), row)))
        if len(members) == k:
            groups.append(members)
            taken.update(members)
    for row in everyone:
        if row not in taken:
            rises = [(cost([*members, row]) - cost(members), place) for place, members in enumerate(groups)]
            groups[min(rises)[1]].append(row)
    return groups


def medoids(groups, rows, codes, columns, weights):
    """Return the row that stands for each group: almost in the middle, and with values that are most wanted."""
    at = places(rows, columns, weights)
    counts = [Counter(row[j] for row in rows) for j in range(len(columns))]
    surplus = [Counter() for _ in columns]
    found = []
    for members in groups:
        sums = {row: sum(distances(rows[row], rows[other], columns, at) for other in members) for row in members}
        for row in members:
            for j, value in enumerate(rows[row]):
                surplus[j][value] -= 1

        def gain(row, members=members):
            return sum((2 * surplus[j][value] + len(members)) / counts[j][value] for j, value in enumerate(rows[row]))

        almost = [row for row in members if sums[row] <= 1.15 * min(sums.values())]
        found.append(min(almost, key=lambda row: (gain(row), tuple(codes[row]))))
        for j, value in enumerate(rows[found[-1]]):
            surplus[j][value] += len(members)
    return found
