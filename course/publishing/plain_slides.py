"""Make slides of any notebook: by its slide types, else by its headings and by what fits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from nbformat import NotebookNode

from course.publishing.cell_renderer import CellRenderer, Cells, split_heading
from course.publishing.portions import portioned
from course.publishing.slides import Flow, Opening, Slide

BEGINS = ("slide", "subslide")
NO_BLOCK = r"(?![-+*]\s|[>#|<!`~$]|\d+[.)])"  # a line of plain words
TITLE = re.compile(rf"#\s+[^\n]+(?:\n+{NO_BLOCK}[^\n]+(?:\n{NO_BLOCK}[^\n]+){{0,3}})?")
PICTURE = re.compile(r'<div class="pic"><(?:img|svg) ')
GOALS = range(3, 8)  # so many headings, the title's among them, have room on a title
NO_NOTES = "<p>No notes on this slide.</p>"


def plain_slides(cells: Cells, renderer: CellRenderer, name: str) -> list[Slide]:
    """Return the slides of a notebook called `name`; a title is carried on until the next heading."""
    cells = [cell for cell in cells if slide_type(cell) != "skip" and "asks" not in cell.metadata]
    if not any(slide_type(cell) in BEGINS for cell in cells):
        cells = portioned(cells)
    made: list[Slide] = []
    headings: list[str] = []
    title, times = renderer.line(name), 0
    for group in grouped(cells):
        heading, _ = split_heading(of_room(group)[0])
        times += 1
        if heading:
            title, times = renderer.line(heading), 1
            headings.append(title)
        shown = title if times < 2 else f"{title} ({times})"
        if not made and is_opening(group):
            made.append(opening(group, renderer, shown))
        else:
            made.append(flow(group, renderer, shown))
    if made and isinstance(made[0], Opening) and len(headings) in GOALS:
        made[0] = replace(made[0], goals=tuple(headings[1:]))
    return made


def slide_type(cell: NotebookNode) -> str:
    return cell.metadata.slideshow.slide_type


def of_room(group: Cells) -> Cells:
    return [cell for cell in group if slide_type(cell) != "notes"]


def grouped(cells: Cells) -> Iterator[Cells]:
    """Yield the cells of each slide and subslide; none of notes alone."""
    group: Cells = []
    for cell in cells:
        if slide_type(cell) in BEGINS and of_room(group):
            yield group
            group = []
        group.append(cell)
    if of_room(group):
        yield group


def is_opening(group: Cells) -> bool:
    """Tell whether a slide is a title: a first-level heading and at most a short paragraph."""
    cells = of_room(group)
    words = cells[0].source.strip()
    return len(cells) == 1 and cells[0].cell_type == "markdown" and bool(TITLE.fullmatch(words))


def opening(group: Cells, renderer: CellRenderer, title: str) -> Slide:
    (cell,) = of_room(group)
    _, lead = split_heading(cell)
    return Opening(title, cell.id, (spoken(group, renderer),), lead=renderer.line(lead.strip()))


def spoken(group: Cells, renderer: CellRenderer) -> str:
    notes = [cell for cell in group if slide_type(cell) == "notes"]
    return renderer.texts(notes) or NO_NOTES


def flow(group: Cells, renderer: CellRenderer, title: str) -> Slide:
    """Return one slide: its heading is its title; a fragment comes with a key, and so does each picture of
    an output, once more and large.
    """
    shown = of_room(group)
    parts, large, step, last = [], [], 0, 0
    for cell in shown:
        source = cell.source
        if cell is shown[0]:
            _, source = split_heading(cell)
        if slide_type(cell) == "fragment":
            step = last = last + 1
        if source.strip() or cell.cell_type == "code":
            html = renderer.cell(cell, source)
            parts.append((html, step, cell.id))
            for _ in PICTURE.findall(html):
                last += 1
                large.append(last)
    notes = (spoken(group, renderer),) * (last + 1)
    return Flow(title, shown[0].id, notes, parts=tuple(parts), large=tuple(large))
