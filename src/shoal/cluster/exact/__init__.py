"""Column generation and branching: the proof of optimality behind the method `exact`."""
