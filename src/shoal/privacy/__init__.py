"""Verdicts on a release, measures of its risk, and attacks on it."""
