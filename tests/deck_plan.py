"""What the decks say of the time and the paper that a lesson takes, idea by idea. Needs no browser."""

import re
from functools import cache
from pathlib import Path

from course.publishing.deck import slides_of
from course.publishing.faces import Faces
from course.publishing.naming import title_of
from course.publishing.prepare import prepared
from course.publishing.slides import Flow, Lab, Round, Table
from course.publishing.source import read

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
IDEA = re.compile(r"(\d) · ")


@cache
def slides(lesson):
    """Return the slides of a lesson, by its number."""
    made = prepared(read(next(NOTEBOOKS.glob(f"{lesson}_*.ipynb"))), notes=True)
    return slides_of(
        made, Faces(NOTEBOOKS, language=made.metadata.language_info.pygments_lexer), title_of(made)
    )


def part_of(slide, before):
    """Return which part of a lesson a slide belongs to: "3" for idea 3, "case", "lab", "quiz" for
    that of 00 and of 11, "" for none. A slide without a part of its own goes on with the one before.
    """
    idea = IDEA.match(slide.title)
    if slide.title.startswith("The case"):
        return "case"
    if slide.title.startswith(("Four questions", "Then and now")):
        return "quiz"
    if isinstance(slide, Lab):
        return "lab"
    if idea:
        return idea[1]
    return "" if isinstance(slide, (Flow, Table)) else before


@cache
def seconds(lesson):
    """Return {part: [seconds of its first question, of its second, …]}; what goes on from a question
    belongs to it.
    """
    found, part = {}, ""
    for slide in slides(lesson):
        before, part = part, part_of(slide, part)
        asks = isinstance(slide, Lab) or (isinstance(slide, Round) and slide.is_question)
        if part and (asks or (part == "case" != before)):
            found.setdefault(part, []).append(slide.seconds)
        elif part in found:
            found[part][-1] += slide.seconds
    return found


def question_pages(lesson):
    """Return how many pages the sheet of questions has: two slides a page, rounds, labs and tables
    that are no reason of a round.
    """
    asked, count = set(), 0
    for slide in slides(lesson):
        is_round = isinstance(slide, Round) and slide.is_question
        is_table = isinstance(slide, Table) and slide.cell not in asked
        count += is_round or isinstance(slide, Lab) or is_table
        asked.add(slide.cell)
    return -(-count // 2)
