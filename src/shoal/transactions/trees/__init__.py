"""The tree edit distance between two set-valued data sets."""
