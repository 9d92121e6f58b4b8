"""Draw the graph that the program of a title, a case or a round leaves.

The author names the tensors in the metadata, `slide.graph`; the graph is stored in the metadata
of the cell that runs.
"""

import json
import warnings
from contextlib import redirect_stdout
from io import StringIO

from autograd_graphs.stored import written
from course.publishing.cell_roles import ENDS
from helpers.predicting.from_notebook import CannotBeAsked, questions_in
from helpers.predicting.program_outcomes import cured, in_this_order, ran, undisturbed

MODULES = "import torch\nfrom torch import nn\n"


def store_graphs(lesson, notebook):
    """Store in each cell that runs the graph that its slide asks for, and take away any other."""
    asked = questions_in(lesson.node.cells)
    before = [cell.source for cell in lesson.code if cell.role == "setup"]
    stored = title_graph(lesson)
    for first, run in first_runs(lesson):
        programs = programs_of(asked.get(first.course.get("id"), {}), run, before)
        own = first.course.get("slide", {})
        if first.role == "case":
            before = programs
        if "graph" in own:
            stored[run.id] = {"graph": graph_of(programs, own["graph"], first)}
    for cell in notebook.cells:
        said = cell.metadata.get("course", {})
        said.pop("graph", None)
        said.update(stored.get(cell["id"], {}))


def title_graph(lesson):
    """Return the graph on the title slide: the last line of its small program names the tensors."""
    title = lesson.cells[0]
    *lines, wanted = title.course.get("slide", {}).get("graph", "").split("\n")
    if not wanted:
        return {}
    return {title.id: {"graph": graph_of([MODULES, "\n".join(lines)], wanted, title)}}


def first_runs(lesson):
    """Yield the first cell of each case and round, and the cell that runs."""
    first = None
    for cell in lesson.cells:
        if cell.role in ENDS:
            first = cell
        elif cell.role == "run" and first:
            yield first, cell
            first = None


def programs_of(question, run, before):
    """Return what is run for a cell: mended, in the right order, or as its lines stand."""
    kind, shown = question.get("kind"), question.get("shown")
    if kind == "find_line":
        return [MODULES, cured("\n".join(shown["lines"]), question["told"]["mend"])]
    if kind == "order":
        return [MODULES, question["told"]["before"], in_this_order(shown, question["right"])]
    return [*before, run.source]


def graph_of(programs, wanted, first):
    """Run programs, which may raise, and return the graph of the tensors that are wanted."""
    names = {"__name__": "program"}
    with undisturbed(), warnings.catch_warnings(action="ignore"), redirect_stdout(StringIO()):
        for program in programs:
            ran(program, names)
        failed, _ = ran(f"from autograd_graphs import show\n_picture = show({wanted})", names)
    if failed:
        raise CannotBeAsked(f"{first}: show({wanted}), for its slide, says {failed}")
    graph = json.loads(written(names["_picture"].folded), parse_float=rounded)
    return json.dumps(graph, ensure_ascii=False, separators=(",", ":"))


def rounded(number):
    """Return a number of a graph as it is stored: the last digits are those of one kind of machine."""
    return float(f"{float(number):.5g}")
