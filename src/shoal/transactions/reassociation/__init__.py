"""Re-association: neighbour data sets drawn from a disassociated one, and how close they come to the original."""
