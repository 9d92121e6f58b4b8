"""Make sheets to work on of a notebook: graphs to draw and to fill in, and tables of a walk; one HTML
each, ready to print.

What is to be found out by the reader stands nowhere in them.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from course.publishing import assets
from course.publishing.deck import slides_of
from course.publishing.faces import Faces
from course.publishing.naming import title_of
from course.publishing.prepare import prepared
from course.publishing.slides import Lab, Round, Slide
from course.publishing.templating import environment
from course.publishing.walks import table

TEMPLATES = Path(__file__).parent / "templates" / "paper"
DRAWING = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
OURS = "<title>Backward graph of "
TOLD = re.compile(r"<(title|desc)>.*?</\1>\s*", re.DOTALL)
FRAME = re.compile(r'<rect x="0" y="0"[^>]*/>\s*')
WORDS = re.compile(r"<text\b[^>]*>(?!\.grad</text>).*?</text>\s*", re.DOTALL)
LEAST_ARROWS = 2  # a graph of one arrow is no exercise
MADE = re.compile(r"^\s*[\w, ]+ = ", re.MULTILINE)
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Task:
    """What is to be done for one slide: its title, set-up and code, and `room`, HTML to write in."""

    title: str
    lead: str
    code: str
    room: str


def made(notebook: NotebookNode, folder: Path) -> dict[str, str]:
    """Return the sheets of a notebook by kind, where it shows graphs, or steps through a backward."""
    slides, title = asking(notebook, folder), title_of(notebook)
    tasks = {kind: tasks_of(slides) for kind, tasks_of in KINDS.items()}
    return {kind: sheet(kind, title, some) for kind, some in tasks.items() if some}


def graphs(slides: list[Round | Lab]) -> list[Task]:
    """Return a graph to draw for each slide that shows one."""
    return [task(slide, blank) for slide in slides if (blank := emptied(slide))]


def walks(slides: list[Round | Lab]) -> list[Task]:
    """Return a table to fill in for each slide that steps through a backward."""
    found = [slide for slide in slides if slide.result.turns]
    return [task(slide, table(slide.result.turns, filled=False)) for slide in found]


KINDS = {"graphs": graphs, "chain-rule": walks}


def asking(notebook: NotebookNode, folder: Path) -> list[Round | Lab]:
    """Return the slides of a notebook that ask something: what goes on from one tells its answer."""
    made = prepared(notebook, notes=False)
    language = made.metadata.language_info.pygments_lexer
    faces = Faces(folder, language=language, redraws=False)
    slides: list[Slide] = slides_of(made, faces, title_of(made))
    return [
        slide
        for slide in slides
        if isinstance(slide, Lab) or (isinstance(slide, Round) and slide.is_question)
    ]


def task(slide: Round | Lab, room: str) -> Task:
    return Task(slide.title, slide.lead, slide.code, room)


def emptied(slide: Round | Lab) -> str:
    """Return the drawing of a slide without its words; "" where it has none that one can draw from
    its code alone.
    """
    found = DRAWING.search(slide.result.html)
    if not found or not MADE.search(TAG.sub("", slide.code)):
        return ""
    svg = base64.b64decode(found[1]).decode()
    if OURS not in svg or svg.count("<polygon") < LEAST_ARROWS:
        return ""
    for gone in (TOLD, WORDS, FRAME):
        svg = gone.sub("", svg)
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'


def sheet(kind: str, title: str, tasks: list[Task]) -> str:
    style = (TEMPLATES / "worksheet.css").read_text(encoding="utf-8")
    return (
        environment(TEMPLATES)
        .get_template(f"{kind}.html.j2")
        .render(
            title=title,
            policy=assets.NOTHING,
            styles=[assets.reading(), style],
            tasks=tasks,
        )
    )
