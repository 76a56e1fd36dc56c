"""Profile: what a table contains, column by column, and how exposed its rows are before anonymization.

1. Each column is encoded once, one code per distinct value; a missing cell is a value of its own.
2. Each code gets a random 64-bit number, and the numbers of a row are added up with wrap-around: equal rows have the
   same sum, and different rows have the same sum only with a probability of about rows^2 in 2^65.
3. Sorting the sums gives the classes: `k` is the smallest, `unique_rows` are those of one row. To leave a column out,
   its numbers are subtracted from the sums again.
4. A column determines another if equal cells of the one always occur with equal cells of the other. That is tried on
   2,000 rows first, and then on all.

Only names, counts and types are returned, never the value of a cell.
"""

import html
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import UseError, counted, is_out_of_memory, listed, near, shortened
from shoal.model.exposure import stands_out
from shoal.model.policy import Column, Kind, Role
from shoal.model.table import Table, is_list, type_name
from shoal.prepare.oddities import notes
from shoal.prepare.roles import BY_CLASS, Seen, is_direct, is_row_number, suggest

SEED = 20_250_601
TRIED_ROWS = 2000
TRIED_COLUMNS = 200  # the number of pairs is quadratic: wider tables are not searched for columns that determine others

Codes = NDArray[np.int32]
Sums = NDArray[np.uint64]
RoleFrom = Literal["proposal", "policy", "default"]


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of one column."""

    name: str
    kind: Kind
    type: str
    distinct: int
    missing: int
    uniqueness: float  # distinct values per cell that is not missing
    role: Role
    reason: str
    unique_alone: int  # rows that are unique by this column alone
    unique_without: int  # rows that stay unique if this column is left out of those compared
    notes: tuple[str, ...] = ()  # oddities
    row_number: bool = False  # proposed as an identifier, and its values number the rows
    direct: bool = False  # so clearly identifies people or rows that it is dropped if a policy leaves its role open
    role_from: RoleFrom = "proposal"  # "default" if a policy leaves it open

    @property
    def shown_role(self) -> str:
        """The role and, if a policy was given, whether the policy names it."""
        return self.role if self.role_from == "proposal" else f"{self.role} ({self.role_from})"


@dataclass(frozen=True, repr=False)
class Profile:
    """What a table contains, and how exposed its rows are before anonymization.

    Parameters
    ----------
    rows : int
    columns : tuple of ColumnFacts
        What is known of each column: name, kind, role, reason, distinct, missing, unique_alone, notes and more.
    k : int
        Size of the smallest class of rows that are equal in the columns compared.
    unique_rows : int
        Rows that are unique in these columns.
    compared_columns : tuple of str
        The columns in which rows are compared.
    determines : tuple of pairs of str
        Pairs of columns of which the first determines the second.
    roles_from : {"proposal", "policy"}
        Where the roles come from.
    """

    rows: int
    columns: tuple[ColumnFacts, ...]
    k: int
    unique_rows: int
    compared_columns: tuple[str, ...]
    determines: tuple[tuple[str, str], ...] = ()
    roles_from: Literal["proposal", "policy"] = "proposal"

    def column(self, name: str) -> ColumnFacts:
        """Return the facts of one column."""
        for facts in self.columns:
            if isinstance(name, str) and facts.name == name:
                return facts
        known = [facts.name for facts in self.columns]
        raise UseError(f"profile: unknown column {shortened(name)}. Known: {listed(known)}.{near(name, known)}")

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as plain values, for JSON."""
        plain = asdict(self)
        plain["columns"] = [{**column, "notes": list(column["notes"])} for column in plain["columns"]]
        return {
            **plain,
            "compared_columns": list(self.compared_columns),
            "determines": [list(pair) for pair in self.determines],
        }

    def __repr__(self) -> str:
        """Name the profile by its figures."""
        return f"<Profile: {self._summary()}>"

    def __str__(self) -> str:
        """Show one line per column, and oddities below."""
        lines = [self._summary(), ""]
        body = [HEAD, *(_cells(facts) for facts in self.columns)]
        widths = [max(map(len, cells)) for cells in zip(*body, strict=True)]
        lines += ["  ".join(map(str.ljust, row, widths)).rstrip() for row in body]
        odd = [f"{facts.name!r}: {note}" for facts in self.columns for note in facts.notes]
        return "\n".join([*lines, *([""] if odd else []), *odd])

    def _repr_html_(self) -> str:
        """Show the profile in a notebook, without a single cell value."""
        head = "".join(f"<th>{title}</th>" for title in (*HEAD, "notes"))
        body = "".join(
            "<tr>"
            + "".join(f"<td>{html.escape(cell)}</td>" for cell in (*_cells(facts), "; ".join(facts.notes)))
            + "</tr>"
            for facts in self.columns
        )
        return f"<div><p><b>shoal profile</b>: {self._summary()}</p><table><tr>{head}</tr>{body}</table></div>"

    @property
    def exposure(self) -> str:
        """The k of the table as it stands, and the number of unique rows, in one clause."""
        compared = len(self.compared_columns)
        those = (
            f"the {counted(compared, 'quasi-identifier')} of the policy"
            if self.roles_from == "policy"
            else f"the {compared} columns that are not identifiers"
        )
        return f"before anonymization, k = {self.k:,} and {self.unique_rows:,} rows are unique in {those}"

    def _summary(self) -> str:
        """Give the figures of the table in one line."""
        return f"{self.rows:,} rows, {len(self.columns)} columns; {self.exposure}"


HEAD = ("column", "kind", "role", "distinct", "missing", "unique alone", "unique without", "reason")


def profile(table: Table, roles: Mapping[str, Column] | None = None, named: frozenset[str] = frozenset()) -> Profile:
    """Profile a table as read: counts, roles with their reasons, and oddities, without any cell value.

    Roles are proposed, and rows compared in all columns that do not look like identifiers. `roles` has the role and
    the kind of every column by a policy instead, of which it names the columns `named`; rows are then compared in its
    quasi-identifiers.

    Examples
    --------
    >>> found = profile(Table.of(pa.table({"sex": ["F", "F", "M"], "smoker": [True, True, None]})))
    >>> found.k, found.unique_rows, found.column("smoker").missing
    (1, 1, 1)
    """
    seen: list[Seen] = []
    codes: list[Codes] = []
    for name in table.names:
        one, code = _coded(table, name, (roles and roles[name].kind) or _kind(table, name))
        seen.append(one)
        codes.append(code)
    proposed = _not_unique_together([suggest(one) for one in seen], codes, table.n)
    if roles is not None:
        decided = [_decided(one, roles[one.name].role, *proposed[place], named) for place, one in enumerate(seen)]
        compared = [place for place, (role, _) in enumerate(decided) if role == "quasi"]
    else:
        decided = proposed
        compared = [place for place, (role, _) in enumerate(decided) if role != "identifier"]
    sums = np.zeros(table.n, np.uint64)
    for place in compared:
        sums += _drawn(codes[place], place)
    k, unique = _classes(sums)
    pairs = _determined(seen, codes)
    columns = []
    for place, one in enumerate(seen):
        role, reason = decided[place]
        likely = proposed[place][0] == "identifier"
        columns.append(
            ColumnFacts(
                name=one.name,
                kind=one.kind,
                type=type_name(table.column(one.name).type),
                distinct=len(one.values),
                missing=one.missing,
                uniqueness=one.uniqueness,
                role=role,
                reason=reason,
                unique_alone=one.alone,
                unique_without=_classes(sums - _drawn(codes[place], place))[1] if place in compared else unique,
                notes=_all_notes(one, role, table.n, pairs),
                row_number=likely and is_row_number(one),
                direct=likely and is_direct(one),
                role_from="proposal" if roles is None else "policy" if one.name in named else "default",
            )
        )
    names = tuple(seen[place].name for place in compared)
    return Profile(table.n, tuple(columns), k, unique, names, pairs, "proposal" if roles is None else "policy")


def _decided(one: Seen, role: Role, proposed: Role, reason: str, named: frozenset[str]) -> tuple[Role, str]:
    """Return the role of a column by a policy, with what would be proposed if that differs."""
    source = "given in the policy" if one.name in named else "not in the policy"
    if role == proposed:
        return role, source if one.name in named else f"{source}; {reason}"
    return role, f"{source}; proposed: {proposed} ({reason})"


def _not_unique_together(proposed: list[tuple[Role, str]], codes: list[Codes], rows: int) -> list[tuple[Role, str]]:
    """Propose to publish fewer columns unchanged, if too many rows are unique in all that look sensitive together."""
    found = list(proposed)
    while True:
        raw = [place for place, (role, _) in enumerate(found) if role == "sensitive"]
        sums = np.zeros(rows, np.uint64)
        for place in raw:
            sums += _drawn(codes[place], place)
        if len(raw) < 2 or not stands_out(_classes(sums)[1], rows):
            return found
        most = max(raw, key=lambda place: int(codes[place].max()))
        found[most] = ("quasi", f"{found[most][1]}; together with other sensitive columns, {BY_CLASS}")


def _all_notes(one: Seen, role: Role, rows: int, pairs: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return what looks odd in a column by itself and beside the others."""
    found = list(notes(one, role))
    if role != "identifier" and rows > 1 and one.alone == rows:
        found.append("every row is unique by this column alone")
    elif role != "identifier" and rows > 1 and 2 * one.alone >= rows:
        found.append(f"{one.alone:,} rows are unique by this column alone")
    found += [f"determines column {b!r}" for a, b in pairs if a == one.name]
    found += [f"is determined by column {a!r}" for a, b in pairs if b == one.name]
    return tuple(found)


def _cells(facts: ColumnFacts) -> tuple[str, ...]:
    """Return the table row of one column."""
    figures = (facts.distinct, facts.missing, facts.unique_alone, facts.unique_without)
    return (repr(facts.name), facts.kind, facts.shown_role, *(f"{one:,}" for one in figures), facts.reason)


def _kind(table: Table, name: str) -> Kind:
    """Return the kind of a column, by its type."""
    held = table.column(name).type
    if name in table.levels:
        return "ordinal"
    if pa.types.is_boolean(held):
        return "boolean"
    if name in table.categorical:
        return "nominal"
    if pa.types.is_integer(held) or pa.types.is_floating(held) or pa.types.is_decimal(held):
        return "numeric"
    if pa.types.is_date(held) or pa.types.is_timestamp(held):
        return "date"
    return "set" if is_list(held) else "nominal"


def _coded(table: Table, name: str, kind: Kind) -> tuple[Seen, Codes]:
    """Return the distinct values of a column and the code of each row; missing cells have the last code."""
    column = table.column(name)
    try:
        coded = column.dictionary_encode().combine_chunks()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        coded = _written(column).dictionary_encode().combine_chunks()
    parts = coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]
    values = parts[0].dictionary if parts else pa.array([], pa.string())
    indices = [part.indices.fill_null(len(values)).to_numpy(zero_copy_only=False) for part in parts]
    codes = np.concatenate(indices).astype(np.int32, copy=False) if indices else np.zeros(0, np.int32)
    counts = np.bincount(codes, minlength=len(values) + 1)
    return Seen(name, kind, values, counts[:-1], int(counts[-1])), codes


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return lists, records and other cells without an order as text, for counting only."""
    try:
        cells = [None if cell is None else str(cell) for cell in column.to_pylist()]
    except (pa.ArrowException, ValueError, TypeError, OverflowError) as problem:
        if is_out_of_memory(problem):
            raise
        # Cells that Python cannot represent count as all different, which can only make k look smaller.
        cells = [str(row) if there else None for row, there in enumerate(column.is_valid().to_pylist())]
    return pa.chunked_array([pa.array(cells, pa.large_string())])


def _drawn(codes: Codes, place: int) -> Sums:
    """Return the random number of each row's code in the column with this index."""
    rng = np.random.default_rng([SEED, place])
    size = int(codes.max()) + 1 if codes.size else 0
    return rng.integers(0, np.iinfo(np.uint64).max, size, np.uint64, endpoint=True)[codes]


def _classes(sums: Sums) -> tuple[int, int]:
    """Return the size of the smallest class, and the number of classes of one row."""
    if not sums.size:
        return 0, 0
    ordered = np.sort(sums)
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True])
    sizes = np.diff(starts)
    return int(sizes.min()), int((sizes == 1).sum())


def _determined(seen: list[Seen], codes: list[Codes]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of columns of which the first determines the second."""
    if not codes or len(codes) > TRIED_COLUMNS or not codes[0].size:
        return ()
    rows = codes[0].size
    tried = np.sort(np.random.default_rng(SEED).choice(rows, min(rows, TRIED_ROWS), replace=False))
    few = [code[tried] for code in codes]
    levels = [len(one.values) + (one.missing > 0) for one in seen]
    pairs = []
    for a in range(len(seen)):
        if seen[a].uniqueness > 0.5:
            continue
        # A column that determines another has at least as many values.
        for b in (b for b in range(len(seen)) if a != b and 1 < levels[b] <= levels[a]):
            if _agrees(few[a], few[b], levels[a]) and _agrees(codes[a], codes[b], levels[a]):
                pairs.append((seen[a].name, seen[b].name))
    return tuple(pairs)


def _agrees(a: Codes, b: Codes, levels: int) -> bool:
    """Whether rows of equal codes in a have equal codes in b."""
    last = np.empty(levels + 1, np.int32)
    last[a] = b
    return bool((last[a] == b).all())
