"""Column generation and branching: the proof of optimality behind the method `exact`."""

from importlib.util import find_spec

__all__ = ["solver_is_installed"]


def solver_is_installed() -> bool:
    """Say whether highspy, the optional dependency that `pip install 'shoal[exact]'` brings, is there."""
    return find_spec("highspy") is not None
