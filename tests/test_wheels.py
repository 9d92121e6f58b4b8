"""What `make lock` says of wheels, with a stand-in for uv. Writes into tmp_path only."""

import sys

import pytest
import wheels

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")


def uv(folder, script):
    """Return a program in place of uv."""
    path = folder / "uv"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_where_there_are_wheels_for_all_every_cell_says_so(tmp_path, capfd):
    assert wheels.main(uv(tmp_path, "exit 0")) == 0
    said, complaints = capfd.readouterr()
    rows = [line.split() for line in said.splitlines()[1:]]
    assert rows == [[python, *["wheels"] * 4] for python in ["3.11", "3.12", "3.13", "3.14"]]
    assert complaints == ""


def test_one_missing_wheel_is_named_with_its_python_and_system(tmp_path, capfd):
    script = 'case "$*" in *3.14*windows*) echo "no  wheel of triton" >&2; exit 1;; esac'
    assert wheels.main(uv(tmp_path, script)) == 1
    said, complaints = capfd.readouterr()
    assert said.splitlines()[-1].split() == ["3.14", "wheels", "wheels", "wheels", "no"]
    assert said.count("no") == 1
    assert complaints == "Python 3.14, Windows: no wheel of triton\n"
