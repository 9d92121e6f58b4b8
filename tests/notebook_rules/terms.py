"""Rules about words: none is used before the course has said what it means.

Reads tests/first_use.toml and autograd_graphs/diagnosing/terms.toml.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from helpers.predicting.round_text import FENCE
from notebook_rules.lesson import Cell
from notebook_rules.rounds import rounds

ROOT = Path(__file__).resolve().parent.parent.parent
EMPHASIS = re.compile(r"\*\*.+?\*\*|(?<!\*)\*[^*\n]+\*(?!\*)", re.S)
CODE = re.compile(r"`[^`]*`")
HEADINGS = re.compile(r"^#+ .*$", re.M)
READ_LATER = ("title", "recap", "notes", "exercise")  # and looks ahead, or back


@dataclass(frozen=True)
class Term:
    """A word, the lesson that says what it means, and the id of the cell, "" to find that."""

    name: str
    lesson: str
    pattern: re.Pattern
    cell: str = ""

    @property
    def is_code(self) -> bool:
        return self.name.startswith("`")


def terms_of(table, entries) -> list[Term]:
    """Return the terms of a table; the entries of the glossary say in which lesson each is earned."""
    lessons = {entry["name"]: entry["lesson"] for entry in entries}
    found = []
    for row in table:
        lesson = row.get("lesson", lessons[row["name"]])
        pattern = re.compile(row["pattern"], re.I)
        found.append(Term(row["name"], lesson, pattern, row.get("cell", "")))
    return found


def _read(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["term"]


TERMS = terms_of(_read("tests/first_use.toml"), _read("autograd_graphs/diagnosing/terms.toml"))


def too_early(lesson, terms):
    """Yield a sentence for each term that is used before its definition: where it is used first."""
    for term in terms:
        uses = [cell for cell in _before_definition(lesson, term) if _uses(cell, term)]
        for cell in uses[:1]:
            word = term.pattern.search(_text(cell))[0]
            yield f"{cell} says {word!r}, which {_where(lesson, term)} defines: {_remedy(lesson, term)}."


def _remedy(lesson, term):
    if lesson.number == term.lesson:
        return "use other words, or say what it means in bold, here or before"
    return (
        f"use other words, say here what it means, in bold or italics, or name lesson {term.lesson}"
    )


def _uses(cell, term):
    return term.pattern.search(_text(cell)) and not _looks_ahead(cell, term)


def _looks_ahead(cell, term):
    """Tell whether a cell sends its reader to the lesson of a term."""
    return re.search(rf"lessons? [\d, and]*{term.lesson}\b|\({term.lesson}_", cell.source)


def _before_definition(lesson, term) -> list[Cell]:
    """Return the cells that a student reads before the term is defined; none after that lesson."""
    if lesson.number > term.lesson:
        return []
    read = [cell for cell in lesson.cells if _is_read(cell)]
    defined = definition(lesson, term)
    if defined is None:
        return read
    begins = _asked_in(lesson, defined) if term.is_code else defined
    return [cell for cell in read if cell.number < begins.number]


def _asked_in(lesson, because) -> Cell:
    """Return the question that a because answers; any other cell itself."""
    for round_ in rounds(lesson):
        if because in round_.cells:
            return round_.first
    return because


def _is_read(cell):
    """Tell whether a student reads a cell as it comes; a question of the quiz asks about lessons to
    come.
    """
    return not cell.is_code and cell.role not in READ_LATER and "settled" not in cell.course


def _text(cell):
    """Return what a cell says, without code blocks and headings, which may name what is to come;
    stars in code are no emphasis.
    """
    text = HEADINGS.sub("", FENCE.sub("", cell.source))
    return CODE.sub(lambda code: code[0].replace("*", " "), text)


def _where(lesson, term):
    if lesson.number != term.lesson:
        return f"lesson {term.lesson}"
    return str(definition(lesson, term) or "no cell of this lesson")


def definition(lesson, term) -> Cell | None:
    """Return the cell of a lesson that says first what a term means; in bold or italics that may be
    a lesson before the one that earns it.
    """
    earned = lesson.number == term.lesson
    for cell in lesson.cells:
        if earned and term.cell:
            if cell.id == term.cell:
                return cell
        elif _is_read(cell) and _defines(cell, term, earned):
            return cell
    return None


def _defines(cell, term, earned):
    """Tell whether a cell has a term in bold or italics, or is a because that has it."""
    text = _text(cell)
    whole = earned and cell.role == "because"
    return any(
        term.pattern.search(place) for place in ([text] if whole else EMPHASIS.findall(text))
    )


def undefined(lesson, terms):
    """Yield a sentence for each term that is to be earned in this lesson, and is not."""
    for term in terms:
        if term.lesson == lesson.number and definition(lesson, term) is None:
            yield (
                f"it does not define {term.name}, as tests/first_use.toml or the glossary says it does: say what it means"
                " in a because, or set it in bold where it is said."
            )


def words_come_after_their_definition(lesson):
    """Nobody has to know a word that comes later."""
    yield from too_early(lesson, TERMS)


def words_of_the_lesson_are_defined(lesson):
    """What the glossary says a lesson defines is defined there."""
    yield from undefined(lesson, TERMS)


RULES = (words_come_after_their_definition, words_of_the_lesson_are_defined)
