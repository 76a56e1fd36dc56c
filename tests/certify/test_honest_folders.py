"""Honest folders hold: any table that shoal releases, in every format, passes every check of its bytes."""

import datetime as dt
import decimal
import math

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import shoal
from shoal.catalogue import formats
from shoal.errors import ShoalError
from shoal.pipeline.line import verify

DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))
WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=6) | st.sampled_from(
    [
        "=1+1",
        "'a",
        "-3",
        "+x",
        "@",
        "NA",
        "?",
        "",
        " a",
        "a ",
        'q"q',
        "a,b",
        "1,5",
        "-1,5",
        "-1.5",
        "\ufeffx",
        "1",
        "01",
        "1.0",
        "true",
        "null",
    ]
)
NUMBERS = st.floats(-1e12, 1e12) | st.sampled_from([0.0, -0.0, 0.1, 1e-7, 1e22, math.nan])
STYLES = [
    {"separator": separator, "decimal": decimal_, "mark": mark}
    for separator in ",;\t|"
    for decimal_ in ".,"
    for mark in (False, True)
    if separator != decimal_
]
KINDS = {
    "whole": (st.integers(-(10**6), 10**6), pa.int64()),
    "small": (st.integers(-5, 5), pa.int8()),
    "number": (NUMBERS, pa.float64()),
    "single": (st.floats(-1e6, 1e6, width=32), pa.float32()),
    "half": (st.floats(-1000, 1000, width=16), pa.float16()),
    "huge": (st.floats(allow_nan=False, allow_infinity=False), pa.float64()),
    "decimal": (st.decimals(-1000, 1000, places=2, allow_nan=False), pa.decimal128(10, 2)),
    "day": (DAYS, pa.date32()),
    "moment": (MOMENTS, pa.timestamp("us")),
    "zoned": (MOMENTS, pa.timestamp("ms", "Europe/Berlin")),
    "truth": (st.booleans(), pa.bool_()),
    "word": (WORDS, pa.string()),
    "long word": (WORDS, pa.large_string()),
    "category": (st.sampled_from(["b", "a", "=c", "d"]), pa.dictionary(pa.int32(), pa.string())),
}


@st.composite
def tables(draw):
    """A table of a few columns of any kind with gaps, and the roles of its columns."""
    rows = draw(st.integers(8, 20))
    columns, roles = {}, {"sensitive": [], "keep": []}
    for place in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(sorted(KINDS)))
        cells, type_ = KINDS[kind]
        pool = draw(st.lists(cells, min_size=1, max_size=8)) + ([None] if draw(st.booleans()) else [])
        values = draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows))
        name = draw(st.sampled_from([f"{kind} {place}", f"=c{place}", f"c,{place}"]))
        folded = pa.types.is_dictionary(type_)
        if type_ == pa.decimal128(10, 2):
            values = [None if value is None else value.quantize(decimal.Decimal("0.01")) for value in values]
        made = pa.array(values, type_.value_type if folded else type_)
        columns[name] = made.dictionary_encode() if folded else made
        role = draw(st.sampled_from(["quasi", "quasi", "sensitive", "keep"])) if place else "quasi"
        if role != "quasi":
            roles[role].append(name)
    return pa.table(columns), roles


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    tables(),
    st.sampled_from(formats.names()),
    st.sampled_from(["same-schema", "truthful"]),
    st.sampled_from(["mdav", "auto"]),
    st.sampled_from(STYLES),
)
def test_whatever_shoal_releases_holds(tmp_path_factory, given_, format, output, method, style):
    table, roles = given_
    try:
        release = shoal.anonymize(table, k=3, output=output, method=method, policy={"csv": style}, **roles)
    except ShoalError:
        return  # not every table can be released in every way; none of these is about bytes
    folder = release.save(tmp_path_factory.mktemp("any") / "out", format=format, report=False)
    checked = verify(folder)
    assert checked.holds, str(checked)
    assert not checked.notes
