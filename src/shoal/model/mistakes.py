"""What is wrong with a policy, in one sentence that names each value as the reader wrote it.

A value of a policy file or mapping is named by its key, such as `constraints.k`. One given as an option is named by the
keyword argument in Python (`k`), and by the flag on the command line (`-k`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.errors import kind_of, near, shortened
from shoal.model.asking import argument
from shoal.model.overrides import CONSTRAINTS, ROLES

SHOWN = 3  # mistakes that a message lists
BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("above", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("below", "lt"),
}
EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a table of names and values",
    "model_type": "a table of names and values",
}
UNIONS = ("int", "float", "str", "bool")
HOLD_CELLS = ("order", "missing_codes", "hierarchy")  # keys of a column whose values are cells

Mistake = Mapping[str, Any]
Fields = Mapping[str, Sequence[str]]


def sentence(mistakes: Sequence[Mistake], fields: Fields, *, options: bool = False) -> str:
    """Describe the first mistakes that pydantic found in a policy.

    `fields` has the keys of each section of a policy, and those of the policy itself under an empty name; `options`
    says that the values were given as options, not in a policy.
    """
    by_place: dict[tuple[Any, ...], list[Mistake]] = {}
    for mistake in mistakes:
        by_place.setdefault(_place(mistake), []).append(mistake)
    # If the given value fits an alternative of a union except for something inside it, that alternative was meant.
    meant = [place for place in by_place if not any(_is_inside(other, place) for other in by_place)]
    words = [_said(place, by_place[place], fields, options=options) for place in meant]
    message, *others = words[:SHOWN]
    for one in others:
        message += f" Also, {one}" if message.endswith("?") else f"; {one}"
    return message if message[-1] in "?." else f"{message}."


def _place(mistake: Mistake) -> tuple[Any, ...]:
    """Return where a mistake is, without the alternative of a union that was tried."""
    *before, last = mistake["loc"] or ("",)
    tried = len(before) > 1 and (last in UNIONS or str(last).startswith("dict["))
    return tuple(before) if tried else (*before, last)


def _is_inside(place: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Return whether a place is part of another one."""
    return len(place) > len(other) and place[: len(other)] == other


def _said(place: tuple[Any, ...], mistakes: Sequence[Mistake], fields: Fields, *, options: bool) -> str:
    """Describe what is wrong at one place."""
    first = mistakes[0]
    if first["type"] == "extra_forbidden":
        return _unknown(place, fields, options=options)
    if place[-1] == "[key]":
        given = first.get("input")
        if _holds_cells(place):
            return f"the labels in the {place[2]} of column {place[1]!r} must be text{_got(place, given)}"
        what = "columns" if place[0] == "columns" else "parameters" if place[0] == "method" else "constraints"
        hint = f". Write {str(given)!r}" if isinstance(given, int | float) else ""
        return f"the names of {what} must be text{_got(place, given)}{hint}"
    if first["type"] == "invalid_key":
        return f"every key must be text{_got(place, place[-1])}"
    called = _as_option(place) if options else ".".join(map(str, place))
    got = _got(place, first.get("input"))
    if first["type"] in BOUNDS:
        word, key = BOUNDS[first["type"]]
        return f"{called} must be {word} {first['ctx'][key]:g}{got}"
    if first["type"] == "literal_error":
        return f"{called} must be {first['ctx']['expected']}{got}"
    if all(mistake["type"] in EXPECTED for mistake in mistakes):
        every = dict.fromkeys(EXPECTED[mistake["type"]] for mistake in mistakes)
        if "a number" in every:
            every.pop("a whole number", None)
        return f"{called} must be {' or '.join(every)}{got}"
    reason = str(first["ctx"]["error"] if first["type"] == "value_error" else first["msg"])
    alone = options and place[0] != "columns" and len(place) == 1
    return reason if alone or not called else f"{called}: {reason[:1].lower()}{reason[1:]}"


def _unknown(place: tuple[Any, ...], fields: Fields, *, options: bool) -> str:
    """Say that there is no such key, and what may have been meant."""
    name, section = str(place[-1]), str(place[0]) if len(place) > 1 else ""
    meant = near(name, fields[section])
    if options:
        return f"there is no constraint {name!r}.{meant or ' `shoal models` lists them'}"
    if not section:
        owner = next((one for one in ("constraints", "method") if name in fields[one]), None)
        if owner is not None:
            meant = f" Did you mean '{owner}.{name}'?"
        elif name in (*ROLES, *ROLES.values()):
            meant = " The role of a column goes into 'columns.NAME.role'"
    elif section != "columns" and name in fields[""]:
        meant = f" Write {name!r} at the top of the policy, before the first section"
    elif section == "columns" and name in fields["constraints"]:
        meant = f" Constraints apply to all columns: write 'constraints.{name}'"
    elif section == "method" and not meant:
        meant = " Parameters of the method go into 'method.parameters'"
    return f"there is no key {'.'.join(map(str, place))!r}.{meant}".rstrip(".")


def _as_option(place: tuple[Any, ...]) -> str:
    """Return the option that a value was given by; an empty text if several options contradict each other."""
    section, *inner = place
    if not section:
        return ""
    if section == "columns" and inner:
        return f"the {inner[1]} of column {inner[0]!r}" if len(inner) > 1 else f"column {inner[0]!r}"
    if section == "constraints" and inner:
        return argument(inner[0]) if inner[0] in CONSTRAINTS else f"constraint {inner[-1]}"
    if section == "method" and inner:
        if inner[0] == "parameters" and len(inner) > 1:
            return f"the parameter {inner[1]!r}"
        return argument("method" if inner[0] == "name" else inner[0])
    return argument(section)


def _got(place: tuple[Any, ...], given: Any) -> str:
    """Return the value that was given, or its type if it may hold cells or is not a plain value."""
    plain = isinstance(given, str | int | float) and not _holds_cells(place)
    return f"; got {shortened(given) if plain else kind_of(given)}"


def _holds_cells(place: tuple[Any, ...]) -> bool:
    """Return whether values at a place may be cells of the table."""
    return place[0] == "null_words" or (place[0] == "columns" and any(key in place[2:] for key in HOLD_CELLS))
