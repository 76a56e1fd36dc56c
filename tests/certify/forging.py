"""Forgers of release folders, by name: each changes one thing, then corrects digests and certificate."""

import gzip
import hashlib
import json
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import shoal
from shoal.certify import certificate

RNG = np.random.default_rng(4)
N = 60
TABLE = pa.table(
    {
        "age": pa.array([None if i % 20 == 0 else int(a) for i, a in enumerate(RNG.integers(20, 90, N))]),
        "town": pa.array(RNG.choice(["north", "south"], N)).dictionary_encode(),
        "ill": RNG.choice(["flu", "gout", "none"], N),
        "note": RNG.choice(["x", "y"], N),
    }
)


def data_of(folder):
    return next(folder.glob("data.*"))


def seal(folder, **changes):
    """Correct digests, rows and policy of the certificate, and write it as shoal does."""
    place = folder / "certificate.json"
    stated = json.loads(place.read_text())
    stated["predicate"].update(changes)
    stated["subject"] = [
        {**entry, "digest": {"sha256": hashlib.sha256((folder / entry["name"]).read_bytes()).hexdigest()}}
        for entry in stated["subject"]
        if (folder / entry["name"]).exists()
    ]
    place.write_text(json.dumps(stated, indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def without_report(folder):
    """Remove the report, so that it does not reveal other changes."""
    (folder / "report.html").unlink(missing_ok=True)
    made = json.loads((folder / "certificate.json").read_text())["predicate"]["made_with"]
    seal(folder, made_with={name: made[name] for name in made if name not in certificate.DRAWING})


def policy_text(edit):
    """Return a forger of policy.toml that keeps the certificate consistent with it."""

    def forge(folder):
        without_report(folder)
        place = folder / "policy.toml"
        place.write_text(edit(place.read_text()))
        try:
            seal(folder, policy=shoal.Policy.load(place).as_dict())
        except shoal.errors.PolicyError:
            seal(folder)

    return forge


def data_bytes(edit):
    """Return a forger of the data file's bytes."""

    def forge(folder):
        without_report(folder)
        data_of(folder).write_bytes(edit(data_of(folder).read_bytes()))
        seal(folder)

    return forge


def text(edit):
    """Return a forger of packed or plain text."""
    return data_bytes(lambda data: packed(edit(gzip.decompress(data))) if data[:2] == b"\x1f\x8b" else edit(data))


def packed(data, flags=0, extra=b""):
    """Pack text as shoal does, with more in the header if given."""
    body = zlib.compressobj(9, wbits=-15)
    end = zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")
    return b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\x02\xff" + extra + body.compress(data) + body.flush() + end


def repacked(flags, extra):
    return data_bytes(lambda data: packed(gzip.decompress(data), flags, extra))


def parquet(change=lambda table: table, **options):
    """Return a forger that writes another table, or the same one in another way."""

    def forge(folder):
        without_report(folder)
        table = pyarrow.parquet.read_table(data_of(folder))
        pyarrow.parquet.write_table(change(table), data_of(folder), compression="zstd", **options)
        seal(folder)

    return forge


def feather(change):
    """Return a forger that writes another table."""

    def forge(folder):
        without_report(folder)
        table = change(pyarrow.feather.read_table(data_of(folder)))
        with pa.ipc.new_file(data_of(folder), table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as out:
            out.write_table(table)
        seal(folder)

    return forge


def unused_category(table):
    town = table.column("town").combine_chunks()
    held = pa.DictionaryArray.from_arrays(town.indices, pa.concat_arrays([town.dictionary, pa.array(["zz SECRET"])]))
    return table.set_column(1, "town", held)


def behind_gaps(table):
    age = table.column("age").combine_chunks()
    values = np.frombuffer(age.buffers()[1], np.int64, N).copy()
    values[~np.asarray(age.is_valid())] = 4242
    return table.set_column(0, "age", pa.Array.from_buffers(pa.int64(), N, [age.buffers()[0], pa.py_buffer(values)]))


def field_note(table):
    return table.cast(pa.schema([table.field(0).with_metadata({"note": "SECRET"}), *list(table.schema)[1:]]))


def edited(edit):
    """Return a forger of the report."""

    def forge(folder):
        (folder / "report.html").write_text(edit((folder / "report.html").read_text()))
        seal(folder)

    return forge


def roles(**given):
    """Return a forger that changes the roles of columns, and the claims accordingly."""

    def edit(words):
        policy = shoal.Policy.from_toml(words)
        columns = {name: {**column.model_dump(exclude_none=True)} for name, column in policy.columns.items()}
        for name, role in given.items():
            columns[name] = {"role": role, "kind": columns[name]["kind"]}
        return shoal.Policy.model_validate({**policy.as_dict(), "columns": columns}).published({}).to_toml()

    return policy_text(edit)


def kept_all(folder):
    """Declare all quasi-identifiers as kept, which leaves one class of all rows."""
    roles(age="keep", town="keep")(folder)
    claims = json.loads((folder / "certificate.json").read_text())["predicate"]["claims"]
    seal(folder, claims=[{**claim, "found": N if claim["model"] == "k-anonymity" else 3} for claim in claims])


def no_sensitive(folder):
    roles(ill="keep")(folder)
    claims = json.loads((folder / "certificate.json").read_text())["predicate"]["claims"]
    seal(folder, claims=[claim for claim in claims if claim["column"] is None])


def rewritten(edit):
    """Return a forger of the certificate's own text."""

    def forge(folder):
        place = folder / "certificate.json"
        place.write_text(edit(place.read_text()))

    return forge


def extra_file(folder):
    (folder / "README.txt").write_text("who is who")


def swapped_lines(data):
    lines = data.split(b"\n")
    first = next(place for place in range(1, len(lines) - 2) if lines[place] != lines[place + 1])
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    return b"\n".join(lines)


def swapped_columns(data):
    lines = [line.split(b",") for line in data.split(b"\n")[:-1]]
    return b"\n".join(b",".join([line[0], line[1], line[3], line[2]]) for line in lines) + b"\n"


OTHER_PAGE = "<!doctype html><title>What this release protects</title><p>Trust us: k = 100.</p>"
CSV = {
    "swapped report": (edited(lambda _: OTHER_PAGE), "report"),
    "edited report": (edited(lambda page: page.replace("</main>", "<p>k = 100</p></main>")), "report"),
    "comment in the report": (edited(lambda page: f"{page}<!-- SECRET -->"), "report"),
    "comment in policy.toml": (policy_text(lambda words: f"{words}# SECRET\n"), "policy bytes"),
    "reordered policy": (
        policy_text(lambda words: words.replace('role = "keep"\nkind = "nominal"', 'kind = "nominal"\nrole = "keep"')),
        "policy bytes",
    ),
    "seed in the policy": (policy_text(lambda words: f"seed = 7\n{words}"), "policy bytes"),
    "words for missing values in the policy": (
        policy_text(lambda words: f'null_words = ["SECRET"]\n{words}'),
        "policy bytes",
    ),
    "unknown method": (policy_text(lambda words: words.replace('"mdav"', '"SECRET"')), "policy"),
    "free text among the parameters": (
        policy_text(lambda words: words.replace("[method.parameters]", '[method.parameters]\nnote = "SECRET"')),
        "policy",
    ),
    "form that does not suit": (policy_text(lambda words: words.replace('form = "mean"', 'form = "set"')), "policy"),
    "column without a kind": (
        policy_text(lambda words: words.replace('role = "keep"\nkind = "nominal"', 'role = "keep"')),
        "policy",
    ),
    "huge policy": (policy_text(lambda words: words + "# " + "x" * (1 << 20) + "\n"), "policy"),
    "k without a quasi-identifier": (kept_all, "policy"),
    "constraints without a sensitive column": (no_sensitive, "policy"),
    "trailing bytes": (text(lambda data: data + b"SECRET"), "data"),
    "trailing line": (text(lambda data: data + b"\n"), "data bytes"),
    "no line end": (text(lambda data: data[:-1]), "data bytes"),
    "blank line below the header": (text(lambda data: data.replace(b"\n", b"\n\n", 1)), "data bytes"),
    "blank line between rows": (text(lambda data: data[:-20] + data[-20:].replace(b"\n", b"\n\n", 1)), "data bytes"),
    "byte order mark": (text(lambda data: b"\xef\xbb\xbf" + data), "columns"),
    "line ends of another system": (text(lambda data: data.replace(b"\n", b"\r\n")), "columns"),
    "needless quotes": (text(lambda data: data.replace(b",x\n", b',"x"\n', 1)), "data bytes"),
    "formula": (text(lambda data: data.replace(b",x\n", b",=1+1\n")), "data bytes"),
    "swapped rows": (text(swapped_lines), "order of rows"),
    "swapped columns": (text(swapped_columns), "columns"),
    "content after the certificate": (rewritten(lambda words: f"{words}SECRET"), "certificate"),
    "blank lines after the certificate": (rewritten(lambda words: f"{words}\n\n"), "certificate bytes"),
    "key given twice": (rewritten(lambda words: words.replace('"rows": 60', '"rows": 50, "rows": 60')), "certificate"),
    "certificate in another layout": (rewritten(lambda words: json.dumps(json.loads(words))), "certificate bytes"),
    "claim to more digits": (
        rewritten(lambda words: words.replace('"found": 4,', '"found": 4.0000000000001,')),
        "certificate bytes",
    ),
    "huge certificate": (rewritten(lambda words: words + " " * (1 << 22)), "certificate"),
    "unknown extra file": (extra_file, "file README.txt"),
}
PACKED = {
    "gzip comment": (repacked(16, b"SECRET\0"), "data bytes"),
    "gzip name": (repacked(8, b"SECRET\0"), "data bytes"),
    "gzip extra field": (repacked(4, b"\x06\0SECRET"), "data bytes"),
    "gzip second member": (data_bytes(lambda data: data + gzip.compress(b"", mtime=0)), "data bytes"),
    "gzip trailing bytes": (data_bytes(lambda data: data + b"\0\0\0\0"), "data bytes"),
    "gzip time": (data_bytes(lambda data: data[:4] + b"\1\2\3\4" + data[8:]), "data bytes"),
    "packed otherwise": (
        data_bytes(
            lambda data: (
                gzip.compress(gzip.decompress(data), 1, mtime=0)[:8]
                + b"\2\xff"
                + gzip.compress(gzip.decompress(data), 1, mtime=0)[10:]
            )
        ),
        "data bytes",
    ),
}
PARQUET = {
    "key-value metadata": (parquet(change=lambda t: t.replace_schema_metadata({"note": "SECRET"})), "data bytes"),
    "field metadata": (parquet(change=field_note), "data bytes"),
    "unused category": (parquet(change=unused_category), "data bytes"),
    "more row groups": (parquet(row_group_size=7), "data bytes"),
    "no dictionaries": (parquet(use_dictionary=False), "data bytes"),
    "page index": (parquet(write_page_index=True), "data bytes"),
    "bytes between the parts": (data_bytes(lambda data: data[:-8] + b"SECRET" + data[-8:]), "data"),
}
FEATHER = {
    "schema metadata": (feather(lambda t: t.replace_schema_metadata({"note": "SECRET"})), "data bytes"),
    "field metadata": (feather(field_note), "data bytes"),
    "unused category": (feather(unused_category), "data bytes"),
    "values behind gaps": (feather(behind_gaps), "data bytes"),
    "more batches": (feather(lambda t: pa.concat_tables([t.slice(0, 7), t.slice(7)])), "data bytes"),
    "trailing bytes": (data_bytes(lambda data: data + b"SECRET"), "data"),
}
FORGED = [
    *(("csv", name, *forged) for name, forged in CSV.items()),
    *(("csv.gz", name, *forged) for name, forged in PACKED.items()),
    *(("parquet", name, *forged) for name, forged in PARQUET.items()),
    *(("feather", name, *forged) for name, forged in FEATHER.items()),
]
