"""The constraints of a policy: what the judge must confirm for a release, and what each of them needs to be counted."""

import math
from collections.abc import Collection
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from shoal.model.asking import constraint, option
from shoal.model.column import Role, Strict

LKind = Literal["distinct", "entropy", "recursive"]

# What answers a constraint: columns of a role, or another constraint whose counting it defines.
ANSWERED_BY: dict[str, Role | Literal["l", "beta"]] = {
    "k": "quasi",
    "l": "sensitive",
    "l_kind": "l",
    "c": "l",
    "t": "sensitive",
    "alpha": "sensitive",
    "beta": "sensitive",
    "beta_kind": "beta",
    "delta": "sensitive",
    "m": "items",
    "others": "sensitive",
}


class Constraints(Strict):
    """What the judge must confirm for the release."""

    k: int = Field(5, ge=2, le=10**9, description="Minimum size of an equivalence class.")
    l: float | None = Field(  # noqa: E741
        None, gt=1, le=1e9, description="Minimum number of different sensitive values per class."
    )
    l_kind: LKind = Field("distinct", description="How sensitive values are counted for l.")
    c: float | None = Field(
        None,
        gt=0,
        le=1e9,
        description="For recursive l: the most frequent value of a class must occur less than c times as often as all "
        "values from the l-th most frequent on together.",
    )
    t: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Maximum distance of a class's distribution of sensitive values from that of the whole release.",
    )
    alpha: float | None = Field(None, gt=0, le=1, description="Maximum share of a sensitive value in a class.")
    beta: float | None = Field(
        None,
        gt=0,
        le=1e9,
        description="Maximum relative increase of a sensitive value's share from the whole release to a class.",
    )
    beta_kind: Literal["basic", "enhanced"] = Field(
        "basic", description="Whether common values have the limit beta (basic) or a stricter one (enhanced)."
    )
    delta: float | None = Field(
        None,
        gt=0,
        le=1e9,
        description="Maximum difference between the logarithms of a sensitive value's shares in a class and in the "
        "whole release.",
    )
    m: int | None = Field(
        None, ge=1, le=1000, description="Number of items of a set that an attacker may know; 2 by default."
    )
    others: dict[str, float] = Field(default_factory=dict, description="Constraints of plug-in models, by name.")

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.l is not None and self.l_kind != "entropy" and self.l != int(self.l):
            raise ValueError(f"l counts distinct values and must be a whole number; got {self.l:g}")
        if self.l_kind == "recursive" and (self.l is None or self.c is None):
            raise ValueError(f"recursive l-diversity needs both l and c; c is given by {constraint('c')}")
        if self.c is not None and self.l_kind != "recursive":
            raise ValueError("c is for recursive l-diversity only; set l_kind to 'recursive', or leave c out")
        if unbounded := [name for name, value in self.others.items() if not math.isfinite(value)]:
            raise ValueError(f"others: the value of {unbounded[0]!r} must be a finite number")
        return self

    def asked(self) -> list[str]:
        """Return the names of the constraints that were set; k is always one of them."""
        return [
            name
            for name in type(self).model_fields
            if name == "k" or (name in self.model_fields_set and getattr(self, name) not in (None, {}))
        ]

    def on_sensitive(self) -> list[str]:
        """Return the names of the constraints that were set and limit sensitive values."""
        return [name for name in self.asked() if ANSWERED_BY.get(name) == "sensitive"]

    def unanswered(self, roles: Collection[Role]) -> str:
        """Say which constraint no verdict can answer if the columns have these roles; an empty string if all can be.

        A constraint that is not in `ANSWERED_BY` counts as unanswered, so that a new one cannot be dropped silently.

        Examples
        --------
        >>> Constraints(k=2, alpha=0.3).unanswered({"quasi", "keep"})[:70]
        'constraint alpha needs a sensitive column, and there is none. Name one'
        """
        asked = self.asked()
        if not {"quasi", "items"} & set(roles):
            return (
                "no column is a quasi-identifier or holds items, so there is nothing for k to count. "
                "Give at least one column the role quasi."
            )
        for name in asked:
            needs = ANSWERED_BY.get(name)
            if needs is None:
                return f"constraint {name} is not answered by any verdict. Leave it out."
            if needs in ("l", "beta") and getattr(self, needs) is None:
                return (
                    f"constraint {name} says how {needs} is counted, but there is no constraint {needs}. "
                    f"Set {needs}, or leave {name} out."
                )
        if "m" in asked and "items" not in roles:
            return "constraint m is for sets, and no column has the role items. Name one, or leave m out."
        needy = self.on_sensitive()
        if needy and "sensitive" not in roles:
            s, verb = ("s", "need") if len(needy) > 1 else ("", "needs")
            return (
                f"constraint{s} {' and '.join(needy)} {verb} a sensitive column, and there is none. "
                f"Name one ({option('sensitive', 'COLUMN')}), or leave the constraint{s} out."
            )
        return ""

    def published(self) -> dict[str, Any]:
        """Return the constraints as a release states them: kinds of counting only beside what they count."""
        stated = self.model_dump(exclude_none=True)
        return {
            name: value
            for name, value in stated.items()
            if ANSWERED_BY.get(name) not in ("l", "beta") or getattr(self, str(ANSWERED_BY[name])) is not None
        }
