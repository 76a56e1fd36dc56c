"""Anonymize personal data by clustering, and verify every release.

Each public name is loaded on first use, so that `import shoal` is fast.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import (
    DataError,
    GuaranteeError,
    InfeasibleError,
    MethodError,
    PolicyError,
    ReadError,
    ShoalError,
    UseError,
    WriteError,
)

if TYPE_CHECKING:
    from shoal import sets
    from shoal.catalogue import method
    from shoal.certify.check import VerificationReport
    from shoal.exploration.compare import compare
    from shoal.exploration.comparison import MethodComparison
    from shoal.exploration.exploration import Exploration
    from shoal.exploration.run import explore
    from shoal.exploration.warmup import warmup
    from shoal.io.sample import sample
    from shoal.model.findings import Attack, Finding, Verdict
    from shoal.model.partition import Partition
    from shoal.model.policy import Policy
    from shoal.model.release import Release
    from shoal.model.set_release import SetRelease
    from shoal.pipeline.estimator import Anonymizer
    from shoal.pipeline.judging import attack, measure
    from shoal.pipeline.line import anonymize, profile, verify
    from shoal.pipeline.private import seed_of
    from shoal.pipeline.release_then_fit import ReleaseThenFit
    from shoal.pipeline.reporting import report
    from shoal.prepare.profile import Profile

    __version__: str

__all__ = [
    "Anonymizer",
    "Attack",
    "DataError",
    "Exploration",
    "Finding",
    "GuaranteeError",
    "InfeasibleError",
    "MethodComparison",
    "MethodError",
    "Partition",
    "Policy",
    "PolicyError",
    "Profile",
    "ReadError",
    "Release",
    "ReleaseThenFit",
    "SetRelease",
    "ShoalError",
    "UseError",
    "Verdict",
    "VerificationReport",
    "WriteError",
    "anonymize",
    "attack",
    "attacks",
    "compare",
    "explore",
    "formats",
    "measure",
    "measures",
    "method",
    "methods",
    "models",
    "profile",
    "report",
    "sample",
    "seed_of",
    "sets",
    "verify",
    "warmup",
]

_MODULES = {
    "shoal.certify.check": ("VerificationReport",),
    "shoal.exploration.compare": ("compare",),
    "shoal.exploration.comparison": ("MethodComparison",),
    "shoal.exploration.exploration": ("Exploration",),
    "shoal.exploration.run": ("explore",),
    "shoal.exploration.warmup": ("warmup",),
    "shoal.io.sample": ("sample",),
    "shoal.model.findings": ("Attack", "Finding", "Verdict"),
    "shoal.model.partition": ("Partition",),
    "shoal.model.policy": ("Policy",),
    "shoal.model.release": ("Release",),
    "shoal.model.set_release": ("SetRelease",),
    "shoal.pipeline.estimator": ("Anonymizer",),
    "shoal.pipeline.judging": ("attack", "measure"),
    "shoal.pipeline.release_then_fit": ("ReleaseThenFit",),
    "shoal.pipeline.line": ("anonymize", "profile", "verify"),
    "shoal.pipeline.reporting": ("report",),
    "shoal.pipeline.private": ("seed_of",),
    "shoal.prepare.profile": ("Profile",),
    "shoal.catalogue": ("method",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def methods() -> list[dict[str, Any]]:
    """Return the card of every method: name, summary, parameters, and what it ensures by itself."""
    return _cards("methods")


def models() -> list[dict[str, Any]]:
    """Return the card of every privacy model: what it limits, guarantees and leaves open."""
    return _cards("models")


def measures() -> list[dict[str, Any]]:
    """Return the card of every measure: name, formula, range, direction, and required data."""
    return _cards("measures")


def attacks() -> list[dict[str, Any]]:
    """Return the card of every attack: its aim, and what it requires."""
    return _cards("attacks")


def formats() -> list[dict[str, Any]]:
    """Return the card of every file format: its file extensions, and what is written."""
    return _cards("formats")


def _cards(section: str) -> list[dict[str, Any]]:
    """Return the cards of a section of the catalogue as plain values."""
    from shoal.catalogue import sections

    return [card.as_dict() for card in getattr(sections, section).cards().values()]


if not TYPE_CHECKING:  # so that type checkers report a misspelt name

    def __getattr__(name: str) -> Any:
        """Load a public name on first use."""
        if name == "__version__":
            from importlib.metadata import version

            return version("shoal")
        if name == "sets":
            return import_module("shoal.sets")
        if name in _MODULE_OF:
            return getattr(import_module(_MODULE_OF[name]), name)
        raise AttributeError(f"module 'shoal' has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
