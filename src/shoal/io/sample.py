"""A sample table to try things on: the admissions of a hospital that does not exist.

Everything in it is invented. Names are drawn from two short lists, and all the rest from a seeded
generator, so that no row is a person and the same seed gives the same bytes:

1. Age, sex, place, schooling and smoking are drawn for each patient.
2. Height follows the sex; weight follows height and sex; blood pressure follows age, weight and smoking.
3. The diagnosis follows age and smoking; one diagnosis is rare, so that a careless release gives it away.
4. The days of the stay follow the diagnosis and age, and the cost follows the days and the diagnosis.
5. About three in a hundred cells of some columns are missing.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.model.asking import check_number
from shoal.model.options import with_options

WOMEN = (
    "Anna Maria Laura Julia Sofia Emma Lea Clara Nina Ines Elena Alice Helen Ruth Karin Petra Monika "
    "Ursula Sabine Carmen Lucia Chiara Marta Eva Ivana Olga Leyla Aylin Fatima Mai"
)
MEN = (
    "Paul Peter Thomas Jan Lukas Felix Max David Daniel Martin Robert Georg Karl Hans Klaus Jorge Luis "
    "Marco Luca Pierre Jean Tom Oliver Henry Ivan Milan Emre Ali Omar Minh"
)
FAMILIES = (
    "Becker Bauer Braun Fischer Frank Graf Haas Hahn Hofmann Huber Keller Klein Koch Kraus Lang Lehmann "
    "Maier Meyer Moser Neumann Peters Richter Roth Sauer Schmid Schneider Schulz Seidel Vogel Wagner "
    "Weber Weiss Winter Wolf Ziegler Baker Carter Cooper Fisher Green Hill Miller Moore Turner Walker "
    "Bernard Dubois Laurent Martin Moreau Garcia Lopez Ruiz Santos Silva Costa Rossi Bianchi Ferrari "
    "Greco Novak Horvat Kowalski Nowak Popov Yilmaz Kaya Demir Aziz Haddad Nguyen Tran Chen Wang Kim"
)
SCHOOLS = ("primary", "lower secondary", "upper secondary", "vocational", "bachelor", "master", "doctorate")

# name, share, age at which it is most frequent, how much smoking adds, days of stay, cost of treatment
DIAGNOSES = (
    ("pneumonia", 0.16, 68, 1.4, 8, 2600.0),
    ("heart failure", 0.15, 78, 1.3, 9, 3400.0),
    ("hip fracture", 0.10, 80, 1.0, 12, 8200.0),
    ("stroke", 0.09, 74, 1.4, 11, 6100.0),
    ("gallstones", 0.09, 52, 1.0, 4, 3900.0),
    ("appendicitis", 0.09, 32, 1.0, 4, 3100.0),
    ("heart attack", 0.08, 66, 1.9, 7, 7400.0),
    ("asthma", 0.07, 38, 1.5, 5, 1900.0),
    ("diabetes", 0.07, 60, 1.1, 6, 2200.0),
    ("depression", 0.05, 42, 1.3, 21, 2500.0),
    ("kidney stones", 0.04, 46, 1.0, 3, 2800.0),
    ("sepsis", 0.01, 70, 1.1, 15, 11800.0),
)
RARE = ("porphyria", 0.002, 9, 9300.0)

START = np.datetime64("2021-01-01", "D")
END = np.datetime64("2024-12-31", "D")

Reals = NDArray[np.float64]


@with_options("sample")
def sample(rows: int = 5000, seed: int = 7) -> pa.Table:
    """Return a synthetic table of hospital admissions, one row per patient.

    No such people exist: names, dates, places and illnesses are drawn at random.

    Parameters
    ----------
    rows : int, at least 2
        Number of patients.
    seed : int, at least 0
        Random seed; the same seed gives the same bytes.

    Returns
    -------
    pyarrow.Table
        With the columns patient_id, name, birth_date, sex, postcode, height_cm, weight_kg, systolic, smoker,
        education, admitted, days, diagnosis and cost_eur.

    Examples
    --------
    >>> import shoal
    >>> shoal.sample(100).num_rows
    100
    """
    check_number(rows, "sample", "rows", whole=True, least=2)
    check_number(seed, "sample", "seed", whole=True, least=0)
    rng = np.random.default_rng(seed)
    old = rng.random(rows) < 0.6
    drawn = rng.normal(np.where(old, 70, 42), np.where(old, 12, 14))
    age = np.where((drawn < 18) | (drawn > 100), rng.uniform(18, 95, rows), drawn)
    sex = rng.choice(np.array(["F", "M", "X"]), rows, p=[0.515, 0.48, 0.005])
    smoker = rng.random(rows) < np.where(age < 65, 0.31, 0.14)
    height = np.clip(np.rint(rng.normal(np.where(sex == "M", 177.5, 164.5), 6.8)), 140, 208)
    body = np.clip(rng.gamma(36, np.where(sex == "M", 27.2, 26.4) / 36), 16, 52)
    weight = np.round(body * (height / 100) ** 2, 1)
    systolic = np.rint(rng.normal(98 + 0.42 * age + 0.35 * (body - 26) + 5.5 * smoker, 12))
    diagnosis = _diagnoses(rng, age, smoker)
    days, cost = _stays(rng, age, diagnosis)
    admitted = START + rng.integers(0, int((END - START).astype(int)) + 1, rows)
    born = admitted - np.floor(age * 365.2425).astype("timedelta64[D]")
    names = np.array([*(line[0] for line in DIAGNOSES), RARE[0]])
    return pa.table(
        {
            "patient_id": [f"P{number:07d}" for number in 1_000_000 + rng.permutation(rows) * 7],
            "name": _names(rng, sex),
            "birth_date": pa.array(born, pa.date32()),
            "sex": pa.array(sex.tolist(), pa.string()),
            "postcode": _with_missing(rng, pa.array(_postcodes(rng, rows), pa.string()), 0.01),
            "height_cm": _with_missing(rng, pa.array(height.astype(np.int64)), 0.02),
            "weight_kg": _with_missing(rng, pa.array(weight), 0.03),
            "systolic": _with_missing(rng, pa.array(systolic.astype(np.int64)), 0.04),
            "smoker": _with_missing(rng, pa.array(smoker), 0.03),
            "education": _with_missing(rng, pa.array(_schools(rng, age), pa.string()), 0.03),
            "admitted": pa.array(admitted, pa.date32()),
            "days": pa.array(days),
            "diagnosis": pa.array(names[diagnosis].tolist(), pa.string()),
            "cost_eur": pa.array(cost),
        }
    )


def _names(rng: np.random.Generator, sex: NDArray[np.str_]) -> list[str]:
    """Return a first and a last name for each patient; some are more frequent than others."""
    women, men, families = (np.array(names.split()) for names in (WOMEN, MEN, FAMILIES))
    rows = sex.size
    first = np.where(
        (sex == "F") | ((sex == "X") & (rng.random(rows) < 0.5)),
        women[(women.size * rng.random(rows) ** 1.4).astype(np.int64)],
        men[(men.size * rng.random(rows) ** 1.4).astype(np.int64)],
    )
    last = families[(families.size * rng.random(rows) ** 1.2).astype(np.int64)]
    return [f"{one} {other}" for one, other in zip(first, last, strict=True)]


def _postcodes(rng: np.random.Generator, rows: int) -> list[str]:
    """Return five digits for each patient, from 80 places; some are small, some begin with zero."""
    places = np.sort(rng.choice(98_999, 80, replace=False) + 1001)
    places[:12] = 1001 + np.sort(rng.choice(8_998, 12, replace=False))
    shares = 1 / np.arange(1, 81) ** 0.9
    return [f"{place:05d}" for place in rng.permutation(places)[rng.choice(80, rows, p=shares / shares.sum())]]


def _schools(rng: np.random.Generator, age: Reals) -> list[str]:
    """Return the education of each patient; younger patients stayed at school longer."""
    level = np.rint(rng.normal(3.6 - 0.018 * (age - 18), 1.25))
    highest = np.searchsorted([21, 23, 27], age, side="right") + 3
    return [SCHOOLS[int(place)] for place in np.clip(level, 0, highest)]


def _diagnoses(rng: np.random.Generator, age: Reals, smoker: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of each patient's diagnosis; the last is the rare one, in at least two rows."""
    _, shares, ages, smoking, _, _ = (np.array(cells) for cells in zip(*DIAGNOSES, strict=True))
    odds = shares.astype(float) * np.exp(-0.5 * ((age[:, None] - ages.astype(float)) / 22) ** 2)
    odds *= np.where(smoker[:, None], smoking.astype(float), 1.0)
    steps = np.cumsum(odds, axis=1)
    drawn = (steps < rng.random(age.size)[:, None] * steps[:, -1:]).sum(axis=1)
    rare = max(2, round(RARE[1] * age.size))
    drawn[rng.choice(age.size, rare, replace=False)] = len(DIAGNOSES)
    return np.asarray(drawn, np.int64)


def _stays(rng: np.random.Generator, age: Reals, diagnosis: NDArray[np.int64]) -> tuple[NDArray[np.int64], Reals]:
    """Return the days and the cost of each stay."""
    usual = np.array([*(line[4] for line in DIAGNOSES), RARE[2]], float)[diagnosis]
    treatment = np.array([*(line[5] for line in DIAGNOSES), RARE[3]], float)[diagnosis]
    days = 1 + rng.poisson(rng.gamma(3, (usual - 1) * (0.8 + 0.004 * (age - 18)) / 3))
    cost = treatment * rng.lognormal(0, 0.22, age.size) + days * rng.normal(410, 35, age.size)
    return days.astype(np.int64), np.round(cost, 2)


def _with_missing(rng: np.random.Generator, column: pa.Array, share: float) -> pa.Array:
    """Return the column with this share of its cells missing."""
    return pa.array(column.to_pylist(), column.type, mask=rng.random(len(column)) < share)
