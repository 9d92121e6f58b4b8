"""Count how long a lesson takes, exercises apart: a guess of ours, for `make rounds`."""

import ast
import math
import re

from notebook_rules.rounds import asked, parsed, rounds, word_count

TOLD = {
    "words": 130,
    "line": 25,
    "guess": 90,
    "other": 180,
    "player": 90,
}  # words a minute; seconds
NOT_READ = ("notes", "exercise")
NOT_COUNTED = ("setup", "stub", "guess", "try")
RUNS_A_ROUND = re.compile(r"(?:mended|run_order|progress|step_through|labs\.\w+)\(")
PLAYER = re.compile(r"^step_through\(", re.M)
SAID = re.compile(r"\bAbout [^.]+\bexercises\.")


def words(lesson) -> int:
    """Count the words that students read: in text cells, exercises and notes apart."""
    read = [cell for cell in lesson.cells if not cell.is_code and cell.role not in NOT_READ]
    return sum(word_count(cell.source) for cell in read)


def new_lines(lesson) -> int:
    """Count the lines of code that are read for the first time; what only runs a round is not read."""
    cells = [cell for cell in lesson.code if cell.role not in NOT_COUNTED]
    lines = {line.strip() for cell in cells for line in counted(cell)}
    return sum(not RUNS_A_ROUND.match(line) for line in lines)


def code_lines(lesson) -> int:
    """Count the lines of code that students read to understand a run."""
    return sum(len(counted(cell)) for cell in lesson.code if cell.role not in NOT_COUNTED)


def counted(cell) -> list[str]:
    """Return the lines of a cell that are not blank and import nothing."""
    imports = set()
    for node in ast.walk(parsed(cell)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(cell.source.split("\n"), start=1)
    return [line for number, line in lines if line.strip() and number not in imports]


def minutes(lesson) -> int:
    """Return how many minutes a lesson takes, exercises apart: 130 words a minute, 25 seconds a line, 90
    a choice, a number or a player, three minutes anything that is drawn, found, ordered or explained:
    the program of a find_line is read in these. A player of a lab belongs to the minutes that it names.
    """
    labs = [round_.first.course.get("minutes", 0) for round_ in rounds(lesson) if round_.is_lab]
    kinds = [round_.kind in ("choose", "number") for round_ in asked(lesson)]
    seconds = TOLD["line"] * new_lines(lesson) + sum(
        TOLD["guess"] if is_guess else TOLD["other"] for is_guess in kinds
    )
    seconds += TOLD["player"] * players(lesson)
    return math.ceil(words(lesson) / TOLD["words"] + seconds / 60 + sum(labs))


def players(lesson) -> int:
    """Count the players that are stepped through outside of labs."""
    in_labs = {cell.number for one in rounds(lesson) if one.is_lab for cell in one.cells}
    runs = [cell for cell in lesson.code if cell.role == "run" and cell.number not in in_labs]
    return sum(bool(PLAYER.search(cell.source)) for cell in runs)


def the_title_says_how_long_it_takes(lesson):
    """Whoever begins wants to know; the author says it, in words."""
    for cell in lesson.cells:
        if cell.role == "title" and not SAID.search(cell.source):
            yield f"{cell} does not say how long it takes: write `About an hour, and forty minutes of exercises.`, or what is true."


RULES = (the_title_says_how_long_it_takes,)
