"""Say of each slide of a lesson which part it belongs to, and cut a deck down to some of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from course.publishing.slides import Opening, Round, Slide
from course.routes import Pause

DONE = re.compile(r"(\d\d\.\d+) \((\d+)\)")  # an exercise in a plan, and its minutes
UNTIL = '<time data-minutes="{0}" data-until="{1}">{2} {0} minutes</time>'
LEADS_ON = "<p>→ or a click leads on.</p>"
LETTERS = ("", *"abcdefgh")  # none before the first question of a part


@dataclass(frozen=True)
class Stretch:
    """What is shown of one lesson in one go: its parts, its minutes, the pauses after it, and where the
    slides lead then: to what, when and how long, and its address.

    A part is "case", "1" for all of part 1, "1a" for its first question, "lab" or "quiz".
    """

    parts: tuple[str, ...]
    minutes: int
    pauses: tuple[Pause, ...] = ()
    then: str = ""
    when: str = ""
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
    """Return the slides of a stretch, one for each pause after it, and one that leads on."""
    pairs = zip(slides, parts_of(slides), strict=True)
    kept = [slide for slide, part in pairs if is_in(part, stretch.parts)]
    kept += map(paused, stretch.pauses)
    if stretch.then:
        link = f'<a class="onward" href="{stretch.address}">{stretch.then}</a>'
        kept.append(Opening(link, "next", (LEADS_ON,), f"Next · {stretch.when}"))
    return kept


def paused(pause: Pause) -> Slide:
    """Return the slide of a pause: until when it is, and what to do in it. The browser reckons the time
    from when it is shown, for a break is as long as planned, even if it begins late.
    """
    words = ("In pairs, until", "In pairs, for") if pause.do else ("Back at", "Back in")
    title = UNTIL.format(pause.minutes, *words)
    goals = tuple(
        f"<em>{name}</em> · {minutes} minutes" for name, minutes in DONE.findall(pause.do)
    )
    return Opening(title, "pause", (f"<p>{pause}</p>",), pause.what, goals=goals)
