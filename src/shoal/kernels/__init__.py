"""Compiled loops that two rooms or more use: arrays in, arrays out."""
