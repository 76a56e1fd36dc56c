"""A column before and after: the pair that the data holder's measures compare."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.model.policy import TRUTHFUL_FORMS, Policy
from shoal.model.read_only import read_only
from shoal.model.table import Table, type_name
from shoal.prepare.encode import microseconds
from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.measures.published import Published, read_published
from shoal.privacy.verdict.values import ORDERED, read_column

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pair:
    """A quasi-identifier of the table and of the release, row by row."""

    name: str
    kind: str
    form: str
    before: pa.ChunkedArray
    after: pa.ChunkedArray
    order: tuple[str, ...] | None = None  # the levels of an ordinal column, lowest first
    tree: Hierarchy | None = None  # if it is published by one

    def published_as(self, text: str | None) -> Published:
        """Return what a released text of a truthful form says; `*` is read as everything that it may stand for."""
        published = read_published(text, self.form)
        if published.others:
            published = published._replace(values=(*published.values, *self._unnamed))
        if (published.below or published.above) and self.order:
            ends = (
                self.order[0] if published.below else published.values[0],
                self.order[-1] if published.above else published.values[-1],
            )
            published = published._replace(values=ends)
        return published

    @cached_property
    def _unnamed(self) -> tuple[str, ...]:
        """The categories of the column that no released set names."""
        texts = pc.unique(self.after.cast(pa.string()).drop_null()).to_pylist()
        given = {name for text in texts for name in read_published(text, self.form).values}
        names = pc.unique(self.before.cast(pa.string()).drop_null()).to_pylist()
        return tuple(sorted(name for name in names if name not in given))

    @property
    def truthful(self) -> bool:
        """Whether a cell says what its group has in common, and is not a value of the column's own type."""
        return self.form in TRUTHFUL_FORMS

    @property
    def ordered(self) -> bool:
        """Whether its values have an order."""
        return self.kind in ORDERED

    @cached_property
    def distinct(self) -> int:
        """The number of distinct values before; a missing cell is none."""
        cells = self.before.drop_null()
        countable = not (pa.types.is_nested(cells.type) or pa.types.is_dictionary(cells.type))
        return len(cells.unique()) if countable else read_column(cells).distinct

    @property
    def codes(self) -> tuple[Codes, Codes]:
        """A number for each cell before and after; equal cells have equal numbers, a missing one has the last."""
        return self._coded() if self.ordered else self._categories

    @cached_property
    def _categories(self) -> tuple[Codes, Codes]:
        """The codes of categories, kept as they are needed often; those of numbers would take much memory."""
        return self._coded()

    def _coded(self) -> tuple[Codes, Codes]:
        before, after = self.before, self.after
        try:
            after = after.cast(before.type)
        except pa.ArrowInvalid:  # such as means of integers with decimals
            before = before.cast(after.type, safe=False)
        both = pa.chunked_array([*before.chunks, *after.chunks], before.type)
        coded = both.combine_chunks().dictionary_encode()
        found = coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        return read_only((found[: len(self.before)], found[len(self.before) :]))

    @property
    def numbers_before(self) -> Floats:
        """The original cells of a column with an order as numbers; NaN where one is missing."""
        return self._numbers(self.before)

    @cached_property
    def numbers(self) -> tuple[Floats, Floats]:
        """The cells of a column with an order as numbers, before and after; NaN where one is missing."""
        return self.numbers_before, self._numbers(self.after)

    def _numbers(self, column: pa.ChunkedArray) -> Floats:
        if self.kind == "ordinal":
            column = pc.index_in(column.cast(pa.string()), value_set=pa.array(self.order, pa.string()))
        elif pa.types.is_temporal(column.type):
            column = microseconds(column)
        return read_only(np.asarray(column.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()))


def _comparable(pair: Pair) -> None:
    """Refuse a column that is published as something other than values of its own type."""
    try:
        pair.after.cast(pair.before.type, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        before, after = type_name(pair.before.type), type_name(pair.after.type)
    else:
        return
    raise DataError(
        f"measure: column {pair.name!r} contains {before} and its release {after}, which cannot be compared. If it has "
        "ranges ('30–39'), sets ('{a, b}') or nodes of a hierarchy, declare the form in a policy; otherwise "
        "exclude the column with the role identifier."
    )


def pairs(table: Table, released: pa.Table, policy: Policy, trees: Mapping[str, Hierarchy]) -> list[Pair]:
    """Return the quasi-identifiers before and after.

    The table is arranged, the release has the same rows, and the policy names every column.
    """
    found = []
    for name in policy.names("quasi"):
        given = policy.columns[name]
        kind, form = given.kind or "nominal", given.form or "mode"
        tree = trees.get(name) if form == "tree" else None
        one = Pair(name, kind, form, table.column(name), released.column(name), given.order, tree)
        if not one.truthful:
            _comparable(one)
        found.append(one)
    return found
