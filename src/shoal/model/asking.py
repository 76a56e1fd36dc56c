"""How something is asked for: in Python and on the command line. Messages take both spellings from here."""

import shlex

__all__ = ["FLAGS", "option"]

# The option of the command line for each keyword of the Python functions.
FLAGS = {
    "accept": "--accept",
    "attacks": "--attacks",
    "control": "--control",
    "header": "--header",
    "identifiers": "--identifier",
    "keep": "--keep",
    "label": "--label",
    "only": "--only",
    "private": "--private",
    "protect": "--protect",
    "quasi": "--quasi",
    "report": "--report",
    "sensitive": "--sensitive",
}
PLACEHOLDERS = ("COLUMN", "FILE", "FOLDER")
LISTS = ("accept", "identifiers", "keep", "only", "quasi", "sensitive")


def option(name: str, value: str | bool) -> str:
    """Return how to ask for something, for people who read a message in either place.

    Parameters
    ----------
    name : str
        The keyword in Python, one of `FLAGS`.
    value : str or bool
        What to give it; one of `PLACEHOLDERS` stands for a value of the reader's own.

    Examples
    --------
    >>> option("accept", "unique-kept")
    "accept=['unique-kept'] in Python, --accept unique-kept on the command line"
    >>> option("header", False)
    'header=False in Python, --no-header on the command line'
    >>> option("private", "FOLDER")
    'private=FOLDER in Python, --private FOLDER on the command line'
    """
    flag = FLAGS[name]
    if isinstance(value, bool):
        given, option = str(value), flag if value else flag.replace("--", "--no-", 1)
    else:
        word = value if value in PLACEHOLDERS else repr(value)
        given, option = f"[{word}]" if name in LISTS else word, f"{flag} {shlex.quote(value)}"
    return f"{name}={given} in Python, {option} on the command line"
