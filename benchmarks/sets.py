"""Targets of sets: `python -m benchmarks.sets [PART ...]`.

Parts: speed (B1 to B3), million (a generated million records), verifier (B4, B13), rules (B5, B6), quality (B7 to B9),
neighbour (B10), distance (B11, B12), cold (the command from a cold start). BMS1 and groceries; also BMS2 and retail if
the data folder has `bms2.dat` and `retail.dat`. CPU seconds of one thread after warm-up.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np

from benchmarks import set_rules
from benchmarks.measuring import DATA, Line, measure, timed
from shoal.io.transactions import read as read_transactions
from shoal.model.transactions import Transactions, in_order
from shoal.privacy.verdict.km import verify, verify_against, verify_plain
from shoal.transactions.disassociation.disassociate import disassociate
from shoal.transactions.reassociation.harden import harden_km
from shoal.transactions.reassociation.quality import NeighbourReport, neighbour_report
from shoal.transactions.reassociation.reassociate import reassociate
from shoal.transactions.trees.tree_distance import tree_distance

GRID = tuple(product((2, 3, 4), (20, 40, 60)))  # k = m, and delta
RARE = 0.001  # the least support of pairs whose ranks are compared: 60 of BMS1's records
# k = m, delta, and what must be kept: top pairs, their rank correlation, triples, rules.
QUALITY = ((2, 20, 0.94, 0.92, 0.90), (2, 60, 0.94, 0.92, 0.90), (3, 20, 0.91, 0.90, 0.90))
QUALITY += ((3, 60, 0.91, 0.90, 0.90), (4, 60, 0.90, 0.88, None))
TREES = {"bms1": (8, 2), "bms2": (20, 6), "retail": (120, 40)}


def data_of(name: str) -> Transactions:
    return read_transactions(DATA / f"{name}.dat")


def there(*names: str) -> list[str]:
    """Return those of the data sets that the data folder has."""
    return [name for name in names if (DATA / f"{name}.dat").is_file()]


def best(work: Callable[[], object], turns: int = 3) -> tuple[object, float, float]:
    """Run once to warm up, then several times; return the last result, and the median CPU and wall seconds."""
    work()
    found = sorted((timed(work) for _ in range(turns)), key=lambda one: one[1])
    return found[turns // 2]


def speed_bars() -> Iterator[Line]:
    data = data_of("bms1")
    for k, delta, bar, stretch in ((2, 20, 0.3, 0.1), (4, 60, 1.5, 0.4)):
        _, cpu, wall = best(lambda k=k, delta=delta: disassociate(data, k, k, delta, levels=0))
        yield Line("B1 disassociate", f"bms1, k = m = {k}, delta = {delta}, CPU s", cpu, bar, stretch, cpu, wall)
    for name, k, m, bar, stretch in (("bms1", 2, 2, 2.0, 0.5), ("bms1", 3, 3, 2.0, 0.5), ("retail", 3, 2, 6.0, 2.0)):
        if there(name):
            whole = data_of(name)
            _, plain, _ = best(lambda whole=whole, k=k, m=m: disassociate(whole, k, m, 60, levels=0))
            _, cpu, wall = best(lambda whole=whole, k=k, m=m: disassociate(whole, k, m, 60, levels=6))
            case = f"{name}, {k}, {m}, 60, 6 levels, CPU s"
            yield Line("B3 shared chunks", case, cpu - plain, bar, stretch, cpu, wall)


def generated(records: int, short: bool) -> Transactions:
    """Return a million records like groceries with a tenth of items by chance, or long ones of 16,470 items."""
    rng = np.random.default_rng(0)
    if short:
        base = data_of("bms2" if there("bms2") else "groceries")
        taken = rng.integers(0, base.n, records)
        lengths = base.lengths[taken]
        places = np.repeat(base.indptr[taken] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        items = base.items[places + np.arange(lengths.sum())].astype(np.int64)
        noise = rng.random(items.size) < 0.1
        items[noise] = rng.integers(0, len(base.labels), int(noise.sum()))
        count = len(base.labels)
    else:
        count, lengths = 16_470, 1 + rng.poisson(13.2, records)
        items = np.minimum(rng.zipf(1.35, int(lengths.sum())) - 1, count - 1)
    owner = np.repeat(np.arange(records), lengths)
    keys = np.unique(owner * count + items)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(keys // count, minlength=records))))
    labels = in_order(str(label) for label in range(count))
    return Transactions(indptr, (keys % count).astype(np.int32), labels, np.arange(records), records)


def _million(short: bool) -> tuple[int, float, float, float, float, bool]:
    """Return occurrences, CPU seconds of making and of verifying, wall seconds, peak megabytes, and the verdict."""
    data = generated(1_000_000, short)
    disassociate(generated(2_000, short), 3, 2, 60, levels=0)
    made, cpu, wall = timed(lambda: disassociate(data, 3, 2, 60, levels=0))
    peak = _peak()
    found, checked, _ = timed(lambda: verify(made.published))
    return int(data.items.size), cpu, checked, wall, max(peak, _peak()), found.holds


def _peak() -> float:
    """Return the most megabytes that this process has held."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def million_bars() -> Iterator[Line]:
    for short, bar, stretch in ((True, 5, 2), (False, 10, 4)):
        with get_context("spawn").Pool(1) as pool:
            size, cpu, checked, wall, megabytes, holds = pool.apply(_million, (short,))
        case = f"1,000,000 records, {size / 1e6:.1f} M items"
        yield Line("B2 disassociate", f"{case}, CPU s", cpu, bar, stretch, cpu, wall)
        yield Line("verifier", f"{case}, CPU s", checked, 10, None, checked, wall, note="all conditions hold")
        yield Line("verifier", f"{case}, fails", float(not holds), 0, None, checked, wall)
        # A limit is stated for the shorter records; the longer ones are told beside it.
        yield Line("B2 disassociate", f"{case}, peak MB", megabytes, 1229 if short else None, None, cpu, wall)


def verifier_bars() -> Iterator[Line]:
    for name in there("bms1", "groceries", "bms2", "retail"):
        data = data_of(name)
        checked = wrong = 0
        spent = {}
        for k, delta in GRID:
            made = disassociate(data, k, k, delta)
            found, spent[k, delta], wall = timed(lambda made=made: verify(made.published))
            against = verify_against(made.published, data, made.cluster_of)
            checked += sum(check.n_checked for check in found.checks)
            wrong += sum(check.n_bad for check in found.checks) + sum(check.n_bad for check in against)
        note = f"{checked:,} things checked, and all chunks against the records"
        yield Line(
            "B4 verifier", f"{name}, 9 releases, violations", wrong, 0, None, sum(spent.values()), wall, note=note
        )
        if name == "bms1":
            most = max(spent[3, delta] for delta in (20, 40, 60))
            yield Line("B4 verifier", "bms1, k = m = 3, CPU s", most, 4, None, most, wall)


def rule_bars() -> Iterator[Line]:
    data = data_of("bms1")
    for name, rules in set_rules.rule_sets(data).items():
        part = set_rules.restricted(data, rules)
        for k, delta in ((2, 20), (2, 60), (3, 20), (3, 60)):
            plain = set_rules.plain_figures(part, rules, k, delta)
            for method in ("rules", "ugac"):
                cpu = set_rules.seconds(data, rules, method, k, delta)
                general, own, _ = set_rules.figures(part, rules, method, k, delta)
                case, note = f"{name}, k = m = {k}, delta = {delta}", f"{own:.1f} of {plain[1]:.1f}"
                if method == "rules":
                    bars = (set_rules.BARS[name], 0.30 if name == "geom" else 0.20)
                    yield Line("B5 rules", f"{case}, UR", own / plain[1], *bars, cpu, cpu, note=note)
                    yield Line("B5 rules", f"{case}, GA", general / plain[0], 1.12, 1.0, cpu, cpu)
                else:
                    yield Line("B6 ugac", f"{case}, UR", own / plain[1], 0.68, 0.55, cpu, cpu, within=2, note=note)


def drawn(data: Transactions, k: int, m: int, delta: int, seeds: int = 3, levels: int = 6) -> list[Transactions]:
    """Return neighbours of a release."""
    published = disassociate(data, k, m, delta, levels=levels).published
    return [reassociate(published, seed) for seed in range(seeds)]


def report(data: Transactions, neighbours: list[Transactions], top: int) -> NeighbourReport:
    return neighbour_report(data, neighbours, top=top)


def quality_bars() -> Iterator[Line]:
    data = data_of("bms1")
    for k, delta, pairs, ranks, triples in QUALITY:
        (found, few, rules), cpu, wall = timed(
            lambda k=k, delta=delta: [report(data, drawn(data, k, k, delta), top) for top in (17, 6, 50)]
        )
        case = f"k = m = {k}, delta = {delta}"
        given = found.pairs
        yield Line("B7 17 pairs", f"{case}, kept", given.kept.mean, pairs, None, cpu, wall, higher=True)
        stay = round(17 * given.precision.mean, 9)
        yield Line("B7 17 pairs", f"{case}, stay", stay, 16, None, cpu, wall, higher=True)
        yield Line("B7 17 pairs", f"{case}, rank correlation", given.spearman.mean, ranks, None, cpu, wall, higher=True)
        if triples is not None:
            yield Line("B8 6 triples", f"{case}, kept", few.triples.kept.mean, triples, None, cpu, wall, higher=True)
            yield Line("B8 50 rules", f"{case}, kept", rules.rules.kept.mean, 0.82, None, cpu, wall, higher=True)
            yield Line("B8 50 rules", f"{case}, below 0.001", rules.rules.below.mean, 3, None, cpu, wall)
    for name, k, m, delta, ranks, kept in (
        ("bms1", 2, 2, 20, 0.87, None),
        ("bms1", 3, 3, 60, 0.83, None),
        ("retail", 3, 2, 60, 0.93, 0.73),
    ):
        if there(name):
            whole = data_of(name)
            top = _frequent_pairs(whole)
            given, cpu, wall = timed(
                lambda w=whole, k=k, m=m, d=delta, top=top: report(w, drawn(w, k, m, d), top).pairs
            )
            case = f"{name}, {k}, {m}, {delta}, {top:,} pairs"
            yield Line("B9 pairs", f"{case}, ranks", given.spearman.mean, ranks, None, cpu, wall, higher=True)
            yield Line("B9 pairs", f"{case}, kept", given.kept.mean, kept, None, cpu, wall, higher=True)


def _frequent_pairs(data: Transactions) -> int:
    """Return how many pairs at least a thousandth of the records hold."""
    from shoal.transactions.itemsets.mining import pair_supports

    return int((pair_supports(data)[1] >= np.ceil(RARE * data.n)).sum())


def neighbour_bars() -> Iterator[Line]:
    """What hardening costs: of chunks of single clusters, for which bars are stated, and of the default release."""
    for name in there("bms1", "bms2", "retail"):
        data = data_of(name)
        for (k, m, delta, bar), levels in product(((2, 2, 20, 1.0), (3, 3, 20, 3.0), (3, 2, 60, None)), (0, 6)):
            if name == "retail" and m > 2:
                continue
            raw = reassociate(disassociate(data, k, m, delta, levels=levels).published, 0)
            hard, cpu, wall = timed(lambda raw=raw, k=k, m=m: harden_km(raw, k, m))
            held = verify_plain(hard.data, k, m).holds
            case = f"{name}, {k}, {m}, {delta}, {levels} levels"
            asked = bar if name == "bms1" and levels == 0 else None
            kept = f"{100 * hard.data.items.size / data.items.size:.1f}% of all occurrences left"
            yield Line("B10 km", f"{case}, suppressed %", 100 * hard.share, asked, None, cpu, wall, note=kept)
            yield Line("B10 km", f"{case}, fails", float(not held), 0, None, cpu, wall)


def distance_bars() -> Iterator[Line]:
    for name in there("bms1", "bms2", "retail"):
        data = data_of(name)
        near = drawn(data, 2, 2, 20, 1)[0]
        tree_distance(*(Transactions.of(one.records()[:200]) for one in (data, near)), nulls=False)
        found, cpu, wall = timed(lambda data=data, near=near: tree_distance(data, near, nulls=False, exact=True))
        case = f"{name}, 2, 2, 20, CPU s"
        yield Line("B11 distance", case, cpu, *TREES[name], cpu, wall, note=f"{found.distance:,}")
    yield Line("B11 distance", "bms1, peak MB", _distance_peak(), 200, None, 0.0, 0.0, note="Python, NumPy and Numba")
    data = data_of("bms1")
    for (k, delta), levels in product(((2, 20), (3, 60)), (0, 6)):
        near = drawn(data, k, k, delta, 5, levels)
        away = [tree_distance(data, one, nulls=False).distance for one in near]
        between = tree_distance(near[0], near[1], nulls=False).distance
        case, note = f"k = m = {k}, delta = {delta}, {levels} levels", f"mean {fmean(away):,.0f}"
        yield Line("B12 distance", f"{case}, sd %", 100 * pstdev(away) / fmean(away), 1, None, 0.0, 0.0, note=note)
        # Shared chunks go to records of many clusters, so that two draws differ more than the bar was stated for.
        share, bar = between / fmean(away), None if levels else 0.35
        yield Line("B12 distance", f"{case}, between", share, bar, None, 0.0, 0.0, note=f"{between:,}")


def _distance_peak() -> float:
    """Return the megabytes of a process that does nothing but measure a distance."""
    data, near = data_of("bms1"), drawn(data_of("bms1"), 2, 2, 20, 1)[0]
    code = """
import sys
import numpy as np
from shoal.model.transactions import Transactions
from shoal.transactions.trees.tree_distance import tree_distance
with np.load(sys.argv[1]) as held:
    one, two = (
        Transactions(held[f"p{i}"], held[f"i{i}"], tuple(held[f"l{i}"].tolist()), held[f"r{i}"], held[f"r{i}"].size)
        for i in (0, 1)
    )
tree_distance(one, two, nulls=False)
lines = open("/proc/self/status").read().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024)
"""
    with tempfile.TemporaryDirectory() as place:
        parts = {}
        for i, one in enumerate((data, near)):
            parts |= {f"p{i}": one.indptr, f"i{i}": one.items, f"l{i}": np.array(one.labels), f"r{i}": one.rows}
        np.savez(f"{place}/both.npz", **parts)
        done = subprocess.run(
            [sys.executable, "-c", code, f"{place}/both.npz"], check=True, capture_output=True, text=True
        )
    return float(done.stdout)


def cold_bars() -> Iterator[Line]:
    """The command from a cold start, loops compiled before."""
    program = str(Path(sys.executable).parent / "shoal")
    with tempfile.TemporaryDirectory() as place:
        spent = []
        for turn in range(4):
            command = [program, "sets", "anonymize", DATA / "bms1.dat", "-k", "3", "-m", "2", "-o", f"{place}/{turn}"]
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            spent.append(time.perf_counter() - start)
        done = subprocess.run([program, "sets", "verify", f"{place}/3"], check=False, stdout=subprocess.DEVNULL)
    wall = sorted(spent[1:])[1]
    yield Line("command", "sets anonymize bms1.dat, s", wall, 5, None, 0.0, wall, note=f"first {spent[0]:.1f} s")
    yield Line("command", "sets verify, exit code", float(done.returncode), 0, None, 0.0, 0.0)


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "speed": speed_bars,
    "million": million_bars,
    "verifier": verifier_bars,
    "rules": rule_bars,
    "quality": quality_bars,
    "neighbour": neighbour_bars,
    "distance": distance_bars,
    "cold": cold_bars,
}

if __name__ == "__main__":
    sys.exit(measure(PARTS, __doc__))
