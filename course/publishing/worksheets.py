"""Make sheets to work on of a notebook: graphs to draw and to fill in, and tables of a walk; one HTML
each, ready to print.

What is to be found out by the reader stands nowhere in them.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from autograd_graphs.data import Graph
from autograd_graphs.drawing.cards import GRAD
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.display_list import LEGEND, Mark
from autograd_graphs.drawing.svg import document
from course.publishing import assets
from course.publishing.cell_renderer import TAG
from course.publishing.slides import Lab, Round, Slide
from course.publishing.walks import table

TEMPLATES = Path(__file__).parent / "templates" / "paper"
KINDS = ("graphs", "chain-rule")
ABOVE = 10  # px between a graph and the legend below it that stay
LEAST_ARROWS = 2  # a graph of one arrow is no exercise
MADE = re.compile(r"^\s*[\w, ]+ = ", re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """What is to be done for one slide: its title, set-up and code, and `room`, HTML to write in."""

    title: str
    lead: str
    code: str
    room: str


def made(title: str, slides: list[Slide]) -> dict[str, str]:
    """Return the sheets of these slides by kind: graphs to draw, tables of a backward."""
    tasks: dict[str, list[Task]] = {kind: [] for kind in KINDS}
    for slide in slides:
        if not isinstance(slide, Lab) and not getattr(slide, "is_question", False):
            continue
        graph = slide.result.graph
        if graph and len(graph.edges) >= LEAST_ARROWS and MADE.search(TAG.sub("", slide.code)):
            tasks["graphs"].append(task(slide, emptied(graph)))
        if slide.result.turns:
            tasks["chain-rule"].append(task(slide, table(slide.result.turns, filled=False)))
    return {kind: sheet(kind, title, some) for kind, some in tasks.items() if some}


def task(slide: Round | Lab, room: str) -> Task:
    return Task(slide.title, slide.lead, slide.code, room)


def emptied(graph: Graph) -> str:
    """Return the picture of a graph without its words and its legend, which is in words, too."""
    drawn = drawing(graph)
    marks, high = [], drawn.height
    for mark in drawn.marks:
        if mark.owner == LEGEND:
            high = min(high, mark.at[1] - ABOVE)
        elif mark.shape != "text" or written_in(mark) == GRAD:
            marks.append(mark)
    svg = document(drawn.width, high, marks)
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'


def written_in(mark: Mark) -> str:
    return "".join(text for text, _ in mark.runs)


def sheet(kind: str, title: str, tasks: list[Task]) -> str:
    styles = [assets.reading(), (TEMPLATES / "worksheet.css").read_text(encoding="utf-8")]
    template = assets.environment(TEMPLATES).get_template(f"{kind}.html.j2")
    return template.render(title=title, policy=assets.NOTHING, styles=styles, tasks=tasks)
