"""Distinct: the different records of a data set in lexicographic order, and how often each occurs."""

from typing import NamedTuple

import numpy as np

from shoal.kernels.loops import loop
from shoal.transactions.lexical import Places, Whole, gathered, lexical_order


class Distinct(NamedTuple):
    """Different records in lexicographic order, each with its number of occurrences."""

    indptr: Places
    items: Whole
    weights: Places


def distinct(indptr: Places, items: Whole, weights: Places | None = None) -> tuple[Distinct, Places]:
    """Return the different records with their summed weights, and the index among them of each record."""
    order = lexical_order(indptr, items)
    number = _numbered(indptr, items, order)
    total = int(number.max(initial=-1)) + 1
    first = np.empty(total, np.int64)
    first[number[order[::-1]]] = order[::-1]
    heads, taken = gathered(indptr, items, first)
    sums = np.zeros(total, np.int64)
    np.add.at(sums, number, 1 if weights is None else weights)
    return Distinct(heads, taken, sums), number


@loop
def _numbered(indptr: Places, items: Whole, order: Places) -> Places:
    """Number records that are in lexicographic order; equal ones get the same number."""
    number = np.zeros(order.size, np.int64)
    for place in range(1, order.size):
        one, two = order[place - 1], order[place]
        a, b = indptr[one], indptr[two]
        same = indptr[one + 1] - a == indptr[two + 1] - b
        while same and a < indptr[one + 1]:
            same = items[a] == items[b]
            a += 1
            b += 1
        number[two] = number[one] + (0 if same else 1)
    return number
