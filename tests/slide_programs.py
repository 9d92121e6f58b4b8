"""Draw the graph that the program of a case or a round leaves, for the slide that shows it last.

The author names the tensors in the metadata of the case or question, `slide.graph`; the graph is
stored in the metadata of the cell that runs.
"""

import json
import warnings
from contextlib import redirect_stdout
from io import StringIO

from computed import CannotBeAsked
from questions import path_of

from autograd_graphs.stored import written
from course.publishing.lesson_slides import CHECKED
from course.publishing.rounds import ENDS
from helpers.exercises.exercise import find
from helpers.predicting.programs import cured, in_this_order, ran, undisturbed

MODULES = "import torch\nfrom torch import nn\n"


def store_graphs(lesson, notebook):
    """Store in each cell that runs the graph that its slide asks for, and take away any other."""
    path = path_of(lesson.number)
    asked = json.loads(path.read_text("utf-8")) if path.exists() else {}
    before = [cell.source for cell in lesson.code if cell.role == "setup"]
    graphs = {}
    for first, run in first_runs(lesson):
        programs = programs_of(asked.get(first.course.get("id"), {}), run, before)
        wanted = first.course.get("slide", {}).get("graph")
        if first.role == "case":
            before = programs
        if wanted:
            graphs[run.id] = graph_of(programs, wanted, first)
    for cell in notebook.cells:
        said = cell.metadata.get("course", {})
        said.pop("graph", None)
        if cell["id"] in graphs:
            said["graph"] = graphs[cell["id"]]


def first_runs(lesson):
    """Yield the first cell of each case, round and exercise, and the cell that runs or is solved."""
    first = None
    for cell in lesson.cells:
        if cell.role in ENDS:
            first = cell
        elif cell.role in ("run", "stub") and first:
            yield first, cell
            first = None


def programs_of(question, run, before):
    """Return what is run for a cell: mended, in the right order, solved, or as its lines stand."""
    kind, shown = question.get("kind"), question.get("shown")
    if kind == "find_line":
        return [MODULES, cured("\n".join(shown["lines"]), question["told"]["mend"])]
    if kind == "order":
        return [MODULES, question["told"]["before"], in_this_order(shown, question["right"])]
    solved = CHECKED.search(run.source)
    return [*before, find(solved[1]).solution if solved else run.source]


def graph_of(programs, wanted, first):
    """Run programs, which may raise, and return the graph of the tensors that are wanted."""
    names = {"__name__": "program"}
    with undisturbed(), warnings.catch_warnings(action="ignore"), redirect_stdout(StringIO()):
        for program in programs:
            ran(program, names)
        failed, _ = ran(f"from autograd_graphs import show\n_picture = show({wanted})", names)
    if failed:
        raise CannotBeAsked(f"{first}: show({wanted}), for its slide, says {failed}")
    return written(names["_picture"].folded)
