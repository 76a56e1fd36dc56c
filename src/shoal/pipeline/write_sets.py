"""Write a set-valued release: into a draft, checked there from its bytes, and only then into its place."""

import csv
import json
from pathlib import Path

from shoal.certify.certificate import CERTIFICATE, digest
from shoal.certify.sets_certificate import SETS_PREDICATE, write_sets_certificate
from shoal.errors import GuaranteeError
from shoal.io.bundle import Place, check_outside, check_target, drafts
from shoal.io.disassociated import JSON_FILE, PARQUET_FILES, write_disassociated, write_neighbour
from shoal.model.set_release import SetRelease
from shoal.pipeline.set_neighbours import check_release
from shoal.pipeline.write import check_apart

__all__ = ["check_set_places", "write_sets"]

FINDINGS, MAP = "findings.json", "map.csv"
NEIGHBOURS = ("neighbour.dat", "neighbour.json")
HELD = {FINDINGS: '"certificate"', MAP: ""}
RELEASED = {CERTIFICATE: SETS_PREDICATE, JSON_FILE: "", **dict.fromkeys((*PARQUET_FILES, *NEIGHBOURS), "")}


def write_sets(
    release: SetRelease,
    folder: str | Path,
    *,
    private: str | Path | None = None,
    format: str = "parquet",  # noqa: A002
) -> Path:
    """Write a release and, if asked, the holder's folder; see `SetRelease.save`."""
    check_set_places(folder, private)
    held = [] if private is None else [Place(private, HELD, private=True)]
    with drafts(*held, Place(folder, RELEASED)) as (*hidden, made):
        _write(release, made, format, hidden[0] if hidden else None)
    return Path(folder)


def check_set_places(folder: str | Path, private: str | Path | None) -> None:
    """Refuse places that `write_sets` would refuse, before any work is done."""
    check_target(folder, RELEASED)
    check_outside(folder)
    if private is not None:
        check_apart(Path(folder), Path(private))
        check_target(private, HELD)
        check_outside(private)


def _write(release: SetRelease, made: Path, format: str, hidden: Path | None) -> None:  # noqa: A002
    """Write the release and what belongs to it into drafts, and check it from its bytes."""
    names = write_disassociated(release.published, made, format)  # type: ignore[arg-type]
    if release.neighbour is not None:
        names.append(write_neighbour(release.neighbour, made))
    kind = None if release.kind == "none" else release.kind
    certificate = write_sets_certificate(made, names, release.published, release.verdicts, kind)
    checked = check_release(made)
    if not checked.holds:
        failed = ", ".join(line.what for line in checked.lines if not line.holds)
        raise GuaranteeError(f"verify: the written files do not confirm {failed}. Nothing was written.")
    if hidden is not None:
        _write_private(release, hidden, digest(certificate))


def _write_private(release: SetRelease, folder: Path, certificate: str) -> None:
    """Write what only the holder may see: the cluster of every input record, the seed, and the findings."""
    with (folder / MAP).open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["input_record", "cluster"])
        lines.writerows((row, "" if at < 0 else at) for row, at in enumerate(release.cluster_of.tolist()))
    facts = {"certificate": certificate, "seed": release.seed, **release.as_dict()}
    text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    (folder / FINDINGS).write_text(text, encoding="utf-8", newline="\n")
