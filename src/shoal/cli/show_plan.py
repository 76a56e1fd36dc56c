"""What `shoal anonymize --dry-run` prints."""

from typing import TYPE_CHECKING

from shoal.cli.drawing import as_json, console, row, say, table_of
from shoal.errors import counted

if TYPE_CHECKING:
    from shoal.pipeline.plan import RunPlan


def plan(found: "RunPlan", *, json: bool) -> None:
    """Show how each column would be treated, the constraints, the method and its expected cost."""
    if json:
        as_json(found.as_dict())
        return
    columns = table_of("column", "role", "kind", "published", "named")
    for one in found.columns:
        named = "in the policy" if one.named else "no: by default"
        row(columns, one.name, one.role, one.kind or "", one.published, named)
    console().print(columns)
    asked = ", ".join(f"{name} = {_shown(value)}" for name, value in found.constraints.items())
    say(f"Constraints: {asked}. The {counted(found.rows, 'row')} as a whole can meet them.")
    if found.suppressed:
        say(f"Suppressed: {counted(found.suppressed, 'row')} with missing values.")
    cost = found.expected
    given = "".join(f", {name} {value}" for name, value in cost.parameters.items())
    say(f"Method: {cost.method}{given}. Expected for the whole run: {cost}.")
    for note in found.notes:
        say(f"Note: {note}")
    say("Dry run: nothing was written. What the classes reveal is known only after clustering.")


def _shown(value: object) -> str:
    """Write a constraint as in a policy."""
    return f"{value:g}" if isinstance(value, float) else str(value)
