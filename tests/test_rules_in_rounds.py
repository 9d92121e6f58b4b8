"""Each rule for lessons in rounds is seen to object: a lesson that keeps them all is broken once or
more for every rule. No kernel runs.
"""

import json
import re

import nbformat
import pytest
from made_up_lesson import lesson as stored
from made_up_lesson import notebook as made_up_before
from made_up_lesson import text
from made_up_rounds import NAME, notebook, product, with_role
from notebook_rules import COURSE, IN_ROUNDS, RULES, Lesson, leaks
from notebook_rules.duration import code_lines, count_minutes, minutes, words
from notebook_rules.letters import bounds, right_letters, uneven
from notebook_rules.numbers import unbacked
from notebook_rules.report import of_lesson, report
from notebook_rules.rounds import question, reason, rounds
from notebook_rules.terms import TERMS, Term, definition, too_early, undefined

BY_NAME = {rule.__name__: rule for rule in IN_ROUNDS}
BREAKS = []
TESTED_APART = {"a_students_copy_holds_no_answer"}  # a copy is made by the course, not by an author


def breaks(rule):
    """Register a function that changes a good notebook, or returns another lesson, so that `rule`
    must object.
    """
    return lambda change: BREAKS.append((rule, change)) or change


def complaints(rule, lesson):
    return list(BY_NAME[rule](lesson))


def test_the_made_up_lesson_keeps_every_rule():
    assert [found for rule in RULES for found in rule(stored(notebook()))] == []
    assert [found for rule in COURSE for found in rule([stored(notebook())] * 3)] == []


def test_a_lesson_without_roles_is_held_to_none_of_these_rules():
    lesson = stored(made_up_before())
    assert not lesson.in_rounds
    assert [found for rule in IN_ROUNDS for found in rule(lesson)] == []


def test_every_rule_is_broken_by_something():
    assert {rule for rule, _ in BREAKS} == set(BY_NAME) - TESTED_APART


def pytest_generate_tests(metafunc):
    if "broken" in metafunc.fixturenames:
        ids = [f"{rule}-{change.__name__}" for rule, change in BREAKS]
        metafunc.parametrize("broken", BREAKS, ids=ids)


def test_the_rule_objects(broken):
    rule, change = broken
    made = notebook()
    found = complaints(rule, change(made) or unsettled(made))
    assert found
    assert all(isinstance(complaint, str) and len(complaint) > 40 for complaint in found)
    assert all(
        re.search(r"^cell \d+ \('|^it |^half |^\([abc]\) ", complaint) for complaint in found
    )


def unsettled(made):
    """Return a notebook as it was written, not yet in normal form: slide types are as they are."""
    stored_types = json.loads(stored(made).text)
    for before, after in zip(made.cells, stored_types["cells"], strict=True):
        if before.metadata.slideshow.slide_type == "by hand":
            after["metadata"]["slideshow"]["slide_type"] = "slide"
    return Lesson(NAME, json.dumps(stored_types))


def with_that_role(made, role, number=0):
    """Return a cell with this role; `number` counts them from 0."""
    return [cell for cell in made.cells if cell.metadata.course.role == role][number]


def put(made, place, *cells):
    """Put cells at a place."""
    made.cells[place:place] = [nbformat.from_dict(cell) for cell in cells]


def replaced(cell, old, new):
    assert old in cell.source
    cell.source = cell.source.replace(old, new, 1)


# roles


@breaks("every_cell_has_a_known_role")
def a_role_misspelled(made):
    with_that_role(made, "text").metadata.course.role = "txet"


@breaks("every_cell_has_a_known_role")
def a_role_forgotten(made):
    with_that_role(made, "text").metadata.pop("course")


@breaks("every_cell_has_a_known_role")
def a_role_for_the_other_kind(made):
    with_that_role(made, "text").metadata.course.role = "run"


@breaks("a_lesson_begins_with_its_title_and_has_a_recap")
def no_title(made):
    made.cells[0].metadata.course.role = "text"


@breaks("a_lesson_begins_with_its_title_and_has_a_recap")
def two_recaps(made):
    made.cells.append(with_that_role(made, "recap"))


@breaks("metadata_is_what_the_role_carries")
def a_key_misspelled(made):
    with_that_role(made, "run").metadata.course.captoin = "A card."


@breaks("metadata_is_what_the_role_carries")
def no_minutes(made):
    del with_that_role(made, "question").metadata.course["minutes"]


@breaks("metadata_is_what_the_role_carries")
def a_lab_without_minutes(made):
    with_that_role(made, "lab").metadata.course.minutes = 0


@breaks("metadata_is_what_the_role_carries")
def expects_that_is_one_text(made):
    with_that_role(made, "run", 1).metadata.course.expects = "(no error)"


@breaks("metadata_is_what_the_role_carries")
def a_caption_that_is_a_list(made):
    with_that_role(made, "run").metadata.course.caption = ["A card."]


@breaks("a_round_has_its_order")
def no_guess(made):
    made.cells.remove(with_that_role(made, "guess"))


@breaks("a_round_has_its_order")
def no_notes(made):
    made.cells.remove(with_that_role(made, "notes", 1))


@breaks("a_round_has_its_order")
def two_runs_before_the_reason(made):
    run = with_that_role(made, "run")
    put(made, made.cells.index(run), run)


@breaks("a_round_has_its_order")
def the_reason_before_the_run(made):
    run, because = with_that_role(made, "run"), with_that_role(made, "because")
    i, j = made.cells.index(run), made.cells.index(because)
    made.cells[i], made.cells[j] = because, run


@breaks("a_round_has_its_order")
def a_lab_without_an_answer(made):
    made.cells.remove(with_that_role(made, "because", -1))


@breaks("what_belongs_to_a_round_stands_in_one")
def a_run_after_the_map(made):
    with_that_role(made, "text").source = "## A map"
    put(made, made.cells.index(with_that_role(made, "text")) + 1, with_that_role(made, "run"))


@breaks("a_round_has_its_order")
def a_quiz_that_is_run(made):
    place = made.cells.index(with_that_role(made, "guess", 4)) + 1
    put(made, place, with_that_role(made, "run"))


@breaks("what_belongs_to_a_round_stands_in_one")
def a_reason_after_the_recap(made):
    made.cells.append(with_that_role(made, "because"))


@breaks("a_guess_asks_for_its_question")
def a_guess_for_another_question(made):
    with_that_role(made, "guess").source = 'predict("99.q2")'


@breaks("a_guess_asks_for_its_question")
def a_guess_that_is_made(made):
    with_that_role(made, "guess").source = 'predict("99.q1", "b")'


@breaks("questions_are_numbered")
def a_number_left_out(made):
    with_that_role(made, "question", 1).metadata.course.id = "99.q3"


@breaks("questions_are_numbered")
def an_id_of_another_lesson(made):
    with_that_role(made, "question").metadata.course.id = "98.q1"


@breaks("questions_are_numbered")
def a_question_of_the_quiz_with_another_name(made):
    with_that_role(made, "question", 4).metadata.course.id = "99.q5"


@breaks("ideas_are_numbered")
def an_idea_without_a_number(made):
    replaced(with_that_role(made, "question"), "## 1 · ", "## ")


@breaks("ideas_are_numbered")
def ideas_counted_wrong(made):
    replaced(with_that_role(made, "question", 2), "## 2 · ", "## 3 · ")


@breaks("ideas_are_numbered")
def a_second_round_with_a_number(made):
    replaced(with_that_role(made, "question", 1), "### ", "### 2 · ")


@breaks("ideas_are_numbered")
def no_heading(made):
    replaced(with_that_role(made, "question", 1), "### And without a request?\n\n", "")


@breaks("slide_types_are_those_of_the_roles")
def a_slide_type_by_hand(made):
    with_that_role(made, "run").metadata.slideshow.slide_type = "by hand"


# answers


@breaks("a_question_says_what_to_predict")
def nothing_to_predict(made):
    replaced(with_that_role(made, "question"), "**Predict.** ", "")


@breaks("a_question_of_the_quiz_leaves_its_answer_to_a_lesson")
def a_quiz_with_an_answer(made):
    with_that_role(made, "question", 4).metadata.course.right = "a"


@breaks("a_question_of_the_quiz_leaves_its_answer_to_a_lesson")
def a_quiz_that_nothing_settles(made):
    with_that_role(made, "question", 4).metadata.course.settled = "later"


@breaks("a_question_has_its_answer")
def a_letter_that_is_no_option(made):
    with_that_role(made, "question").metadata.course.right = "d"


@breaks("a_question_has_its_answer")
def no_right_letter(made):
    del with_that_role(made, "question").metadata.course["right"]


@breaks("a_question_has_its_answer")
def an_option_twice(made):
    replaced(with_that_role(made, "question"), "- (b)", "- (a)")


@breaks("a_question_has_its_answer")
def one_option(made):
    cell = with_that_role(made, "question")
    cell.source = cell.source.partition("\n- (b)")[0]
    cell.metadata.course.right = "a"


@breaks("a_question_has_its_answer")
def a_number_that_is_text(made):
    with_that_role(made, "question", 3).metadata.course.answer = "405"


@breaks("a_question_has_its_answer")
def a_number_and_a_letter(made):
    with_that_role(made, "question", 3).metadata.course.right = "a"


@breaks("the_reason_is_folded")
def another_summary(made):
    replaced(with_that_role(made, "because"), "Why? Open it", "Answer: open it")


@breaks("the_reason_is_folded")
def words_above_the_fold(made):
    cell = with_that_role(made, "because")
    cell.source = f"It is 42.\n\n{cell.source}"


@breaks("the_reason_is_folded")
def words_below_the_fold(made):
    with_that_role(made, "because").source += "\n\nSo it is 42."


@breaks("the_reason_is_folded")
def two_folds(made):
    cell = with_that_role(made, "because")
    cell.source = f"{cell.source}\n\n{cell.source}"


@breaks("every_wrong_answer_has_its_line")
def a_wrong_letter_without_a_line(made):
    replaced(with_that_role(made, "because"), "- (a) That", "(a) That")


@breaks("every_wrong_answer_has_its_line")
def a_line_for_the_right_letter(made):
    replaced(with_that_role(made, "because"), "- (c)", "- (b) is right.\n- (c)")


@breaks("every_wrong_answer_has_its_line")
def no_wrong_number(made):
    cell = with_that_role(made, "because", 3)
    cell.source = re.sub(r"^- \d.*\n", "", cell.source, flags=re.M)


@breaks("every_wrong_answer_has_its_line")
def a_line_for_the_right_numbers(made):
    replaced(with_that_role(made, "because", 3), "- 27, 9:", "- 405, 5:")


@breaks("every_wrong_answer_has_its_line")
def one_number_for_two(made):
    replaced(with_that_role(made, "because", 3), "- 27, 9:", "- 27:")


@breaks("lines_for_wrong_answers_are_sentences")
def half_a_sentence(made):
    replaced(with_that_role(made, "because"), "- (a) That is", "- (a) is")


@breaks("lines_for_wrong_answers_are_sentences")
def a_sentence_without_an_end(made):
    replaced(with_that_role(made, "because", 3), "factors alone.", "factors alone")


@breaks("a_lab_answers_its_questions")
def an_answer_missing(made):
    replaced(with_that_role(made, "because", -1), "\n2. All the way.", "")


@breaks("a_lab_answers_its_questions")
def a_lab_without_questions(made):
    with_that_role(made, "lab").source = "## Lab: turn it"


# sizes


@breaks("questions_are_short")
def a_long_set_up(made):
    replaced(with_that_role(made, "question"), "`6 * 7` is", "`6 * 7` is " + "often " * 40)


@breaks("questions_are_short")
def a_long_option(made):
    replaced(with_that_role(made, "question"), "- (c) 67", "- (c) " + "67 or " * 13)


@breaks("questions_are_short")
def an_option_of_two_lines(made):
    replaced(with_that_role(made, "question"), "- (c) 67", "- (c) 67 or\n  " + "68 or " * 12)


@breaks("takeaways_are_short")
def a_long_takeaway(made):
    replaced(with_that_role(made, "because"), "counts rows", "counts " + "many " * 15 + "rows")


@breaks("takeaways_are_short")
def a_takeaway_that_is_not_bold(made):
    cell = with_that_role(made, "because")
    cell.source = cell.source.replace("**", "")


@breaks("takeaways_are_short")
def a_takeaway_that_comes_second(made):
    replaced(with_that_role(made, "because"), "**A product", "So it is. **A product")


@breaks("code_fits_a_slide")
def thirteen_lines(made):
    with_that_role(made, "run").source = "\n".join(["6 * 7"] * 13)


@breaks("code_fits_a_slide")
def a_wide_line(made):
    with_that_role(made, "run").source = " * ".join(["6"] * 21)


@breaks("code_fits_a_slide")
def long_runs_on_the_whole(made):
    for number in range(6):
        with_that_role(made, "run", number).source = "\n".join(["6 * 7"] * 7)


@breaks("text_fits_a_slide")
def a_wall_of_text(made):
    with_that_role(made, "recap").source = "word " * 121


# leaks


@breaks("code_does_not_tell_what_comes")
def an_expected_error(made):
    with_that_role(made, "run").source = 'with expect_error(RuntimeError, "words"):\n    6 * 7'


@breaks("code_does_not_tell_what_comes")
def words_for_a_picture(made):
    with_that_role(made, "run").source = 'show(x, alt="one card")'


@breaks("code_does_not_tell_what_comes")
def a_caption_in_code(made):
    with_that_role(made, "run").source = 'caption = "one card"\nshow(x)'


@breaks("comments_do_not_tell_what_comes")
def a_comment_that_tells(made):
    with_that_role(made, "run", 3).source = "6 * None  # raises"


@breaks("nothing_is_asserted_before_the_reason")
def an_assert(made):
    with_that_role(made, "run").source = "assert 6 * 7 == 42\n6 * 7"


@breaks("no_fold_stands_above_the_run")
def a_fold_in_the_question(made):
    with_that_role(made, "question").source += "\n\n<details>Why (a) tempts.</details>"


@breaks("no_fold_stands_above_the_run")
def a_fold_above_the_lab(made):
    with_that_role(made, "lab").source += "\n\n<details>Once.</details>"


@breaks("options_look_alike")
def a_bold_option(made):
    replaced(with_that_role(made, "question"), "- (b) 42", "- (b) **42**")


@breaks("options_look_alike")
def an_option_with_a_tick(made):
    replaced(with_that_role(made, "question"), "- (b) 42", "- (b) 42 ✓")


@breaks("titles_do_not_tell_the_answer")
def a_number_in_the_title(made):
    replaced(with_that_role(made, "question"), "What does `*` give?", "Is it 42?")


@breaks("titles_do_not_tell_the_answer")
def code_in_the_title(made):
    replaced(with_that_role(made, "question", 1), "And without a request?", "Does `numpy()` ask?")
    replaced(with_that_role(made, "question", 1), "- (c) one", "- (c) all but `numpy()`")


@breaks("titles_do_not_tell_the_answer")
def the_takeaway_in_the_title(made):
    replaced(with_that_role(made, "question"), "What does `*` give?", "A product counts rows, no?")


@breaks("first_lines_do_not_tell_an_answer")
def the_takeaway_in_the_first_lines(made):
    replaced(made.cells[0], "what a product is", "that a product counts rows and columns")


@breaks("a_stored_guess_holds_no_answer")
def the_takeaway_in_an_output(made):
    with_that_role(made, "guess").outputs[0].data["text/html"] = (
        "<p>A product counts rows and columns.</p>"
    )


@breaks("a_stored_guess_holds_no_answer")
def a_guess_that_was_answered(made):
    with_that_role(made, "guess").outputs[0].data["text/plain"] = "You said (a); it is (b)."


@breaks("a_stored_guess_holds_no_answer")
def a_right_letter_in_a_film(made):
    data = with_that_role(made, "guess").outputs[0].data
    data["application/vnd.something+json"] = {"id": "99.q1", "right": "b"}


# outcomes


@breaks("what_was_expected_came")
def other_words(made):
    with_that_role(made, "run", 1).metadata.course.expects[0] = "RuntimeError: only for scalars"


@breaks("what_was_expected_came")
def another_kind(made):
    with_that_role(made, "run", 1).metadata.course.expects[0] = "TypeError: does not require grad"


@breaks("what_was_expected_came")
def a_kind_without_words(made):
    with_that_role(made, "run", 1).metadata.course.expects[0] = "RuntimeError"


@breaks("what_was_expected_came")
def an_error_that_did_not_come(made):
    with_that_role(made, "run", 1).metadata.course.expects[1] = "TypeError: no numbers"


@breaks("what_was_expected_came")
def an_error_that_was_not_expected(made):
    with_that_role(made, "run", 1).metadata.course.expects[0] = "(no error)"


@breaks("what_was_expected_came")
def expects_in_another_order(made):
    with_that_role(made, "run", 1).metadata.course.expects.reverse()


@breaks("what_was_expected_came")
def one_text_for_two_attempts(made):
    with_that_role(made, "run", 1).metadata.course.expects.pop()


@breaks("what_was_expected_came")
def no_expects(made):
    del with_that_role(made, "run", 1).metadata.course["expects"]


@breaks("what_was_expected_came")
def an_outcome_missing(made):
    with_that_role(made, "run", 1).outputs[0].text = "(no error)\n"


@breaks("a_run_ends_on_an_expression")
def an_assignment_at_the_end(made):
    with_that_role(made, "run").source = "y = 6 * 7"


@breaks("nothing_is_printed_with_a_label")
def a_label(made):
    with_that_role(made, "run").source = 'print("y:", 6 * 7)'


# letters


@breaks("right_letters_are_spread")
def two_of_three_alike(made):
    with_that_role(made, "question", 1).metadata.course.right = "b"


@breaks("no_letter_is_right_four_times_in_a_row")
def four_in_a_row(made):
    for cell in [cell for cell in made.cells if cell.metadata.course.role == "question"]:
        cell.metadata.course.right = "b"
    put(made, 2, *product())


# words


@breaks("words_come_after_their_definition")
def a_word_of_a_later_lesson(made):
    replaced(made.cells[2], "`6 * 7` is", "`6 * 7` edits in place and is")
    return Lesson("02_made_up.ipynb", stored(made).text)


@breaks("words_of_the_lesson_are_defined")
def a_word_never_defined(made):
    return Lesson("09_made_up.ipynb", stored(made).text)


# minutes


@breaks("it_takes_less_than_45_minutes")
def too_much_text(made):
    put(made, -1, *[with_role(text("word " * 110), "text")] * 70)


@breaks("it_takes_less_than_45_minutes")
def a_long_lab(made):
    with_that_role(made, "lab").metadata.course.minutes = 40


@breaks("the_title_says_how_long_it_takes")
def another_number(made):
    made.cells[0].source = re.sub(r"About \d+", "About 99", made.cells[0].source)


@breaks("the_title_says_how_long_it_takes")
def no_number(made):
    made.cells[0].source = re.sub(r"About \d+ minutes", "Some time", made.cells[0].source)


def test_a_students_copy_is_looked_at(monkeypatch):
    lesson = stored(notebook())
    monkeypatch.setattr(leaks, "student_copy", lambda file: json.loads(file.read_text()))
    found = "\n".join(complaints("a_students_copy_holds_no_answer", lesson))
    for word in ("'right'", "'answer'", "'expects'", "'caption'", "an output", "the speaker"):
        assert word in found


def test_what_is_allowed_is_not_complained_about():
    made = notebook()
    asked, run = with_that_role(made, "question"), with_that_role(made, "run", 1)
    replaced(asked, "- (c) 67", "- (c) `6**7` or `__init__`")
    replaced(with_that_role(made, "question", 3), "How many?", "How many, 405 or 5, is asked?")
    run.source = "for x in y:\n    with attempt():\n        x.backward()\nx"
    with_that_role(made, "run", 3).source = "z = 1 / 0  # the line that one looks at"
    with_that_role(made, "run", 4).source = '@on_gpu("10.a")\ndef placed():\n    return 405, 5'
    with_that_role(made, "stub").source += "  # an error of yours"
    names = {"what_was_expected_came", "a_run_ends_on_an_expression", "options_look_alike"}
    names |= {"comments_do_not_tell_what_comes", "a_question_has_its_answer"}
    assert [found for name in names for found in complaints(name, stored(made))] == []


def test_a_complaint_names_the_cell_and_what_to_do():
    made = notebook()
    a_letter_that_is_no_option(made)
    assert complaints("a_question_has_its_answer", stored(made)) == [
        "cell 3 ('## 1 · What does `*` give?') says that 'd' is right: set course.right to one of a, b, c,"
        " and no answer."
    ]


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


@pytest.mark.parametrize(
    ("count", "wanted"),
    [
        (1, (0, 1)),
        (2, (0, 1)),
        (3, (1, 1)),
        (4, (1, 2)),
        (5, (1, 2)),
        (8, (2, 3)),
        (9, (3, 3)),
        (100, (25, 42)),
    ],
)
def test_letters_are_counted_as_whole_rounds(count, wanted):
    assert bounds(count) == wanted


def test_letters_are_counted_over_all_lessons():
    assert right_letters(stored(notebook())) == "bca"
    assert list(uneven("abcabc")) == []
    assert len(list(uneven("aaabbb"))) == 3
    made = notebook()
    for cell in [cell for cell in made.cells if cell.metadata.course.role == "question"]:
        cell.metadata.course.right = "b"
    assert [found for rule in COURSE for found in rule([stored(notebook()), stored(made)])]
    assert [
        found for rule in COURSE for found in rule([stored(notebook()), stored(made_up_before())])
    ] == []


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


def test_a_question_may_name_code_that_its_because_explains():
    made = notebook()
    replaced(with_that_role(made, "question", 1), "Which line", "Who has a `grad_fn`, which line")
    replaced(
        with_that_role(made, "because", 1),
        "`numpy()` needs",
        "A leaf's `grad_fn` is None; `numpy()` needs",
    )
    assert list(too_early(stored(made), [NODE])) == []
    replaced(with_that_role(made, "question"), "`6 * 7` is", "`6 * 7` has no `grad_fn` and is")
    assert len(list(too_early(stored(made), [NODE]))) == 1


def test_the_table_of_words_is_that_of_the_glossary():
    assert len(TERMS) == len({term.name for term in TERMS}) > 15
    assert all("00" <= term.lesson <= "11" for term in TERMS)


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


def test_minutes_are_words_lines_rounds_and_labs():
    lesson = stored(notebook())
    exact = words(lesson) / 200 + code_lines(lesson) / 3 + 5 + 5
    assert minutes(lesson) - 1 < exact <= minutes(lesson)
    assert code_lines(lesson) == 1 + 6 + 2 + 1 + 1 + 1 + 1


def test_refreshing_writes_the_minutes_into_the_title():
    made = notebook()
    wanted = made.cells[0].source
    another_number(made)
    count_minutes(NAME, made)
    assert made.cells[0].source == wanted
    before = made_up_before()
    count_minutes(NAME, before)
    assert before == made_up_before()


def test_the_report_says_how_a_lesson_stands():
    made = notebook()
    a_letter_that_is_no_option(made)
    lines = list(of_lesson(stored(made)))
    assert lines[0] == "99_made_up.ipynb"
    assert "4 rounds, 1 in a quiz, 1 labs; right: ca" in lines[1]
    assert any("1 × a_question_has_its_answer" in line for line in lines)
    assert any("set course.right" in line for line in lines)


def test_the_report_reads_a_folder_and_counts_letters_over_all(tmp_path):
    (tmp_path / NAME).write_text(stored(notebook()).text, encoding="utf-8")
    (tmp_path / "98_before.ipynb").write_text(stored(made_up_before()).text, encoding="utf-8")
    lines = list(report(["99"], tmp_path))
    assert lines[0] == "99_made_up.ipynb"
    assert lines[-1] == "all 2 lessons: (a) 1, (b) 1, (c) 1"
    assert len(list(report([], tmp_path))) > len(lines)


def test_the_cell_that_defines_a_word_may_be_named():
    made = spoken("A **leaf** is.", "A leaf.", lesson="03")
    named = made.cells[1].id
    assert definition(made, Term("leaf", "03", LEAF.pattern, named)) == made.cells[1]
    assert len(list(too_early(made, [Term("leaf", "03", LEAF.pattern, named)]))) == 1


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
