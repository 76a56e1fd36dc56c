"""The conditions of disassociation from their definitions: lists, sets, and every itemset by name.

A release is a dictionary: k, m, delta, levels, terms, labels, clusters [{size, opened, chunks, term}],
joints [{clusters, chunks}], term_global. A chunk is a list of (items, count).
"""

from itertools import combinations, pairwise, permutations, product


def checks(release):
    """Return n_checked and n_bad of every condition, by its id."""
    r, k = release, release["k"]
    own = [(c, chunk) for c, cluster in enumerate(r["clusters"]) for chunk in cluster["chunks"]]
    shared = [(j, chunk) for j, joint in enumerate(r["joints"]) for chunk in joint["chunks"]]
    return {
        "C1": rare([chunk for _, chunk in own], k, r["m"]),
        "C2": tally(disjoint(r["clusters"][c], chunk) for c, chunk in own),
        "C3": tally(covered(r, cluster) for cluster in r["clusters"]),
        "C4": rare([chunk for _, chunk in shared], k, r["m"]),
        "C4 joints": tally(
            [shared_disjoint(r, j, chunk) for j, chunk in shared]
            + [joint["clusters"] and joint["clusters"] == sorted(set(joint["clusters"])) for joint in r["joints"]]
        ),
        "C5": tally(not universal(r, c) for c, cluster in enumerate(r["clusters"]) if cluster["term"]),
        "C6": (None, disorders(r)),
        "sizes": sizes(r),
        "terms": terms(r),
    }


def tally(good):
    flags = [bool(word) for word in good]
    return len(flags), flags.count(False)


def supports(chunk, m):
    """Return the support of every itemset of at most m items that occurs."""
    found = {}
    for items, count in chunk:
        for size in range(1, m + 1):
            for chosen in combinations(sorted(set(items)), size):
                found[chosen] = found.get(chosen, 0) + count
    return found


def rare(chunks, k, m):
    if k == 1:
        return 0, 0
    every = [support for chunk in chunks for support in supports(chunk, m).values()]
    return len(every), sum(support < k for support in every)


def domain(chunk):
    return {item for items, _ in chunk for item in items}


def size(chunk):
    return sum(count for _, count in chunk)


def filled(chunk):
    return bool(chunk) and all(items for items, _ in chunk)


def disjoint(cluster, chunk):
    others = [domain(other) for other in cluster["chunks"] if other is not chunk]
    taken = set(cluster["term"]).union(*others)
    return filled(chunk) and size(chunk) <= cluster["size"] and not domain(chunk) & taken


def covered(release, cluster):
    if release["terms"] in ("cluster", "suppress") and cluster["term"] and not cluster["opened"]:
        return False
    if cluster["opened"]:
        return True
    v = len(cluster["chunks"])
    needed = cluster["size"] + release["k"] * (min(release["m"], v) - 1)
    return v >= 1 and sum(size(chunk) for chunk in cluster["chunks"]) >= needed


def shared_disjoint(release, number, chunk):
    members = set(release["joints"][number]["clusters"])
    records = sum(release["clusters"][c]["size"] for c in release["joints"][number]["clusters"])
    taken = set()
    for c in members:
        taken |= set(release["clusters"][c]["term"]).union(*map(domain, release["clusters"][c]["chunks"]))
    for joint in release["joints"]:
        if members & set(joint["clusters"]):
            taken |= set().union(*(domain(other) for other in joint["chunks"] if other is not chunk))
    return filled(chunk) and size(chunk) <= records and not domain(chunk) & taken


def universal(release, number):
    """Say whether an item is in every record of a cluster, by its own chunks or by those of a joint."""
    cluster = release["clusters"][number]
    places = [(chunk, cluster["size"]) for chunk in cluster["chunks"]]
    for joint in release["joints"]:
        if number in joint["clusters"]:
            records = sum(release["clusters"][c]["size"] for c in joint["clusters"])
            places += [(chunk, records) for chunk in joint["chunks"]]
    return any(support >= records for chunk, records in places for support in supports(chunk, 1).values())


def terms(release):
    listed = [c for c, cluster in enumerate(release["clusters"]) for _ in cluster["term"]]
    without = len(release["term_global"])
    wrong = {"drop": len(listed) + without, "global": len(listed)}.get(release["terms"], without)
    if sum(cluster["size"] for cluster in release["clusters"]) < release["k"]:
        wrong = len(listed) + without
    return len(listed) + without, wrong


def sizes(release):
    k, delta, n = release["k"], release["delta"], sum(cluster["size"] for cluster in release["clusters"])
    found = [cluster["size"] for cluster in release["clusters"]]
    good = [k <= each <= delta for each in found]
    if n < k:
        chunks = sum(len(each["chunks"]) for each in release["clusters"] + release["joints"])
        good = [each <= delta for each in found] + [False] * chunks
    joints = [sum(found[c] for c in joint["clusters"]) for joint in release["joints"]]
    return tally(good + [each <= delta * 2 ** release["levels"] for each in joints])


def disorders(release):
    """Count the places where something stands before what should stand before it."""
    every = [each["chunks"] for each in release["clusters"] + release["joints"]]
    wrong = 0
    for chunks in every:
        for chunk in chunks:
            wrong += sum(a >= b for items, _ in chunk for a, b in pairwise(items))
            wrong += sum(a >= b for (a, _), (b, _) in pairwise(chunk))
        first = [min((items[0] for items, _ in chunk if items), default=-1) for chunk in chunks]
        wrong += sum(a >= b for a, b in pairwise(first))
    named = [(c, item) for c, cluster in enumerate(release["clusters"]) for item in cluster["term"]]
    wrong += sum(a >= b for a, b in pairwise([(-1, item) for item in release["term_global"]] + named))
    contents = [(cluster["size"], cluster["chunks"]) for cluster in release["clusters"]]
    wrong += sum(a > b for a, b in pairwise(contents))
    wrong += sum(a >= b for a, b in pairwise([joint["clusters"] for joint in release["joints"]]))
    wrong += sum(not joint["chunks"] for joint in release["joints"])
    used = set().union(*(domain(chunk) for chunks in every for chunk in chunks), release["term_global"])
    used |= {item for _, item in named}
    wrong += len(release["labels"]) - len(used)
    return wrong + (release["labels"] != sorted(set(release["labels"])))


def preimages(size, chunks):
    """Give every data set behind a cluster without terms: slots with the sub-records of each chunk, no slot empty."""
    laid = []
    for number, chunk in enumerate(chunks):
        subs = [tuple(items) for items, count in chunk for _ in range(count)]
        padded = tuple(sorted(subs + [()] * (size - len(subs))))
        # Slots have no names, so that the first chunk may lie in any one way.
        laid.append([padded] if not number else sorted(set(permutations(padded))))
    for chosen in product(*laid):
        records = [set().union(*parts) for parts in zip(*chosen, strict=True)]
        if all(records):
            yield records


def guaranteed(size, chunks, k, m):
    """Say whether each itemset of at most m items is in no pre-image, or in k records of some pre-image."""
    items = sorted(set().union(*map(domain, chunks)))
    most = {}
    for records in preimages(size, chunks):
        for length in range(1, m + 1):
            for chosen in combinations(items, length):
                held = sum(set(chosen) <= record for record in records)
                most[chosen] = max(most.get(chosen, 0), held)
    return all(held == 0 or held >= k for held in most.values())


def plain(records, k, m):
    """Return the itemsets of at most m items that are in some records but fewer than k."""
    found = supports([(record, 1) for record in records], m)
    return sorted(
        (chosen for chosen, support in found.items() if support < k), key=lambda chosen: (len(chosen), chosen)
    )
