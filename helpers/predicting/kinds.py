"""Read, judge and answer what is given to each kind of question, as exercises read answers; no widget.

Each kind has the same five methods: `read` (the one form of a guess, "" where it is none),
`is_right`, `reply` (what is said once the cell that settles it has run), `wanted` and `example`
(what is asked for, in words and as it is typed).
"""

import re
from collections import Counter

from autograd_graphs.guard import Failed, guarded
from autograd_graphs.text import short_number
from helpers.exercises import reading
from helpers.predicting.graph_cards import label
from helpers.predicting.questions import Question

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
LEAST = 1e-9  # what two numbers may differ by, beside the tolerance
LINE = re.compile(r"(\d{1,2})([a-f]?)")
FEW, MANY = 16, 1000  # letters of an explanation
# The four questions at the end of lesson 00, as lesson 11 answers them; tests/test_quiz.py asks torch.
KEY = {"quiz.3": "a", "quiz.4": "c", "quiz.7": "c", "quiz.8": "b"}


class Choose:
    """A guess is a letter, "b"."""

    def read(self, question: Question, guess: object) -> str:
        return text_of(guarded(reading.choice(*question.letters).read, guess))

    def is_right(self, question: Question, guess: str) -> bool:
        return guess == question.right

    def reply(self, question: Question, guess: str) -> str:
        reason = dict(question.why).get(guess, "")
        return reply_to(question, guess, self.is_right(question, guess), reason)

    def wanted(self, question: Question) -> str:
        return f"one of {', '.join(question.letters)}"

    def example(self, question: Question) -> str:
        return f'"{question.letters[0]}"'


class Number:
    """A guess is one number or several, "405, -0.5"."""

    def read(self, question: Question, guess: object) -> str:
        if isinstance(guess, str):
            values = numbers(guess)
        else:
            values = guarded(reading.numbers().read, guess)
        if isinstance(values, Failed) or len(values) != question.count or None in values:
            return ""
        return ", ".join(f"{number:.12g}" for number in values)

    def is_right(self, question: Question, guess: str) -> bool:
        return close(numbers(guess), question.right, question.tolerance)

    def reply(self, question: Question, guess: str) -> str:
        mine, near = numbers(guess), question.tolerance
        known = (reason for wrong, reason in question.why if close(mine, numbers(wrong), near))
        return reply_to(question, guess, self.is_right(question, guess), next(known, ""))

    def wanted(self, question: Question) -> str:
        if question.count == 1:
            return "a number"
        return f"{question.count} numbers"

    def example(self, question: Question) -> str:
        return f'"{", ".join(["0"] * question.count)}"'


def text_of(guess: object) -> str:
    """Return a guess that is a text; "" for anything else."""
    return guess if isinstance(guess, str) else ""


def reply_to(question: Question, guess: str, is_right: bool, reason: str) -> str:
    """Return what is said of a letter or numbers; the same in the browser: choose.js."""
    if is_right:
        return f"You said {named(guess)}, and that's right. {question.takeaway}"
    said = f"It's {named(question.right)}, but you said {named(guess)}."
    return f"{said} {reason or question.takeaway}"


def named(guess: str | tuple[float, ...]) -> str:
    """Return a guess as it is spoken of: "(a)", or "405, 5"."""
    if isinstance(guess, tuple):
        return ", ".join(map(short_number, guess))
    return f"({guess})" if guess.isalpha() else guess


def numbers(text: str) -> list[float]:
    """Return the numbers in a text, in order."""
    return [float(number) for number in NUMBER.findall(text.replace("\u2212", "-"))]


def close(some: list[float], others: list[float], tolerance: float) -> bool:
    """Tell whether numbers are the same, one by one, within a relative tolerance."""
    if len(some) != len(others):
        return False
    pairs = zip(some, others, strict=True)
    return all(abs(number - other) <= tolerance * abs(other) + LEAST for number, other in pairs)


class Draw:
    """A guess is pairs of cards, "AB BC BC": an edge from A to B, and two from B to C."""

    def read(self, question: Question, guess: object) -> str:
        edges = text_of(guess).split()
        cards = {card["id"] for card in question.shown["cards"]}
        for edge in edges:
            if len(edge) != 2 or edge[0] == edge[1] or not set(edge) <= cards:
                return ""
        return " ".join(sorted(edges))

    def is_right(self, question: Question, guess: str) -> bool:
        return not any(differences(question, guess))

    def reply(self, question: Question, guess: str) -> str:
        missing, extra = differences(question, guess)
        if not missing and not extra:
            return f"That's the graph PyTorch made, edge for edge. {question.takeaway}"
        name = names(question)
        words = []
        for start, end in missing:
            words.append(f"{name[start]} → {name[end]} is missing")
        for start, end in extra:
            words.append(f"{name[start]} → {name[end]} doesn't belong there")
        return f"You drew {len(guess.split())} edges. {', '.join(words)}. {question.takeaway}"

    def wanted(self, question: Question) -> str:
        cards = ", ".join(f"{letter} {name}" for letter, name in names(question).items())
        return f"pairs of cards, from and to, with {cards}"

    def example(self, question: Question) -> str:
        return '"BA"'


def names(question: Question) -> dict[str, str]:
    """Return what to call each card of a drawing, by its letter."""
    cards = question.shown["cards"]
    return {card["id"]: label(card, cards) for card in cards}


def differences(question: Question, guess: str) -> tuple[list[str], list[str]]:
    """Return the edges that a drawing lacks or has too many; one turned round counts as drawn."""
    truth, mine = Counter(question.told["edges"].split()), Counter(guess.split())
    for edge in list(mine):
        if edge not in truth and edge[::-1] in truth:
            mine[edge[::-1]] += mine.pop(edge)
    return list((truth - mine).elements()), list((mine - truth).elements())


class FindLine:
    """A guess is the number of a line, and perhaps the letter of a reason: "7", "7b"."""

    def read(self, question: Question, guess: object) -> str:
        if type(guess) is int:
            guess = str(guess)
        match = LINE.fullmatch(text_of(guess).strip())
        known = [nr for nr, line in enumerate(question.shown["lines"], 1) if line.strip()]
        if not match or int(match[1]) not in known:
            return ""
        if match[2] not in question.shown["reasons"]:
            return f"{int(match[1])}"
        return f"{int(match[1])}{match[2]}"

    def is_right(self, question: Question, guess: str) -> bool:
        return LINE.fullmatch(guess)[1] == question.right

    def reply(self, question: Question, guess: str) -> str:
        line, tells = int(LINE.fullmatch(guess)[1]), question.told["tells"]
        cause = int(question.right)
        if line == cause:
            return f"You said line {line}, and that's right. {tells[line - 1]} {question.takeaway}"
        said = f"You said line {line}, but it's line {cause}. Line {line}: {tells[line - 1]}"
        return f"{said} Line {cause}: {tells[cause - 1]} {question.takeaway}"

    def wanted(self, question: Question) -> str:
        return "the number of a line"

    def example(self, question: Question) -> str:
        return "1"


class Order:
    """A guess is the letters of the lines that are used, in order: "dabc"."""

    def read(self, question: Question, guess: object) -> str:
        text = text_of(guess).strip()
        if set(text) <= set(question.shown["lines"]) and len(set(text)) == len(text):
            return text
        return ""

    def is_right(self, question: Question, guess: str) -> bool:
        return outcome_of(question, guess)["isGood"]

    def reply(self, question: Question, guess: str) -> str:
        outcome = outcome_of(question, guess)
        facts = "; ".join(outcome["facts"]).removesuffix(".")
        said = f"Your order: {outcome['says']} {facts}."
        if outcome["isGood"]:
            said = f"{said} {question.takeaway}"
        return said

    def wanted(self, question: Question) -> str:
        lines = "; ".join(f"{letter}: {line}" for letter, line in question.shown["lines"].items())
        return f"the letters of the lines you'd use, in order ({lines})"

    def example(self, question: Question) -> str:
        return f'"{"".join(question.shown["lines"])}"'


def outcome_of(question: Question, letters: str) -> dict:
    """Return what an order does, as it was found when it was run."""
    return question.told["outcomes"][question.told["of"][letters]]


class Explain:
    """A guess is a sentence or two. Nobody grades it."""

    def read(self, question: Question, guess: object) -> str:
        text = " ".join(text_of(guess).split())
        if len(text) < FEW:
            return ""
        return text[:MANY]

    def is_right(self, question: Question, guess: str) -> bool:
        return True

    def reply(self, question: Question, guess: str) -> str:
        points = "; ".join(question.told["points"])
        return f"A good answer: {question.told['good']} Did you say this? {points}"

    def wanted(self, question: Question) -> str:
        return f"a sentence or two, of at least {FEW} letters"

    def example(self, question: Question) -> str:
        return '"Because …"'


def lines_of(question: Question) -> list[str]:
    """Return the numbered lines of a program, lines to be ordered below what stands first, or the
    titles of cards; none where a question has only its text.
    """
    shown = question.shown
    if question.kind == "draw":
        return [card["title"] for card in shown["cards"]]
    if question.kind == "find_line":
        return [f"{number:>2}  {line}" for number, line in enumerate(shown["lines"], start=1)]
    if question.kind == "order":
        return [*shown["head"], *(f"{letter}   {line}" for letter, line in shown["lines"].items())]
    return []


def kind_of(question: Question) -> Choose | Number | Draw | FindLine | Order | Explain:
    """Return what reads and judges the guesses of a question."""
    return KINDS[question.kind]


KINDS = {
    "choose": Choose(),
    "number": Number(),
    "draw": Draw(),
    "find_line": FindLine(),
    "order": Order(),
    "explain": Explain(),
}
