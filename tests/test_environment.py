"""The files that describe the environment agree with each other and with what is installed.

Reads the root only.
"""

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
import wheels
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from helpers import torch_version

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (".", "autograd_graphs", "classroom", "docs")
TEXTS = sorted([path for folder in FOLDERS for path in (ROOT / folder).glob("*.md")])
TORCH = "torch>=2.13,<3"  # the one requirement that is a range
COURSE, LIBRARY = "pyproject.toml", "autograd_graphs/pyproject.toml"
BROUGHT_BY = {"ipython": "anywidget", "traitlets": "anywidget", "pillow": "matplotlib"}
REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "classroom/requirements.txt")


def pins(name):
    """Return {package: [requirement, ...]} of a requirements file."""
    found = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].strip()
        if not words:
            continue
        requirement = Requirement(words)
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def make(*words):
    return subprocess.run(["make", *words], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_an_environment_of_another_copy_is_left_alone(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    ours = tmp_path / ".venv"
    ours.symlink_to(ROOT / ".venv")
    refused = subprocess.run(["make", "lab"], cwd=tmp_path, capture_output=True, text=True)
    assert "is a link" in refused.stderr
    assert refused.returncode
    ours.unlink()
    ours.mkdir()
    (ours / ".students-ready").write_text("/somewhere else\n")
    refused = subprocess.run(["make", "quick"], cwd=tmp_path, capture_output=True, text=True)
    assert "was installed for /somewhere else" in refused.stderr
    assert refused.returncode
    assert [path.name for path in ours.iterdir()] == [".students-ready"]


def test_the_lock_keeps_the_torch_that_the_outputs_were_compared_with():
    compared = [Requirement(f"torch=={torch_version.COMPARED}")]
    assert pins("requirements-dev.txt")["torch"] == pins("constraints.txt")["torch"] == compared


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_constraints_cover_every_requirement_with_the_same_pin(name):
    locked = pins("constraints.txt")
    for package, (requirement,) in pins(name).items():
        (pin,) = locked.get(package, [Requirement(package)])
        assert requirement in (pin, Requirement(TORCH)), f"{package}: run make lock"


def closure(requirements):
    """Return the packages that the requirements bring on this machine."""
    found = set()
    todo = list(requirements)
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if name in found:
            continue
        installed = distribution(name)
        found.add(name)
        needs = map(Requirement, installed.requires or [])
        extras = [{"extra": extra} for extra in ("", *requirement.extras)]
        todo += [one for one in needs if not one.marker or any(map(one.marker.evaluate, extras))]
    return found


def project(name):
    """Return what a pyproject.toml says of its distribution."""
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))["project"]


def package_needs(name):
    """Return {package: requirement} of what a pyproject.toml asks for."""
    needs = [Requirement(text) for text in project(name)["dependencies"]]
    return {canonicalize_name(requirement.name): requirement for requirement in needs}


def imported_by(package):
    """Return the packages that hold what one of ours imports, gpu.record() apart."""
    found = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(node.module.partition(".")[0])
    holding, of_gpu = packages_distributions(), {"nbclient", "nbformat", "nbval", "jupyter_client"}
    found -= {*sys.stdlib_module_names, "setuptools", package, *of_gpu}
    return {canonicalize_name(holding[module][0]) for module in found}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "package", "run"),
    [
        (COURSE, "helpers", set()),
        (LIBRARY, "autograd_graphs", {"graphviz-pure"}),  # `layout` runs its program
    ],
)
def test_a_package_asks_for_what_it_uses_and_no_more(name, package, run):
    asked, used = package_needs(name), imported_by(package) | run
    assert asked.keys() <= used
    for other in used - asked.keys():
        assert other in closure([asked[BROUGHT_BY[other]]]), other


@pytest.mark.parametrize("name", [COURSE, LIBRARY])
def test_a_package_takes_what_is_locked_and_leaves_a_jupyter_as_it_is(name):
    asked = package_needs(name)
    asked.pop("autograd-graphs", None)  # ours
    for package, needed in asked.items():
        assert {one.operator for one in needed.specifier} <= {">=", "<"}, package
        for locked in pins("constraints.txt")[package]:
            version = str(locked.specifier).removeprefix("==")
            assert needed.specifier.contains(Version(version))
        assert package in pins("requirements.txt")
    assert asked["torch"] == Requirement(TORCH)


def test_the_course_takes_the_library_beside_it():
    library = project(LIBRARY)
    assert package_needs(COURSE)[library["name"]].specifier.contains(library["version"])
    assert library["requires-python"] == project(COURSE)["requires-python"]
    assert (ROOT / "autograd_graphs/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_every_text_names_the_same_pythons():
    pythons = wheels.pythons()
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    readme = (ROOT / "README.md").read_text("utf-8")
    said = re.search(r"^You need Python (.+?), and `make`", readme, re.M)
    assert re.findall(r"3\.\d+", said[1]) == pythons
    tried = re.search(r"^PYTHON \?= (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
    assert re.findall(r"python(3\.\d+)", tried[1]) == pythons  # the compared one first


@cache
def targets():
    return re.findall(r"^  make ([a-z-]+)", make("help").stdout, re.M)


def test_help_lists_targets_that_exist():
    assert {"lab", "reset", "test", "refresh"} <= set(targets())
    for target in targets():
        ran = make("--dry-run", target)
        assert ran.returncode == 0, f"make {target}: {ran.stderr}"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_commands_and_links_in_the_texts_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M)) <= set(targets())
    for module in re.findall(r"python -m ((?:course|classroom|helpers|benchmarks)[.\w]*)", text):
        assert importlib.util.find_spec(module), module
    for alt, link in re.findall(r"!?\[([^\]]+)\]\(([^)]+)\)", text):
        assert alt.strip()
        if "://" not in link:
            assert leads_somewhere(path, link), f"{path.name} links to {link}"


def test_readme_sets_up_the_course_with_two_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shell = "".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S))
    assert re.sub(r" +#.*", "", shell).split("\n") == ["make lab", "make test", ""]


def leads_somewhere(path, link):
    """Return whether a relative link in a text leads to a file, and to a heading of it."""
    name, _, anchor = link.partition("#")
    target = path.parent / name if name else path
    if not anchor:
        return target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.M)
    plain = [re.sub(r"[^\w -]", "", heading.lower()) for heading in headings]
    return [heading.replace(" ", "-") for heading in plain].count(anchor) == 1


def test_readme_lists_the_lessons_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"\]\((notebooks/[^)]+)\)", text)
    there = [str(p.relative_to(ROOT)) for p in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    assert (listed[:12], sorted(listed)) == (there[:12], there)


def test_no_host_is_named_but_those_of_pytorchs_own_builds_and_of_binder():
    names = ["README.md", "CONTRIBUTING.md", "Makefile", "environment.yml", "pyproject.toml"]
    names += ["constraints.txt", *REQUIREMENTS[:2], "binder/requirements.txt", LIBRARY]
    names += [f"docs/{page.name}" for page in ROOT.glob("docs/*.md")]
    for name in names:
        found = re.findall(r"https?://([\w.-]+)", (ROOT / name).read_text(encoding="utf-8"))
        badge = {"mybinder.org"} if name == "README.md" else set()
        assert set(found) <= {"download.pytorch.org"} | badge, name


@pytest.mark.slow
def test_a_lesson_without_a_number_gets_a_sentence():
    ran = make("--no-print-directory", "reset")
    assert ran.returncode != 0
    assert "esson" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_python_that_is_too_old_or_missing_gets_a_sentence(tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    words = (f"VENV={tmp_path}/none", f"PYTHON={old} no-such-python", "lab")
    ran = make("--no-print-directory", *words)
    assert ran.returncode != 0
    assert "No Python 3.11 or newer" in ran.stderr
    assert "PYTHON=/path/to/python3" in ran.stderr
