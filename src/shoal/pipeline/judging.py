"""Measure and attack a release, whether or not shoal made it.

1. The inputs become a `Case`: the release and the original, row by row. A release folder is aligned by the map in the
   holder's private folder, a `Release` by itself, and any other table must already be aligned.
2. The selected measures, or all, are computed on the case. Figures of the pair are confidential.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.catalogue import attacks, measures
from shoal.catalogue.measure_card import refuse_empty, taken
from shoal.certify.certificate import POLICY, data_files
from shoal.certify.check import check_folder, holds_sets
from shoal.errors import DataError, MethodError, PolicyError, listed, near, shortened
from shoal.io.bundle import is_folder, settle
from shoal.io.text_columns import read_for
from shoal.model.asking import argument, in_seconds, one_or_several, option
from shoal.model.findings import Attack, Finding
from shoal.model.options import Known, TableOptions, with_options
from shoal.model.policy import Policy, PolicySource
from shoal.model.progress import step
from shoal.model.release import Release
from shoal.model.seeds import SEEDS
from shoal.model.set_release import SetRelease
from shoal.model.table import Table
from shoal.pipeline.alignment import other_rows, refuse_other_labels, refuse_published_order, refuse_shuffled
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.pipeline.attempts import tried
from shoal.pipeline.hierarchies import given_trees
from shoal.pipeline.private import read_private
from shoal.pipeline.regrouping import Regrouping
from shoal.pipeline.write import read_back
from shoal.prepare.arrange import arrange
from shoal.prepare.complete import complete
from shoal.prepare.profile import profile as profile_table
from shoal.prepare.trees import hierarchies
from shoal.privacy.attacks.attack import profiles
from shoal.privacy.measures.case import Case
from shoal.privacy.verdict.values import read_column

Places = NDArray[np.int64]
Aligned = tuple[Policy, Table | None, pa.Table, Places | None, Places | None]


class CaseOptions(TableOptions, total=False):
    """What else is known about a release and its original: options of `measure` and `attack`."""

    policy: PolicySource
    private: str | Path | None
    population: Any
    fraction: float | None
    control: Any
    other: Any
    seed: int | None


@without_arrow_errors
@with_options("measure")
def measure(
    original: Any, release: Any, *, only: str | Iterable[str] = (), **options: Unpack[CaseOptions]
) -> tuple[Finding, ...]:
    """Measure the disclosure risk and the utility of a release.

    Parameters
    ----------
    original : path, frame or None
        The original table; without it, only measures that need the release alone are computed.
    release : Release, folder, path or frame
        With an original, a folder needs `private`, which contains its map. Any other table must have its rows in the
        order of the original, as `release.aligned()` has; `release.data` is refused. Its roles are given by `policy` or
        by options, and an unlisted column is a quasi-identifier.
    only : str or iterable of str
        Names of `shoal.measures()`; all that apply if none is given.
    policy : Policy, mapping or path, optional
        Roles and constraints, for a table that shoal did not release.
    private : path, optional
        The private folder of a release folder, whose map aligns its rows.
    population : path or frame, optional
        The population that the table is a sample of, with quasi-identifiers in the released form.
    fraction : float, optional
        The sampling fraction: the share of the population that is in the release.
    control : path or frame, optional
        Similar people who are not in the release.
    other : path or frame, optional
        Another release of the same people, with rows in the order of the original.
    seed : int, optional
        Random seed of the measures that need one; 0 if not given.
    **options
        Roles and constraints as in `anonymize`, instead of a policy. Like the policy, they are refused for a `Release`
        or a release folder, which has its own.

    Returns
    -------
    tuple of Finding
        Those whose `need` is not "release" are confidential. A measure that does not apply, for lack of a label or a
        population for instance, gives none, and is refused if `only` names it.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> table = pa.table({"age": [34, 36, 35, 61, 60, 62], "ill": ["a", "b", "a", "b", "b", "a"]})
    >>> release = shoal.anonymize(table, k=3, sensitive=["ill"])
    >>> [round(finding.value, 3) for finding in shoal.measure(table, release, only=["k-anonymity", "t-closeness"])]
    [3.0, 0.167]
    """
    names = one_or_several(only, "measure", "only", MethodError)
    wanted = [measures.load(name) for name in names] or list(measures.cards().values())
    step("measure")
    case = case_of(original, release, **options)
    able = [card for card in wanted if card.need == "release" or case.original is not None]
    if names and len(able) < len(wanted):
        missing = [card.name for card in wanted if card not in able]
        raise DataError(f"measure: {listed(missing)} need the original table as well as the release. Give both.")
    if names:  # a plug-in that was asked for by name may fail
        refuse_empty([card for card in able if not card.take(case)])
    found = taken(case, able)
    step("")
    return found


@without_arrow_errors
@with_options("attack")
def attack(
    original: Any,
    release: Any,
    *,
    profile: Known = "all",
    only: str | Iterable[str] = (),
    budget: float | None = None,
    **options: Unpack[CaseOptions],
) -> tuple[Attack, ...]:
    """Attack a release as an attacker who knows some columns of each person would, and report the success rates.

    Parameters
    ----------
    original : path or frame
        The original table, against which guesses are scored.
    release : Release, folder, path or frame
        As in `measure`.
    profile : {"all", "all-but-one", "three"}
        Which quasi-identifiers the attacker knows: all, all but one, or three of them.
    only : str or iterable of str
        Names of `shoal.attacks()`; all of them if none is given.
    budget : float, optional
        Seconds for all attacks together. Each gets an equal share of the remaining time; its note says if it was cut
        short.
    **options
        As in `measure`.

    Returns
    -------
    tuple of Attack
    """
    names = one_or_several(only, "attack", "only", MethodError)
    wanted = [attacks.load(name) for name in names] or list(attacks.cards().values())
    seconds = None if budget is None else in_seconds(budget, "attack")
    step("attack")
    case = case_of(original, release, **options)
    if case.original is None:
        raise DataError("attack: an attack is scored against the original table. Give it with the release.")
    known = profiles(case)
    if not isinstance(profile, str) or profile not in known:
        raise DataError(
            f"attack: unknown profile {shortened(profile)} for this table. Known: {listed(known)}."
            f"{near(profile, known)}"
        )
    found = tried(case, wanted, known[profile], seconds, strict=bool(names))
    step("")
    return found


def case_of(
    original: Any,
    release: Any,
    *,
    policy: PolicySource = None,
    private: str | Path | None = None,
    population: Any = None,
    fraction: float | None = None,
    control: Any = None,
    other: Any = None,
    seed: int | None = None,
    **options: Unpack[TableOptions],
) -> Case:
    """Return the case to measure; the options are those of `measure`."""
    if fraction is not None and not (_is_number(fraction, Real) and 0 < fraction <= 1):
        raise DataError(f"population: {argument('fraction')} must be above 0 and at most 1; got {shortened(fraction)}.")
    if seed is not None and not (_is_number(seed, Integral) and 0 <= seed < SEEDS):
        raise DataError(
            f"measure: {argument('seed')} must be a whole number from 0 to {SEEDS - 1}; got {shortened(seed)}."
        )
    refuse_swapped(original)
    if isinstance(release, Release) or is_folder(release):
        _refuse_policy(policy, options)
    wanted = Policy.of(policy, **options)
    pair = _pair(original, release, private, wanted)
    named, beside_it = pair.policy, None if other is None else read_for(other, pair.policy)
    if beside_it is not None and pair.original is not None:
        refuse_other_labels(other, original, "other")
        refuse_published_order(other, beside_it, pair.original, "other")
    more = {
        "population": None if population is None else read_for(population, named).data,
        "fraction": fraction,
        "control": None if control is None else read_for(control, named),
        "other": None if beside_it is None else beside_it.data,
        "seed": int(seed) if seed else None,
    }
    asked = {name: value for name, value in more.items() if value is not None}
    return replace(pair, **asked) if asked else pair  # type: ignore[arg-type]


def refuse_swapped(original: Any, what: str = "table") -> None:
    """Refuse a release, in memory or a folder, in the place of the original; `what` the original is."""
    if isinstance(original, Release | SetRelease) or is_folder(original):
        kind = "folder" if is_folder(original) else "release"
        raise DataError(f"original: this is a {kind}. Give the original {what} first, then the release.")


def _refuse_policy(policy: PolicySource, options: Mapping[str, Any]) -> None:
    """Refuse roles and constraints for a release, which has its own."""
    given = [name for name, value in options.items() if value not in (None, [], (), {})]
    if policy is not None or given:
        names = [argument(name) for name in (*(["policy"] if policy is not None else []), *given)]
        raise PolicyError(f"measure: a release has its own policy. Give no other: leave out {', '.join(names)}.")


def _pair(original: Any, release: Any, private: str | Path | None, wanted: Policy) -> Case:
    """Return the aligned release and original; the pair kept from making the release if there is one."""
    if isinstance(release, Release) and release._making.made_from(original):
        pair: Case = release._making.case
        return pair
    named, table, released, places, groups = _aligned(original, release, private, wanted)
    if table is None:
        return Case(released, named, places=places)
    trees, own = hierarchies(table, named, given_trees(named)), isinstance(release, Release)
    return Case(
        released,
        named,
        original=table,
        trees=trees,
        places=places,
        groups=groups,
        regroup=Regrouping(table, named, trees, released) if own or is_folder(release) else None,
    )


def refuse_sets(release: Any, who: str) -> None:
    """Refuse a release of sets, which has no rows and columns."""
    if isinstance(release, SetRelease) or (is_folder(release) and holds_sets(release)):
        raise DataError(
            f"{who}: this is a release of sets, not of a table. Measure it by `shoal.sets.report` in Python, or by "
            "`shoal sets report` on the command line."
        )


def _is_number(value: Any, kind: Any) -> bool:
    """Return whether a value is a number of a kind, and not a truth value."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def _aligned(original: Any, release: Any, private: str | Path | None, wanted: Policy) -> Aligned:
    """Return the policy, the aligned original and release, the places of the rows in the file, and their groups."""
    if isinstance(release, Release):
        named, places = release.policy, release._making.position
        if original is not None:
            refuse_shuffled(release, original)
        table = None if original is None else _rows_of(original, named, release.rows)
        data = release.table.take(pa.array(places))
        _refuse_other_rows(table, data, named)
        return named, table, data, places, release.labels
    if isinstance(release, str | PathLike):
        settle(Path(release), private)
    refuse_sets(release, "release")
    if is_folder(release):
        return _of_folder(original, Path(release), private)
    released = read_for(release, wanted)
    table = None if original is None else read_for(original, wanted)
    whole = released if table is None else table
    named, _ = complete(wanted, whole, profile_table(whole), drop_direct=False)
    missing = [
        name for name in named.columns if name not in released.names and named.columns[name].role != "identifier"
    ]
    if missing:
        raise DataError(f"release: it has no columns {listed(missing)}. Declare them as identifiers.")
    extra = [name for name in released.names if name not in named.columns]
    if extra:
        raise DataError(
            f"release: it has columns {listed(extra)}, which the original lacks. They may reveal more than "
            "is measured: add them to the original, or leave them out."
        )
    if table is not None and table.n != released.n:
        raise DataError(
            f"release: it has {released.n:,} rows, but the original has {table.n:,}. A table that shoal did not "
            "release must have its rows in the order of the original."
        )
    if table is not None:
        refuse_other_labels(release, original)
        refuse_published_order(release, released, table)
    kept = [name for name in released.names if name in named.columns and named.columns[name].role != "identifier"]
    rows = None if table is None else _rows_of(original, named, np.arange(table.n))
    return named, rows, released.data.select(kept), None, None


def _of_folder(original: Any, folder: Path, private: str | Path | None) -> Aligned:
    """Return the content of a release folder, aligned by the map of the private folder if there is an original."""
    checked = check_folder(folder)
    if not checked.holds:
        why = " ".join(checked.missing) or "Run `shoal verify` on it first."
        raise DataError(f"release: {str(folder)!r} does not pass verification. {why}")
    data = next(folder / name for name in data_files() if (folder / name).is_file())
    if private is None:
        if original is not None:
            raise DataError(
                "release: the rows of a release folder are not in the order of the original. Give the private folder "
                f"written with it ({option('private', 'FOLDER')})."
            )
        named = Policy.load(folder / POLICY)
        return named, None, read_back(data, named), None, None
    named, places, groups = read_private(Path(private), folder, "released_row", _mapped)
    released = read_back(data, named)
    if original is None:
        return named, None, released, None, None
    rows = np.flatnonzero(places >= 0)
    table, data = _rows_of(original, named, rows), released.take(pa.array(places[rows]))
    _refuse_other_rows(table, data, named)
    return named, table, data, places[rows], groups


def _refuse_other_rows(table: Table | None, released: pa.Table, policy: Policy) -> None:
    """Refuse an original whose columns that were published unchanged differ from the release row by row."""
    if table is None:
        return
    for name in (*policy.names("sensitive"), *policy.names("keep")):
        before, after = table.column(name), released.column(name)
        if pa.types.is_nested(before.type) or pa.types.is_nested(after.type):
            continue
        sides = [read_column(one).codes for one in (before, after)]
        if len(np.unique(np.column_stack(sides), axis=0)) > len(np.unique(sides[0])):
            raise other_rows(name)


def _mapped(facts: dict[str, Any], places: Places) -> tuple[Policy, Places, Places | None]:
    """Return policy, map and groups of a private folder; no two rows may map to the same released row."""
    kept = places[places >= 0]
    groups = np.array(facts["groups"].split(), np.int64) if "groups" in facts else None
    if kept.size and (np.unique(kept).size < kept.size or int(kept.max()) >= kept.size):
        raise ValueError
    if groups is not None and (groups.size != kept.size or groups.min(initial=0) < 0):
        raise ValueError
    return Policy.of(facts["policy"]), places, groups


def _rows_of(original: Any, policy: Policy, rows: Places) -> Table:
    """Return these rows of the original, typed as they were when the release was made, without columns added since."""
    table = read_for(original, policy)
    unknown = [name for name in policy.columns if name not in table.names]
    if unknown:
        raise DataError(f"original: it has no columns {listed(unknown)}, so it is another table.")
    table = table.with_data(table.data.select([name for name in table.names if name in policy.columns]))
    least = policy.constraints.model_copy(update={"k": 2})  # class sizes are to be measured, not enforced
    arranged = arrange(table, policy.model_copy(update={"constraints": least, "seed": 0}))  # the order is undone below
    place = np.full(table.n, -1, np.int64)
    place[arranged.rows] = np.arange(arranged.n)
    if rows.size != arranged.n or (rows.size and int(rows.max()) >= table.n) or (place[rows] < 0).any():
        raise DataError("original: it lacks rows from which the release was made, so it is another table.")
    return arranged.take(place[rows])
