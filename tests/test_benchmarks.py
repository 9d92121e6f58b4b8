"""The benchmarks can be run, and `import helpers` leaves heavy modules alone."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.__main__ import NAMES

ROOT = Path(__file__).parents[1]
HEAVY = (
    "IPython", "anywidget", "ipywidgets", "matplotlib", "nbconvert", "tomllib", "yaml",
)  # fmt: skip
LATER = (
    "autograd_graphs.diagnosing.diagnosis", "autograd_graphs.diagnosing.finding",
    "autograd_graphs.monitoring.watcher", "helpers.labs",
    "autograd_graphs.playing.player", "autograd_graphs.stepping",
)  # fmt: skip


@pytest.mark.slow
def test_importing_helpers_brings_nothing_heavy():
    program = "import torch, sys; before = set(sys.modules); import helpers; print(*(set(sys.modules) - before))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    brought = set(done.stdout.split())
    assert "autograd_graphs.looking.snapshot" in brought
    assert not brought & {*HEAVY, *LATER}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["diagnose", "find", "labs", "step_through", "watching"])
def test_a_name_that_is_imported_later_is_there(name):
    program = f"import helpers; helpers.{name}; from helpers import {name}; from helpers import *; print({name})"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_can_be_imported_and_has_rows(name):
    assert callable(import_module(f"benchmarks.{name}").rows)
