"""Make a deck of a notebook: one HTML file that works from disk."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Template
from nbformat import NotebookNode

from course.publishing import assets
from course.publishing.cell_renderer import TAG, CellRenderer
from course.publishing.lesson_slides import lesson_slides
from course.publishing.notebook_file import NoSlides, title_of
from course.publishing.plain_slides import plain_slides
from course.publishing.prepare import prepared
from course.publishing.slides import AGAIN, Round, Slide
from course.publishing.stretches import Stretch, cut_to

TEMPLATES = Path(__file__).parent / "templates" / "deck"
ALL_SKIPPED = (
    "Every cell of this notebook is either skipped or a note. Give one the slide type “Slide”."
)


def deck(
    notebook: NotebookNode, folder: Path, *, trust=False, live=False, stretch: Stretch | None = None
) -> str:
    """Return a deck with speaker notes; pictures of text cells are looked for in `folder`.

    A `live` one talks to the server that it came from, which runs its code; of a `stretch` only its
    parts are shown. Raises NoSlides where nothing is left to show.
    """
    title, slides = slides_in(notebook, folder, trust=trust)
    minutes = 0  # what the slides reckon with
    if stretch:
        slides, minutes = cut_to(slides, stretch), stretch.minutes
    return html_of(title, slides, minutes, "live" if live else "deck", trust)


def slides_in(notebook: NotebookNode, folder: Path, *, trust=False) -> tuple[str, list[Slide]]:
    """Return what a notebook is called, and its slides. Raises NoSlides."""
    made = prepared(notebook, notes=True, trust=trust)
    if made.cells and made.cells[0].metadata.course.get("role") == "index":
        raise NoSlides("This notebook is for browsing, and has no slides. Publish it as a page.")
    title, language = title_of(made), made.metadata.language_info.pygments_lexer
    slides = slides_of(made, CellRenderer(folder, trust=trust, language=language), title)
    if not slides:
        raise NoSlides(ALL_SKIPPED)
    return title, slides


def html_of(title: str, slides: list[Slide], minutes: int, kind="deck", trust=False) -> str:
    shown = {"slides": slides, "asked": asked(slides), "minutes": minutes, "title": title}
    shown["again"] = AGAIN
    carried = {"styles": assets.styles(kind), "scripts": assets.scripts(kind)}
    return template().render(policy=assets.policy(kind, trust), **shown, **carried)


def template() -> Template:
    templates = assets.environment(TEMPLATES)
    templates.filters["plain"] = plain
    return templates.get_template("deck.html.j2")


def slides_of(notebook: NotebookNode, renderer: CellRenderer, title: str) -> list[Slide]:
    """Return the slides of a prepared notebook, a lesson's by the roles of its cells."""
    if any("role" in cell.metadata.course for cell in notebook.cells):
        return lesson_slides(notebook.cells, renderer)
    return plain_slides(notebook.cells, renderer, title)


def asked(slides: list[Slide]) -> dict[str, int]:
    """Return the number of each slide that asks for a guess, by its cell."""
    asking = [slide for slide in slides if isinstance(slide, Round) and slide.is_question]
    return {slide.cell: number for number, slide in enumerate(asking, start=1)}


def plain(html: str) -> str:
    """Return the words of a line of HTML, for a label; signs stay written as entities."""
    return TAG.sub("", html).replace('"', "&quot;").strip()
