"""Write a release: into a draft, checked there from its bytes, and only then into its place."""

import csv
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from shoal.certify.certificate import (
    CERTIFICATE,
    POLICY,
    PREDICATE,
    REPORT,
    digest,
    write_certificate,
    write_policy,
)
from shoal.certify.check import check_folder, unescaped
from shoal.errors import DataError, GuaranteeError, PolicyError, ReadError, WriteError, reason_of
from shoal.io.bundle import Place, check_outside, check_target, drafts
from shoal.io.data_file import FORMATS, check_format, digest_of, write_data
from shoal.io.files import read
from shoal.model.findings import Verdict
from shoal.model.policy import TRUTHFUL_FORMS, Policy
from shoal.model.release import Release
from shoal.model.table import Table
from shoal.pipeline.items import spelt
from shoal.prepare.hierarchy import Hierarchy
from shoal.privacy.measures.covering import uncovered
from shoal.report.drawing_process import prepare
from shoal.report.figures import NAMES, pictures

__all__ = [
    "check_apart",
    "check_places",
    "data_digest",
    "published_policy",
    "read_back",
    "refuse_uncovered",
    "refuse_unless",
    "write",
]

Drawn = TypeVar("Drawn")
FINDINGS = "findings.json"
MAP = "map.csv"
HELD = {FINDINGS: '"certificate"', MAP: "", REPORT: "", **dict.fromkeys(NAMES, "<svg")}
NO_ORIGINAL = (
    f"The private folder has no {REPORT}, as the holder's report needs the table that the release was made from. Give "
    "it to `save` (original=TABLE), or get the report as text from release.report(TABLE)."
)
RELEASED = {CERTIFICATE: PREDICATE, POLICY: "", REPORT: "", **{f"data.{ending}": "" for ending in FORMATS}}


def write(
    release: Release,
    folder: str | Path,
    *,
    private: str | Path | None = None,
    format: str | None = None,  # noqa: A002
    report: bool = False,
    original: Any = None,
) -> Path:
    """Write a release and, if asked, the holder's folder; see `Release.save`."""
    chosen = format or _usual(release)
    check_places(folder, private, chosen)
    held = [] if private is None else [Place(private, HELD, private=True)]
    if report:
        prepare()
    with drafts(*held, Place(folder, RELEASED)) as (*hidden, made):
        missing = _write(release, made, chosen, hidden[0] if hidden else None, report=report, original=original)
    release._note_missing(missing)
    return Path(folder)


def data_digest(release: Release) -> str:
    """Return the SHA-256 of the file of data that `write` would write, without writing it."""
    chosen = _usual(release)
    return digest_of(spelt(release.table, release.policy, chosen), chosen)


def _usual(release: Release) -> str:
    """Return the format of what came in; that of a frame is parquet."""
    return release._making.format if release._making.format != "frame" else "parquet"


def check_places(folder: str | Path, private: str | Path | None, format: str | None) -> None:  # noqa: A002
    """Refuse places and formats that `write` would refuse, before any work is done."""
    if format is not None:
        check_format(format)
    check_target(folder, RELEASED)
    check_outside(folder)
    if private is not None:
        check_apart(Path(folder), Path(private))
        check_target(private, HELD)
        check_outside(private)


def refuse_unless(verdicts: tuple[Verdict, ...]) -> None:
    """Raise if a verdict does not hold."""
    failed = [str(verdict) for verdict in verdicts if not verdict.holds]
    if failed:
        raise GuaranteeError(f"verify: {'; '.join(failed)}. Nothing was written.")


def refuse_uncovered(table: Table, data: pa.Table, policy: Policy, trees: Mapping[str, Hierarchy]) -> None:
    """Raise if what is published of a row by range, set or tree is not true of it."""
    for name in policy.names("quasi"):
        given = policy.columns[name]
        if given.form in TRUTHFUL_FORMS:
            above = trees[name].paths() if given.form == "tree" else None
            wrong = uncovered(table.column(name), data.column(name), given.form, given.order, above)
            if wrong:
                raise GuaranteeError(
                    f"verify: what is published of column {name!r} is not true of {wrong} rows. Nothing was written."
                )


def _write(
    release: Release,
    made: Path,
    format: str,  # noqa: A002
    hidden: Path | None,
    *,
    report: bool,
    original: Any = None,
) -> tuple[str, ...]:
    """Write the release and what belongs to it into drafts, and check it from its bytes; say what is missing."""
    missing: list[str] = []
    name = write_data(spelt(release.table, release.policy, format), made, format)
    policy = published_policy(release)
    page = None
    if report:
        from shoal.pipeline.reporting import public_page

        write_policy(made, policy)
        page = _drawn(f"The release has no {REPORT}", lambda: public_page(made, release.verdicts), missing)
        _put(made, {} if page is None else {REPORT: page})
    others = (REPORT,) if (made / REPORT).exists() else ()
    certificate = write_certificate(made, name, policy, release.verdicts, release.table.num_rows, others)
    # The claims were counted in memory; here they are counted again, from the bytes. The page was just drawn.
    checked = check_folder(made, lambda *_: page or "")
    if not checked.holds:
        failed = ", ".join(line.what for line in checked.lines if not line.holds)
        raise GuaranteeError(f"verify: the written files do not confirm {failed}. Nothing was written.")
    if hidden is not None:
        if report and original is not None:
            from shoal.pipeline.reporting import holder_page

            own = _drawn(f"The private folder has no {REPORT}", lambda: holder_page(made, release, original), missing)
            _put(hidden, {} if own is None else {REPORT: own})
        elif report:
            missing.append(NO_ORIGINAL)
        views = {name: column.view for name, column in release.policy.columns.items()}
        making, lack = release._making, "The private folder has no pictures"
        shown = _drawn(lack, lambda: pictures(making.sketches, making.sketched, views), missing)
        _put(hidden, shown or {})
        _write_private(release, hidden, digest(certificate), (*release._own_notes(), *missing))
    return tuple(missing)


def _drawn(lack: str, draw: Callable[[], Drawn], missing: list[str]) -> Drawn | None:
    """Return what is drawn; or None, and add to `missing` what the folder lacks: no picture is worth a release."""
    try:
        return draw()
    except (DataError, PolicyError, ReadError):
        raise  # the original that was given for it is of no use
    except Exception as problem:  # noqa: BLE001 - whatever it is, the release stands without it
        missing.append(f"{lack}; everything else is written. {reason_of(problem)}")
        return None


def _put(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts into a folder, by their names."""
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _write_private(release: Release, folder: Path, certificate: str, notes: tuple[str, ...]) -> None:
    """Write what only the holder may see: which released row each input row became, and the findings."""
    place = np.full(release._making.inputs, -1, np.int64)
    place[release.rows] = release._making.position
    with (folder / MAP).open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["input_row", "released_row"])
        lines.writerows((row, "" if at < 0 else at) for row, at in enumerate(place.tolist()))
    facts = {
        "certificate": certificate,
        "findings": [finding.as_dict() for finding in release.findings],
        "ledger": [vars(change) for change in release.ledger],
        "suppressed": release.suppressed,
        "notes": list(notes),
        "policy": release.policy.as_dict(),
    }
    _put(folder, {FINDINGS: json.dumps(facts, indent=2, ensure_ascii=False) + "\n"})


def read_back(data: Path, policy: Policy) -> pa.Table:
    """Read a released data file as it was before it was written: typed, and text without what guards spreadsheets.

    Parameters
    ----------
    data : Path
    policy : Policy
        Whose words for missing values are read as such.
    """
    table = read(data, policy.null_words, header=True).data
    if not data.name.startswith("data.csv"):
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


def check_apart(folder: Path, private: Path) -> None:
    """Refuse a private folder that would be published with the release, or the other way round."""
    public, hidden = folder.resolve(), private.resolve()
    if public == hidden or public in hidden.parents or hidden in public.parents:
        raise WriteError(
            "write: the private folder and the release must not lie inside each other. Choose another place."
        )
