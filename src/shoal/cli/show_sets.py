"""What the commands for sets print."""

from typing import Any

from shoal.cli.drawing import as_json, console, figure, row, say, table_of
from shoal.errors import counted


def facts(found: dict[str, Any], *, json: bool) -> None:
    """Show figures by name."""
    if json:
        as_json(found)
        return
    table = table_of("figure", ">value")
    for name, value in found.items():
        if value is not None:
            row(table, name, _shown(value))
    console().print(table)


def mined(found: dict[str, Any], *, json: bool) -> None:
    """Show itemsets and rules, which name items of the data."""
    if json:
        as_json(found)
        return
    itemsets = table_of("itemset", ">support", ">share %")
    for one in found["itemsets"]:
        share = 100 * one["support"] / max(1, found["records"])
        row(itemsets, ", ".join(one["items"]), f"{one['support']:,}", f"{share:.3f}")
    if found["itemsets"]:
        console().print(itemsets)
    rules = table_of("if", "then", ">support", ">confidence", ">lift")
    for one in found["rules"]:
        figures = (f"{one['support']:,}", f"{one['confidence']:.3f}", f"{one['lift']:.2f}")
        row(rules, ", ".join(one["if"]), one["then"], *figures)
    if found["rules"]:
        console().print(rules)
    number = counted(found["itemsets found"], "itemset")
    say(f"{number} of two or more items in {found['records']:,} records. They are original data: confidential.")


def report(found: dict[str, Any], *, json: bool) -> None:
    """Show the sections of a report."""
    if json:
        as_json(found)
        return
    for section, figures in found.items():
        say(section)
        facts(figures, json=False)
    say("These figures were computed from the original records: confidential.")


def _shown(value: Any) -> str:
    """Write a figure."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return figure(float(value)) if isinstance(value, int | float) else str(value)
