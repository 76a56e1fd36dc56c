"""The straight line, and the one estimator class around it."""
