"""C-TCA++ up to its cells: the codes of C-TCA, what they teach, and the nearest prototype of whatever class.

The teacher is given: from codes it makes the weights of columns and prototypes in the weighted space.
"""

from naive.c_tca import coded
from naive.som import nearest


def c_tca_pp(rows, columns, first, teacher, epochs=15, rounds=1, clear=0.0):
    """Return the cell of each row; `first` is the grid and the start of the views."""
    weights, prototypes = teacher(coded(rows, columns, *first, epochs, rounds, clear))
    return [nearest([w * x for w, x in zip(weights, row, strict=True)], prototypes, clear) for row in rows]
