"""Many runs of the line: methods beside each other, on one table and on many.

The room has the name of its door: `shoal.explore(...)` is `shoal.explore.run.explore`, so the room can be called.
"""

import sys
from types import ModuleType
from typing import Any


class _Door(ModuleType):
    """A room that is also the function that it is named after."""

    def __call__(self, source: Any, **given: Any) -> Any:
        """Explore a table: see `shoal.explore.run.explore`."""
        from shoal.explore.run import explore

        return explore(source, **given)


sys.modules[__name__].__class__ = _Door
