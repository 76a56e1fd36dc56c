"""A verified release in ten lines: generate a table, anonymize it, write it, verify it."""

import tempfile
from pathlib import Path

import shoal

patients = shoal.sample(1000)
release = shoal.anonymize(patients, k=5, l=2, identifiers=["patient_id", "name"], sensitive=["diagnosis"])

for verdict in release.verdicts:
    print(verdict)
print(f"information loss: {release.finding('information loss %'):.1f}%")

with tempfile.TemporaryDirectory() as place:
    folder = release.save(Path(place) / "release", private=Path(place) / "private")
    print("files:", sorted(path.name for path in folder.iterdir()))
    print("verified from its bytes:", shoal.verify(folder).holds)
