"""The pipeline from a table to a verified release, and the estimators built on it."""
