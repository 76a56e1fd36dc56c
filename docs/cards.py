"""The directive `{cards}`: a table of the catalogue, made from the cards when the pages are built.

`{cards} methods` lists a section; `:modules: risk population` keeps the cards of some modules.
`{parameters} mdav` lists the parameters of a method, what it ensures and what it uses.
"""

import math
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from shoal.catalogue import sections

HEADS = {
    "methods": ("method", "data", "ensures by itself", "parameters", "what it does"),
    "models": ("model", "set by", "figure of a class", "good"),
    "measures": ("measure", "formula", "range", "good", "needs"),
    "attacks": ("attack", "what it tries", "needs", "control rows"),
}


def of_method(card: Any) -> tuple[str, ...]:
    own = ", ".join(f"`{name}`" for name in card.params)
    used = f"; uses {', '.join(sorted(card.uses))}" if card.uses else ""
    most = f" At most {card.most_rows:,} rows." if card.most_rows else ""
    return (
        f"[`{card.name}`]({card.name}.md)",
        card.data,
        ", ".join(sorted(card.ensures)),
        own + used,
        card.summary + most,
    )


def of_model(card: Any) -> tuple[str, ...]:
    return card.name, ", ".join(f"`{key}`" for key in card.set_by), card.summary, "high" if card.high else "low"


def of_measure(card: Any) -> tuple[str, ...]:
    high = "up" if math.isinf(card.high) else f"to {card.high:g}"
    needs = {"release": "release", "pair": "table and release", "groups": "table and classes"}[card.need]
    return (
        card.name,
        card.formula,
        f"{card.low:g} {high}",
        "" if card.better == "neither" else card.better,
        ", ".join((needs, *(f"{one} column" if one == "sensitive" else one for one in card.requires))),
    )


def of_attack(card: Any) -> tuple[str, ...]:
    return card.name, card.summary, ", ".join(card.requires), "yes" if card.control else ""


ROWS = {"methods": of_method, "models": of_model, "measures": of_measure, "attacks": of_attack}


def table(section: str, modules: set[str]) -> list[str]:
    """Return the lines of a Markdown table."""
    cards = [
        card
        for card in getattr(sections, section).cards().values()
        if not modules or card.function.__module__.rsplit(".", 1)[1] in modules
    ]
    return lines_of(HEADS[section], [ROWS[section](card) for card in cards])


def lines_of(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a Markdown table."""
    lines = [heads, ("---",) * len(heads), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


class Cards(SphinxDirective):
    """A table of cards."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"modules": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        node = nodes.container()
        lines = table(self.arguments[0], set(self.options.get("modules", "").split()))
        self.state.nested_parse(StringList(lines, source="cards"), 0, node)
        return [node]


def parameters(card: Any) -> list[str]:
    """Return the parameters of a method as a Markdown table, and what else its card says."""
    own = [
        (f"`{name}`", one.wrong(None), "" if one.default is None else f"`{str(one.default).lower()}`", one.help)
        for name, one in card.params.items()
    ]
    return [
        *lines_of(("parameter", "must be", "default", "meaning"), own),
        "",
        f"Ensures by itself: {', '.join(sorted(card.ensures)) or 'nothing'}. {card.inputs()}",
    ]


class Parameters(SphinxDirective):
    """The parameters of a method."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        node = nodes.container()
        lines = parameters(sections.methods.load(self.arguments[0]))
        self.state.nested_parse(StringList(lines, source="cards"), 0, node)
        return [node]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("cards", Cards)
    app.add_directive("parameters", Parameters)
    return {"parallel_read_safe": True}
