"""What docs/elsewhere.md says of Colab, as far as it can be tried without Colab: the package as pip installs it
from a folder, a lesson's copy that lies elsewhere, and Colab's own module as anywidget asks it.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from course import workspace

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "elsewhere.md").read_text(encoding="utf-8")
CELL = re.search(r"^## Colab\n.*?```python\n(.*?)```", TEXT, re.M | re.S)[1]
VIEW = "application/vnd.jupyter.widget-view+json"
URL = "manager.js"
# What anywidget asks of it, by its own code.
COLAB = f"""import sys
from types import ModuleType, SimpleNamespace

asked = []
google, colab, output = map(ModuleType, ["google", "google.colab", "google.colab.output"])
output._widgets = SimpleNamespace(_installed_url=None)


def enable_custom_widget_manager():
    asked.append("enabled")
    output._widgets._installed_url = "{URL}"


output.enable_custom_widget_manager = enable_custom_widget_manager
sys.modules |= {{"google": google, "google.colab": colab, "google.colab.output": output}}"""
END = "import helpers\nprint(*asked, helpers.__file__)"


def test_the_cell_clones_and_installs_the_same_folders_and_is_not_an_editable_install():
    clone, install = CELL.strip().splitlines()
    assert clone.startswith("!git clone ")
    folder = f"./{clone.split()[-1]}"
    assert install == f"%pip install --quiet {folder}/autograd_graphs {folder}"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The packages alone, installed from a copy of the course as pip does it; nothing is fetched."""
    folder = tmp_path_factory.mktemp("colab")
    for part in ("autograd_graphs", "helpers", "course", "classroom", "notebooks"):
        shutil.copytree(ROOT / part, folder / "graphs" / part)
    for path in [
        *ROOT.glob("*.txt"),
        ROOT / "pyproject.toml",
        ROOT / "setup.py",
        ROOT / "README.md",
    ]:
        shutil.copy(path, folder / "graphs")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--target", str(folder / "there")]
    command = [sys.executable, "-m", "pip", "install", "--quiet"]
    command += ["./graphs/autograd_graphs", "./graphs", *offline]
    subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True)
    return folder / "there"


@pytest.mark.slow
@pytest.mark.notebooks
def test_a_copy_of_a_lesson_runs_beside_the_installed_package(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    (tmp_path / "ipython").mkdir()
    monkeypatch.delenv("PROGRESS_FOLDER")
    master = ROOT / "notebooks" / "00_start_here.ipynb"
    lesson = nbformat.from_dict(workspace.student_copy(master))
    lesson.cells = [new_code_cell(COLAB), *lesson.cells, new_code_cell(END)]
    content = tmp_path / "content"
    content.mkdir()
    client = NotebookClient(lesson, timeout=60, resources={"metadata": {"path": str(content)}})
    client.execute(env=os.environ | {"PYTHONPATH": str(installed)})
    outputs = [output for cell in lesson.cells for output in cell.get("outputs", ())]
    assert outputs[-1].text == f"enabled {installed / 'helpers' / '__init__.py'}\n"
    views = [output for output in outputs if VIEW in output.get("data", {})]
    assert len(views) >= 10
    manager = {"colab": {"custom_widget_manager": {"url": URL}}}
    assert all(view.metadata.get(VIEW) == manager for view in views)
