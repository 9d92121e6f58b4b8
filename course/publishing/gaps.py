"""Say of the slides of a lesson what a room would miss: an answer, or words that were written for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from course.publishing.cell_renderer import TAG, Cells
from course.publishing.slides import Round, Slide

WORDS = ("lead", "ask", "takeaway")
MARKS = re.compile(r"\W+")
SIGHT = r"(?:picture|plot|table|cell|program|graph|code)"
ELSEWHERE = re.compile(rf"\b(?:{SIGHT} (?:above|below)|comes? below|first {SIGHT}|scroll)\b", re.I)


def gaps(cells: Cells, slides: Sequence[Slide]) -> Iterator[str]:
    """Yield a sentence on each question without its answer, each one that leads off its slide, and on
    all words of a cell for slides that none of them shows.
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
    shown = plain(" ".join(map(str, map(vars, slides))))
    for cell in cells:
        course = cell.metadata.course
        own = {"ask": course.get("ask", "")} | course.get("slide", {})
        for name in WORDS:
            if "skip" not in own and plain(own.get(name, "")) not in shown:
                yield f"cell {cell.id}: its {name} for slides stands on none of them. Take it out."


def plain(words: str) -> str:
    """Return words without marks of HTML and Markdown, to be looked for."""
    return MARKS.sub("", unescape(TAG.sub("", words)).replace("\\n", " ").replace("\\'", "'"))
