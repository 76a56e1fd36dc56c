"""What looks odd in a column, such as codes for missing values, extremes and constants.

No cell value appears in a note.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.looks import BLANK_WORDS
from shoal.model.policy import Role
from shoal.model.sentences import Rows, Sentence
from shoal.prepare.roles import Seen, fits, sampled

MANY = 100
FAR = 1000
DAYS = r"\d{4}-\d{2}-\d{2}(?:[T ].*)?"
OTHER_DAYS = r"\d{1,2}([/-])\d{1,2}\1(?:\d{2}|\d{4})(?:[T ].*)?|\d{4}/\d{1,2}/\d{1,2}(?:[T ].*)?"
UNREAD = (
    "text that looks like dates, but is not read as dates; write dates like 2024-01-31 before the release, because "
    "most would be published as missing"
)
LIMITS = (2.0**15 - 1, 2.0**31 - 1, 2.0**15, 2.0**31, 2.0**63)


class LooksMissing(Sentence):
    """A note on cells that look like codes for missing values."""


class LooksLikeDates(Sentence):
    """A note on text that looks like dates."""


class UnreadDates(Sentence):
    """A note on text that looks like dates in a notation that is not read as dates."""


def notes(seen: Seen, role: Role = "quasi") -> tuple[str, ...]:
    """Say what looks odd in a column: a single value, codes for missing values, extremes, many categories.

    Each clause has counts but no value of the column. An identifier, by its proposed `role`, may have many categories.

    Examples
    --------
    >>> notes(Seen("country", "nominal", pa.array(["somewhere"]), np.array([9])))
    ('all cells have the same value',)
    """
    found: list[str] = []
    if not seen.present:
        found.append("every cell is missing")
    elif len(seen.values) == 1:
        found.append("all cells have the same value" + (", if any" if seen.missing else ""))
    numbers = seen.numbers() if seen.kind in ("numeric", "ordinal") else None
    if numbers is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            found += _odd_numbers(numbers, seen.counts)
    if seen.is_text:
        plain = pc.utf8_lower(pc.utf8_trim_whitespace(seen.values))
        blank = pc.is_in(plain, pa.array(sorted(BLANK_WORDS), seen.values.type)).to_numpy(zero_copy_only=False)
        if cells := int(seen.counts[blank].sum()):
            text = (
                "a word that looks like a code for a missing value in {cells}; if it is one, list it in missing_codes"
            )
            found.append(LooksMissing(text, cells=_cells(cells)))
        if seen.kind == "nominal" and fits(sampled(seen.values), DAYS):
            found.append(LooksLikeDates('text that looks like dates; if it is, set kind = "date"'))
        elif role == "quasi" and seen.kind == "nominal" and unread_dates(seen.values):
            found.append(UnreadDates(UNREAD))
    if role != "identifier" and seen.kind == "nominal" and len(seen.values) > MANY:
        found.append(f"{len(seen.values):,} categories; more than {MANY} are hard to group")
    return tuple(found)


def unread_dates(values: pa.Array) -> bool:
    """Return whether texts look like dates with slashes or hyphens, which are not read as dates.

    Examples
    --------
    >>> unread_dates(pa.array(["03/04/2024", "31/12/2024"])), unread_dates(pa.array(["2024-04-03"]))
    (True, False)
    """
    return fits(sampled(values), OTHER_DAYS)


def _cells(count: int) -> str:
    """Say how many cells."""
    return Sentence("{count} cell" + "s" * (count != 1), count=Rows(count))


def _odd_numbers(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> list[str]:
    """Say what looks odd in a column of numbers."""
    found: list[str] = []
    finite = np.isfinite(numbers)
    if infinite := int(counts[~finite].sum()):
        found.append(Sentence("infinite in {cells}", cells=_cells(infinite)))
    numbers, counts = numbers[finite], counts[finite]
    codes = _codes(numbers, counts)
    if many := int(codes.sum()):
        what = (
            "one extreme value that looks like a code for a missing value"
            if many == 1
            else f"{many} extreme values that look like codes for missing values"
        )
        cells = Rows(counts[codes].sum())
        advice = "if it is one, list it in missing_codes" if many == 1 else "if they are, list them in missing_codes"
        found.append(LooksMissing("{cells} cells share {what}; {advice}", cells=cells, what=what, advice=advice))
    extremes = int(counts[_beyond(numbers, np.where(codes, 0, counts)) & ~codes].sum())
    if extremes:
        text = "more than {far} interquartile ranges from the middle half in {cells}"
        found.append(Sentence(text, far=FAR, cells=_cells(extremes)))
    return found


def _codes(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values look like codes for missing values: shared, such as -999, and outside all the rest."""
    like = np.zeros(numbers.size, bool)
    # Codes lie outside the rest, so that only the extremes are checked.
    ends = np.argpartition(numbers, (8, -9))[np.r_[:9, -9:0]] if numbers.size > 18 else np.arange(numbers.size)
    like[[place for place in ends if counts[place] > 1 and _is_code(float(numbers[place]))]] = True
    rest = numbers[~like]
    if not like.any() or rest.size < 3:
        return np.zeros(numbers.size, bool)
    low, high = float(rest.min()), float(rest.max())
    beyond = np.maximum(low - numbers, numbers - high)
    negative = (numbers < 0) & (low >= 0) & (rest.size >= 5)
    return np.asarray(like & (beyond > 0) & ((beyond > high - low) | negative), bool)


def _is_code(number: float) -> bool:
    """Whether such a number is commonly written for a missing value: -1, 99, -999, 8888, the largest of a type."""
    if number != np.floor(number) or abs(number) >= 1e18:
        return abs(number) in LIMITS
    digits = str(abs(int(number)))
    same = len(set(digits)) == 1 and digits[0] in "789" and (len(digits) > 1 or number < 0)
    return same or -9 <= number <= -1 or abs(number) in LIMITS


def _beyond(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values lie more than 1,000 interquartile ranges outside the quartiles."""
    for weights in (counts, np.minimum(counts, 1)):
        held = np.repeat(numbers, weights)
        if not held.size:
            break
        low, high = np.percentile(held, [25, 75], method="lower")
        if (reach := FAR * (high - low)) > 0:
            return np.asarray((numbers < low - reach) | (numbers > high + reach), bool)
    return np.zeros(numbers.size, bool)
