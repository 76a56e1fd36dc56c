"""Keys of very many parts are found before a TOML file is parsed, in time that grows with the text alone."""

import time
import tomllib

import pytest

from shoal.model.toml_keys import MOST_PARTS, has_long_key

LONG = ".".join(["y"] * (MOST_PARTS + 1))


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[{LONG}]",
        f"[[{LONG}]]",
        f"a = {{b = 1, {LONG} = 1}}",
        LONG.replace(".", " .\t") + " = 1",
        LONG.replace("y", '"y z"') + " = 1",
        LONG.replace("y", r'"y\"."') + " = 1",
        LONG.replace("y.y", "y.'y.'") + " = 1",
        f'a = """x " y""" # z\n{LONG} = 1',
        f'a = {{b = """x " y""", {LONG} = 1}}',
        f'a = {{b = """x"""", {LONG} = 1}}',
        f'a = {{b = """x""""", {LONG} = 1}}',
        f"a = {{b = '''x'''', {LONG} = 1}}",
        f"a = {{b = '''x''''', {LONG} = 1}}",
        f"a = '''x ' y'''\n{LONG} = 1",
        f"a = 'x\"'\n{LONG} = 1",
    ],
)
def test_long_keys_are_found_in_any_position(text):
    tomllib.loads(text)
    assert has_long_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{LONG[2:]} = 1",
        f'a = "{LONG}"',
        f"a = '{LONG}'",
        f'a = """{LONG}\n{LONG}"""',
        f"a = '''{LONG}'''",
        f"# {LONG}",
        "a = [" + "1.5, " * 200 + "]",
        "a = [" + '"x.", ' * 200 + "]",
        "".join(f"[a.b{place}]\nx = 1\n" for place in range(200)),
    ],
)
def test_other_dots_do_not_make_a_long_key(text):
    tomllib.loads(text)
    assert not has_long_key(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        ("a." * (MOST_PARTS - 1) + "b ") * 5000,
        '"\\' * 500_000,
        '"a' * 500_000,
        '"\n' * 500_000,
        "a ." + " " * 10**6,
        '"""' * 300_000,
    ],
    ids=["word", "chains", "escapes", "quotes", "open", "blanks", "triples"],
)
def test_any_text_is_scanned_quickly(text):
    start = time.process_time()
    assert not has_long_key(text)
    assert time.process_time() - start < 3
