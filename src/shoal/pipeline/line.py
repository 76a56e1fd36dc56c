"""The pipeline: read, profile, encode, cluster, enforce, refine, recode, verify, measure; then write."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from shoal.catalogue import measures, methods
from shoal.catalogue.measure_card import taken
from shoal.catalogue.sections import parameters_of
from shoal.certify.check import VerificationReport, check_data, check_folder
from shoal.certify.released import is_text
from shoal.errors import PolicyError, ReadError
from shoal.io.bundle import is_folder, settle
from shoal.io.files import read
from shoal.io.frames import copied, reordered, to_frame
from shoal.io.text_columns import read_for
from shoal.kernels.threads import thread_count
from shoal.model.findings import Verdict
from shoal.model.notes import by_importance
from shoal.model.options import PolicyOptions, TableOptions, with_options
from shoal.model.partition import Partition
from shoal.model.policy import Policy, PolicySource
from shoal.model.progress import check_limits, cut_short, step
from shoal.model.release import Making, Release
from shoal.model.set_release import SetRelease
from shoal.model.table import Table, canonical, with_categories
from shoal.pipeline.allowance import affordable, allowing, current
from shoal.pipeline.answering import answer_of
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.displays import plot_of, report_of
from shoal.pipeline.grouping import make_groups, merged
from shoal.pipeline.items import exchange_items, grouped
from shoal.pipeline.notes import (
    about_labels,
    ended_early,
    extremes,
    hidden,
    left_out,
    of_method,
    respelt,
    unusual,
    warnings,
    with_plug_in,
)
from shoal.pipeline.recoding import recode_classes
from shoal.pipeline.regrouping import Regrouping, inference_by_repetition
from shoal.pipeline.set_neighbours import redrawn
from shoal.pipeline.strictness import Strictness
from shoal.pipeline.unused_memory import return_unused_memory
from shoal.pipeline.write import refuse_uncovered, refuse_unless, write
from shoal.prepare.complete import complete
from shoal.prepare.declared import profile_declared
from shoal.prepare.encode import Encoded
from shoal.prepare.profile import Profile
from shoal.prepare.profile import profile as profile_table
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.judge import judge
from shoal.recode.table import Recoded
from shoal.utility.plane import plane_of_some

MOST_KEPT = 20_000_000  # maximum cells of the matrix that a release keeps for its holder's report


@without_arrow_errors
@with_options("anonymize", parameters_of)
def anonymize(
    source: Any,
    *,
    policy: PolicySource = None,
    threads: int | None = None,
    budget: float | None = None,
    memory: str | float | None = None,
    strict: bool = False,
    strict_notes: str | Iterable[str] | None = None,
    **options: Unpack[PolicyOptions],
) -> Release:
    """Anonymize a table, so that every row shares its published quasi-identifiers with at least k - 1 others.

    Parameters
    ----------
    source : path or frame
        A CSV, Parquet or Feather file; a pandas, polars or pyarrow frame; a two-dimensional numpy array, whose columns
        are called x0, x1 and so on; a dict of columns; or a list of dicts.
    policy : Policy, mapping or path, optional
        The role of each column and the constraints. The options below override it.
    threads : int, optional
        Number of threads; all cores if not given. The release does not depend on it.
    budget : float, optional
        Seconds that the whole run may take. A search stops early with the best result so far; then another run may
        give different groups, and a note says so. A run that cannot end in time is refused.
    memory : str or float, optional
        Memory that the whole run may take: "2GB", or a number of bytes. A run that needs more is refused.
    strict : bool
        Whether to refuse a table that differs from the policy: a column that the policy does not name, one of another
        kind than it states, or one dropped because it looks like a direct identifier.
    strict_notes : iterable of str, optional
        Kinds of notes that are refused, such as "minimality"; there is no release if one occurs.
    k : int, optional
        Minimum number of rows that share their published quasi-identifiers; 5 by default.
    l : float, optional
        Minimum number of different sensitive values in each class.
    t : float, optional
        Maximum distance, 0 to 1, of the distribution of sensitive values in a class from that in the whole release.
    l_kind : {"distinct", "entropy", "recursive"}, optional
        How l is counted; "distinct" by default. "recursive" also needs constraints={"c": ...}.
    m : int, optional
        Number of items of a set that an attacker may know; 2 by default.
    constraints : mapping, optional
        Other constraints by name, such as {"alpha": 0.5}; also models of plug-ins.
    identifiers, quasi, sensitive, keep, items : iterables of str, optional
        The columns of each role. Identifiers are dropped, and quasi-identifiers are published as one value per class.
        Sensitive and kept columns are published unchanged; l and t protect the sensitive ones. A column of the role
        items contains sets. An unlisted column is a quasi-identifier, unless it contains lists (role items) or clearly
        identifies people or rows (dropped as an identifier).
    hierarchies : mapping, optional
        The generalization hierarchy of a column: nested mappings and lists, a CSV file, or a keyword such as "mask".
    label : str, optional
        The column that analysts want to predict; it must be sensitive or kept.
    weight : str, optional
        The column of row weights; it must be kept or an identifier.
    missing : {"own-value", "suppress-row", "refuse"}, optional
        How missing values are treated: as a value of their own (the default), by leaving out the row, or by an error.
    header : bool, optional
        Whether the first line of a CSV file is a header; detected if not given, and refused if unclear.
    method : str, optional
        A method of `shoal.methods()`; "auto" by default.
    parameters : mapping, optional
        Parameters of the method, such as {"effort": "quick"}.
    refine : {"none", "swift", "quick", "normal", "thorough"}, optional
        Effort of a local search that improves the groups afterwards; "none" by default.
    output : {"same-schema", "truthful"}, optional
        Whether columns keep their types, or are published as ranges, sets and tree nodes that are true of every row;
        "truthful" by default if a hierarchy is given.
    protect : {"minimality"}, optional
        Form groups almost independently of sensitive values, at the cost of a higher information loss.
    accept : iterable of {"unique-kept"}, optional
        Risks to accept that are refused by default: "unique-kept" if sensitive and kept columns, which are published
        unchanged, make many rows unique.
    seed : int, optional
        Random seed. If not given, one is drawn from the system; it is kept in `release.policy.seed` and in the private
        folder, from which `shoal.seed_of` reads it.

    Returns
    -------
    Release
        Already verified. `.data` is of the caller's type (an Arrow table for a file), in the published row order;
        `.aligned()` has the order and the index of the input and is confidential.

    Guarantee
    ---------
    The judge has checked the constraints on the released values. If one does not hold, GuaranteeError is raised
    and there is no release.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> table = pa.table({"age": [34, 36, 35, 61, 60, 62], "ill": ["a", "b", "a", "b", "b", "a"]})
    >>> release = shoal.anonymize(table, k=3, sensitive=["ill"])
    >>> release.data["age"].to_pylist()
    [35, 35, 35, 61, 61, 61]
    """
    wanted = Policy.of(policy, **options).seeded()
    strictness = Strictness.of(strict, strict_notes)
    workers = thread_count(threads, "anonymize")
    with allowing(budget, memory):
        return _run(source, wanted, workers, strictness)


def _run(source: Any, wanted: Policy, threads: int, strictness: Strictness) -> Release:
    """Run the pipeline from reading to measuring."""
    limits = current()
    ready = affordable(source, wanted, strictness, threads)[0]
    table, named, notes, chosen, arranged, encoded, sensitive, label = ready
    del ready
    made = make_groups(encoded, grouped(named, arranged.n), sensitive, threads, label)
    found, partition = made.found, made.partition
    notes = (*notes, *merged(found, made.enforced, named))
    step("recode")
    recoded, partition = recode_classes(arranged, partition, named, encoded, sensitive)
    recoded, exchanged = exchange_items(arranged, recoded, partition, named)
    named = recoded.policy
    step("verify")
    verdicts = judge(recoded.data, named)
    refuse_unless(verdicts)
    refuse_uncovered(arranged, recoded.data, named, encoded.trees)
    return_unused_memory()
    step("measure")
    release = _release(source, table, arranged, recoded, partition, encoded, verdicts)
    cut, n, k = cut_short(), arranged.n, named.constraints.k
    repeated = Regrouping(arranged, named, encoded.trees, recoded.data, encoded)
    inferred, inference = inference_by_repetition(made, named, repeated, measured=limits.seconds is None)
    built_in = methods.load(named.method.name).built_in
    of_columns = (*extremes(arranged, named), *about_labels(arranged, named), *hidden(arranged, named), *notes)
    own = (*left_out(encoded), *of_method(partition.notes, n, k, built_in=built_in))
    last = (*respelt(sensitive), *own, *unusual(table), *chosen, *ended_early(limits.seconds, cut=cut))
    drawn = plane_of_some(partition.labels, k, encoded.rows) if found.sketches else None
    recoded = replace(recoded, data=release.table)
    del table, arranged, encoded, repeated  # measures need memory themselves, and use none of these
    return_unused_memory()
    measured = taken(release._making.case, [measures.load(name) for name in measures.having("always")])
    ours = (*measured, *exchanged, *inferred)
    findings = (*measured, *exchanged, *partition.findings, *inferred) if built_in else with_plug_in(ours, partition)
    noted = findings if built_in else ours
    every = (*warnings(recoded, named, noted, release._making.case), *inference, *of_columns, *last)
    all_notes = by_importance(note.suppressed(n, k) for note in every)
    strictness.check_notes(all_notes)
    return_unused_memory()
    check_limits()
    step("")
    sketches = found.sketches if drawn is None else (*found.sketches, drawn)
    making = replace(release._making, sketches=sketches, refused=strictness.notes)
    return replace(release, findings=findings, notes=all_notes, _making=making)


@without_arrow_errors
@with_options("profile")
def profile(source: Any, *, policy: PolicySource = None, header: bool | None = None) -> Profile:
    """Describe each column of a table: kind, missing values, uniqueness, and its role with a reason.

    Parameters
    ----------
    source : path or frame
        As in `anonymize`.
    policy : Policy, mapping or path, optional
        Its roles, kinds and codes for missing values are used, as in `anonymize`, and rows are compared in its
        quasi-identifiers. Roles are proposed if it names no column.
    header : bool, optional
        Whether the first line of a CSV file is a header; detected if not given, and refused if unclear.

    Returns
    -------
    Profile
    """
    step("read")
    wanted = Policy.of(policy, header=header)
    return profile_declared(read_for(source, wanted), wanted)


@without_arrow_errors
@with_options("verify")
def verify(
    source: Any,
    *,
    policy: PolicySource = None,
    parse: bool = False,
    report: bool = True,
    **options: Unpack[TableOptions],
) -> VerificationReport:
    """Check a release folder from its bytes, or check the constraints in any file or frame.

    Parameters
    ----------
    source : path or frame
        A release folder, of a table or of sets; or a table, checked against `policy` and the options.
    policy : Policy, mapping or path, optional
        For tables only, like the options.
    parse : bool
        Whether the quasi-identifiers of a CSV file are compared as numbers, dates and missing values. By default their
        text is compared: a reader can tell 0.3 from 0.30 and `NA` from `?`. Sensitive values are always parsed, because
        two spellings of one value are one value.
    report : bool
        Whether the report of a release folder is rendered again and compared.
    **options
        Constraints, roles and how the file is read, as in `anonymize`. If `quasi` is given, unlisted columns are
        ignored; otherwise they are quasi-identifiers.

    Returns
    -------
    VerificationReport
        `.holds` says whether everything is as claimed; `.columns` gives the role of each column.
    """
    if isinstance(source, Release | SetRelease):
        raise ReadError(
            "verify: a release in memory has already been verified: see its `verdicts`. Give the folder that `save` "
            "wrote."
        )
    if isinstance(source, str | PathLike):
        settle(Path(source))
    if is_folder(source):
        if policy is not None or any(value not in (None, [], ()) for value in options.values()):
            raise PolicyError(
                "verify: a release folder contains its own policy. Give no options, or verify the data file inside it."
            )
        step("verify")
        return check_folder(source, _page if report else None, redrawn)
    step("read")
    wanted = Policy.of(policy, **options)
    if isinstance(source, str | PathLike) and not Path(source).exists():
        raise ReadError(
            f"verify: {str(Path(source))!r} does not exist; expected a release folder or a table. Check the path."
        )
    table = read(source, wanted.null_words, header=wanted.header)
    named, _ = complete(
        _only(wanted, table.names, quasi_named=bool(options.get("quasi"))),
        table,
        profile_table(table),
        drop_direct=False,
    )
    data = table.data
    if not parse and is_text(table.origin.format):
        text = read(source, ("",), header=wanted.header, as_text=True)
        quasi = set(named.names("quasi"))
        data = pa.table({name: (text if name in quasi else table).column(name) for name in table.names})
    return check_data(data.drop_columns(named.names("identifier")), named)


def _page(folder: Path, verdicts: Sequence[Verdict]) -> str:
    """Render the public report of a folder; imported late, since reporting imports this module."""
    from shoal.pipeline.reporting import public_page

    return public_page(folder, verdicts)


def _release(
    source: Any,
    table: Table,
    arranged: Table,
    recoded: Recoded,
    partition: Partition,
    encoded: Encoded,
    verdicts: tuple[Verdict, ...],
) -> Release:
    """Assemble the release, in the order of the input and sorted by its own values, with the pair to measure."""
    policy, back = recoded.policy, np.argsort(arranged.rows, kind="stable")
    aligned, original = recoded.data.take(pa.array(back)), arranged.take(back)
    order = canonical(aligned)
    position = np.empty(order.size, np.int64)
    position[order] = np.arange(order.size)
    public = with_categories(aligned.take(pa.array(order)), table)
    # Unless columns were turned into categories above, `aligned` is what is measured: no second copy of the rows.
    released = aligned if public.schema == aligned.schema else public.take(pa.array(position))
    groups = partition.labels[back]
    kept = encoded.columns is None and encoded.X.size <= MOST_KEPT
    case = Case(
        released,
        policy,
        original=original,
        trees=encoded.trees,
        places=position,
        groups=groups,
        matrix=encoded.X[back] if kept else None,
        regroup=Regrouping(original, policy, encoded.trees, released),
    )
    return Release(
        table=public,
        rows=arranged.rows[back],
        policy=policy,
        verdicts=verdicts,
        findings=(),
        ledger=recoded.ledger,
        suppressed=table.n - arranged.n,
        notes=(),
        _making=Making(
            aligned=to_frame(aligned, table.origin.frame, arranged.rows[back]),
            position=position,
            partition=Partition.of(groups, partition.notes, partition.findings),
            inputs=table.n,
            format=table.origin.format,
            sketches=(),
            sketched=encoded.names,
            reorder=reordered,
            copied=copied,
            writer=write,
            reporter=report_of,
            answerer=answer_of,
            plotter=plot_of,
            source=source,
            case=case,
            csv=table.origin.csv,
        ),
    )


def _only(policy: Policy, names: list[str], *, quasi_named: bool) -> Policy:
    """Drop identifiers that the table lacks, and ignore unlisted columns if quasi-identifiers are given."""
    gone = [name for name in policy.names("identifier") if name not in names]
    columns = {name: column for name, column in policy.columns.items() if name not in gone}
    policy = policy.model_copy(update={"columns": columns})
    if not quasi_named:
        return policy
    others = [name for name in names if name not in policy.columns]
    return Policy.of(policy, keep=others)
