"""wLVQ2 from its definition: all distances looked at, one row after the other. Classes are whole numbers from 0 up.

Operations come one by one as in the method, so that they are rounded as its own.
"""

WINDOW, LEAST, MOST = 0.3, 0.05, 5.0


def wlvq2(rows, codes, rng, rate=0.05, weight_rate=0.03, epochs=20):
    """Return prototypes, their classes and the weights of columns.

    A class must have fewer than 16 rows: its one prototype is their mean. `rng` is a generator; it is asked for a
    first row of each class that has several different ones, which does not matter for one mean, and for the orders.
    """
    book, owner, weights = [], list(range(max(codes) + 1)), [1.0] * len(rows[0])
    for one in owner:
        own = [row for row, code in zip(rows, codes, strict=True) if code == one]
        assert len(own) < 16
        if all(row == own[0] for row in own):
            book.append(list(own[0]))
        else:
            rng.integers(len(own))
            book.append([total(column) / len(own) for column in zip(*own, strict=True)])
    for epoch in range(epochs):
        now, then = (rate * (1.0 - turn / epochs) for turn in (epoch, epoch + 1))
        learn(rows, codes, rng.permutation(len(rows)).tolist(), book, owner, weights, now, then, weight_rate / rate)
    return book, owner, weights


def learn(rows, codes, order, book, owner, weights, first, last, ratio, printed=False):
    """Let all rows come once; prototypes and weights are changed."""
    for place, row in enumerate(order):
        rate = first + (last - first) * (place / len(order))
        x = rows[row]
        away = [squared([w * value for w, value in zip(weights, x, strict=True)], unit) for unit in book]
        near = sorted(range(len(book)), key=lambda unit: (away[unit], unit))[:2]
        if len(near) < 2:
            continue
        i, j = near
        inside = away[i] > ((1.0 - WINDOW) / (1.0 + WINDOW)) ** 2 * away[j]
        if owner[i] == codes[row] or owner[j] != codes[row] or not inside:
            continue
        for q, value in enumerate(x):
            wrong, right = book[i][q], book[j][q]
            seen = weights[q] * value
            if printed:
                book[i][q], book[j][q] = wrong + rate * (seen - right), right - rate * (seen - right)
            else:
                book[i][q], book[j][q] = wrong - rate * (seen - wrong), right + rate * (seen - right)
            weights[q] = min(MOST, max(LEAST, weights[q] - ratio * rate * value * (wrong - right)))


def nearest(rows, book):
    """The nearest prototype of each row; ties go to the lowest number."""
    return [min(range(len(book)), key=lambda unit: (squared(row, book[unit]), unit)) for row in rows]


def squared(x, y):
    return total((a - b) * (a - b) for a, b in zip(x, y, strict=True))


def total(numbers):
    """The sum one by one: the built-in one is more exact than the method in some versions of Python."""
    reached = 0.0
    for number in numbers:
        reached += number
    return reached
