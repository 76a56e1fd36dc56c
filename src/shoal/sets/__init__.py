"""Sets: transactions into chunks, and back into neighbours.

Only the names of doors live here, and each is loaded when it is first asked for. The parts have modules of their own:
`from shoal.sets.disassociate import disassociate`.
"""

from importlib import import_module
from typing import Any

__all__ = ["anonymize", "apart", "mine", "neighbour", "read", "report", "verify"]

_HOMES = {
    "anonymize": ("shoal.pipeline.sets", "anonymize_sets"),
    "apart": ("shoal.pipeline.set_folders", "distance_of"),
    "mine": ("shoal.pipeline.set_folders", "mined"),
    "neighbour": ("shoal.pipeline.set_folders", "reassociate_folder"),
    "read": ("shoal.io.transactions", "read_transactions"),
    "report": ("shoal.pipeline.set_report", "set_report"),
    "verify": ("shoal.pipeline.set_folders", "verify_sets"),
}


def __getattr__(name: str) -> Any:
    """Load a door on first use."""
    if name in _HOMES:
        module, function = _HOMES[name]
        return getattr(import_module(module), function)
    raise AttributeError(f"module 'shoal.sets' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the doors."""
    return __all__
