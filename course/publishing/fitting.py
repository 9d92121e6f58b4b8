"""Say what of a deck does not fit its slides: a browser measures, as it will on the wall."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from course.publishing import chromium
from course.publishing.source import Unpublishable

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
    "table": "take rows out of the table, or words",
    "flow": "split it into two slides",
}


@dataclass(frozen=True)
class Unfit:
    """One slide that is too full: its number, the cell it was made from, what does not fit."""

    number: int
    cell: str
    what: tuple[str, ...]
    screens: str = ""

    def __str__(self) -> str:
        tall = f"is {self.screens} screens tall and scrolls" if self.screens else "is too full"
        remedies = "; ".join(REMEDIES.get(one, "make it shorter") for one in self.what)
        return f"slide {self.number} (cell {self.cell}) {tall}: {remedies}."


def unfit(deck: Path, program: str) -> list[Unfit]:
    """Return the slides of a deck that are too full. Raises Unpublishable where the browser fails."""
    page = chromium.page_after_scripts(program, f"{deck.resolve().as_uri()}?handout=check")
    slides = Sections(page).found
    if not slides:
        raise Unpublishable(
            f"Whether all of {deck} fits could not be seen: {program} showed no slide of it. Try --no-check."
        )
    return [
        Unfit(number, slide["data-cell"], tuple(what), slide.get("data-screens", ""))
        for number, slide in enumerate(slides, start=1)
        if (what := troubles(slide))
    ]


def troubles(slide: dict[str, str]) -> list[str]:
    """Return what fit.js could not fit; the slide itself only where nothing else says why."""
    noted = slide.get("data-trouble", "").split()
    return [one for one in noted if one in REMEDIES] or noted


class Sections(HTMLParser):
    """Collects the attributes of the slides of a deck."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "section" and "data-fitted" in named:
            self.found.append(named)
