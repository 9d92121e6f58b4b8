"""The rounds of a lesson as data: questions, runs and reasons, labs too, read from cells with roles.

Nothing is judged here: what is missing is empty, what is too much is kept.
"""

import ast
import re
from dataclasses import dataclass

from helpers.predicting import from_notebook
from helpers.predicting.round_text import SUMMARY, Question, Reason, question, reason
from notebook_rules.lesson import Cell

MARKUP = re.compile(r"<[^>]*>|\]\([^)]*\)")


@dataclass
class Round:
    """The cells of one round in order, and what stands in its question."""

    cells: list[Cell]
    question: Question

    @property
    def first(self) -> Cell:
        return self.cells[0]

    @property
    def is_lab(self) -> bool:
        return self.first.role == "lab"

    @property
    def kind(self) -> str:
        """What it asks for: "choose", "number", "draw", "find_line", "order" or "explain"."""
        return self.first.course.get("kind") or ("choose" if self.question.letters else "number")

    @property
    def is_settled_later(self) -> bool:
        """Tell whether this is a question of the quiz, which another lesson answers."""
        return "settled" in self.first.course

    @property
    def right(self) -> str:
        """The right letter; "" in a lab and where a number is asked for."""
        return self.first.course.get("right", "")

    @property
    def asks_for_a_letter(self) -> bool:
        return bool(self.question.letters) and not self.is_lab

    def with_role(self, role) -> list[Cell]:
        return [cell for cell in self.cells if cell.role == role]

    @property
    def before_the_reason(self) -> list[Cell]:
        """The cells that are read before the reason is; all of them where there is none."""
        roles = [cell.role for cell in self.cells]
        end = roles.index("because") if "because" in roles else len(roles)
        return self.cells[:end]

    @property
    def above_the_run(self) -> list[Cell]:
        """The cells that are read before anything runs; the guess is not run."""
        roles = [cell.role for cell in self.cells]
        end = roles.index("run") if "run" in roles else len(roles)
        return self.cells[:end]

    @property
    def runs(self) -> list[Cell]:
        """The runs that answer the question: those before the reason."""
        return [cell for cell in self.before_the_reason if cell.role == "run"]

    @property
    def reasons(self) -> list[tuple[Cell, Reason]]:
        return [(cell, reason(cell.source)) for cell in self.with_role("because")]


def rounds(lesson) -> list[Round]:
    """Return the rounds of a lesson, labs among them, in order."""
    cell_of = {id(cell.node): cell for cell in lesson.cells}
    found = []
    for nodes in from_notebook.rounds([cell.node for cell in lesson.cells]):
        cells = [cell_of[id(node)] for node in nodes]
        found.append(Round(cells, question(cells[0].source)))
    return found


def asked(lesson) -> list[Round]:
    """Return the rounds that ask for a guess: all but the labs."""
    return [round_ for round_ in rounds(lesson) if not round_.is_lab]


def questions(lesson) -> list[Round]:
    """Return the rounds that ask for a guess and answer it."""
    return [round_ for round_ in asked(lesson) if not round_.is_settled_later]


def guessed(lesson) -> list[Round]:
    """Return the questions that ask for a letter or numbers, and answer them."""
    return [round_ for round_ in questions(lesson) if round_.kind in ("choose", "number")]


def quiz(lesson) -> list[Round]:
    """Return the questions of the quiz, which other lessons answer."""
    return [round_ for round_ in asked(lesson) if round_.is_settled_later]


def word_count(text) -> int:
    """Count the words of a text as it is read: markup, and the fixed words of a fold, apart."""
    plain = MARKUP.sub(" ", text.replace(SUMMARY, ""))
    return sum(any(letter.isalnum() for letter in word) for word in plain.split())


def parsed(cell) -> ast.Module:
    """Parse a cell without IPython's own lines; one that shall fail to parse has nothing to look
    into.
    """
    lines = cell.source.split("\n")
    plain = ["" if line.lstrip()[:1] in ("%", "!", "?") else line for line in lines]
    try:
        return ast.parse("\n".join(plain))
    except SyntaxError:
        return ast.Module(body=[], type_ignores=[])
