"""A fault for every rule, planted into the made-up lesson: the rule must object.

They stand in the order of the modules of `notebook_rules`. A fault changes a good notebook, or
returns another lesson.
"""

import re

import nbformat
from made_up_lesson import code, lesson, stream
from made_up_rounds import NAME, THE_ERROR, THE_PICTURE, with_role
from notebook_rules import Lesson


def with_that_role(made, role, number=0):
    """Return a cell with this role; `number` counts them from 0."""
    return [cell for cell in made.cells if cell.metadata.course.role == role][number]


def put(made, place, *cells):
    made.cells[place:place] = [nbformat.from_dict(cell) for cell in cells]


def replaced(cell, old, new):
    assert old in cell.source
    cell.source = cell.source.replace(old, new, 1)


def swaps(role, old, new, number=0):
    return lambda made: replaced(with_that_role(made, role, number), old, new)


def writes(role, source, number=0):
    return lambda made: with_that_role(made, role, number).update(source=source)


def sets(of, number=0, /, **course):
    return lambda made: with_that_role(made, of, number).metadata.course.update(course)


def puts_out(role, *outputs):
    return lambda made: with_that_role(made, role).outputs.extend(outputs)


def tags(number, *names):
    return lambda made: with_that_role(made, "run", number).metadata.update(tags=[*names])


def no_roles(made):
    made.cells = [cell for cell in made.cells if cell.metadata.course.role != "claim"]
    for cell in made.cells:
        del cell.metadata["course"]


def a_claim(source, below="because", count=1, tags=(), **course):
    """Put a claim below the first cell with a role."""

    def plant(made):
        cell = with_role(code(source, tags=tags), "claim", **course)
        place = made.cells.index(with_that_role(made, below)) + 1
        put(made, place, cell | {"execution_count": count})

    return plant


def a_widget_not_saved(made):
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1f"}}
    with_that_role(made, "run").outputs[0].data.update(view)


def html_of_an_output(role, number, old, new):
    def plant(made):
        data = with_that_role(made, role, number).outputs[0].data
        data["text/html"] = data.get("text/html", "").replace(old, new) if old else new

    return plant


def a_word_of_a_later_lesson(made):
    replaced(made.cells[2], "`6 * 7` is", "`6 * 7` edits in place and is")
    return Lesson("02_made_up.ipynb", lesson(made).text)


def one_that_went(made):
    replaced(with_that_role(made, "stub", 2), "99.3", "01.3")
    return Lesson("01_made_up.ipynb", lesson(made).text)


def as_text(change):
    return lambda made: Lesson(NAME, change(lesson(made).text))


a_letter_that_is_no_option = sets("question", right="d")
a_semicolon = swaps("run", "7", "7;")
SUBSLIDE, SLIDE = '"slide_type": "subslide"', '"slide_type": "slide"'
PLANTED = [
    # running
    ("every_code_cell_was_run_in_order", lambda made: with_that_role(made, "run").update(execution_count=None)),
    ("errors_stand_only_where_they_are_announced", tags(0, "raises-exception")),
    ("one_traceback_is_genuine", lambda made: made.cells.append(with_that_role(made, "run", THE_ERROR))),
    ("no_output_is_exempt_from_comparison", tags(0, "nbval-ignore-output")),
    ("widgets_are_saved_with_the_notebook", a_widget_not_saved),
    ("it_is_stored_in_normal_form", as_text(str.rstrip)),
    # hygiene
    ("no_path_of_a_machine", puts_out("run", stream("/home/ada/course/x.py\n"))),
    ("no_address_in_memory", writes("text", "It is at 0x7f81d2c0.")),
    ("no_hour_of_the_day", puts_out("run", stream("2026-01-31 12:30\n"))),
    ("no_measured_seconds", puts_out("run", stream("took 1.25 ms\n"))),
    ("no_cell_reaches_for_the_network", writes("run", 'fetch("https://example.org")')),
    ("no_silencing_semicolon", a_semicolon),
    # pictures
    ("pictures_in_text_have_words", writes("text", "![](../figs/card.svg)")),
    ("pictures_in_outputs_have_words", html_of_an_output("run", THE_PICTURE, 'alt="one card"', "")),
    # style
    ("keys_are_named_after_a_click", writes("text", "Guess, then press (keys 1 to 5), or click into the lab.")),
    ("no_machinery_in_lessons", writes("run", "%matplotlib inline\ntry:\n    6 * 7\nexcept ValueError:\n    pass")),
    # exercises
    ("exercises_are_numbered", swaps("stub", "99.3", "99.2", 2)),
    ("exercises_are_numbered", swaps("stub", "99.3", "98.3", 2)),
    ("exercises_are_numbered", lambda made: made.cells.remove(with_that_role(made, "stub"))),
    ("an_id_is_never_used_again", swaps("stub", "99.3", "99.4", 2)),
    ("an_id_is_never_used_again", one_that_went),
    ("exercises_are_handed_out_unanswered", lambda made: with_that_role(made, "stub", 1).update(outputs=[stream("99.2 ✓\n")])),
    # claims
    ("a_claim_stands_below_a_sentence", a_claim("assert 6 * 7 == 42", below="run")),
    ("a_claim_is_run_and_can_fail", a_claim("sum_of_all = 6 + 7")),
    ("a_claim_is_run_and_can_fail", a_claim("assert 6 * 7 == 42", count=None)),
    ("a_claim_is_run_and_can_fail", a_claim("assert 6 * 7 == 43", tags=["raises-exception"])),
    ("a_claim_is_run_and_can_fail", a_claim("assert 6 * 7 == 42", caption="A product.")),
    ("a_claim_leaves_the_lesson_alone", a_claim("from torch import ones as x\nassert x(1) == 1")),
    # roles
    ("a_lesson_has_roles", no_roles),
    ("every_cell_has_a_known_role", sets("text", role="txet")),
    ("a_lesson_begins_with_its_title_and_has_a_recap", sets("title", role="text")),
    ("metadata_is_what_the_role_carries", sets("run", captoin="A card.")),
    ("a_round_has_its_order", lambda made: made.cells.remove(with_that_role(made, "guess"))),
    ("what_belongs_to_a_round_stands_in_one", sets("recap", role="because")),
    ("a_guess_asks_for_its_question", writes("guess", 'predict("99.q2")')),
    ("questions_have_ids", sets("question", 1, id="99.q1")),
    ("questions_have_headings", swaps("question", "## 10:40", "10:40")),
    ("a_lesson_varies", sets("question", 2, kind="number")),
    ("the_case_comes_back_before_the_exercises", swaps("return", "## ", "")),
    ("the_case_comes_back_before_the_exercises", lambda made: made.cells.append(with_that_role(made, "return"))),
    ("the_case_comes_back_before_the_exercises", lambda made: put(made, made.cells.index(with_that_role(made, "return")) + 1, with_that_role(made, "question"))),
    ("slide_types_are_those_of_the_roles", as_text(lambda text: text.replace(SUBSLIDE, SLIDE))),
    # answers
    ("a_question_says_what_to_predict", swaps("question", "**Predict.** ", "")),
    ("a_question_of_the_quiz_leaves_its_answer_to_a_lesson", sets("question", 4, right="a")),
    ("a_question_has_its_answer", a_letter_that_is_no_option),
    ("the_reason_is_folded", swaps("because", "Why? Open it", "Answer: open it")),
    ("every_wrong_answer_has_its_line", swaps("because", "- (a) That", "(a) That")),
    ("every_wrong_answer_has_its_line", swaps("because", "- 27, 9: Those are factors alone.\n- 33, 5: One", "One", 3)),
    ("lines_for_wrong_answers_are_sentences", swaps("because", "- (a) That is", "- (a) is")),
    ("a_lab_answers_its_questions", as_text(lambda text: re.sub(r"\b[12]\. ", "", text))),
    # sizes
    ("code_fits_a_slide", writes("run", "\n".join(["6 * 7"] * 13))),
    ("code_fits_a_slide", writes("run", "6 * 7" + 30 * " + 1")),
    # leaks
    ("code_does_not_tell_what_comes", writes("run", 'with expect_error(RuntimeError, "words"):\n    6 * 7')),
    ("code_does_not_tell_what_comes", writes("run", 'show(6 * 7, caption="A product.")')),
    ("comments_do_not_tell_what_comes", writes("run", "6 * None  # raises", 3)),
    ("nothing_is_asserted_before_the_reason", writes("run", "assert 6 * 7 == 42\n6 * 7")),
    ("no_fold_stands_above_the_run", swaps("question", "**Predict.**", "<details>Why (a) tempts.</details>\n\n**Predict.**")),
    ("options_look_alike", swaps("question", "- (b) 42", "- (b) **42**")),
    ("titles_do_not_tell_the_answer", swaps("question", "What does `*` give?", "Is it 42?")),
    ("first_lines_do_not_tell_an_answer", swaps("title", "what a product is", "that a product counts rows and columns")),
    ("a_stored_guess_holds_no_answer", html_of_an_output("guess", 0, "", "<p>A product counts rows and columns.</p>")),
    ("a_stored_guess_holds_no_answer", html_of_an_output("guess", 0, "", '{"right": "b"}')),
    # outcomes
    ("what_was_expected_came", sets("run", 1, expects=["RuntimeError: only for scalars", "(no error)"])),
    ("what_was_expected_came", lambda made: with_that_role(made, "run", 1).outputs.clear()),
    ("a_run_ends_on_an_expression", writes("run", "y = 6 * 7")),
    ("nothing_is_printed_with_a_label", writes("run", 'print("y:", 6 * 7)')),
    # words
    ("words_come_after_their_definition", a_word_of_a_later_lesson),
    ("words_of_the_lesson_are_defined", lambda made: Lesson("09_made_up.ipynb", lesson(made).text)),
    # minutes
    ("the_title_says_how_long_it_takes", swaps("title", "About half an hour", "Half an hour")),
]  # fmt: skip
