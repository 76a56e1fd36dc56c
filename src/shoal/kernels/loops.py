"""Compiled loops: one decorator for all of them."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["loop"]

Function = TypeVar("Function", bound=Callable[..., Any])


def loop(function: Function) -> Function:
    """Compile a loop on first use and keep it for later runs, where there is a place to keep it.

    An installation that cannot be written to, for a user without a home, has none: the loop is then
    compiled anew in every run.
    """
    try:
        return cast("Function", njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast("Function", njit(nogil=True)(function))
