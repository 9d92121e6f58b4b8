"""Whatever lesson 01 tells readers to write instead of old code runs, and does what the old code does.

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
    found = {"torch": torch, "Variable": Variable, "z": x * 2}
    return found | {"w": w, "t": t, "loss": loss}


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


def traits(gives, space):
    """Return what must be alike: what the code gave, and every tensor that it could have changed."""
    seen = []
    for one in [gives, space["w"], space["t"], space["z"], space["w"].grad]:
        if isinstance(one, torch.Tensor):
            one = one.tolist(), one.dtype, one.requires_grad, one.grad_fn is None
        seen.append(one)
    return seen


@pytest.mark.parametrize(("old", "new"), rows(), ids=[old for old, _ in rows()])
def test_what_the_table_advises_does_what_the_old_code_does(old, new):
    if old in NO_LONGER:
        return
    assert traits(*run([old])) == traits(*run(new))


def test_the_two_old_lines_that_do_no_more_what_they_did():
    assert len(rows()) == 7
    assert {old for old, _ in rows()} >= set(NO_LONGER)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert (run(["Variable(t, volatile=True) * w"])[0]).requires_grad
    assert not run(["with torch.no_grad():", "product = t * w"])[1]["product"].requires_grad
    with pytest.raises(IndexError):
        run(["loss.data[0]"])
    assert run(["loss.item()"])[0] == 11.0
