"""Say what of a deck does not fit its slides: a browser measures, as it will on the wall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from course.publishing import chromium
from course.publishing.notebook_file import Unpublishable

REMEDIES = {
    "title": "shorten its heading",
    "setup": "shorten the text before **Predict.**",
    "takeaway": "shorten the bold sentence of its reason",
    "ask": "shorten what stands after **Predict.**, or the code above it",
    "votes": "shorten its options",
    "cards": "shorten the questions of the lab, or their answers",
    "asked": "shorten a question of the lab, or its answer",
    "code": "shorten the code, or what it prints",
    "output": "let the code print less",
    "picture": "draw less in one picture",
    "player": "step through less at once: words in it are under 20 px",
    "table": "take rows out of the table, or words",
    "flow": "split it into two slides, or let its code print less",
    "wide": "show fewer columns",
    "empty": "let its slide name a graph, a chart or lanes, or tell something first",
    "heading": "give its first cell a heading",
    "notes": "write a cell with the role or slide type of notes",
}
LACKS = {
    "empty": "has an empty half",
    "heading": "has no heading",
    "notes": "has a step without notes",
}


@dataclass(frozen=True)
class Unfit:
    """One slide that is too full, or lacks something; it is so many screens `tall` and `wide`."""

    number: int
    cell: str
    what: tuple[str, ...]
    tall: float = 0
    wide: float = 0

    def __str__(self) -> str:
        sizes = {"tall": self.tall, "wide": self.wide}
        sides = [f"{size} screens {side}" for side, size in sizes.items() if size > 1]
        is_how = []
        if sides:
            is_how.append(f"is {' and '.join(sides)} and scrolls")
        elif set(self.what) - set(LACKS):
            is_how.append("is too full")
        is_how += [words for trouble, words in LACKS.items() if trouble in self.what]
        remedies = "; ".join(REMEDIES.get(trouble, "make it shorter") for trouble in self.what)
        return f"slide {self.number} ({self.cell}) {' and '.join(is_how)}: {remedies}."


def unfit(deck: Path, program: str, places: Mapping[str, str]) -> list[Unfit]:
    """Return the slides of a deck that are too full, or lack a heading or notes; `places` says of an id how to find its cell.

    Raises Unpublishable where the browser fails.
    """
    address = f"{deck.resolve().as_uri()}?handout=check"
    # On a busy machine Chromium sometimes hands the page over before its scripts are done.
    tries = (Sections(chromium.page_after_scripts(program, address)).slides for _ in range(3))
    slides = next(filter(None, tries), None)
    if not slides:
        unseen = f"I couldn't see whether all of {deck} fits"
        raise Unpublishable(f"{unseen}: {program} showed no slide of it. Try --no-check.")
    too_full = []
    for number, slide in enumerate(slides, start=1):
        if troubles(slide):
            cell = slide.get("data-cell", "")
            where = places.get(cell, f"cell {cell}")
            tall, wide = (float(slide.get(f"data-{side}") or 0) for side in ("tall", "wide"))
            too_full.append(Unfit(number, where, tuple(troubles(slide)), tall, wide))
    return too_full


def troubles(slide: dict[str, str]) -> list[str]:
    """Return what fit.js could not fit; the slide itself only where nothing else says why."""
    noted = slide.get("data-trouble", "").split()
    return [trouble for trouble in noted if trouble in REMEDIES] or noted


class Sections(HTMLParser):
    """Collects the attributes of the slides of a deck."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.slides: list[dict[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "section" and "data-fitted" in named:
            self.slides.append(named)
