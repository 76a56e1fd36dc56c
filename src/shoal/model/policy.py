"""The policy: what each column is, what a release must meet, and how it is made.

A policy is a TOML file or keyword arguments. It is checked as a whole on construction; whether it fits a table is
checked in `prepare.complete`.
"""

import tomllib
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Self, Unpack, cast, get_args

import tomli_w
from pydantic import ConfigDict, Field, ValidationError, model_validator

from shoal.errors import PolicyError, kind_of, listed, near, shortened
from shoal.model.column import FORMS, SEPARATOR, TRUTHFUL_FORMS, Column, Form, Kind, Role, Strict
from shoal.model.constraints import Constraints
from shoal.model.csv_style import STANDARD, CsvStyle
from shoal.model.mistakes import sentence
from shoal.model.options import Accept, Missing, Output, PolicyOptions, Protect, Refine, with_options
from shoal.model.overrides import overridden
from shoal.model.seeds import SEEDS, drawn_seed
from shoal.model.toml_keys import MOST_PARTS, has_long_key

__all__ = [
    "BLIND",
    "FORMS",
    "MOST_KNOWN",
    "MOST_TEXT",
    "NULL_WORDS",
    "SEPARATOR",
    "TRUTHFUL_FORMS",
    "Column",
    "Constraints",
    "Form",
    "Kind",
    "Method",
    "Missing",
    "Output",
    "Policy",
    "PolicySource",
    "Refine",
    "Role",
]

MOST_TEXT = 1 << 26  # bytes of a text file
MOST_KNOWN = 2  # items that an attacker knows, by default
BLIND = "bisection"  # the method that protects from minimality: it looks at quasi-identifiers alone
ROLES: tuple[Role, ...] = get_args(Role)
NULL_WORDS = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")


class Method(Strict):
    """The method and its parameters except k, and the refinement that may follow it."""

    name: str = Field("auto", description="A method listed by `shoal methods`.")
    parameters: dict[str, int | float | str | bool] = Field(
        default_factory=dict, description="Parameters of the method, as `shoal methods NAME` lists them, without k."
    )
    refine: Refine = Field("none", description="Effort of a local search that improves the groups afterwards.")

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if "k" in self.parameters:
            raise ValueError("k is a constraint, not a parameter of a method; set it as a constraint")
        return self


class Policy(Strict):
    """Everything that is decided before a release is made.

    `Policy.of` makes one from the options of `anonymize`, `Policy.load` from a file. The arguments of the class itself
    are the keys of such a file.

    Examples
    --------
    >>> policy = Policy.of(k=10, identifiers=["name"], sensitive=["diagnosis"])
    >>> policy.constraints.k, policy.columns["name"].role
    (10, 'identifier')
    """

    model_config = ConfigDict(
        json_schema_extra={"description": "A policy of shoal: the roles of columns, the constraints, the method."}
    )
    constraints: Constraints = Constraints()
    method: Method = Method()
    missing: Missing = Field("own-value", description="Treatment of rows with missing values.")
    output: Output | None = Field(
        None,
        description="Whether published values keep their type (same-schema) or are true of every row (truthful); by "
        "default truthful if a quasi-identifier has a hierarchy.",
    )
    seed: int | None = Field(
        None, ge=0, lt=SEEDS, description="Random seed, never published; by default drawn from the operating system."
    )
    label: str | None = Field(None, description="Column that analysts want to predict; sensitive or kept.")
    weight: str | None = Field(None, description="Numeric column of row weights; kept or an identifier.")
    null_words: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        NULL_WORDS, description="Unquoted words of a CSV file that mean a missing value."
    )
    header: bool | None = Field(
        None,
        description="Whether the first line of a CSV file is a header; detected by default.",
    )
    csv: CsvStyle | None = Field(None, description="How a CSV file is written; by default as the input was.")
    accept: Annotated[tuple[Accept, ...], Field(strict=False)] = Field(
        (), description="Risks that shoal would otherwise refuse, accepted by name."
    )
    protect: Protect | None = Field(
        None, description="Form groups almost independently of sensitive values; information loss is higher."
    )
    columns: dict[str, Column] = Field(
        default_factory=dict,
        description="Columns by name. An unlisted column is a quasi-identifier, unless it contains lists or clearly "
        "identifies people or rows.",
    )

    def __init__(self, **keys: Any) -> None:
        """Make a policy from the keys of a policy file; `Policy.of` takes the options of `anonymize`."""
        try:
            super().__init__(**keys)
        except ValidationError as mistakes:
            unknown = any(one["type"] == "extra_forbidden" for one in mistakes.errors())
            hint = " Policy.of takes the options of anonymize, such as Policy.of(k=5)." if unknown else ""
            raise PolicyError(f"{_refusal(mistakes)}{hint}") from None

    @model_validator(mode="after")
    def _protects(self) -> Self:
        if self.protect is None:
            return self
        if self.method.name not in ("auto", BLIND):
            raise ValueError(
                f"protect: 'minimality' has a method of its own, {BLIND}; the method must be 'auto' or '{BLIND}'; "
                f"got {self.method.name!r}"
            )
        if self.method.refine != "none":
            raise ValueError(
                f"protect: 'minimality' allows no search after the groups are made; refine must be 'none'; got "
                f"{self.method.refine!r}"
            )
        return self

    @classmethod
    @with_options("policy")
    def of(cls, policy: "PolicySource" = None, **options: Unpack[PolicyOptions]) -> "Policy":
        """Make a policy from a file, a mapping or another policy, with some of its values replaced.

        Parameters
        ----------
        policy : Policy, mapping or path, optional
        **options
            As in `anonymize`. Parameters of the method replace those of the same name; another method starts without
            any.
        """
        return cls._checked(overridden(cls._base(policy).as_dict(), options), options=True)

    @classmethod
    def _base(cls, policy: "PolicySource") -> "Policy":
        """Return the policy given in one of several forms."""
        if policy is None:
            return cls()
        if isinstance(policy, Policy):
            return policy
        if isinstance(policy, Mapping):
            return cls._checked(policy)
        if isinstance(policy, str | PathLike):
            return cls.load(policy)
        raise PolicyError(f"policy: {kind_of(policy)} is not a policy; give a file, a mapping or a Policy.")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Policy":
        """Read a policy from a TOML file."""
        where = Path(path)
        try:
            if where.exists() and (not where.is_file() or where.stat().st_size > MOST_TEXT):
                raise PolicyError(
                    f"policy: {str(where)!r} is not a policy file: it is a folder, a device or too large."
                )
            return cls.from_toml(where.read_text(encoding="utf-8-sig"), str(where))._beside(where)
        except FileNotFoundError:
            raise PolicyError(f"policy: there is no file {str(where)!r}. Make one with `shoal init`.") from None
        except PolicyError:
            raise
        except (OSError, ValueError):
            raise PolicyError(f"policy: {str(where)!r} cannot be read as a text file.") from None

    def _beside(self, file: Path) -> "Policy":
        """Return the policy with paths of hierarchy files resolved from the folder of `file`."""
        columns = {}
        for name, column in self.columns.items():
            given, found = column.hierarchy, column
            if isinstance(given, str):
                place = file.absolute().parent / given
                if given.endswith(".csv") or place.is_file():
                    found = column.model_copy(update={"hierarchy": str(place)})
            columns[name] = found
        return self.model_copy(update={"columns": columns})

    @classmethod
    def from_toml(cls, text: str, name: str = "") -> "Policy":
        """Read a policy from the text of a TOML file."""
        named = repr(name) if name else "the text"
        if has_long_key(text):
            raise PolicyError(f"policy: {named} is nested too deeply: a key has more than {MOST_PARTS} parts.")
        try:
            return cls._checked(tomllib.loads(text))
        except RecursionError:
            raise PolicyError(f"policy: {named} is nested too deeply.") from None
        except tomllib.TOMLDecodeError as mistake:
            hint = "" if text.isascii() else " Put names with letters beyond a to z in quotes."
            raise PolicyError(f"policy: {named} is not TOML: {mistake}.{hint}") from None

    @classmethod
    def _checked(cls, values: Mapping[str, Any], *, options: bool = False) -> "Policy":
        """Build the policy, or describe its first mistakes in one sentence; `options` says where they were made."""
        made = cls.__new__(cls)
        try:  # not by the class or model_validate: they call __init__, which names the mistakes by their keys
            cls.__pydantic_validator__.validate_python(values, self_instance=made)
        except ValidationError as mistakes:
            raise _refusal(mistakes, options=options) from None
        return made

    def as_dict(self) -> dict[str, Any]:
        """Return the keys that are set, as plain values, for JSON and TOML."""
        return self.model_dump(mode="json", exclude_none=True, exclude_unset=True)

    def to_toml(self) -> str:
        """Return the policy as the text of a TOML file."""
        return tomli_w.dumps(self.as_dict())

    def names(self, role: Role) -> list[str]:
        """Return the columns that have this role, in the order of the policy."""
        if not isinstance(role, str) or role not in ROLES:
            raise PolicyError(f"policy: unknown role {shortened(role)}. Known: {listed(ROLES)}.{near(role, ROLES)}")
        return [name for name, column in self.columns.items() if column.role == role]

    def refuse_unanswered(self) -> None:
        """Refuse constraints that no verdict can answer, given the roles of all columns, which the policy must list.

        Raises
        ------
        PolicyError

        Examples
        --------
        >>> Policy.of(k=2, quasi=["age"]).refuse_unanswered()
        >>> Policy.of(k=2, keep=["age"]).refuse_unanswered()
        Traceback (most recent call last):
        shoal.errors.PolicyError: policy: no column is a quasi-identifier or holds items, so there is nothing for k to \
count. Give at least one column the role quasi.
        """
        if problem := self.constraints.unanswered({column.role for column in self.columns.values()}):
            raise PolicyError(f"policy: {problem}")

    @property
    def start(self) -> int:
        """The random seed of a run; a policy without one must be `seeded` first."""
        if self.seed is None:
            raise ValueError("this policy has no seed yet")
        return self.seed

    def seeded(self) -> "Policy":
        """Return the policy with a random seed: its own, or one drawn from the operating system."""
        return self if self.seed is not None else self.model_copy(update={"seed": drawn_seed()})

    def published(self, levels: Mapping[str, Iterable[str]]) -> "Policy":
        """Return the policy as published in a release folder.

        The seed, words and codes for missing values, and levels that are not in the release are left out:
        `levels` gives the published levels of each sensitive ordinal column.
        """
        columns = {}
        for name, column in self.columns.items():
            order = tuple(levels[name]) if name in levels else None
            # t-closeness along a tree cannot be counted without it; for a sensitive column it has only released values.
            tree = set() if column.role == "sensitive" else {"hierarchy"}
            shown = column.model_dump(exclude_none=True, exclude={"missing_codes", "order", *tree})
            if order is not None:
                shown["order"] = order
            columns[name] = Column.model_validate(shown)
        kept: dict[str, Any] = {
            "constraints": self.constraints.published(),
            "method": self.method.model_dump(),
            "missing": self.missing,
        }
        named = {key: value for key in ("label", "weight", "protect") if (value := getattr(self, key)) is not None}
        if self.accept:
            named["accept"] = self.accept
        if self.csv is not None and self.csv != STANDARD:
            named["csv"] = self.csv.model_dump()
        return Policy.model_validate({**kept, **named, "columns": columns})


PolicySource = Policy | Mapping[str, Any] | str | PathLike[str] | None

_FIELDS = {
    "": tuple(Policy.model_fields),
    "constraints": tuple(Constraints.model_fields),
    "method": tuple(Method.model_fields),
    "columns": tuple(Column.model_fields),
}


def _refusal(mistakes: ValidationError, *, options: bool = False) -> PolicyError:
    """Return the error that describes the mistakes that pydantic found in a policy."""
    found = cast("list[dict[str, Any]]", mistakes.errors(include_url=False))
    return PolicyError(f"policy: {sentence(found, _FIELDS, options=options)}")
