"""Small disassociated data sets for tests: made, damaged and written without the methods of shoal."""

import copy
from itertools import pairwise

import numpy as np

from naive.km import covered, rare
from shoal.model.disassociated import Disassociated

SOUND = {
    "k": 2,
    "m": 2,
    "delta": 6,
    "levels": 1,
    "terms": "global",
    "labels": ["a", "b", "c", "d", "e", "f"],
    "clusters": [
        {"size": 4, "opened": False, "term": [], "chunks": [[([0], 2), ([0, 1], 2)], [([2], 2)]]},
        {"size": 5, "opened": True, "term": [], "chunks": [[([0], 3), ([1], 2)]]},
        {"size": 6, "opened": True, "term": [], "chunks": [[([1], 4)], [([3], 3)]]},
    ],
    "joints": [{"clusters": [0, 1], "chunks": [[([3], 2), ([4], 2)]]}],
    "term_global": [5],
}


def published(release):
    """Lay out a release (see naive.km) as shoal does."""
    scopes = [(c, -1, chunk) for c, each in enumerate(release["clusters"]) for chunk in each["chunks"]]
    scopes += [(-1, j, chunk) for j, each in enumerate(release["joints"]) for chunk in each["chunks"]]
    subs = [sub for _, _, chunk in scopes for sub in chunk]
    terms = [(-1, item) for item in release["term_global"]]
    terms += [(c, item) for c, each in enumerate(release["clusters"]) for item in each["term"]]
    return Disassociated(
        k=release["k"],
        m=release["m"],
        delta=release["delta"],
        levels=release["levels"],
        terms=release["terms"],
        labels=tuple(release["labels"]),
        sizes=np.array([each["size"] for each in release["clusters"]], np.int64),
        opened=np.array([each["opened"] for each in release["clusters"]], bool),
        chunk_cluster=np.array([c for c, _, _ in scopes], np.int32),
        chunk_joint=np.array([j for _, j, _ in scopes], np.int32),
        chunk_ptr=np.cumsum([0, *(len(chunk) for _, _, chunk in scopes)], dtype=np.int64),
        sub_ptr=np.cumsum([0, *(len(items) for items, _ in subs)], dtype=np.int64),
        counts=np.array([count for _, count in subs], np.int64),
        items=np.array([item for items, _ in subs for item in items], np.int32),
        joint_ptr=np.cumsum([0, *(len(each["clusters"]) for each in release["joints"])], dtype=np.int64),
        joint_clusters=np.array([c for each in release["joints"] for c in each["clusters"]], np.int32),
        term_cluster=np.array([c for c, _ in terms], np.int32),
        term_item=np.array([item for _, item in terms], np.int32),
    )


def bag(records, domain):
    """Return the non-empty projections of records, sorted, with their counts."""
    found = {}
    for record in records:
        left = tuple(sorted(set(record) & domain))
        if left:
            found[left] = found.get(left, 0) + 1
    return [(list(items), found[items]) for items in sorted(found)]


def domains(records, candidates, k, m):
    """Split items into domains whose bags are k^m-anonymous, one item after the other; the rest is left."""
    left = sorted(candidates, key=lambda item: (-sum(item in record for record in records), item))
    left = [item for item in left if sum(item in record for record in records) >= k]
    found = []
    while left:
        now = set()
        for item in left:
            if not rare([bag(records, now | {item})], k, m)[1]:
                now.add(item)
        left = [item for item in left if item not in now]
        found.append(now)
    return found


def cluster(records, k, m):
    """Return a cluster of these records, and the items that no chunk of it has."""
    every = set().union(*records)
    allowed = set(every)
    while True:
        found = domains(records, allowed, k, m)
        term = every.difference(*found)
        made = {
            "size": len(records),
            "opened": bool(term),
            "term": [],
            "chunks": sorted(bag(records, one) for one in found),
        }
        if covered({"terms": "global", "k": k, "m": m}, made):
            return made, term
        placed = set().union(*found)
        allowed = placed - {min(placed, key=lambda item: (sum(item in record for record in records), -item))}


def release(rng, terms="global", k=None, m=None):
    """Make a valid release of random records, with its records and the cluster of each."""
    k, m = k or rng.randint(2, 3), m or rng.randint(1, 3)
    letters = "abcdefghi"[: rng.randint(2, 9)]
    weights = [rng.random() ** 2 for _ in letters]
    n = rng.choice([0, *range(k, 30)])
    records = [
        sorted({rng.choices(range(len(letters)), weights)[0] for _ in range(rng.randint(1, 5))}) for _ in range(n)
    ]
    records.sort()
    cuts, delta = [0], rng.randint(2 * k, 4 * k)
    while n - cuts[-1] > delta:
        cuts.append(cuts[-1] + rng.randint(k, min(delta, n - cuts[-1] - k)))
    blocks = [records[a:b] for a, b in pairwise([*cuts, n])] if n else []
    made = [(*cluster(block, k, m), block) for block in blocks]
    joints = [shared(made[a : a + 2], a, k, m) for a in range(0, len(made) - 1, 2)]
    order = sorted(range(len(made)), key=lambda c: (made[c][0]["size"], made[c][0]["chunks"]))
    number = {c: place for place, c in enumerate(order)}
    for each, term, _ in made:
        each["opened"] = bool(term)
        each["term"] = sorted(term) if terms == "cluster" else []
    everything = {
        "k": k,
        "m": m,
        "delta": delta,
        "levels": 1,
        "terms": terms,
        "labels": list(letters),
        "clusters": [made[c][0] for c in order],
        "joints": sorted(
            ({**joint, "clusters": sorted(number[c] for c in joint["clusters"])} for joint in joints if joint),
            key=lambda joint: joint["clusters"],
        ),
        "term_global": [],
    }
    if terms == "global":
        lost = set().union(*(term for _, term, _ in made))
        everything["term_global"] = sorted(i for i in lost if sum(i in record for record in records) >= k)
    home = {number[c]: block for c, (_, _, block) in enumerate(made)}
    pairs = [(record, c) for c in sorted(home) for record in home[c]]
    truth = [([letters[i] for i in record], c) for record, c in pairs]
    return renumbered(everything), truth


def shared(pair, start, k, m):
    """Return a joint of two clusters with chunks of items that are terms of both, or nothing; their terms shrink."""
    records = [record for _, _, block in pair for record in block]
    kept = [set().union(*(items for chunk in each["chunks"] for items, _ in chunk)) for each, _, _ in pair]
    free = set().union(*(term for _, term, _ in pair)) - set().union(*kept)
    found = domains(records, free, k, m)
    taken = set().union(*found)
    for each, term, _ in pair:
        closed = {**each, "opened": False}
        if not term - taken and not covered({"terms": "global", "k": k, "m": m}, closed):
            return None
    for _, term, _ in pair:
        term.difference_update(taken)
    chunks = sorted(bag(records, one) for one in found)
    return {"clusters": [start, start + 1], "chunks": chunks} if chunks else None


def renumbered(made):
    """Leave out labels that nothing uses."""
    made = copy.deepcopy(made)
    scopes = made["clusters"] + made["joints"]
    used = {i for each in scopes for chunk in each["chunks"] for items, _ in chunk for i in items}
    used |= set(made["term_global"]).union(*(each["term"] for each in made["clusters"]))
    number = {item: place for place, item in enumerate(sorted(used))}
    for each in scopes:
        each["chunks"] = [[([number[i] for i in items], count) for items, count in chunk] for chunk in each["chunks"]]
    for each in made["clusters"]:
        each["term"] = [number[i] for i in each["term"]]
    made["term_global"] = [number[i] for i in made["term_global"]]
    made["labels"] = [made["labels"][i] for i in sorted(used)]
    return made


def named(made):
    """Leave out terms that are in no chunk, as the pipeline does, and their labels."""
    scopes = made["clusters"] + made["joints"]
    chunked = {i for each in scopes for chunk in each["chunks"] for items, _ in chunk for i in items}
    made = copy.deepcopy(made)
    made["term_global"] = [i for i in made["term_global"] if i in chunked]
    for each in made["clusters"]:
        each["term"] = [i for i in each["term"] if i in chunked]
    return renumbered(made)


def damaged(rng, made):
    """Return a copy of a release with one to three random changes, most of them for the worse."""
    made = copy.deepcopy(made)
    for _ in range(rng.randint(1, 3)):
        rng.choice(DAMAGES)(rng, made)
    return made


def some_chunk(rng, made):
    chunks = [chunk for each in made["clusters"] + made["joints"] for chunk in each["chunks"] if chunk]
    return rng.choice(chunks) if chunks else None


def drop_sub(rng, made):
    chunk = some_chunk(rng, made)
    if chunk:
        chunk.pop(rng.randrange(len(chunk)))


def change_count(rng, made):
    chunk = some_chunk(rng, made)
    if chunk:
        place = rng.randrange(len(chunk))
        chunk[place] = (chunk[place][0], max(1, chunk[place][1] + rng.choice([-2, -1, 1, 5])))


def change_items(rng, made):
    chunk = some_chunk(rng, made)
    if chunk:
        place = rng.randrange(len(chunk))
        items = rng.choices(range(len(made["labels"])), k=rng.randint(0, 3))
        chunk[place] = (sorted(set(items)) if rng.random() < 0.7 else items, chunk[place][1])


def add_sub(rng, made):
    chunk = some_chunk(rng, made)
    if chunk:
        chunk.insert(rng.randrange(len(chunk) + 1), ([rng.randrange(len(made["labels"]))], rng.randint(1, 4)))


def turn_around(rng, made):
    rng.choice([made["clusters"], made["joints"], made["term_global"], some_chunk(rng, made) or []]).reverse()


def change_cluster(rng, made):
    if made["clusters"]:
        each = rng.choice(made["clusters"])
        if rng.random() < 0.5:
            each["size"] = max(1, each["size"] + rng.choice([-3, -1, 1, 20]))
        else:
            each["opened"] = not each["opened"]


def change_terms(rng, made):
    if made["clusters"] and made["labels"]:
        rng.choice(made["clusters"])["term"] = sorted(rng.choices(range(len(made["labels"])), k=rng.randint(0, 2)))


def change_joint(rng, made):
    if made["joints"] and made["clusters"]:
        members = rng.choices(range(len(made["clusters"])), k=rng.randint(0, 3))
        rng.choice(made["joints"])["clusters"] = sorted(set(members)) if rng.random() < 0.7 else members


def change_parameters(rng, made):
    made[rng.choice(["k", "m", "delta"])] = rng.randint(1, 5)
    made["levels"] = rng.randint(0, 1)
    if rng.random() < 0.5:
        made["terms"] = rng.choice(["global", "drop", "cluster", "suppress"])


def change_labels(rng, made):
    made["labels"].append("z")
    if rng.random() < 0.5:
        made["labels"].reverse()


DAMAGES = [
    drop_sub,
    change_count,
    change_items,
    add_sub,
    turn_around,
    change_cluster,
    change_terms,
    change_joint,
    change_parameters,
    change_labels,
]
