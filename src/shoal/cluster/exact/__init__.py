"""Column generation and branching: the proof of optimality behind the method `exact`."""

from importlib.util import find_spec


def solver_is_installed() -> bool:
    """Return whether highspy is installed, the optional dependency of `pip install 'shoal[exact]'`."""
    return find_spec("highspy") is not None
