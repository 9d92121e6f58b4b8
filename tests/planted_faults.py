"""Faults that are planted into the made-up lesson, one for every rule, which must object.
Touches nothing.

They stand in the order of the modules of `notebook_rules`. A fault changes a good notebook, or
returns another lesson.
"""

import re

import nbformat
from made_up_lesson import lesson, stream, text
from made_up_rounds import NAME, THE_ERROR, THE_PICTURE, product, with_role
from notebook_rules import Lesson

PLANTED = []


def breaks(rule):
    """Register a fault to which the rule of this name must object."""
    return lambda fault: PLANTED.append((rule, fault)) or fault


def with_that_role(made, role, number=0):
    """Return a cell with this role; `number` counts them from 0."""
    return [cell for cell in made.cells if cell.metadata.course.role == role][number]


def put(made, place, *cells):
    """Put cells at a place."""
    made.cells[place:place] = [nbformat.from_dict(cell) for cell in cells]


def replaced(cell, old, new):
    assert old in cell.source
    cell.source = cell.source.replace(old, new, 1)


# running


@breaks("every_code_cell_was_run_in_order")
def a_count_removed(made):
    with_that_role(made, "run").execution_count = None


@breaks("errors_stand_only_where_they_are_announced")
def a_tag_removed(made):
    with_that_role(made, "run", THE_ERROR).metadata.tags = []


@breaks("one_traceback_is_genuine")
def two_tracebacks(made):
    made.cells.append(with_that_role(made, "run", THE_ERROR))


@breaks("no_output_is_exempt_from_comparison")
def a_tag_for_nbval(made):
    with_that_role(made, "run").metadata.tags = ["nbval-ignore-output"]


@breaks("widgets_are_saved_with_the_notebook")
def a_widget_not_saved(made):
    with_that_role(made, "run").outputs[0].data["application/vnd.jupyter.widget-view+json"] = {
        "model_id": "1f"
    }


@breaks("it_is_stored_in_normal_form")
def no_newline_at_the_end(made):
    return Lesson(NAME, lesson(made).text.rstrip())


# hygiene


@breaks("no_path_of_a_machine")
def a_home_in_an_output(made):
    with_that_role(made, "run").outputs.append(stream("/home/ada/course/x.py\n"))


@breaks("no_address_in_memory")
def an_address_in_text(made):
    with_that_role(made, "text").source = "It is at 0x7f81d2c0."


@breaks("no_hour_of_the_day")
def an_hour_in_an_output(made):
    with_that_role(made, "run").outputs.append(stream("2026-01-31 12:30\n"))


@breaks("no_measured_seconds")
def a_duration(made):
    with_that_role(made, "run").outputs.append(stream("took 1.25 ms\n"))


@breaks("no_cell_reaches_for_the_network")
def an_address_in_the_network(made):
    with_that_role(made, "run").source = 'fetch("https://example.org")'


@breaks("no_silencing_semicolon")
def a_semicolon(made):
    with_that_role(made, "run").source += ";"


# pictures


@breaks("pictures_in_text_have_words")
def markdown_without_alt(made):
    with_that_role(made, "text").source = "![](../figs/card.svg)"


@breaks("pictures_in_outputs_have_words")
def an_output_without_alt(made):
    data = with_that_role(made, "run", THE_PICTURE).outputs[0].data
    data["text/html"] = data["text/html"].replace('alt="one card"', "")


# style


@breaks("every_idea_has_notes")
def notes_that_are_text(made):
    with_that_role(made, "notes", 2).metadata.course.role = "text"


@breaks("keys_are_named_after_a_click")
def keys_first(made):
    with_that_role(made, "text").source = "Guess, then press (keys 1 to 5), or click into the lab."


@breaks("no_machinery_in_lessons")
def a_try(made):
    with_that_role(
        made, "run"
    ).source = "%matplotlib inline\ntry:\n    6 * 7\nexcept ValueError:\n    pass"


# exercises


@breaks("exercises_are_numbered")
def an_exercise_missing(made):
    with_that_role(made, "stub", 1).source = "answer = ..."


@breaks("exercises_are_handed_out_unanswered")
def an_answer_left_in(made):
    with_that_role(made, "stub", 1).outputs = [stream("99.2 ✓\n")]


# roles


@breaks("a_lesson_has_roles")
def no_roles(made):
    for cell in made.cells:
        del cell.metadata["course"]


@breaks("every_cell_has_a_known_role")
def a_role_misspelled(made):
    with_that_role(made, "text").metadata.course.role = "txet"


@breaks("a_lesson_begins_with_its_title_and_has_a_recap")
def no_title(made):
    made.cells[0].metadata.course.role = "text"


@breaks("metadata_is_what_the_role_carries")
def a_key_misspelled(made):
    with_that_role(made, "run").metadata.course.captoin = "A card."


@breaks("a_round_has_its_order")
def no_guess(made):
    made.cells.remove(with_that_role(made, "guess"))


@breaks("what_belongs_to_a_round_stands_in_one")
def a_run_after_the_map(made):
    with_that_role(made, "text").source = "## A map"
    put(made, made.cells.index(with_that_role(made, "text")) + 1, with_that_role(made, "run"))


@breaks("a_guess_asks_for_its_question")
def a_guess_for_another_question(made):
    with_that_role(made, "guess").source = 'predict("99.q2")'


@breaks("questions_have_ids")
def an_id_that_is_there_already(made):
    with_that_role(made, "question", 1).metadata.course.id = "99.q1"


@breaks("ideas_are_numbered")
def an_idea_without_a_number(made):
    replaced(with_that_role(made, "question"), "## 1 · ", "## ")


@breaks("slide_types_are_those_of_the_roles")
def a_slide_type_by_hand(made):
    text = lesson(made).text.replace('"slide_type": "subslide"', '"slide_type": "slide"')
    return Lesson(NAME, text)


# answers


@breaks("a_question_says_what_to_predict")
def nothing_to_predict(made):
    replaced(with_that_role(made, "question"), "**Predict.** ", "")


@breaks("a_question_of_the_quiz_leaves_its_answer_to_a_lesson")
def a_quiz_with_an_answer(made):
    with_that_role(made, "question", 4).metadata.course.right = "a"


@breaks("a_question_has_its_answer")
def a_letter_that_is_no_option(made):
    with_that_role(made, "question").metadata.course.right = "d"


@breaks("the_reason_is_folded")
def another_summary(made):
    replaced(with_that_role(made, "because"), "Why? Open it", "Answer: open it")


@breaks("every_wrong_answer_has_its_line")
def a_wrong_letter_without_a_line(made):
    replaced(with_that_role(made, "because"), "- (a) That", "(a) That")


@breaks("lines_for_wrong_answers_are_sentences")
def half_a_sentence(made):
    replaced(with_that_role(made, "because"), "- (a) That is", "- (a) is")


@breaks("a_lab_answers_its_questions")
def an_answer_missing(made):
    replaced(with_that_role(made, "because", -1), "\n2. All the way.", "")


# sizes


@breaks("a_reason_begins_with_its_rule")
def a_reason_without_its_rule(made):
    replaced(with_that_role(made, "because"), "**A product counts rows and columns.** ", "")


@breaks("code_fits_a_slide")
def thirteen_lines(made):
    with_that_role(made, "run").source = "\n".join(["6 * 7"] * 13)


def a_case(made, words):
    """Make a case of the text, so that the lesson is one that is told."""
    text = with_that_role(made, "text")
    text.metadata.course.role, text.source = "case", words


@breaks("sentences_are_said_in_one_breath")
def a_long_sentence(made):
    a_case(made, "It is " + "very " * 28 + "long.")


@breaks("sentences_are_said_in_one_breath")
def three_long_sentences(made):
    a_case(made, 3 * ("It is " + "very " * 21 + "long. "))


@breaks("nothing_is_said_that_nobody_says")
def a_stilted_turn(made):
    a_case(made, "A leaf is no card, and `shall` is code.")


@breaks("nothing_is_said_that_nobody_says")
def keys_in_a_row(made):
    a_case(made, "Then `1 3 2` is refused.")


# leaks


@breaks("code_does_not_tell_what_comes")
def an_expected_error(made):
    with_that_role(made, "run").source = 'with expect_error(RuntimeError, "words"):\n    6 * 7'


@breaks("comments_do_not_tell_what_comes")
def a_comment_that_tells(made):
    with_that_role(made, "run", 3).source = "6 * None  # raises"


@breaks("nothing_is_asserted_before_the_reason")
def an_assert(made):
    with_that_role(made, "run").source = "assert 6 * 7 == 42\n6 * 7"


@breaks("no_fold_stands_above_the_run")
def a_fold_in_the_question(made):
    with_that_role(made, "question").source += "\n\n<details>Why (a) tempts.</details>"


@breaks("options_look_alike")
def a_bold_option(made):
    replaced(with_that_role(made, "question"), "- (b) 42", "- (b) **42**")


@breaks("titles_do_not_tell_the_answer")
def a_number_in_the_title(made):
    replaced(with_that_role(made, "question"), "What does `*` give?", "Is it 42?")


@breaks("first_lines_do_not_tell_an_answer")
def the_takeaway_in_the_first_lines(made):
    replaced(made.cells[0], "what a product is", "that a product counts rows and columns")


@breaks("a_stored_guess_holds_no_answer")
def the_takeaway_in_an_output(made):
    with_that_role(made, "guess").outputs[0].data["text/html"] = (
        "<p>A product counts rows and columns.</p>"
    )


# outcomes


@breaks("what_was_expected_came")
def other_words(made):
    with_that_role(made, "run", 1).metadata.course.expects[0] = "RuntimeError: only for scalars"


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
    return Lesson("02_made_up.ipynb", lesson(made).text)


@breaks("words_of_the_lesson_are_defined")
def a_word_never_defined(made):
    return Lesson("09_made_up.ipynb", lesson(made).text)


# minutes


@breaks("it_fits_a_sitting")
def too_much_text(made):
    put(made, -1, *[with_role(text("word " * 110), "text")] * 70)


@breaks("the_title_says_how_long_it_takes")
def another_number(made):
    made.cells[0].source = re.sub(r"About \d+", "About 99", made.cells[0].source)
