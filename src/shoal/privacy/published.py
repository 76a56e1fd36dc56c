"""What is published of a group by range, set or tree, read back from its text.

«low–high», «{A, B}», a name of a tree, one value alone, and «or missing» behind any of them. A backslash says that the
sign behind it belongs to a value.
"""

from typing import NamedTuple

__all__ = ["Published", "read_published"]

GAP = " or missing"


class Published(NamedTuple):
    """The values that a text names, and whether it allows for a missing one.

    Of a range they are its two limits, or one if they are equal; of a tree the name of a node.
    """

    values: tuple[str, ...]
    missing: bool = False


def read_published(text: str | None, form: str) -> Published:
    r"""Return what a text says.

    Parameters
    ----------
    text : str or None
        A released cell; None if it is missing.
    form : {"range", "set", "tree"}

    Examples
    --------
    >>> read_published("30–39 or missing", "range")
    Published(values=('30', '39'), missing=True)
    >>> read_published("{a, b\\, c}", "set").values
    ('a', 'b, c')
    """
    if text is None:
        return Published((), missing=True)
    if form == "tree":
        return Published((text,))
    body = text.removesuffix(GAP)
    if len(body) - len(body.rstrip("\\")) & 1:
        body = text  # a backslash says that «or missing» belongs to the value
    missing = body != text
    if form == "range":
        return Published(tuple(_parts(body, "–")), missing)
    inner = body[1:-1] if body.startswith("{") else body
    return Published(tuple(_parts(inner, ", ")), missing)


def _parts(text: str, mark: str) -> list[str]:
    """Return the values of a text between marks; what follows a backslash stands for itself."""
    if "\\" not in text:
        return text.split(mark)
    parts, place = [""], 0
    while place < len(text):
        if text[place] == "\\":
            parts[-1] += text[place + 1 : place + 2]
            place += 2
        elif text.startswith(mark, place):
            parts.append("")
            place += len(mark)
        else:
            parts[-1] += text[place]
            place += 1
    return parts
