"""Say of each lesson how it stands: rounds, lines, minutes, complaints."""

from pathlib import Path

from notebook_rules import RULES, Lesson
from notebook_rules.duration import code_lines, minutes, words
from notebook_rules.rounds import asked, questions, quiz, rounds

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks"


def report(numbers=(), folder=NOTEBOOKS):
    """Yield the lines of the report on the lessons with these numbers, or on all."""
    lessons = [Lesson.at(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))]
    for lesson in lessons:
        if not numbers or lesson.number in numbers:
            yield from of_lesson(lesson)


def of_lesson(lesson):
    """Yield how one lesson stands: its name, a line of sizes, then its complaints."""
    yield lesson.name
    yield f"    {sizes(lesson)}"
    for rule in RULES:
        complaints = list(rule(lesson))
        if complaints:
            yield f"    {len(complaints):3} × {rule.__name__}"
        yield from (f"          {complaint}" for complaint in complaints)


def sizes(lesson):
    """Return one line: rounds, lines, words, minutes."""
    labs = len(rounds(lesson)) - len(asked(lesson))
    lines = [cell.source.count("\n") + 1 for cell in lesson.code if cell.role == "run"]
    return (
        f"{len(questions(lesson))} rounds, {len(quiz(lesson))} in a quiz, {labs} labs;"
        f" the right option is the longest in {_longest(questions(lesson))};"
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
