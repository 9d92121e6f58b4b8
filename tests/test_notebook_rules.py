"""Each rule is seen to object: a lesson that keeps them all is broken once or more for every rule.
Those for lessons in rounds have a file of their own, test_rules_in_rounds. No kernel runs.
"""

import base64
import json

from made_up_lesson import ENCODED, NAME, code, lesson, notebook, stream
from notebook_rules import IN_ROUNDS, RULES, Lesson

BY_NAME = {rule.__name__: rule for rule in RULES if rule not in IN_ROUNDS}
BREAKS = []


def breaks(rule):
    """Register a function that changes a good notebook, or returns another file, so that `rule`
    must object.
    """
    return lambda change: BREAKS.append((rule, change)) or change


def complaints(rule, changed):
    return list(BY_NAME[rule](changed))


def test_the_made_up_lesson_keeps_every_rule():
    assert [found for name in BY_NAME for found in complaints(name, lesson())] == []


def test_every_rule_is_broken_by_something():
    assert {rule for rule, _ in BREAKS} == set(BY_NAME)


def pytest_generate_tests(metafunc):
    if "broken" in metafunc.fixturenames:
        ids = [f"{rule}-{change.__name__}" for rule, change in BREAKS]
        metafunc.parametrize("broken", BREAKS, ids=ids)


def test_the_rule_objects(broken):
    rule, change = broken
    made = notebook()
    file = change(made)
    found = complaints(rule, Lesson(NAME, file) if file else lesson(made))
    assert found
    assert all(isinstance(complaint, str) and len(complaint) > 20 for complaint in found)


def coded(made, number=1):
    """Return the code cell with this number, counted from 0; 1 is the one that computes 42."""
    return [cell for cell in made.cells if cell.cell_type == "code"][number]


def append(made, *cells):
    """Put cells before the recap."""
    made.cells[-1:-1] = [
        type(made)(cell, **({"execution_count": 8} if "outputs" in cell else {})) for cell in cells
    ]


@breaks("every_code_cell_was_run_in_order")
def a_count_removed(made):
    coded(made).execution_count = None


@breaks("every_code_cell_was_run_in_order")
def counts_swapped(made):
    coded(made, 1).execution_count, coded(made, 2).execution_count = 3, 2


@breaks("errors_stand_only_where_they_are_announced")
def a_tag_removed(made):
    coded(made, 4).metadata.tags = []


@breaks("errors_stand_only_where_they_are_announced")
def a_tag_without_an_error(made):
    coded(made).metadata.tags = ["raises-exception"]


@breaks("one_traceback_is_genuine")
def two_tracebacks(made):
    made.cells.append(coded(made, 4))


@breaks("one_traceback_is_genuine")
def no_traceback(made):
    made.cells.remove(coded(made, 4))


@breaks("no_output_is_exempt_from_comparison")
def a_tag_for_nbval(made):
    coded(made).metadata.tags = ["nbval-ignore-output"]


@breaks("no_output_is_exempt_from_comparison")
def a_comment_for_nbval(made):
    coded(made).source = "# NBVAL_SKIP\n42"


@breaks("widgets_are_saved_with_the_notebook")
def a_widget_not_saved(made):
    coded(made).outputs[0].data["application/vnd.jupyter.widget-view+json"] = {"model_id": "1f"}


@breaks("it_is_stored_in_normal_form")
def no_newline_at_the_end(made):
    return lesson(made).text.rstrip()


@breaks("it_is_stored_in_normal_form")
def a_kernel_of_one_machine(made):
    return lesson(made).text.replace('"python3"', '"ada"')


@breaks("it_is_stored_in_normal_form")
def times_of_a_run(made):
    return lesson(made).text.replace(
        '"metadata": {', '"metadata": {"execution": {"busy": "now"},', 1
    )


@breaks("it_is_stored_in_normal_form")
def another_indent(made):
    return (
        json.dumps(json.loads(lesson(made).text), indent=2, sort_keys=True, ensure_ascii=False)
        + "\n"
    )


@breaks("no_path_of_a_machine")
def a_home_in_an_output(made):
    coded(made).outputs.append(stream("/home/ada/course/x.py\n"))


@breaks("no_path_of_a_machine")
def a_drive_in_a_source(made):
    coded(made).source = 'open("C:\\\\Users\\\\ada")'


@breaks("no_path_of_a_machine")
def a_build_path_in_a_warning(made):
    coded(made).outputs.append(stream("(Triggered internally at /pytorch/build/aten/x.h:494.)\n"))


@breaks("no_path_of_a_machine")
def a_tilde_in_text(made):
    made.cells[1].source = "Look into ~/course."


@breaks("no_address_in_memory")
def an_address_in_text(made):
    made.cells[1].source = "It is at 0x7f81d2c0."


@breaks("no_address_in_memory")
def an_address_in_a_picture(made):
    shown = base64.b64encode(b"<svg><text>0x7f81d2c0aa10</text></svg>").decode()
    data = coded(made, 3).outputs[0].data
    data["text/html"] = data["text/html"].replace(ENCODED, shown)


@breaks("no_hour_of_the_day")
def an_hour_in_an_output(made):
    coded(made).outputs.append(stream("2026-01-31 12:30\n"))


@breaks("no_measured_seconds")
def a_duration(made):
    coded(made).outputs.append(stream("took 1.25 ms\n"))


@breaks("no_measured_seconds")
def a_magic_timer(made):
    coded(made).source = "%time 6 * 7"


@breaks("no_cell_reaches_for_the_network")
def an_address_in_the_network(made):
    coded(made).source = 'fetch("https://example.org")'


@breaks("no_cell_reaches_for_the_network")
def an_install(made):
    coded(made).source = "%pip install something"


@breaks("no_cell_reaches_for_the_network")
def a_library_that_fetches(made):
    coded(made).source = "from urllib import request"


@breaks("no_silencing_semicolon")
def a_semicolon(made):
    coded(made).source += ";"


@breaks("pictures_in_text_have_words")
def markdown_without_alt(made):
    made.cells[1].source = "![](../figs/card.svg)"


@breaks("pictures_in_text_have_words")
def html_without_alt(made):
    made.cells[1].source = '<img src="../figs/card.svg" alt=" ">'


@breaks("pictures_in_outputs_have_words")
def an_output_without_alt(made):
    data = coded(made, 3).outputs[0].data
    data["text/html"] = data["text/html"].replace('alt="one card"', "")


@breaks("pictures_in_outputs_have_words")
def an_output_without_its_tree(made):
    data = coded(made, 3).outputs[0].data
    data["text/html"] = data["text/html"].replace("<pre>Mul", "<pre>Add")


@breaks("pictures_in_outputs_have_words")
def a_png_alone(made):
    coded(made).outputs[0].data["image/png"] = "iVBORw0KGgo="


@breaks("every_cell_has_a_slide_type")
def no_slide_type(made):
    made.cells[1].metadata = {}


@breaks("every_cell_has_a_slide_type")
def a_slide_type_of_no_deck(made):
    made.cells[1].metadata.slideshow.slide_type = "-"


@breaks("every_idea_has_notes")
def notes_removed(made):
    made.cells.remove(
        next(cell for cell in made.cells if cell.metadata.slideshow.slide_type == "notes")
    )


@breaks("every_idea_has_notes")
def no_idea(made):
    for cell in made.cells:
        cell.source = cell.source.replace("## ", "### ")


@breaks("keys_are_named_after_a_click")
def keys_first(made):
    made.cells[1].source = "Guess, then press (keys 1 to 5), or click into the lab."


@breaks("keys_are_named_after_a_click")
def an_arrow_first(made):
    made.cells[1].source = "Step through the walk (→)."
    made.cells[4].source += "\n\nClick into the player, then use the arrow keys."


@breaks("no_machinery_in_lessons")
def a_try(made):
    coded(made).source = "%matplotlib inline\ntry:\n    6 * 7\nexcept ValueError:\n    pass"


@breaks("no_machinery_in_lessons")
def a_class(made):
    coded(made).source = "def make():\n    class Hidden: ..."


@breaks("exercises_are_numbered")
def an_exercise_missing(made):
    coded(made, 6).source = "answer = ..."


@breaks("exercises_are_numbered")
def an_exercise_of_another_lesson(made):
    coded(made, 6).source = 'check("98.2", ...)'


@breaks("exercises_are_numbered")
def six_exercises(made):
    append(made, *[code(f'check("99.{k}", ...)', stream("not answered yet")) for k in (4, 5, 6)])


@breaks("exercises_are_handed_out_unanswered")
def an_answer_left_in(made):
    coded(made, 6).outputs = [stream("99.2 ✓\n")]


def test_what_is_allowed_is_not_complained_about():
    made = notebook()
    made.cells[
        1
    ].source = (
        "See [the docs](https://pytorch.org/docs/stable), and/or 1/2/3, `</a></b>`, 2018-04-24."
    )
    made.cells[2].source += "\n\nClick into the lab and press (keys 1 to 5)."
    made.cells[4].source += "\n\nAgain with key 1; an arrow → is no key."
    coded(made, 2).source = 'class Old: ...\nprint("leaf")'
    coded(made, 2).metadata.tags = ["class-is-the-lesson"]
    assert [found for name in BY_NAME for found in complaints(name, lesson(made))] == []


def test_a_complaint_names_the_cell_and_what_to_do():
    made = notebook()
    a_semicolon(made)
    assert complaints("no_silencing_semicolon", lesson(made)) == [
        "cell 7 ('6 * 7;') ends in `;`: end it on an expression or an assert."
    ]
