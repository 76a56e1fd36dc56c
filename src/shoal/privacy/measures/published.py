"""What is published of a group by range, set or tree, read back from its text.

`low–high`, `{A, B}`, a node of a tree, or a single value, each possibly followed by `or missing`. `*` stands for other
categories in a set, and for an open end of a range. A backslash says that the next character belongs to a value.
"""

from typing import NamedTuple

GAP = " or missing"
OTHERS = "*"


class Published(NamedTuple):
    """The values that a text names, and whether it allows others.

    `values` has the two limits of a range, or one if they are equal or the other end is open; for a tree, the node.
    """

    values: tuple[str, ...]
    missing: bool = False
    others: bool = False  # a set allows categories that it does not name
    below: bool = False  # a range is open at its lower end
    above: bool = False


def read_published(text: str | None, form: str) -> Published:
    r"""Return what a released cell of a form (range, set or tree) says; None is a missing cell.

    Examples
    --------
    >>> read_published("30–39 or missing", "range")
    Published(values=('30', '39'), missing=True, others=False, below=False, above=False)
    >>> read_published("{a, b\\, c, *}", "set")
    Published(values=('a', 'b, c'), missing=False, others=True, below=False, above=False)
    """
    if text is None:
        return Published((), missing=True)
    if form == "tree":
        return Published((text,))
    body = text.removesuffix(GAP)
    if len(body) - len(body.rstrip("\\")) & 1:
        body = text  # a backslash says that `or missing` belongs to the value
    missing = body != text
    if form == "range":
        ends = _parts(body, "–")
        values = tuple(end for end in ends if end is not None)
        return Published(values, missing, below=ends[0] is None, above=ends[-1] is None)
    names = _parts(body[1:-1] if body.startswith("{") else body, ", ")
    return Published(tuple(name for name in names if name is not None), missing, others=None in names)


def _parts(text: str, mark: str) -> list[str | None]:
    """Return the values of a text between marks, None for `*`; a backslash escapes the next character."""
    parts, guarded, place = [""], [False], 0
    while place < len(text):
        if text[place] == "\\":
            parts[-1] += text[place + 1 : place + 2]
            guarded[-1] = True
            place += 2
        elif text.startswith(mark, place):
            parts.append("")
            guarded.append(False)
            place += len(mark)
        else:
            parts[-1] += text[place]
            place += 1
    return [None if part == OTHERS and not guard else part for part, guard in zip(parts, guarded, strict=True)]
