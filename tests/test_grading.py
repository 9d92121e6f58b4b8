"""What students hand in is graded: answers leave the sandbox as plain values, truths never enter it."""

import json
import re

import nbformat
import pytest
from answering import LABELS, answers, evaluated
from nbformat.v4 import new_code_cell, new_notebook

from classroom import assignment
from classroom.grading import reader_source, sandbox
from classroom.grading.encoding import parsed, taken
from classroom.grading.judging import MISSING, STUB, mark
from classroom.grading.notebook import kind_and_id, whole
from course.workspace import ROOT, lessons
from helpers.engine.cells import Cell
from helpers.engine.putting_together import STAGES, given, text
from helpers.exercises.exercise import exercises, find
from helpers.exercises.exercise import lessons as with_exercises
from helpers.exercises.verdict import judge

NUMBERS = with_exercises()
ALL = [one for number in NUMBERS for one in exercises(number)]
UNTRIED = {"01.5"}  # a function that is tried by what computes the right answer
GRADED = [one for one in ALL if one.id not in UNTRIED]
MOST = 3  # answers to an exercise, of different labels


def texts_of(exercise):
    """Return the texts that would give an exercise away."""
    messages = [idea.message for idea in exercise.misconceptions]
    about = [text for _, text in exercise.letters.about] if exercise.letters else []
    return [exercise.right, *exercise.hints, *messages, *about]


def lines_of(exercise):
    """Return the lines of a solution that are long enough to be looked for."""
    return {line.strip() for line in exercise.solution.splitlines() if len(line.strip()) > 14}


@pytest.fixture(scope="module")
def extracted():
    """READERS of all lessons, made from the sources that go into the sandbox."""
    found = {}
    for number in NUMBERS:
        names = {}
        exec(cut_out(number), names)
        found |= names["READERS"]
    return found


def cut_out(number):
    """Return the source of a lesson's readers, as it goes into the sandbox."""
    functions = {one.id for one in exercises(number) if one.reader.cases}
    return reader_source.readers(reader_source.source_of(number), functions)


def test_every_function_but_one_can_be_tried_without_its_truth(extracted):
    assert {one.id for one in ALL if one.reader.cases} - set(extracted) == UNTRIED


@pytest.mark.parametrize("number", NUMBERS)
def test_what_goes_into_the_sandbox_tells_nothing(number):
    text = cut_out(number)
    assert [told for one in exercises(number) for told in texts_of(one) if told[:40] in text] == []
    assert not re.search(r"\b(Exercise|Misconception|truth|solution)\b", text)


@pytest.mark.parametrize("exercise", [one for one in ALL if one.stage], ids=lambda one: one.id)
def test_the_sandbox_of_a_stage_has_those_before_it_and_dots_for_this_one(exercise):
    earlier = [text(name) for name in STAGES if name < exercise.stage]
    with sandbox.furnished([exercise.id[:2]], exercise.stage) as folder:
        inside = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    assert all(code in inside for code in [*earlier, given(exercise.stage)])
    with sandbox.furnished([exercise.id[:2]]) as folder:
        assert list(folder.rglob("stage_*")) == []
        elsewhere = "".join(path.read_text("utf-8") for path in folder.rglob("*.py"))
    elsewhere += "".join([*earlier, given(exercise.stage)])
    told = [line for line in lines_of(exercise) if line in inside and line not in elsewhere]
    assert [line for line in told if not line.startswith(("def ", "class "))] == []


@pytest.mark.parametrize("exercise", GRADED, ids=lambda one: one.id)
def test_a_right_answer_comes_out_of_the_sandbox_right(exercise, extracted):
    assert graded(exercise, exercise.truth(), extracted).right


def graded(exercise, answer, extracted):
    """Grade an answer as it is done, but for the walls: taken, written as JSON, read and judged."""
    if exercise.stage and isinstance(answer, str):
        answer = Cell(exercise.stage, answer)
    found = taken(answer, extracted.get(exercise.id))
    return mark(exercise, parsed(json.dumps(found)))


@pytest.mark.slow
@pytest.mark.parametrize("exercise", GRADED, ids=lambda one: one.id)
def test_points_are_given_for_what_check_calls_right(exercise, extracted):
    several = sorted(answers(exercise.id), key=lambda one: LABELS.index(one.label))
    for answer in several[:: max(1, len(several) // MOST)]:
        given = evaluated(answer.source)
        right = judge(exercise, evaluated(answer.source)).kind == "right"
        found = graded(exercise, given, extracted)
        assert found.right == right, (answer.source, found)


HOSTILE = [
    None,
    {},
    {"kind": "right"},
    {"kind": "value"},
    {"kind": "value", "value": {"points": 98_765}},
    {"kind": "value", "value": ["tuple", ["no kind"]]},
    {"kind": "value", "value": "print(98_765)  # no code runs here"},
    {"kind": "reading", "value": ["tuple"]},
    {"kind": "reading", "value": ["ours", ["failed", "x", "y"]]},
    {"kind": "unread", "text": "\x1b[2J<script>" * 1000},
]


@pytest.mark.slow
@pytest.mark.parametrize("found", HOSTILE, ids=str)
def test_whatever_comes_out_of_the_sandbox_gets_a_mark_and_no_points(found):
    for exercise in map(
        find, ("03.1", "10.9", "05.7")
    ):  # letters, a function, a stage of the engine
        got = mark(exercise, found)
        assert not got.right
        assert got.reason
        assert len(got.reason) <= 900
        assert got.reason.replace("\n", "").isprintable()


def test_of_a_wrong_function_a_case_is_set_out_without_what_was_expected(extracted):
    one = find("10.9")
    wrong = "def answer(place):\n    return nn.Bilinear(1, 1, 2, bias=False).to(place)"
    told = graded(one, evaluated(wrong), extracted).reason.splitlines()
    assert told[0] == "I ran your function on 3 cases. 3 went wrong."
    assert told[1:3] == ["Case 1:", "given: 'cpu'"]
    assert 'came: parameters: "weight"' in told
    assert "expected: parameters: a different word" in told
    assert told[-1] == f"Think of this: {one.principle}"


def test_an_answer_that_is_not_there_is_told_from_one_that_was_not_begun():
    one = find("03.1")
    assert mark(one, {"kind": "stub"}).reason == STUB
    assert mark(one, {"kind": "missing"}).reason == MISSING
    assert mark(one, {"kind": "missing"}, "it was late").reason == "No answer: it was late."


# The release


def release_faults(release, numbers):
    """Say where a release tells more than the lessons' own statements and stubs do."""
    stubs = {stub for number in numbers for stub in stubs_of(number)}
    for cell in release.cells:
        kind, id = kind_and_id(cell)
        if cell.get("outputs") or cell.get("execution_count"):
            yield f"{id} has outputs"
        if kind == "answer" and cell.source.strip() not in stubs:
            yield f"{id}: the cell for the answer is not the lesson's stub"
        points = rf"# {id} · \d points?: leave this cell as it is\."
        if kind == "points" and not re.fullmatch(points, cell.source):
            yield f"{id}: the points cell says more than its points"
    text = "\n".join(cell.source for cell in release.cells)
    own = {kind_and_id(cell): cell.source for cell in release.cells}
    for exercise in (one for number in numbers for one in exercises(number)):
        given = [own.get(("ask", exercise.id), ""), *stubs]
        given += [code for (kind, _), code in own.items() if kind == "given"]
        yield from (f"{exercise.id} tells {one!r}" for one in texts_of(exercise) if one in text)
        for line in lines_of(exercise):
            if line in text and not any(line in one for one in given):
                yield f"{exercise.id} shows {line!r}"


def stubs_of(number):
    """Return the stubs of a lesson without the lines that check them and bring an engine."""
    notebook = nbformat.read(lessons(ROOT)[number], as_version=4)
    bare = [assignment.STUB.sub("", cell.source) for cell in notebook.cells]
    return [assignment.CALL.sub("", source).strip() for source in bare]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The assignment of all lessons, as `make assignment` makes it: the folder of its course."""
    pytest.importorskip("nbgrader")
    folder = tmp_path_factory.mktemp("course") / "assignments"
    left_out = assignment.make("all", NUMBERS, folder)
    assert set(left_out) == UNTRIED
    told = (ROOT / "classroom" / "grading.md").read_text(encoding="utf-8")
    assert f"**Not graded: {' and '.join(sorted(UNTRIED))}.**" in told
    return folder


def version(folder, which):
    return nbformat.read(folder / which / "all" / "all.ipynb", as_version=4)


@pytest.mark.slow
def test_a_release_has_no_truths_in_it(made):
    release = version(made, "release")
    asked = [id for kind, id in map(kind_and_id, release.cells) if kind == "answer"]
    assert asked == [one.id for one in GRADED]
    assert list(release_faults(release, NUMBERS)) == []
    code = "".join(cell.source for cell in release.cells if cell.cell_type == "code")
    assert "helpers" not in code


@pytest.mark.slow
def test_the_graded_version_is_one_that_earns_all_points(made, extracted):
    cells = {kind_and_id(cell): cell for cell in version(made, "source").cells}
    for exercise in GRADED:
        source, names = cells["answer", exercise.id].source, {"torch": __import__("torch")}
        exec(source, names) if not exercise.stage else None
        assert graded(exercise, names.get("answer", source), extracted).right, exercise.id
        assert cells["points", exercise.id].metadata.nbgrader.points in (1, 2, 3, 4, 5)


# What a submission may change


def small_release():
    cells = [assignment.text_cell("**03.1** · easy", "03.1")]
    cells += [assignment.described(new_code_cell("answer = ..."), "answer", "03.1")]
    cells += [assignment.points_cell("03.1", 1)]
    return new_notebook(cells=cells)


def seen(notebook):
    return [(kind_and_id(cell), cell.source) for cell in notebook.cells]


def test_of_a_submission_only_its_code_is_taken():
    release, handed_in = small_release(), small_release()
    ask, answer, points = handed_in.cells
    ask.source = "<script>alert(1)</script>"
    answer.source = "answer = 'w'"
    answer.metadata.nbgrader["points"] = 1000
    points.source, points.metadata.nbgrader["points"] = "print('all points')", 1000
    points.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1000"})]
    more = [new_code_cell("x = 1"), nbformat.v4.new_markdown_cell("<img src=x onerror=alert(1)>")]
    handed_in.cells = [points, answer, *more, answer, points]
    made = whole(handed_in, release)
    assert seen(made) == [
        (("ask", "03.1"), "**03.1** · easy"),
        (("answer", "03.1"), "answer = 'w'"),
        (("", ""), "x = 1"),
        (("", ""), "answer = 'w'"),
        (("points", "03.1"), "# 03.1 · 1 point: leave this cell as it is."),
    ]
    assert made.cells[-1].metadata.nbgrader == release.cells[-1].metadata.nbgrader
    assert not made.cells[-1].outputs


def test_code_above_all_answers_is_taken_once_and_as_the_student_has_it():
    setup = assignment.described(new_code_cell("import torch"), "ask", "setup")
    release = new_notebook(cells=[setup, *small_release().cells])
    same, more = new_code_cell("import torch"), new_code_cell("import torch, math")
    for cell in (same, more):
        cell.metadata = setup.metadata
    handed_in = new_notebook(cells=[same, more])
    made = [source for _, source in seen(whole(handed_in, release)) if "import" in source]
    assert made == ["import torch", "import torch, math"]
