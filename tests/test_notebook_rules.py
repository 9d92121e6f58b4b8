"""A lesson that keeps every rule is broken once or more for each, and the rule is seen to object.
No kernel runs.
"""

import json
import re

import pytest
from made_up_lesson import lesson
from made_up_rounds import notebook
from notebook_rules import RULES, Lesson, leaks
from planted_faults import (
    PLANTED,
    a_letter_that_is_no_option,
    a_semicolon,
    no_roles,
    replaced,
    with_that_role,
)

BY_NAME = {rule.__name__: rule for rule in RULES}
TESTED_APART = {
    "a_students_copy_holds_no_answer",  # a copy is made by the course, not by an author
}

BEGINS = re.compile(r"cell \d+ \('|its? |half |the file ")


def complaints(rule, read):
    return list(BY_NAME[rule](read))


@pytest.mark.slow
def test_the_made_up_lesson_keeps_every_rule():
    assert [found for rule in RULES for found in rule(lesson(notebook()))] == []


def test_every_rule_is_broken_by_something():
    assert {rule for rule, _ in PLANTED} == set(BY_NAME) - TESTED_APART


@pytest.mark.parametrize(
    ("rule", "fault"), PLANTED, ids=[f"{rule}-{nr}" for nr, (rule, _) in enumerate(PLANTED)]
)
def test_the_rule_objects(rule, fault):
    made = notebook()
    found = complaints(rule, fault(made) or lesson(made))
    assert found
    assert all(len(complaint) > 40 and BEGINS.match(complaint) for complaint in found)


def test_a_lesson_without_roles_gets_one_complaint():
    read = lesson(notebook())
    no_roles(read.node)
    read = Lesson(read.name, lesson(read.node).text)
    found = [complaint for rule in RULES for complaint in rule(read)]
    assert len(found) == 1
    assert found[0].startswith(
        "it has no roles: set metadata.course.role of each cell to one of title,"
    )


def test_a_students_copy_is_looked_at(monkeypatch):
    monkeypatch.setattr(leaks, "student_copy", lambda file: json.loads(file.read_text()))
    found = "\n".join(complaints("a_students_copy_holds_no_answer", lesson(notebook())))
    for word in ("'right'", "'answer'", "'expects'", "'caption'", "an output", "not for students"):
        assert word in found


@pytest.mark.slow
def test_what_is_allowed_is_not_complained_about():
    made = notebook()
    asked, run = with_that_role(made, "question"), with_that_role(made, "run", 1)
    replaced(asked, "- (c) 67", "- (c) `6**7` or `__init__`")
    replaced(with_that_role(made, "question", 3), "How many?", "How many, 405 or 5, is asked?")
    run.source = "for x in y:\n    with attempt():\n        x.backward()\nx"
    with_that_role(made, "run", 2).source = "class Old: ...\nOld()"
    with_that_role(made, "run", 2).metadata.tags = ["class-is-the-lesson"]
    with_that_role(made, "run", 3).source = "z = 1 / 0  # the line that one looks at"
    with_that_role(made, "run", 4).source = '@on_gpu("10.a")\ndef placed():\n    return 405, 5'
    with_that_role(made, "stub").source += "  # an error of yours"
    with_that_role(made, "lab").source += "\n\nClick into the lab and press (keys 1 to 5)."
    with_that_role(made, "text").source += (
        "\n\nAgain with key 1; an arrow → is no key. See [the docs](https://pytorch.org/docs/stable),"
        " and/or 1/2/3, `</a></b>`, 2018-04-24."
    )
    assert [found for rule in RULES for found in rule(lesson(made))] == []


def test_a_complaint_names_the_cell_and_what_to_do():
    made = notebook()
    a_letter_that_is_no_option(made)
    assert complaints("a_question_has_its_answer", lesson(made)) == [
        "cell 3 ('## 10:40 · What does `*` give?') says that 'd' is right: set course.right to one of a, b, c,"
        " and no answer."
    ]
    made = notebook()
    a_semicolon(made)
    assert complaints("no_silencing_semicolon", lesson(made)) == [
        "cell 5 ('6 * 7;') ends in `;`: end it on an expression or an assert."
    ]
