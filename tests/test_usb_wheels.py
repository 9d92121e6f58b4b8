"""Which wheels and files go onto a stick, and what is said where one is not to be had."""

import re
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import made_up_stick
import pytest
from packaging import markers
from packaging.utils import parse_wheel_filename

from classroom.usb import files, systems, wheels
from classroom.usb.systems import MARKERS, NEWEST, OLDEST, System, Unknown, named
from classroom.usb.wheels import Missing, requirement

ROOT = Path(__file__).resolve().parent.parent
WINDOWS, MACOS, LINUX = System("windows", 12), System("macos", 13), System("linux", 11)
EVERY = [System(kind, minor) for kind in MARKERS for minor in range(OLDEST, NEWEST + 1)]


@pytest.mark.parametrize("name", ["", "windows", "windows-3.10", "windows-3.15", "windos-3.12"])
def test_an_unknown_system_gets_the_list(name):
    with pytest.raises(Unknown, match="windows, macos, linux, linux-arm") as raised:
        named(name)
    assert repr(name) in str(raised.value)
    assert "windows-3.12" in str(raised.value)


def test_the_markers_of_this_system_are_those_that_packaging_finds():
    real = markers.default_environment()
    for environment in systems.here().environments():
        assert environment.keys() == real.keys()
        varying = {"platform_release", "platform_version", "python_full_version"}
        for key in real.keys() - varying - {"implementation_version"}:
            assert environment[key] == real[key]


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("torch-2.13.0-cp312-cp312-win_amd64.whl", [WINDOWS]),
        ("torch-2.13.0-cp313-cp313-macosx_14_0_arm64.whl", [MACOS]),
        ("torch-2.13.0-cp313-cp313-macosx_15_0_arm64.whl", []),
        ("torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl", [LINUX]),
        ("torch-2.13.0-cp314-cp314t-win_amd64.whl", []),
        ("pyzmq-27.3.0-cp310-abi3-macosx_10_15_universal2.whl", [MACOS]),
        ("a-1-py2.py3-none-any.whl", [WINDOWS, MACOS, LINUX]),
    ],
)
def test_which_system_takes_which_wheel(name, takes):
    accepted = parse_wheel_filename(name)[3]
    assert [one for one in (WINDOWS, MACOS, LINUX) if accepted & set(one.tags())] == takes


# ---- the closure


class Shop:
    """Brings made-up wheels that say what the installed packages say."""

    def __init__(self, folder, requires=None):
        self.folder, self.requires = folder, requires

    def __call__(self, pins, system, python):
        for pin in pins:
            version = next(iter(pin.specifier)).version if pin.specifier else "26"
            made_up_stick.wheel(self.folder, pin.name, version, self.needs(pin.name))

    def needs(self, name):
        if self.requires is not None:
            return self.requires.get(name, [])
        try:
            return distribution(name).requires or []
        except PackageNotFoundError:  # of another system: none of those needs anything
            return []


def closure(system, folder, root=ROOT, **options):
    shop = options.pop("shop", None) or Shop(folder)
    found = wheels.wheels_for(system, root, folder, shop, **options)
    return {parse_wheel_filename(path.name)[0] for path in found}


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory):
    return tmp_path_factory.mktemp("wheels")


@pytest.mark.slow
@pytest.mark.parametrize("system", EVERY, ids=str)
def test_the_lock_covers_every_system(wheelhouse, system):
    found = closure(system, wheelhouse, cuda=True)
    assert len(found) > 100
    assert {"torch", "jupyterlab", "graphviz-pure", "setuptools", "pip", "isoduration"} <= found
    assert not found & {"ruff", "hypothesis", "furo", "playwright"}, "these are for tests"
    assert ("pywinpty" in found) == (system.kind == "windows")
    assert ("colorama" in found) == (system.kind == "windows")
    assert ("appnope" in found) == (system.kind == "macos")
    assert ("ptyprocess" in found) == (system.kind != "windows")


LOCK = "a==1\nb==1\nc==1\nd==1\njupyterlab==4.6.6\nsetuptools==84\ntorch==2.13.0\nnvidia-x==1\n"


@pytest.fixture
def course(tmp_path):
    made_up_stick.course(tmp_path, **{"constraints.txt": LOCK})
    return tmp_path


def test_torch_for_gpus_is_refused_unless_it_was_asked_for(course):
    needs = {"torch": ["nvidia-x; platform_system == 'Linux'"]}
    shop = Shop(course / "wheels", needs)
    assert "torch" in closure(WINDOWS, shop.folder, course, shop=shop)
    with pytest.raises(Missing, match="build of torch for GPUs") as raised:
        closure(LINUX, shop.folder, course, shop=shop)
    assert "TORCH_INDEX=" in str(raised.value)
    assert not list(shop.folder.glob("torch*")), "else the other build would not be looked for"
    assert "nvidia-x" in closure(LINUX, shop.folder, course, shop=shop, cuda=True)


# ---- pip itself, with no index


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder of wheels that is all that pip knows."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return tmp_path / "shelf"


def fetch(folder, system, *pins, python="3.12.0"):
    folder.mkdir(exist_ok=True)
    wheels.by_pip(folder)([requirement(pin) for pin in pins], system, python)
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_pip_brings_the_wheel_of_the_other_system_and_no_more(shelf, tmp_path):
    for tag in ("cp312-win_amd64", "cp312-manylinux_2_28_x86_64", "cp313-win_amd64"):
        made_up_stick.wheel(shelf, "a", "1", ["b"], f"{tag[:5]}-{tag}")
    made_up_stick.wheel(shelf, "b", "1")
    assert fetch(tmp_path / "got", WINDOWS, "a==1") == {"a-1-cp312-cp312-win_amd64.whl"}


@pytest.mark.slow
def test_a_wheel_that_does_not_exist_gets_a_sentence(shelf, tmp_path):
    made_up_stick.wheel(shelf, "a", "1", tag="cp312-cp312-win_amd64")
    with pytest.raises(Missing) as raised:
        fetch(tmp_path / "got", MACOS, "a==1", python="3.13.0")
    said = str(raised.value).splitlines()
    assert said[0].startswith("Not all wheels for macos-3.13 could be had. A package has no wheel")
    assert "a==1" in said[1]


# ---- files


IGNORED = [
    ".venv/bin/python", "work/00.ipynb", "work/progress.json", "build/wheels/a.whl",
    "helpers/__pycache__/a.pyc", "graphs.egg-info/PKG-INFO", "notebooks/progress.json",
    "notebooks/.progress.json.lock", "notebooks/.ipynb_checkpoints/00-checkpoint.ipynb",
]  # fmt: skip


@pytest.fixture
def checkout(tmp_path):
    """A course with a student's work in it, and our own .gitignore."""
    made_up_stick.course(tmp_path)
    shutil.copy(ROOT / ".gitignore", tmp_path)
    for name in IGNORED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("mine", encoding="utf-8")
    return tmp_path


def test_nobodys_work_is_taken_along_with_git_or_without(checkout):
    wanted = sorted([*made_up_stick.COURSE, ".gitignore"])
    assert files.course_files(checkout) == wanted
    for words in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *words], cwd=checkout, check=True)
    (checkout / "exam.ipynb").write_text("a note that nobody told git of", encoding="utf-8")
    assert files.course_files(checkout) == wanted
    (checkout / "helpers" / "__init__.py").unlink()
    assert "helpers/__init__.py" not in files.course_files(checkout)


def test_the_course_fits_on_the_file_system_of_a_stick():
    names = files.course_files(ROOT)
    assert {"README.md", "notebooks/00_start_here.ipynb", "constraints.txt"} <= set(names)
    assert not [name for name in names if name.startswith(("work/", "build/", ".venv/", ".git/"))]
    assert len({name.lower() for name in names}) == len(names)
    assert not [name for name in names if re.search(r'[<>:"\\|?*\x00-\x1f]|[. ](/|$)', name)]
    assert not [name for name in names if (ROOT / name).is_symlink()]
