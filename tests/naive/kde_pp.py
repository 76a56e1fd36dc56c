"""KDE++ from its definition, by the twins of its parts. Classes are numbers from 0 up, of 15 rows at the most."""

from math import sqrt

from naive import finish, kde, lvq


def kde_pp(rows, codes, k, rngs, width=0.5):
    """Return the group of each row before any search, from two generators of the same chance."""
    _, coded = kde.coding(rows, width=width)
    _, _, weights = lvq.wlvq2(coded, codes, rngs[0])
    length = sqrt(sum(w * w for w in weights) / len(weights))
    space = [[value * w / length for value, w in zip(row, weights, strict=True)] for row in rows]
    book, _, _ = lvq.wlvq2(space, codes, rngs[1], weight_rate=0.0)
    cells = lvq.nearest(space, book)
    return finish.finished(space, cells, k)
