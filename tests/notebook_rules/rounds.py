"""The rounds of a lesson as data: questions, runs and reasons, labs too, read from cells with roles.

A round begins at a cell with the role `question` or `lab`; cells with one of the other roles in
`OF_A_ROUND` belong to it, until a cell begins another round or has any other role. Nothing is
judged here: what is missing is empty, what is too much is kept.
"""

import ast
import re
from dataclasses import dataclass, field

from notebook_rules.lesson import Cell

SUMMARY = "Why? Open it when you have run the cell"
BEGINS = ("question", "lab")
OF_A_ROUND = ("guess", "run", "because", "notes", "text", "try")

HEADING = re.compile(r"\s*(#{2,3}) +(.+)\n?")
PREDICT = "**Predict.**"
OPTION = re.compile(r"^- \(([a-z])\) *(.*(?:\n {2,}\S.*)*)$", re.M)
NUMBERED = re.compile(r"^(\d+)\. +(.*(?:\n {2,}\S.*)*)$", re.M)
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
TABLE = re.compile(r"(?:^\|.*\n?)+", re.M)
FOLD = re.compile(r"<details><summary>([^<]*)</summary>\n(.*)\n</details>\s*", re.S)
TAKEAWAY = re.compile(r"\s*\*\*((?:`[^`]*`|[^`])+?)\*\*", re.S)  # stars in code end nothing
MARKUP = re.compile(r"<[^>]*>|\]\([^)]*\)")
NUMBER = r"[-−+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?"
VALUES = re.compile(rf"^- ({NUMBER}(?:, {NUMBER})*): +(.*(?:\n {{2,}}\S.*)*)$", re.M)


@dataclass
class Question:
    """What stands in the cell of a question, or of a lab: there `asks` are its numbered questions."""

    level: str = ""  # "##" or "###"
    title: str = ""
    set_up: str = ""
    ask: str = ""
    options: dict[str, str] = field(default_factory=dict)
    letters: list[str] = field(default_factory=list)  # of the options as they come, twins included
    asks: list[str] = field(default_factory=list)  # the labels "1", "2" …


@dataclass
class Reason:
    """What stands in a because: the words of the fold, its takeaway, a line for each wrong answer."""

    summary: str = ""
    body: str = ""
    takeaway: str = ""
    letters: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)  # "27, 9" for a question without letters
    numbers: list[str] = field(default_factory=list)  # the labels of a lab's answers
    lines: list[str] = field(default_factory=list)  # what is said of wrong letters and values


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
    found, current = [], None
    for cell in lesson.cells:
        if cell.role in BEGINS:
            current = Round([cell], question(cell.source))
            found.append(current)
        elif cell.role not in OF_A_ROUND or _begins_a_part(cell):
            current = None
        elif current is not None:
            current.cells.append(cell)
    return found


def asked(lesson) -> list[Round]:
    """Return the rounds that ask for a guess: all but the labs."""
    return [round_ for round_ in rounds(lesson) if not round_.is_lab]


def questions(lesson) -> list[Round]:
    """Return the rounds that ask for a guess and answer it."""
    return [round_ for round_ in asked(lesson) if not round_.is_settled_later]


def quiz(lesson) -> list[Round]:
    """Return the questions of the quiz, which other lessons answer."""
    return [round_ for round_ in asked(lesson) if round_.is_settled_later]


def _begins_a_part(cell):
    """Tell whether a text with a heading of its own stands here, such as a map of the lessons."""
    return cell.role == "text" and cell.source.lstrip().startswith("## ")


def question(text) -> Question:
    """Read the text of a question, or of a lab."""
    made = Question()
    heading = HEADING.match(text)
    if heading:
        made.level, made.title = heading[1], heading[2].strip()
        text = text[heading.end() :]
    found = OPTION.findall(text)
    made.letters = [letter for letter, _ in found]
    made.options = {letter: " ".join(words.split()) for letter, words in found}
    made.asks = [label for label, _ in NUMBERED.findall(text)]
    for pattern in (OPTION, NUMBERED, FENCE, TABLE):
        text = pattern.sub("", text)
    set_up, _, ask = text.partition(PREDICT)
    made.set_up, made.ask = " ".join(set_up.split()), " ".join(ask.split())
    return made


def reason(text) -> Reason:
    """Read the text of a because; all is empty where the whole of it is not one fold."""
    fold = FOLD.fullmatch(text.strip())
    if not fold:
        return Reason()
    body = fold[2]
    takeaway = TAKEAWAY.match(body)
    letters, values = OPTION.findall(body), VALUES.findall(body)
    return Reason(
        summary=fold[1],
        body=body.strip(),
        takeaway=" ".join(takeaway[1].split()) if takeaway else "",
        letters=[letter for letter, _ in letters],
        values=[value for value, _ in values],
        numbers=[label for label, _ in NUMBERED.findall(body)],
        lines=[" ".join(words.split()) for _, words in [*letters, *values]],
    )


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
