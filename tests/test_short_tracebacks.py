"""An error shows the lines that one has written, and its message; what libraries did is asked for."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = (
    "import torch\nfrom helpers import diagnose",
    "def step():\n    torch.zeros(2).sum().backward()\nstep()",
    "%tb",
    "diagnose()",
    "import warnings\nwarnings.warn(3)",
)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What each cell put out, as plain text."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook = nbformat.v4.new_notebook(cells=cells)
    resources = {"metadata": {"path": str(tmp_path_factory.mktemp("cells"))}}
    NotebookClient(notebook, allow_errors=True, resources=resources).execute()
    return [re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(map(words, cell.outputs))) for cell in cells]


def words(output):
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return output.get("text") or output.data["text/plain"]


@pytest.mark.slow
def test_an_error_shows_your_lines_and_its_message_and_tb_the_rest(told):
    assert "----> 3 step()" in told[1]
    assert "----> 2     torch.zeros(2).sum().backward()" in told[1]
    assert re.search(
        r"\[\.\.\. \d calls inside libraries: %tb shows them\]\n\nRuntimeError:", told[1]
    )
    assert "_tensor.py" not in told[1]
    assert "_tensor.py" in told[2]
    assert "inside libraries" not in told[2]
    assert "Look at line 2 of cell [2]" in told[3]
    assert "----> 2 warnings.warn(3)" in told[4]
