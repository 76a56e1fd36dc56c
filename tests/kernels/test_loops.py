"""Loops are compiled with a cache where possible, and without one elsewhere."""

import gc
import os

import pytest

from shoal.kernels.loops import loop


def test_a_loop_without_a_cache_is_compiled_too():
    place = {}
    exec("def twice(x):\n    return 2 * x", place)  # a function without a file cannot be cached
    assert loop(place["twice"])(21) == 42


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_is_collected_after_compiling_if_it_was_before(collecting):
    place = {"loop": loop}
    exec("@loop\ndef called(x):\n    return x\n@loop\ndef wrong(x):\n    return called(x) + nothing", place)
    (gc.enable if collecting else gc.disable)()
    try:
        assert place["called"](1) == 1
        assert gc.isenabled() == collecting
        with pytest.raises(Exception, match="nothing"):
            place["wrong"](1.5)
        assert gc.isenabled() == collecting
    finally:
        gc.enable()
