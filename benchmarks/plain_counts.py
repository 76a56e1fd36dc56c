"""What a written release must meet, counted in plain Python from its files: nothing of shoal is imported here.

Every function takes rows as lists of texts, None for a missing cell, and describes what is wrong.
"""

import csv
import gzip
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pyarrow.feather as pf
import pyarrow.parquet as pq

SLACK = 1e-9
Row = dict[str, str | None]


def rows_of(folder: Path) -> list[Row]:
    """Read the released rows of a folder; cells of Parquet and Feather as their text."""
    for name in ("data.csv", "data.csv.gz"):
        if (folder / name).exists():
            data = (folder / name).read_bytes()
            text = (gzip.decompress(data) if name.endswith("gz") else data).decode()
            lines = csv.DictReader(text.splitlines(keepends=True))
            return [{key: _plain(cell) for key, cell in line.items()} for line in lines]
    path = folder / "data.parquet"
    table = pq.read_table(path) if path.exists() else pf.read_table(folder / "data.feather")
    return [{key: None if cell is None else str(cell) for key, cell in line.items()} for line in table.to_pylist()]


def _plain(cell: str | None) -> str | None:
    """Return a cell without the apostrophe that guards spreadsheets; an empty one is missing."""
    if cell and cell[0] == "'" and cell[1:2] in ("'", "=", "+", "-", "@", "\t", "\r"):
        cell = cell[1:]
    return cell or None


def meaning(cell: str | None) -> str:
    """Return what a sensitive cell means: spellings of one value are one."""
    text = unicodedata.normalize("NFKC", cell or "").casefold()
    text = " ".join(text.split())
    if text in ("", "?", "na", "n/a", "nan", "null"):
        return ""
    try:
        number = Decimal(text)
        return str(number.normalize() + 0) if number.is_finite() else text
    except InvalidOperation:
        return text


def wrong(rows: list[Row], quasi: list[str], sensitive: list[str], asked: dict[str, float]) -> Iterator[str]:
    """Count k and what is asked of each sensitive column."""
    together: dict[tuple[str | None, ...], list[Row]] = defaultdict(list)
    for row in rows:
        together[tuple(row[name] for name in quasi)].append(row)
    if quasi and min(map(len, together.values())) < asked["k"]:
        yield f"k = {min(map(len, together.values()))} of {asked['k']}"
    for name in sensitive:
        whole = Counter(meaning(row[name]) for row in rows)
        for members in together.values():
            counts = Counter(meaning(row[name]) for row in members)
            yield from (f"{what} of {name}" for what in _broken(counts, whole, asked))


def _broken(counts: Counter[str], whole: Counter[str], asked: dict[str, float]) -> Iterator[str]:
    """Return the models that a class misses: names are equally far from each other for t."""
    n, total = sum(counts.values()), sum(whole.values())
    share = {value: count / n for value, count in counts.items()}
    base = {value: count / total for value, count in whole.items()}
    if "l" in asked and len(counts) < asked["l"]:
        yield "distinct l"
    if "entropy" in asked and math.exp(-sum(p * math.log(p) for p in share.values())) < asked["entropy"] - SLACK:
        yield "entropy l"
    if "t" in asked and sum(abs(share.get(value, 0) - p) for value, p in base.items()) / 2 > asked["t"] + SLACK:
        yield "t"
    if "alpha" in asked and max(share.values()) > asked["alpha"] + SLACK:
        yield "alpha"
    if "beta" in asked and max((p - base[value]) / base[value] for value, p in share.items()) > asked["beta"] + SLACK:
        yield "beta"
    if "delta" in asked and any(abs(math.log(p / base[value])) > asked["delta"] + SLACK for value, p in share.items()):
        yield "delta"


def exposed(original: list[Row], rows: list[Row], forms: dict[str, str], k: int) -> Iterator[str]:
    """Look for combinations, names and limits that some rows of the original hold, but fewer than k."""
    plain = [name for name, form in forms.items() if form in ("mean", "median", "mode", "representative")]
    if len(plain) > 1:
        held = Counter(tuple(_number(row[name]) for name in plain) for row in original)
        for one in {tuple(_number(row[name]) for name in plain) for row in rows}:
            if 0 < held[one] < k and any(cell is not None for cell in one):
                yield "a combination of few rows"
                break
    for name, form in forms.items():
        counts = Counter(_number(row[name]) for row in original if row[name] is not None)
        few = {value for value, count in counts.items() if count < k}
        shown = {part for row in rows if row[name] is not None for part in _parts(str(row[name]), form)}
        shown -= {part for part in shown if form == "tree" and _multiple_of_five(part)}  # a round number is nobody's
        if form in ("range", "set", "mode", "tree") and {_number(part) for part in shown if part != "*"} & few:
            yield f"a value of few rows in {name}, published by {form}"


def _number(text: str | None) -> object:
    """Return a cell so that 1, 1.0 and 1.00 are equal."""
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return text


def _multiple_of_five(text: str) -> bool:
    """Say whether a text is a whole number that is a multiple of 5."""
    return text.isdecimal() and int(text) % 5 == 0


def _parts(text: str, form: str) -> list[str]:
    """Return the values that a published text names; a backslash guards the character behind it."""
    body = text.removesuffix(" or missing") if not text.endswith("\\ or missing") else text
    if form not in ("range", "set"):
        return body.split("–") if form == "tree" else [body]
    mark = "–" if form == "range" else ", "
    inner = body[1:-1] if form == "set" and body.startswith("{") else body
    found, place = [""], 0
    while place < len(inner):
        if inner[place] == "\\":
            found[-1] += inner[place + 1]
            place += 2
        elif inner.startswith(mark, place):
            found.append("")
            place += len(mark)
        else:
            found[-1] += inner[place]
            place += 1
    return found


def untrue(original: list[Row], rows: list[Row], places: list[int], forms: dict[str, str], order: list[str]) -> int:
    """Return how many cells of ranges and sets are not true of the row that they were made from."""
    found = 0
    for row, place in zip(original, places, strict=True):
        for name, form in forms.items():
            if form not in ("range", "set") or place < 0:
                continue
            theirs, own = rows[place][name], row[name]
            if own is None or theirs is None:
                found += (theirs is not None and not theirs.endswith(" or missing")) if own is None else 1
            elif form == "set":
                parts = _parts(theirs, form)
                found += own not in parts and "*" not in parts
            else:
                found += not _inside(own, _parts(theirs, form), order)
    return found


def _inside(own: str, ends: list[str], order: list[str]) -> bool:
    """Say whether a value lies in a range of numbers, dates or levels."""
    low, high = ends[0], ends[-1]
    if own in order:
        places = {level: place for place, level in enumerate(order)}
        first = places[low] if low != "*" else 0
        last = places[high] if high != "*" else len(order)
        return first <= places[own] <= last
    first, mine, last = _number(low), _number(own), _number(high)
    if all(isinstance(one, Decimal) for one in (first, mine, last)):
        return bool(first <= mine <= last)
    return low <= own <= high
