"""`make next`: what it refuses, installs and reports. In tmp_path, with the torch here."""

import base64
import json
import re
import sys

import made_up_lesson
import next_torch
import pytest
from comparing import REPORT
from notebook_rules.lesson import DATA_URI

pytestmark = pytest.mark.thorough
NBVAL = ["-p", "nbval_patch", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=20"]
SANITISER = f"--nbval-sanitize-with={next_torch.ROOT / 'tests' / 'nbval_sanitize.cfg'}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--torch="], "Which torch? For example"),
        (["--torch=next"], "'next' is no version of torch. For example"),
        (["--torch=2.14.0", "--wheels=nowhere"], "FROM=nowhere is no folder"),
        (["--torch=2.14.0", "--notebooks", "77*.ipynb"], "There is no lesson 77*.ipynb"),
    ],
)
def test_what_cannot_be_meant_gets_a_sentence(arguments, sentence):
    with pytest.raises(SystemExit, match=re.escape(sentence)):
        next_torch.main(arguments, environment=None)


def test_the_lock_holds_for_all_but_torch_and_what_comes_with_it():
    lock = (next_torch.ROOT / "constraints.txt").read_text(encoding="utf-8")
    left_out = {re.match(r"[\w-]+", line)[0] for line in set(lock.split("\n")) - set(held(lock))}
    assert {"torch", "triton", "cuda-bindings", "nvidia-cudnn-cu13"} <= left_out
    assert not left_out & {"anywidget", "numpy", "sympy", "jupyterlab"}
    assert not [line for line in held(lock) if re.match("torch==|nvidia|triton|cuda", line)]


def held(lock):
    return next_torch.without_torch(lock).split("\n")


@pytest.mark.notebooks
def test_a_torch_that_cannot_be_installed_is_named_with_what_pip_said(tmp_path, monkeypatch):
    monkeypatch.setattr(next_torch, "NEXT", tmp_path / "next")
    with pytest.raises(SystemExit) as stopped:
        next_torch.main(
            ["--torch=0.0.77"], lambda torch, places: next_torch.installed(torch, ["--no-index"])
        )
    said = str(stopped.value)
    assert said.startswith("torch 0.0.77 could not be installed into build/next:\n")
    assert re.search(r"ERROR: .*torch==0\.0\.77", said), "pip words it by what else it was told"
    assert "TORCH_INDEX=" in said


def changed():
    """Return a lesson with one digit, one label in a picture and one traceback that no run gives."""
    notebook = json.loads(json.dumps(made_up_lesson.lesson().node))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    digit, drawn, last = code[1], code[3], code[-1]
    digit["outputs"][0]["data"]["text/plain"] = "52"
    html = drawn["outputs"][0]["data"]["text/html"]
    picture = made_up_lesson.SVG.replace("MulBackward0", "Changed")
    encoded = base64.b64encode(picture.encode()).decode()
    drawn["outputs"][0]["data"]["text/html"] = html.replace(DATA_URI.search(html)[1], encoded)
    last["source"] = 'raise RuntimeError("now it raises")\n' + last["source"]
    return notebook, {1, 3, len(code) - 1}


@pytest.mark.notebooks
def test_every_output_that_moved_is_reported_and_no_other(tmp_path, capfd):
    notebook, moved = changed()
    for name, made in (("98_changed", notebook), ("99_made_up", made_up_lesson.lesson().node)):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(made), encoding="utf-8")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    arguments = ["--torch=2.14.0", "--notebooks", str(tmp_path), "--", *NBVAL, SANITISER]
    assert next_torch.main(arguments, lambda torch, places: sys.executable) == 0
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    said = capfd.readouterr().out
    found = [(name, int(cell)) for _, name, cell in REPORT.findall(said)]
    assert sorted(found) == [("98_changed", cell) for cell in sorted(moved)]
    assert "3 failed, " in said
