"""Shared by the tests of reading."""

import pytest


@pytest.fixture
def put(tmp_path):
    """Return a function that writes a file and returns its path."""

    def write(content, name="x.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
