"""When rows stand out by values that are published unchanged: one rule for proposals, refusals and notes."""

MANY_ALONE = 0.2  # share of unique rows from which a release is refused
MOST_ALONE = 0.5  # the same for small tables, in which even common values may happen to occur once
SMALL_TABLE = 50  # rows


def stands_out(alone: int, rows: int) -> bool:
    """Return whether too many rows are unique (`alone`) in the columns that are published unchanged.

    Examples
    --------
    >>> stands_out(200, 1000), stands_out(199, 1000), stands_out(2, 6), stands_out(6, 6)
    (True, False, False, True)
    """
    return alone > 0 and alone >= (MANY_ALONE if rows >= SMALL_TABLE else MOST_ALONE) * rows
