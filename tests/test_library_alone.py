"""`diagnose`, `find` and `watching` work where there is no course, and then name no lesson."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograd_graphs

LIBRARY = Path(autograd_graphs.__file__).parent
PROGRAM = """
import sys, torch
from autograd_graphs import diagnose, find, watching

weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
with watching(optimizer):
    for _ in range(3):
        loss = (weight * weight).sum()
        loss.backward()
        optimizer.step()
try:
    loss.backward()
except RuntimeError as error:
    diagnose(error)
diagnose(ValueError("something else"))
print(find("leaf")._repr_markdown_())
print(find("a second time"))
diagnose(None, weight.sum(), optimizer)
assert "helpers" not in sys.modules
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What the program prints where nothing but the library is on the path."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copytree(LIBRARY, folder / "autograd_graphs")
    program = folder / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run([sys.executable, program], cwd=folder, capture_output=True, text=True)
    assert not done.stderr
    return " ".join(done.stdout.split())


def test_a_loop_an_error_and_a_step_are_looked_at(alone):
    assert "Line 10 of program.py, rounds 2–3 of SGD. loss.backward(): backward() added to" in alone
    assert (
        "You've already run backward from loss, and that freed what its graph had saved." in alone
    )
    assert "The loss reaches 1 of 1 parameters" in alone


def test_words_and_messages_are_found(alone):
    assert "**leaf**" in alone
    assert "A node had saved a tensor, and an earlier backward()" in alone


def test_no_lesson_and_no_notebook_is_named(alone):
    assert "I don't know this error, so I won't guess." in alone
    for word in ("esson", ".ipynb", "the course", "lossary"):
        assert word not in alone
