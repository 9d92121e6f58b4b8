"""A small notebook that shows every kind of output and runs without torch: for tests that run it. Its
cells have no roles: the lesson that keeps every rule is `made_up_rounds`. Touches nothing.

Its outputs are written here by hand, not recorded: nbval and a fresh run must agree with them.
"""

import base64
import json

import nbformat
from normal_form import stored_text
from notebook_rules import Lesson

NAME = "99_made_up.ipynb"
SVG = "<svg><text>MulBackward0</text></svg>"
ENCODED = base64.b64encode(SVG.encode()).decode()
TREE = "<details><summary>The graph as text</summary><pre>MulBackward0</pre></details>"
IMG = f'<img alt="one card" src="data:image/svg+xml;base64,{ENCODED}">{TREE}'
SETUP = """import base64
from IPython.display import display
def check(name, answer):
    print(f"{name}: not answered yet.")"""
DRAW = f"""svg = "{SVG}"
code = base64.b64encode(svg.encode()).decode()
html = f'<img alt="one card" src="data:image/svg+xml;base64,{{code}}">{TREE}'
display({{"text/html": html, "text/plain": "MulBackward0"}}, raw=True)"""


def text(source, slide="fragment"):
    """Return a text cell."""
    return {
        "cell_type": "markdown",
        "metadata": {"slideshow": {"slide_type": slide}},
        "source": source,
    }


def code(source, *outputs, slide="fragment", tags=()):
    """Return a code cell with its outputs; counts are set when the lesson is put together."""
    cell = {**text(source, slide), "cell_type": "code", "outputs": list(outputs)}
    if tags:
        cell["metadata"]["tags"] = list(tags)
    return cell


def stream(words):
    return {"output_type": "stream", "name": "stdout", "text": words}


def result(words):
    return {"output_type": "execute_result", "metadata": {}, "data": {"text/plain": words}}


def picture():
    data = {"text/html": IMG, "text/plain": "MulBackward0"}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def error():
    return {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no graph here",
        "traceback": ["no graph here"],
    }


def cells():
    """Return a cell for each kind of output, and one that a student fills in."""
    return [
        text("# A made-up lesson\n\n![a card](../figs/card.svg)", "slide"),
        code(SETUP, slide="skip"),
        code("6 * 7", result("42")),
        code('print("leaf")', stream("leaf\n")),
        code(DRAW, picture()),
        code('raise ValueError("no graph here")', error(), tags=["raises-exception"]),
        *exercise("99.1"),
    ]


def exercise(name):
    """Return the statement and the stub of one exercise."""
    stub = code(f'answer = ...\ncheck("{name}", answer)', stream(f"{name}: not answered yet.\n"))
    return [text(f"**{name}** How many?"), stub]


def counted(cells):
    """Return cells as a notebook, run in order; a claim takes no number."""
    made = nbformat.from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    count = 0
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        count += cell.metadata.get("course", {}).get("role") != "claim"
        cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    return made


def lesson(made=None):
    """Return the lesson, or the changed notebook that is given, as it would be stored."""
    return Lesson(NAME, stored_text(json.loads(json.dumps(made or counted(cells())))))
