"""What the tests of reading share."""

import pytest


@pytest.fixture
def put(tmp_path):
    """Give a function that writes a file and returns its path."""

    def write(content, name="x.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
