"""The declarations of the package, read from its source files: listing names imports no module.

A declaration is a function decorated with `@method("name", ...)`, `@measure(...)` and so on. Its literal
keywords are known, and the first paragraph of its module. Loading numba to list method names would take seconds;
reading the source takes milliseconds.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.catalogue.card import first_paragraph

DOCSTRING = re.compile(r'\A\s*"""(.*?)"""', re.DOTALL)
# Decorators and name of a function.
DECORATED = re.compile(r"^(@\w[^\n]*\n(?:(?!def |class )[^\n]*\n)*?)def (\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Declaration:
    """Where a card is, and what is known without loading it."""

    module: str
    function: str
    keywords: Mapping[str, Any]  # literal arguments of the decorator
    words: str  # its keyword `words`, or the first paragraph of the module


@cache
def declarations(decorators: tuple[str, ...], packages: tuple[str, ...]) -> dict[str, Declaration]:
    """Return the declarations of packages by name, in order of files and lines."""
    found: dict[str, Declaration] = {}
    for package in packages:
        place = find_spec(package)
        for folder in (place.submodule_search_locations if place else None) or ():
            for path in sorted(Path(folder).glob("*.py")):
                text = path.read_text(encoding="utf-8")
                if any(f"@{decorator}(" in text for decorator in decorators):
                    found |= _in_file(text, decorators, f"{package}.{path.stem}")
    return found


def _in_file(text: str, decorators: tuple[str, ...], module: str) -> dict[str, Declaration]:
    """Return the declarations of one file; only decorators are parsed, which takes a tenth of the time."""
    docstring = DOCSTRING.match(text)
    first = first_paragraph(ast.get_docstring(ast.parse(docstring.group())) if docstring else None)
    found = {}
    for lines, function in DECORATED.findall(text):
        for call in _calls(lines, decorators):
            keywords = dict(_literals(call))
            words = keywords.get("words")
            summary = words if isinstance(words, str) else first
            found[ast.literal_eval(call.args[0])] = Declaration(module, function, keywords, summary)
    return found


def _calls(lines: str, decorators: tuple[str, ...]) -> Iterator[ast.Call]:
    """Yield the calls of these decorators among the decorators of a function."""
    if any(f"@{decorator}(" in lines for decorator in decorators):
        decorated = ast.parse(f"{lines}def function(): ...").body[0]
        for one in getattr(decorated, "decorator_list", ()):
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in decorators:
                yield one


def _literals(call: ast.Call) -> Iterator[tuple[str, Any]]:
    """Yield the literal keywords of a call; the name of `@numeric_method` implies `data`."""
    prefix, _, _ = getattr(call.func, "id", "").rpartition("_method")
    if prefix:
        yield "data", prefix
    for keyword in call.keywords:
        try:
            yield keyword.arg or "", ast.literal_eval(keyword.value)
        except ValueError:
            continue
