"""Compare: every method on every data set, and which differences are statistically significant.

1. Every data set is read once to check that its label exists; then each method releases each data set with each seed,
   in separate processes.
2. Every release is verified and measured. A data set that one method cannot release is left out, with the reason:
   ranks need every method on every data set.
3. The figure of a method on a data set is its mean over the seeds. Ranks are tested by Friedman and Nemenyi, or by
   Wilcoxon for two methods.

Unlisted columns are quasi-identifiers; the label is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from shoal.catalogue import formats, measures, methods
from shoal.errors import DataError, MethodError, PolicyError, ReadError, listed, near, shortened
from shoal.exploration.asked import whole
from shoal.exploration.comparison import MOST, LeftOut, Measured, MethodComparison, Set
from shoal.exploration.spawned import Failure, cores, spread
from shoal.exploration.trials import COMBINED, HONEST, Trial, run
from shoal.io.files import read
from shoal.io.frames import from_frame
from shoal.model.asking import argument, one_or_several
from shoal.model.options import with_options
from shoal.model.progress import step, tick
from shoal.pipeline.arrow_errors import without_arrow_errors
from shoal.utility.rank_tests import compare as tested

LAST = "last"
USUAL = "cell loss %"


@without_arrow_errors
@with_options("compare")
def compare(
    sources: Any,
    *,
    methods: Iterable[str] = ("mdav", "k_tca", "kde"),
    measure: str | Iterable[str] | None = None,
    k: int = 5,
    label: str | None = None,
    seeds: int = 3,
    folds: int = 5,
    alpha: float = 0.5,
    identifiers: Iterable[str] = (),
    sensitive: Iterable[str] = (),
    jobs: int | None = None,
    header: bool | None = None,
) -> MethodComparison:
    """Compare methods over data sets.

    Parameters
    ----------
    sources : path, list of paths, or mapping of str to path or frame
        The data sets; a folder stands for all tables in it. Ranks and tests need several: of one, only figures are
        given.
    methods : iterable of str
        At least two methods of `shoal.methods()`.
    measure : str or iterable of str, optional
        "honest" (accuracy in % of a tree that is trained on released folds and scored on original held-out rows),
        "combined" (alpha x honest + (1 - alpha) x structural utility), or names of `shoal.measures()`. By default
        "combined" with a label and "cell loss %" without.
    k : int
        Minimum number of rows that share their published quasi-identifiers.
    label : str, optional
        The column to predict; "last" for the last column of each data set.
    seeds, folds : int
        Number of random seeds per method and data set, and of folds of the honest accuracy.
    alpha : float
        The weight of honest accuracy in the combined utility.
    identifiers, sensitive : iterable of str
        Columns to drop, and sensitive columns, in the data sets that have them.
    jobs : int, optional
        Number of processes at once; all cores by default. The figures do not depend on it.
    header : bool, optional
        Whether the first line of CSV files is a header; detected if not given, and refused if unclear.

    Returns
    -------
    MethodComparison

    Examples
    --------
    >>> import shoal
    >>> tables = {f"hospital {seed}": shoal.sample(60, seed=seed).select(["height_cm", "days"]) for seed in range(6)}
    >>> found = shoal.compare(tables, methods=["mdav", "mondrian"], k=3, seeds=1, jobs=1)
    >>> found.comparison.sets
    6
    """
    step("compare")
    names, wanted = _methods(methods), _measures(measure, label)
    seeds, folds, k = (
        whole(value, name, least, who="compare")
        for value, name, least in ((seeds, "seeds", 1), (folds, "folds", 2), (k, "k", 2))
    )
    jobs = None if jobs is None else whole(jobs, "jobs", 1, who="compare")
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha <= 1:
        raise PolicyError(f"compare: {argument('alpha')} must lie between 0 and 1; got {shortened(alpha)}.")
    if not isinstance(header, bool | None):
        raise PolicyError(f"compare: header must be True or False; got {shortened(header)}.")
    given = _sources(sources)
    asked = {"identifiers": _names(identifiers, "identifiers"), "sensitive": _names(sensitive, "sensitive")}
    settings: dict[str, Any] = {"measures": wanted, "k": k, "folds": folds, "alpha": alpha, "header": header}
    sets, trials = _trials(given, names, seeds, label, asked, settings)
    values = np.full((len(wanted), len(names), len(sets), seeds), np.nan)
    failed: dict[tuple[int, int], LeftOut] = {}
    for done, (number, result) in enumerate(spread(run, trials, min(jobs or cores(), len(trials)))):
        tick(done + 1, len(trials))
        method, column, seed = trials[number].place
        if isinstance(result, Failure):
            failed[column, method] = LeftOut(sets[column].name, names[method], result.reason)
        else:
            values[:, method, column, seed] = [result[one] for one in wanted]
    gone = {column for column, _ in failed}
    kept = [column for column in range(len(sets)) if column not in gone]
    left_out = tuple(failed[pair] for pair in sorted(failed))
    if not kept:
        why = " ".join(f"{one.set!r}: {one.method}: {one.reason}" for one in left_out[:3])
        raise DataError(f"compare: no data set could be released by every method. {why}")
    found = tuple(_measured(name, values[place][:, kept], names, folds) for place, name in enumerate(wanted))
    step("")
    return MethodComparison(
        tuple(names), tuple(sets[column] for column in kept), left_out, found, k, seeds, folds, float(alpha), label
    )


def _measured(name: str, values: Any, methods: Sequence[str], folds: int) -> Measured:
    """Return the figures of one measure with their ranks and tests."""
    if name == HONEST:
        how = f"decision tree trained on releases of {folds - 1} of {folds} folds, tested on original rows"
        title, higher, ends = "honest accuracy %", True, (0.0, 100.0)
    elif name == COMBINED:
        how = "weighted mean of honest accuracy and structural utility (the median over columns of 1 - W1/range)"
        title, higher, ends = "combined utility", True, (0.0, 1.0)
    else:
        card = measures.load(name)
        title, how, higher, ends = name, card.formula, card.better == "high", (card.low, card.high)
    return Measured(name, title, how, higher, values, tested(values.mean(axis=2), methods, higher=higher), ends)


def _methods(given: Iterable[str]) -> list[str]:
    """Return the names of methods, or refuse them."""
    names = list(dict.fromkeys(methods.load(name).name for name in _names(given, "methods")))
    if len(names) < 2:
        raise MethodError(f"compare: at least two methods are needed; got {listed(names) or 'none'}.")
    return names


def _measures(given: str | Iterable[str] | None, label: str | None) -> tuple[str, ...]:
    """Return the names of measures; refuse those without a direction and those that lack a label."""
    usual = USUAL if label is None else COMBINED
    wanted = tuple(dict.fromkeys(_names(usual if given is None else given, "measure")))
    if not 0 < len(wanted) <= MOST:
        raise MethodError(f"compare: from 1 to {MOST} measures can be compared; got {len(wanted)}.")
    for name in wanted:
        if name in (HONEST, COMBINED):
            if label is None:
                raise DataError(
                    f"compare: {name!r} needs a label. Name the column to predict, or 'last' for the last one."
                )
        elif meant := near(name, (HONEST, COMBINED)) if name not in measures.names() else "":
            raise MethodError(f"compare: unknown measure {name!r}.{meant}")
        elif measures.load(name).better == "neither":
            raise MethodError(
                f"compare: {name!r} cannot be ranked: neither high nor low figures are better. Choose another measure."
            )
    return wanted


def _sources(given: Any) -> dict[str, Any]:
    """Return the path or frame of each data set by name."""
    if isinstance(given, Mapping):
        found = {str(name): source for name, source in given.items()}
    else:
        several = [given] if isinstance(given, str | PathLike) else given if isinstance(given, list | tuple) else [None]
        if not all(isinstance(one, str | PathLike) for one in several):
            raise DataError("compare: frames need names. Give a mapping of names to frames, or a list of paths.")
        found = {}
        for path in map(Path, several):
            for file in _files(path):
                name = _stem(file)
                if name in found:
                    raise DataError(f"compare: two data sets are called {name!r}. Give a mapping of names to paths.")
                found[name] = file
    if not found:
        raise DataError("compare: there are no data sets; expected at least one. Give paths, or a mapping of names.")
    return found


def _endings() -> tuple[str, ...]:
    """Return the file endings that count as tables in a folder; a text file may be anything."""
    typed = (ending for card in formats.cards().values() if not card.text for ending in card.endings)
    return (".csv", ".csv.gz", ".tsv", *typed)


def _files(path: Path) -> list[Path]:
    """Return the file itself, or the tables of a folder sorted by name."""
    if not path.is_dir():
        return [path]
    try:
        endings = _endings()
        files = sorted(one for one in path.iterdir() if one.name.endswith(endings) and one.name[0] != ".")
    except OSError as problem:
        raise ReadError(f"compare: {str(path)!r} cannot be read: {problem.strerror}.") from None
    if not files:
        raise ReadError(f"compare: the folder {str(path)!r} contains no tables ({', '.join(endings)}).")
    return files


def _stem(path: Path) -> str:
    """Return the name of a file without its ending."""
    ending = next((one for one in sorted(_endings(), key=len, reverse=True) if path.name.endswith(one)), path.suffix)
    return path.name.removesuffix(ending) or path.name


def _names(given: str | Iterable[str], option: str) -> list[str]:
    """Return one name or several as a list."""
    return one_or_several(given, "compare", option, DataError)


def _trials(
    given: dict[str, Any],
    methods: list[str],
    seeds: int,
    label: str | None,
    asked: dict[str, list[str]],
    settings: dict[str, Any],
) -> tuple[list[Set], list[Trial]]:
    """Return the data sets and all trials, those of the largest tables first."""
    sets, found, lacking, seen = [], [], [], set[str]()
    for column, (name, source) in enumerate(given.items()):
        # Processes read files themselves; a frame is sent to them.
        held = str(source) if isinstance(source, str | PathLike) else from_frame(source)
        table = read(held, header=settings["header"])
        seen.update(table.names)
        predicted = label if label in table.names else str(table.names[-1]) if label == LAST else None
        if label is not None and predicted is None:
            lacking.append(name)
        roles = {role: [one for one in names if one in table.names] for role, names in asked.items()}
        others = {predicted, *roles["identifiers"], *roles["sensitive"]}
        sets.append(Set(name, table.n, sum(one not in others for one in table.names)))
        own: dict[str, Any] = {"source": held, "label": predicted, "roles": roles, "cells": table.n * len(table.names)}
        for (place, method), seed in product(enumerate(methods), range(seeds)):
            found.append(Trial(method=method, seed=seed, place=(place, column, seed), **own, **settings))
    if lacking:
        raise DataError(
            f"compare: there is no column {label!r} in {listed(lacking)}. Leave these data sets out, name another "
            "label, or 'last' for the last column of each."
        )
    for name in (one for names in asked.values() for one in names if one not in seen):
        raise DataError(f"compare: no data set has a column {name!r}.{near(name, seen)}")
    return sets, sorted(found, key=lambda one: -one.cells)
