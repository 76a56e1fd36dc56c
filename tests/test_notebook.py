"""The notebook among the examples runs from its first cell to its last, and its release is verified."""

import html
import re
from pathlib import Path

import pytest

import shoal

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")


def cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in cells(notebook))


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_every_cell_runs_and_the_release_is_verified(tmp_path):
    notebook = nbformat.read(EXAMPLES / "04_notebook.ipynb", as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    ran = cells(notebook)
    assert [cell.execution_count for cell in ran] == list(range(1, len(ran) + 1))
    outputs = [output for cell in ran for output in cell.outputs]
    assert not [
        output for output in outputs if output.output_type in ("error", "stream") and output.get("name") != "stdout"
    ]
    pages = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert any("shoal release" in page and "holds" in page for page in pages)
    assert any("Confidential: this shows the original" in page and "<svg" in page for page in pages)
    assert any("2 methods on 6 data sets" in page and "<svg" in page for page in pages)
    assert any("9 releases: risk against utility" in page and "<svg" in page for page in pages)
    # Charts are interactive by a bundled script, without network requests.
    charts = [html.unescape(page) for page in pages if "classList.toggle" in html.unescape(page)]
    assert len(charts) == 2
    assert not any(re.search(r"<(script|link)[^>]*(src|href)=|cdn\.jsdelivr", chart) for chart in charts)
    assert ran[-1].outputs[-1]["data"]["text/plain"] == "True"
    assert shoal.verify(tmp_path / "release").holds
    assert (tmp_path / "private").is_dir()
