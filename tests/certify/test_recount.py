"""The verifier's own count agrees with the judge of the pipeline, figure by figure, on random tables."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.certify import recounted_models
from shoal.certify.check import NOISE
from shoal.certify.recount import recount, tally
from shoal.certify.recounted_models import Cells
from shoal.errors import DataError
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.privacy.verdict import models
from shoal.privacy.verdict.classes import Counts, renumbered
from shoal.privacy.verdict.judge import judge
from shoal.privacy.verdict.values import Values

# Each group has spellings of one value; values that only look alike are in different groups.
SPELLINGS = (
    ("flu", "Flu", " FLU ", "f\u200blu", "\ufb02u"),
    ("caf\u00e9", "cafe\u0301", "CAF\u00c9"),
    ("cafe",),
    ("a b", "A\u00a0 b", "a\tb"),
    ("1", "1.0", "01", "+1", "1e0", "\uff11"),
    ("10", "1e1", "10.000"),
    ("-2.5", "-25e-1", "-02.50"),
    ("0", "-0.0", "0e5", ".0"),
    ("123456789012345678901", "123456789012345678901.0"),
    ("123456789012345678902",),
    ("inf", "Infinity", "+INF"),
    ("-inf",),
    (None, "", "  ", "NA", "n/a", "?", "null", "NaN", "sNaN", "-nan"),
)
ANY = st.sampled_from([cell for group in SPELLINGS for cell in group])
ASKED = (
    {"l": 2, "t": 0.3, "alpha": 0.6, "beta": 0.7, "delta": 0.5},
    {"l": 1.5, "l_kind": "entropy", "beta": 0.7, "beta_kind": "enhanced"},
    {"l": 2, "l_kind": "recursive", "c": 1.5},
    {"l": 3, "l_kind": "recursive", "c": 2.0},
)


def agree(data, policy):
    """Both counts agree on a table, to the last verdict."""
    ref, comp = judge(data, policy), recount(data, policy)
    assert [(v.model, v.column, v.asked, v.holds, v.note) for v in comp] == [
        (v.model, v.column, v.asked, v.holds, v.note) for v in ref
    ]
    for one, other in zip(comp, ref, strict=True):
        assert one.found == other.found or math.isclose(one.found, other.found, abs_tol=1e-12, rel_tol=1e-12)
    return comp


def asking(asked, **column):
    return Policy.of({"columns": {"s": {"role": "sensitive", **column}}}, k=2, constraints=asked)


rows = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 2), min_size=n, max_size=n),
        st.lists(st.sampled_from(["x", "X", "", None]), min_size=n, max_size=n),
        st.lists(ANY, min_size=n, max_size=n),
    )
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, "nominal", "numeric", "date", "ordinal"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
@settings(max_examples=30, deadline=None)
@given(rows=rows, exact=st.booleans())
def test_both_counts_agree_on_any_text(asked, kind, rows, exact):
    data = pa.table({"a": rows[0], "b": pa.array(rows[1], pa.string()), "s": pa.array(rows[2], pa.string())})
    agree(data, asking(asked, kind=kind, **({"spelling": "exact"} if exact else {})))


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@settings(max_examples=100, deadline=None)
@given(rows=rows, shuffled=st.permutations(sorted({cell for group in SPELLINGS for cell in group if cell is not None})))
def test_both_counts_agree_on_levels_in_any_order(exact, rows, shuffled):
    data = pa.table({"a": rows[0], "s": pa.array(rows[2], pa.string())})
    spelling = {"spelling": "exact"} if exact else {}
    agree(data, asking({"l": 2, "t": 0.3}, kind="ordinal", order=shuffled, **spelling))


@st.composite
def trees(draw):
    """Every spelling somewhere below nested tables."""
    nested = {}
    for cell in sorted({cell for group in SPELLINGS for cell in group if cell is not None}):
        path = draw(st.sampled_from([("a",), ("b",), ("a", "c"), ("b", "d"), ("b", "d", "e")]))
        place = nested
        for node in path[:-1]:
            place = place.setdefault(node, [{}])[0]
        place.setdefault(path[-1], [{}]).append(cell)
    return nested


def grown(groups):
    """A tree that holds the spellings of each value side by side, at heights of one to three."""
    nested = {"p": [], "q": {"r": [], "s": {"u": []}}}
    for number, group in enumerate(groups):
        place = (nested["p"], nested["q"]["r"], nested["q"]["s"]["u"])[number % 3]
        place += [cell for cell in group if cell is not None]
    return nested


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True])
@settings(max_examples=100, deadline=None)
@given(rows=rows, tree=st.one_of(trees(), st.permutations(SPELLINGS).map(grown)))
def test_both_counts_agree_along_any_tree(exact, rows, tree):
    data = pa.table({"a": rows[0], "s": pa.array(rows[2], pa.string())})
    spelling = {"spelling": "exact"} if exact else {}
    agree(data, asking({"l": 2, "t": 0.3}, kind="nominal", hierarchy=tree, **spelling))


numbers = st.one_of(
    st.lists(st.one_of(st.none(), st.floats(width=64)), min_size=30, max_size=30).map(
        lambda x: pa.array(x, pa.float64())
    ),
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), min_size=30, max_size=30).map(
        lambda x: pa.array(x, pa.int64())
    ),
    st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=30, max_size=30).map(
        lambda x: pa.array(x, pa.float64())
    ),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=30, max_size=30).map(lambda x: pa.array(x, pa.bool_())),
    st.lists(st.one_of(st.none(), st.dates()), min_size=30, max_size=30).map(lambda x: pa.array(x, pa.date32())),
)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nominal", "numeric", "date"])
@settings(max_examples=60, deadline=None)
@given(cells=numbers, exact=st.booleans(), groups=st.lists(st.integers(0, 3), min_size=30, max_size=30))
def test_both_counts_agree_on_typed_cells_and_on_their_text(kind, cells, exact, groups):
    spelling = {"spelling": "exact"} if exact else {}
    policy = asking({"l": 2, "t": 0.3, "alpha": 0.5, "beta": 1.0, "delta": 1.0}, kind=kind, **spelling)
    data = Table.of(pa.table({"a": groups, "s": cells})).data
    typed = agree(data, policy)
    written = agree(data.set_column(1, "s", data.column("s").cast(pa.string())), policy)
    assert [(v.model, v.holds) for v in typed] == [(v.model, v.holds) for v in written]


def test_figures_of_large_releases_are_equal_to_the_digits_of_a_certificate():
    # A certificate has the figures of the judge; an honest one must not differ in the last digit when it is recounted.
    rng = np.random.default_rng(0)
    labels = np.arange(120_000) // 3
    codes = renumbered(rng.integers(0, 30_000, labels.size))
    levels = np.stack([np.arange(codes.max() + 1), *(np.arange(codes.max() + 1) // w for w in (10, 1_000, 10**6))])
    for ordered, tree in ((True, None), (False, levels), (False, None)):
        ours, theirs = Counts.of(labels, Values(codes, ordered, tree)), tally(Cells(codes, ordered, tree), labels)
        for model in ("closeness", "entropy", "alpha", "likeness", "disclosure"):
            ref, comp = getattr(models, model)(ours), getattr(recounted_models, model)(theirs)
            assert np.abs(ref - comp).max() <= NOISE * max(1.0, comp.max()), (model, ordered)


def test_values_far_beyond_doubles_keep_their_order():
    texts = [
        f"{sign}{digits}e{power}"
        for sign in ("", "-")
        for digits in ("1", "12", "123", "9" * 30)
        for power in ("0", "-400", "400", "999999", "9999999", "999999999", "9999999999")
    ]
    rng = np.random.default_rng(5)
    for _ in range(20):
        data = pa.table({"a": rng.integers(0, 4, 200), "s": rng.choice(texts, 200)})
        agree(data, asking({"l": 2, "t": 0.3}, kind="numeric"))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.one_of(st.none(), st.lists(st.sampled_from("abcdé"), max_size=5))),
        min_size=0,
        max_size=25,
    ),
    st.integers(1, 4),
    st.integers(2, 3),
    st.booleans(),
)
def test_both_counts_agree_on_sets(rows, m, k, text):
    cells = [row[1] for row in rows]
    sets = (
        pa.array(["|".join(cell) if cell is not None else None for cell in cells], pa.string())
        if text
        else pa.array(cells, pa.list_(pa.string()))
    )
    data = pa.table({"a": pa.array([row[0] for row in rows], pa.int64()), "s": sets})
    agree(data, Policy.of({"columns": {"s": {"role": "items", "separator": "|"}}}, k=k, m=m))


def test_an_empty_release_fails_in_both_counts():
    data = pa.table({"a": pa.array([], pa.int64()), "s": pa.array([], pa.string())})
    assert not any(v.holds for v in agree(data, asking({"l": 2, "t": 0.3, "alpha": 0.5})))


def test_a_release_without_quasi_identifiers_is_one_class():
    data = pa.table({"s": ["a", "b", "b"]})
    assert agree(data, asking({"l": 2}))[0].found == 3


def test_cells_that_arrow_cannot_group_are_counted_as_text_or_refused():
    lists = pa.table({"a": pa.array([[1, 2], [1, 2], None, None], pa.list_(pa.int64())), "s": ["a", "b", "a", "b"]})
    assert [v.found for v in agree(lists, asking({"l": 2}))] == [2, 2]
    odd = pa.table({"a": [1, 1], "s": pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval())})
    with pytest.raises(DataError, match="cannot be counted"):
        recount(odd, asking({"l": 2}, kind="numeric"))


@pytest.mark.parametrize(
    "kind", [pa.float16(), pa.null(), pa.string_view(), pa.binary_view(), pa.duration("s")], ids=str
)
def test_rare_types_are_counted(kind):
    cells = {"halffloat": np.array([1, 1, 2, 2], np.float16), "null": [None] * 4, "duration[s]": [1, 1, 2, 2]}
    odd = pa.array(cells.get(str(kind), ["x", "x", "y", "y"]), kind)
    assert recount(pa.table({"a": odd, "s": list("abab")}), asking({"l": 2}))[1].found == 2
    found = 1 if pa.types.is_null(kind) else 2
    assert recount(pa.table({"a": [1] * 4, "s": odd}), asking({"l": 2, "t": 0.5}))[1].found == found


def test_columns_of_the_policy_must_exist():
    data = pa.table({"a": [1, 1]})
    with pytest.raises(DataError, match="the sensitive column 's' is not in the release"):
        recount(data, asking({"l": 2}))
    with pytest.raises(DataError, match="the column 's' of items is not in the release"):
        recount(data, Policy.of({"columns": {"s": {"role": "items"}}}))


def test_a_value_without_a_position_is_refused_but_not_quoted():
    data = pa.table({"a": [1, 1], "s": ["low", "secret"]})
    for column in ({"kind": "ordinal", "order": ["low"]}, {"kind": "nominal", "hierarchy": {"x": ["low"]}}):
        with pytest.raises(DataError, match="1 values of column 's' have no place") as caught:
            recount(data, asking({"l": 2}, **column))
        assert "secret" not in str(caught.value)
