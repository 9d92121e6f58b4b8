"""Read a guess and say what is thought of it, whatever its kind; no widget."""

from __future__ import annotations

from helpers.predicting.kinds import KINDS
from helpers.predicting.questions import Question

# The four questions at the end of lesson 00, as lesson 11 answers them; tests/test_quiz.py asks torch.
KEY = {"quiz.3": "a", "quiz.4": "c", "quiz.7": "c", "quiz.8": "b"}


def read(question: Question, guess: object) -> str:
    """Return a guess in its one form, "" where it is none."""
    return KINDS[question.kind].read(question, guess)


def is_right(question: Question, guess: str) -> bool:
    """Tell whether a guess, in its one form, is right. A question of the quiz has no right one."""
    return KINDS[question.kind].is_right(question, guess)


def reply(question: Question, guess: str) -> str:
    """Return what is said of a guess once the cell that answers has run."""
    return KINDS[question.kind].reply(question, guess)


def wanted(question: Question) -> str:
    """Return what a question asks for: "one of a, b, c"."""
    return KINDS[question.kind].wanted(question)


def example(question: Question) -> str:
    """Return a guess as it is written without buttons."""
    return KINDS[question.kind].example(question)
