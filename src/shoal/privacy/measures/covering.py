"""Covering: whether what is published of a row is true of it.

The data holder's check of truthful forms, from the original values and the published text alone.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal, InvalidOperation

import numpy as np
import pyarrow as pa

from shoal.privacy.measures.published import read_published


def uncovered(
    original: pa.ChunkedArray,
    released: pa.ChunkedArray,
    form: str,
    order: Sequence[str] | None = None,
    above: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Return how many cells are not covered by what is published of them.

    `order` lists the levels of an ordinal column, lowest first. For trees, `above` names all nodes above each value.

    Examples
    --------
    >>> ages = pa.chunked_array([[31, 38, None, 52]])
    >>> uncovered(ages, pa.chunked_array([["30–39", "30–39", "30–39 or missing", "30–39"]]), "range")
    1
    """
    cells = original.cast(pa.string()).combine_chunks().dictionary_encode()
    texts = released.cast(pa.string()).combine_chunks().dictionary_encode()
    values, published = cells.dictionary.to_pylist(), texts.dictionary.to_pylist()
    mine = cells.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int64)
    theirs = texts.indices.fill_null(len(published)).to_numpy(zero_copy_only=False).astype(np.int64)
    pairs, counts = np.unique(mine * (len(published) + 1) + theirs, return_counts=True)
    names = [read_published(text, form).values for text in published] if form == "set" else []
    given = {name for values_ in names for name in values_}  # `*` stands for categories that no set names
    wrong = 0
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        one, two = divmod(pair, len(published) + 1)
        value = values[one] if one < len(values) else None
        text = published[two] if two < len(published) else None
        wrong += 0 if _covers(text, value, form, order, above or {}, given) else count
    return wrong


def _covers(
    text: str | None,
    value: str | None,
    form: str,
    order: Sequence[str] | None,
    above: Mapping[str, Sequence[str]],
    given: set[str],
) -> bool:
    """Say whether a published text is true of a value."""
    if text is not None and form == "tree":
        root = next(iter(above.values()))[-1] if above else None
        return text == root if value is None else text == value or text in above.get(value, ())
    published = read_published(text, form)
    if value is None:
        return published.missing
    if form == "set" or not published.values:
        return (
            value in published.values
            or (published.others and value not in given)
            or (published.below and published.above)
        )
    low = value if published.below else published.values[0]
    high = value if published.above else published.values[-1]
    if order is not None:
        places = {level: place for place, level in enumerate(order)}
        known = len(published.values) <= 2 and {low, high, value} <= set(places)
        return known and places[low] <= places[value] <= places[high]
    return len(published.values) <= 2 and _between(low, value, high)


def _between(low: str, value: str, high: str) -> bool:
    """Say whether a value lies between two others, as numbers, as timestamps of a time zone, or as text."""
    try:
        return Decimal(low) <= Decimal(value) <= Decimal(high)
    except InvalidOperation:
        pass
    try:
        # As text alone, timestamps would be out of order where clocks are set back.
        first, own, last = ((datetime.fromisoformat(text), text) for text in (low, value, high))
        return first <= own <= last
    except (ValueError, TypeError):
        return low <= value <= high
