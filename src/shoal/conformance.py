"""Checks for authors of plug-ins: whether a method, model, measure, attack or file format follows the rules of shoal.

Each takes the decorated function, as installed under an entry point, and raises AssertionError with a sentence, or
returns nothing. In your own test: `from shoal.conformance import check_measure; check_measure(my_measure)`.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import AttackCard, FormatCard, MeasureCard, MethodCard, ModelCard, measures
from shoal.certify.recount import tally
from shoal.certify.recounted_models import Cells
from shoal.certify.released import read_text
from shoal.errors import MethodError, ReadError
from shoal.io.data_file import as_text
from shoal.kernels.columns import Range, columns_of
from shoal.model.findings import Attack, Finding
from shoal.model.policy import Constraints
from shoal.model.read_only import read_only
from shoal.model.sentences import Sentence, has_number
from shoal.model.table import Table
from shoal.pipeline.judging import case_of
from shoal.privacy.attacks.attack import Clock, profiles
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.classes import Counts
from shoal.privacy.verdict.values import Values

__all__ = ["check_attack", "check_format", "check_measure", "check_method", "check_model"]

MARK = "canary"
ROWS = 240
CLOSE = 1e-9


def check_method(function: Any) -> None:
    """Check a method: groups of k rows or more, the same for the same seed, and an X that is not modified.

    It is run with the default values of its parameters.
    """
    card: Any = getattr(function, "card", None)
    _must(isinstance(card, MethodCard), "a method must be decorated with @method")
    _must("k" in card.params, "its card must have the parameter k")
    rng = np.random.default_rng(6)
    plain = rng.normal(size=(60, 3))
    for X, k in ((plain, 3), (plain, 5), (plain[:5], 5), (np.repeat(plain[:4], 10, axis=0), 3), (np.zeros((9, 2)), 2)):
        first, second = (_run(card, X.copy(), k) for _ in range(2))
        _must(first.n == len(X), "it must assign every row to a group")
        _must("k" not in card.ensures or first.sizes.min() >= k, "a group has fewer than k rows, and `ensures` has k")
        _must(np.array_equal(first.labels, second.labels), "the same seed must give the same groups")


def _run(card: MethodCard, X: Any, k: int) -> Any:
    """Run a method as a policy does, on a matrix or on columns of ranges, and check what it returns."""
    n, d = X.shape
    uses = {
        "seed": 7,
        "threads": 1,
        "weights": np.ones(n),
        "limits": None,
        "label": np.arange(n) % 2,
        "view_of": np.zeros(d, np.int64),
    }
    seen = X
    if card.data == "mixed":
        places = [np.unique(column, return_inverse=True) for column in X.T]
        seen = columns_of([codes for _, codes in places], [Range(values) for values, _ in places])
    try:
        found = card.function(read_only(seen), **card.check({"k": k}), **{name: uses[name] for name in card.uses})
    except ValueError as problem:
        _must("read-only" not in str(problem), "it must not modify X or any other array that it is given: make a copy")
        raise
    wrong = card.misfit("function", found)
    _must(not wrong, wrong)
    return found


def check_format(function: Any) -> None:
    """Check a file format: what it writes is read again with the same cells, and equal tables give equal bytes."""
    card: Any = getattr(function, "card", None)
    _must(isinstance(card, FormatCard), "a format must be decorated with @file_format")
    table = _cells_of_any_kind()
    table = as_text(table) if card.text else table
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"data.{card.name}"
        first = _written(card, table, path)
        _must(first == _written(card, pa.table(table.columns, names=table.column_names), path), "bytes must not vary")
        _must(first.startswith(card.magic), "a file must start with the `magic` of the card")
        try:
            again = read_text(path, path.name) if card.read is None else card.read(path)
        except ReadError as problem:
            raise AssertionError(f"a table that was written must be read again: {problem}") from None
        wrong = "" if card.read is None else card.misfit("read", again)
        _must(not wrong, wrong)
        again = again.rename_columns(as_text(again.slice(0, 0)).column_names) if card.text else again
        same = again.column_names == table.column_names and again.to_pydict() == table.to_pydict()
        _must(same, "a table that was written must be read again with the same names and cells")
        _must(_written(card, again, path) == first, "what was read, written again, must give the same bytes")


def _written(card: FormatCard, table: pa.Table, path: Path) -> bytes:
    """Return the bytes that a format writes."""
    with path.open("wb") as file:
        card.function(table, file)
    return path.read_bytes()


def _cells_of_any_kind() -> pa.Table:
    """Return a table with missing and empty cells, and text that could be taken for something else."""
    return pa.table(
        {
            "number": [1.5, None, 3.0, -0.25],
            "whole": [1, 2, None, 4],
            "text": ["a, b", 'say "c"', "d; e", "=1+1"],
            "postcode": ["01234", "5", "6", "7"],
            "yes": [True, False, None, True],
            "day": pa.array([0, 1, None, 18_000], pa.date32()),
            "accents é": ["ä", None, "中", "–"],
        }
    )


def check_model(function: Any) -> None:
    """Check a model: a figure for each class, never NaN, the same in any order of the rows."""
    model: Any = getattr(function, "card", None)
    _must(isinstance(model, ModelCard), "a model must be decorated with @model")
    asked = Constraints(others={model.name: 1.0})
    _must(model.asks(asked) == 1.0, "a policy must be able to request it by its name")
    _must(model.asks(Constraints()) is None, "it must require nothing if the policy does not name it")
    rng = np.random.default_rng(0)
    for labels, codes in ((rng.integers(0, 9, ROWS), rng.integers(0, 5, ROWS)), (np.zeros(4, int), np.zeros(4, int))):
        order = rng.permutation(labels.size)
        first, second = (
            np.asarray(model.function(Counts.of(labels[rows], Values(codes[rows])), asked))
            for rows in (np.arange(labels.size), order)
        )
        _must(first.shape == (int(labels.max()) + 1,), "it must give one figure for each class")
        _must(not np.isnan(first).any(), "a figure must not be NaN")
        _must(np.allclose(first, second, rtol=CLOSE, atol=CLOSE), "the order of the rows must not matter")
        own = np.asarray(model.function(tally(Cells(codes), labels), asked))
        _must(
            first.shape == own.shape and np.allclose(first, own, rtol=CLOSE, atol=CLOSE),
            "it must give the same figures from the counts of the verifier, which have the same attributes",
        )


def check_measure(function: Any) -> None:
    """Check a measure: its card, range, any order of rows, odd tables, what it counts, and that it quotes no cell."""
    card: Any = getattr(function, "card", None)
    _must(isinstance(card, MeasureCard), "a measure must be decorated with @measure")
    _must(
        all((card.name, card.formula, card.cost, card.summary)), "its card must state name, formula, cost and summary"
    )
    for case in _cases():
        try:
            found = card.function(case)
        except MethodError as problem:  # a finding that cannot be made
            raise AssertionError(str(problem)) from None
        _must(isinstance(found, tuple), "a measure must return a tuple of findings")
        wrong = card.misfit("function", found)
        _must(not wrong, wrong)
        _check_findings(found, card, case)
        if card.chance:
            continue
        mixed = card.function(_reordered(case, np.random.default_rng(1).permutation(case.n)))
        _must([one.name for one in found] == [one.name for one in mixed], "the order of the rows must not matter")
        for one, other in zip(found, mixed, strict=True):
            _must(math.isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-6), "the order must not matter")


def check_attack(function: Any) -> None:
    """Check an attack: an unchanged copy is a leak, a shuffled one is not, and it ends when its time is up."""
    card: Any = getattr(function, "card", None)
    _must(isinstance(card, AttackCard), "an attack must be decorated with @attack")
    table = _people(np.random.default_rng(2))
    profile = profiles(_case(table, table))["all"]
    raw = card.function(_case(table, table), profile, Clock())
    shuffled = card.function(_case(table, _shuffled(table)), profile, Clock())
    for found in (raw, shuffled):
        _must(isinstance(found, Attack), "an attack must return an Attack")
        if found.interval is not None and found.rate is not None:
            _must(found.interval[0] <= found.rate <= found.interval[1], "the rate must lie within its interval")
        _must(MARK not in str(found), "an attack must not quote a cell")
    _must(raw.outcome == "leak", "an unchanged copy must be reported as a leak")
    _must(shuffled.outcome != "leak", "a copy whose columns were shuffled must not be reported as a leak")
    hurried = card.function(_case(table, table), profile, Clock(0.0))
    _must(hurried.trials <= raw.trials, "an attack must end when its time is up")


def _must(holds: Any, sentence: str) -> None:
    """Raise an AssertionError with this sentence if something does not hold."""
    if not holds:
        raise AssertionError(sentence)


def _check_findings(found: tuple[Finding, ...], card: MeasureCard, case: Case) -> None:
    """Check what a measure returns."""
    if found:
        _must(found[0].measure == card.name, "the first finding must have the name of the measure")
    own, cells = card.name in measures.built_in and measures.load(card.name) is card, _numbers(case)
    for one in found:
        _must(
            own or one.counts_rows is not None, "a finding must state by counts_rows whether it counts rows or people"
        )
        _must(
            type(one.how) in (str, Sentence),
            "`how` must be a str or a Sentence, not a subclass of these: reports omit others",
        )
        typed = isinstance(one.how, Sentence) or not has_number(one.how)
        _must(own or typed, "`how` must be a Sentence if it contains numbers: reports omit other text with numbers")
        wrong = "" if own else card.misnamed(one, case)
        _must(not wrong, wrong)
        _must(MARK not in f"{one.name}{one.how}", "a finding must not quote a cell")
        _must(one.need in (card.need, "release"), "the `need` of a finding must be that of the card, or release")
        _must(not math.isnan(one.value), "a figure must not be NaN")
        _check_count(one, case)
        ends = one.interval or (one.value, one.value)
        _must(ends[0] - CLOSE <= one.value <= ends[1] + CLOSE, "a figure must lie within its interval")
        quoted = any(value in cells and not float(value).is_integer() for value in (one.value, *ends))
        _must(not quoted, "a figure must not be the value of a cell")
    if found and math.isfinite(found[0].value):
        _must(card.low - CLOSE <= found[0].value <= card.high + CLOSE, "the figure must lie in the range of the card")


def _check_count(one: Finding, case: Case) -> None:
    """Check that a finding that may count rows or cells has a value that fits what it declares."""
    whole = "`whole` must be None or a number of rows or cells, at most the number of cells of the table"
    _must(one.whole is None or 0 <= one.whole <= case.n * len(case.policy.columns), whole)
    if one.counts_rows is False or not math.isfinite(one.value):
        return
    most = 100.0 if one.unit == "%" else 1.0
    if one.unit == "%" or one.share:
        inside = -CLOSE <= one.value <= most + CLOSE
        _must(inside, f"a figure that may count rows and is declared a share must lie between 0 and {most:g}")
    elif one.counts_rows:
        _must(one.value >= 0, "a number of rows must not be negative")


def _numbers(case: Case) -> set[float]:
    """Return the cells of the numeric columns of both tables."""
    tables = (case.released, *(() if case.original is None else (case.original.data,)))
    columns = [column for table in tables for column in table.columns if pa.types.is_floating(column.type)]
    return {cell for column in columns for cell in column.to_pylist()}


def _people(rng: np.random.Generator, rows: int = ROWS) -> pa.Table:
    """Return people whose illness depends on what is known of them; every category is marked.

    Numbers are not rounded, so that no figure equals one by chance.
    """
    age, height = rng.normal(50, 15, rows), rng.normal(170, 9, rows)
    weight, pressure = height - 100 + rng.normal(0, 9, rows), 100 + age / 2 + rng.normal(0, 9, rows)
    town = rng.integers(0, 5, rows)
    ill = (age > 50).astype(int) + (town > 2)
    return pa.table(
        {
            "age": age,
            "height": height,
            "weight": weight,
            "pressure": pressure,
            "town": [f"{MARK} town {one}" for one in town],
            "ill": [f"{MARK} illness {one}" for one in ill],
        }
    )


def _shuffled(table: pa.Table) -> pa.Table:
    """Return a table with every column shuffled independently."""
    rng = np.random.default_rng(3)
    columns = [table.column(name).take(pa.array(rng.permutation(table.num_rows))) for name in table.column_names]
    return pa.table(columns, names=table.column_names)


def _case(original: pa.Table, released: pa.Table) -> Case:
    """Return a case of two tables, row by row; the released file has its own row order."""
    case = case_of(original, released, sensitive=["ill"], label="ill")
    same = original.equals(released)
    places = np.arange(case.n) if same else np.random.default_rng(4).permutation(case.n)
    control = Table.of(_people(np.random.default_rng(9)))
    return replace(case, places=places, other=released, control=control)


def _cases() -> Iterator[Case]:
    """Yield an ordinary case, and odd ones: one class, a constant sensitive column, two rows."""
    people = _people(np.random.default_rng(5))
    yield _case(people, _shuffled(people))
    one = pa.table({name: people.column(name).take(pa.array(np.zeros(ROWS, int))) for name in people.column_names})
    yield _case(people, one.set_column(5, "ill", people.column("ill")))
    constant = people.set_column(5, "ill", pa.array([f"{MARK} alone"] * ROWS))
    yield _case(constant, constant)
    yield _case(people.slice(0, 2), people.slice(0, 2))


def _reordered(case: Case, order: NDArray[np.int64]) -> Case:
    """Return the same case with its rows in another order."""
    return replace(
        case,
        released=case.released.take(pa.array(order)),
        original=None if case.original is None else case.original.take(order),
        other=None if case.other is None else case.other.take(pa.array(order)),
        places=None if case.places is None else case.places[order],
    )
