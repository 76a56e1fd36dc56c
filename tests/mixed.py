"""Random mixed tables: as plain values for the naive twins, and as columns for the loops."""

from itertools import pairwise

import numpy as np

from naive.columns import leaves_of, lowest_above
from shoal.kernels.columns import Range, Set, Tree, columns_of


def groups_of(labels):
    """Return the rows of each group, sorted."""
    return sorted(np.flatnonzero(labels == group).tolist() for group in np.unique(labels))


def random_tree(rng, leaves):
    """Return a random tree with these leaves, in their order."""
    if len(leaves) < 2:
        return leaves[0]
    if len(leaves) == 2 or rng.random() < 0.3:
        return list(leaves)
    cuts = sorted(rng.sample(range(1, len(leaves)), min(rng.randint(1, 3), len(leaves) - 1)))
    parts = [leaves[a:b] for a, b in zip([0, *cuts], [*cuts, len(leaves)], strict=True)]
    return [random_tree(rng, part) for part in parts]


def tree_shape(tree, levels=None):
    """Return a tree in the form that the loops use."""
    leaves = leaves_of(tree)
    whole = len(leaves)
    above = (len(leaves_of(lowest_above(tree, pair))) for pair in pairwise(leaves))
    return Tree(np.array([(count - 1) / (whole - 1) for count in above]), levels)


def random_column(rng, n):
    """Return a kind, the possible values of the column, its cells, their codes and its shape."""
    kind = rng.choice(["range", "tree", "set"])
    size = rng.choice([1, 2, 3, 5, 9, 70])
    if kind == "range":
        missing = rng.random() < 0.5
        places = sorted(rng.sample(range(200), size))
        there = [*places, None] if missing else places
        shape = Range(np.array(places, float), missing)
    elif kind == "tree":
        there = random_tree(rng, list(range(size)))
        there = there if isinstance(there, list) else [there]
        shape = tree_shape(there)
    else:
        there = list(range(size))
        shape = Set(size)
    values = leaves_of(there) if kind == "tree" else there
    codes = [rng.randrange(len(values)) for _ in range(n)]
    return (kind, there), [values[code] for code in codes], np.array(codes), shape


def random_table(rng, n, d):
    """Return rows of values, descriptions of the columns, their weights, and all of it as `Columns`."""
    made = [random_column(rng, n) for _ in range(d)]
    weights = [rng.choice([1.0, 2.0, 0.5]) for _ in range(d)]
    rows = [tuple(cells[i] for _, cells, _, _ in made) for i in range(n)]
    columns = columns_of([codes for *_, codes, _ in made], [shape for *_, shape in made], np.array(weights))
    return rows, [what for what, *_ in made], weights, columns


def exact_column(rng, n):
    """Return a column whose losses are multiples of small powers of a half, so that ties are exact."""
    kind = rng.choice(["range", "tree", "set"])
    size = rng.choice([2, 3, 5, 9])
    if kind == "range":
        missing = rng.random() < 0.5
        inner = rng.sample(range(1, 8), rng.choice([1, 5]) if missing else rng.randint(0, 5))
        places = sorted([0, 8, *inner])
        there = [*places, None] if missing else places
        shape, values = Range(np.array(places, float), missing), there
    elif kind == "tree":
        there = random_tree(rng, list(range(size)))
        middle = [branch for branch, child in enumerate(there) for _ in leaves_of(child)]
        levels = np.array([range(size), middle, [0] * size]) if rng.random() < 0.7 else None
        shape, values = tree_shape(there, levels), list(range(size))
    else:
        there = values = list(range(size))
        shape = Set(size)
    codes = [rng.randrange(len(values)) for _ in range(n)]
    return (kind, there), values, np.array(codes), shape


def exact_table(rng, n, d):
    """Return a table of exact columns of equal weight, as `random_table` does, and the levels of each."""
    made = [exact_column(rng, n) for _ in range(d)]
    columns = columns_of([codes for *_, codes, _ in made], [shape for *_, shape in made])
    rows = [tuple(values[codes[i]] for _, values, codes, _ in made) for i in range(n)]
    levels = [
        [dict(zip(values, level.tolist(), strict=False)) for level in columns.levels(j)]
        for j, (_, values, _, _) in enumerate(made)
    ]
    return rows, [what for what, *_ in made], [1.0] * d, columns, levels
