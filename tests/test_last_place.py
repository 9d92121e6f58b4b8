"""Numbers that a lesson shows step by step do not hang on the last bit: another machine may round
it otherwise.
"""

import contextlib
import io
import json
import linecache
from pathlib import Path

import pytest
import torch
from IPython.display import display

import autograd_graphs.stepping
from course.workspace import is_claim

LESSONS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
STEPPED = [path for path in LESSONS if "step_through(" in path.read_text(encoding="utf-8")]
UNITS = (-3, 2)


def nudged(tensor, units):
    """Return a leaf moved by some units in the last place; a zero is exact on any machine."""
    if not tensor.is_floating_point():
        return tensor
    flag, moved = tensor.requires_grad, tensor.detach().clone()
    for _ in range(abs(units)):
        moved = torch.nextafter(moved, torch.full_like(moved, float("inf") * units))
    moved = torch.where(tensor == 0, tensor.detach(), moved)
    return moved.requires_grad_(flag)


def told(path, units, monkeypatch):
    """Run a lesson with every torch.tensor moved, and return the texts of its stepped traces."""
    texts, make = [], torch.tensor
    monkeypatch.setattr(autograd_graphs.stepping, "Player", lambda film: texts.append(film.text))
    monkeypatch.setattr(
        torch, "tensor", lambda *args, **kwargs: nudged(make(*args, **kwargs), units)
    )
    space = {"__name__": "__main__", "display": display}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code" or is_claim(cell):
            continue
        if "Out." in source:  # what IPython keeps is not here
            continue
        tagged = "raises-exception" in cell["metadata"].get("tags", [])
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(Exception if tagged else AssertionError),
        ):
            exec(compile(source, shown(cell["id"], source), "exec"), space)
    monkeypatch.undo()
    return texts


def shown(name, source):
    """Let a function of a cell be asked for its source, as in a notebook."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return name


@pytest.mark.notebooks
@pytest.mark.parametrize("path", STEPPED, ids=lambda path: path.name[:2])
def test_the_text_of_a_trace_is_the_same_a_few_units_away(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    plain = told(path, 0, monkeypatch)
    assert plain
    for units in UNITS:
        assert told(path, units, monkeypatch) == plain
