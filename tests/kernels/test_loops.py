"""Loops are compiled with a cache where possible, and without one elsewhere."""

from shoal.kernels.loops import loop


def test_a_loop_without_a_cache_is_compiled_too():
    place = {}
    exec("def twice(x):\n    return 2 * x", place)  # a function without a file cannot be cached
    assert loop(place["twice"])(21) == 42
