"""Whatever lesson 01 tells readers to write instead of old code is run there, and does what the old
code does.

Reads the notebook only.
"""

import re
from pathlib import Path

import pytest
import torch
from notebook_rules import Lesson
from torch.autograd import Variable

LESSON = Path(__file__).parent.parent / "notebooks" / "01_variable_to_tensor.ipynb"
# old code that does no more what it did: one warns and does nothing, one raises
NO_LONGER = ("Variable(t, volatile=True)", "loss.data[0]")
SHAPE_ONLY = ("torch.Tensor(2, 2)",)  # its numbers are whatever lay in that memory


def rows():
    """Return the old code and the new code of each row of the table."""
    lesson = Lesson.at(LESSON)
    table = next(cell.source for cell in lesson.cells if "### Migration table" in cell.source)
    found = re.findall(r"(?m)^\| `(.+?)`.* \| (.+) \|$", table)
    return [(old, re.findall(r"`(.+?)`", new)) for old, new in found]


def names():
    """Return tensors with the names that the table uses."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    t = torch.tensor([1.0, 2.0])
    loss = (w * t).sum()
    loss.backward()
    start, new = torch.tensor([3.0, 4.0]), torch.tensor([5.0, 6.0])
    return {
        "torch": torch, "Variable": Variable, "z": x * 2, "w": w, "t": t, "loss": loss, "start": start,
        "new": new,
    }  # fmt: skip


def run(lines):
    """Run code, the last line after a `with` in its block; return what it gives and what it left."""
    space = names()
    if lines[0].endswith(":"):
        lines = [lines[0] + " " + " ".join(lines[1:])]
    try:
        gives = eval(lines[0], space)
    except SyntaxError:
        gives = exec(lines[0], space)
    return gives, space


def traits(gives, space, shape_only):
    """Return what must be alike: what the code gave, and every tensor that it could have changed."""
    seen = [gives] + [space[name] for name in ("w", "t", "z", "start")] + [space["w"].grad]
    return [
        (
            one.shape if shape_only else one.tolist(),
            one.dtype,
            one.requires_grad,
            one.grad_fn is None,
        )
        if isinstance(one, torch.Tensor)
        else one
        for one in seen
    ]


@pytest.mark.notebooks
def test_every_right_hand_side_of_the_migration_table_runs_in_a_cell():
    advice = [code for _, new in rows() for code in new]
    run = [cell.source for cell in Lesson.at(LESSON).code if not cell.errors]
    assert len(rows()) >= 9
    assert [
        code for code in advice if not any(re.search(rf"\b{re.escape(code)}", cell) for cell in run)
    ] == []


@pytest.mark.parametrize(("old", "new"), rows(), ids=[old for old, _ in rows()])
def test_what_the_table_advises_does_what_the_old_code_does(old, new):
    if old in NO_LONGER:
        return
    shape_only = old in SHAPE_ONLY
    assert traits(*run([old]), shape_only) == traits(*run(new), shape_only)


def test_the_two_old_lines_that_do_no_more_what_they_did():
    assert {old for old, _ in rows()} >= set(NO_LONGER)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert (run(["Variable(t, volatile=True) * w"])[0]).requires_grad
    assert not run(["with torch.no_grad():", "product = t * w"])[1]["product"].requires_grad
    with pytest.raises(IndexError):
        run(["loss.data[0]"])
    assert run(["loss.item()"])[0] == 11.0
