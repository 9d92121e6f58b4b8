"""What the rules read of a lesson: rounds, letters, words, minutes, numbers; and the report on it. No
kernel runs.
"""

import re

import nbformat
from made_up_lesson import lesson as stored
from made_up_lesson import text
from made_up_rounds import NAME, notebook, with_role
from notebook_rules import COURSE, Lesson
from notebook_rules.duration import code_lines, count_minutes, words
from notebook_rules.letters import right_letters, uneven
from notebook_rules.numbers import unbacked
from notebook_rules.report import of_lesson
from notebook_rules.rounds import rounds
from notebook_rules.terms import Term, definition, too_early, undefined
from planted_faults import (
    a_letter_that_is_no_option,
    another_number,
    no_roles,
    put,
    replaced,
    with_that_role,
)

from course.publishing.round_text import question, reason


def test_the_parts_of_a_question_are_read():
    read = question(
        "### Who?\n\nA set-up.\n\n```python\nx\n```\n\n**Predict.** What?\n\n- (a) one\n  more\n- (b) two"
    )
    assert (read.level, read.title, read.set_up, read.ask) == ("###", "Who?", "A set-up.", "What?")
    assert read.options == {"a": "one more", "b": "two"}


def test_the_parts_of_a_reason_are_read():
    summary = "<details><summary>Why? Open it when you have run the cell</summary>"
    read = reason(
        f"{summary}\n\n**So it\nis.** Because.\n\n- −1.5, 2e3: no\n- (c) no\n1. yes\n</details>"
    )
    assert (read.takeaway, read.values, read.letters, read.numbers) == (
        "So it is.",
        ["−1.5, 2e3"],
        ["c"],
        ["1"],
    )
    assert reason("No fold.").body == ""


def test_rounds_end_where_something_else_begins():
    read = rounds(stored(notebook()))
    assert [len(one.cells) for one in read] == [5, 6, 5, 5, 6, 2]
    assert [one.is_lab for one in read] == [False] * 4 + [True, False]


def test_letters_are_counted_over_all_lessons():
    assert right_letters(stored(notebook())) == "bca"
    assert list(uneven("abcabc")) == []
    assert len(list(uneven("aaabbb"))) == 3
    made = notebook()
    for cell in [cell for cell in made.cells if cell.metadata.course.role == "question"]:
        cell.metadata.course.right = "b"
    assert [found for rule in COURSE for found in rule([stored(notebook()), stored(made)])]


def spoken(*said, lesson="99", role="text"):
    """Return a lesson of text cells."""
    made = [with_role(text(one), role) for one in said]
    made = nbformat.from_dict({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    return Lesson(f"{lesson}_made_up.ipynb", stored(made).text)


LEAF = Term("leaf", "03", re.compile(r"\bleaf\b"))
NODE = Term("`grad_fn`", "99", re.compile(r"\bgrad_fn\b"))


def test_a_word_is_used_after_its_definition():
    assert list(too_early(spoken("A leaf.", lesson="04"), [LEAF])) == []
    assert list(too_early(spoken("A **leaf** is.", "A leaf.", lesson="03"), [LEAF])) == []
    assert list(too_early(spoken("A *leaf* is.", "A leaf.", lesson="02"), [LEAF])) == []
    assert list(too_early(spoken("A leaf, see lesson 03.", lesson="02"), [LEAF])) == []
    assert list(too_early(spoken("A [leaf](03_leaf.ipynb).", lesson="02"), [LEAF])) == []
    assert list(too_early(spoken("## A leaf\n\n```\nleaf\n```", lesson="02"), [LEAF])) == []
    assert list(too_early(spoken("A leaf.", lesson="02", role="notes"), [LEAF])) == []


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


def test_refreshing_writes_the_minutes_into_the_title():
    made = notebook()
    wanted = made.cells[0].source
    another_number(made)
    count_minutes(NAME, made)
    assert made.cells[0].source == wanted
    no_roles(made)
    another_number(made)
    wanted = made.cells[0].source
    count_minutes(NAME, made)
    assert made.cells[0].source == wanted


def test_the_report_says_how_a_lesson_stands():
    made = notebook()
    a_letter_that_is_no_option(made)
    lines = list(of_lesson(stored(made)))
    assert lines[0] == "99_made_up.ipynb"
    assert "4 rounds, 1 in a quiz, 1 labs; right: ca" in lines[1]
    assert any("1 × a_question_has_its_answer" in line for line in lines)
    assert any("set course.right" in line for line in lines)


def test_numbers_in_a_because_are_said_and_those_of_wrong_answers_are_not():
    made = notebook()
    replaced(with_that_role(made, "because"), "Six rows of seven.", "Rows of 61.")
    replaced(with_that_role(made, "because"), "That is the sum", "That is 62, the sum")
    replaced(with_that_role(made, "because", 3), "Those are", "Those are 63,")
    assert [number for _, number, _ in unbacked(stored(made))] == ["61"]


def test_what_a_guess_puts_out_backs_no_number():
    made = notebook()
    replaced(with_that_role(made, "because"), "Six rows of seven.", "Rows of 61.")
    with_that_role(made, "guess").outputs[0].data["text/plain"] = "61"
    assert [number for _, number, _ in unbacked(stored(made))] == ["61"]
