"""Decorators for compiled loops: the usual one, and one for loops called hundreds of millions of times."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["inner_loop", "loop"]

Function = TypeVar("Function", bound=Callable[..., Any])


def loop(function: Function) -> Function:
    """Compile a loop on first use, and cache it on disk where possible.

    An installation that is read-only, for a user without a home directory, has no cache: the loop is then compiled in
    every run.
    """
    return _compiled(function, _nrt=True)


def inner_loop(function: Function) -> Function:
    """Inline a loop that allocates no arrays into the loops that call it, without reference counting.

    Numba counts references, by locked operations, to the arrays that a function receives and uses under some condition,
    and passes seven numbers for each of them. In a function of a hundred nanoseconds that is most of the time.
    """
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Function, **options: Any) -> Function:
    """Return the compiled function, with a cache where possible."""
    try:
        return cast("Function", njit(cache=True, nogil=True, **options)(function))
    except RuntimeError:
        return cast("Function", njit(nogil=True, **options)(function))
