"""Clustering methods, and the searches they share: a matrix of numbers becomes a partition of its rows."""
