"""Rules about what gives an answer away before the run."""

import ast
import io
import json
import re
import tokenize
from dataclasses import dataclass

from course.workspace import student_copy
from notebook_rules.rounds import asked, parsed, questions, rounds

WORDS_FOR_A_PICTURE = ("alt", "caption")
TELLING = re.compile(r"\b(?:raises?|fails?|errors?|warns?|\w+Error|wrong|no error)\b", re.I)
SECRET = ("right", "answer", "tolerance", "expects", "caption", "came")
MARKED = re.compile(r"\*\*|__|<b>|<strong>|<mark>|[✓✔✅]|\((?:right|correct)\)", re.I)
TOLD = re.compile(r'"(right|answer|takeaway)\\*"\s*:\s*(?!null)')  # as a key, in JSON in JSON too
CODE = re.compile(r"`[^`]*`")
DISTINCT = re.compile(r"`([^`]+)`|(?<![\w.])([-−]?\d+(?:\.\d+)?)(?![\w.])")
IN_A_ROW, IN_THE_FIRST_LINES = 4, 5  # words that two sentences share


def code_does_not_tell_what_comes(lesson):
    """Code has no words for pictures and no expected errors: they are read before the run."""
    for cell in lesson.code:
        if "expect_error" in cell.source:
            yield f"{cell} says expect_error: use `with attempt():`, and put what is expected into course.expects."
        for word in WORDS_FOR_A_PICTURE:
            if word in _names_given(cell):
                yield f"{cell} has {word}= in its code: put the sentence into course.caption."


def _names_given(cell):
    """Return the names of arguments, and the names that are bound, in the code of a cell."""
    nodes = list(ast.walk(parsed(cell)))
    arguments = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    bound = {
        node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return arguments | bound


def comments_do_not_tell_what_comes(lesson):
    """`# raises` beside a line answers the question above it."""
    for round_ in rounds(lesson):
        for cell in round_.runs:
            for comment in _comments(cell.source):
                found = TELLING.search(comment)
                if found:
                    yield f"{cell} says {found[0]!r} in a comment: leave that to the run, or move it into the because."


def _comments(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    try:
        return [token.string for token in tokens if token.type == tokenize.COMMENT]
    except (tokenize.TokenError, SyntaxError):
        return []


def nothing_is_asserted_before_the_reason(lesson):
    """An assert says what comes; tests hold what is claimed."""
    for round_ in rounds(lesson):
        for cell in round_.runs:
            if any(isinstance(node, ast.Assert) for node in ast.walk(parsed(cell))):
                yield f"{cell} asserts: move that into a test, or into a run after the because."


def no_fold_stands_above_the_run(lesson):
    """Tempting wrong answers that are read before one commits do harm."""
    for round_ in rounds(lesson):
        for cell in round_.above_the_run:
            if not cell.is_code and "<details" in cell.source:
                yield f"{cell} has a fold above the run: move what it says into the because."


def options_look_alike(lesson):
    """Nothing marks the right one."""
    for round_ in asked(lesson):
        for letter, words in round_.question.options.items():
            found = MARKED.search(CODE.sub("", words))
            if found:
                yield f"{round_.first} marks the option ({letter}) with {found[0]!r}: write all options alike, plain."


def titles_do_not_tell_the_answer(lesson):
    """A number, a name or four words in a row of the answer are a hint, if nothing else in the
    question says them.
    """
    for round_ in questions(lesson):
        for found in sorted(_hints(round_)):
            yield f"{round_.first} says {found!r} in its title, as the answer does: ask instead."


def _hints(round_):
    """Return what the title shares with the answer, and with nothing else in the question."""
    question = round_.question
    wrong = [words for letter, words in question.options.items() if letter != round_.right]
    elsewhere = " ".join([question.set_up, question.ask, *wrong])
    found = set()
    for answer in [question.options.get(round_.right, ""), *_takeaways(round_)]:
        found |= _distinct(answer) & _distinct(question.title) - _distinct(elsewhere)
        shared = _in_a_row(answer, IN_A_ROW) & _in_a_row(question.title, IN_A_ROW)
        found |= shared - _in_a_row(elsewhere, IN_A_ROW)
    return found


def _takeaways(round_):
    return [reason.takeaway for _, reason in round_.reasons]


def _distinct(text):
    """Return the numbers and the pieces of code in a text, the number of an idea apart."""
    text = re.sub(r"^\d+ · ", "", text)
    return {code or number for code, number in DISTINCT.findall(text)}


def _in_a_row(text, count):
    """Return all runs of so many words in a text."""
    words = re.findall(r"[\w']+", text.lower())
    return {" ".join(words[i : i + count]) for i in range(len(words) - count + 1)}


def first_lines_do_not_tell_an_answer(lesson):
    """What the title cell promises to explain, it does not say."""
    titles = [cell for cell in lesson.cells if cell.role == "title"]
    for cell in titles:
        said = _in_a_row(cell.source, IN_THE_FIRST_LINES)
        for round_ in rounds(lesson):
            for takeaway in _takeaways(round_):
                for found in sorted(said & _in_a_row(takeaway, IN_THE_FIRST_LINES))[:1]:
                    yield f"{cell} says {found!r}, as the takeaway of {round_.first} does: say there what one will be able to do."


@dataclass
class _File:
    """A lesson as if it stood in a file: what `student_copy` reads of it."""

    name: str
    text: str

    @property
    def stem(self):
        return self.name.removesuffix(".ipynb")

    def read_text(self, **_):
        return self.text


def a_students_copy_holds_no_answer(lesson):
    """Whoever looks into the file finds no right letter, no caption, no error that is to come, no
    notes and no output.
    """
    made = student_copy(_File(lesson.name, lesson.text))
    for number, cell in enumerate(made["cells"], start=1):
        first = "".join(cell["source"]).strip().split("\n")[0][:50]
        for key in sorted(set(cell["metadata"].get("course", {})) & set(SECRET)):
            yield f"cell {number} ({first!r}) of the student's copy carries {key!r}: let course/workspace.py leave it out."
        if cell["metadata"].get("course", {}).get("role") in ("notes", "claim"):
            yield f"cell {number} ({first!r}) of the student's copy is not for students: let course/workspace.py leave it out."
        if cell.get("outputs"):
            yield f"cell {number} ({first!r}) of the student's copy has an output: let course/workspace.py leave it out."


def a_stored_guess_holds_no_answer(lesson):
    """What predict() puts out before the run says nothing of the answer, widget state included."""
    widgets = json.dumps(lesson.node.metadata.get("widgets", {}), ensure_ascii=False)
    for round_ in questions(lesson):
        for cell in round_.with_role("guess"):
            shown = json.dumps(cell.outputs, ensure_ascii=False) + widgets
            told = TOLD.search(shown)
            if told:
                yield f"{cell} has an output that carries {told[1]!r}: let predict() keep it back until the run."
            for what in _answers(round_):
                if json.dumps(what, ensure_ascii=False)[1:-1] in shown:
                    yield f"{cell} has an output that says {what[:40]!r}: run `make refresh N={lesson.number}` where no guesses are kept."


def _answers(round_):
    """Return texts that only an answer to this round holds."""
    texts = [f"it is ({round_.right})", *_takeaways(round_)]
    return [text for text in texts if text]


RULES = (
    code_does_not_tell_what_comes,
    comments_do_not_tell_what_comes,
    nothing_is_asserted_before_the_reason,
    no_fold_stands_above_the_run,
    options_look_alike,
    titles_do_not_tell_the_answer,
    first_lines_do_not_tell_an_answer,
    a_students_copy_holds_no_answer,
    a_stored_guess_holds_no_answer,
)
