"""Loops are compiled with a cache where there is a place for one, and without it elsewhere."""

from shoal.kernels.loops import loop


def test_a_loop_without_a_place_for_its_cache_is_compiled_all_the_same():
    place = {}
    exec("def twice(x):\n    return 2 * x", place)  # a function without a file has no place for a cache
    assert loop(place["twice"])(21) == 42
