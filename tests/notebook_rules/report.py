"""Say of each lesson how it stands with the form in rounds: sizes, letters, minutes, complaints.

A lesson whose cells have no roles yet gets guessed ones, in memory, to count what is to be done.
"""

import copy
import re
from collections import Counter
from pathlib import Path

import nbformat
from normal_form import slide_type_of

from notebook_rules import COURSE, IN_ROUNDS, Lesson
from notebook_rules.duration import code_lines, minutes, words
from notebook_rules.exercises import CHECK
from notebook_rules.letters import right_letters
from notebook_rules.rounds import asked, questions, quiz, rounds

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"
EXERCISE = re.compile(r"#{2,3} (?:Exercises?|\d\d\.\d)\b|\*\*\d\d\.\d\b")
QUESTION = re.compile(r"\*\*Predict|^#+ .*Read this error", re.M)


def report(numbers=(), folder=NOTEBOOKS):
    """Yield the lines of the report on the lessons with these numbers, or on all."""
    lessons = [Lesson.at(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))]
    for lesson in lessons:
        if not numbers or lesson.number in numbers:
            yield from of_lesson(lesson)
    yield from of_course(lessons)


def of_lesson(lesson):
    """Yield how one lesson stands: a line of sizes, then its complaints.

    In rounds, each complaint; else how many there are of each rule.
    """
    read = lesson if lesson.in_rounds else with_guessed_roles(lesson)
    form = "in rounds" if lesson.in_rounds else "not in rounds yet, roles guessed"
    yield f"{lesson.name} ({form})"
    yield f"    {sizes(read)}"
    for rule in IN_ROUNDS:
        complaints = list(rule(read))
        if complaints:
            yield f"    {len(complaints):3} × {rule.__name__}"
        if lesson.in_rounds:
            yield from (f"          {complaint}" for complaint in complaints)


def sizes(lesson):
    """Return one line: rounds, letters, lines, words, minutes."""
    letters = right_letters(lesson)
    labs = len(rounds(lesson)) - len(asked(lesson))
    lines = [cell.source.count("\n") + 1 for cell in lesson.code if cell.role == "run"]
    return (
        f"{len(questions(lesson))} rounds, {len(quiz(lesson))} in a quiz, {labs} labs;"
        f" right: {letters or '–'}, the longest in {_longest(questions(lesson))};"
        f" {code_lines(lesson)} lines of code in {len(lines)} runs, {words(lesson)} words,"
        f" {minutes(lesson)} minutes"
    )


def _longest(answered):
    """Return in how many rounds the right option is the longest one: "3 of 8"."""
    with_letters = [one.question.options for one in answered if one.right in one.question.options]
    rights = [one.right for one in answered if one.right in one.question.options]
    longest = [max(options, key=lambda letter: len(options[letter])) for options in with_letters]
    hits = sum(right == letter for right, letter in zip(rights, longest, strict=True))
    return f"{hits} of {len(rights)}"


def of_course(lessons):
    """Yield what is to be said of all lessons in rounds together."""
    ready = [lesson for lesson in lessons if lesson.in_rounds]
    letters = Counter("".join(right_letters(lesson) for lesson in ready))
    counted = ", ".join(f"({letter}) {letters[letter]}" for letter in sorted(letters)) or "–"
    yield f"all {len(ready)} lessons in rounds: {counted}"
    for rule in COURSE:
        yield from (f"    {complaint}" for complaint in rule(lessons))


def with_guessed_roles(lesson):
    """Return a lesson with the roles that the form of its cells suggests."""
    node = copy.deepcopy(lesson.node)
    for cell, made in zip(lesson.cells, node.cells, strict=True):
        role = guessed_code(cell) if cell.is_code else guessed_text(cell)
        made.metadata["course"] = {"role": role}
        made.metadata["slideshow"] = {"slide_type": slide_type_of(made)}
    return Lesson(lesson.name, nbformat.writes(node, version=4))


def guessed_code(cell):
    """Return the role that a code cell looks like."""
    if CHECK.search(cell.source):
        return "stub"
    if cell.source.startswith("# Your turn"):
        return "try"
    return "setup" if cell.slide == "skip" else "run"


def guessed_text(cell):
    """Return the role that a text cell looks like."""
    text = cell.source.lstrip()
    if cell.slide == "notes":
        return "notes"
    if text.startswith("# "):
        return "title"
    if text.startswith("## Recap"):
        return "recap"
    if EXERCISE.match(text):
        return "exercise"
    if "## Lab" in text:
        return "lab"
    return "question" if QUESTION.search(text) else "because"
