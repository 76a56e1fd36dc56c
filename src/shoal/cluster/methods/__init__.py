"""Clustering methods, one per file, each with its card."""
