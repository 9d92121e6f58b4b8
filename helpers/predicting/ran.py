"""Know which cells have run in this kernel, and tell whoever waits for one.

Listens to IPython's events `pre_run_cell` and `post_run_cell`, and to nothing else. A cell is known
by its id. Where a front end gives other ids, or none, the cell of the question itself has another
id than ours: there the code of a cell tells which one it is.
"""

from collections.abc import Callable
from typing import Any

from autograd_graphs.data import Graph
from autograd_graphs.looking.cells import shell_here
from autograd_graphs.picture import Picture
from helpers.predicting.from_notebook import digest
from helpers.predicting.questions import Question

_cells: set[str] = set()
_codes: set[str] = set()
_graphs: dict[str, Graph] = {}  # what cells drew last, by the id of a cell and by its digest
_waiting: dict[str, Callable[[], None]] = {}  # the id of a question → what to call after each run
_listening: list[object] = []  # the shell that tells
_running: list[str] = [""]  # the id of the cell that runs now


def listen() -> None:
    """Take down from now on what runs; a second call changes nothing."""
    shell = shell_here()
    if shell is None or shell in _listening:
        return
    _listening[:] = [shell]
    shell.events.register("pre_run_cell", _before)
    shell.events.register("post_run_cell", _after)


def call_after_runs(question: Question, look: Callable[[], None]) -> None:
    """Call `look` after every run of a cell; a later call for the same question takes its place."""
    _waiting[question.id] = look


def has_run(question: Question, asked_in: str) -> bool:
    """Tell whether the cell that answers a question has run; cell `asked_in` asked it."""
    if asked_in == question.cell:
        return question.run in _cells
    return bool(question.code) and question.code in _codes


def graph_of(question: Question, cell: str) -> Graph | None:
    """Return the graph that the cell which answers a question drew last; None where it drew none."""
    return _graphs.get(question.run if cell == question.cell else question.code)


def running_cell() -> str:
    """Return the id of the cell that runs now, "" where the front end gives none."""
    return _running[0]


def _before(info: Any) -> None:
    _running[0] = getattr(info, "cell_id", None) or ""


def _after(result: Any) -> None:
    if result.error_before_exec is not None:  # it did not run: a slip in its text
        return
    cell, code = getattr(result.info, "cell_id", None) or "", digest(result.info.raw_cell or "")
    _cells.add(cell)
    _codes.add(code)
    if type(result.result) is Picture:  # plain data: keeping it keeps no tensor alive
        _graphs[cell] = _graphs[code] = result.result.graph
    for look in list(_waiting.values()):
        look()
