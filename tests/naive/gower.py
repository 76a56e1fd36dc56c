"""Gower's grouping from the definition: every row knows every other, and nothing is moved afterwards."""

from naive.columns import tree_loss


def apart(one, two, columns, weights):
    """Return the distance of two rows."""
    total = 0
    for a, b, (kind, there), weight in zip(one, two, columns, weights, strict=True):
        if a == b:
            continue
        if kind == "set" or a is None or b is None:
            total += weight
        elif kind == "tree":
            total += weight * tree_loss([a, b], there)
        else:
            known = [place for place in there if place is not None]
            total += weight * 2 * abs(a - b) / (max(known) - min(known))
    return total / sum(weights)


def gower(rows, k, columns, weights):
    """Return groups as lists of row numbers."""
    everyone = range(len(rows))
    gap = [[apart(rows[i], rows[j], columns, weights) for j in everyone] for i in everyone]

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


def medoid(members, rows, codes, columns, weights):
    """Return the row with the least sum of distances to the others; of equals the one with the lowest codes."""
    return min(
        members,
        key=lambda row: (sum(apart(rows[row], rows[other], columns, weights) for other in members), tuple(codes[row])),
    )
