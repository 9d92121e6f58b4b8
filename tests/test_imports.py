"""The packages are houses of rooms: imports go down, and the library knows nothing of the course."""

import ast
import importlib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import autograd_graphs
import helpers

ROOT = Path(helpers.__file__).parent.parent
PACKAGES = ("autograd_graphs", "helpers", "course", "classroom")
MODULES = sorted(
    path
    for home in PACKAGES
    for path in (ROOT / home).rglob("*.py")
    if path.name != "setup.py" and path.parent.name != "stages"  # which are texts
)
SPLIT = ("helpers.labs.engine", "helpers.exercises.lessons")  # rooms within a room

# Top floor first; a room imports only from floors below its own.
FLOORS = [
    "classroom",
    "course",
    "helpers",
    "helpers.cost",
    "helpers.quiz helpers.labs helpers.gpu helpers.memory helpers.captured helpers.flow helpers.torch_version helpers.claims helpers.slopes helpers.voices",
    "helpers.predicting helpers.clinic helpers.labs.engine helpers.exercises.lessons",
    "helpers.exercises helpers.short_tracebacks",
    "helpers.engine",
    "helpers.ranks",
    "helpers.progress_file helpers.pace helpers.lessons helpers.plots helpers.moons",
    "helpers.plot_svg",
    "autograd_graphs",
    "autograd_graphs.torchviz_view autograd_graphs.stepping autograd_graphs.monitoring",
    "autograd_graphs.picture autograd_graphs.diagnosing",
    "autograd_graphs.playing autograd_graphs.tinting autograd_graphs.answer_card",
    "autograd_graphs.recording autograd_graphs.large autograd_graphs.drawing",
    "autograd_graphs.looking autograd_graphs.stored",
    "autograd_graphs.data autograd_graphs.guard autograd_graphs.plain_values",
    "autograd_graphs.text",
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}
NO_TORCH = ("helpers.progress_file", "course", "autograd_graphs.data", "autograd_graphs.text")
NO_TORCH += ("autograd_graphs.large", "autograd_graphs.drawing", "autograd_graphs.tinting")


def name(path):
    """Return the dotted name of a module: "autograd_graphs.answer_card", of a package that of the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room(module):
    """Return the room of a module: "autograd_graphs.drawing", "helpers.labs.engine", "course"."""
    for inner in SPLIT:
        if module.startswith(inner):
            return inner
    if module.startswith(("course", "classroom")):
        return module.partition(".")[0]
    return ".".join(module.split(".")[:2])


def imported(source, known):
    """Return the modules out of `known` that a source imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= full & known or {node.module} & known
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & known
    return found


@pytest.fixture(scope="module")
def house():
    """What every module of ours imports of ours."""
    known = {name(path) for path in MODULES}
    return {name(path): imported(path.read_text("utf-8"), known) - {name(path)} for path in MODULES}


def test_imports_between_rooms_go_down(house):
    up = [
        f"{module} imports {target}"
        for module, targets in house.items()
        for target in targets
        if room(module) != room(target) and FLOOR[room(module)] >= FLOOR[room(target)]
    ]
    assert up == []
    assert "autograd_graphs.data" in house["autograd_graphs.looking.snapshot"]


def test_modules_have_no_ring(house):
    TopologicalSorter(house).prepare()


@pytest.mark.parametrize("package", [autograd_graphs, helpers], ids=lambda one: one.__name__)
def test_a_public_name_never_gives_a_module(package):
    for path in MODULES:
        is_text = "stages" in path.parts  # parts of a student's engine, which run one after another
        if room(name(path)) in ("course", "classroom") or path.name == "__init__.py" or is_text:
            continue
        importlib.import_module(name(path))
    for public in package.__all__:
        is_module = type(getattr(package, public)).__name__ == "module"
        assert is_module == (public == "labs"), public


@pytest.mark.parametrize("module", ["workspace", "lab_settings"])
def test_what_begins_make_lab_imports_nothing_of_ours(module):
    source = (ROOT / "course" / f"{module}.py").read_text("utf-8")
    assert imported(source, {name(path) for path in MODULES}) == set()


def test_plain_data_knows_no_torch_and_only_two_modules_start_a_process():
    for path in MODULES:
        lines = [line.strip() for line in path.read_text("utf-8").splitlines()]
        if room(name(path)) in NO_TORCH:
            assert not [line for line in lines if line.startswith(("import torch", "from torch"))]
        is_ours = name(path).startswith(("autograd_graphs", "helpers"))
        if is_ours and name(path) not in (
            "autograd_graphs.drawing.layout",
            "helpers.ranks.calling",
        ):
            assert "import subprocess" not in lines
