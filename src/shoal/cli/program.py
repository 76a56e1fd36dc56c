"""The program as typer builds it, with one rule more: an option that takes one value is given once.

By itself, the parser would take the last of several values, so that `-k 5 -k 3` would silently mean `-k 3`.
"""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand


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
                    raise typer.BadParameter("It was given more than once. Give it once.", ctx=ctx, param=option)
            return values, left, given

        parser.parse_args = checked
        return parser


class Program(typer.Typer):
    """A program whose commands are of the class `Once`."""

    def command(self, *args: Any, **options: Any) -> Callable[[Any], Any]:
        """Return the decorator that adds a command."""
        return super().command(*args, **{"cls": Once, **options})
