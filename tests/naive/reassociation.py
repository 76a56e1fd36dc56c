"""Re-association from its definition: lists of slots, and the stream of chance written out once more."""

WORD = (1 << 64) - 1


class RandomStream:
    """Marsaglia's xorshift of two words."""

    def __init__(self, one, two):
        self.words = [one, two]

    def below(self, n):
        one, two = self.words
        one ^= (one << 23) & WORD
        one ^= one >> 17
        one ^= two ^ (two >> 26)
        self.words = [two, one]
        return int((one >> 11) * 2.0**-53 * n)


def reassociate(sizes, opened, chunks, joints, terms, words, once=False, nonempty=False):
    """Return the records of all slots, sorted.

    A chunk is (cluster or None, joint or None, [(sub-record, count), ...]), a joint a list of clusters, a term
    (cluster or None, item).
    """
    rng = RandomStream(*words)
    chunks, joints = list(chunks), [list(joint) for joint in joints]
    if once:
        joints.append([c for c, flag in enumerate(opened) if flag] or list(range(len(sizes))))
        for cluster, item in terms:
            chunks.append((cluster, None if cluster is not None else len(joints) - 1, [((item,), 1)]))
    slots = [[(cluster, place) for place in range(size)] for cluster, size in enumerate(sizes)]
    pieces = []
    shuffled, present = [], None
    for cluster, joint, subs in chunks:
        if cluster is not None:
            among = slots[cluster]
        else:
            if joint != present:
                shuffled = [(c, place) for c in joints[joint] for place in range(sizes[c])]
                present = joint
            among = shuffled
        every = [sub for sub, count in subs for _ in range(count)]
        for place, sub in enumerate(every):
            other = place + rng.below(len(among) - place)
            among[place], among[other] = among[other], among[place]
            pieces.append([cluster, joint, sub, among[place]])
    if nonempty:
        spread(pieces, slots, joints, rng)
    records = {slot: set() for cluster in slots for slot in cluster}
    for _, _, sub, slot in pieces:
        records[slot] |= set(sub)
    return sorted(sorted(record) for record in records.values())


def spread(pieces, slots, joints, rng):
    """Move pieces in random order from slots with several to the first empty slot of their cluster or joint."""
    order = list(range(len(pieces)))
    for place in range(len(order)):
        other = place + rng.below(len(order) - place)
        order[place], order[other] = order[other], order[place]
    for shared in (False, True):
        for number in order:
            cluster, joint, _, slot = pieces[number]
            taken = [piece[3] for piece in pieces]
            if (cluster is None) != shared or taken.count(slot) < 2:
                continue
            scope = joints[joint] if shared else [cluster]
            free = [at for c in scope for at in slots[c] if at not in taken]
            if free:
                pieces[number][3] = free[0]
