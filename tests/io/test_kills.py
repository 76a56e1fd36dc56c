"""Folders that belong together appear together or not at all, wherever the writing process is killed."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = [pytest.mark.process, pytest.mark.slow]

HERE = Path(__file__).parent
HEAD = """
    import shutil, sys
    from pathlib import Path
    from killing import killed, point, start
    from shoal.errors import WriteError
    from shoal.io import bundle, swaps
    from shoal.io.bundle import Place, draft, drafts, settle
"""

PAIR = """
    OWNED = {"mark": "mark", "data": ""}
    root = Path(sys.argv[1])
    apart, exchange, first, broken = (word == "yes" for word in sys.argv[2:])
    release, private = (root / "a" / "release", root / ("b" if apart else "a") / "private")
    bystanders = {
        root / "a" / ".release.shoal-999999-0123abcd" / "thesis.tex": "years of work",
        root / "a" / ".other.shoal-999999-0123abcd" / "shoal-draft": "a mark of my own",
        root / "a" / ".mine.shoal-journal": "{}",
        root / "a" / "table.csv": "a,b",
    }
    if not exchange:
        swaps._exchange = lambda *_: False


    def put(text):
        with drafts(Place(private, OWNED, private=True), Place(release, OWNED)) as folders:
            for folder in folders:
                (folder / "mark").write_text("mark")
                with (folder / "data").open("w") as file:
                    file.write(text[:2])
                    file.flush()
                    point()
                    file.write(text[2:])


    def begin():
        shutil.rmtree(root, ignore_errors=True)
        for path, text in bystanders.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if not first:
            put("old")


    def work():
        if broken:
            whole = swaps._at_once
            def fail(move):
                if move.target == release:
                    raise PermissionError(13, "no")
                return whole(move)
            swaps._at_once = fail
            try:
                put("new")
            except WriteError:
                return
            raise AssertionError
        put("new")


    def found(folder):
        if not folder.exists():
            return None
        assert {path.name for path in folder.iterdir()} == {"mark", "data"}
        assert (folder / "mark").read_text() == "mark"
        return (folder / "data").read_text()


    before, outcomes, mixed = None if first else "old", set(), 0
    for number in killed(work, begin):
        now = found(release), found(private)
        mixed += now[0] != now[1]
        assert set(now) <= ({before, "new"} if exchange else {before, "new", None}), (number, now)
        settle(release if number % 2 else private)
        now = found(release), found(private)
        assert now in ((before, before), ("new", "new")), (number, now)
        outcomes.add(now[0])
        for parent in {release.parent, private.parent}:
            with draft(parent / "another", OWNED) as made:
                (made / "mark").write_text("mark")
        assert (found(release), found(private)) == now
        assert all(path.read_text() == text for path, text in bystanders.items())
        left = {path.name for parent in {release.parent, private.parent} for path in parent.iterdir()}
        left -= {path.relative_to(root / "a").parts[0] for path in bystanders}
        assert left == {"another", *(() if now[0] is None else ("release", "private"))}, (number, left)
    assert outcomes == {before, "new"}
    assert now[0] == (before if broken else "new")
    assert mixed  # else the test has not killed between the two
    sys.stdout.write(str(number))
"""


def run(script, *words, seconds=300):
    text = textwrap.dedent(HEAD) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r})\n{text}", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names are exchanged on Linux alone")
@pytest.mark.parametrize("apart", ["yes", "no"], ids=["apart", "beside"])
@pytest.mark.parametrize("first", ["yes", "no"], ids=["new", "replaced"])
@pytest.mark.parametrize("exchange", ["yes", "no"], ids=["exchanged", "renamed"])
def test_two_folders_appear_together_or_not_at_all_after_any_kill(tmp_path, apart, first, exchange):
    assert int(run(PAIR, tmp_path / "work", apart, exchange, first, "no")) > 40


@pytest.mark.parametrize("first", ["yes", "no"], ids=["new", "replaced"])
@pytest.mark.parametrize("exchange", ["yes", "no"], ids=["exchanged", "renamed"])
def test_a_failing_second_swap_undoes_the_first_after_any_kill(tmp_path, first, exchange):
    assert int(run(PAIR, tmp_path / "work", "yes", exchange, first, "yes")) > 40


RELEASES = """
    import hashlib, json, random
    import pyarrow as pa
    import shoal

    root, sets = Path(sys.argv[1]), sys.argv[2] == "sets"
    release, private = root / "release", root / "private"


    def made(seed):
        rng = random.Random(seed)
        if sets:
            return shoal.sets.anonymize([rng.sample("abcdefgh", 3) for _ in range(40)], k=2, seed=seed)
        return shoal.anonymize(pa.table({"age": [rng.randrange(20, 90) for _ in range(40)]}), k=2)


    old, new = made(1), made(2)
    without = {} if sets else {"report": False}
    flush = bundle._flush


    def flush_and_count(*given, **more):
        start()
        flush(*given, **more)


    def before():
        shutil.rmtree(root, ignore_errors=True)
        old.save(release, private=private, **without)


    def work():
        bundle._flush = flush_and_count
        new.save(release, private=private, **without)


    seen, unlike = set(), 0
    def fits():
        signed = hashlib.sha256((release / "certificate.json").read_bytes()).hexdigest()
        return signed == json.loads((private / "findings.json").read_text())["certificate"]
    for number in killed(work, before, at_once=False):
        unlike += not fits()
        checked = shoal.sets.verify(release) if sets else shoal.verify(release)
        assert checked.holds
        assert fits(), number
        seen.add((release / "certificate.json").read_bytes())
    assert len(seen) == 2
    assert unlike
    sys.stdout.write(str(number))
"""


@pytest.mark.parametrize("kind", ["table", "sets"])
def test_a_release_and_its_map_match_after_any_kill(tmp_path, kind):
    assert int(run(RELEASES, tmp_path / "work", kind)) > 40
