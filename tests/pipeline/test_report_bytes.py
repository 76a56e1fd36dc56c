"""The public report depends on the folder alone: no clock, language, hash seed, thread or font changes a byte of it."""

import hashlib
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

import shoal
from shoal.catalogue import measure, measures
from shoal.certify.check import check_folder
from shoal.model.findings import Finding
from shoal.pipeline.reporting import public_page

RNG = np.random.default_rng(2)
N = 120
TABLE = pa.table(
    {
        "age": RNG.integers(20, 90, N),
        "born": pa.array(RNG.integers(0, 20_000, N), pa.int32()).cast(pa.date32()),
        "town": RNG.choice(["Wien AVAVAV", "東京都千代田区", "القاهرة", "กรุงเทพ", "\ue123 \U0001f600 Łódź"], N),
        "ill": RNG.choice(["flu", "gout", "none"], N),
    }
)
DRAW = textwrap.dedent(
    """
    import hashlib, json, sys
    from pathlib import Path
    if sys.argv[2]:
        import vl_convert
        vl_convert.register_font_directory(sys.argv[2])
    from shoal.certify.check import check_folder
    from shoal.pipeline.reporting import public_page
    folder = Path(sys.argv[1])
    print(hashlib.sha256(public_page(folder, check_folder(folder).verdicts).encode()).hexdigest())
    """
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    release = shoal.anonymize(TABLE, k=4, l=2, sensitive=["ill"], method="gower")
    return release.save(tmp_path_factory.mktemp("pure") / "out", format="csv", report=True)


@pytest.fixture(scope="module")
def fonts(tmp_path_factory):
    """A folder with a font that calls itself Arial, has all the characters of the table, and is far too wide."""
    place = tmp_path_factory.mktemp("fonts")
    signs = sorted(
        {*range(32, 127), *(ord(sign) for town in TABLE["town"].to_pylist() for sign in town), *range(0xE000, 0xE100)}
    )
    names = [".notdef", *(f"g{sign}" for sign in signs)]
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((900, 0))
    pen.lineTo((900, 900))
    pen.closePath()
    for family in ("Arial", "Helvetica", "Wide Fallback"):
        font = FontBuilder(1000, isTTF=True)
        font.setupGlyphOrder(names)
        font.setupCharacterMap({sign: f"g{sign}" for sign in signs})
        font.setupGlyf(dict.fromkeys(names, pen.glyph()))
        font.setupHorizontalMetrics(dict.fromkeys(names, (3000, 0)))
        font.setupHorizontalHeader(ascent=900, descent=-200)
        font.setupNameTable(
            {"familyName": family, "styleName": "Regular", "fullName": family, "psName": family.replace(" ", "")}
        )
        font.setupOS2()
        font.setupPost()
        font.save(place / f"{family}.ttf")
    return place


def drawn(folder, fonts="", **other):
    words = [sys.executable, "-c", DRAW, str(folder), str(fonts)]
    done = subprocess.run(words, env={**os.environ, **other}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    "other",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C"},
        {"PYTHONHASHSEED": "2", "TZ": "America/St_Johns", "LANG": "de_DE.UTF-8", "LC_ALL": "C.UTF-8"},
        {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
    ],
    ids=["time and hash seed", "language", "threads"],
)
def test_the_environment_does_not_change_the_report(folder, other):
    assert drawn(folder, **other) == hashlib.sha256((folder / "report.html").read_bytes()).hexdigest()


@pytest.mark.slow
@pytest.mark.process
def test_installed_fonts_do_not_change_the_report(folder, fonts):
    assert drawn(folder, fonts) == hashlib.sha256((folder / "report.html").read_bytes()).hexdigest()


SHOW = textwrap.dedent(
    """
    import json, sys, vl_convert
    vl_convert.register_font_directory(sys.argv[1])
    y = {"field": "a", "axis": {"labelFont": sys.argv[2]}}
    spec = {"data": {"values": [{"a": "Wien"}]}, "mark": "bar", "encoding": {"y": y}}
    print(vl_convert.vegalite_to_svg(json.dumps(spec)).split('width="')[1].split('"')[0])
    """
)


@pytest.mark.slow
@pytest.mark.process
def test_the_font_of_the_test_would_change_the_report_if_used(fonts):
    words = [sys.executable, "-c", SHOW, str(fonts)]
    widths = [
        subprocess.run([*words, font], capture_output=True, text=True, check=True).stdout
        for font in ("Arial", "Liberation Sans")
    ]
    assert widths[0] != widths[1]


@pytest.mark.slow
def test_twice_in_one_process_gives_the_same_report(folder):
    verdicts = check_folder(folder).verdicts
    assert public_page(folder, verdicts) == public_page(folder, verdicts) == (folder / "report.html").read_text()


def test_the_versions_that_drew_it_are_in_the_certificate(folder):
    made = json.loads((folder / "certificate.json").read_text())["predicate"]["made_with"]
    assert set(made) == {"altair", "jinja2", "vl-convert-python"}


def test_measures_of_plug_ins_are_not_in_the_public_report(folder, install):
    @measure("strange", formula="1", better="low", need="release", cost="1")
    def strange(case):
        """Return 1."""
        return (Finding("strange", 1.0, "always", "release", counts_rows=False),)

    install("measures", strange=strange)
    assert "strange" in measures.cards()
    assert public_page(folder, check_folder(folder).verdicts) == (folder / "report.html").read_text()
