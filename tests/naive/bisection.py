"""Bisection from its definition: lists, `sorted`, and one part after the other."""

MOST, TURNS, GRID = 50, 50, 2.0**30


def bisection(rows, k):
    """Return the group of each row."""
    groups, parts = [], [list(range(len(rows)))]
    while parts:
        part = parts.pop()
        if len(part) < 2 * k:
            groups.append(part)
        else:
            parts += cut(rows, part)
    labels = [0] * len(rows)
    for number, group in enumerate(sorted(groups, key=min)):
        for i in group:
            labels[i] = number
    return labels


def cut(rows, part):
    """The two halves of the cut with the least SSE, the first of equal ones."""
    columns = [[rows[i][j] for i in part] for j in range(len(rows[0]) if rows else 0)]
    columns = [column for column in columns if max(column) > min(column)]
    if 1 < len(columns) <= MOST:
        columns.append(component(columns))
    half = (len(part) + 1) // 2
    best = None
    for column in columns or [[0.0] * len(part)]:
        order = sorted(range(len(part)), key=lambda place: (column[place], part[place]))
        sides = [sorted(part[place] for place in some) for some in (order[:half], order[half:])]
        loss = sum(sse(rows, side) for side in sides)
        if best is None or loss < best[0] * (1 - 1e-9):
            best = (loss, sides)
    return best[1]


def component(columns):
    """Where rows lie along the first principal component, by power iteration."""
    columns = [[value - sum(column) / len(column) for value in column] for column in columns]
    spread = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in columns] for one in columns]
    widest = max(range(len(columns)), key=lambda j: spread[j][j])
    axis = [row[widest] for row in spread]
    for _ in range(TURNS):
        axis = [sum(a * b for a, b in zip(row, axis, strict=True)) for row in spread]
        largest = max(abs(value) for value in axis)
        axis = [value / largest for value in axis]
    along = [sum(column[i] * axis[j] for j, column in enumerate(columns)) for i in range(len(columns[0]))]
    largest = max(abs(value) for value in along)
    return [round(value / largest * GRID) for value in along]


def sse(rows, side):
    total = 0.0
    for j in range(len(rows[0])):
        mean = sum(rows[i][j] for i in side) / len(side)
        total += sum((rows[i][j] - mean) ** 2 for i in side)
    return total
