"""Random seeds of earlier runs, read from the holder's private folder."""

import json
from pathlib import Path

from shoal.errors import ReadError
from shoal.model.asking import option
from shoal.pipeline.write import FINDINGS

__all__ = ["seed_of"]


def seed_of(private: str | Path) -> int:
    """Return the random seed of an earlier run, to repeat it.

    Parameters
    ----------
    private : path
        The private folder that was written with the release, of a table or of sets.

    Returns
    -------
    int
        Keep it to yourself: whoever has the seed can test guesses about the table by repeating the run.

    Examples
    --------
    >>> import pyarrow as pa, shoal, tempfile
    >>> table = pa.table({"age": [34, 36, 35, 61, 60, 62]})
    >>> with tempfile.TemporaryDirectory() as place:
    ...     release = shoal.anonymize(table, k=3)
    ...     _ = release.save(f"{place}/release", private=f"{place}/mine")
    ...     seed_of(f"{place}/mine") == release.policy.seed
    True
    """
    folder = Path(private)
    if not folder.exists():
        raise ReadError(
            f"seed: {str(folder)!r} does not exist; expected the private folder of an earlier run. Check the path."
        )
    try:
        facts = json.loads((folder / FINDINGS).read_text(encoding="utf-8"))
        seed = facts["seed"] if "seed" in facts else facts["policy"]["seed"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        seed = None
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ReadError(
            f"seed: {str(folder)!r} holds no random seed; expected the private folder of an earlier run. Name the "
            f"folder that was given to it ({option('private', 'FOLDER')})."
        )
    return seed
