"""Mixed tables through the whole line: under l and t beside a lower bound, and other tables beside Mondrian.

The lower bound is exact and loose. A row loses at least what its join loses with its (k - 1)th nearest row, and with as
many of the nearest rows of other sensitive values as every group that has it must hold. It is found by comparing all
rows with all others, and says nothing of whether rows can all have their nearest ones at the same time.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

import shoal
from benchmarks.measuring import DATA, Line, timed
from shoal.io.files import read
from shoal.kernels.columns import Columns, Floats, Whole, pair_loss
from shoal.kernels.loops import inner_loop
from shoal.model.policy import Policy
from shoal.prepare.hierarchy import read_csv
from shoal.prepare.mixed import mixed_columns
from shoal.prepare.profile import profile

K = 5
LABEL = "salary-class"
LIMITS: dict[str, dict[str, float]] = {"no limits": {}, "l = 2": {"l": 2}, "t = 0.3": {"t": 0.3}}


def limit_bars() -> Iterator[Line]:
    """L = 2 and t = 0.3 of the label of Adult, by nodes of trees and by ranges and sets."""
    table = read(DATA / "arx_adult.csv.gz")
    names = [name for name in table.names if name != LABEL]
    files = {name: str(DATA / "hierarchies" / f"adult_{name}.csv") for name in names}
    label = np.unique(table.column(LABEL).to_pylist(), return_inverse=True)[1].astype(np.int64)
    kinds = {name: {"kind": "numeric" if name == "age" else "nominal"} for name in names}
    policy = Policy.of({"columns": kinds}, sensitive=[LABEL])
    for method, given in (("cover", files), ("grow", {})):
        trees = {name: read_csv(Path(path).read_text(encoding="utf-8"), name) for name, path in given.items()}
        columns = mixed_columns(table, policy, trees)[0]
        plain = 0.0
        for case, limits in LIMITS.items():
            wishes = {"policy": policy, "k": K, "method": method, "hierarchies": given, "output": "truthful"}
            release, cpu, wall = timed(lambda w=wishes, x=limits: shoal.anonymize(table.data, **w, **x))
            loss = release.finding("cell loss %") / 100
            plain = plain or loss
            bound = lower_bound(columns, label, limits) / len(label)
            note = f"verified; lower bound {bound:.5f}"
            if limits:
                yield Line(method, f"{case}, loss of no limits times", loss / plain, 1.25, None, cpu, wall, note=note)
            yield Line(method, f"{case}, cell loss", loss, None, None, cpu, wall, note=note)


def lower_bound(columns: Columns, label: Whole, limits: dict[str, float]) -> float:
    """Return what all rows lose together at the least; for labels of two values."""
    shares = np.bincount(label) / label.size
    others = np.zeros(2, np.int64)
    if "l" in limits:
        others[:] = 1
    if "t" in limits:
        # A group of a rows of one value and b of the other: a / (a + b) is at most its share in the table and t.
        for value in range(2):
            most = shares[value] + limits["t"]
            if most < 1:
                needed = [max(int(np.ceil(a * (1 - most) / most - 1e-9)), K - a, 1) for a in range(1, K + 1)]
                others[value] = max(others[value], min(needed))
    found = np.zeros(label.size)
    _bounds(columns, label, others, K, np.zeros(K + int(others.max()) + 1), found)
    return float(found.sum())


@inner_loop
def _bounds(columns: Columns, label: Whole, others: Whole, k: int, room: Floats, found: Floats) -> None:
    """Fill in what each row loses at the least."""
    for row in range(label.size):
        need = others[label[row]]
        room[:] = np.inf
        for other in range(label.size):
            if other == row:
                continue
            limit = max(room[k - 2], room[k - 1 + need - 1] if need > 0 else 0.0)
            loss = pair_loss(columns, row, other, limit)
            if loss < room[k - 2]:
                _put(room, 0, k - 1, loss)
            if need > 0 and label[other] != label[row] and loss < room[k - 1 + need - 1]:
                _put(room, k - 1, k - 1 + need, loss)
        found[row] = max(room[k - 2], room[k - 1 + need - 1] if need > 0 else 0.0)


@inner_loop
def _put(room: Floats, start: int, stop: int, loss: float) -> None:
    """Put a loss among the least ones, which are in ascending order."""
    place = stop - 1
    while place > start and room[place - 1] > loss:
        room[place] = room[place - 1]
        place -= 1
    room[place] = loss


def table_bars() -> Iterator[Line]:
    """Other tables under each policy for missing values, at quick effort, beside the loss of Mondrian."""
    tables = {
        "adult": (read(DATA / "adult.csv.gz"), {}),
        "german credit": (read(DATA / "german_credit.csv"), {}),
        "hospital": (read(shoal.sample(5000)), {"identifiers": ["patient_id", "name"], "sensitive": ["diagnosis"]}),
    }
    for name, (table, roles) in tables.items():
        gaps = any(column.missing for column in profile(table).columns)
        for missing in ("own-value", "suppress-row") if gaps else ("refuse",):
            losses = {}
            for method in ("mondrian", "cover", "grow", "gower"):
                wishes = {"k": K, "method": method, "missing": missing, "output": "truthful", **roles}
                if method == "gower":
                    wishes["output"] = "same-schema"
                shoal.anonymize(table.data.slice(0, 500), **wishes)
                release, cpu, wall = timed(lambda w=wishes, t=table: shoal.anonymize(t.data, **w))
                losses[method] = release.finding("class loss %") / 100
                if method != "mondrian":
                    note = f"verified; Mondrian {losses['mondrian']:.5f}"
                    case = f"{name}, {missing}: class loss"
                    yield Line(method, case, losses[method], losses["mondrian"], None, cpu, wall, note=note, walled=10)
