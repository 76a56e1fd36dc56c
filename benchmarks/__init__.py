"""Benchmarks: bars of quality and speed, measured beside a plain program in the same run."""
