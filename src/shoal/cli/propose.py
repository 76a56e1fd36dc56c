"""A proposed policy: the profile's roles, each with its reason as a comment."""

from pathlib import Path

import tomli_w

from shoal.errors import WriteError
from shoal.prepare.profile import Profile

__all__ = ["propose", "write_policy"]

HEAD = """\
# A policy for shoal, proposed from the table itself. Read every line before you use it:
#   identifier = dropped          quasi = published as the value of a group (the default)
#   sensitive  = published as it is, protected by l and t     keep = published as it is
"""


def propose(facts: Profile, k: int) -> str:
    """Return the text of a policy file that names every column of the table."""
    sensitive = any(column.role == "sensitive" for column in facts.columns)
    constraints = {"constraints": {"k": k, **({"l": 2} if sensitive else {})}}
    parts = [
        HEAD,
        'missing = "own-value"\n',
        tomli_w.dumps(constraints),
        tomli_w.dumps({"method": {"name": "mdav"}}),
    ]
    for column in facts.columns:
        entry = {"role": column.role, **({"kind": column.kind} if column.kind != "ordinal" else {})}
        reasons = "".join(f"# {line}\n" for line in (column.reason, *column.notes) if line)
        parts.append(reasons + tomli_w.dumps({"columns": {column.name: entry}}))
    return "\n".join(parts)


def write_policy(text: str, output: Path, *, force: bool) -> None:
    """Write the policy, but not over one that is there."""
    try:
        with output.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise WriteError(f"init: {str(output)!r} is there already. Use --force to replace it.") from None
    except OSError as problem:
        raise WriteError(f"init: {str(output)!r} cannot be written: {problem.strerror}.") from None
