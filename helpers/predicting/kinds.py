"""Read, judge and answer what is given to `draw`, `find_line`, `order` and `explain`; no widget.

Each kind has the same five names: `read` (the one form of a guess, "" where it is none), `is_right`,
`reply` (what is said once the cell that settles it has run), `wanted` and `example` (what is asked
for, in words and as it is typed).
"""

from __future__ import annotations

import re
from collections import Counter

from autograd_graphs.untrusted.plain import is_a
from helpers.predicting.questions import Question

LINE = re.compile(r"(\d{1,2})([a-f]?)")
FEW, MANY = 16, 1000  # letters of an explanation


class Draw:
    """A guess is pairs of cards, "AB BC BC": an edge from A to B, and two from B to C."""

    @staticmethod
    def read(question: Question, guess: object) -> str:
        edges = guess.split() if is_a(guess, str) else []
        cards = {card["id"] for card in question.shown["cards"]}
        known = all(len(set(edge)) == 2 == len(edge) and set(edge) <= cards for edge in edges)
        return " ".join(sorted(edges)) if known else ""

    @staticmethod
    def is_right(question: Question, guess: str) -> bool:
        return not any(differences(question, guess))

    @staticmethod
    def reply(question: Question, guess: str) -> str:
        missing, extra = differences(question, guess)
        if not missing and not extra:
            return f"This is the graph that torch made, edge by edge. {question.takeaway}"
        name = {card["id"]: card["title"] for card in question.shown["cards"]}
        words = [f"{name[a]} → {name[b]} is missing" for a, b in missing]
        words += [f"{name[a]} → {name[b]} is too much" for a, b in extra]
        return f"You drew {len(guess.split())} edges; {', '.join(words)}. {question.takeaway}"

    @staticmethod
    def wanted(question: Question) -> str:
        cards = ", ".join(f"{card['id']} {card['title']}" for card in question.shown["cards"])
        return f"pairs of cards, from and to: {cards}"

    @staticmethod
    def example(question: Question) -> str:
        return '"BA"'


def differences(question: Question, guess: str) -> tuple[list[str], list[str]]:
    """Return the edges that a drawing lacks, and those that are too many; one that is turned round
    counts as drawn.
    """
    truth, mine = Counter(question.told["edges"].split()), Counter(guess.split())
    for edge in list(mine):
        if edge not in truth and edge[::-1] in truth:
            mine[edge[::-1]] += mine.pop(edge)
    return list((truth - mine).elements()), list((mine - truth).elements())


class FindLine:
    """A guess is the number of a line, and perhaps the letter of a reason: "7", "7b"."""

    @staticmethod
    def read(question: Question, guess: object) -> str:
        text = str(guess) if type(guess) is int else guess
        found = LINE.fullmatch(text.strip()) if is_a(text, str) else None
        lines = question.shown["lines"]
        if (
            not found
            or not 1 <= int(found[1]) <= len(lines)
            or not lines[int(found[1]) - 1].strip()
        ):
            return ""
        letter = found[2] if found[2] in question.shown["reasons"] else ""
        return f"{int(found[1])}{letter}"

    @staticmethod
    def is_right(question: Question, guess: str) -> bool:
        return LINE.fullmatch(guess)[1] == question.right

    @staticmethod
    def reply(question: Question, guess: str) -> str:
        line, tells = int(LINE.fullmatch(guess)[1]), question.told["tells"]
        cause = int(question.right)
        if line == cause:
            return f"You said line {line}, and that is right. {tells[line - 1]} {question.takeaway}"
        said = f"You said line {line}; it is line {cause}. Line {line}: {tells[line - 1]}"
        return f"{said} Line {cause}: {tells[cause - 1]} {question.takeaway}"

    @staticmethod
    def wanted(question: Question) -> str:
        return "the number of a line"

    @staticmethod
    def example(question: Question) -> str:
        return "1"


class Order:
    """A guess is the letters of the lines that are used, in order: "dabc"."""

    @staticmethod
    def read(question: Question, guess: object) -> str:
        text = guess.strip() if is_a(guess, str) else ""
        known = set(text) <= set(question.shown["lines"]) and len(set(text)) == len(text)
        return text if known else ""

    @staticmethod
    def is_right(question: Question, guess: str) -> bool:
        return outcome_of(question, guess)["isGood"]

    @staticmethod
    def reply(question: Question, guess: str) -> str:
        found = outcome_of(question, guess)
        said = f"Your order: {found['says']} {'; '.join(found['facts'])}."
        return f"{said} {question.takeaway}" if found["isGood"] else said

    @staticmethod
    def wanted(question: Question) -> str:
        lines = "; ".join(f"{letter}: {line}" for letter, line in question.shown["lines"].items())
        return f"the letters of lines in order ({lines})"

    @staticmethod
    def example(question: Question) -> str:
        return f'"{"".join(question.shown["lines"])}"'


def outcome_of(question: Question, letters: str) -> dict:
    """Return what an order does, as it was found when it was run."""
    return question.told["outcomes"][question.told["of"][letters]]


class Explain:
    """A guess is a sentence or two. Nobody grades it."""

    @staticmethod
    def read(question: Question, guess: object) -> str:
        text = " ".join(guess.split()) if is_a(guess, str) else ""
        return text[:MANY] if len(text) >= FEW else ""

    @staticmethod
    def is_right(question: Question, guess: str) -> bool:
        return True

    @staticmethod
    def reply(question: Question, guess: str) -> str:
        points = "; ".join(question.told["points"])
        return f"A good answer: {question.told['good']} Does yours say it? {points}"

    @staticmethod
    def wanted(question: Question) -> str:
        return f"a sentence or two, at least {FEW} letters"

    @staticmethod
    def example(question: Question) -> str:
        return '"Because …"'


KINDS = {"draw": Draw, "find_line": FindLine, "order": Order, "explain": Explain}
