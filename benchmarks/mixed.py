"""Targets of mixed tables: `python -m benchmarks.mixed [PART ...] [--json FILE]`.

Parts: trees, sets, fast, perturbed, million, limits, tables. ARX's Adult extract with its own trees; wall-clock seconds
on two cores after warm-up, the median of five seeds. (a) is the plain mean over cells of
(leaves - 1) / (all leaves - 1), ARXagg the same with ARX's weights (1 - 1/L) of columns, (b) that of sets and ranges.
Local recoding by ARX 3.9.2, measured elsewhere: 0.0755 / 0.0832 (f = 0.1) and 0.0506 / 0.0550 (f = 0.0003, 18 s) at
k = 5; 0.111 / 0.121 and 0.0736 / 0.0798 (31 s) at k = 10.
"""

import sys
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa

from benchmarks.measuring import DATA, Line, measure, timed
from benchmarks.mixed_tables import limit_bars, table_bars
from shoal.catalogue import methods
from shoal.cluster.mixed.rebuild import costs_of
from shoal.io.files import read
from shoal.kernels.columns import Columns
from shoal.model.partition import Partition
from shoal.model.policy import Policy
from shoal.model.table import Table
from shoal.prepare.encode import Encoded
from shoal.prepare.hierarchy import Hierarchy, read_csv
from shoal.prepare.mixed import mixed_columns
from shoal.privacy.measures.pairs import pairs
from shoal.recode.table import recode
from shoal.utility.fidelity import fidelity, pmse

SEEDS = range(5)


def adult() -> Table:
    """Return ARX's extract of Adult, without the label."""
    table = read(DATA / "arx_adult.csv.gz")
    return table.with_data(table.data.drop_columns(["salary-class"]))


def trees(table: Table) -> dict[str, Hierarchy]:
    """Return the trees that belong to it."""
    place = DATA / "hierarchies"
    return {name: read_csv((place / f"adult_{name}.csv").read_text(), name) for name in table.names}


def policy(table: Table) -> Policy:
    """Return a policy in which every column is a quasi-identifier, and all but age are names."""
    kinds = {name: {"kind": "numeric" if name == "age" else "nominal"} for name in table.names}
    return Policy.of({"columns": kinds})


def encoded(table: Table, given: dict[str, Hierarchy]) -> Columns:
    """Return the columns of the table."""
    return mixed_columns(table, policy(table), given)[0]


def run(name: str, columns: Columns, k: int, effort: str, seed: int) -> Partition:
    """Run a method on two threads."""
    card = methods.load(name)
    return card.function(columns, **card.check({"k": k, "effort": effort}), seed=seed, threads=2)


def lost(columns: Columns, partition: Partition) -> float:
    """Return the mean loss of a cell."""
    return float(costs_of(columns, partition.labels).sum()) / partition.n


def by_arx(table: Table, given: dict[str, Hierarchy]) -> Columns:
    """Return the columns with ARX's weights."""
    sizes = {name: 1 - 1 / tree.leaves for name, tree in given.items()}
    kinds = {name: {"kind": "nominal", "importance": sizes[name]} for name in table.names}
    return mixed_columns(table, Policy.of({"columns": kinds}), given)[0]


def seeds(
    method: str, columns: Columns, k: int, effort: str, measure: Callable[[Partition], float]
) -> tuple[list[float], float, float]:
    """Return what five seeds give, and the median of their CPU and wall seconds."""
    run(method, columns, k, effort, 9)
    runs = [timed(lambda seed=seed: run(method, columns, k, effort, seed)) for seed in SEEDS]
    return [measure(found) for found, _, _ in runs], median(cpu for _, cpu, _ in runs), median(w for _, _, w in runs)


def worst(
    name: str, case: str, found: tuple[list[float], float, float], bar: float | None, ambitious: float, most: float
) -> Line:
    """Return the line of the worst seed; its note tells of the others."""
    figures, cpu, wall = found
    note = f"five seeds {min(figures):.5f} to {max(figures):.5f}"
    return Line(name, case, max(figures), bar, ambitious, cpu, wall, note=note, walled=most)


def tree_bars() -> Iterator[Line]:
    table = adult()
    given = trees(table)
    columns, weighted = encoded(table, given), by_arx(table, given)
    for k, bar, best, arx, arx_best in ((5, 0.0490, 0.0475, 0.0530, 0.0516), (10, 0.0728, 0.0715, 0.0788, 0.0775)):
        found = seeds("cover", columns, k, "quick", lambda p: lost(columns, p))
        yield worst("cover, quick", f"k = {k}, (a)", found, bar, best, 2)
        found = seeds("cover", columns, k, "quick", lambda p: lost(weighted, p))
        yield worst("cover, quick", f"k = {k}, ARXagg", found, arx, arx_best, 2)
        found = seeds("cover", columns, k, "normal", lambda p: lost(columns, p))
        yield worst("cover, normal", f"k = {k}, (a)", found, None, best, 5)


def set_bars() -> Iterator[Line]:
    columns = encoded(adult(), {})
    for k, bar, best in ((5, 0.0160, 0.0150), (10, 0.0315, 0.0300)):
        found = seeds("grow", columns, k, "quick", lambda p: lost(columns, p))
        yield worst("grow, quick", f"k = {k}, (b)", found, bar, best, 2)


def fast_bars() -> Iterator[Line]:
    table = adult()
    columns = encoded(table, trees(table))
    for k, bar, best in ((5, 0.0505, 0.0495), (10, 0.0740, 0.0730)):
        found = seeds("cover", columns, k, "none", lambda p: lost(columns, p))
        yield worst("cover, no rebuilding", f"k = {k}, (a)", found, bar, best, 0.3)


def perturbed_bars() -> Iterator[Line]:
    """Publish by representatives, the default, and by medoids."""
    table = adult()
    columns = encoded(table, {})
    run("gower", columns, 5, "quick", 9)
    found = [timed(lambda seed=seed: run("gower", columns, 5, "quick", seed)) for seed in SEEDS]
    times = median(cpu for _, cpu, _ in found), median(wall for _, _, wall in found)
    bars = {
        "representative": (0.89, 0.030, 0.010, None),
        "medoid": (0.905, 0.030, 0.010, 0.0),
    }
    for form, limits in bars.items():
        figures = [_perturbed(table, columns, groups, form) for groups, _, _ in found]
        for place, name in enumerate(("unchanged cells", "2-way total variation", "pMSE", "invented")):
            all_ = [one[place] for one in figures]
            higher = name == "unchanged cells"
            note = f"five seeds {min(all_):.5f} to {max(all_):.5f}"
            least = (min if higher else max)(all_)
            case = f"k = 5, {name}"
            yield Line(f"gower, {form}", case, least, limits[place], None, *times, higher=higher, note=note, walled=3)


def _perturbed(table: Table, columns: Columns, groups: Partition, form: str) -> tuple[float, ...]:
    """Return unchanged cells, two-way total variation, pMSE and invented combinations of a release."""
    kinds = {name: {"kind": policy(table).columns[name].kind, "form": form} for name in table.names}
    published = Policy.of({"columns": kinds})
    released = recode(table, groups, published, Encoded(np.zeros((table.n, 0)), columns=columns)).data
    both = pairs(table, released, published, {})
    close = {finding.name: finding.value / 100 for finding in fidelity(both)}
    same = float(np.mean([np.equal(*column.codes).mean() for column in both]))
    return same, close["2-way total variation %"], pmse(both).value, close["invented combinations %"]


def million_bars() -> Iterator[Line]:
    """Processes of their own: what one has held at the most is known at its end. The first may have to compile."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        first = pool.apply(_million)[-1]
        loss, cpu, wall, megabytes = pool.apply(_million)
    case = "1,000,000 rows, ARXagg"
    yield Line("cover, no rebuilding", case, loss, 0.0115, 0.0110, cpu, wall, note="with encoding", walled=6)
    note = f"all of Python; {first:.0f} in a process that compiled what was not yet compiled"
    yield Line("cover, no rebuilding", "1,000,000 rows, peak MB", megabytes, 512, None, cpu, wall, note=note)


def _million() -> tuple[float, float, float, float]:
    """Return the loss, CPU and wall seconds, and peak megabytes of a million bootstrapped rows."""
    rng = np.random.default_rng(0)
    small = adult()
    given = trees(small)
    rows = rng.integers(0, small.n, 1_000_000)
    cells = {}
    for name in small.names:
        other = np.where(rng.random(rows.size) < 0.15, rng.integers(0, small.n, rows.size), rows)
        cells[name] = small.column(name).take(pa.array(other))
    table = Table.of(pa.table(cells))
    del cells, rows, other
    pa.default_memory_pool().release_unused()  # what making the table took is no part of the work
    run("cover", encoded(small, given), 5, "none", 9)
    found, cpu, wall = timed(lambda: run("cover", encoded(table, given), 5, "none", 0))
    peak = _peak()
    return lost(by_arx(table, given), found), cpu, wall, peak


def _peak() -> float:
    """Return the megabytes that this process has held at the most; `getrusage` would count its parent's in."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "trees": tree_bars,
    "sets": set_bars,
    "fast": fast_bars,
    "perturbed": perturbed_bars,
    "million": million_bars,
    "limits": limit_bars,
    "tables": table_bars,
}


if __name__ == "__main__":
    sys.exit(measure(PARTS, __doc__))
