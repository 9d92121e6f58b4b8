"""Each number in the text of an idea is computed there, or listed with the reason why it stands
alone.
"""

import tomllib
from pathlib import Path

import nbformat
import pytest
from made_up_lesson import code, stream, text
from made_up_lesson import lesson as stored
from notebook_rules import Lesson
from notebook_rules.numbers import unbacked
from notebook_rules.style import ideas

ROOT = Path(__file__).parent.parent
LONE = tomllib.loads((ROOT / "tests" / "lone_numbers.toml").read_text(encoding="utf-8"))["lone"]
LESSONS = {path.name[:2]: path for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))}


def alone(lesson):
    """Return {(cell id, number): words around it} of what a lesson says and does not compute."""
    return {(cell.node["id"], number): words for cell, number, words in unbacked(lesson)}


@pytest.mark.parametrize("number", LESSONS)
def test_what_a_lesson_says_in_numbers_it_computes(number):
    listed = {
        (row["cell"], one) for row in LONE if row["lesson"] == number for one in row["numbers"]
    }
    found = alone(Lesson.at(LESSONS[number]))
    new = [
        f"{cell}: {one!r} in …{words}…"
        for (cell, one), words in found.items()
        if (cell, one) not in listed
    ]
    assert not new, "compute it in a cell of the idea, or list it with a reason:\n" + "\n".join(new)
    assert not listed - set(found), "lone_numbers.toml lists what is computed now, or said no more"


def test_every_lone_number_has_a_reason():
    assert all(row["reason"] and row["numbers"] for row in LONE)
    assert {row["lesson"] for row in LONE} <= set(LESSONS)


def idea(said, *cells, slide="fragment"):
    """Return the numbers that one idea says in a text cell and does not compute."""
    made = [
        text("# T", "slide"),
        text("## 7 · How much is 6 times 9?", "slide"),
        *cells,
        text(said, slide),
        text("## Recap", "slide"),
    ]
    made = [{**cell, "execution_count": 1} if "outputs" in cell else cell for cell in made]
    lesson = stored(
        nbformat.from_dict({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    assert len(ideas(lesson)) == 1
    return [number for cell, number, _ in unbacked(lesson) if cell.source == said]


RUN = code(
    "y = x.sin() ** 2  # 81\nprint('82')",
    stream("tensor(-0.756802, grad_fn=<PowBackward0>)\n1024 at 0x7f83d2c0\n"),
)


@pytest.mark.parametrize(
    "said",
    [
        "It is −0.756802, or about -0.757.",
        "1,024 of them, or 1024: `[1024., -0.7568]`.",
        "float32, C5, e² and `torch.zeros(77)` are no numbers.",
        "See lesson 03, [04, the graph](04_graph.ipynb), exercise 05.2, **05.3**, idea 9, ideas 8 and 9, line 77.",
        "1. first\n77. second",
        "- (a) 77\n  and 78\n- (b) 79\n\nHow many?",
        "```python\nx = 77\n```",
    ],
)
def test_what_is_computed_or_not_said_is_left_alone(said):
    assert idea(said, RUN) == []


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("It is 0.756802.", ["0.756802"]),
        ("It is −0.756803.", ["-0.756803"]),
        ("It is −0.758.", ["-0.758"]),
        ("1,025 of them.", ["1,025"]),
        ("All of 81, 82 and 83.", ["81", "82", "83"]),
        ("Squared, 3x, and 0.5.", ["3", "0.5"]),
        ("`[1024., 5.]`", ["5"]),
        ("Step 1e-7, version 2.13.0.", ["1e-7", "2.13.0"]),
        ("$e = 77$ and **78** and (79).", ["77", "78", "79"]),
        ("<details><summary>Why?</summary>\n\nIt is 77.\n\n</details>", ["77"]),
        ("(a) is the guess of 77, (b) of 78.", ["77", "78"]),
    ],
)
def test_what_no_cell_backs_is_found(said, found):
    assert idea(said, RUN) == found
