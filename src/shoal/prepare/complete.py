"""Complete a policy for a table: what the policy leaves open is decided, and reported.

1. Every name in the policy must be a column of the table.
2. Every column of the table gets a role: the one given, or quasi-identifier. Columns that certainly identify people or
   rows (names, e-mail addresses, patient numbers) are identifiers by default.
3. Every column gets a kind (given, or found in the table), and every quasi-identifier a form (given, or by kind); an
   ordinal column gets the order of its levels.
4. Roles, kinds, forms, label, weight and constraints must agree with each other and with the types of the columns.

Whether the cells fit their kind is checked when they are encoded.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from shoal.catalogue import methods, requested_model
from shoal.errors import PolicyError, listed, near
from shoal.model.asking import either, option
from shoal.model.notes import Note
from shoal.model.policy import FORMS, SEPARATOR, TRUTHFUL_FORMS, Column, Form, Kind, Policy, Role
from shoal.model.sentences import Sentence
from shoal.model.table import Table, is_list, type_name
from shoal.prepare.choosing import choose, truthful
from shoal.prepare.oddities import LooksLikeDates, LooksMissing, UnreadDates
from shoal.prepare.profile import ColumnFacts, Profile
from shoal.prepare.roles import FEW, NEARLY

USUAL: dict[Kind, Form] = {
    "numeric": "mean",
    "ordinal": "median",
    "nominal": "mode",
    "boolean": "mode",
    "date": "mean",
}
REPRESENTATIVE: dict[Kind, Form] = dict.fromkeys(USUAL, "representative")
TRUTHFUL: dict[Kind, Form] = {
    "numeric": "range",
    "ordinal": "range",
    "nominal": "set",
    "boolean": "set",
    "date": "range",
}
DROP = "Make it an identifier."
ROLE_OPTION = {"identifier": "identifiers"}  # roles whose option has another name
FITTING: dict[str, tuple[Kind, ...]] = {
    "truth value": ("boolean", "nominal", "ordinal", "numeric"),
    "whole number": ("numeric", "nominal", "ordinal", "boolean"),
    "number": ("numeric", "nominal", "ordinal"),
    "date": ("date", "nominal", "ordinal"),
    "list": ("set", "nominal"),
    "nested": ("nominal",),
}


def complete(
    policy: Policy, table: Table, facts: Profile, *, drop_direct: bool = True
) -> tuple[Policy, tuple[Note, ...]]:
    """Return the policy with role, kind, form and order of every column in table order, and notes for the holder.

    `facts` is the profile of this table. With `drop_direct`, columns that certainly identify people or rows are
    identifiers if their role is left open; they must count where a release from elsewhere is judged. The notes give
    what `auto` chose for mixed columns, and unlisted columns that are dropped or do not look like quasi-identifiers.

    Examples
    --------
    >>> from shoal.prepare.profile import profile
    >>> table = Table.of(pa.table({"age": [31, 40, 40], "diagnosis": ["flu", "flu", "cold"]}))
    >>> done, notes = complete(Policy.of(k=2, sensitive="diagnosis"), table, profile(table))
    >>> done.columns["age"].role, done.columns["age"].kind, done.columns["age"].form
    ('quasi', 'numeric', 'mean')
    """
    _known(policy, table)
    notes: list[Note] = []
    columns = {found.name: _named(_given(policy, found, drop_direct), found, table) for found in facts.columns}
    method, choice = choose(policy, columns)
    notes += [Note("auto-choice", f"{choice}.")] if choice else []
    usual = usual_forms(policy, method.name)
    for found in facts.columns:
        name, given = found.name, policy.columns.get(found.name)
        columns[name], remark = _published(columns[name], usual)
        notes += [Note("form", f"column {name!r}: {remark}")] if remark else []
        if columns[name].role == "identifier" and _role_is_open(given, found):
            notes.append(_dropped(found))
        elif given is None or "role" not in given.model_fields_set:
            notes += _unnamed(found)
        elif given.role == "quasi" and found.row_number:
            note = f"column {name!r} contains row numbers, but is a quasi-identifier."
            notes.append(Note("row-number", note, DROP))
        elif given.form and given.role != "quasi":
            note = f"column {name!r} has the role {given.role}, so its form {given.form!r} is not used."
            notes.append(Note("form", note))
        averaged = columns[name].role == "quasi" and found.kind == "numeric"
        if given is not None and columns[name].role != "identifier" and found.direct and not averaged:
            notes.append(_published_though_direct(found, columns[name].role))
        if given is None or "missing_codes" not in given.model_fields_set:
            notes += _in_a_policy("codes-for-missing", found, LooksMissing)
        if given is None or given.kind is None:
            notes += _in_a_policy("text-dates", found, LooksLikeDates)
            if columns[name].role == "quasi":
                notes += _in_a_policy("text-dates", found, UnreadDates, "")
    measures = [found.name for found in facts.columns if found.name not in policy.columns and _in_doubt(found, table)]
    notes += [_averaged(measures)] if measures else []
    named = policy.model_copy(update={"columns": columns, "method": method})
    open_ = [found for found in facts.columns if _role_is_open(policy.columns.get(found.name), found)]
    _agree(named, [found.name for found in open_ if found.direct and drop_direct])
    return named, tuple(notes)


def _in_a_policy(kind: str, found: ColumnFacts, about: type[Sentence], where: str = " in a policy") -> list[Note]:
    """Return the profile's notes on a column of one type, with the place where it can be corrected."""
    said = f"column {{name!r}}: {{note}}{where}."
    return [Note(kind, Sentence(said, name=found.name, note=note)) for note in found.notes if isinstance(note, about)]


def usual_forms(policy: Policy, method: str) -> Mapping[Kind, Form]:
    """Return the default form of a quasi-identifier of each kind, given the method that makes the groups."""
    return TRUTHFUL if truthful(policy) else REPRESENTATIVE if methods.declared(method, "data") == "mixed" else USUAL


def _given(policy: Policy, found: ColumnFacts, drop_direct: bool) -> Column | None:
    """Return what the policy says of a column; a direct identifier whose role it leaves open is an identifier."""
    given = policy.columns.get(found.name)
    if found.direct and drop_direct and _role_is_open(given, found):
        return Column(role="identifier")
    return given


def _role_is_open(given: Column | None, found: ColumnFacts) -> bool:
    """Whether a policy says nothing about a column that only a quasi-identifier would have."""
    if given is None:
        return True
    declared = given.model_fields_set
    return found.kind == "nominal" and declared <= {"kind", "missing_codes"} and given.kind in (None, "nominal")


def _known(policy: Policy, table: Table) -> None:
    """Refuse names that are not in the table."""
    names = set(table.names)
    wanted = [("column", name) for name in policy.columns]
    wanted += [(what, name) for what in ("label", "weight") if (name := getattr(policy, what)) is not None]
    for what, name in wanted:
        if name not in names:
            raise PolicyError(
                f"policy: {what} {name!r} is not in the table. The table has {listed(table.names)}."
                + near(name, table.names)
            )


def _named(given: Column | None, found: ColumnFacts, table: Table) -> Column:
    """Return a column with role, kind and order, and the form if it is given."""
    name, held = found.name, table.column(found.name).type
    lists = _family(held) == "list"
    given = given or Column.model_validate({"role": "items" if lists else "quasi"})
    if given.role == "items":
        return _items(name, given, held)
    kind: Kind = given.kind or ("ordinal" if given.order is not None else found.kind)
    _fits(name, kind, given, held)
    values: dict[str, Any] = {"role": given.role, "kind": kind}
    if given.role == "quasi":
        if given.form is not None:
            values["form"] = _suiting(name, kind, given.form, held)
        for what in ("view", "step"):
            if getattr(given, what) is not None:
                values[what] = getattr(given, what)
    if given.hierarchy is not None:
        values["hierarchy"] = given.hierarchy
    if kind == "ordinal":
        values["order"] = _order(name, given, table.levels)
    if given.importance is not None:
        values["importance"] = given.importance
    if given.spelling is not None:
        values["spelling"] = given.spelling
    if given.missing_codes:
        values["missing_codes"] = given.missing_codes
    return Column(**values)


def _items(name: str, given: Column, held: pa.DataType) -> Column:
    """Return a column of sets, with the separator of the items where they are written as text."""
    text = pa.types.is_string(held) or pa.types.is_large_string(held)
    if not text and _family(held) != "list":
        raise PolicyError(
            f"policy: column {name!r} contains {type_name(held)}, which are not sets. A column with the role items "
            "contains lists, or text with a separator between the items."
        )
    if text and given.separator is None:
        raise PolicyError(
            f"policy: column {name!r} has the role items and contains text. Give the separator of its items "
            "by `separator` of the column in a policy."
        )
    return given.model_copy(update={"kind": "set", "separator": given.separator or SEPARATOR})


def _fits(name: str, kind: Kind, given: Column, held: pa.DataType) -> None:
    """Refuse a kind that no column of this type can have."""
    family = _family(held)
    fitting = FITTING.get(family, ())
    if fitting and kind not in fitting:
        raise PolicyError(
            f"policy: column {name!r} contains {type_name(held)} and cannot be {kind}; expected {listed(fitting)}. "
            "Change its kind or leave it out."
        )
    if given.role != "quasi":
        return
    if family in ("list", "nested"):
        raise PolicyError(
            f"policy: column {name!r} contains {type_name(held)} and cannot be a quasi-identifier. "
            "Give it the role identifier, sensitive or keep, or items if it contains sets."
        )
    if pa.types.is_duration(held):
        raise PolicyError(
            f"policy: column {name!r} contains durations, which cannot be quasi-identifiers. Convert them to numbers, "
            "such as hours or days, or give the column the role identifier, sensitive or keep."
        )
    if kind == "set":
        raise PolicyError(
            f"policy: column {name!r} is of kind set and cannot be a quasi-identifier: methods for tables "
            "do not cluster sets. Give it the role items, or make it an identifier, sensitive or kept."
        )


def _family(held: pa.DataType) -> str:
    """Return what the cells of a type are, or "other" where any kind may fit."""
    types = pa.types
    if types.is_boolean(held):
        return "truth value"
    if types.is_integer(held):
        return "whole number"
    if types.is_floating(held) or types.is_decimal(held):
        return "number"
    if types.is_date(held) or types.is_timestamp(held):
        return "date"
    if is_list(held):
        return "list"
    if types.is_nested(held) or types.is_interval(held) or isinstance(held, pa.BaseExtensionType):
        return "nested"
    binary = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return "nested" if any(test(held) for test in binary) else "other"


def _suiting(name: str, kind: Kind, form: Form, held: pa.DataType) -> Form:
    """Return a form, or refuse it if it does not suit the kind."""
    if form not in FORMS[kind]:
        raise PolicyError(
            f"policy: form {form!r} does not suit column {name!r}, which is {kind} ({type_name(held)}); "
            f"choose {', '.join(FORMS[kind])}."
        )
    return form


def _published(column: Column, usual: Mapping[Kind, Form]) -> tuple[Column, str]:
    """Return a column with its form, and a note on it."""
    if column.role != "quasi":
        return column, ""
    kind, form, note = column.kind or "nominal", column.form, ""
    if form is None:
        form = "tree" if column.hierarchy is not None and usual is TRUTHFUL else usual[kind]
    elif usual is TRUTHFUL and form not in TRUTHFUL_FORMS:
        note = f"its form is {form}, so its values need not be true of every row, although the output is truthful."
    return column.model_copy(update={"form": form}), note


def _order(name: str, given: Column, levels: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the levels of an ordinal column, lowest first."""
    order = given.order if given.order is not None else levels.get(name)
    if not order:
        raise PolicyError(
            f"policy: column {name!r} is ordinal, and its order is not known. "
            "Give `order`, the list of its levels from lowest to highest, or make it nominal."
        )
    return tuple(order)


def _dropped(found: ColumnFacts) -> Note:
    """Report that a column was dropped by default."""
    return Note(
        "direct-identifier",
        f"column {found.name!r} IS DROPPED: its role is not given, and it looks like an identifier ({found.reason}). "
        f"To publish it per class anyway: {either('quasi', found.name)}. "
        f"If it is an identifier, declare it: {either('identifiers', found.name)}.",
    )


def _published_though_direct(found: ColumnFacts, role: Role) -> Note:
    """Warn of a column that identifies people or rows and is published, as the policy says so."""
    what = (
        "its values that k rows or more share are published"
        if role == "quasi"
        else "every value is published unchanged"
    )
    return Note(
        "published-identifier",
        f"column {found.name!r} looks like a direct identifier ({found.reason}), but has the role {role}: {what}.",
        f"If it names people, drop it: {either('identifiers', found.name)}.",
    )


def _in_doubt(found: ColumnFacts, table: Table) -> bool:
    """Whether a default quasi-identifier has integers of which nearly all differ, but that are not certainly codes."""
    whole = pa.types.is_integer(table.column(found.name).type) and found.kind == "numeric"
    enough = found.distinct >= FEW and found.uniqueness >= NEARLY
    return whole and enough and found.role == "quasi" and not found.direct


def _averaged(names: list[str]) -> Note:
    """Report that numeric columns that might be codes are taken for measurements."""
    many = len(names) > 1
    return Note(
        "possible-code",
        f"column{'s' * many} {listed(names)}: whole numbers of which nearly all differ. Their distribution suggests "
        f"amounts or measurements, so they are published per class. If {'one' if many else 'it'} is a code, drop it: "
        f"{either('identifiers', 'COLUMN' if many else names[0])}.",
    )


def _unnamed(found: ColumnFacts) -> list[Note]:
    """Report what an unlisted column looks like, if that should concern the holder."""
    looks = {"identifier": "looks like an identifier", "sensitive": "looks sensitive"}.get(found.role)
    if not looks:
        return []
    remedy = either(ROLE_OPTION.get(found.role, found.role), found.name)
    note = f"column {found.name!r} {looks} ({found.reason}) and is a quasi-identifier by default, as it is not listed"
    what = "an identifier" if found.role == "identifier" else "sensitive"
    return [Note("unlisted-column", f"{note}. If it is {what}, declare it: {remedy}.")]


def _agree(policy: Policy, direct: list[str]) -> None:
    """Refuse roles that contradict the constraints, the label or the weight."""
    columns = policy.columns
    roles = [column.role for column in columns.values()]
    if roles.count("items") > 1:
        raise PolicyError(
            f"policy: {roles.count('items')} columns have the role items; shoal can protect one set per row. "
            "Combine them into one column, or give the others the role identifier."
        )
    if "quasi" not in roles and "items" not in roles and direct:
        raise PolicyError(
            f"policy: no column is a quasi-identifier: columns that look like identifiers ({listed(direct)}) are "
            f"dropped by default. If one is not an identifier, name it ({option('quasi', 'COLUMN')})."
        )
    policy.refuse_unanswered()
    for name in policy.constraints.others:
        requested_model(name)
    if policy.label is not None and (role := columns[policy.label].role) not in ("sensitive", "keep"):
        raise PolicyError(
            f"policy: label {policy.label!r} has the role {role}; expected sensitive or keep. "
            "Change its role or choose another label."
        )
    if policy.weight is not None:
        weight = columns[policy.weight]
        if weight.role not in ("keep", "identifier") or weight.kind != "numeric":
            raise PolicyError(
                f"policy: weight {policy.weight!r} is {weight.kind} with the role {weight.role}; expected "
                "a numeric column with the role keep or identifier. Make it an identifier: it is used, then dropped."
            )
