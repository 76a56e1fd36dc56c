"""Many runs of the line: methods beside each other, on one table and on many.

The room has the name of its door: `shoal.explore(...)` is `shoal.explore.run.explore`, so the room can be called.
"""

import sys
from inspect import Signature, signature
from types import ModuleType
from typing import Any


class _Door(ModuleType):
    """A room that is also the function that it is named after: it has its signature, and its words for help."""

    @property
    def __signature__(self) -> Signature:
        """What the function takes."""
        from shoal.explore.run import explore

        return signature(explore)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What the function says of itself."""
        from shoal.explore.run import explore

        return str(explore.__doc__)

    def __call__(self, source: Any, **given: Any) -> Any:
        """Explore a table: see `shoal.explore.run.explore`."""
        from shoal.explore.run import explore

        return explore(source, **given)


sys.modules[__name__].__class__ = _Door
