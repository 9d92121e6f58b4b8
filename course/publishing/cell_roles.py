"""Know the rounds of a lesson: what each cell is for, and what is seen only after the guess."""

from __future__ import annotations

import ast
import re
from html import escape

from nbformat import NotebookNode
from nbformat.v4 import new_output

from helpers.predicting.prediction import ASKED
from helpers.predicting.questions import Question, question

ROLES = {"title", "setup", "case", "question", "guess", "run", "because", "notes"}
ROLES |= {"lab", "try", "exercise", "stub", "text", "return", "recap", "index"}
# A round ends where one of these stands.
ENDS = ("title", "case", "question", "lab", "text", "return", "exercise", "recap")
ID = re.compile(r"[a-z0-9]{1,8}\.[a-z0-9]{1,8}")
SENTENCES = {"caption": 300, "ask": 90}  # characters at most
STORED = ("graph",)  # what `make refresh` stores for a slide
MOST_MINUTES = 60
CALLS = ("predict", "draw", "find_line", "order", "explain")
SLIDE = dict.fromkeys(
    ("skip", "title", "lead", "ask", "takeaway", "graph", "question", "presses", "part", "grey"),
    str,
)
SLIDE |= dict.fromkeys(("options", "asked", "answers", "lanes", "chart", "lines"), list)
SUMMARY = re.compile(r"(<summary>Why\?) Open it when you have run the cell(?=</summary>)")
PICTURE = re.compile(r"""<img((?:\s+[\w-]+(?:="[^"]*")?)*)\s*/?>""")
ALT = re.compile(r'\s+alt(?:="[^"]*")?(?=\s|\Z)')
CODE = re.compile(r"`([^`]+)`")


def course_of(cell: NotebookNode) -> NotebookNode:
    """Return what a cell says of its place in the course, where that is well formed; no answers."""
    said, kept = cell.metadata.get("course"), NotebookNode()
    if not isinstance(said, dict):
        return kept
    role, name, minutes = said.get("role"), said.get("id"), said.get("minutes")
    if isinstance(role, str) and role in ROLES:
        kept.role = role
    if isinstance(name, str) and ID.fullmatch(name):
        kept.id = name
    kept |= {key: said[key] for key in STORED if isinstance(said.get(key), str)}
    for key, most in SENTENCES.items():
        words = said.get(key)
        if isinstance(words, str) and 0 < len(words) <= most:
            kept[key] = " ".join(words.split())
    own = said.get("slide")
    if isinstance(own, dict):
        worded = {key: own[key] for key, kind in SLIDE.items() if is_worded(own.get(key), kind)}
        kept.slide = NotebookNode(worded)
    if type(minutes) in (int, float) and 0 < minutes <= MOST_MINUTES:
        kept.minutes = minutes
    return kept


def is_worded(words: object, kind: type) -> bool:
    """Tell whether this is a text, or a list of texts of which none is empty, as `kind` says."""
    if isinstance(words, list) and kind is list:
        return all(isinstance(text, str) and text for text in words)
    return isinstance(words, str) and kind is str


def question_of(output: NotebookNode) -> Question | None:
    """Return the question that an output of `predict` asks; None where it is no question of ours."""
    name = output.get("data", {}).get(ASKED)
    return question(name) if isinstance(name, str) else None


def asked_in(cell: NotebookNode) -> Question | None:
    """Return the first question that a cell asks, None where it asks none."""
    return next(filter(None, map(question_of, cell.get("outputs", ()))), None)


def mark(cells: list[NotebookNode]) -> None:
    """Note on the cells of each round which question's guess they, or their outputs, wait for."""
    waits_for, has_reason = "", False
    for cell in cells:
        role = cell.metadata.course.get("role")
        asked = asked_in(cell)
        if asked:
            cell.metadata.asks = asked.id
            waits_for, has_reason = ("" if asked.settled else asked.id), False
        elif role in ENDS and (role != "text" or cell.source.lstrip().startswith("#")):
            waits_for = ""
        elif waits_for and (role == "because" or (has_reason and role != "notes")):
            cell.metadata.cell_after, has_reason = waits_for, True
        elif waits_for and cell.cell_type == "code":
            cell.metadata.outputs_after = waits_for


def for_readers(cell: NotebookNode) -> None:
    """Leave out of a page the call that asks, and of a fold when to run the cell."""
    if "asks" in cell.metadata and only_asks(cell.source):
        cell.metadata.tags.append("remove-input")  # as Sphinx knows it
    if cell.metadata.course.get("role") == "because":
        cell.source = SUMMARY.sub(r"\1", cell.source)


def only_asks(source: str) -> bool:
    """Tell whether a cell holds one call that asks, and nothing else."""
    try:
        lines = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    if len(lines) != 1 or not isinstance(lines[0], ast.Expr):
        return False
    call = lines[0].value
    return isinstance(call, ast.Call) and ast.unparse(call.func) in CALLS


def with_caption(outputs: list[NotebookNode], caption: str) -> None:
    """Give the first picture among the outputs of a cell its alternative text."""
    for output in outputs:
        page = output.get("data", {}).get("text/html", "")
        picture = PICTURE.search(page)
        if picture:
            alt = escape(caption.replace("`", ""))
            image = f'<img alt="{alt}"{ALT.sub("", picture[1])}>'
            output.data["text/html"] = page[: picture.start()] + image + page[picture.end() :]
            return


def caption_below(caption: str) -> NotebookNode:
    words = CODE.sub(r"<code>\1</code>", escape(caption, quote=False))
    data = {"text/plain": caption, "text/html": f'<p class="run-caption">{words}</p>'}
    return new_output("display_data", data=data)
