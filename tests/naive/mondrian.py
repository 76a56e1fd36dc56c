"""Mondrian from its definition: lists, `sorted`, and one part after the other."""


def mondrian(rows, k, split="strict", fine=lambda part: True):
    """Return the group of each row; `fine` says of a list of rows whether they meet the limits."""
    groups = []
    parts = [list(range(len(rows)))]
    while parts:
        part = parts.pop()
        sides = cut(rows, part, k, split, fine)
        if sides:
            parts += sides
        else:
            groups.append(part)
    return numbered(groups, len(rows))


def cut(rows, part, k, split, fine):
    """The two sides of the first cut that is allowed, widest column first; None if there is none."""
    columns = range(len(rows[0]))
    width = {j: max(rows[i][j] for i in part) - min(rows[i][j] for i in part) for j in columns}
    for j in sorted(columns, key=lambda j: (-width[j], j)):
        for sides in (halves if split == "relaxed" else beside_the_median)(rows, part, j):
            if all(len(side) >= k and fine(side) for side in sides):
                return sides
    if not columns and split == "relaxed":
        for sides in halves([[0]] * len(rows), part, 0):
            if all(len(side) >= k and fine(side) for side in sides):
                return sides
    return None


def halves(rows, part, j):
    order = sorted(part, key=lambda i: (rows[i][j], i))
    middle = (len(part) + 1) // 2
    return [(order[:middle], order[middle:])]


def beside_the_median(rows, part, j):
    """The cuts above and below the median value, the more even one first."""
    median = sorted(rows[i][j] for i in part)[(len(part) - 1) // 2]
    above = [i for i in part if rows[i][j] <= median], [i for i in part if rows[i][j] > median]
    below = [i for i in part if rows[i][j] < median], [i for i in part if rows[i][j] >= median]
    return sorted([above, below], key=lambda sides: abs(len(sides[0]) - len(sides[1])))


def numbered(groups, n):
    labels = [0] * n
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            labels[i] = number
    return labels
