"""The package is a house of rooms: imports between rooms go down, and only along the arrows that
are allowed.
"""

import ast
import importlib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import helpers

ROOT = Path(helpers.__file__).parent.parent
MODULES = sorted(path for home in ("helpers", "course") for path in (ROOT / home).rglob("*.py"))
SPLIT = ("helpers.labs.engine", "helpers.exercises.lessons")  # rooms within a room

# The rooms, top floor first, and what each may import from. An arrow that is not here is a change
# of the design.
ALLOWED = {
    "helpers": "picture stepping torchviz_view plots labs exercises predicting clinic recording looking",
    "course": "exercises answers predicting clinic playing untrusted text",
    "torchviz_view": "picture drawing looking graph text",
    "picture": "tinting playing recording folding drawing looking graph text",
    "tinting": "recording drawing graph text",
    "stepping": "playing recording",
    "quiz": "exercises predicting progress_file untrusted",
    "gpu": "",
    "torch_version": "looking",
    "plots": "drawing looking text",
    "memory": "",
    "labs": "labs.engine recording looking graph text",
    "labs.engine": "playing drawing looking graph text",
    "predicting": "exercises answers progress_file drawing untrusted text",
    "exercises.lessons": "exercises looking untrusted",
    "exercises": "answers progress_file looking untrusted text",
    "clinic": "answers looking untrusted graph text",
    "answers": "drawing text",
    "playing": "progress_file recording folding drawing graph text",
    "recording": "looking graph text",
    "folding": "graph text",
    "drawing": "graph text",
    "looking": "graph text",
    "untrusted": "text",
    "progress_file": "",
    "graph": "text",
    "text": "",
}
NO_TORCH = ("progress_file", "graph", "text", "folding", "drawing", "tinting", "course")


def name(path):
    """Return the dotted name of a module: "helpers.drawing.svg", of a package's __init__ that of
    the package.
    """
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room(module):
    """Return the room of a module: "drawing", "labs.engine", "graph"; "helpers" for the public
    names.
    """
    for inner in SPLIT:
        if module.startswith(inner):
            return inner.removeprefix("helpers.")
    home, _, rest = module.partition(".")
    return rest.partition(".")[0] if home == "helpers" and rest else home


def imported(source, known):
    """Return the modules out of `known` that a source imports anywhere: in a function, and for type
    checkers too.
    """
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= full & known or {node.module} & known
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & known
    return found


def house():
    """Return what every module of ours imports of ours."""
    known = {name(path) for path in MODULES}
    return {name(path): imported(path.read_text("utf-8"), known) - {name(path)} for path in MODULES}


def complaints(imports):
    """Say which imports between rooms are not allowed."""
    for module, targets in sorted(imports.items()):
        for target in sorted(targets):
            here, there = room(module), room(target)
            if here != there and there not in ALLOWED[here].split():
                yield f"{module} imports {target}: no arrow leads from {here} to {there}"


def test_every_import_between_rooms_is_an_allowed_arrow():
    assert list(complaints(house())) == []


def test_every_allowed_arrow_is_there():
    imports = house()
    arrows = {
        (room(module), room(target)) for module, targets in imports.items() for target in targets
    }
    assert {
        (here, there) for here, targets in ALLOWED.items() for there in targets.split()
    } <= arrows


def test_the_allowed_arrows_go_down():
    floors = list(ALLOWED)
    for here, targets in ALLOWED.items():
        for there in targets.split():
            assert floors.index(there) > floors.index(here), f"{here} is not above {there}"


def test_a_planted_arrow_is_seen():
    imports = house()
    source = "if TYPE_CHECKING:\n    from helpers.playing.film import Film\n"
    imports["helpers.graph"] |= imported(source, imports.keys())
    assert list(complaints(imports)) == [
        "helpers.graph imports helpers.playing.film: no arrow leads from graph to playing"
    ]


def test_modules_have_no_ring():
    imports = house()
    TopologicalSorter(imports).prepare()
    assert imports["helpers.looking.snapshot"] >= {"helpers.graph", "helpers.looking.torch_private"}
    imports["helpers.text"].add("helpers.drawing.svg")
    with pytest.raises(CycleError):
        TopologicalSorter(imports).prepare()


@pytest.mark.parametrize("public", helpers.__all__)
def test_a_public_name_never_gives_a_module(public):
    for path in MODULES:
        if room(name(path)) != "course" and path.name != "__init__.py":
            importlib.import_module(name(path))
    is_package = public == "labs"
    assert (type(getattr(helpers, public)).__name__ == "module") == is_package
    assert not (ROOT / "helpers" / f"{public}.py").exists()


@pytest.mark.parametrize("module", ["workspace", "lab_settings"])
def test_what_begins_make_lab_imports_nothing_of_ours(module):
    source = (ROOT / "course" / f"{module}.py").read_text("utf-8")
    assert imported(source, {name(path) for path in MODULES}) == set()


@pytest.mark.parametrize(
    "path", [path for path in MODULES if room(name(path)) in NO_TORCH], ids=name
)
def test_plain_data_knows_no_torch(path):
    lines = path.read_text("utf-8").splitlines()
    assert not [line for line in lines if line.lstrip().startswith(("import torch", "from torch"))]


def test_only_layout_knows_graphviz_the_engine():
    users = [
        path
        for path in MODULES
        if "pygraphviz" in path.read_text("utf-8").replace("by pygraphviz", "")
    ]
    assert list(map(name, users)) == ["helpers.drawing.layout"]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), (
        "begin with a sentence on what lives here"
    )
