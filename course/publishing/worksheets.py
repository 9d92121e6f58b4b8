"""Make sheets to work on of a notebook: graphs to draw and to fill in, and tables of a walk; one HTML
each, ready to print.

What is to be found out by the reader stands nowhere in them.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from course.publishing import assets
from course.publishing.slides import Lab, Round, Slide
from course.publishing.walks import table

TEMPLATES = Path(__file__).parent / "templates" / "paper"
DRAWING = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
OURS = "<title>Backward graph of "
TOLD = re.compile(r"<(title|desc)>.*?</\1>\s*", re.DOTALL)
FRAME = re.compile(r'<rect x="0" y="0"[^>]*/>\s*')
WORDS = re.compile(r"<text\b[^>]*>(?!\.grad</text>).*?</text>\s*", re.DOTALL)
KINDS = ("graphs", "chain-rule")
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


def made(title: str, slides: list[Slide]) -> dict[str, str]:
    """Return the sheets of these slides by kind: graphs to draw, tables of a backward."""
    tasks: dict[str, list[Task]] = {kind: [] for kind in KINDS}
    for slide in slides:
        if not isinstance(slide, Lab) and not getattr(slide, "is_question", False):
            continue
        graph = emptied(slide)
        if graph:
            tasks["graphs"].append(task(slide, graph))
        if slide.result.turns:
            tasks["chain-rule"].append(task(slide, table(slide.result.turns, filled=False)))
    return {kind: sheet(kind, title, some) for kind, some in tasks.items() if some}


def task(slide: Round | Lab, room: str) -> Task:
    return Task(slide.title, slide.lead, slide.code, room)


def emptied(slide: Round | Lab) -> str:
    """Return the drawing of a slide without its words; "" where its code alone does not tell it."""
    drawing = DRAWING.search(slide.result.stored)
    if not drawing or not MADE.search(TAG.sub("", slide.code)):
        return ""
    svg = base64.b64decode(drawing[1]).decode()
    if OURS not in svg or svg.count("<polygon") < LEAST_ARROWS:
        return ""
    for gone in (TOLD, WORDS, FRAME):
        svg = gone.sub("", svg)
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}">'


def sheet(kind: str, title: str, tasks: list[Task]) -> str:
    styles = [assets.reading(), (TEMPLATES / "worksheet.css").read_text(encoding="utf-8")]
    template = assets.environment(TEMPLATES).get_template(f"{kind}.html.j2")
    return template.render(title=title, policy=assets.NOTHING, styles=styles, tasks=tasks)
