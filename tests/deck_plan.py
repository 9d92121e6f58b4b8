"""What the decks say of the time and the paper that a lesson takes, idea by idea. Needs no browser."""

from functools import cache
from pathlib import Path

from course.publishing.deck import slides_in
from course.publishing.notebook_file import read_run
from course.publishing.slides import Lab, Recap, Round, Table
from course.publishing.stretches import parts_of

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


@cache
def slides(lesson):
    """Return the slides of a lesson, by its number."""
    return slides_in(read_run(next(NOTEBOOKS.glob(f"{lesson}_*.ipynb"))), NOTEBOOKS)[1]


@cache
def seconds(lesson):
    """Return {part: [seconds of each question]}; the case with its repair is "case"."""
    found = {}
    for slide, part in zip(slides(lesson), parts_of(slides(lesson)), strict=True):
        if part[:1].isdigit():
            idea = found.setdefault(part[0], {})
            idea[part] = idea.get(part, 0) + slide.seconds
        elif part.startswith("case"):
            case = found.setdefault("case", {})
            case[part] = case.get(part, 0) + slide.seconds
        elif part in ("lab", "quiz") and (part == "lab" or isinstance(slide, Round)):
            name = part if part == "lab" else slide.cell
            times = found.setdefault(part, {})
            times[name] = times.get(name, 0) + slide.seconds
    return {part: list(times.values()) for part, times in found.items()}


def question_pages(lesson):
    """Return how many pages the sheet of questions has, two slides on each."""
    asked, count = set(), 0
    for slide in slides(lesson):
        is_round = isinstance(slide, Round) and slide.is_question
        is_table = (
            isinstance(slide, Table)
            and not isinstance(slide, Recap)
            and slide.steps > 1
            and slide.cell not in asked
        )
        count += is_round or isinstance(slide, Lab) or is_table
        asked.add(slide.cell)
    return -(-count // 2)
