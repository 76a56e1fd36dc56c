"""Rules preserved by disassociation: `python -m benchmarks.set_rules [PART ...]`; parts: geom, lin, top; default: all.

Three reproducible sets of 70 pairs of BMS1 stand for the rules of the publication, which it does not list. The table
gives, over the records that contain a rule, the absolute relative error of certain supports, over all pairs (GA) and
over the rules (UR). Ratios are to the plain iterative partition of the publication, which takes records in the order of
the file. "sorted" is the same partition as `disassociate` makes it, of records in lexicographic order: that alone puts
many similar records together. CPU seconds are those of the partition of all of BMS1 alone, after warm-up.
"""

import sys
import time
from unittest.mock import patch

import numpy as np

from benchmarks.measuring import DATA
from shoal.io.transactions import read as read_transactions
from shoal.model.transactions import Transactions
from shoal.transactions.disassociation import disassociate as making
from shoal.transactions.disassociation.disassociate import disassociate
from shoal.transactions.disassociation.rules import by_rules, held_rules
from shoal.transactions.disassociation.ugac import by_ants
from shoal.transactions.itemsets.association import alpha, rae
from shoal.transactions.itemsets.mining import pair_supports
from shoal.transactions.itemsets.support import certain_support, renumbered

SIZES = ((2, 20), (2, 60), (3, 20), (3, 60), (4, 60))
BARS = {"geom": 0.40, "lin": 0.30, "top": 0.30}
COUNT = 70
Figures = tuple[float, float, float]


def bms1() -> Transactions:
    return read_transactions(DATA / "bms1.dat")


def rule_sets(data: Transactions, count: int = COUNT) -> dict[str, list[np.ndarray]]:
    """Return the rule sets: pairs of geometrically (geom) or evenly (lin) spaced support, the most frequent (top)."""
    pairs, supports = pair_supports(data)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -supports))
    pairs, supports = pairs[order], supports[order]
    most = supports[0]
    logs = np.log(supports)
    return {
        "geom": [pairs[place] for place in _nearest(logs, np.log(np.geomspace(most, 2, count)))],
        "lin": [pairs[place] for place in _nearest(supports.astype(np.float64), np.linspace(most, 2, count))],
        "top": list(pairs[:count]),
    }


def _nearest(values: np.ndarray, targets: np.ndarray) -> list[int]:
    """Return for each target the first unused place of the nearest value."""
    used = np.zeros(values.size, np.bool_)
    places = []
    for target in targets:
        place = int(np.argmin(np.where(used, np.inf, np.abs(values - target))))
        used[place] = True
        places.append(place)
    return places


def restricted(data: Transactions, rules: list[np.ndarray]) -> Transactions:
    """Return the records that hold a rule, T|UR."""
    held = held_rules(data.indptr, data.items, len(data.labels), rules)
    kept = np.diff(held.ptr) > 0
    indptr = np.concatenate(([0], np.cumsum(data.lengths[kept])))
    items = data.items[np.repeat(kept, data.lengths)]
    return Transactions(indptr, items, data.labels, data.rows[kept], int(kept.sum()))


def figures(data: Transactions, rules: list[np.ndarray], partition: str, k: int, delta: int) -> Figures:
    """Return the sums of RAE over all pairs and over the rules, and the mean alpha of the rules."""
    guided = rules if partition in ("rules", "ugac") else None
    published = disassociate(data, k, k, delta, partition=partition, rules=guided, levels=0).published
    number = renumbered(data.labels, published.labels)
    pairs, supports = pair_supports(data)
    left = certain_support(published, number[pairs])
    place = {tuple(pair): at for at, pair in enumerate(pairs.tolist())}
    at = np.array([place[tuple(rule.tolist())] for rule in rules])
    general = float(rae(supports, left).sum())
    return general, float(rae(supports[at], left[at]).sum()), float(alpha(supports[at], left[at]).mean())


def plain_figures(data: Transactions, rules: list[np.ndarray], k: int, delta: int) -> Figures:
    """Return the same of the plain iterative partition, of records in the order of the file, as it was published."""
    with patch.object(making, "lexical_order", lambda indptr, _: np.arange(indptr.size - 1)):
        return figures(data, rules, "iterative", k, delta)


def seconds(data: Transactions, rules: list[np.ndarray], partition: str, k: int, delta: int) -> float:
    """Return the CPU seconds of a partition after warm-up."""
    run = by_rules if partition == "rules" else by_ants
    arguments = (data.indptr, data.items, len(data.labels), rules, k, delta)
    run(*arguments)
    start = time.process_time()
    run(*arguments)
    return time.process_time() - start


def table(names: list[str]) -> None:
    """Print the table of section 4.2, with the ratios to plain iterative partitioning."""
    data = bms1()
    print("set   k=m delta  method        GA      UR   alpha  UR ratio  GA ratio  CPU s")
    for name, rules in rule_sets(data).items():
        if name not in names:
            continue
        part = restricted(data, rules)
        for k, delta in SIZES:
            plain = plain_figures(part, rules, k, delta)
            show(name, k, delta, "plain", plain, plain)
            show(name, k, delta, "sorted", figures(part, rules, "iterative", k, delta), plain)
            for method in ("rules", "ugac"):
                cpu = seconds(data, rules, method, k, delta)
                show(name, k, delta, method, figures(part, rules, method, k, delta), plain, f"{cpu:6.2f}")


def show(name: str, k: int, delta: int, method: str, found: Figures, plain: Figures, cpu: str = "") -> None:
    """Print a line of the table."""
    print(
        f"{name:5} {k:3} {delta:5}  {method:7} {found[0]:8.0f} {found[1]:7.1f} {found[2]:7.3f} "
        f"{found[1] / plain[1]:9.2f} {found[0] / plain[0]:9.2f} {cpu}"
    )


if __name__ == "__main__":
    table(sys.argv[1:] or list(BARS))
