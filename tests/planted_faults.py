"""Faults that are planted into the made-up lesson, one or more for every rule, which must object.
Touches nothing.

They stand in the order of the modules of `notebook_rules`. A fault changes a good notebook, or
returns another lesson.
"""

import base64
import json
import re

import nbformat
from made_up_lesson import ENCODED, lesson, stream, text
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


@breaks("every_code_cell_was_run_in_order")
def counts_swapped(made):
    guess, run = with_that_role(made, "guess"), with_that_role(made, "run")
    guess.execution_count, run.execution_count = run.execution_count, guess.execution_count


@breaks("errors_stand_only_where_they_are_announced")
def a_tag_removed(made):
    with_that_role(made, "run", THE_ERROR).metadata.tags = []


@breaks("errors_stand_only_where_they_are_announced")
def a_tag_without_an_error(made):
    with_that_role(made, "run").metadata.tags = ["raises-exception"]


@breaks("one_traceback_is_genuine")
def two_tracebacks(made):
    made.cells.append(with_that_role(made, "run", THE_ERROR))


@breaks("one_traceback_is_genuine")
def no_traceback(made):
    made.cells.remove(with_that_role(made, "run", THE_ERROR))


@breaks("no_output_is_exempt_from_comparison")
def a_tag_for_nbval(made):
    with_that_role(made, "run").metadata.tags = ["nbval-ignore-output"]


@breaks("no_output_is_exempt_from_comparison")
def a_comment_for_nbval(made):
    with_that_role(made, "run").source = "# NBVAL_SKIP\n42"


@breaks("widgets_are_saved_with_the_notebook")
def a_widget_not_saved(made):
    with_that_role(made, "run").outputs[0].data["application/vnd.jupyter.widget-view+json"] = {
        "model_id": "1f"
    }


@breaks("it_is_stored_in_normal_form")
def no_newline_at_the_end(made):
    return Lesson(NAME, lesson(made).text.rstrip())


@breaks("it_is_stored_in_normal_form")
def a_kernel_of_one_machine(made):
    return Lesson(NAME, lesson(made).text.replace('"python3"', '"ada"'))


@breaks("it_is_stored_in_normal_form")
def times_of_a_run(made):
    timed = '"metadata": {"execution": {"busy": "now"},'
    return Lesson(NAME, lesson(made).text.replace('"metadata": {', timed, 1))


@breaks("it_is_stored_in_normal_form")
def another_indent(made):
    text = json.dumps(lesson(made).node, indent=2, sort_keys=True, ensure_ascii=False)
    return Lesson(NAME, f"{text}\n")


# hygiene


@breaks("no_path_of_a_machine")
def a_home_in_an_output(made):
    with_that_role(made, "run").outputs.append(stream("/home/ada/course/x.py\n"))


@breaks("no_path_of_a_machine")
def a_drive_in_a_source(made):
    with_that_role(made, "run").source = 'open("C:\\\\Users\\\\ada")'


@breaks("no_path_of_a_machine")
def a_build_path_in_a_warning(made):
    with_that_role(made, "run").outputs.append(
        stream("(Triggered internally at /pytorch/build/aten/x.h:494.)\n")
    )


@breaks("no_path_of_a_machine")
def a_tilde_in_text(made):
    with_that_role(made, "text").source = "Look into ~/course."


@breaks("no_address_in_memory")
def an_address_in_text(made):
    with_that_role(made, "text").source = "It is at 0x7f81d2c0."


@breaks("no_address_in_memory")
def an_address_in_a_picture(made):
    shown = base64.b64encode(b"<svg><text>0x7f81d2c0aa10</text></svg>").decode()
    data = with_that_role(made, "run", THE_PICTURE).outputs[0].data
    data["text/html"] = data["text/html"].replace(ENCODED, shown)


@breaks("no_hour_of_the_day")
def an_hour_in_an_output(made):
    with_that_role(made, "run").outputs.append(stream("2026-01-31 12:30\n"))


@breaks("no_measured_seconds")
def a_duration(made):
    with_that_role(made, "run").outputs.append(stream("took 1.25 ms\n"))


@breaks("no_measured_seconds")
def a_magic_timer(made):
    with_that_role(made, "run").source = "%time 6 * 7"


@breaks("no_cell_reaches_for_the_network")
def an_address_in_the_network(made):
    with_that_role(made, "run").source = 'fetch("https://example.org")'


@breaks("no_cell_reaches_for_the_network")
def an_install(made):
    with_that_role(made, "run").source = "%pip install something"


@breaks("no_cell_reaches_for_the_network")
def a_library_that_fetches(made):
    with_that_role(made, "run").source = "from urllib import request"


@breaks("no_silencing_semicolon")
def a_semicolon(made):
    with_that_role(made, "run").source += ";"


# pictures


@breaks("pictures_in_text_have_words")
def markdown_without_alt(made):
    with_that_role(made, "text").source = "![](../figs/card.svg)"


@breaks("pictures_in_text_have_words")
def html_without_alt(made):
    with_that_role(made, "text").source = '<img src="../figs/card.svg" alt=" ">'


@breaks("pictures_in_outputs_have_words")
def an_output_without_alt(made):
    data = with_that_role(made, "run", THE_PICTURE).outputs[0].data
    data["text/html"] = data["text/html"].replace('alt="one card"', "")


@breaks("pictures_in_outputs_have_words")
def an_output_without_its_tree(made):
    data = with_that_role(made, "run", THE_PICTURE).outputs[0].data
    data["text/html"] = data["text/html"].replace("<pre>Mul", "<pre>Add")


@breaks("pictures_in_outputs_have_words")
def a_png_alone(made):
    with_that_role(made, "run").outputs[0].data["image/png"] = "iVBORw0KGgo="


# style


@breaks("every_idea_has_notes")
def notes_that_are_text(made):
    with_that_role(made, "notes", 2).metadata.course.role = "text"


@breaks("every_idea_has_notes")
def no_idea(made):
    for cell in made.cells:
        cell.source = cell.source.replace("## ", "### ")


@breaks("keys_are_named_after_a_click")
def keys_first(made):
    with_that_role(made, "text").source = "Guess, then press (keys 1 to 5), or click into the lab."


@breaks("keys_are_named_after_a_click")
def an_arrow_first(made):
    with_that_role(made, "question").source += "\n\nStep through the walk (→)."
    with_that_role(made, "text").source += "\n\nClick into the player, then use the arrow keys."


@breaks("no_machinery_in_lessons")
def a_try(made):
    with_that_role(
        made, "run"
    ).source = "%matplotlib inline\ntry:\n    6 * 7\nexcept ValueError:\n    pass"


@breaks("no_machinery_in_lessons")
def a_class(made):
    with_that_role(made, "run").source = "def make():\n    class Hidden: ..."


# exercises


@breaks("exercises_are_numbered")
def an_exercise_missing(made):
    with_that_role(made, "stub", 1).source = "answer = ..."


@breaks("exercises_are_numbered")
def an_exercise_of_another_lesson(made):
    with_that_role(made, "stub", 1).source = 'check("98.2", ...)'


@breaks("exercises_are_numbered")
def six_exercises(made):
    stub = with_that_role(made, "stub")
    put(made, -1, *[stub | {"source": f'check("99.{k}", ...)'} for k in (4, 5, 6)])


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
    text = lesson(made).text.replace('"slide_type": "subslide"', '"slide_type": "slide"')
    return Lesson(NAME, text)


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
    return Lesson("02_made_up.ipynb", lesson(made).text)


@breaks("words_of_the_lesson_are_defined")
def a_word_never_defined(made):
    return Lesson("09_made_up.ipynb", lesson(made).text)


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
