"""Set-valued data: the functions of `shoal.sets`, each loaded on first use."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.io.transactions import read
    from shoal.pipeline.set_folders import distance, mine, reassociate, verify
    from shoal.pipeline.set_report import report
    from shoal.pipeline.sets import anonymize

__all__ = ["anonymize", "distance", "mine", "read", "reassociate", "report", "verify"]

_MODULES = {
    "anonymize": "shoal.pipeline.sets",
    "distance": "shoal.pipeline.set_folders",
    "mine": "shoal.pipeline.set_folders",
    "read": "shoal.io.transactions",
    "reassociate": "shoal.pipeline.set_folders",
    "report": "shoal.pipeline.set_report",
    "verify": "shoal.pipeline.set_folders",
}


if not TYPE_CHECKING:  # so that type checkers report a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a function on first use."""
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        raise AttributeError(f"module 'shoal.sets' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
