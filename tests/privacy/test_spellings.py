"""Spellings of one sensitive value count once, for the makers and for the verifier alike, unless the policy says so."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.certify.meanings import meanings
from shoal.errors import InfeasibleError
from shoal.model.policy import Policy
from shoal.privacy.verdict.judge import judge
from shoal.privacy.verdict.spellings import meaning
from shoal.privacy.verdict.values import read_column, sensitive_columns

ALIKE = [
    ("Flu", "flu", "flu ", " FLU", "f\u200blu", "f\u00adlu", "\ufb02u", "flu\ufeff", "flu\x00"),
    ("caf\u00e9", "cafe\u0301", "CAF\u00c9", "Cafe\u0301\u200d"),
    ("stra\u00dfe", "STRASSE", "Strasse"),
    ("a b", "a  b", "A\u00a0b", "a\u2009b", "a\r\nb"),
    ("1", "1.0", "01", "+1", "1e0", "1.", "10e-1", "\uff11", "\u00b9"),
    ("0", "0.0", "-0.0", "-0", "0e999999999"),
    ("0.5", ".5", "5E-1", "00.50"),
    ("inf", "Infinity", "+inf", "INF"),
    (None, "", "   ", "\u00a0", "\u200b", "NA", "n/a", "N/A", "?", "null", "NULL", "NaN", "nan", "sNaN", "-nan"),
]
APART = [
    "flu",
    "flux",
    "cafe",
    "caf\u00e9",
    "ab",
    "a b",
    "1",
    "10",
    "-1",
    "1e5",
    "1e-5",
    "0",
    "inf",
    "-inf",
    "1,0",
    "1 0",
]
WORDS = [cell for group in ALIKE for cell in group if cell is not None]


def numbered(cells, kind=None):
    """The numbers that privacy and certify give to cells, both from 0 in the order in which they come."""
    column = pa.chunked_array([pa.array(cells, kind or pa.string())])
    read = read_column(column, folded=True).codes.tolist(), meanings(column, exact=False).to_pylist()
    return tuple([list(dict.fromkeys(each)).index(one) for one in each] for each in read)


@pytest.mark.parametrize("group", ALIKE, ids=lambda group: repr(group[-1]))
def test_spellings_of_one_value_have_one_code(group):
    assert numbered(group) == ([0] * len(group), [0] * len(group))


def test_values_that_only_look_alike_stay_apart():
    assert numbered(APART) == (list(range(len(APART))),) * 2


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        (pa.list_(pa.string()), (["a", "b"], ["b", "a"], ["B", "a", "a"])),
        (pa.list_(pa.int64()), ([1, 2], [2, 1, 2])),
        (pa.list_(pa.string()), ([], None, [None], [""], ["n/a"])),
        (pa.list_(pa.string()), (["hiv"], ["HIV "], ["hiv", None], ["hiv", ""])),
        (pa.list_(pa.string()), (["1"], ["1.0"], ["01"])),
        (pa.list_(pa.list_(pa.string())), ([["hiv", "flu"]], [["flu", "hiv"]])),
        (pa.map_(pa.string(), pa.int64()), ([("hiv", 1), ("flu", 1)], [("flu", 1), ("hiv", 1)])),
        (pa.struct([("d", pa.list_(pa.string()))]), ({"d": ["a", "b"]}, {"d": ["b", "a "]})),
        (pa.list_(pa.binary()), ([b"hiv"], [b"HIV "])),
        (pa.binary(), (b"Flu", b"flu ", "\ufb02u".encode())),
    ],
)
def test_lists_and_bytes_that_mean_the_same_have_one_code(kind, group):
    assert numbered(group, kind) == ([0] * len(group), [0] * len(group))


def test_long_text_is_folded_by_case_and_white_space_alone_and_quickly():
    marks = "a" + "\u0301\u0323" * 100_000
    assert numbered([marks, marks.upper(), f"{marks} ", f"{marks}x"]) == ([0, 0, 0, 1], [0, 0, 0, 1])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.none() | st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=3), max_size=8),
    st.lists(st.none() | st.binary(max_size=3) | st.sampled_from([b"Flu", b"flu", b""]), max_size=8),
)
def test_makers_and_verifier_fold_any_lists_and_bytes_alike(lists, texts):
    for cells, kind in ((lists, pa.list_(pa.string())), (texts, pa.binary())):
        makers, verifier = numbered(cells, kind)
        assert makers == verifier


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.none(), st.sampled_from(WORDS), st.text(max_size=6), st.text("0123e+-. ", max_size=6))))
def test_makers_and_verifier_fold_any_text_alike(cells):
    makers, verifier = numbered(cells)
    assert makers == verifier


def test_a_number_of_absurd_length_or_power_is_text():
    long, high = "9" * 401, "1e1000001"
    assert (meaning(long), meaning(high), meaning("9" * 400) != "9" * 400) == (long, high, True)
    assert numbered([long, long + ".0", high, "10e1000000"]) == ([0, 1, 2, 3],) * 2


def test_exact_spelling_tells_every_cell_apart():
    data = pa.table({"a": [1] * 5, "ill": ["Flu", "flu", "1", "1.0", None]})
    for spelling, found in (("exact", 5), ("folded", 3)):
        policy = Policy.of({"columns": {"ill": {"role": "sensitive", "spelling": spelling}}}, k=2, l=2)
        assert judge(data, policy)[1].found == found
        assert shoal.verify(data, policy=policy).verdicts[1].found == found


def test_both_zeros_are_one_value_and_nan_is_missing():
    column = pa.chunked_array([pa.array([0.0, -0.0, float("nan"), None, 1.0])])
    found = read_column(column, "numeric", folded=True)
    assert (found.codes.tolist(), found.folded) == ([0, 0, 2, 2, 1], 2)


@pytest.mark.parametrize("word", ["NaN", "sNaN", "nan", "-sNaN", "Infinity", "-Infinity", "1e999999999", "word"])
@pytest.mark.parametrize("spelling", ["folded", "exact"])
def test_no_text_in_a_numeric_column_stops_the_count(word, spelling):
    data = pa.table({"a": [1, 1, 2, 2], "pay": ["2", "10", word, word]})
    policy = Policy.of({"columns": {"pay": {"role": "sensitive", "kind": "numeric", "spelling": spelling}}}, k=2, t=0.9)
    ref, comp = judge(data, policy)[1], shoal.verify(data, policy=policy).verdicts[1]
    assert (ref.found, ref.holds) == pytest.approx((comp.found, comp.holds))


def test_levels_of_one_meaning_share_a_place_if_they_stand_together():
    cells = pa.chunked_array([["low", "high", "Low", "mid"]])
    together = read_column(cells, "ordinal", ["low", "Low", "mid", "high"], folded=True)
    assert (together.codes.tolist(), together.ordered) == ([0, 2, 0, 1], True)
    apart = read_column(cells, "ordinal", ["low", "mid", "high", "Low"], folded=True)
    assert (apart.codes.tolist(), apart.ordered, apart.distinct) == ([0, 1, 0, 2], False, 3)


def test_values_below_different_nodes_make_all_distances_equal():
    data = pa.table({"ill": ["flu", "Flu", "gout"]})
    for tree, there in (
        ({"lungs": ["flu", "Flu"], "feet": ["gout"]}, True),
        ({"x": ["flu"], "y": ["Flu", "gout"]}, False),
    ):
        policy = Policy.of({"columns": {"ill": {"role": "sensitive", "hierarchy": tree}}})
        found = sensitive_columns(data, policy)["ill"]
        assert (found.codes.tolist(), found.tree is not None) == ([0, 0, 1], there)


def table():
    ill = ["Flu", "flu ", "-1", "-1.0", "", None, "gout", "Gout"]
    return pa.table({"age": [20 + i % 40 for i in range(80)], "ill": [ill[i * 7 % 8] for i in range(80)]})


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_release_counts_meanings_publishes_spellings_and_says_so(tmp_path, format):
    release = shoal.anonymize(table(), k=4, l=3, sensitive=["ill"])
    assert sorted(release.aligned()["ill"].to_pylist(), key=str) == sorted(table()["ill"].to_pylist(), key=str)
    notes = [note for note in release.notes if "spelling" in note]
    assert len(notes) == 1
    assert "'ill': 4 variant spellings" in notes[0]
    assert not any(word in notes[0] for word in ("Flu", "gout", "-1"))
    assert shoal.verify(release.save(tmp_path / "out", format=format, report=False)).holds


def test_a_policy_that_says_exact_gets_no_note_and_its_folder_holds(tmp_path):
    policy = {"columns": {"ill": {"role": "sensitive", "spelling": "exact"}}}
    release = shoal.anonymize(table(), k=8, l=5, policy=policy)
    assert not [note for note in release.notes if "spelling" in note]
    folder = release.save(tmp_path / "out", format="csv", report=False)
    assert 'spelling = "exact"' in (folder / "policy.toml").read_text()
    assert shoal.verify(folder).holds
    with pytest.raises(InfeasibleError, match="only reaches 4"):
        shoal.anonymize(table(), k=8, l=5, sensitive=["ill"])


def test_a_file_whose_values_differ_in_spelling_only_is_not_diverse(tmp_path):
    (tmp_path / "file.csv").write_text("age,ill\n" + "30,Flu\n30,flu\n" * 3)
    checked = shoal.verify(tmp_path / "file.csv", k=2, l=2, sensitive=["ill"])
    assert [(v.found, v.holds) for v in checked.verdicts] == [(6, True), (1, False)]
