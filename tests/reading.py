"""Reading in tests: the cells of a file, or the error message if it is refused."""

import traceback

import pytest

from shoal.errors import ReadError
from shoal.io.files import read

MARK = "Zebedee4711"


def refusal(source, **options):
    """Return the message of the error that a source raises, after searching the whole chain of errors for a cell."""
    with pytest.raises(ReadError) as caught:
        read(source, **options)
    link, seen = caught.value, []
    while link is not None:
        seen.append(str(link))
        link = link.__cause__ or link.__context__
    assert MARK not in "\n".join(seen)
    assert MARK not in "".join(traceback.format_exception(caught.value))
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("read: ")
    return message


def columns(path, **options):
    return read(path, **options).data.to_pydict()
