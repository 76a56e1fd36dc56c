"""Slow, obvious twins of the methods, from their definitions; none imports shoal."""
