"""Hulls and their losses, from the definition: a hull is the set of all values that it cannot tell apart."""


def leaves_of(tree):
    """Return the leaves below a node; a node is a list of nodes, a leaf anything else."""
    return [leaf for child in tree for leaf in leaves_of(child)] if isinstance(tree, list) else [tree]


def lowest_above(tree, wanted):
    """Return the lowest node above all wanted leaves."""
    if isinstance(tree, list):
        for child in tree:
            if set(wanted) <= set(leaves_of(child)):
                return lowest_above(child, wanted)
    return tree


def range_loss(values, places):
    """Return the loss of some values, of which None is missing; `places` are all that there are."""
    held = [value for value in values if value is not None]
    known = [place for place in places if place is not None]
    part = 1 / (len(known) + 1) if None in places and known else 0
    if not held:
        return 0
    width = max(known) - min(known)
    stretch = (max(held) - min(held)) / width if width else 0
    return stretch * (1 - part) + (part if None in values else 0)


def tree_loss(values, tree):
    """Return the loss of some leaves."""
    whole = len(leaves_of(tree))
    return (len(leaves_of(lowest_above(tree, values))) - 1) / (whole - 1) if whole > 1 else 0


def set_loss(values, names):
    """Return the loss of some names."""
    return (len(set(values)) - 1) / (len(names) - 1) if len(names) > 1 else 0


def loss(rows, columns, weights):
    """Return the weighted loss of rows; a column is a kind and what there is in it."""
    each = {"range": range_loss, "tree": tree_loss, "set": set_loss}
    losses = [each[kind]([row[j] for row in rows], there) for j, (kind, there) in enumerate(columns)]
    return sum(weight * one for weight, one in zip(weights, losses, strict=True)) / sum(weights)
