"""Lay the cells of a prepared notebook out as slides: which cell begins one, what it is called,
where notes go.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

from nbformat import NotebookNode

from course.publishing.rounds import unfolded
from course.publishing.source import NoSlides

HEADING = re.compile(r"(#{1,3})\s+(.+)")
SIGNS = re.compile(
    r"`+([^`]+)`+|\*|(?<!\w)_|_(?!\w)|<[^>]*>"
)  # what Markdown means; in code a sign is a sign
BEGINS = ("slide", "subslide")


def laid_out(notebook: NotebookNode) -> NotebookNode:
    """Return a prepared notebook as slides: skipped cells gone, rounds in steps, notes first on
    their slide, every slide named.

    Without slide types a slide begins at each heading. Raises NoSlides where nothing is left to
    show.
    """
    cells = [cell for cell in notebook.cells if cell.metadata.slideshow.slide_type != "skip"]
    if not any(cell.metadata.slideshow.slide_type for cell in cells):
        for cell in cells:
            cell.metadata.slideshow.slide_type = by_heading(cell)
    slides = share_notes(list(split(in_steps(cells))))
    if not slides:
        raise NoSlides(
            "Every cell of this notebook is skipped or a note. Give one cell the slide type “Slide”."
        )
    for number, slide in enumerate(slides, start=1):
        slide[0].metadata.update(place=f"Slide {number} of {len(slides)}", label=name(slide[0]))
    notebook.cells = [cell for slide in slides for cell in slide]
    return notebook


def by_heading(cell: NotebookNode) -> str:
    """Return the slide type of a cell in a notebook that has none."""
    heading = HEADING.match(cell.source) if cell.cell_type == "markdown" else None
    return "" if not heading else "slide" if len(heading[1]) < 3 else "subslide"


def in_steps(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells as they come in a room, where guesses are made by hand: a question and its
    code, then what ran, then the reason. The last two begin a slide, or come on one by a key.
    """
    made: list[NotebookNode] = []
    asked = 0  # where the code of the question goes
    for cell in cells:
        if "asks" in cell.metadata or role(cell) == "guess":
            asked = len(made)
            continue
        if role(cell) in ("run", "because") and not cell.metadata.slideshow.slide_type:
            cell.metadata.slideshow.slide_type = "subslide"
        if asked and role(cell) == "run":
            made.insert(asked, code_of(cell))
        if role(cell) == "because":
            cell.source = unfolded(cell.source)
        asked = 0
        made.append(cell)
    return made


def code_of(cell: NotebookNode) -> NotebookNode:
    """Return what a cell runs, without what came of it."""
    made = copy.deepcopy(cell)
    made.id, made.outputs = f"{cell.id[:59]}-code", []
    made.metadata.slideshow.slide_type = ""
    return made


def role(cell: NotebookNode) -> str:
    return cell.metadata.course.get("role", "")


def share_notes(slides: list[list[NotebookNode]]) -> list[list[NotebookNode]]:
    """Give all slides of a round, or of a lab, its notes: they say what to do before the cell runs."""
    rounds: list[list[list[NotebookNode]]] = []
    for slide in slides:
        goes_on = role(slide[0]) in ("run", "because") and rounds
        if not goes_on:
            rounds.append([])
        rounds[-1].append(slide)
    return [slide for one in rounds for slide in with_all_notes(one)]


def with_all_notes(slides: list[list[NotebookNode]]) -> Iterator[list[NotebookNode]]:
    """Yield the slides of a round, each with the notes of all of them."""
    notes = [cell for slide in slides for cell in slide if is_note(cell)]
    for number, slide in enumerate(slides):
        own = [cell for cell in slide[1:] if not is_note(cell)]
        yield [slide[0], *(copy_of(note, number) for note in notes), *own]


def copy_of(note: NotebookNode, number: int) -> NotebookNode:
    """Return a note for one more slide; no two cells may have one id."""
    made = copy.deepcopy(note)
    if number:
        made.id = f"{note.id[:60]}-{number}"
    return made


def is_note(cell: NotebookNode) -> bool:
    return cell.metadata.slideshow.slide_type == "notes"


def split(cells: list[NotebookNode]) -> Iterator[list[NotebookNode]]:
    """Yield the cells of each slide and subslide, its notes right after the first."""
    shown: list[NotebookNode] = []
    notes: list[NotebookNode] = []
    for cell in cells:
        kind = cell.metadata.slideshow.slide_type
        if kind in BEGINS and shown:
            yield [shown[0], *notes, *shown[1:]]
            shown, notes = [], []
        (notes if kind == "notes" else shown).append(cell)
    if shown:
        yield [shown[0], *notes, *shown[1:]]


def name(cell: NotebookNode) -> str:
    """Return what a slide is called: its heading, or how it begins."""
    heading = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
    said = heading[2] if heading else cell.source.strip().split("\n")[0]
    if cell.cell_type == "markdown":
        said = SIGNS.sub(lambda found: found[1] or "", said)
    return said.strip()[:80] or "slide"
