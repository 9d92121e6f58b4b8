"""The modules of the package form a house: imports point one way, and each module stays small."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import helpers

HOME = Path(helpers.__file__).parent
MODULES = sorted(HOME.rglob("*.py"))


def name(path):
    return ".".join(("helpers", *path.relative_to(HOME).with_suffix("").parts)).removesuffix(".__init__")


def imports(path):
    """Return the modules of ours that a module imports, those for type checkers left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for child in ast.walk(node)
    }
    known = {name(one) for one in MODULES}
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (one if one in known else node.module for one in full if (one in known or node.module in known))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def test_imports_have_no_cycle():
    house = {name(path): set(imports(path)) - {name(path)} for path in MODULES}
    TopologicalSorter(house).prepare()
    assert house["helpers.snapshot"] >= {"helpers.graph", "helpers.peek"}
    assert not house["helpers.text"]


def test_plain_data_knows_no_torch():
    for module in (
        "graph.py",
        "tree.py",
        "text.py",
        "cards.py",
        "marks.py",
        "draw.py",
        "faces.py",
        "svg.py",
        "layout.py",
    ):
        assert "import torch" not in (HOME / module).read_text(encoding="utf-8"), module


def test_only_layout_knows_graphviz_the_engine():
    users = [
        name(path) for path in MODULES if "pygraphviz" in path.read_text(encoding="utf-8").replace("by pygraphviz", "")
    ]
    assert users == ["helpers.layout"]


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_says_what_it_is_and_fits_on_a_few_screens(path):
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), f"{path.name}: begin with a sentence on what lives here"
    if not path.name.startswith("lesson_"):
        assert source.count("\n") <= 160, f"{path.name}: too long: a module with two responsibilities?"
