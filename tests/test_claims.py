"""Claims: who sees them, that a false one is found, that a lesson is the same without. In tmp_path."""

from pathlib import Path

import nbformat
import pytest
from comparing import failing_cells
from refresh import executed

from course.publishing.notebook_file import opened
from course.workspace import is_claim, student_copy
from helpers import claims

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
CLAIMS = (
    "from helpers.claims import refusal, rerun",
    'assert rerun("product", "6", "2") == "14\\n"',
    'assert "division by zero" in rerun("product", "6 * 7", "6 / 0")',
    'assert refusal(lambda: int("six")).startswith("invalid literal")',
)


def claim(source):
    return nbformat.v4.new_code_cell(source, metadata={"course": {"role": "claim"}})


def with_a_claim(path, source):
    """Write a small notebook, run, with a claim between two cells; return its file."""
    product = nbformat.v4.new_code_cell("6 * 7", id="product")
    last = nbformat.v4.new_code_cell("In")
    cells = [product, nbformat.v4.new_markdown_cell("It is 42."), claim(source), last]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, path)
    nbformat.write(executed(notebook, path), path)
    return path


@pytest.mark.notebooks
def test_a_claim_reads_and_reruns_its_notebook_and_takes_no_number(tmp_path):
    path = with_a_claim(tmp_path / "small.ipynb", "\n".join(CLAIMS))
    first, _, _, last = nbformat.read(path, 4).cells
    assert [first.execution_count, last.execution_count] == [1, 2]
    assert last.outputs[0].data["text/plain"] == "['', '6 * 7', 'In']"
    assert failing_cells(tmp_path) == {"small": set()}
    path.write_text(path.read_text("utf-8").replace('== \\"14', '== \\"15'), "utf-8")
    assert failing_cells(tmp_path) == {"small": {1}}, "a false claim is found"


def test_what_is_not_in_the_notebook_is_not_rerun(tmp_path, monkeypatch):
    path = tmp_path / "small.ipynb"
    product = nbformat.v4.new_code_cell("6 * 7", id="product")
    nbformat.write(nbformat.v4.new_notebook(cells=[product]), path)
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    for cell, old in (("sum", "6"), ("product", "8")):
        with pytest.raises(ValueError, match=f"'{cell}'"):
            claims.rerun(cell, old, "9")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_neither_a_student_nor_a_reader_sees_a_claim(path):
    assert not any(map(is_claim, student_copy(path)["cells"]))
    assert not any(map(is_claim, opened(path).cells))


@pytest.mark.thorough
def test_without_their_claims_the_notebooks_show_the_same(tmp_path):
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, 4)
        kept = [cell for cell in notebook.cells if not is_claim(cell)]
        if len(kept) < len(notebook.cells):
            notebook.cells = kept
            nbformat.write(notebook, tmp_path / path.name)
    assert not any(failing_cells(tmp_path).values())
