"""Write a release of a table or of sets: as a draft that is checked from its bytes and then moved into place."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.catalogue import formats
from shoal.certify.certificate import (
    CERTIFICATE,
    POLICY,
    PREDICATE,
    REPORT,
    SETS_PREDICATE,
    data_files,
    digest,
    drawn_with,
    own_version,
    sets_predicate,
    table_predicate,
    write_certificate,
    written_with,
)
from shoal.certify.check import check_folder
from shoal.certify.released import is_csv, is_text, unescaped
from shoal.errors import DataError, GuaranteeError, InfeasibleError, PolicyError, ReadError, WriteError, reason_of
from shoal.io.bundle import Place, check_outside, check_target, drafts
from shoal.io.data_file import digest_of, write_data
from shoal.io.disassociated import JSON_FILE, NEIGHBOURS, PARQUET_FILES, write_disassociated, write_neighbour
from shoal.io.files import read
from shoal.model.asking import argument
from shoal.model.csv_style import STANDARD, CsvStyle, check_style, style_named
from shoal.model.findings import Verdict
from shoal.model.notes import Note
from shoal.model.partition import Partition
from shoal.model.policy import TRUTHFUL_FORMS, Policy
from shoal.model.progress import check_limits, step
from shoal.model.release import Release
from shoal.model.set_release import SetRelease
from shoal.model.table import Table
from shoal.pipeline.items import spelt
from shoal.pipeline.private import HELD, write_private
from shoal.pipeline.set_neighbours import redrawn
from shoal.pipeline.strictness import Strictness
from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.measures.covering import uncovered
from shoal.reports.figures import pictures

NO_ORIGINAL = (
    f"The private folder has no {REPORT}, as the holder's report needs the original table. Pass "
    "it to `save` (original=TABLE), or get the report as text from release.report(TABLE)."
)
SETS_RELEASED = {CERTIFICATE: SETS_PREDICATE, **dict.fromkeys((JSON_FILE, *PARQUET_FILES, *NEIGHBOURS), "")}


def write(
    release: Release,
    folder: str | Path,
    *,
    private: str | Path | None = None,
    format: str | None = None,  # noqa: A002
    report: bool = True,
    original: Any = None,
    csv_style: str | None = None,
) -> Path:
    """Write a release and, if asked, the holder's folder; see `Release.save`."""
    original = release._making.source if original is None else original
    chosen, missing = _usual(release) if format is None else format, list[Note]()
    check_places(folder, private, chosen, csv_style)
    style = _style(release, chosen, csv_style)
    policy = release.policy.model_copy(update={"csv": None if style == STANDARD else style})
    step("write")

    def fill(made: Path) -> str:
        return _publish(release, made, chosen, policy, missing, report=report)

    def hold(made: Path, hidden: Path) -> None:
        if report and original is not None:
            from shoal.pipeline.reporting import holder_page

            _draw(
                hidden,
                f"The private folder has no {REPORT}",
                lambda: {REPORT: holder_page(made, release, original)},
                missing,
            )
        elif report:
            missing.append(Note("missing-page", NO_ORIGINAL))
        views = {name: column.view for name, column in release.policy.columns.items()}
        _draw(
            hidden,
            "The private folder has no pictures",
            lambda: pictures(release._making.sketches, release._making.sketched, views),
            missing,
        )
        place = np.full(release._making.inputs, -1, np.int64)
        place[release.rows] = release._making.position
        facts = {
            "certificate": digest(made / CERTIFICATE),
            "findings": [finding.as_dict() for finding in release.findings],
            "ledger": [vars(change) for change in release.ledger],
            "suppressed": release.suppressed,
            "notes": [note.as_dict() for note in (*release._own_notes(), *missing)],
            "policy": policy.as_dict(),
            **_groups(release),
        }
        write_private(hidden, ("input_row", "released_row"), place.tolist(), facts)

    strictness = Strictness(notes=release._making.refused)
    _write_checked(Place(folder, _released()), private, fill, hold, lambda: strictness.check_notes(missing))
    release._note_missing(tuple(missing))
    step("")
    return Path(folder)


def write_sets(
    release: SetRelease,
    folder: str | Path,
    *,
    private: str | Path | None = None,
    format: str = "parquet",  # noqa: A002
) -> Path:
    """Write a release of sets and, if asked, the holder's folder; see `SetRelease.save`."""
    check_places(folder, private, sets=True)
    step("write")

    def fill(made: Path) -> str:
        names = write_disassociated(release.published, made, format)  # type: ignore[arg-type]
        if release.neighbour is not None:
            names.append(write_neighbour(release.neighbour, made))
        kind = None if release.kind == "none" else release.kind
        predicate = sets_predicate(release.published, release.verdicts, kind, own_version())
        write_certificate(made, SETS_PREDICATE, sorted(names), predicate)
        return ""

    def hold(made: Path, hidden: Path) -> None:
        facts = {"certificate": digest(made / CERTIFICATE), "seed": release.seed, **release.as_dict()}
        write_private(hidden, ("input_record", "cluster"), release.cluster_of.tolist(), facts)

    _write_checked(Place(folder, SETS_RELEASED), private, fill, hold)
    step("")
    return Path(folder)


def _write_checked(
    place: Place,
    private: str | Path | None,
    fill: Callable[[Path], str],
    hold: Callable[[Path, Path], None],
    accept: Callable[[], None] = lambda: None,
) -> None:
    """Write drafts, which move into place together if the written files confirm every claim.

    `fill` writes the release into a draft and returns its report; `hold` writes the holder's folder, given both drafts;
    `accept` may refuse the result.
    """
    held = [] if private is None else [Place(private, HELD, private=True)]
    with drafts(*held, place) as (*hidden, made):
        page = fill(made)
        step("verify")
        # The claims were counted in memory; here they are counted again, from the bytes. The page is fresh.
        checked = check_folder(made, lambda *_: page, redrawn)
        if not checked.holds:
            failed = ", ".join(line.what for line in checked.lines if not line.holds)
            why = "".join(f" {note}" for note in checked.notes)
            raise GuaranteeError(
                f"verify: the written files do not confirm {failed}. Nothing was written.{why}{_of_plug_in(made)}"
            )
        for one in hidden:
            hold(made, one)
        accept()
        check_limits()


def _of_plug_in(made: Path) -> str:
    """Say who is to blame if a file in the format of a plug-in is not confirmed."""
    used = [name for name in formats.names() if name not in formats.built_in and (made / f"data.{name}").is_file()]
    return "".join(
        f" The format {name!r} is that of a plug-in: a table that it writes must be read again with the same cells. "
        "Report this to its authors, and choose another format."
        for name in used
    )


def _groups(release: Release) -> dict[str, str]:
    """Return the group of each row, unless the groups equal the published classes."""
    case = release._making.case
    alike = case is not None and np.array_equal(Partition.of(case.labels).labels, release.labels)
    return {} if alike else {"groups": " ".join(map(str, release.labels.tolist()))}


def data_digest(release: Release) -> str:
    """Return the SHA-256 of the data file that `write` would write, without writing it."""
    chosen = _usual(release)
    return digest_of(spelt(release.table, release.policy, chosen), chosen, _style(release, chosen, None))


def _style(release: Release, format: str, name: str | None) -> CsvStyle:  # noqa: A002
    """Return how a CSV file is written: as named, else as the policy says, else as the input was."""
    return style_named(name, release.policy.csv or release._making.csv) if is_csv(format) else STANDARD


def _usual(release: Release) -> str:
    """Return the format of the input; parquet for a frame."""
    return release._making.format if release._making.format != "frame" else "parquet"


def _released() -> dict[str, str]:
    """Return the files of a table release, and the text by which the certificate is recognized."""
    return {CERTIFICATE: PREDICATE, POLICY: "", REPORT: "", **dict.fromkeys(data_files(), "")}


def check_places(
    folder: str | Path | None,
    private: str | Path | None,
    format: str | None = None,  # noqa: A002
    csv_style: str | None = None,
    *,
    sets: bool = False,
) -> None:
    """Refuse folders, formats and styles that `write` would refuse, before any work is done.

    Without a folder, as in a dry run, the others are checked.
    """
    if format is not None:
        formats.load(format)
    check_style(csv_style)
    if csv_style is not None and format is not None and not is_csv(format):
        raise WriteError(
            f"write: {argument('csv_style')} is for CSV files, but the format is {format!r}. Choose the format csv."
        )
    if folder is not None:
        check_target(folder, SETS_RELEASED if sets else _released())
        check_outside(folder)
    if private is not None:
        check_target(private, HELD)
        check_outside(private)
    if folder is not None and private is not None:
        public, hidden = Path(folder).resolve(), Path(private).resolve()
        if public == hidden or public in hidden.parents or hidden in public.parents:
            raise WriteError(
                "write: neither the private folder nor the release may be inside the other. Choose another folder."
            )


def refuse_unless(verdicts: tuple[Verdict, ...]) -> None:
    """Raise if a verdict does not hold."""
    failed = [str(verdict) for verdict in verdicts if not verdict.holds]
    if failed:
        raise GuaranteeError(f"verify: {'; '.join(failed)}. Nothing was written.")


def refuse_uncovered(table: Table, data: pa.Table, policy: Policy, trees: Mapping[str, Hierarchy]) -> None:
    """Raise if a published range, set or tree node does not cover the original value."""
    for name in policy.names("quasi"):
        given = policy.columns[name]
        if given.form in TRUTHFUL_FORMS:
            above = trees[name].paths() if given.form == "tree" else None
            wrong = uncovered(table.column(name), data.column(name), given.form, given.order, above)
            if wrong:
                raise GuaranteeError(
                    f"verify: published values of column {name!r} are not true of {wrong} rows. Nothing was written."
                )


def _publish(
    release: Release,
    made: Path,
    format: str,  # noqa: A002
    policy: Policy,
    missing: list[Note],
    *,
    report: bool,
) -> str:
    """Write the files of a table release and its certificate; return the page, or add to `missing` if it fails.

    The page is rendered from the written files, so that anyone who has them can render it again.
    """
    from shoal.pipeline.reporting import public_page

    name = write_data(spelt(release.table, policy, format), made, format, policy.csv or STANDARD)
    policy = policy.published(_levels(release))
    (made / POLICY).write_text(policy.to_toml(), encoding="utf-8", newline="\n")
    drawn = (
        _draw(made, f"The release has no {REPORT}", lambda: {REPORT: public_page(made, release.verdicts)}, missing)
        if report
        else {}
    )
    used = {"shoal": own_version(), **written_with(name), **(drawn_with() if drawn else {})}
    predicate = table_predicate(name, policy, release.verdicts, release.table.num_rows, used)
    write_certificate(made, PREDICATE, (name, POLICY, *drawn), predicate)
    return drawn.get(REPORT, "")


def _draw(folder: Path, lack: str, draw: Callable[[], dict[str, str]], missing: list[Note]) -> dict[str, str]:
    """Write pages or pictures and return them; if that fails, add to `missing` instead of losing the release."""
    step("report")
    try:
        texts = draw()
    except (DataError, InfeasibleError, PolicyError, ReadError):
        raise  # the original that was given is unusable, or the budget is used up
    except Exception as problem:  # noqa: BLE001 - the release is valid without it
        reason = f"{lack}; everything else is written. Reason: {reason_of(problem)}"
        missing.append(Note("missing-page", reason))
        return {}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return texts


def read_back(data: Path, policy: Policy) -> pa.Table:
    """Read a released data file as it was before writing: typed, and without the escapes that guard spreadsheets."""
    style = (policy.csv or STANDARD) if is_csv(data.name) else None
    table = read(data, policy.null_words, header=True, style=style).data
    if not is_text(data.name):
        return table
    names = unescaped(pa.array(table.column_names, pa.string())).to_pylist()
    texts = [pa.types.is_string(column.type) or pa.types.is_large_string(column.type) for column in table.columns]
    columns = [unescaped(one) if text else one for one, text in zip(table.columns, texts, strict=True)]
    return pa.table(columns, names=names)


def published_policy(release: Release) -> Policy:
    """Return the policy of a release as it may be published."""
    return release.policy.published(_levels(release))


def _levels(release: Release) -> dict[str, list[str]]:
    """Return the levels of each sensitive ordinal column that occur in the release."""
    found = {}
    for name in release.policy.names("sensitive"):
        given = release.policy.columns[name]
        if given.kind == "ordinal" and given.order:
            used = set(release.table.column(name).cast(pa.string()).to_pylist())
            found[name] = [level for level in given.order if level in used]
    return found
