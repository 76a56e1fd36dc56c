"""Public data sets through the whole pipeline, checked by counts that share no code with shoal."""

import csv
import gzip
from collections import Counter, defaultdict

import pytest

import shoal

# Published SSE and IL of MDAV on Census (13 columns, population z-scores); see tests/golden/mdav.toml.
CENSUS = {3: (799.18, 5.692), 4: (1052.26, 7.495), 5: (1276.02, 9.088), 10: (1987.49, 14.156)}


@pytest.mark.parametrize("k", CENSUS)
def test_census_gives_the_published_figures_and_classes_of_k(k, data_folder, tmp_path):
    release = shoal.anonymize(data_folder / "census.csv", method="mdav", k=k)
    sse, loss = CENSUS[k]
    assert round(release.finding("partition SSE"), 2) == sse
    assert round(release.finding("information loss %"), 3) == loss
    release.save(tmp_path / "out", report=False)
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()[1:]
    assert min(Counter(lines).values()) >= k
    assert len(lines) == 1080


def classes_of(path, sensitive):
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        classes = defaultdict(list)
        for row in csv.DictReader(file):
            classes[tuple(cell for name, cell in row.items() if name != sensitive)].append(row[sensitive])
    return classes


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "rows"), [("own-value", 8000), ("suppress-row", None)])
def test_adult_is_verified_with_missing_values_as_the_policy_says(missing, rows, data_folder, tmp_path):
    with gzip.open(data_folder / "adult.csv.gz", "rt") as file:
        lines = [line for _, line in zip(range(8001), file, strict=False)]
    (tmp_path / "adult.csv").write_text("".join(lines))
    release = shoal.anonymize(tmp_path / "adult.csv", method="mdav", k=5, l=2, sensitive=["income"], missing=missing)
    folder = release.save(tmp_path / "out", report=False)
    assert shoal.verify(folder).holds
    classes = classes_of(folder / "data.csv", "income")
    assert min(map(len, classes.values())) >= 5
    assert min(len(set(values)) for values in classes.values()) >= 2
    complete = sum("?" not in line for line in lines[1:])
    assert sum(map(len, classes.values())) == (rows or complete)
    assert release.suppressed == (0 if rows else 8000 - complete)


def test_adult_is_refused_if_the_policy_refuses_missing_values(data_folder):
    with pytest.raises(shoal.ShoalError, match="3,620 rows have missing values, in 'workclass', 'occupation'"):
        shoal.anonymize(data_folder / "adult.csv.gz", k=5, l=2, sensitive=["income"], missing="refuse")


def test_german_credit_is_verified_with_t(data_folder, tmp_path):
    release = shoal.anonymize(data_folder / "german_credit.csv", k=5, t=0.2, sensitive=["class"])
    folder = release.save(tmp_path / "out", report=False)
    assert shoal.verify(folder).holds
    classes = classes_of(folder / "data.csv", "class")
    everyone = Counter(value for values in classes.values() for value in values)
    for values in classes.values():
        # Two values: the ordered distance is the difference of the shares of one of them.
        share = values.count("1") / len(values)
        assert abs(share - everyone["1"] / 1000) <= 0.2 + 1e-12
