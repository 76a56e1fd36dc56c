"""What a mixed release is worth, from the definitions, on plain lists of values.

A column is (kind, form, order, tree, cells before, cells after); a tree is nested lists of leaves. Cells are numbers,
dates, names or None.
"""

from collections import Counter
from datetime import date
from fractions import Fraction
from itertools import combinations

from naive.columns import leaves_of, lowest_above


def place(kind, order, value):
    """Return where a value lies among those of its column."""
    if kind == "ordinal":
        return Fraction(order.index(value))
    return Fraction(value.toordinal() if kind == "date" else value)


def hull_loss(kind, order, cells, all_cells):
    """Return what the range or the set of some cells loses."""
    if kind in ("numeric", "date", "ordinal"):
        held = [place(kind, order, value) for value in cells if value is not None]
        there = order if kind == "ordinal" else [value for value in all_cells if value is not None]
        known = {place(kind, order, value) for value in there}
        toll = Fraction(1, len(known) + 1) if None in all_cells else Fraction(0)
        if not held:
            return Fraction(0)
        whole = max(known) - min(known)
        wide = (max(held) - min(held)) / whole * (1 - toll) if whole else Fraction(0)
        return wide + (toll if None in cells else 0)
    return set_loss(cells, all_cells)


def set_loss(cells, all_cells):
    """Return what the set of some cells loses."""
    return Fraction(len(set(cells)) - 1, max(1, len(set(all_cells)) - 1))


def parts(text, mark):
    """Return what stands between the marks of a published text; a backslash guards the character behind it."""
    found = [""]
    for character in _marked(text, mark):
        if character == "\0":
            found.append("")
        else:
            found[-1] += character
    return [one.replace("\1", "") for one in found]


def _marked(text, mark):
    """Return a text whose marks are zeros, unless they are guarded, and without the backslashes."""
    made, place = "", 0
    while place < len(text):
        if text[place] == "\\":
            made += "\1" + text[place + 1]
            place += 2
        elif text.startswith(mark, place):
            made += "\0"
            place += len(mark)
        else:
            made += text[place]
            place += 1
    return made


def range_text_loss(kind, order, text, all_cells):
    """Return what a published range loses; a limit beyond the values of the column loses no more than those."""
    if text is None:
        return Fraction(0)
    there = order if kind == "ordinal" else [value for value in all_cells if value is not None]
    known = sorted({place(kind, order, value) for value in there})
    toll = Fraction(1, len(known) + 1) if None in all_cells else Fraction(0)
    gap = text.endswith(" or missing")
    ends = parts(text.removesuffix(" or missing"), "–")
    read = {"ordinal": lambda one: Fraction(order.index(one)), "numeric": Fraction}.get(
        kind, lambda one: Fraction(date.fromisoformat(one).toordinal())
    )
    low = known[0] if ends[0] == "*" else max(known[0], read(ends[0]))
    high = known[-1] if ends[-1] == "*" else min(known[-1], read(ends[-1]))
    single = len(ends) == 1 and ends[0] != "*"
    whole = known[-1] - known[0]
    wide = Fraction(0) if single or not whole else (high - low) / whole * (1 - toll)
    return wide + (toll if gap else 0)


def set_text_loss(text, texts, all_cells):
    """Return what a published set loses; a star stands for all names that no set gives."""
    if text is None:
        return Fraction(0)

    def names(one):
        body = one.removesuffix(" or missing")
        return parts(body[1:-1] if body.startswith("{") else body, ", ")

    given = {name for one in texts if one is not None for name in names(one)} - {"*"}
    words = {str(cell).lower() if isinstance(cell, bool) else str(cell) for cell in all_cells if cell is not None}
    hidden = len(words - given)
    count = sum(hidden if name == "*" else 1 for name in names(text)) + text.endswith(" or missing")
    return Fraction(count - 1, max(1, len(set(all_cells)) - 1))


def tree_loss(tree, cells):
    """Return what the lowest node above some cells loses; missing cells are below the root alone."""
    held = [value for value in cells if value is not None]
    if not held:
        return Fraction(0)
    leaves = leaves_of(tree)
    if len(held) < len(cells):
        return Fraction(len(leaves) - 1, max(1, len(leaves) - 1))
    return Fraction(len(leaves_of(lowest_above(tree, held))) - 1, max(1, len(leaves) - 1))


def classes(columns, n):
    """Return the rows of each class."""
    found = {}
    for row in range(n):
        found.setdefault(tuple(after[row] for *_, after in columns), []).append(row)
    return list(found.values())


def losses(columns, n):
    """Return the mean loss of a published cell, the same as ARX weights it, and that of the classes."""
    together = classes(columns, n)
    published, of_classes, weights = [], [], []
    for kind, form, order, tree, before, after in columns:
        by_class = by_form = Fraction(0)
        for rows in together:
            cells = [before[row] for row in rows]
            hull = hull_loss(kind, order, cells, before)
            text = after[rows[0]]
            own = {
                "tree": lambda c=cells, t=tree: tree_loss(t, c),
                "set": lambda t=text, a=after, b=before: set_text_loss(t, a, b),
                "range": lambda t=text, k=kind, o=order, b=before: range_text_loss(k, o, t, b),
            }
            by_class += len(rows) * hull
            emptied = after[rows[0]] is None and any(cell is not None for cell in cells)
            plain = Fraction(1) if emptied else hull
            by_form += len(rows) * (own[form]() if form in own else plain)
        size = len(leaves_of(tree)) if form == "tree" else len(set(before) - {None})
        weights.append(1 - Fraction(1, max(1, size)))
        published.append(by_form / n)
        of_classes.append(by_class / n)
    arx = sum(w * p for w, p in zip(weights, published, strict=True)) / (sum(weights) or 1)
    return sum(published) / len(published), arx, sum(of_classes) / len(of_classes)


def rank_error(columns):
    """Return the mean shift among ranks, over the columns with an order; None if there is none."""
    errors = []
    for kind, _, order, _, before, after in columns:
        if kind not in ("numeric", "date", "ordinal"):
            continue
        known = [place(kind, order, value) for value in before if value is not None]

        def rank(value, known=known, kind=kind, order=order):
            at = place(kind, order, value)
            return Fraction(sum(one < at for one in known) + sum(one <= at for one in known), 2 * len(known))

        both = [(a, b) for a, b in zip(before, after, strict=True) if a is not None and b is not None]
        errors.append(sum(abs(rank(a) - rank(b)) for a, b in both) / len(both) if both else 0)
    return sum(errors) / len(errors) if errors else None


def variation(columns, n, ways):
    """Return the mean total variation of all tables of so many columns; None if there is none."""
    found = []
    for some in combinations(columns, ways):
        first = Counter(tuple(before[row] for *_, before, _ in some) for row in range(n))
        second = Counter(tuple(after[row] for *_, after in some) for row in range(n))
        found.append(Fraction(sum(abs(first[one] - second[one]) for one in {*first, *second}), 2 * n))
    return sum(found) / len(found) if found else None


def invented(columns, n):
    """Return the share of released rows that no row of the table equals."""
    known = {tuple(before[row] for *_, before, _ in columns) for row in range(n)}
    return Fraction(sum(tuple(after[row] for *_, after in columns) not in known for row in range(n)), n)
