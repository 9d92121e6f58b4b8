"""What the rules read of a lesson: words, lines, minutes. No kernel runs."""

import re

import nbformat
from made_up_lesson import lesson as stored
from made_up_lesson import text
from made_up_rounds import notebook, with_role
from notebook_rules import Lesson
from notebook_rules.duration import code_lines, words
from notebook_rules.roles import a_lesson_varies
from notebook_rules.terms import Term, definition, too_early, undefined
from planted_faults import put, with_that_role


def spoken(*said, lesson="99", role="text"):
    """Return a lesson of text cells."""
    made = [with_role(text(one), role) for one in said]
    made = nbformat.from_dict({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return Lesson(f"{lesson}_made_up.ipynb", stored(made).text)


LEAF = Term("leaf", "03", re.compile(r"\bleaf\b"))


def test_a_word_before_its_definition_is_named_once():
    found = list(too_early(spoken("A leaf.", "A leaf.", "A **leaf**.", lesson="03"), [LEAF]))
    assert len(found) == 1
    assert found[0].startswith("cell 1 ('A leaf.') says 'leaf', which cell 3")
    assert len(list(too_early(spoken("`2**leaf` and `3**2`.", lesson="02"), [LEAF]))) == 1
    assert len(list(too_early(spoken("A leaf.", lesson="02"), [LEAF]))) == 1
    assert len(list(undefined(spoken("A leaf.", lesson="03"), [LEAF]))) == 1
    assert definition(spoken("A leaf.", lesson="03"), LEAF) is None


def test_minutes_are_counted_from_what_students_read():
    before = stored(notebook())
    made = notebook()
    put(made, -1, with_role(text("one two **three** | – <b>four</b>"), "text"))
    assert words(stored(made)) == words(before) + 4
    made = notebook()
    put(made, -1, with_role(text("not read"), "exercise"), with_role(text("nor this"), "notes"))
    assert words(stored(made)) == words(before)
    run = with_that_role(made, "run")
    run.source = "import math\nfrom math import (\n    pi,\n)\n\n6 * 7"
    assert code_lines(stored(made)) == code_lines(before)


def test_a_lesson_that_asks_too_often_and_always_alike_is_told_so():
    made = notebook()
    made.cells += notebook().cells
    for cell in made.cells:
        if cell.metadata.course.role == "question":
            cell.metadata.course.kind = "draw"
    found = "\n".join(a_lesson_varies(stored(made)))
    for words_of_it in ("8 rounds", "of 1 kinds", "in the same way (draw) more than 2 times"):
        assert words_of_it in found
