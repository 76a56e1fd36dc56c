"""Methods that turn a matrix of numbers into a partition of its rows, one file a method."""
