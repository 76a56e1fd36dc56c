"""The program as typer builds it, with one rule more: an option that takes one value is given once.

By itself, the parser would take the last of several values, so that `-k 5 -k 3` would silently mean `-k 3`.
"""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand

from shoal.errors import shortened

USAGE_ERROR: Any = typer.BadParameter.__base__  # of every unknown, missing or invalid option and argument

# What a value must be, by the name that the parser has for the violated rule.
RULES = {
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


class Once(TyperCommand):
    """A command that refuses an option given twice, and flags that contradict each other, as a usage error."""

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser, which also checks how often each option was given."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def checked(args: list[str]) -> tuple[Any, Any, list[Any]]:
            values, left, given = parse(args)
            for option in given:
                if given.count(option) > 1 and not getattr(option, "multiple", False):
                    raise typer.BadParameter(_repeated(option), ctx=ctx, param=option)
            return values, left, given

        parser.parse_args = checked
        return parser


class Program(typer.Typer):
    """A program whose commands are of the class `Once`."""

    def command(self, *args: Any, **options: Any) -> Callable[[Any], Any]:
        """Return the decorator that adds a command."""
        return super().command(*args, **{"cls": Once, **options})


def reword(problem: Any) -> None:
    """Say what is wrong with the value of an option as all other errors of shoal do, not as the parser does."""
    wrong = getattr(problem.__cause__, "errors", None)
    if not callable(wrong):
        return
    first = wrong()[0]
    facts = first.get("ctx", {})
    if first["type"] in RULES:
        problem.message = f"{RULES[first['type']].format(**facts)}; got {shortened(first['input'])}."
    elif "error" in facts:
        problem.message = str(facts["error"])


def _repeated(option: Any) -> str:
    """Say that an option was given twice, or together with its opposite."""
    opposite = getattr(option, "secondary_opts", ())
    if opposite:
        return f"{option.opts[0]} and {opposite[0]} exclude each other, and neither may be repeated. Give one of them."
    return "It was given more than once. Give it once."
