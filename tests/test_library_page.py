"""docs/library.md shows what its own lines give now, and names every option that there is."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from library_page import DOCS, PAGE

import autograd_graphs
from autograd_graphs.drawing.diagram import MOST_CARDS
from autograd_graphs.looking.snapshot import NEAREST, WHOLE

HERE = Path(__file__).parent
TEXT = PAGE.read_text(encoding="utf-8")
CALLS = ["show", "record", "step_through", "beside_torchviz", "module_calls", "snapshot"]


RUN = "import json; from library_page import drawn; print(json.dumps(drawn()))"


@pytest.mark.slow
def test_every_picture_and_every_output_is_what_the_lines_above_it_give():
    # in a process of its own: where tests have imported the course, diagnose names its lessons
    done = subprocess.run([sys.executable, "-c", RUN], cwd=HERE, capture_output=True, check=True)
    page, pictures = json.loads(done.stdout)
    again = "run: python tests/library_page.py"
    assert page == TEXT, again
    stored = {f"pictures/{path.name}": path.read_text("utf-8") for path in DOCS.glob("pictures/*")}
    assert stored == pictures, again


@pytest.mark.parametrize("name", autograd_graphs.__all__)
def test_every_public_name_is_on_the_page(name):
    assert name == "Picture" or re.search(rf"\b{name}\b", TEXT)


@pytest.mark.parametrize("name", CALLS)
def test_every_option_is_on_the_page(name):
    for option in inspect.signature(getattr(autograd_graphs, name)).parameters.values():
        if option.kind is option.KEYWORD_ONLY or option.default is not option.empty:
            assert re.search(rf"\b{option.name}\b", TEXT), option


def test_the_page_names_the_limits_of_a_picture():
    said = re.findall(r"\d[\d,]+ (?:cards|nodes|edges)", TEXT)
    limits = [f"{MOST_CARDS} cards", f"{WHOLE.nodes:,} nodes", f"{WHOLE.edges:,} edges"]
    assert said == [*limits, f"{NEAREST.nodes:,} nodes"]
