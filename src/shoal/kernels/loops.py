"""Compiled loops: one decorator for all of them, and one for those that run hundreds of millions of times."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["inner_loop", "loop"]

Function = TypeVar("Function", bound=Callable[..., Any])


def loop(function: Function) -> Function:
    """Compile a loop on first use and keep it for later runs, where there is a place to keep it.

    An installation that cannot be written to, for a user without a home, has none: the loop is then
    compiled anew in every run.
    """
    return _compiled(function, _nrt=True)


def inner_loop(function: Function) -> Function:
    """Compile a loop that makes no arrays into the loops that call it, without the counting of who holds which array.

    Numba counts in and out, by locked operations, the arrays that a function is given and uses under some
    condition, and hands over seven numbers for each of them. In a function of a hundred nanoseconds that is
    most of the time.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    """Return the function compiled, with a cache if there is a place for one."""
    try:
        return cast("Function", njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:
        return cast("Function", njit(nogil=True, **options)(function))
