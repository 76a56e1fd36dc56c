"""Clusters by rules, from the definition: records and rules are sets, and the path of a segment is remembered."""

from itertools import pairwise


def by_rules(records, rules, k, delta, rest):
    """Return the clusters as lists of record numbers; `rest` partitions the records that no rule gathers."""
    holders = {i: [r for r, record in enumerate(records) if rule <= record] for i, rule in enumerate(rules)}
    holders = {i: own for i, own in holders.items() if len(own) >= k}
    owner = {}
    for i in sorted(holders, key=lambda i: (len(holders[i]), i)):
        free = [r for r in holders[i] if r not in owner]
        if len(free) >= k:
            owner.update((r, i) for r in free)
    return clusters_of(records, holders, settle(holders, owner, k), k, delta, rest)


def settle(holders, owner, k):
    """Records of clusters below k, and of none, go to the cluster that has most of their most supported rule."""
    groups = {}
    for r, i in owner.items():
        groups.setdefault(i, set()).add(r)
    groups = {i: group for i, group in groups.items() if len(group) >= k}
    settled = {r: i for i, group in groups.items() for r in group}
    homeless = {r for own in holders.values() for r in own} - set(settled)
    for r in homeless:
        for i in sorted((i for i in holders if r in holders[i]), key=lambda i: (-len(holders[i]), i)):
            there = [(-len(group & set(holders[i])), c) for c, group in groups.items() if group & set(holders[i])]
            if there:
                settled[r] = min(there)[1]
                break
    return settled


def clusters_of(records, holders, owner, k, delta, rest):
    made = []
    for i in sorted(set(owner.values())):
        group = [r for r in range(len(records)) if owner.get(r) == i]
        leaves = split(records, holders, group, [("rule", i)], k, delta)
        made += mend(leaves, k, delta)
    others = [r for r in range(len(records)) if r not in owner]
    if made and 0 < len(others) < k:
        last = made.pop() + others
        made += even(last, 2) if len(last) > delta else [last]
    elif others:
        made += rest(others)
    return made


def split(records, holders, segment, path, k, delta):
    """The rarest rule off the path that k records hold, else the most frequent such item, takes its records away."""
    if len(segment) <= delta:
        return [segment]
    leaves, alive = [], segment
    while len(alive) > delta:
        rules = [("rule", i) for i in holders]
        items = [("item", item) for item in sorted({item for r in alive for item in records[r]})]
        taken = None
        for kind, sign in ((rules, 1), (items, -1)):
            counted = [(sign * len(having(records, holders, alive, one)), one) for one in kind if one not in path]
            counted = [(count, one) for count, one in counted if abs(count) >= k]
            if counted:
                taken = min(counted)[1]
                break
        if taken is None:
            break
        own = having(records, holders, alive, taken)
        leaves += split(records, holders, own, [*path, taken], k, delta)
        alive = [r for r in alive if r not in own]
    return leaves + (even(alive, -(-len(alive) // delta)) if alive else [])


def having(records, holders, alive, one):
    kind, number = one
    return [r for r in alive if (r in holders[number] if kind == "rule" else number in records[r])]


def mend(leaves, k, delta):
    """Leaves below k join the one before, the first the next; leaves below 2k if delta allows; then cut evenly."""
    joined = []
    for leaf in leaves:
        sizes = (len(leaf), len(joined[-1])) if joined else None
        if joined and (min(sizes) < k or (min(sizes) < 2 * k and sum(sizes) <= delta)):
            joined[-1] = joined[-1] + leaf
        else:
            joined.append(leaf)
    return [block for leaf in joined for block in even(leaf, -(-len(leaf) // delta))]


def even(leaf, blocks):
    size, more = divmod(len(leaf), blocks)
    cuts = [b * size + min(b, more) for b in range(blocks + 1)]
    return [leaf[a:b] for a, b in pairwise(cuts)]
