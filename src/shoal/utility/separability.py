"""Separability: how well a decision tree trained on a release predicts labels, as published and honestly.

The rows are split into ten folds, stratified by label, several times. For each fold a fully grown tree learns from the
released rows of the nine others.

1. **Honest**: it is tested on the fold's original rows. This is what an analyst can hope for.
2. **As published**: it is tested on the fold's released rows. Such a row has the same values as the other rows of its
   class, from which the tree has learned, so that it answers with the commonest label among them.
3. **Control**: as 2, on a release whose values are random numbers, one vector for each class.

2 and 3 are equal to the last row, since the tree sees only which class a row is in. This needs two things. No class may
lie in one fold alone, or the tree has not seen it: such a split is repaired by swapping two rows of one label. And a
tree must be able to distinguish the classes: it uses single precision, and treats numbers less than 1e-7 apart as
equal. A row that is alone in its class is predicted from its values after all; the number of unseen rows is reported.

The honest figure is that of one release of all rows: a row's own values are part of the mean that represents it. To
release only the training rows is stricter by a point or so, and needs the method, not only its release.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.model.seeds import for_sklearn
from shoal.model.sentences import Rows, Sentence
from shoal.privacy.measures.intervals import WIDE, wilson
from shoal.privacy.measures.pairs import Pair
from shoal.privacy.verdict.classes import classes

FOLDS = 10
ROWS, MOST_REPEATS = 10_000, 10  # tested rows in total, about; and most repeats
RESOLUTION = 1e-7  # smallest difference that a tree distinguishes

Labels = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class Accuracy:
    """The share of correct predictions, and its confidence interval.

    The interval is 1.96 s / sqrt(folds) on each side, s being the standard deviation of the accuracies of all folds of
    all repeats: repeating the split adds no people.
    """

    share: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class Separability:
    """The accuracy of trees on this many rows."""

    honest: Accuracy
    published: Accuracy
    control: Accuracy
    majority: Accuracy  # of the commonest label, with Wilson's interval
    rows: int
    folds: int
    repeats: int
    unseen: int  # rows, over all repeats, whose class was not among those learned from
    sampled: bool  # whether whole classes were left out, because there are too many rows

    @property
    def how(self) -> str:
        """How it was measured, in a few words."""
        some = Sentence(", {rows:,} rows in whole classes at random", rows=Rows(self.rows)) if self.sampled else ""
        given = {"folds": self.folds, "repeats": self.repeats, "some": some}
        return Sentence("decision tree, {folds} folds, repeats: {repeats}{some}", **given)


def separability(
    columns: Sequence[Pair], label: Labels, *, folds: int = FOLDS, repeats: int | None = None, seed: int = 0
) -> Separability | None:
    """Measure accuracy on original and released rows, and with random numbers: 0 to 1, high is good, needs the pair.

    Columns of truthful forms are left out. A missing number is at the mean of its column, and flagged by a further
    column; among categories it is one. Labels are codes from 0 up. Repeats are by default as many as 10,000 rows allow,
    from 1 to 10. None if there is only one label, no usable column, or fewer than two rows per fold.
    """
    plain = [column for column in columns if not column.truthful]
    if not plain or label.size < 2 * folds or label.max() == label.min():
        return None
    before, after = _features(plain)
    whole = len(before)
    owner = seen_classes(after)
    rows = _some(owner, seed)
    before, after, label = before[rows], after[rows], np.unique(label[rows], return_inverse=True)[1].reshape(-1)
    owner = np.unique(owner[rows], return_inverse=True)[1].reshape(-1)
    n, count = len(rows), int(label.max()) + 1
    if n < 2 * folds or count < 2:
        return None
    turns = repeats or int(np.clip(ROWS // n, 1, MOST_REPEATS))
    rng = np.random.default_rng((seed, 3))
    numbers = np.column_stack([rng.permutation(int(owner.max()) + 1) for _ in range(after.shape[1])])
    noise = numbers[owner].astype(np.float64)
    accuracies, unseen = np.zeros((3, turns, folds)), 0
    right = np.zeros(3)
    for turn in range(turns):
        fold = deal(label, owner, folds, rng)
        unseen += _unseen(owner, fold)
        answers = _asked(before, after, noise, label, fold, seed)
        for place, one in enumerate(answers):
            accuracies[place, turn] = np.bincount(fold, one, folds) / np.bincount(fold, minlength=folds)
            right[place] += one.sum()
    honest, published, control = (_accuracy(float(right[place]) / (turns * n), accuracies[place]) for place in range(3))
    most = int(np.bincount(label).max())
    majority = Accuracy(most / n, wilson(most, n))
    return Separability(honest, published, control, majority, n, folds, turns, unseen, n < whole)


def deal(label: Labels, owner: Labels, folds: int, rng: np.random.Generator) -> Labels:
    """Return the fold of each row: every label spread over all folds, and no class of two or more rows in one alone.

    Labels and classes (`owner`) are codes from 0 up.
    """
    order = rng.permutation(label.size)
    order = order[np.argsort(label[order], kind="stable")]
    fold = np.empty(label.size, np.int64)
    fold[order] = np.arange(label.size) % folds
    sizes = np.bincount(owner)
    held = np.bincount(owner * folds + fold, minlength=sizes.size * folds).reshape(-1, folds)
    for stuck in np.flatnonzero((held.max(axis=1) == sizes) & (sizes > 1)):
        where = int(held[stuck].argmax())
        if held[stuck, where] < sizes[stuck]:
            continue  # a swap for another class has freed it
        for row in np.flatnonzero(owner == stuck):
            others = np.flatnonzero((label == label[row]) & (fold != where))
            theirs = owner[others]
            others = others[(sizes[theirs] == 1) | (held[theirs, where] + 1 < sizes[theirs])]
            if others.size:
                other = int(others[rng.integers(others.size)])
                for one, goes in ((row, int(fold[other])), (other, where)):
                    held[owner[one], fold[one]] -= 1
                    held[owner[one], goes] += 1
                    fold[one] = goes
                break
    return fold


def seen_classes(X: Floats) -> Labels:
    """Return the class of each row as a decision tree distinguishes them: single precision, at least 1e-7 apart."""
    codes = []
    for column in X.T.astype(np.float32).astype(np.float64):
        values, place = np.unique(column, return_inverse=True)
        steps = np.cumsum(np.append(0, np.diff(values) > RESOLUTION))
        codes.append(steps[place.reshape(-1)].astype(np.int64))
    return classes(codes, len(X))


def _asked(before: Floats, after: Floats, noise: Floats, label: Labels, fold: Labels, seed: int) -> Truths:
    """Return which rows are predicted correctly: the original ones, the released ones, those of random numbers."""
    from sklearn.tree import DecisionTreeClassifier

    right = np.zeros((3, label.size), bool)
    state = for_sklearn(seed)
    for part in range(int(fold.max()) + 1):
        ask, learn = fold == part, fold != part
        tree, blind = (DecisionTreeClassifier(random_state=state).fit(X[learn], label[learn]) for X in (after, noise))
        for place, (model, X) in enumerate(((tree, before), (tree, after), (blind, noise))):
            right[place, ask] = model.predict(X[ask]) == label[ask]
    return right


def _accuracy(share: float, accuracies: Floats) -> Accuracy:
    """Return the share with its interval."""
    half = WIDE * float(accuracies.std(ddof=1)) / float(np.sqrt(accuracies.shape[-1]))
    return Accuracy(share, (max(0.0, share - half), min(1.0, share + half)))


def _unseen(owner: Labels, fold: Labels) -> int:
    """Return the rows whose class lies in their fold alone."""
    folds = int(fold.max()) + 1
    here = np.bincount(owner * folds + fold, minlength=(int(owner.max()) + 1) * folds)
    return int((here[owner * folds + fold] == np.bincount(owner)[owner]).sum())


def _some(owner: Labels, seed: int) -> Labels:
    """Return the rows to use: all, or whole classes at random."""
    if owner.size <= ROWS:
        return np.arange(owner.size)
    sizes = np.bincount(owner)
    order = np.random.default_rng((seed, 5)).permutation(sizes.size)
    kept = np.zeros(sizes.size, bool)
    kept[order[: max(1, int((np.cumsum(sizes[order]) <= ROWS).sum()))]] = True
    return np.flatnonzero(kept[owner])


def _features(columns: Sequence[Pair]) -> tuple[Floats, Floats]:
    """Return the features of trees before and after: z-scores of the table, codes of categories, and missing flags."""
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    for column in columns:
        both = column.numbers if column.ordered else column.codes
        gaps = [np.isnan(one) for one in both]
        known = both[0][~gaps[0]]
        middle, spread = (known.mean(), known.std()) if column.ordered and known.size else (0.0, 1.0)
        for side, one, gap in zip(sides, both, gaps, strict=True):
            side.append(np.nan_to_num((one - middle) / (spread if spread > 0 else 1.0), nan=0.0))
            if any(each.any() for each in gaps):
                side.append(gap.astype(np.float64))
    return np.column_stack(sides[0]), np.column_stack(sides[1])
