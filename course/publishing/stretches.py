"""Say of each slide of a lesson which part it belongs to, and cut a deck down to some of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course.publishing.slides import Flow, Round, Slide

LETTERS = ("", *"abcdefgh")  # none before the first question of a part


@dataclass(frozen=True)
class Stretch:
    """What is shown of one lesson in one go: its parts, its minutes, and where the slides lead then.

    A part is "case", "1" for all of part 1, "1a" for its first question, "lab" or "quiz".
    """

    parts: tuple[str, ...]
    minutes: int
    then: str = ""
    address: str = ""


def parts_of(slides: Iterable[Slide]) -> list[str]:
    """Return the part of each slide, with a letter from its first question on; "" is the rest."""
    parts: list[str] = []
    counts: Counter[str] = Counter()
    for slide in slides:
        if isinstance(slide, Round) and slide.is_question and slide.part.isdigit():
            counts[slide.part] += 1
        parts.append(slide.part + LETTERS[counts[slide.part]])
    return parts


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
