"""Say of the slides of a lesson what a room would miss: an answer, or words that were written for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from course.publishing.cell_renderer import TAG, Cells
from course.publishing.lesson_slides import EXERCISE
from course.publishing.slides import Round, Slide

WORDS = ("lead", "ask", "takeaway")
MARKS = re.compile(r"\W+")
SIGHT = r"(?:picture|plot|table|cell|program|graph|code)"
ELSEWHERE = re.compile(rf"\b(?:{SIGHT} (?:above|below)|comes? below|first {SIGHT}|scroll)\b", re.I)


def gaps(cells: Cells, slides: Sequence[Slide]) -> Iterator[str]:
    """Yield a sentence on each question without its answer, each one that leads off its slide, and on
    what stands on none of them.
    """
    for number, slide in enumerate(slides, start=1):
        if not isinstance(slide, Round):
            continue
        where = f"slide {number} (cell {slide.cell})"
        if slide.ask and (slide.result.html or slide.is_question) and not slide.takeaway:
            yield f"{where} asks, and its band never answers: give it a takeaway."
        away = ELSEWHERE.search(TAG.sub("", f"{slide.lead} {slide.ask}"))
        if away:
            yield f"{where} speaks of something {away[0]!r}, where nothing is: say what it is."
    yield from unseen(cells, slides)


def unseen(cells: Cells, slides: Sequence[Slide]) -> Iterator[str]:
    """Yield a sentence on each exercise, and on all words of a cell for slides, that no slide shows."""
    shown = plain(" ".join(map(str, map(vars, slides))))
    for cell in cells:
        course = cell.metadata.course
        if course.get("role") == "exercise" and not EXERCISE.search(cell.source):
            begin = "**NN.M** · its kind · 5 minutes."
            yield f"cell {cell.id}: its exercise stands on no slide. Begin it with {begin}"
        own = {"ask": course.get("ask", "")} | course.get("slide", {})
        for name in WORDS:
            lines = map(plain, own.get(name, "").split("\n"))  # a recap brings them one by one
            if "skip" not in own and not all(line in shown for line in lines):
                yield f"cell {cell.id}: its {name} for slides stands on none of them. Take it out."


def plain(words: str) -> str:
    """Return words without marks of HTML and Markdown, to be looked for."""
    return MARKS.sub("", unescape(TAG.sub("", words)).replace("\\n", " ").replace("\\'", "'"))
