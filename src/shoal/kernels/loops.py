"""Decorators for compiled loops: the usual one, and one for loops called hundreds of millions of times."""

import gc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core import event
from numba.core.compiler import Compiler

from shoal.model.progress import announce

Function = TypeVar("Function", bound=Callable[..., Any])

COMPILING = (
    "Compiling loops, which takes up to half a minute. Later runs on this machine load them. `shoal warmup` compiles "
    "ahead."
)


class _Compiling(event.Listener):
    """Announces once per process that something is being compiled, and lets no garbage be collected meanwhile.

    The objects of a compilation are many and needed until its end: looking through them takes a twentieth of the time.
    Numba compiles in one thread at a time; a loop that calls others begins before them and ends after them.
    """

    def __init__(self) -> None:
        self.announced, self.collecting, self.begun = False, False, 0

    def on_start(self, event: Any) -> None:  # noqa: ARG002 - the interface of numba
        if self.begun == 0:
            self.collecting = gc.isenabled()
            gc.disable()
        self.begun += 1
        if not self.announced:
            self.announced = True
            announce(COMPILING)

    def on_end(self, event: Any) -> None:  # noqa: ARG002
        self.begun -= 1
        if self.begun == 0 and self.collecting:
            gc.enable()


event.register("numba:compile", _Compiling())  # type: ignore[no-untyped-call]


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

    It can be called only from compiled loops: the code for calls from Python would take a sixth of the time to compile.
    """
    return _for_loops(function, forceinline=True)


def shared_loop(function: Function) -> Function:
    """Compile a loop that is long and called by several others, as `inner_loop`, but without inlining it."""
    return _for_loops(function)


def callable_inner_loop(function: Function) -> Function:
    """Inline a loop into the loops that call it, as `inner_loop`, but let Python call it too."""
    return _compiled(function, _nrt=False, forceinline=True)


class _ForLoops(Compiler):
    """Leaves optimizing to the loops that call this one, which optimize it with their own code in any case."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        library: Any = self.state.targetctx.codegen().create_library(func.__qualname__)
        library.enable_object_caching()
        library._optimize_final_module = lambda: None
        self.state.library = library
        return super().compile_extra(func)  # type: ignore[no-untyped-call]


def _for_loops(function: Function, **options: Any) -> Function:
    """Compile a loop that other loops call, without the code for calls from Python."""
    compiled: Any = _compiled(function, _nrt=False, no_cpython_wrapper=True, pipeline_class=_ForLoops, **options)
    if compiled is not function:
        compiled._compile_for_args = partial(_refuse_call, function.__name__)
        compiled.add_overload = partial(_add_for_loops, compiled.overloads)
    return cast("Function", compiled)


def _add_for_loops(overloads: dict[Any, Any], made: Any) -> None:
    """Keep a compiled form for other loops, unknown to calls from Python, for which it has no code."""
    overloads[tuple(made.signature.args)] = made


def _refuse_call(name: str, *_: Any, **__: Any) -> None:
    """Refuse a call from Python."""
    raise TypeError(f"{name} can be called only from compiled loops. Call its `py_func`, or a loop that uses it.")


def _compiled(function: Function, **options: Any) -> Function:
    """Return the compiled function, with a cache where possible."""
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    compiled: Any
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:
        compiled = njit(**options)(function)
    if compiled is not function:  # it is the function itself if NUMBA_DISABLE_JIT is set
        _share_specializations(compiled)
    return cast("Function", compiled)


def _share_specializations(compiled: Any) -> None:
    """Let loops that call this one with integers of other sizes, or with constants, use one compiled form of it."""
    specialized = compiled.get_call_template

    def of_wide_integers(arguments: Sequence[Any], by_name: Mapping[str, Any]) -> Any:
        return specialized(tuple(map(_widened, arguments)), {name: _widened(one) for name, one in by_name.items()})

    compiled.get_call_template = of_wide_integers


def _widened(kind: Any) -> Any:
    """Return int64 for an integer that fits into it, constants included, and any other type unchanged."""
    unliteral: Any = types.unliteral
    kind = unliteral(kind)
    return types.int64 if isinstance(kind, types.Integer) and kind != types.uint64 else kind
