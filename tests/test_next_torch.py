"""`make next`: what it refuses, what it installs, and that what moved is reported. In tmp_path,
with the torch here.
"""

import base64
import json
import re
import sys
from importlib.metadata import version

import made_up_lesson
import next_torch
import pytest
from notebook_rules.lesson import DATA_URI, decoded_pictures

pytestmark = pytest.mark.thorough

LABEL = re.compile(r">([^<>\s][^<>]*)</(?:text|tspan)>")


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def find(notebook, wanted):
    """Return the first output that `wanted` accepts."""
    outputs = [one for cell in code_cells(notebook) for one in cell["outputs"]]
    return next(filter(wanted, outputs))


def data(output):
    return output.get("data", {})


def relabelled(svg):
    """Return the picture with one label changed, and nothing else."""
    found = LABEL.search(svg)
    return f"{svg[: found.start(1)]}Changed{svg[found.end(1) :]}"


def a_digit(notebook):
    output = find(notebook, lambda o: re.search(r"\d", data(o).get("text/plain", "")))
    plain = output["data"]["text/plain"]
    digit = re.search(r"\d", plain)
    changed = f"{plain[: digit.start()]}{9 - int(digit[0])}{plain[digit.end() :]}"
    output["data"]["text/plain"] = changed


def a_label_in_the_img(notebook):
    output = find(notebook, lambda o: DATA_URI.search(data(o).get("text/html", "")))
    html = output["data"]["text/html"]
    changed = relabelled(next(decoded_pictures(html)))
    encoded = base64.b64encode(changed.encode()).decode()
    output["data"]["text/html"] = html.replace(DATA_URI.search(html)[1], encoded)


def a_cell_that_now_raises(notebook):
    cell = code_cells(notebook)[-1]
    cell["source"] = 'raise RuntimeError("now it raises")\n' + cell["source"]


TAMPERS = [a_digit, a_label_in_the_img, a_cell_that_now_raises]
NBVAL = ["-p", "nbval_patch", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=20"]
SANITISER = f"--nbval-sanitize-with={next_torch.ROOT / 'tests' / 'nbval_sanitize.cfg'}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Which torch? For example: make next TORCH=2.14.0"),
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
    assert not left_out & {"torchviz", "numpy", "sympy", "jupyterlab"}
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


def reported(folder, capfd, code=0):
    """Run the notebooks of a folder with the torch that is here; return the report."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    arguments = ["--torch=2.14.0", "--notebooks", str(folder), "--", *NBVAL, SANITISER]
    assert next_torch.main(arguments, lambda torch, places: sys.executable) == code
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    return capfd.readouterr().out


def store(folder, name, notebook):
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


@pytest.mark.notebooks
def test_every_output_that_moved_is_reported_and_no_other(tmp_path, capfd):
    notebook = json.loads(json.dumps(made_up_lesson.lesson().node))
    for tamper in TAMPERS:
        tamper(notebook)
    store(tmp_path, "98_changed", notebook)
    store(tmp_path, "99_made_up", made_up_lesson.lesson().node)
    said = reported(tmp_path, capfd)
    assert re.findall(r"^\d.*$", said, re.M) == [
        "98_changed, cell 7 ('6 * 7'), under 'A digit'",
        f"98_changed, cell 18 ({made_up_lesson.DRAW.splitlines()[0]!r}), under 'A picture'",
        "98_changed, cell 32 ('raise RuntimeError(\"now it raises\")'), under 'Exercises'",
        f"3 of 16 cells moved on torch {version('torch')}; lessons: 1 of 2.",
    ]
    for stored, now in [
        ("52", "42"),
        (
            '…lt="one card" src="<svg><text>Changed</text></svg>"><details><summary>The graph as text</summary><pr…',
            '…lt="one card" src="<svg><text>MulBackward0</text></svg>"><details><summary>The graph as text</summar…',
        ),
        ("(nothing)", "RuntimeError: now it raises"),
    ]:
        assert f"    stored  {stored}\n    now     {now}\n" in said
