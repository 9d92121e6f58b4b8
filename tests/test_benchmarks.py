"""The benchmarks can be run, and what they guard by name stays so: which modules `import helpers`
leaves alone.
"""

import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from autograd_graphs.large.fold import fold
from benchmarks.__main__ import NAMES, parsed
from benchmarks.contenders import CONTENDERS, boxes
from benchmarks.drawing import answer
from benchmarks.growth import exponent
from benchmarks.measure import Row, seconds, table
from benchmarks.models import MODELS, make
from helpers import show

ROOT = Path(__file__).parents[1]
HEAVY = (
    "IPython",
    "anywidget",
    "graphviz",
    "ipywidgets",
    "matplotlib",
    "nbconvert",
    "pygraphviz",
    "tomllib",
    "yaml",
)
LATER = (
    "helpers.clinic.finding",
    "helpers.clinic.report",
    "helpers.labs",
    "autograd_graphs.playing.player",
    "autograd_graphs.stepping",
    "autograd_graphs.torchviz_view",
)


def test_importing_helpers_brings_nothing_heavy():
    program = "import torch, sys; before = set(sys.modules); import helpers; print(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    brought = set(done.stdout.split())
    assert "autograd_graphs.looking.snapshot" in brought
    assert not brought & {*HEAVY, *LATER}


@pytest.mark.parametrize("name", ["beside_torchviz", "diagnose", "find", "labs", "step_through"])
def test_a_name_that_is_imported_later_is_there(name):
    program = f"import helpers; helpers.{name}; from helpers import {name}; from helpers import *; print({name})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)


def test_a_name_that_helpers_has_not_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'helpers' has no attribute 'lab'"):
        import_module("helpers").lab  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_imported_and_has_rows(name):
    assert callable(import_module(f"benchmarks.{name}").rows)


def test_arguments_of_the_benchmarks_parse():
    given = parsed(["growth", "course", "--rounds", "3"])
    assert (given.names, given.rounds) == (["growth", "course"], 3)
    assert parsed([]).names == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["growht"], "there is no benchmark 'growht'"), (["--rounds", "1"], "--rounds is 1")],
)
def test_wrong_arguments_of_the_benchmarks_are_told(capsys, arguments, said):
    with pytest.raises(SystemExit):
        parsed(arguments)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", [name for name in MODELS if name != "chain_100000"])
def test_a_model_of_the_benchmarks_is_the_same_every_time(name):
    one, other = make(name), make(name)
    pairs = zip(one.model.parameters(), other.model.parameters(), strict=True)
    assert all(a.equal(b) for a, b in pairs)
    assert one.inputs.equal(other.inputs)


def test_boxes_counts_the_cards_of_our_picture():
    assert boxes(show(make("mlp").loss(), unfold=True).svg) == 15
    assert {"show", "torchviz", "torchview", "torchlens"} < set(CONTENDERS)


@pytest.mark.parametrize("name", ["chain_1000", "resnet50_like", "lstm_50"])
def test_boxes_counts_a_folded_part_once(name):
    picture = show(make(name).loss())
    cards = fold(picture.graph).nodes
    assert any(node.folded for node in cards)
    assert boxes(picture.svg) == len(cards)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ('noise\n{"failure": "RecursionError"}\n', 0, "RecursionError"),
        ("", -11, "killed by SIGSEGV"),
        ("noise", 3, "ended with exit code 3"),
    ],
)
def test_a_drawing_that_failed_is_told_in_words(text, code, said):
    assert answer(text, code) == {"failure": said}


def test_seconds_are_those_of_the_clock_that_is_given():
    ticks = [3.0, 5.5]
    assert seconds(list, partial(ticks.pop, 0)) == 2.5
    assert not ticks
    assert 0 <= seconds(list) < 1


def test_the_exponent_of_a_square_is_two():
    assert exponent([1, 10, 100], [2, 200, 20_000]) == pytest.approx(2)


def test_a_row_says_whether_its_goal_is_met():
    assert Row("b", "c", "w", (1, 2, 9), most_wanted=2).goal == "≤ 2: met"
    assert Row("b", "c", "w", (1, 2, 9), least_wanted=3).goal == "≥ 3: MISSED"
    assert Row("b", "c", "w", words="failed", most_wanted=2).goal == "≤ 2: MISSED"
    assert Row("b", "c", "w", (1, 2)).goal == ""
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
