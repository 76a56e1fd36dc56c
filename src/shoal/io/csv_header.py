"""Whether the first line of a CSV file is a header.

A row taken for a header is published as column names, so the file is refused in case of doubt. The first line is a
header if none of its cells looks like a value, and either

1. **a type proves it**: a word stands above numbers, dates or truth values, which a row could not contain there; or
2. **repetition proves it**: if the line were a row like those below, its cells would occur there again, or share what
   all cells of their column have in common (digits, capitals, spaces, an @). The probability that a row lacks all of
   this is at most `DOUBT`. The probability of a new value is estimated from the values that occur once (Good and
   Turing), and columns are taken to be independent.

Integers as names are accepted in two cases: consecutive years above cells that are not years, and the positions of the
columns counted from 0 or 1.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.io.csv_types import BLANKS, fits
from shoal.model.looks import BLANK_WORDS, looks_like_a_value, shape_of

DOUBT = 0.01
SAMPLE = 1000  # rows whose shapes are compared
LOOKED_AT = 100_000  # rows in which repetitions are counted
SHARE = 0.9
YEARS = (1800, 2200)
# What all cells of a column may have in common and its name may lack.
MARKS = (r"[0-9]", "@", " ", r"^[A-ZÄÖÜÀ-Þ]")

Columns = Sequence[pa.ChunkedArray]


def header_doubt(names: list[str], columns: Columns, null_words: tuple[str, ...]) -> str:
    """Say why the first line of a file may not be a header; an empty string if it certainly is one.

    The clause quotes no cell. `columns` are the rows below the first line, in the types found for them.

    Examples
    --------
    >>> below = [pa.chunked_array([["Anna", "Paul"]]), pa.chunked_array([[34, 51]])]
    >>> header_doubt(["name", "age"], below, ("NA",))
    ''
    >>> header_doubt(["Eva", "NA"], below, ("NA",))
    '1 of its 2 cells looks like a value, not like a name'
    """
    both = list(zip(names, columns, strict=True))
    texts = [(name, column) for name, column in both if pa.types.is_string(column.type)]
    typed = [(name, column) for name, column in both if not pa.types.is_string(column.type)]
    proofs = sum(_is_word(name) and not fits(name, column.type) for name, column in typed)
    numbers = _numbered(both, proofs)
    values = sum(looks_like_a_value(name, null_words) for name in names if name not in numbers)
    values += sum(fits(name, column.type) for name, column in typed if _is_word(name))
    if values:
        looks = "look like values, not like names" if values > 1 else "looks like a value, not like a name"
        return f"{values} of its {len(names)} cells {looks}"
    if (echoes := _echoes(texts)) and echoes >= proofs:
        return f"{echoes} of its {len(names)} cells {'occur' if echoes > 1 else 'occurs'} in the rows below as well"
    if proofs or numbers or np.prod([_probability(name, column) for name, column in texts]) <= DOUBT:
        return ""
    return "nothing distinguishes its cells from the values below, which have no types and hardly repeat"


def alike_cells(names: list[str], columns: Columns) -> int:
    """Return how many cells of the first line of a file of sets look like the rows below it, if it may be one of them.

    Every cell of a row fits the type of its column. So a name that does not, such as a word above numbers, proves a
    header; where all names fit, or there are no types but names occur again below, there is doubt. Consecutive years or
    positions are accepted as names.
    """
    above = [(name, column) for name, column in zip(names, columns, strict=True) if not pa.types.is_string(column.type)]
    again = [
        int(pc.sum(pc.equal(column, name)).as_py() or 0)
        for name, column in zip(names, columns, strict=True)
        if pa.types.is_string(column.type)
    ]
    echoes = sum(count > 0 for count in again)
    # One word once is coincidence; a word repeatedly, or two words, indicate a data row.
    echoes = echoes if echoes > 1 or max(again, default=0) > 1 else 0
    if not above:
        return echoes
    fitting = sum(fits(name, column.type) for name, column in above)
    if fitting < len(above) or (_consecutive([name for name, _ in above], len(names)) and not echoes):
        return 0
    return fitting + echoes


def _is_word(name: str) -> bool:
    """Whether a text has a letter before any digit, and is not a common word for a missing value."""
    return re.match(r"[\W_]*[^\W\d_]", name) is not None and name.casefold().strip("<>[]()") not in BLANK_WORDS


def _numbered(both: list[tuple[str, pa.ChunkedArray]], proofs: int) -> set[str]:
    """Return the names that are integers, if they are consecutive years or the positions of columns."""
    found = [(name, column) for name, column in both if re.fullmatch(r"[0-9]{1,4}", name)]
    numbers = [int(name) for name, _ in found]
    if len(numbers) < 2 or any(b != a + 1 for a, b in pairwise(numbers)):
        return set()
    if YEARS[0] <= numbers[0] and numbers[-1] <= YEARS[1]:
        good = not any(_holds_years(column) for _, column in found)
    else:
        counted = numbers[0] in (0, 1) and (proofs > 0 or len(found) == len(both) > 2)
        good = counted and (proofs > 0 or not any(_times(name, column) for name, column in found))
    return {name for name, _ in found} if good else set()


def _holds_years(column: pa.ChunkedArray) -> bool:
    """Whether at least half of the cells of a column are years."""
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return False
    years = pc.and_(pc.greater_equal(column, YEARS[0]), pc.less_equal(column, YEARS[1]))
    return bool(2 * int(pc.sum(years).as_py() or 0) >= len(column) - column.null_count)


def _times(name: str, column: pa.ChunkedArray) -> int:
    """Return how often a column contains its own name."""
    if pa.types.is_string(column.type):
        same = pc.equal(pc.ascii_trim(column, characters=BLANKS), name)
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        same = pc.equal(column, int(name))
    else:
        return 0
    return int(pc.sum(same).as_py() or 0)


def _echoes(texts: list[tuple[str, pa.ChunkedArray]]) -> int:
    """Return how many text columns contain their own name, or codes of the same pattern.

    One word once is coincidence; a word repeatedly, or two words, indicate a data row.
    """
    times = [_times(name, column) for name, column in texts]
    coincidence = sum(times) < 2
    return sum((times[place] > 0 and not coincidence) or _of_one_shape(*both) for place, both in enumerate(texts))


def _of_one_shape(name: str, column: pa.ChunkedArray) -> bool:
    """Whether a name has digits, and letters and digits in the positions where nine in ten cells have them."""
    if not re.search(r"[0-9]", name):
        return False
    cells = [cell for cell in column.slice(0, SAMPLE).to_pylist() if cell is not None]
    shapes = Counter(shape_of(cell.strip(BLANKS)) for cell in cells)
    return bool(cells) and shapes[shape_of(name)] >= SHARE * len(cells)


def _probability(name: str, column: pa.ChunkedArray) -> float:
    """Return the estimated probability that a row has a cell that differs from those below as the name does."""
    trimmed = pc.ascii_trim(column.slice(0, LOOKED_AT).drop_null(), characters=BLANKS)
    if not len(trimmed) or _times(name, column):
        return 1.0
    counted = trimmed.value_counts()
    cells, counts = counted.field("values"), counted.field("counts").to_numpy()
    new = int((counts == 1).sum()) + 1
    if any(not re.search(mark, name) and pc.all(pc.match_substring_regex(cells, mark)).as_py() for mark in MARKS):
        new = 1
    return new / (len(trimmed) + 1)


def _consecutive(words: list[str], columns: int) -> bool:
    """Return whether names are consecutive years, or the positions of all columns."""
    if not all(re.fullmatch(r"[0-9]{1,4}", word) for word in words):
        return False
    numbers = [int(word) for word in words]
    rising = all(b == a + 1 for a, b in pairwise(numbers))
    years = len(numbers) > 1 and all(YEARS[0] <= number <= YEARS[1] for number in numbers)
    return rising and (years or (len(numbers) == columns and numbers[0] in (0, 1)))
