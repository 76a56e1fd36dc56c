"""Growth from the definition: every row knows every other, and nothing is rebuilt."""

from naive.columns import loss


def grow(rows, k, columns, weights, some=None):
    """Return the groups of all rows, or of some, as lists of row numbers, and the rows that wait."""
    free = list(range(len(rows))) if some is None else list(some)

    def lost(members):
        return loss([rows[i] for i in members], columns, weights)

    def hardness(row):
        gaps = sorted(lost([row, other]) for other in free if other != row)
        return gaps[k - 2] if len(gaps) >= k - 1 else float("inf")

    groups, taken = [], set()
    for seed in sorted(free, key=lambda row: (hardness(row), row)):
        if seed in taken:
            continue
        members = [seed]
        while len(members) < k:
            others = [row for row in free if row not in taken and row not in members]
            if not others:
                break
            members.append(min(others, key=lambda row: (lost([*members, row]), row)))
        if len(members) == k:
            groups.append(members)
            taken.update(members)
    return groups, [row for row in free if row not in taken]


def join(groups, waiting, rows, columns, weights):
    """Let each waiting row join the group where it costs least, in the order of their numbers."""

    def cost(members):
        return len(members) * loss([rows[i] for i in members], columns, weights)

    for row in sorted(waiting):
        rises = [(cost([*members, row]) - cost(members), place) for place, members in enumerate(groups)]
        if not rises:
            return [sorted(waiting)]
        groups[min(rises)[1]].append(row)
    return groups
