"""Set-valued data: the functions of `shoal.sets`, each loaded on first use."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.io.transactions import read_transactions as read
    from shoal.pipeline.set_folders import distance_of as distance
    from shoal.pipeline.set_folders import mined as mine
    from shoal.pipeline.set_folders import reassociate_folder as reassociate
    from shoal.pipeline.set_folders import verify_sets as verify
    from shoal.pipeline.set_report import set_report as report
    from shoal.pipeline.sets import anonymize_sets as anonymize

__all__ = ["anonymize", "distance", "mine", "read", "reassociate", "report", "verify"]

_MODULES = {
    "anonymize": ("shoal.pipeline.sets", "anonymize_sets"),
    "distance": ("shoal.pipeline.set_folders", "distance_of"),
    "mine": ("shoal.pipeline.set_folders", "mined"),
    "reassociate": ("shoal.pipeline.set_folders", "reassociate_folder"),
    "read": ("shoal.io.transactions", "read_transactions"),
    "report": ("shoal.pipeline.set_report", "set_report"),
    "verify": ("shoal.pipeline.set_folders", "verify_sets"),
}


if not TYPE_CHECKING:  # so that type checkers report a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a function on first use."""
        if name in _MODULES:
            module, function = _MODULES[name]
            return getattr(import_module(module), function)
        raise AttributeError(f"module 'shoal.sets' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
