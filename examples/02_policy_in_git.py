"""A policy as a text: reviewed once, used every time, and refused if it does not fit the table."""

import shoal

POLICY = """
missing = "suppress-row"

[constraints]
k = 10
l = 2
t = 0.5

[columns.patient_id]
role = "identifier"

[columns.name]
role = "identifier"

[columns.education]
kind = "nominal"
form = "set"

[columns.diagnosis]
role = "sensitive"
"""

policy = shoal.Policy.from_toml(POLICY)
release = shoal.anonymize(shoal.sample(800), policy=policy)
print(*release.verdicts, sep="\n")
print(f"{release.suppressed} rows with missing values were suppressed")

try:
    shoal.anonymize(shoal.sample(800).drop_columns(["diagnosis"]), policy=policy)
except shoal.ShoalError as refusal:
    print(refusal)
