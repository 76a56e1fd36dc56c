"""Arrays that leave their owner, as views that cannot be written to.

Code outside the package, such as a measure of a plug-in, must not be able to change by mistake what a release is made
of. The arrays of the owner stay writable: compiled loops are compiled once for arrays that may be written to.
"""

from copy import copy
from dataclasses import is_dataclass
from typing import Any, TypeVar

import numpy as np

Kept = TypeVar("Kept")


def read_only(thing: Kept) -> Kept:
    """Return an array as a read-only view, a dataclass, dict, list or tuple with such arrays, anything else unchanged.

    Examples
    --------
    >>> rows = np.arange(3)
    >>> read_only(rows).flags.writeable, rows.flags.writeable
    (False, True)
    """
    found: Any = thing
    if isinstance(thing, np.ndarray):
        found = thing.view()
        found.setflags(write=False)
    elif isinstance(thing, tuple):
        parts = map(read_only, thing)
        found = thing._make(parts) if hasattr(thing, "_make") else tuple(parts)
    elif isinstance(thing, list):
        found = [read_only(one) for one in thing]
    elif isinstance(thing, dict):
        found = {key: read_only(one) for key, one in thing.items()}
    elif is_dataclass(thing) and not isinstance(thing, type):
        found = copy(thing)
        for name, value in vars(thing).items():  # what it has already derived included
            object.__setattr__(found, name, read_only(value))
    return found  # type: ignore[no-any-return]
