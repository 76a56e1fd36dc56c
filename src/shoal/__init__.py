"""Hide each person of a data set in a group of people like them, and prove it.

Only names live here, and each is loaded when it is first asked for, so that `import shoal` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal import sets
    from shoal.certify.check import VerificationReport
    from shoal.errors import GuaranteeError, InfeasibleError, ShoalError
    from shoal.exploration.compare import compare
    from shoal.exploration.comparison import MethodComparison
    from shoal.exploration.exploration import Exploration
    from shoal.exploration.run import explore
    from shoal.io.sample import sample
    from shoal.model.findings import Attack, Finding, Verdict
    from shoal.model.partition import Partition
    from shoal.model.policy import Policy
    from shoal.model.release import Release
    from shoal.pipeline.estimator import Anonymizer
    from shoal.pipeline.judging import attack, measure
    from shoal.pipeline.line import anonymize, profile, verify
    from shoal.pipeline.seeds import seed_of
    from shoal.registry import method

__all__ = [
    "Anonymizer",
    "Attack",
    "Exploration",
    "Finding",
    "GuaranteeError",
    "InfeasibleError",
    "MethodComparison",
    "Partition",
    "Policy",
    "Release",
    "ShoalError",
    "Verdict",
    "VerificationReport",
    "anonymize",
    "attack",
    "compare",
    "explore",
    "measure",
    "measures",
    "method",
    "methods",
    "profile",
    "sample",
    "seed_of",
    "sets",
    "verify",
]

_HOMES = {
    "Anonymizer": "shoal.pipeline.estimator",
    "Attack": "shoal.model.findings",
    "VerificationReport": "shoal.certify.check",
    "Exploration": "shoal.exploration.exploration",
    "Finding": "shoal.model.findings",
    "GuaranteeError": "shoal.errors",
    "InfeasibleError": "shoal.errors",
    "MethodComparison": "shoal.exploration.comparison",
    "Partition": "shoal.model.partition",
    "Policy": "shoal.model.policy",
    "Release": "shoal.model.release",
    "ShoalError": "shoal.errors",
    "Verdict": "shoal.model.findings",
    "anonymize": "shoal.pipeline.line",
    "attack": "shoal.pipeline.judging",
    "compare": "shoal.exploration.compare",
    "explore": "shoal.exploration.run",
    "measure": "shoal.pipeline.judging",
    "method": "shoal.registry",
    "profile": "shoal.pipeline.line",
    "sample": "shoal.io.sample",
    "seed_of": "shoal.pipeline.seeds",
    "verify": "shoal.pipeline.line",
}


def methods() -> list[dict[str, Any]]:
    """Return the card of every method: name, summary, parameters, and what it ensures by itself."""
    from shoal.registry import load, names

    return [load(name).as_dict() for name in names()]


def measures() -> list[dict[str, Any]]:
    """Return the card of every measure: name, formula, range, which figures are good, and what it needs."""
    from shoal.measuring import cards

    return [card.as_dict() for card in cards().values()]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("shoal")
    if name == "sets":
        return import_module("shoal.sets")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'shoal' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
