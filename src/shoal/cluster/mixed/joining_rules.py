"""Whether a row may join a group that is still growing, if the group is to meet limits on sensitive values."""

import numpy as np
from numpy.typing import NDArray

from shoal.cluster.search.limits import Rules
from shoal.kernels.loops import inner_loop

MOST_GROWN = 4  # times k: rows at which a growing group is given up if it does not meet the limits


@inner_loop
def may_join(rules: Rules | None, members: NDArray[np.integer], start: int, size: int, row: int, want: int) -> bool:
    """Return whether these members and one more row may become a group of `want` rows that meets the rules.

    1. A value that the group already has is refused if all remaining places are needed for other values.
    2. A bin of values may not exceed its share by so much that t would be missed.
    3. A value may not have so many rows that alpha would be missed.

    This guides the choice of rows; `meets` has the final say.
    """
    if rules is None or size >= want:
        return True
    least = np.ceil(rules.asked[0] - 1e-9)
    for c in range(rules.codes.shape[1]):
        kinds, alike = 0, 0
        for i in range(start, start + size):
            new = True
            for j in range(start, i):
                new = new and rules.codes[members[j], c] != rules.codes[members[i], c]
            kinds += new
            alike += rules.codes[members[i], c] == rules.codes[row, c]
        if rules.asked[3] < 1.0 and alike + 1 > (rules.asked[3] + 1e-9) * want:
            return False
        if alike > 0 and least - kinds >= want - size:
            return False
        if rules.bin_limit[c] < 1.0 and _excess(rules, members, start, size, row, want, c) > rules.bin_limit[c] + 1e-9:
            return False
    return True


@inner_loop
def _excess(rules: Rules, members: NDArray[np.integer], start: int, size: int, row: int, want: int, c: int) -> float:
    """Return by how much the bins of a column would exceed their shares of the final group."""
    total = 0.0
    for i in range(start - 1, start + size):
        one = row if i < start else members[i]
        first, count = True, 1
        for j in range(start, start + size):
            if j != i and rules.bins[members[j], c] == rules.bins[one, c]:
                count += 1
                first = first and (j > i >= start)
        if i < start:
            # The joining row counts with the members of its bin, whichever comes first.
            total += max(0.0, count / want - rules.bin_share[rules.bin_start[c] + rules.bins[one, c]])
        elif first and rules.bins[one, c] != rules.bins[row, c]:
            total += max(0.0, count / want - rules.bin_share[rules.bin_start[c] + rules.bins[one, c]])
    return total
