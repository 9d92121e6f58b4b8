"""What docs/without-make.md says: every line of its PowerShell blocks is run, as it
stands but for what this system writes otherwise, in a copy of the course with an environment of its own.

Nothing is fetched: pip only looks whether it has what it is asked for. Run on Linux and macOS; PowerShell
itself is not at hand.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import nbformat
import pytest

from course.publishing import chromium

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
POWERSHELL = re.compile(r"```powershell\n(.*?)```", re.S)
BLOCKS = POWERSHELL.findall((DOCS / "without-make.md").read_text(encoding="utf-8"))
LINES = [line for block in BLOCKS for line in block.splitlines() if line.strip()]
MODULE = re.compile(r"-m [\w.]+|course/\w+\.py")
HERE = r".venv\Scripts\python "
LESSON, FIRST = "00_start_here", 9  # the cells up to the first answer, which lead nowhere else
PARTS = ("autograd_graphs", "helpers", "course", "classroom", "figs")
OURS = ["autograd-graphs", "pytorch-graphs-course"]
OFFLINE = "--dry-run --no-index --no-build-isolation"
MADE = {  # what a line leaves, by what it says
    "-m venv": ".venv/pyvenv.cfg",
    "course.lab_settings": ".venv/share/jupyter/lab/settings/overrides.json",
    "workspace sync": "work/00_start_here.ipynb",
    "workspace reset": "work/00_start_here-kept.ipynb",
    "--to slides": "build/slides/00_start_here.html",
    "course.handouts": "build/handouts/00_start_here-questions.pdf",
    "publishing.site": "build/pages/index.html",
}
SERVED = ("course.present", "-m jupyterlab")  # the tests in a browser start these


def command(line):
    """Return what a line runs, without its comment."""
    return line.partition("  #")[0].strip()


def recipes(heading):
    """Return by target, of those that make help lists under a heading, the modules that it runs."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    part = re.search(rf"^##@ {heading}.*?$(.*?)(?=^##@|\Z)", text, re.M | re.S)[1]
    found = re.findall(r"^([a-z][a-z-]*):.*## .*\n((?:\t.*\n)*)", part, re.M)
    return {target: set(map(module, MODULE.findall(recipe))) for target, recipe in found}


def module(words):
    """Return the name of a module that is run by it, or by its path."""
    return words.removesuffix(".py").replace("/", ".").removeprefix("-m ")


def test_each_target_for_those_who_learn_and_teach_has_its_line():
    found = recipes("For those who learn and teach")
    assert {"lab", "reset", "present", "slides", "handouts", "pages"} <= set(found) - {"help"}
    assert "test" in recipes("For those who change the course")
    anywhere = []
    for page in DOCS.glob("*.md"):
        anywhere += POWERSHELL.findall(page.read_text(encoding="utf-8"))
    named = set(map(module, re.findall(r"-m [\w.]+", "".join(anywhere))))
    for target, modules in found.items():
        assert modules or target == "help", target
        assert modules <= named, f"docs/ has no line without make for make {target}"


def test_a_line_needs_no_activation_and_no_shell_that_is_newer_than_windows():
    assert len(LINES) >= 12
    for line in LINES:
        assert command(line).startswith((HERE, "py -m venv ")), line
        assert not re.search(r"&&|\|\||[;|<>$`\"'&/]", command(line)), line


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the course with the first round of lesson 00, where the lines are run in order."""
    folder = tmp_path_factory.mktemp("without") / "my course"
    (folder / "notebooks").mkdir(parents=True)
    for part in PARTS:
        shutil.copytree(ROOT / part, folder / part)
    lesson = nbformat.read(ROOT / "notebooks" / f"{LESSON}.ipynb", 4)
    lesson.cells = lesson.cells[:FIRST]
    for cell in lesson.cells:  # the lessons that it links to are not in the copy
        cell.source = re.sub(r"\[([^]]+)\]\(\d\d_\w+\.ipynb\)", r"\1", cell.source)
    nbformat.write(lesson, folder / "notebooks" / f"{LESSON}.ipynb")
    for path in [*ROOT.glob("*.txt"), ROOT / "pyproject.toml", ROOT / "README.md"]:
        shutil.copy(path, folder)
    return folder


def surroundings(folder):
    """Return the variables of a student's terminal whose output goes into a file on Windows."""
    passed = ("PYTHONPATH", "JUPYTER", "PROGRESS_FOLDER", "IPYTHONDIR", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(passed)}
    own = [f"JUPYTER_{kind}_DIR" for kind in ("CONFIG", "DATA", "RUNTIME")] + ["IPYTHONDIR"]
    return kept | dict.fromkeys(own, str(folder / ".own")) | {"PYTHONIOENCODING": "cp1252"}


def words_of(line):
    """Return the words that this system runs for a line."""
    words = command(line).replace("\\", "/").split()
    words[0] = {"py": sys.executable, ".venv/Scripts/python": ".venv/bin/python"}[words[0]]
    if "pip" in words:
        words += OFFLINE.split()
    if words[-1].isdecimal():
        words[-1] = LESSON[:2]  # the one that is here
    return words


def bring_packages(folder):
    """Let the new environment see the packages of this one, as if pip had brought them."""
    (there,) = (folder / ".venv" / "lib").glob("python*/site-packages")
    for old in there.glob("setuptools*"):
        shutil.rmtree(old)
    lab = Path(sys.prefix, "share", "jupyter", "lab")
    (folder / ".venv" / "share" / "jupyter" / "lab").mkdir(parents=True)
    for part in ("static", "schemas", "themes"):
        (folder / ".venv" / "share" / "jupyter" / "lab" / part).symlink_to(lab / part)
    (there / "these.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(not chromium.browser(), reason="handouts need a browser")
@pytest.mark.parametrize("line", [one for one in LINES if not any(name in one for name in SERVED)])
def test_a_line_does_what_it_says(copy, line):
    words = words_of(line)
    ran = subprocess.run(
        words, cwd=copy, env=surroundings(copy), capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    made = next((path for name, path in MADE.items() if name in command(line)), None)
    if "pip" in words:
        assert made is None
        installed = re.findall(r"[\w-]+-\d[.\d]*\b", ran.stdout.partition("Would install")[2])
        assert [one.rpartition("-")[0] for one in installed] in ([], OURS), ran.stdout
    else:
        assert (copy / made).is_file(), ran.stdout + ran.stderr
    if "venv" in words:
        bring_packages(copy)
