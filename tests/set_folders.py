"""Folders of set-valued releases for tests: written as the pipeline writes them, and forged with corrected digests."""

import hashlib
import json

from set_releases import SOUND, published
from shoal.certify.certificate import SETS_PREDICATE, own_version, sets_predicate, write_certificate
from shoal.certify.check import check_folder
from shoal.io.disassociated import JSON_FILE, write_disassociated, write_neighbour
from shoal.model.findings import Verdict
from shoal.pipeline.set_neighbours import neighbour_of, redrawn
from shoal.privacy.verdict.km import verify

NAMED = {**SOUND, "labels": SOUND["labels"][:5], "term_global": [4]}  # every label is in a chunk


def written(folder, made=NAMED, format="json", kind="km", neighbour=None, claimed=False):
    """Write a release with its certificate, and with a forged neighbour instead of the drawn one, if given.

    What is `claimed` of it is then k; none is drawn.
    """
    folder.mkdir()
    given = published(made)
    names, verdicts = write_disassociated(given, folder, format), [*verify(given).verdicts]
    if claimed:
        k = float(given.k)
        names.append(write_neighbour(neighbour, folder))
        verdicts.append(Verdict("k^m-anonymity of the neighbour", None, k, k, holds=True))
    elif kind:
        drawn, more, _ = neighbour_of(given, kind)
        names.append(write_neighbour(neighbour or drawn, folder))
        verdicts += more
    write_certificate(folder, SETS_PREDICATE, sorted(names), sets_predicate(given, verdicts, kind, own_version()))
    return folder


def check_release(folder):
    """Check a folder, and draw its neighbour again."""
    return check_folder(folder, redraw=redrawn)


def failed(folder):
    """Return the failing checks of a folder, of which there must be one."""
    checked = check_release(folder)
    assert not checked.holds
    return {line.what for line in checked.lines if not line.holds}


def change(folder, edit, name="certificate.json"):
    """Change what a JSON file of a release says, in the form in which shoal writes it."""
    document = json.loads((folder / name).read_text())
    edit(document)
    if name == JSON_FILE:
        lists = ("clusters", "joints")
        inside = (f'"{key}": {(_lines if key in lists else _line)(value)}' for key, value in document.items())
        text = "{" + ",\n".join(inside) + "}\n"
    else:
        text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / name).write_text(text)


def redigest(folder):
    """Correct the digests of the certificate after a change."""

    def forge(statement):
        for entry in statement["subject"]:
            entry["digest"]["sha256"] = hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()

    change(folder, forge)


def _line(value):
    return json.dumps(value)


def _lines(values):
    if type(values) is not list or not values:
        return _line(values)
    return "[\n" + ",\n".join(map(_line, values)) + "\n]"
