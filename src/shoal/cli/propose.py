"""Files that commands write besides releases: a proposed policy, and the table of the demo."""

import os
import tempfile
from pathlib import Path

import pyarrow as pa
import tomli_w

from shoal.errors import WriteError
from shoal.io.bundle import is_left_over
from shoal.io.data_file import write_data
from shoal.model.policy import Column, Policy
from shoal.model.sentences import Sentence
from shoal.prepare.choosing import choose
from shoal.prepare.complete import usual_forms
from shoal.prepare.profile import Profile

HEAD = """\
# A policy for shoal, proposed from the table itself. Read every line before you use it:
#   identifier = dropped (give the column another role to publish it)
#   quasi      = quasi-identifier, published as one value per group (the default)
#   sensitive  = published unchanged, protected by l and t
#   keep       = published unchanged; must not help to re-identify anyone
#   items      = a set of items, of which an attacker may know some; reshuffled within each group
# Sensitive numbers, such as salaries, can be published per class
# (quasi: {form}, or form = "range") or unchanged (sensitive).
# If nearly all of them differ, publishing them unchanged makes rows unique, and this risk must be accepted:
# accept = ["unique-kept"]
"""


# How the heading describes the default form of numbers.
CALLED = {"mean": "the mean of the group", "representative": "the value of a typical row of the group"}


def propose(facts: Profile, k: int, *, header: bool | None = None) -> str:
    """Return the text of a policy file that names every column of the table.

    Policies are kept in version control and sent to others, so its comments have no number of fewer than k cells.
    """
    sensitive = any(column.role == "sensitive" for column in facts.columns)
    constraints = {"constraints": {"k": k, **({"l": 2} if sensitive else {})}}
    columns = {column.name: Column(role=column.role, kind=column.kind) for column in facts.columns}
    policy = Policy(columns=columns)
    forms = usual_forms(policy, choose(policy, columns)[0].name)
    parts = [
        HEAD.format(form=CALLED.get(forms["numeric"], forms["numeric"])),
        'missing = "own-value"\n' + ("" if header is None else f"header = {str(header).lower()}\n"),
        tomli_w.dumps(constraints),
        tomli_w.dumps({"method": {"name": "auto"}}),
    ]
    for column in facts.columns:
        entry: dict[str, str] = {"role": column.role}
        if column.kind != "ordinal":
            entry["kind"] = column.kind
        notes = (one.suppressed(facts.rows, k) if isinstance(one, Sentence) else one for one in column.notes)
        reasons = "".join(f"# {' '.join(line.split())}\n" for line in (column.reason, *notes) if line)
        parts.append(reasons + tomli_w.dumps({"columns": {column.name: entry}}))
    return "\n".join(parts)


def check_output(output: Path, *, force: bool) -> None:
    """Refuse an existing file before any work is done, unless `force` is given."""
    if not force and os.path.lexists(output):
        raise WriteError(f"init: {str(output)!r} already exists. Use --force to replace it.")


def write_policy(text: str, output: Path, *, force: bool) -> None:
    """Write the policy, with the folders above it; an existing file is replaced only with `force`."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as problem:
        check_output(output, force=force)  # it may have been made meanwhile
        raise WriteError(f"init: {str(output)!r} cannot be written: {problem.strerror}.") from None


def check_demo(folder: Path) -> None:
    """Refuse a folder that contains anything but an earlier demo."""
    try:
        found = {path.name for path in folder.iterdir()} if folder.exists() else set()
        names = {name for name in found if not is_left_over(name)}
    except OSError as problem:
        raise WriteError(f"demo: {str(folder)!r} cannot be written: {problem.strerror}.") from None
    if names and not (names <= {"hospital.csv", "private", "release"} and "release" in names):
        raise WriteError(f"demo: {str(folder)!r} contains other files. Choose a new folder with -o.")


def write_sample(table: pa.Table, folder: Path) -> Path:
    """Write the synthetic table beside its release, in one step."""
    with tempfile.TemporaryDirectory(prefix=".shoal-", dir=folder) as place:
        return (Path(place) / write_data(table, Path(place), "csv")).replace(folder / "hospital.csv")
