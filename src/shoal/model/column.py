"""One column of a policy: what it is, and how it is published."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Role = Literal["identifier", "quasi", "sensitive", "keep", "items"]
Kind = Literal["numeric", "ordinal", "nominal", "date", "boolean", "set"]
Form = Literal["mean", "median", "mode", "representative", "medoid", "range", "set", "tree"]

MOST_LEVELS = 64  # of a hierarchy, between a value and the root
SEPARATOR = "|"  # between the items of a set, where a policy names none
TRUTHFUL_FORMS: tuple[Form, ...] = ("range", "set", "tree")
FORMS: dict[Kind, tuple[Form, ...]] = {
    "numeric": ("mean", "median", "mode", "representative", "medoid", "range", "tree"),
    "date": ("mean", "median", "mode", "representative", "medoid", "range", "tree"),
    "ordinal": ("median", "mode", "representative", "medoid", "range", "set", "tree"),
    "nominal": ("mode", "representative", "medoid", "set", "tree"),
    "boolean": ("mode", "representative", "medoid", "set", "tree"),
    "set": ("mode",),
}


class Strict(BaseModel):
    """Refuse unknown keys and any later change."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Column(Strict):
    """What one column is and how it is published."""

    role: Role = Field(
        "quasi",
        description="identifier: not published; quasi: an attacker may know it; sensitive: an attacker wants to know "
        "it; keep: published unchanged; items: a set of items, of which an attacker may know some.",
    )
    kind: Kind | None = Field(None, description="Kind of its values; by default according to the type of the column.")
    form: Form | None = Field(
        None, description="How the value of a group is published; the default depends on kind, method and output."
    )
    order: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        None, description="The levels of an ordinal column, lowest first."
    )
    missing_codes: Annotated[tuple[float | str, ...], Field(strict=False)] = Field(
        (), description="Cells that stand for a missing value, such as -999."
    )
    importance: float | None = Field(
        None,
        gt=0,
        le=1e6,
        description="Relative importance of a quasi-identifier, 1 by default: multiplies its squared distances.",
    )
    hierarchy: str | dict[str, Any] | None = Field(
        None,
        description="Generalization hierarchy of its values: a CSV file, nested tables, or a keyword that builds one.",
    )
    view: str | None = Field(
        None, min_length=1, description="View to which a quasi-identifier belongs, for methods that use views."
    )
    separator: str | None = Field(
        None, min_length=1, max_length=8, description="Separator of the items of a set that is written as text."
    )
    group: int | None = Field(
        None, ge=2, le=10**9, description="Minimum number of rows among which items are reshuffled; 10k by default."
    )
    step: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Published numbers and limits of ranges are multiples of this; in days for dates.",
    )
    spelling: Literal["folded", "exact"] | None = Field(
        None,
        description="Whether spellings of one sensitive value count as one value (folded, the default) or not (exact).",
    )

    @model_validator(mode="after")
    def _is_shallow(self) -> Self:
        if isinstance(self.hierarchy, dict) and _too_deep(self.hierarchy):
            raise ValueError(f"the hierarchy has more than {MOST_LEVELS} levels")
        return self

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.step is not None and self.role != "quasi":
            raise ValueError(f"step is for quasi-identifiers, and this column has the role {self.role}")
        if self.spelling is not None and self.role != "sensitive":
            raise ValueError(f"spelling is for sensitive columns, and this one has the role {self.role}")
        if self.order is not None and len(set(self.order)) != len(self.order):
            raise ValueError("order has a duplicate level")
        if self.order is not None and self.kind not in (None, "ordinal"):
            raise ValueError(f"order is for ordinal columns, and this one is {self.kind}")
        if self.kind and self.form and self.form not in FORMS[self.kind]:
            raise ValueError(
                f"form {self.form!r} does not suit a {self.kind} column; choose {', '.join(FORMS[self.kind])}"
            )
        if self.importance is not None and self.role != "quasi":
            raise ValueError(f"importance is for quasi-identifiers, and this column has the role {self.role}")
        if self.hierarchy is not None and self.role not in ("quasi", "sensitive"):
            raise ValueError(
                f"hierarchy is for quasi-identifiers and sensitive columns, and this one has the role {self.role}"
            )
        if self.hierarchy is not None and self.role == "sensitive" and self.kind not in (None, "nominal"):
            raise ValueError(f"the hierarchy of a sensitive column is for categories, and this one is {self.kind}")
        if self.role == "items" and self.kind not in (None, "set"):
            raise ValueError(f"a column with the role items contains sets, and this one is {self.kind}")
        for what in ("separator", "group"):
            if getattr(self, what) is not None and self.role != "items":
                raise ValueError(f"{what} is for columns with the role items, and this one has the role {self.role}")
        if self.view is not None and self.role != "quasi":
            raise ValueError(f"view is for quasi-identifiers, and this column has the role {self.role}")
        return self


def _too_deep(hierarchy: dict[str, Any]) -> bool:
    """Return whether nested tables have too many levels; each level may have a list beside the tables below."""
    below: list[tuple[Any, int]] = [(hierarchy, 1)]
    while below:
        given, depth = below.pop()
        if depth > 2 * MOST_LEVELS + 1:
            return True
        inner = given.values() if isinstance(given, dict) else given
        below += [(one, depth + 1) for one in inner if isinstance(one, dict | list)]
    return False
