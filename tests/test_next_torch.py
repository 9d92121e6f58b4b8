"""`make next`: what it refuses, what it installs, and that what moved is reported. In tmp_path,
with the torch here.
"""

import json
import re
import sys
from importlib.metadata import version

import made_up_lesson
import moved
import next_torch
import pytest
from test_harness import (
    a_cell_that_now_raises,
    a_digit,
    a_label_in_the_img,
    a_printed_word,
    an_error_message,
)

pytestmark = pytest.mark.thorough

TAMPERS = [a_digit, a_printed_word, a_label_in_the_img, an_error_message, a_cell_that_now_raises]
NBVAL = ["-p", "nbval_patch", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=20"]
SANITISER = f"--nbval-sanitize-with={next_torch.ROOT / 'tests' / 'nbval_sanitize.cfg'}"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Which torch? For example: make next TORCH=2.14.0"),
        (["--torch="], "Which torch? For example"),
        (["--torch=next"], "'next' is no version of torch. For example"),
        (["--torch=2.14.0; ls"], "is no version of torch"),
        (["--torch=2.14.0", "--wheels=nowhere"], "FROM=nowhere is no folder"),
        (
            ["--torch=2.14.0", "--notebooks", "notebooks/77*.ipynb"],
            "There is no lesson notebooks/77*.ipynb",
        ),
    ],
)
def test_what_cannot_be_meant_gets_a_sentence(arguments, sentence):
    with pytest.raises(SystemExit, match=re.escape(sentence)):
        next_torch.main(arguments, environment=None)


@pytest.mark.parametrize(
    "version", ["2.14", "2.14.0", "2.14.0+cpu", "2.15.0.dev20261101", "2.15.0a0+gitabc"]
)
def test_versions_of_every_form_are_taken(version):
    assert next_torch.read([f"--torch={version}"]).torch == version


def test_pip_looks_where_it_is_told_to(tmp_path):
    asked = next_torch.read(
        ["--torch=2.14.0", f"--wheels={tmp_path}", "--index=https://example.org/cpu"]
    )
    options = ["--find-links", str(tmp_path), "--extra-index-url", "https://example.org/cpu"]
    assert next_torch.places(asked) == options
    assert next_torch.places(next_torch.read(["--torch=2.14.0"])) == []


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
    assert "ERROR: No matching distribution found for torch==0.0.77" in said
    assert "TORCH_INDEX=" in said


def test_a_step_that_says_nothing_fails_with_its_sentence():
    with pytest.raises(SystemExit, match="It could not be made"):
        next_torch.step([sys.executable, "-c", "raise SystemExit(3)"], "It could not be made")


def test_an_environment_in_whose_place_a_file_stands_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(next_torch, "NEXT", tmp_path / "next")
    (tmp_path / "next").write_text("in the way", encoding="utf-8")
    with pytest.raises(SystemExit, match="build/next could not be made"):
        next_torch.installed("2.14.0", [])


def reported(folder, capfd, code=0):
    """Run the notebooks of a folder with the torch that is here; return the report.

    Every file stays as it was.
    """
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
        "98_changed, cell 13 ('print(\"leaf\")'), under 'A stream'",
        f"98_changed, cell 18 ({made_up_lesson.DRAW.splitlines()[0]!r}), under 'A picture'",
        "98_changed, cell 23 ('raise ValueError(\"no graph here\")'), under 'An error'",
        "98_changed, cell 32 ('raise RuntimeError(\"now it raises\")'), under 'Exercises'",
        f"5 of 16 cells moved on torch {version('torch')}; lessons: 1 of 2.",
    ]
    for stored, now in [
        ("52", "42"),
        ("xeaf", "leaf"),
        (
            '…lt="one card" src="<svg><text>Changed</text></svg>"><details><summary>The graph as text</summary><pr…',
            '…lt="one card" src="<svg><text>MulBackward0</text></svg>"><details><summary>The graph as text</summar…',
        ),
        ("ValueError: NO GRAPH HERE", "ValueError: no graph here"),
        ("(nothing)", "RuntimeError: now it raises"),
    ]:
        assert f"    stored  {stored}\n    now     {now}\n" in said


@pytest.mark.notebooks
def test_where_nothing_moved_the_report_says_so(tmp_path, capfd):
    store(tmp_path, "99_made_up", made_up_lesson.lesson().node)
    count = (
        f"Nothing moved on torch {version('torch')}: 8 cells show what is stored; lessons run: 1."
    )
    assert reported(tmp_path, capfd).endswith(f"\n{count}\n")


@pytest.mark.notebooks
def test_a_lesson_that_cannot_be_read_is_named_and_nothing_is_said_to_stand(tmp_path, capfd):
    (tmp_path / "97_broken.ipynb").write_text("{", encoding="utf-8")
    said = reported(tmp_path, capfd, code=2)
    assert "97_broken.ipynb could not be read: " in said
    assert "There is no report: no cell was run." in said
    assert "Nothing moved" not in said


def test_an_encoded_picture_is_shown_as_what_it_draws():
    output = {"data": {"text/html": made_up_lesson.IMG, "image/png": "iVBOR"}}
    image = f'<img alt="one card" src="{made_up_lesson.SVG}">{made_up_lesson.TREE}'
    assert moved.shown([output], str) == {"text/html": image}


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a\nb", "a\nc", ("b", "c")),
        ("a", "a\nmore", ("(nothing)", "more")),
        ("a\n", "a", ("(nothing)", "(nothing)")),
        ("x" * 50 + "1", "x" * 50 + "2", ("…" + "x" * 30 + "1", "…" + "x" * 30 + "2")),
        ("1" * 300, "2" * 300, ("1" * 100 + "…", "2" * 100 + "…")),
        ("x" * 300, "x" * 10, ("x" * 100 + "…", "x" * 10)),
        ("\x1b[31mred\ud800", "", ("·[31mred·", "(nothing)")),
    ],
)
def test_a_difference_is_the_first_line_shortened_around_the_first_character(old, new, shown):
    assert moved.apart(old, new) == shown
