"""Disassociation from its definition: records are lists of numbers, sets are sets, and everything is counted anew."""

from itertools import combinations


def recursive(records, k, delta):
    """Return the clusters as lists of record numbers; every cluster has k to delta records."""
    return merged(split(records, list(range(len(records))), set(), k, delta), k, delta)


def split(records, segment, ignored, k, delta):
    if len(segment) <= delta:
        return [segment] if segment else []
    clusters, alive = [], segment
    while len(alive) > delta:
        best = most_frequent(records, alive, ignored)
        if best is None or best[0] < k:
            break
        item = best[1]
        clusters += split(records, [r for r in alive if item in records[r]], ignored | {item}, k, delta)
        alive = [r for r in alive if item not in records[r]]
    return clusters + blocks(alive, delta)


def iterative(records, k, delta, faithful=False):
    clusters, alive = [], list(range(len(records)))
    while alive:
        count, item = most_frequent(records, alive, set())
        if count < k and not faithful:
            break
        clusters.append([r for r in alive if item in records[r]][:delta])
        alive = [r for r in alive if r not in clusters[-1]]
    clusters += blocks(alive, delta)
    return clusters if faithful else merged(clusters, k, delta)


def most_frequent(records, alive, ignored):
    """Return (count, item) of the most frequent item, the lowest of several."""
    counts = {}
    for r in alive:
        for item in records[r]:
            if item not in ignored:
                counts[item] = counts.get(item, 0) + 1
    if not counts:
        return None
    return min(((count, item) for item, count in counts.items()), key=lambda pair: (-pair[0], pair[1]))


def blocks(rows, delta):
    """Cut rows into as few blocks as can be, as even as can be, larger ones first."""
    number = -(-len(rows) // delta)
    sizes = [len(rows) // number + (1 if b < len(rows) % number else 0) for b in range(number)]
    return [rows[sum(sizes[:b]) : sum(sizes[: b + 1])] for b in range(number)]


def merged(clusters, k, delta):
    found = []
    for cluster in clusters:
        if found and (len(cluster) < k or len(found[-1]) < k):
            found[-1] = found[-1] + cluster
        else:
            found.append(cluster)
    return [block for cluster in found for block in blocks(cluster, delta)]


def support(itemset, records):
    return sum(set(itemset) <= set(record) for record in records)


def is_anonymous(records, k, m):
    """Say whether each set of at most m items is in no record or in at least k: k^m-anonymity."""
    itemsets = {s for record in records for size in range(1, m + 1) for s in combinations(sorted(record), size)}
    return all(support(s, records) >= k for s in itemsets)


def queue(records, candidates, rules, k):
    """Items of rules that k records fulfil come first, by support and number of the rule; then the frequent ones."""
    by_rules = sorted((-support(rule, records), n) for n, rule in enumerate(rules) if support(rule, records) >= k)
    first = [item for _, n in by_rules for item in rules[n]]
    rest = sorted(candidates, key=lambda item: (-support([item], records), item))
    return list(dict.fromkeys(first + rest))


def chunks_of(records, candidates, k, m, rules=()):
    """Return the chunks that are filled greedily, as sorted lists of items, by their smallest item."""
    waiting, chunks = queue(records, candidates, rules, k), []
    while waiting:
        chunk, left = [], []
        for item in waiting:
            domain = {*chunk, item}
            if is_anonymous([domain & set(record) for record in records], k, m):
                chunk.append(item)
            else:
                left.append(item)
        chunks.append(sorted(chunk))
        waiting = left
    return sorted(chunks)


def covers(records, chunks, k, m):
    """Say whether chunks are large enough to hide which of their parts belong together."""
    parts = sum(1 for chunk in chunks for record in records if set(chunk) & set(record))
    return bool(chunks) and parts >= len(records) + k * (min(m, len(chunks)) - 1)


def vertical(records, k, m, rules=()):
    """Return (chunks, terms) of a cluster."""
    items = sorted({item for record in records for item in record})
    candidates = [item for item in items if support([item], records) >= k]
    terms = [item for item in items if item not in candidates]
    chunks = chunks_of(records, candidates, k, m, rules)
    if not terms and items and not covers(records, chunks, k, m):
        rarest = min(items, key=lambda item: (support([item], records), item))
        terms = [rarest]
        chunks = sorted(rest for rest in ([i for i in chunk if i != rarest] for chunk in chunks) if rest)
    return chunks, terms


def shared(clusters, k, m, levels):
    """Return ([(chunks, terms) of each cluster], {clusters of a joint: its chunks}), after the clusters were joined."""
    chunked = [vertical(records, k, m) for records in clusters]
    terms = [set(left) for _, left in chunked]
    placed = [{item for chunk in chunks for item in chunk} for chunks, _ in chunked]
    joints = {}
    for level in range(1, levels + 1):
        for low in range(0, len(clusters), 2**level):
            joint = range(low, min(low + 2**level, len(clusters)))
            if len(joint) <= 2 ** (level - 1):
                continue
            records = [record for c in joint for record in clusters[c]]
            banned = set().union(*(placed[c] for c in joint))
            items = set().union(*(terms[c] for c in joint)) - banned
            candidates = [item for item in sorted(items) if support([item], records) >= k]
            chunks = chunks_of([set(candidates) & set(record) for record in records], candidates, k, m)
            back = set()
            for c in joint:
                mine = {item for chunk in chunks for item in chunk} & terms[c]
                if terms[c] and terms[c] <= mine - back and not covers(clusters[c], chunked[c][0], k, m):
                    back.add(min(mine, key=lambda item: (support([item], records), item)))
            chunks = sorted(rest for rest in ([i for i in chunk if i not in back] for chunk in chunks) if rest)
            taken = {item for chunk in chunks for item in chunk}
            for c in joint:
                placed[c] |= terms[c] & taken
                terms[c] -= taken
            if chunks:
                joints[tuple(joint)] = chunks
    return [(chunks, sorted(left)) for (chunks, _), left in zip(chunked, terms, strict=True)], joints


def chunk(records, domain):
    """Return the distinct non-empty parts of records in a domain, sorted, as pairs (items, count)."""
    parts = [tuple(sorted(set(domain) & set(record))) for record in records]
    return [(list(part), parts.count(part)) for part in sorted(set(parts)) if part]


def release(records, k, m, delta, levels, terms="global"):
    """Return what is published: (size, chunks, opened) of clusters, (clusters, chunks) of joints, (cluster, term)."""
    records = sorted(records)
    clusters = [[records[r] for r in cluster] for cluster in recursive(records, k, delta)]
    chunked, joints = shared(clusters, k, m, levels)
    content = [
        (len(mine), [chunk(mine, domain) for domain in chunks])
        for mine, (chunks, _) in zip(clusters, chunked, strict=True)
    ]
    order = sorted(range(len(clusters)), key=lambda c: content[c])
    number = {c: place for place, c in enumerate(order)}
    published = [(*content[c], bool(chunked[c][1])) for c in order]
    found = sorted(
        (
            sorted(number[c] for c in joint),
            [chunk([r for c in joint for r in clusters[c]], domain) for domain in chunks],
        )
        for joint, chunks in joints.items()
    )
    left = sorted((number[c], item) for c, (_, mine) in enumerate(chunked) for item in mine)
    if terms == "global":
        left = [(-1, item) for item in sorted({item for _, item in left}) if support([item], records) >= k]
    return published, found, left if terms != "drop" else []
