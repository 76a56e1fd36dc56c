"""Roles: what each column probably is to an attacker, with the reason, and what looks odd in it.

The first of these that fits gives the role:

1. Values that show their nature (e-mail addresses, phone numbers, identity numbers): identifier.
2. A name that speaks of a person's name or number: identifier.
3. A name that sounds like health, money or belief: sensitive, as an attacker rarely knows it.
4. A name or values that speak of a postcode, a date, an age or the sex: quasi-identifier.
5. Values that all differ, text or whole numbers: identifier. Whole numbers must also be spread like keys:
   without gaps, evenly, or all of seven or more digits; amounts and measurements, which crowd around the
   middle, are none even if they happen to differ in every row.
6. Text that looks like people's names, or like codes of one shape of which nearly all differ: identifier.
7. Everything else is a quasi-identifier, because nobody said otherwise. To keep a column is never proposed.

Patterns are tried on at most 1,000 distinct values, and nine in ten must fit. A proposal is no decision:
the policy decides. No value of a cell appears in a reason or a note.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.model.looks import BLANK_WORDS, DATES, DIRECT, shape_of
from shoal.model.policy import Kind, Role

__all__ = ["Seen", "notes", "suggest"]

SAMPLE = 1000
SHARE = 0.9
LONG = 200  # a pattern may take time of the square of the length
FEW = 20  # below this many rows, values that all differ prove nothing
ROWS_PER_KEY = 20
UNEVEN = 1.6  # the Kolmogorov-Smirnov distance that one in a hundred even samples exceeds, times root n
MANY = 100
FAR = 1000
COUNTS = "all values differ and count the rows"
REMEDY, IS_DATE = "missing_codes", 'its kind "date"'
DAYS = r"\d{4}-\d{2}-\d{2}(?:[T ].*)?"
POSTCODES = r"\d{4,5}|\d{5}-\d{4}|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d"

ANY_NAME = "name names nom nombre nome naam imie"
OWN_NAME = (
    "surname forename nickname prenom nombres apellido apellidos vorname nachname familienname cognome "
    "sobrenome voornaam achternaam nazwisko fornamn efternamn firstname lastname fullname username"
)
PERSON = (
    "patient client customer person employee user student pupil member contact subject participant voter "
    "respondent full first last given family middle maiden birth mother father spouse partner legal paciente "
    "cliente usuario kunde mitarbeiter"
)
NUMBERED = (
    "ssn mrn nino dni cpf ahv passport iban email mail phone telephone mobile fax telefon telefono telefone "
    "courriel correo uuid guid imei patientid personid customerid clientid userid employeeid studentid"
)
KEYS = "id ids identifier key pk uid rowid nr no num number code index record account numero nummer matricule"
PLACES = "address street adresse strasse direccion indirizzo"
SENSITIVE = {
    "a matter of health": (
        "diagnos disease illness symptom medicat hiv cancer diabet asthma depress disab pregnan icd maladie "
        "krankheit enfermedad malattia"
    ),
    "a matter of money": "income salar wage earning wealth debt gehalt einkommen revenu ingreso stipendio",
    "a matter of belief or conduct": "religi faith politic vote crim convict offen orientation sexualit",
}
KNOWN = {
    "a postcode": "zip zipcode postcode postal plz postleitzahl codepostal",
    "a date of birth": "dob birth birthdate birthday birthyear geburtsdatum geboren naissance nacimiento",
    "an age": "age alter edad",
    "the sex": "sex gender geschlecht sexe sexo",
    "a date": "date year month day datum jahr annee fecha",
}
LIMITS = (2.0**15 - 1, 2.0**31 - 1, 2.0**15, 2.0**31, 2.0**63)


@dataclass(frozen=True, eq=False)
class Seen:
    """A column by its distinct values and the number of rows of each, missing cells apart."""

    name: str
    kind: Kind
    values: pa.Array = field(repr=False)
    counts: NDArray[np.int64] = field(repr=False)
    missing: int = 0

    @property
    def present(self) -> int:
        """The number of cells that are not missing."""
        return int(self.counts.sum())

    @property
    def uniqueness(self) -> float:
        """The number of distinct values for each cell that is not missing."""
        return len(self.values) / self.present if self.present else 0.0

    @property
    def is_text(self) -> bool:
        """Whether the cells are text."""
        return bool(pa.types.is_string(self.values.type) or pa.types.is_large_string(self.values.type))

    @property
    def is_whole(self) -> bool:
        """Whether the cells are held as whole numbers."""
        held = self.values.type
        return bool(pa.types.is_integer(held) or (pa.types.is_decimal(held) and held.scale <= 0))

    def numbers(self) -> NDArray[np.float64] | None:
        """Return the distinct values as numbers, or nothing if the column does not hold numbers."""
        held = self.values.type
        if not (pa.types.is_integer(held) or pa.types.is_floating(held) or pa.types.is_decimal(held)):
            return None
        if pa.types.is_decimal(held):
            return np.asarray(self.values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
        return np.asarray(self.values.to_numpy(zero_copy_only=False), np.float64)


def suggest(seen: Seen) -> tuple[Role, str]:
    """Propose the role of a column.

    Parameters
    ----------
    seen : Seen
        The column.

    Returns
    -------
    role : {"identifier", "quasi", "sensitive", "items"}
    reason : str
        Why, in a few words and without any value of the column.

    Examples
    --------
    >>> suggest(Seen("age", "numeric", pa.array([31, 40]), np.array([2, 1])))
    ('quasi', 'its name sounds like an age, which is widely known')
    """
    if seen.kind == "set":
        return "items", "a set of items: it is put together anew inside each group, see constraints.m"
    if not seen.present:
        return "quasi", "every cell is missing"
    words = _words(seen.name)
    cells = _sampled(seen.values) if seen.is_text else []
    dates = _fits(cells, DATES)
    for what, form in DIRECT.items():
        if not dates and _fits(cells, form):
            return "identifier", f"its values look like {what}"
    if said := _named_directly(seen, words):
        return "identifier", said
    for what, stems in SENSITIVE.items():
        if any(word.startswith(tuple(stems.split())) for word in words):
            return "sensitive", f"its name sounds like {what}, which an attacker rarely knows"
    for what, known in KNOWN.items():
        if words & _bag(known):
            return "quasi", f"its name sounds like {what}, which is widely known"
    if dates:
        return "quasi", "its values look like dates"
    return _by_values(seen, words, cells)


def notes(seen: Seen, role: Role = "quasi") -> tuple[str, ...]:
    """Say what looks odd in a column: one value only, codes for missing, extremes, many categories.

    Parameters
    ----------
    seen : Seen
        The column.
    role : str
        The role that was proposed: an identifier may have many categories.

    Returns
    -------
    tuple of str
        One clause each, with counts and without any value of the column.

    Examples
    --------
    >>> notes(Seen("country", "nominal", pa.array(["somewhere"]), np.array([9])))
    ('all cells hold the same value',)
    """
    found = []
    if not seen.present:
        found.append("every cell is missing")
    elif len(seen.values) == 1:
        found.append("all cells hold the same value" + (", if any" if seen.missing else ""))
    numbers = seen.numbers() if seen.kind in ("numeric", "ordinal") else None
    if numbers is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            found += _odd_numbers(numbers, seen.counts)
    if seen.is_text:
        plain = pc.utf8_lower(pc.utf8_trim_whitespace(seen.values))
        blank = pc.is_in(plain, pa.array(sorted(BLANK_WORDS), seen.values.type)).to_numpy(zero_copy_only=False)
        if cells := int(seen.counts[blank].sum()):
            said = f"a word that looks like a code for missing in {_cells(cells)}"
            found.append(f"{said}; if so, name it in {REMEDY}")
        if seen.kind == "nominal" and _fits(_sampled(seen.values), DAYS):
            found.append(f"text that looks like dates; if so, call {IS_DATE}")
    if role != "identifier" and seen.kind == "nominal" and len(seen.values) > MANY:
        found.append(f"{len(seen.values)} categories; more than {MANY} are hard to group")
    return tuple(found)


def _cells(count: int) -> str:
    """Say how many cells."""
    return "1 cell" if count == 1 else f"{count} cells"


def _bag(words: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(words.split())


def _words(name: str) -> set[str]:
    """Return the words of a column's name and all of them as one, without case and accents."""
    plain = "".join(sign for sign in unicodedata.normalize("NFKD", name) if not unicodedata.combining(sign))
    parts = [part.casefold() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", plain)]
    return {*parts, "".join(parts)}


def _sampled(values: pa.Array) -> list[str]:
    """Return the beginnings of at most 1,000 values, spread evenly over them all."""
    chosen = np.unique(np.linspace(0, len(values) - 1, min(SAMPLE, len(values))).astype(np.int64))
    return [text.strip()[:LONG] for text in values.take(pa.array(chosen)).to_pylist()]


def _fits(cells: list[str], form: str) -> bool:
    """Whether nine in ten of the cells have this form."""
    whole, misses = re.compile(form), 0
    for cell in cells:
        misses += whole.fullmatch(cell) is None
        if len(cells) - misses < SHARE * len(cells):
            return False
    return bool(cells)


def _named_directly(seen: Seen, words: set[str]) -> str | None:
    """Say that a column's name speaks of a person's name, number or address, if so."""
    if seen.is_text:
        others = words - _bag(ANY_NAME) - _bag(PERSON) - {max(words, key=len, default="")}
        if words & _bag(OWN_NAME) or (words & _bag(ANY_NAME) and not others):
            return "its name sounds like a person's name"
        if words & _bag(PLACES) and seen.uniqueness >= 0.5:
            return "its name sounds like an address"
    numbered = words & _bag(NUMBERED) or (words & _bag(PERSON) and words & _bag(KEYS))
    if numbered and (seen.is_text or seen.is_whole) and seen.uniqueness * ROWS_PER_KEY >= 1:
        return "its name sounds like a person's number or address"
    return None


def _by_values(seen: Seen, words: set[str], cells: list[str]) -> tuple[Role, str]:
    """Propose a role by how many of the values differ and what they look like."""
    all_differ = len(seen.values) == seen.present > 1
    numbers = seen.numbers()
    key = bool(words & _bag(KEYS))
    # Whole numbers with gaps often come as floats: only the column's name tells them from measurements.
    whole = seen.is_whole or (key and numbers is not None and _all_whole(numbers))
    if all_differ and whole and _counts_up(numbers):
        return "identifier", COUNTS
    if seen.is_text or whole:
        enough = seen.present >= FEW and (numbers is None or _like_keys(numbers))
        if all_differ and (enough or key):
            return "identifier", "all values differ"
        if key and seen.present > 1 and seen.uniqueness >= SHARE:
            return "identifier", "its name sounds like a key and nearly all values differ"
    if _fits(cells, POSTCODES):
        return "quasi", "its values look like postcodes"
    if seen.is_text and seen.present >= FEW:
        if seen.uniqueness >= 0.5 and sum(map(_is_person, cells)) >= SHARE * len(cells):
            return "identifier", "its values look like people's names"
        if seen.uniqueness >= SHARE and _one_shape(cells):
            return "identifier", "nearly all values differ and have one shape"
    return "quasi", "nobody said otherwise"


def _all_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether floats are whole numbers that a key could be."""
    return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**63)).all())


def _counts_up(numbers: NDArray[np.float64] | None) -> bool:
    """Whether three or more whole numbers that differ leave no gap."""
    return numbers is not None and numbers.size > 2 and bool(np.ptp(numbers) == numbers.size - 1)


def _like_keys(numbers: NDArray[np.float64]) -> bool:
    """Whether whole numbers that differ are close together, evenly spread, or all of one length."""
    ordered = np.sort(numbers)
    spread = ordered[-1] - ordered[0]
    if spread < 2 * ordered.size or 7 <= len(str(int(ordered[0]))) == len(str(int(ordered[-1]))):
        return True
    uneven = np.abs((ordered - ordered[0]) / spread - np.linspace(0, 1, ordered.size)).max()
    return bool(uneven <= UNEVEN / np.sqrt(ordered.size))


def _is_person(cell: str) -> bool:
    """Whether a cell is two to four capitalised words, such as a first and a last name."""
    parts = re.split(r"[ ,]+", cell)
    return 2 <= len(parts) <= 4 and all(
        part[:1].isupper() and part.replace("-", "").replace("'", "").replace("’", "").rstrip(".").isalpha()
        for part in parts
    )


def _one_shape(cells: list[str]) -> bool:
    """Whether nine in ten of the cells have letters and digits in the same places, and digits at all."""
    shapes = Counter(shape_of(cell) for cell in cells)
    most, times = shapes.most_common(1)[0]
    return "0" in most and " " not in most and times >= SHARE * len(cells)


def _odd_numbers(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> list[str]:
    """Say what looks odd in a column of numbers."""
    found = []
    finite = np.isfinite(numbers)
    if infinite := int(counts[~finite].sum()):
        found.append(f"infinite in {_cells(infinite)}")
    numbers, counts = numbers[finite], counts[finite]
    codes = _codes(numbers, counts)
    if many := int(codes.sum()):
        what = (
            "one extreme value that looks like a code" if many == 1 else f"{many} extreme values that look like codes"
        )
        found.append(f"{int(counts[codes].sum())} cells share {what} for missing; if so, name it in {REMEDY}")
    extremes = int(counts[_beyond(numbers, np.where(codes, 0, counts)) & ~codes].sum())
    if extremes:
        found.append(f"more than {FAR} interquartile ranges from the middle half in {_cells(extremes)}")
    return found


def _codes(numbers: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values look like codes for missing: shared, such as -999, and outside all the rest."""
    like = np.zeros(numbers.size, bool)
    # Codes lie outside the rest, so that only the ends need a look.
    ends = np.argpartition(numbers, (8, -9))[np.r_[:9, -9:0]] if numbers.size > 18 else np.arange(numbers.size)
    like[[place for place in ends if counts[place] > 1 and _is_code(float(numbers[place]))]] = True
    rest = numbers[~like]
    if not like.any() or rest.size < 3:
        return np.zeros(numbers.size, bool)
    low, high = float(rest.min()), float(rest.max())
    away = np.maximum(low - numbers, numbers - high)
    negative = (numbers < 0) & (low >= 0) & (rest.size >= 5)
    return np.asarray(like & (away > 0) & ((away > high - low) | negative), bool)


def _is_code(number: float) -> bool:
    """Whether people write such a number for «missing»: -1, 99, -999, 8888, the last of a type."""
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
