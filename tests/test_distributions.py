"""What the two distributions carry: the library nothing of the course, the course nothing of the library.

Writes into tmp_path only; pip fetches nothing.
"""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
COURSE = ("helpers", "course", "classroom")
BUILT_BY = {"pyproject.toml", "setup.py", "README.md", "LICENSE"}  # of autograd_graphs/
LEFT_OUT = shutil.ignore_patterns("__pycache__")
WHEEL = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
WHEEL += ["--no-build-isolation", "--wheel-dir", "wheels"]
SDIST = [sys.executable, "-c", "import setuptools.build_meta as b; b.build_sdist('../sdist')"]


def run(command, folder):
    subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True)


def files(folder):
    """Return the paths of all files in a folder."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix() for path in found}


def carried(wheel):
    """Return the paths of a wheel, without those of its own papers."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of what is packaged, with what an older build may have left."""
    folder = tmp_path_factory.mktemp("packaged")
    for part in ("autograd_graphs", *COURSE):
        shutil.copytree(ROOT / part, folder / part, ignore=LEFT_OUT)
    for path in [*ROOT.glob("requirements*.txt"), ROOT / "pyproject.toml", ROOT / "README.md"]:
        shutil.copy(path, folder)
    shutil.copytree(folder / "autograd_graphs", folder / "build" / "lib" / "autograd_graphs")
    return folder


def test_the_library_is_its_own_folder_and_a_build_leaves_nothing_there(copy):
    there = files(copy / "autograd_graphs")
    run([*WHEEL, "./autograd_graphs"], copy)
    (wheel,) = (copy / "wheels").glob("autograd_graphs-*.whl")
    assert carried(wheel) == {f"autograd_graphs/{name}" for name in there - BUILT_BY}
    assert files(copy / "autograd_graphs") == there


def test_a_source_distribution_makes_the_same_wheel(copy):
    run(SDIST, copy / "autograd_graphs")
    (archive,) = (copy / "sdist").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(copy / "unpacked", filter="data")
    (source,) = (copy / "unpacked").iterdir()
    run([*WHEEL[:-1], "again", str(source)], copy)
    (wheel,) = (copy / "again").glob("*.whl")
    there = files(copy / "autograd_graphs")
    assert carried(wheel) == {f"autograd_graphs/{name}" for name in there - BUILT_BY}


def test_the_course_brings_no_library_even_where_an_older_build_lies(copy):
    run([*WHEEL, "."], copy)
    (wheel,) = (copy / "wheels").glob("pytorch_graphs_course-*.whl")
    names = carried(wheel)
    assert {name.partition("/")[0] for name in names} == set(COURSE)
    assert [name for name in names if "test" in name] == []
