"""What the patch teaches nbval: such cells are equal with it, a changed film is not. In tmp_path."""

import nbformat
import pytest
from comparing import failing_cells
from refresh import executed

from autograd_graphs.playing.player import FILM

CELLS = {  # what a front end does -> a cell that does it
    "set-up": "import torch\nimport ipywidgets as w\nfrom IPython.display import clear_output, display",
    "capture": "out = w.Output()\nwith out:\n    print('inside')\nprint('outside')",
    "update": "handle = display('one', display_id=True)\nhandle.update('two')",
    "silence": "6 * 7;",
    "clear": "print('gone')\nclear_output()\nprint('stays')",
    "clear later": "print('gone')\nclear_output(wait=True)\nprint('stays')",
    "pixels": "import os\nfrom IPython.display import HTML\n"
    'HTML(f\'<img alt="dots" src="data:image/png;base64,{os.urandom(9).hex()}">\')',
    "moons": "from helpers.moons import moons_picture\n"
    "moons_picture(lambda points: points @ (1 + torch.rand(2) / 1e5), 'score')",
    "film": "from helpers import step_through\n"
    "x = torch.tensor(3.0, requires_grad=True)\nstep_through(x * 5)",
}


@pytest.mark.thorough
def test_nbval_agrees_with_a_front_end_and_finds_a_film_that_no_run_gave(tmp_path):
    made = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    notebook = executed(nbformat.v4.new_notebook(cells=made), tmp_path / "front_end.ipynb")
    stored = dict(zip(CELLS, [cell.outputs for cell in notebook.cells], strict=True))
    assert stored["capture"][0].text == "outside\n"
    assert stored["update"][0].data["text/plain"] == "'two'"
    assert stored["silence"] == []
    assert [stored[name][0].text for name in ("clear", "clear later")] == ["stays\n", "stays\n"]
    nbformat.write(notebook, tmp_path / "front_end.ipynb")
    assert failing_cells(tmp_path) == {"front_end": set()}
    data = stored["film"][0].data
    data[FILM] = data[FILM].replace("other = 5", "other = 6")
    moons = stored["moons"][0].data
    moons["text/plain"] = moons["text/plain"].replace("of 100 right", "0 of 100 right")
    nbformat.write(notebook, tmp_path / "front_end.ipynb")
    changed = {list(CELLS).index(name) for name in ("film", "moons")}
    assert failing_cells(tmp_path) == {"front_end": changed}
