"""Compiled loops shared by two or more packages: arrays in, arrays out."""
