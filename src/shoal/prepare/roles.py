"""Roles: what each column probably is to an attacker, with the reason.

The first rule that fits gives the role:

1. Values that show their nature (e-mail addresses, phone numbers, identity numbers): identifier.
2. A column name that refers to a person's name or number: identifier. A column called just "name" may contain products
   or wards: only if as many values differ as those of names do.
3. A name that suggests health, money or belief: sensitive, as an attacker rarely knows it. If so many values occur
   once that rows stand out by them, the column is not proposed to be published unchanged: numbers and dates become
   quasi-identifiers, published by class, and so does text. If nearly all values differ, text and integers of a column
   whose name refers to a key are identifiers.
4. A name or values that refer to a postcode, a date, an age or the sex: quasi-identifier.
5. Values that all differ, text or integers: identifier. Of integers 95% must differ, and they must be distributed like
   keys: without gaps, evenly, or all of seven or more digits; amounts and measurements, which cluster around the
   middle, are not keys even if they happen to differ in every row.
6. Text that looks like full names of people: identifier. Half of the values must differ, or there are at least 20
   distinct values whose first and last words recombine, as first names and surnames do and words of towns do not.
   Likewise codes of one pattern of which nearly all differ, and text with a distinct value for every two rows or more.
7. Everything else is a quasi-identifier, the default role. The role `keep` is never proposed.

`is_direct` says which columns are dropped if a policy leaves their role open: text that rules 1 to 6 call an
identifier, and integers that are certainly codes.

Patterns are tried on at most 1,000 distinct values, and nine in ten must fit. A proposal is not a decision: the policy
decides. No cell value appears in a reason.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.model.exposure import stands_out
from shoal.model.looks import DATES, DIRECT, is_full_name, recombine, shape_of
from shoal.model.policy import Kind, Role

SAMPLE = 1000
SHARE = 0.9
LONG = 200  # matching a pattern may take quadratic time
FEW = 20  # below this many rows, values that all differ prove nothing
NEARLY = 0.95  # of the values must differ for numbers to be keys
HALF = 0.5  # distinct values per row: with this many, two rows share one on average
# Distinct values per row, and in total, that a column called "name" must have to contain names of people.
VARIED, VARIED_LARGE, MANY = 1 / 3, 0.05, 500
FULL_NAMES = 20  # distinct values needed to see how their words combine
EVEN_ROWS = 1000  # below this many, amounts may happen to be spread as evenly as keys
KEY_DIGITS = 5
ROWS_PER_KEY = 20
UNEVEN = 1.6  # the Kolmogorov-Smirnov distance that one in a hundred even samples exceeds, times root n
UNKNOWN = "nothing recognized; default role"
LONG_KEY = 7  # digits
BY_CLASS = (
    "it would make many rows unique if published unchanged, so it is published per class (to publish it unchanged "
    "anyway, give it the role sensitive and accept the risk unique-kept)"
)
POSTCODES = r"\d{4,5}|\d{5}-\d{4}|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d"

ANY_NAME = "name names nom nombre nome naam imie"
OWN_NAME = (
    "surname forename nickname prenom nombres apellido apellidos vorname nachname familienname cognome "
    "sobrenome voornaam achternaam nazwisko fornamn efternamn firstname lastname fullname username givenname "
    "familyname middlename maidenname geburtsname"
)
PEOPLE = (
    "patient client customer person employee user student pupil member subject participant voter respondent paciente "
    "cliente usuario kunde mitarbeiter"
)
# With a word for "name" or a key: the name or the number of a person.
PERSON = (
    f"{PEOPLE} contact full first last given family middle maiden birth mother father spouse partner legal famille "
    "complet completo"
)
NUMBERED = (
    "ssn mrn nino dni cpf ahv passport iban email mail phone telephone mobile fax telefon telefono telefone "
    "telefonnummer handynummer rufnummer tel courriel correo uuid guid imei pid patientid personid customerid clientid "
    "userid employeeid studentid nhsno nhsnum nhsnumber nhsid hospitalno hospitalnumber"
)
CODED = f"{PEOPLE} staff worker badge pseudonym case"  # above codes of one pattern: those of persons
# With a key: a number of a person.
NUMBERING = "insurance insured social national nhs tax pension loan mortgage licence license chart"
KEYS = "id ids identifier key pk uid rowid nr no num number code index record account numero nummer matricule"
PLACES = "address street adresse strasse direccion indirizzo"
SENSITIVE = {
    "health information": (
        "diagnos disease illness symptom complication hepatit medicat hiv cancer diabet asthma depress disab pregnan "
        "icd maladie krankheit enfermedad malattia"
    ),
    "financial information": (
        "income salar wage earning wealth debt cost expens pension loan mortgage gehalt einkommen revenu ingreso "
        "stipendio"
    ),
    "beliefs or conduct": "religi faith politic vote union crim convict offen orientation sexualit",
}
KNOWN = {
    "a postcode": "zip zipcode postcode postal plz postleitzahl codepostal",
    "a date of birth": "dob birth birthdate birthday birthyear geburtsdatum geboren naissance nacimiento",
    "an age": "age alter edad",
    "sex": "sex gender geschlecht sexe sexo",
    "a date": "date year month day datum jahr annee fecha",
}


@dataclass(frozen=True, eq=False)
class Seen:
    """A column by its distinct values and the number of rows of each; missing cells are counted separately."""

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
    def alone(self) -> int:
        """The number of rows that are unique by this column alone."""
        return int((self.counts == 1).sum()) + (self.missing == 1)

    @property
    def uniqueness(self) -> float:
        """The number of distinct values for each cell that is not missing."""
        return len(self.values) / self.present if self.present else 0.0

    @property
    def all_differ(self) -> bool:
        """Whether all values differ, and there are several."""
        return len(self.values) == self.present > 1

    @property
    def is_text(self) -> bool:
        """Whether the cells are text."""
        return bool(pa.types.is_string(self.values.type) or pa.types.is_large_string(self.values.type))

    @property
    def is_whole(self) -> bool:
        """Whether the cells have an integer type."""
        held = self.values.type
        return bool(pa.types.is_integer(held) or (pa.types.is_decimal(held) and held.scale <= 0))

    def numbers(self) -> NDArray[np.float64] | None:
        """Return the distinct values as numbers, or None if the column is not numeric."""
        held = self.values.type
        if not (pa.types.is_integer(held) or pa.types.is_floating(held) or pa.types.is_decimal(held)):
            return None
        if pa.types.is_decimal(held):
            return np.asarray(self.values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.float64)
        return np.asarray(self.values.to_numpy(zero_copy_only=False), np.float64)


def suggest(seen: Seen) -> tuple[Role, str]:
    """Propose the role of a column, and why, in a few words and without any value of the column.

    Examples
    --------
    >>> suggest(Seen("age", "numeric", pa.array([31, 40]), np.array([2, 1])))
    ('quasi', 'the column name suggests an age, which is widely known')
    """
    if seen.kind == "set":
        return "items", "a set of items: it is reshuffled within each group, see constraints.m"
    if not seen.present:
        return "quasi", "every cell is missing"
    words = _words(seen.name)
    cells = sampled(seen.values) if seen.is_text else []
    dates = fits(cells, DATES)
    named = _named_directly(seen, words, cells)
    for what, form in DIRECT.items():
        by_name = named and what == "phone numbers"  # other numbers look like them: NHS numbers have groups of 3, 3, 4
        if not dates and not by_name and fits(cells, form):
            return "identifier", f"the values look like {what}"
    if named:
        return "identifier", named
    for what, stems in SENSITIVE.items():
        if any(word.startswith(tuple(stems.split())) for word in words):
            return _protected(seen, words, what)
    for what, known in KNOWN.items():
        if words & _bag(known):
            return "quasi", f"the column name suggests {what}, which is widely known"
    if dates or seen.kind == "date":
        return "quasi", "the values are dates, which others may know"
    return _by_values(seen, words, cells)


def _is_code(seen: Seen) -> bool:
    """Return whether a proposed identifier certainly contains numbers of rows, which must never be averaged.

    That is so if its name refers to a number or key; or if it has 20 rows or more of integers of which 95% differ, and
    they leave few gaps, are all of the same seven or more digits, or are spread evenly: all of the same five or more
    digits, or over 1,000 rows or more.
    """
    numbers = seen.numbers()
    if numbers is None or seen.kind != "numeric":
        return False
    words = _words(seen.name)
    if words & _bag(KEYS) or _named_directly(seen, words, []):
        return True
    if seen.present < FEW or seen.uniqueness < NEARLY:
        return False
    one_length = _one_length(numbers)
    surely_even = _even(numbers) and (one_length >= KEY_DIGITS or seen.present >= EVEN_ROWS)
    return bool(_few_gaps(numbers) or one_length >= LONG_KEY or surely_even)


def is_direct(seen: Seen) -> bool:
    """Return whether an identifier, as `suggest` proposes it, is certain enough to be dropped if its role is left open.

    Otherwise, names that k people happen to share would be published, and all others would be missing.

    Examples
    --------
    >>> is_direct(Seen("surname", "nominal", pa.array(["Koch", "Silva"]), np.array([1, 1])))
    True
    >>> is_direct(Seen("patient_no", "numeric", pa.array([17, 4]), np.array([1, 1])))
    True
    >>> is_direct(Seen("amount", "numeric", pa.array([31_250, 48_012]), np.array([1, 1])))
    False
    """
    return seen.is_text or _is_code(seen)


def is_row_number(seen: Seen) -> bool:
    """Return whether all values of a column differ and number the rows."""
    return seen.all_differ and _holds_whole_numbers(seen, _words(seen.name)) and _counts_up(seen.numbers())


def _holds_whole_numbers(seen: Seen, words: set[str]) -> bool:
    """Return whether a column holds whole numbers, with floats included if `words`, those of its name, mean a key.

    Integers with missing values often arrive as floats: only the column's name distinguishes them from measurements.
    """
    numbers = seen.numbers()
    return seen.is_whole or (bool(words & _bag(KEYS)) and numbers is not None and _all_whole(numbers))


def _protected(seen: Seen, words: set[str], what: str) -> tuple[Role, str]:
    """Propose a role for a column with a sensitive name: not unchanged, if its rows stand out by it."""
    reason = f"the column name suggests {what}, which an attacker rarely knows"
    few = seen.numbers() is None and seen.present < FEW  # a few words that differ prove nothing
    if few or not stands_out(seen.alone, seen.present + seen.missing):
        return "sensitive", reason
    key = bool(words & _bag(KEYS)) and _holds_whole_numbers(seen, words)
    if (seen.is_text or key) and seen.uniqueness >= SHARE:
        return "identifier", f"the column name suggests {what}, and nearly all values differ"
    return "quasi", f"the column name suggests {what}; {BY_CLASS}"


def _bag(words: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(words.split())


def _words(name: str) -> set[str]:
    """Return the words of a column's name and all of them as one, without case and accents."""
    plain = "".join(
        character for character in unicodedata.normalize("NFKD", name) if not unicodedata.combining(character)
    )
    parts = [part.casefold() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", plain)]
    return {*parts, "".join(parts)}


def sampled(values: pa.Array) -> list[str]:
    """Return the beginnings of at most 1,000 values, evenly spaced among them."""
    chosen = np.unique(np.linspace(0, len(values) - 1, min(SAMPLE, len(values))).astype(np.int64))
    return [text.strip()[:LONG] for text in values.take(pa.array(chosen)).to_pylist()]


def fits(cells: list[str], form: str) -> bool:
    """Whether nine in ten of the cells match this pattern."""
    whole, misses = re.compile(form), 0
    for cell in cells:
        misses += whole.fullmatch(cell) is None
        if len(cells) - misses < SHARE * len(cells):
            return False
    return bool(cells)


def _named_directly(seen: Seen, words: set[str], cells: list[str]) -> str | None:
    """Say that a column's name refers to a person's name, number or address, if so and its values may be such."""
    if seen.is_text:
        others = words - _bag(ANY_NAME) - _bag(PERSON) - {max(words, key=len, default="")}
        named = words & _bag(ANY_NAME) and not others
        whose = words & _bag(PERSON) or (_varied(seen) and not _mostly(cells, r"\d"))
        if words & _bag(OWN_NAME) or (named and whose):
            return "the column name suggests a person's name"
        houses = _varied(seen) and _mostly(cells, r"\d")  # with house numbers, unlike names of streets
        if words & _bag(PLACES) and (seen.uniqueness >= HALF or houses):
            return "the column name suggests an address"
    numbered = words & _bag(NUMBERED) or (words & (_bag(PERSON) | _bag(NUMBERING)) and words & _bag(KEYS))
    many = seen.uniqueness * ROWS_PER_KEY >= 1 or len(seen.values) >= FEW  # a person may have any number of rows
    if numbered and (seen.is_text or seen.is_whole) and many:
        return "the column name suggests an identification number or contact details"
    if words & _bag(CODED) and len(seen.values) >= FEW and cells and _one_shape(cells) and not fits(cells, DATES):
        return "the column name suggests a person, and the values are codes"
    return None


def _varied(seen: Seen) -> bool:
    """Whether as many values differ as those of people's names do, and those of products or wards rarely."""
    distinct = len(seen.values)
    return seen.uniqueness >= VARIED or (distinct >= FEW and seen.uniqueness >= VARIED_LARGE) or distinct >= MANY


def _mostly(cells: list[str], part: str) -> bool:
    """Whether at least half of the cells contain this pattern."""
    return 2 * sum(re.search(part, cell) is not None for cell in cells) >= max(1, len(cells))


def _by_values(seen: Seen, words: set[str], cells: list[str]) -> tuple[Role, str]:
    """Propose a role by how many of the values differ and what they look like."""
    if is_row_number(seen):
        return "identifier", "all values differ and number the rows"
    all_differ, numbers, key = seen.all_differ, seen.numbers(), bool(words & _bag(KEYS))
    whole = _holds_whole_numbers(seen, words)
    if seen.is_text or whole:
        nearly = all_differ or (numbers is not None and seen.uniqueness >= NEARLY)
        enough = seen.present >= FEW and (numbers is None or _like_keys(numbers))
        if (nearly and enough) or (all_differ and key):
            return "identifier", "all values differ" if all_differ else "nearly all values differ, as those of keys do"
        if key and seen.present > 1 and seen.uniqueness >= SHARE:
            return "identifier", "the column name suggests a key, and nearly all values differ"
    if fits(cells, POSTCODES):
        return "quasi", "the values look like postcodes"
    if seen.is_text and seen.present >= FEW:
        named = sum(map(is_full_name, cells)) >= SHARE * len(cells)
        if named and (seen.uniqueness >= HALF or _shared_names(seen)):
            return "identifier", "the values look like people's names"
        if seen.uniqueness >= SHARE and _one_shape(cells):
            return "identifier", "nearly all values differ and follow one pattern"
        if seen.uniqueness >= HALF:
            return "identifier", "text of which most values differ, as in names and free text"
    return "quasi", UNKNOWN


def _all_whole(numbers: NDArray[np.float64]) -> bool:
    """Whether floats are integers that a key could be."""
    return bool(((numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**63)).all())


def _counts_up(numbers: NDArray[np.float64] | None) -> bool:
    """Whether three or more distinct integers leave no gap."""
    return numbers is not None and numbers.size > 2 and bool(np.ptp(numbers) == numbers.size - 1)


def _like_keys(numbers: NDArray[np.float64]) -> bool:
    """Whether distinct integers leave few gaps, are evenly spread, or all have the same number of digits."""
    return _few_gaps(numbers) or _one_length(numbers) >= LONG_KEY or _even(numbers)


def _few_gaps(numbers: NDArray[np.float64]) -> bool:
    """Whether at least half of the numbers between the smallest and the largest occur."""
    return bool(np.ptp(numbers) < 2 * numbers.size)


def _one_length(numbers: NDArray[np.float64]) -> int:
    """Return how many digits all numbers have, or 0 if they differ in that."""
    low, high = (len(str(int(end))) for end in (numbers.min(), numbers.max()))
    return low if low == high else 0


def _even(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are spread evenly between the smallest and the largest."""
    ordered = np.sort(numbers)
    if ordered[0] == ordered[-1]:  # integers that a float cannot distinguish
        return False
    uneven = np.abs((ordered - ordered[0]) / (ordered[-1] - ordered[0]) - np.linspace(0, 1, ordered.size)).max()
    return bool(uneven <= UNEVEN / np.sqrt(ordered.size))


def _shared_names(seen: Seen) -> bool:
    """Whether full names differ enough, and combine like first names and surnames, to be those of people."""
    return len(seen.values) >= FULL_NAMES and recombine(seen.values.to_pylist())


def _one_shape(cells: list[str]) -> bool:
    """Whether nine in ten of the cells have digits, and letters and digits in the same positions."""
    shapes = Counter(shape_of(cell) for cell in cells)
    most, times = shapes.most_common(1)[0]
    return "0" in most and " " not in most and times >= SHARE * len(cells)
