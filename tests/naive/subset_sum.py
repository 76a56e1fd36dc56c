"""All groups of so many people whose sums lie between limits, by trying every one."""

from itertools import combinations


def fitting(people, size, least, most):
    found = []
    for group in combinations(range(len(people)), size):
        sums = [sum(people[person][column] for person in group) for column in range(len(least))]
        if all(low <= total <= high for low, total, high in zip(least, sums, most, strict=True)):
            found.append(group)
    return found
