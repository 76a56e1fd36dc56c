"""Benchmarks: targets for quality and speed, measured next to a plain program in the same run."""
