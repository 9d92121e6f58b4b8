"""The harness is seen to fail: lessons with one thing changed must turn nbval or a rule red. Works
in tmp_path.
"""

import base64
import json
import re

import made_up_lesson
import pytest
from comparing import failing_cells
from notebook_rules import RULES, Lesson
from notebook_rules.lesson import DATA_URI, decoded_pictures

pytestmark = pytest.mark.thorough
LABEL = re.compile(r">([^<>\s][^<>]*)</(?:text|tspan)>")


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def find(notebook, wanted):
    """Return the number of the first code cell with an output that `wanted` accepts, and that
    output.
    """
    return next(
        (n, o) for n, cell in enumerate(code_cells(notebook)) for o in cell["outputs"] if wanted(o)
    )


def data(output):
    return output.get("data", {})


def relabelled(svg):
    """Return the picture with one label changed, and nothing else."""
    found = LABEL.search(svg)
    return f"{svg[: found.start(1)]}Changed{svg[found.end(1) :]}"


def a_digit(notebook):
    number, output = find(notebook, lambda o: re.search(r"\d", data(o).get("text/plain", "")))
    plain = output["data"]["text/plain"]
    digit = re.search(r"\d", plain)
    output["data"]["text/plain"] = (
        f"{plain[: digit.start()]}{9 - int(digit[0])}{plain[digit.end() :]}"
    )
    return number


def a_printed_word(notebook):
    number, output = find(notebook, lambda o: o["output_type"] == "stream")
    output["text"] = "x" + output["text"][1:]
    return number


def an_error_message(notebook):
    number, output = find(notebook, lambda o: o["output_type"] == "error")
    output["evalue"] = output["evalue"].swapcase()
    return number


def a_label_in_the_img(notebook):
    number, output = find(notebook, lambda o: DATA_URI.search(data(o).get("text/html", "")))
    html = output["data"]["text/html"]
    changed = relabelled(next(decoded_pictures(html)))
    encoded = base64.b64encode(changed.encode()).decode()
    output["data"]["text/html"] = html.replace(DATA_URI.search(html)[1], encoded)
    return number


def a_cell_that_now_raises(notebook):
    cell = code_cells(notebook)[-1]
    cell["source"] = 'raise RuntimeError("now it raises")\n' + cell["source"]
    return len(code_cells(notebook)) - 1


def a_stripped_cell(notebook):
    """nbval passes over a cell with neither count nor outputs: a rule must see it."""
    number, _ = find(notebook, lambda o: o["output_type"] == "execute_result")
    code_cells(notebook)[number].update(execution_count=None, outputs=[])


TAMPERS = [
    a_digit,
    a_printed_word,
    an_error_message,
    a_label_in_the_img,
    a_cell_that_now_raises,
    a_stripped_cell,
]


def store(folder, name, notebook):
    """Write a notebook into the test's folder; return it as the rules read it."""
    (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return Lesson("99_made_up.ipynb", json.dumps(notebook))


def copy_of(lesson):
    return json.loads(json.dumps(lesson.node))


def test_every_change_turns_the_harness_red(tmp_path):
    lesson, expected = made_up_lesson.lesson(), {"untouched": set()}
    store(tmp_path, "untouched", copy_of(lesson))
    for tamper in TAMPERS:
        notebook = copy_of(lesson)
        number = tamper(notebook)
        stored = store(tmp_path, tamper.__name__, notebook)
        expected[tamper.__name__] = set() if number is None else {number}
        if number is None:
            assert [
                complaint
                for rule in RULES
                for complaint in rule(stored)
                if "execution count" in complaint
            ]
    assert failing_cells(tmp_path) == expected
