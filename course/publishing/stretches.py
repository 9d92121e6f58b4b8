"""Say of each slide of a lesson which part it belongs to, and cut a deck down to some of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course.publishing.slides import Flow, Lab, Opening, Round, Slide, Table

IDEA = re.compile(r"(\d) · ")
QUIZ = ("A flag", "Then and now")  # its first slide in lesson 00, and that of lesson 11
LETTERS = ("", *"abcdefgh")  # none before the first question of an idea


@dataclass(frozen=True)
class Stretch:
    """What is shown of one lesson in one go: its parts, its minutes, and where the slides lead then.

    A part is "case", "1" for all of idea 1, "1a" for its first question, "lab" or "quiz".
    """

    parts: tuple[str, ...]
    minutes: int
    then: str = ""
    address: str = ""


def parts_of(slides: Iterable[Slide]) -> list[str]:
    """Return the part of each slide; what goes on from a question belongs to it. "" is the rest."""
    parts: list[str] = []
    part, count, title = "", 0, ""
    for slide in slides:
        new = part_of(slide, part, title)
        if new != part or (IDEA.match(slide.title) and slide.title != title):
            part, count = new, 0
        if isinstance(slide, Round) and slide.is_question and part.isdigit():
            count += 1
        parts.append(part + LETTERS[count])
        title = slide.title
    return parts


def part_of(slide: Slide, before: str, title: str) -> str:
    """Return the part that a slide begins, or the one `before` it that it goes on with."""
    idea = IDEA.match(slide.title)
    if isinstance(slide, Opening):
        return "opening"
    if slide.title.startswith(QUIZ):
        return "quiz"
    if isinstance(slide, Lab):
        return "lab"
    if slide.title.startswith("The case") or before == "opening":
        return "case"
    if idea:
        return idea[1]
    if isinstance(slide, Flow | Table) and slide.title != title:
        return ""
    return before


def is_in(part: str, wanted: Iterable[str]) -> bool:
    """Tell whether a part is among those that are wanted; "1" wants "1a" and "1b"."""
    return part == "opening" or (part != "" and part.startswith(tuple(wanted)))


def cut_to(slides: Sequence[Slide], stretch: Stretch) -> list[Slide]:
    """Return the slides of a stretch, and one at the end that leads on."""
    pairs = zip(slides, parts_of(slides), strict=True)
    kept = [slide for slide, part in pairs if is_in(part, stretch.parts)]
    if stretch.then:
        link = f'<div class="words"><p><a href="{stretch.address}">{stretch.then}</a></p></div>'
        notes = ("<p>Enter, or a click, leads on.</p>",)
        kept.append(Flow("Next", "next", notes, parts=((link, 0, "next"),)))
    return kept
