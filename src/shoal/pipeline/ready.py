"""Make a table ready for a method: read it, complete its policy, encode it, and refuse what cannot succeed."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import methods
from shoal.enforce import check_feasible
from shoal.io.text_columns import read_for
from shoal.model.notes import Note
from shoal.model.policy import Policy
from shoal.model.progress import announce, step
from shoal.model.table import Table
from shoal.pipeline.grouping import check_method
from shoal.pipeline.hierarchies import given_trees, with_values
from shoal.pipeline.strictness import Strictness
from shoal.prepare.arrange import arrange
from shoal.prepare.complete import complete
from shoal.prepare.encode import Encoded, encode
from shoal.prepare.profile import profile
from shoal.privacy.attacks.unchanged import refuse_unique_kept
from shoal.privacy.verdict.values import Values, read_column, sensitive_columns


class Ready(NamedTuple):
    """What a method needs, and how it was obtained."""

    table: Table  # as read
    policy: Policy  # complete
    notes: tuple[Note, ...]  # on the policy
    chosen: tuple[Note, ...]  # what `auto` chose for mixed columns
    arranged: Table  # the rows to be released
    encoded: Encoded
    sensitive: Mapping[str, Values]
    label: NDArray[np.int64] | None


def make_ready(source: Any, wanted: Policy, strictness: Strictness) -> Ready:
    """Read and encode a table; a policy that does not suit it, or that no release can meet, is refused."""
    step("read")
    table = read_for(source, wanted)
    step("profile")
    facts = profile(table)
    strictness.check_columns(wanted, table, facts)
    named, notes = complete(wanted, table, facts)
    strictness.check_notes(note.suppressed(table.n, named.constraints.k) for note in notes)
    chosen = tuple(note for note in notes if note.kind == "auto-choice")
    notes = tuple(note for note in notes if note.kind != "auto-choice")
    for note in chosen:
        announce(note)
    step("encode")
    arranged, trees = arrange(table, named), given_trees(named)
    refuse_unique_kept(arranged.data, named)
    named = with_values(named, arranged, trees)
    check_method(named, arranged.n)
    encoded = encode(arranged, named, trees, mixed=methods.declared(named.method.name, "data") == "mixed")
    sensitive = sensitive_columns(arranged.data, named)
    check_feasible(arranged.n, named.constraints, sensitive)
    label = None if named.label is None else read_column(arranged.column(named.label)).codes
    return Ready(table, named, notes, chosen, arranged, encoded, sensitive, label)
