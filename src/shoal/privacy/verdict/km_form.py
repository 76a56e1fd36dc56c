"""The result of a check, and the checks of the form of a disassociated data set: arrays, order and sizes."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from shoal.model.disassociated import Disassociated, TermPolicy
from shoal.model.transactions import in_order

MOST = 1 << 40  # limit of records and of every number: sums then stay exact
MOST_LEVELS = 32


@dataclass(frozen=True)
class Check:
    """One condition that was checked."""

    id: str  # C1 to C6 as in the specification, or a word
    what: str  # what should hold
    n_checked: int
    n_bad: int
    where: tuple[int, ...] = ()  # the first clusters, chunks or places that fail; never an item

    @property
    def ok(self) -> bool:
        """Whether nothing fails."""
        return not self.n_bad

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "id": self.id,
            "what": self.what,
            "ok": self.ok,
            "n_checked": self.n_checked,
            "n_bad": self.n_bad,
            "where": list(self.where),
        }


def bad(id: str, what: str, wrong: NDArray[np.bool_]) -> Check:  # noqa: A002
    """Return the check of an array that flags failures."""
    places = np.flatnonzero(wrong)
    return Check(id, what, int(wrong.size), int(places.size), tuple(places[:10].tolist()))


def form(published: Disassociated) -> Check:
    """Check that the arrays are consistent and that every number refers to something; all other checks need it."""
    p = published
    numbers = (p.k, p.m, p.delta)
    sound = [
        all(1 <= number < MOST for number in numbers),
        0 <= p.levels <= MOST_LEVELS,
        p.terms in get_args(TermPolicy),
        p.opened.size == p.sizes.size,
        p.chunk_joint.size == p.chunk_cluster.size,
        p.term_item.size == p.term_cluster.size,
        _cuts(p.chunk_ptr, p.chunk_cluster.size, p.counts.size),
        _cuts(p.sub_ptr, p.counts.size, p.items.size),
        _cuts(p.joint_ptr, p.joint_ptr.size - 1, p.joint_clusters.size),
        float(p.sizes.sum(dtype=float)) < MOST,
        float(p.counts.sum(dtype=float)) < MOST * max(1, p.chunks),
    ]
    wrong = sound.count(False)
    checked = len(sound)
    for values, low, high in (
        (p.items, 0, len(p.labels)),
        (p.term_item, 0, len(p.labels)),
        (p.term_cluster, -1, p.clusters),
        (p.joint_clusters, 0, p.clusters),
        (p.chunk_cluster, -1, p.clusters),
        (p.chunk_joint, -1, p.joint_ptr.size - 1),
        (p.sizes, 1, MOST),
        (p.counts, 1, MOST),
    ):
        wrong += int(((values < low) | (values >= high)).sum())
        checked += values.size
    if p.chunk_joint.size == p.chunk_cluster.size:
        wrong += int(((p.chunk_cluster < 0) == (p.chunk_joint < 0)).sum())
    return Check("form", "every number refers to an existing element", checked, wrong)


def order(published: Disassociated) -> Check:
    """Check C6: every order is canonical, so that it reveals nothing, and every label is used.

    Items ascend in a sub-record; sub-records of a chunk, chunks of a cluster (by their smallest item), terms and joints
    ascend; clusters ascend by size, then by content; clusters come before joints. Joints differ, and each has a chunk.
    Labels are distinct and in order.
    """
    p = published
    wrong = np.concatenate([np.asarray(part, bool).ravel() for part in _disorders(p)])
    return Check("C6", "the order reveals nothing", int(wrong.size), int(wrong.sum()))


def sizes(published: Disassociated) -> Check:
    """Check that clusters have k to delta records and joints few enough; fewer than k records give no chunk at all."""
    p = published
    total = np.concatenate([[0], np.cumsum(p.sizes[p.joint_clusters])])
    joint = total[p.joint_ptr[1:]] - total[p.joint_ptr[:-1]]
    if p.n < p.k:
        wrong = np.concatenate([p.sizes > p.delta, np.ones(p.chunks, bool)])
    else:
        wrong = (p.sizes < p.k) | (p.sizes > p.delta)
    large = joint > p.delta * 2**p.levels
    return bad("sizes", "k to delta records in a cluster", np.concatenate([wrong, large]))


def _cuts(ptr: NDArray[np.int64], n: int, end: int) -> bool:
    """Say whether an array cuts `end` elements into n segments."""
    return bool(ptr.size == n + 1 and n >= 0 and ptr[0] == 0 and ptr[-1] == end and (np.diff(ptr) >= 0).all())


def _disorders(p: Disassociated) -> Iterator[Any]:
    """Flag, for each order, the places where it is broken."""
    inside = np.ones(p.items.size, bool)
    inside[p.sub_ptr[:-1][np.diff(p.sub_ptr) > 0]] = False
    yield (np.diff(p.items, prepend=-1) <= 0) & inside
    subs = _subs(p)
    ends = p.chunk_ptr.tolist()
    yield [one >= two for a, b in pairwise(ends) for one, two in pairwise(subs[a:b])]
    scope = list(zip((p.chunk_cluster < 0).tolist(), (p.chunk_cluster + p.chunk_joint).tolist(), strict=True))
    smallest = [min((sub[0] for sub in subs[a:b] if sub), default=-1) for a, b in pairwise(ends)]
    yield [one >= two for one, two in pairwise(zip(scope, smallest, strict=True))]
    terms = list(zip(p.term_cluster.tolist(), p.term_item.tolist(), strict=True))
    yield [one >= two for one, two in pairwise(terms)]
    yield [one > two for one, two in pairwise(_contents(p, subs))]
    joints = [p.joint_clusters[a:b].tolist() for a, b in pairwise(p.joint_ptr.tolist())]
    yield [one >= two for one, two in pairwise(joints)]
    yield (
        np.bincount(p.chunk_joint[p.chunk_joint >= 0], minlength=len(joints)) == 0
    )  # a joint without a chunk would reveal something
    used = np.zeros(len(p.labels), bool)
    used[p.items] = True
    used[p.term_item] = True
    yield ~used
    # Integers may be ordered as text: in the original they may stand beside an unpublished label that is not one.
    as_text = tuple(sorted(p.labels, key=lambda label: label.encode("utf-8", "surrogatepass")))
    yield len(set(p.labels)) < len(p.labels) or p.labels not in (in_order(p.labels), as_text)


def _subs(p: Disassociated) -> list[list[int]]:
    """Return the sub-records as lists."""
    items = p.items.tolist()
    return [items[a:b] for a, b in pairwise(p.sub_ptr.tolist())]


def _contents(p: Disassociated, subs: list[list[int]]) -> list[tuple[int, list[Any]]]:
    """Return what clusters are ordered by: the size, then for each chunk its sub-records with their counts."""
    found: list[tuple[int, list[Any]]] = [(size, []) for size in p.sizes.tolist()]
    counts, ends = p.counts.tolist(), p.chunk_ptr.tolist()
    for chunk, cluster in enumerate(p.chunk_cluster.tolist()):
        if cluster >= 0:
            inside = range(ends[chunk], ends[chunk + 1])
            found[cluster][1].append([(subs[s], counts[s]) for s in inside])
    return found
