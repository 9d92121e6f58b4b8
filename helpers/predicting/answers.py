"""Read a guess, as exercises read an answer, and say what is thought of it; no widget."""

from __future__ import annotations

import re

from autograd_graphs.text import short_number
from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed, guarded
from helpers.exercises import readers
from helpers.predicting.kinds import KINDS
from helpers.predicting.questions import Question

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
# The quiz of lesson 00, as lesson 11 answers it; tests/test_quiz.py asks torch.
KEY = {"quiz.1": "c", "quiz.2": "b", "quiz.3": "a", "quiz.4": "c"}
KEY |= {"quiz.5": "a", "quiz.6": "b", "quiz.7": "c", "quiz.8": "b"}
LEAST = 1e-9  # what two numbers may differ by, beside the tolerance


def read(question: Question, guess: object) -> str:
    """Return a guess in its one form: a letter, numbers with ", " between, or what its kind says; ""
    where it is none.
    """
    if question.kind in KINDS:
        return KINDS[question.kind].read(question, guess)
    if question.letters:
        letter = guarded(readers.choice(*question.letters).read, guess)
        return letter if is_a(letter, str) else ""
    found = numbers(guess) if is_a(guess, str) else guarded(readers.numbers().read, guess)
    if is_a(found, Failed) or len(found) != question.count or None in found:
        return ""
    return ", ".join(f"{number:.12g}" for number in found)


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in order."""
    return [float(found) for found in NUMBER.findall(text.replace("\u2212", "-"))]


def is_right(question: Question, guess: str) -> bool:
    """Tell whether a guess, in its one form, is right. A question of the quiz has no right one."""
    if question.kind in KINDS:
        return KINDS[question.kind].is_right(question, guess)
    if question.letters:
        return guess == question.right
    return close(numbers(guess), question.right, question.tolerance)


def close(some: list[float], others: list[float], tolerance: float) -> bool:
    """Tell whether numbers are the same, one by one, within a relative tolerance."""
    if len(some) != len(others):
        return False
    pairs = zip(some, others, strict=True)
    return all(abs(one - other) <= tolerance * abs(other) + LEAST for one, other in pairs)


def why(question: Question, guess: str) -> str:
    """Return what tempts in a wrong guess, "" where nothing is known of it."""
    for wrong, reason in question.why:
        if question.letters and wrong == guess:
            return reason
        if not question.letters and close(numbers(guess), numbers(wrong), question.tolerance):
            return reason
    return ""


def named(guess: str | tuple[float, ...]) -> str:
    """Return a guess as it is spoken of: "(a)", or "405, 5"."""
    if isinstance(guess, tuple):
        return ", ".join(map(short_number, guess))
    return f"({guess})" if guess.isalpha() else guess


def reply(question: Question, guess: str) -> str:
    """Return what is said of a guess once the cell that answers has run."""
    if question.kind in KINDS:
        return KINDS[question.kind].reply(question, guess)
    if is_right(question, guess):
        return f"You said {named(guess)}, and that is right. {question.takeaway}"
    reason = why(question, guess) or question.takeaway
    return f"You said {named(guess)}; it is {named(question.right)}. {reason}"


def wanted(question: Question) -> str:
    """Return what a question asks for: "one of a, b, c"."""
    if question.kind in KINDS:
        return KINDS[question.kind].wanted(question)
    if question.letters:
        return f"one of {', '.join(question.letters)}"
    return "a number" if question.count == 1 else f"{question.count} numbers"


def example(question: Question) -> str:
    """Return a guess as it is written without buttons."""
    if question.kind in KINDS:
        return KINDS[question.kind].example(question)
    if question.letters:
        return f'"{question.letters[0]}"'
    return f'"{", ".join("0" for _ in range(question.count))}"'
