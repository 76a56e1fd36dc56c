"""Arrange the rows: type the columns by the policy, handle missing values, and discard the order of the input.

1. Codes for missing values become missing; text that the policy calls numeric or date is converted, or the column is
   refused.
2. Rows with a missing value in a quasi-identifier or a sensitive column are kept, dropped or refused, as the policy
   says.
3. Rows are sorted by their values and then shuffled by the random seed. The result does not depend on the order of the
   input, and a tie that a method breaks by row number is broken at random, not by a sensitive value.
"""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, InfeasibleError, counted, listed
from shoal.model.policy import TRUTHFUL_FORMS, Column, Policy
from shoal.model.table import Table, canonical, type_name


def arrange(table: Table, policy: Policy) -> Table:
    """Return the rows to be released, typed and shuffled; the policy names every column."""
    needed = [name for name in table.names if policy.columns[name].role != "identifier" or name == policy.weight]
    typed = pa.table({name: as_declared(table.column(name), name, policy.columns[name]) for name in needed})
    kept = _without_missing(table.with_data(typed), policy)
    if kept.n < policy.constraints.k:
        raise InfeasibleError(
            f"encode: k is {policy.constraints.k:,}, but there are {kept.n:,} rows to release"
            + (f" after {table.n - kept.n:,} with missing values were left out. " if kept.n < table.n else ". ")
            + (f"Lower k to {kept.n:,} or less." if kept.n >= 2 else "No release is possible.")
        )
    order = canonical(kept.data)
    shuffle = np.random.default_rng(policy.start).permutation(kept.n)
    return kept.take(order[shuffle])


def as_declared(column: pa.ChunkedArray, name: str, given: Column) -> pa.ChunkedArray:
    """Return the column with its codes for missing values made missing, in the type that its kind needs."""
    column = _without_codes(column, given.missing_codes)
    return _without_codes(_of_kind(column, name, given), given.missing_codes)


def _of_kind(column: pa.ChunkedArray, name: str, given: Column) -> pa.ChunkedArray:
    """Return the column in the type that its kind needs, or refuse it."""
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    held = type_name(column.type)
    if given.kind == "numeric":
        if text or pa.types.is_boolean(column.type):
            return _cast(column, name, "numeric", [pa.int64(), pa.float64()])
        if not _is_number(column.type):
            raise DataError(f"encode: column {name!r} contains {held}, not numbers. Give it another kind.")
    if given.kind == "date":
        if text:
            return _cast(column, name, "date", [pa.date32(), pa.timestamp("us")])
        if not (pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)):
            raise DataError(f"encode: column {name!r} contains {held}, not dates. Give it another kind.")
        if given.form in TRUTHFUL_FORMS and _whole_days(column):
            return column.cast(pa.date32())
    if given.kind == "boolean" and len(pc.unique(column.drop_null())) > 2:
        raise DataError(
            f"encode: column {name!r} is declared boolean, but has more than two values. Give it another kind."
        )
    if given.kind == "ordinal":
        levels = pa.array(given.order or (), pa.string())
        unexpected = pc.and_(pc.is_valid(column), pc.invert(pc.is_in(column.cast(pa.string()), value_set=levels)))
        _refuse(
            unexpected,
            name,
            f"cannot be found among its {counted(len(levels), 'level')}. Add them to `order` or to `missing_codes`.",
        )
        if not pa.types.is_integer(column.type):
            return column.cast(pa.string())  # a level is its text, in memory and in every file
    return column


def _whole_days(column: pa.ChunkedArray) -> bool:
    """Return whether timestamps without a time zone are all at midnight, so that their text needs no time."""
    if not pa.types.is_timestamp(column.type) or column.type.tz is not None:
        return False
    return bool(pc.all(pc.equal(pc.floor_temporal(column, unit="day"), column)).as_py())


def _without_codes(column: pa.ChunkedArray, codes: tuple[float | str, ...]) -> pa.ChunkedArray:
    """Make the cells that equal one of the codes missing."""
    for code in codes:
        same = _equals(column, code)
        if same is not None:
            column = pc.if_else(same.fill_null(False), pa.scalar(None, column.type), column)
    return column


def _equals(column: pa.ChunkedArray, code: float | str) -> pa.ChunkedArray | None:
    """Return which cells equal the code, however it is spelled, or None if the column cannot contain it."""
    kind = column.type
    if pa.types.is_nested(kind):
        return None
    if _is_number(kind):
        number = _number(code)
        if number is None:
            return None
        try:
            if pa.types.is_integer(kind):
                return pc.equal(column, pa.scalar(int(number), kind)) if number == int(number) else None
            return pc.equal(column.cast(pa.float64(), safe=False), pa.scalar(float(number), kind).cast(pa.float64()))
        except (pa.ArrowInvalid, OverflowError, ValueError, TypeError):
            return pc.equal(column.cast(pa.float64(), safe=False), float(number))
    word = code if isinstance(code, str) else str(int(code)) if float(code).is_integer() else repr(code)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        dotted = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", word)
        word = f"{dotted[3]}-{dotted[2]:0>2}-{dotted[1]:0>2}" if dotted else word
        try:
            return pc.equal(column, pa.scalar(word).cast(pa.timestamp("us")).cast(kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
    return pc.equal(column.cast(pa.string()), word)


def _number(code: float | str) -> float | int | None:
    """Return the number that a code is, with a decimal comma or point, or None."""
    if not isinstance(code, str):
        return int(code) if float(code).is_integer() else code
    for word in (code, code.replace(".", "").replace(",", ".")):
        try:
            number = float(word)
        except ValueError:
            continue
        return int(word) if re.fullmatch(r"-?[0-9]+", word.strip()) else int(number) if number.is_integer() else number
    return None


def _is_number(kind: pa.DataType) -> bool:
    """Return whether cells of this type can be averaged."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _cast(column: pa.ChunkedArray, name: str, kind: str, targets: list[pa.DataType]) -> pa.ChunkedArray:
    """Convert text to the first of the types that fits every cell."""
    for target in targets:
        try:
            return column.cast(target)
        except pa.ArrowInvalid:
            continue
    wrong = pa.array([not _can_be_cast(cell, targets[-1]) for cell in column.to_pylist()])
    what = "numbers" if kind == "numeric" else "dates like 2024-01-31"
    remedy = "Correct them, list them in `missing_codes`, or call the column nominal."
    _refuse(wrong, name, f"cannot be read as {what}. {remedy}")
    return column


def _can_be_cast(cell: str | None, target: pa.DataType) -> bool:
    """Return whether one cell can be converted to the type."""
    try:
        pa.scalar(cell, pa.string()).cast(target)
    except pa.ArrowInvalid:
        return False
    return True


def _refuse(wrong: pa.ChunkedArray, name: str, why: str) -> None:
    """Raise an error that names the column, the count and the first row, if any cell is wrong."""
    bad = np.flatnonzero(wrong.to_numpy(zero_copy_only=False))
    if bad.size:
        raise DataError(f"encode: {counted(bad.size, 'cell')} of column {name!r} (first in row {bad[0] + 1}) {why}")


def _without_missing(table: Table, policy: Policy) -> Table:
    """Keep, drop or refuse rows with missing values where they matter."""
    if policy.missing == "own-value":
        return table
    missing_by_column = {
        name: table.missing(name) for name in table.names if policy.columns[name].role in ("quasi", "sensitive")
    }
    incomplete = [name for name, missing in missing_by_column.items() if missing.any()]
    if not incomplete:
        return table
    anywhere = np.logical_or.reduce(list(missing_by_column.values()))
    if policy.missing == "refuse":
        rows = f"{counted(int(anywhere.sum()), 'row')} {'has' if anywhere.sum() == 1 else 'have'}"
        raise DataError(
            f"encode: {rows} missing values, in {listed(incomplete)}, and the "
            "policy refuses them. Fill them, or set missing to 'own-value' or 'suppress-row'."
        )
    return table.take(np.flatnonzero(~anywhere).astype(np.int64))
