"""Annealing from its definition: every change of SSE is the difference of two sums over the rows concerned.

The stream of chance, the order of a group's members (a row that leaves is replaced by the last one) and the
order of the questions asked of chance are part of the definition, so that the same proposals are made.
"""

import math

MASK = (1 << 64) - 1
ASKED = 12
STRETCH, VISIT, STEP = 1500, 8, 1024


class RandomStream:
    """Two words of 64 bits, shifted and combined."""

    def __init__(self, state):
        self.one, self.two = (int(word) for word in state)

    def uniform(self):
        one, two = self.one, self.two
        one ^= (one << 23) & MASK
        one ^= one >> 17
        one ^= two ^ (two >> 26)
        self.one, self.two = two, one
        return (one >> 11) * 2.0**-53


class Groups:
    """Rows in groups; an empty group can be founded again, the one emptied last first."""

    def __init__(self, rows, weights, labels, count):
        self.rows, self.weights, self.label = rows, weights, list(labels)
        self.members = [[i for i, group in enumerate(labels) if group == g] for g in range(count)]
        self.empty = [g for g in reversed(range(count)) if not self.members[g]]

    def sse(self, group):
        return squares([self.rows[i] for i in self.members[group]], [self.weights[i] for i in self.members[group]])

    def transfer(self, row, target):
        """Put a row into another group; return what that adds to SSE."""
        source = self.label[row]
        before = self.sse(source) + self.sse(target)
        place = self.members[source].index(row)
        self.members[source][place] = self.members[source][-1]
        self.members[source].pop()
        if not self.members[target]:
            self.empty.remove(target)
        if not self.members[source]:
            self.empty.append(source)
        self.members[target].append(row)
        self.label[row] = target
        return self.sse(source) + self.sse(target) - before

    def moving(self, row, target):
        """Return what a row would add to SSE by going to another group."""
        left = [i for i in self.members[self.label[row]] if i != row]
        joined = [*self.members[target], row]
        after = sum(squares([self.rows[i] for i in some], [self.weights[i] for i in some]) for some in (left, joined))
        return after - self.sse(self.label[row]) - self.sse(target)

    def swap(self, row, other):
        """Let two rows change places; return what that adds to SSE."""
        one, two = self.label[row], self.label[other]
        before = self.sse(one) + self.sse(two)
        here, there = self.members[one].index(row), self.members[two].index(other)
        self.members[one][here], self.members[two][there] = other, row
        self.label[row], self.label[other] = two, one
        return self.sse(one) + self.sse(two) - before

    def around(self, near, row):
        return list(dict.fromkeys([self.label[row], *(self.label[other] for other in near[row][:ASKED])]))


def anneal(rows, weights, labels, count, near, scale, state, proposals, hot, cold, k, most, structural):
    """Return the labels after so many proposals."""
    groups, rng = Groups(rows, weights, labels, count), RandomStream(state)
    n, stretch, start = len(rows), min(len(rows), STRETCH), 0
    temperature, fall = hot, (cold / hot) ** (STEP / max(proposals, 1))
    for turn in range(proposals):
        if turn % STEP == 0 and turn:
            temperature *= fall
        if turn % (VISIT * stretch) == 0:
            start = (start + stretch) % n
        row = (start + int(rng.uniform() * stretch)) % n
        other = near[row][int(len(near[row]) * rng.uniform() ** 3)]
        one, two = groups.label[row], groups.label[other]
        limit = temperature * scale[row]
        if rng.uniform() < structural:
            restructure(groups, near, row, limit, rng, k, most)
        elif one == two:
            continue
        elif len(groups.members[one]) > k and len(groups.members[two]) < most and rng.uniform() < 0.5:
            if taken(groups.moving(row, two), limit, rng):
                groups.transfer(row, two)
        else:
            other = groups.members[two][int(rng.uniform() * len(groups.members[two]))]
            if not taken(groups.swap(row, other), limit, rng):
                groups.swap(row, other)
    return groups.label


def restructure(groups, near, row, limit, rng, k, most):
    """Propose to found a group around a row, or to dissolve its group."""
    size = len(groups.members[groups.label[row]])
    dice = rng.uniform()
    allowed = -limit * math.log(1 - rng.uniform())
    if size > k and dice < 0.9:
        done, delta = create(groups, near, row, k)
    elif size <= k + 1:
        done, delta = dissolve(groups, near, groups.label[row], most)
    else:
        return
    if delta > allowed:
        for moved, source in reversed(done):
            groups.transfer(moved, source)


def create(groups, near, row, k):
    if not groups.empty:
        return [], 0.0
    target = groups.empty[-1]
    done = [(row, groups.label[row])]
    delta = groups.transfer(row, target)
    for other in near[row]:
        group = groups.label[other]
        if len(done) < k and group != target and len(groups.members[group]) > k:
            done.append((other, group))
            delta += groups.transfer(other, target)
    return done, delta if len(done) == k else math.inf


def dissolve(groups, near, group, most):
    done, delta = [], 0.0
    while groups.members[group]:
        row = groups.members[group][-1]
        open_ones = [g for g in groups.around(near, row) if g != group and len(groups.members[g]) < most]
        if not open_ones:
            return done, math.inf
        target = min(open_ones, key=lambda g: joining(groups, row, g))
        done.append((row, group))
        delta += groups.transfer(row, target)
    return done, delta


def joining(groups, row, group):
    members = groups.members[group]
    rows, weights = [groups.rows[i] for i in members], [groups.weights[i] for i in members]
    return squares([*rows, groups.rows[row]], [*weights, groups.weights[row]]) - squares(rows, weights)


def taken(delta, limit, rng):
    if delta <= 0:
        return True
    if delta >= 40 * limit:
        return False
    return delta <= -limit * math.log(1 - rng.uniform())


def squares(rows, weights):
    """The weighted squared distances of rows to their weighted mean."""
    if not rows:
        return 0.0
    mass = sum(weights)
    mean = [sum(w * row[j] for w, row in zip(weights, rows, strict=True)) / mass for j in range(len(rows[0]))]
    return sum(w * gap(row, mean) for w, row in zip(weights, rows, strict=True))


def gap(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))
