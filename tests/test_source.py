"""The program above the graph: which source lines made it, and where in them each node was made.
Never a wrong highlight.
"""

import contextlib
import io
import json
import linecache
import os
import re
import traceback
from pathlib import Path

import pytest
import source_programs
from IPython.display import display

import autograd_graphs.looking.cells
import autograd_graphs.looking.source
import autograd_graphs.recording.record
from autograd_graphs import step_through
from autograd_graphs.recording.record import record
from course.workspace import is_claim

LESSONS = sorted((Path(__file__).parent.parent / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SEEDS = int(os.environ.get("RANDOM_PROGRAMS", "600"))  # 25,000 were run once
PORTION = 300
LEAST = 0.8


def program(*texts):
    """Run cells, and return the program of the last one's trace, and the trace."""
    trace = source_programs.run(["import torch\nfrom helpers import module_calls", *texts])["trace"]
    return trace.program, trace


def told(*texts):
    """Return (operation, expression, operator) of every node of which a place is known."""
    found, trace = program(*texts)
    if found is None:
        return []
    rows = []
    for node, span in found.spans:
        line = found.lines[span.line]
        words = line[span.start : span.stop], line[span.op_start : span.op_stop]
        rows.append((trace.graph.nodes[node].operation, *(("", "") if span.start < 0 else words)))
    return [row for row in rows if row[0] != "AccumulateGrad"]


ABC = "a, b, c = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1 - a", ("RsubBackward1", "1 - a", "-")),
        ("a.sin()", ("SinBackward0", "a.sin()", "sin")),
        ("(a)[None]", ("UnsqueezeBackward0", "(a)[None]", "[None]")),
        ("W.T", ("PermuteBackward0", "W.T", "T")),
        ("W @ v", ("MvBackward0", "W @ v", "@")),
        ("loss_of(v, t)", ("MseLossBackward0", "loss_of(v, t)", "loss_of")),
    ],
)
def test_operations_are_known(line, expected):
    more = "v, W = torch.rand(2, requires_grad=True), torch.rand(2, 2, requires_grad=True)\nt = torch.rand(2)\nloss_of = torch.nn.MSELoss()"
    assert told(f"{ABC}\n{more}\ne = {line}\ntrace = record(e.sum())")[1:] == [expected]


def test_what_a_name_held_counts_only_where_all_below_is_certain():
    assert told(ABC, "def f(x):\n    return x * 2", "y = f(a).sin()\ntrace = record(y)") == []
    kept = "h = f(a)\ny = h.sin()\ntrace = record(y)"
    assert told(ABC, "def f(x):\n    return x * 2", kept) == [("SinBackward0", "h.sin()", "sin")]


def test_an_edit_in_place_is_never_taken_for_the_expression():
    assert told(ABC, "y = a * b\ny *= c\ntrace = record(y)") == []
    assert told(ABC, "def g(t):\n    t.mul_(2)", "y = a * b\ng(y)\ntrace = record(y)") == []


def test_where_ipython_tells_which_cells_failed_the_others_count(monkeypatch):
    cells = ABC, "y = a * b", "raise RuntimeError\ny = a *b", "y = a*b", "trace = record(y)"
    assert told(*cells) == []
    monkeypatch.setattr(autograd_graphs.looking.source, "failures", lambda: {4})
    assert told(*cells) == [("MulBackward0", "a*b", "*")]


def test_a_source_that_was_edited_since_does_not_count():
    name, ran = "<ipython-edited>", f"import torch\n{ABC}\ny = a * b\ntrace = record(y)"
    edited = ran.replace("a * b", "b * c")
    linecache.cache[name] = len(edited), None, edited.splitlines(True), name
    space = {"record": record}
    exec(compile(ran, name, "exec"), space)
    assert space["trace"].program is None


def test_a_long_line_is_cut_and_spans_past_the_cut_are_dropped():
    found, _ = program(ABC, f"y = a.sin() + {'b' + ' * 1' * 40}\ntrace = record(y)")
    assert len(found.lines[0]) == 100
    assert found.lines[0].endswith("…")
    assert found.spans
    assert all(span.stop < 100 for _, span in found.spans)


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("begin", range(0, SEEDS, PORTION))
def test_no_highlight_of_a_random_program_is_wrong(begin):
    known = 0
    for seed in range(begin, begin + PORTION):
        texts = source_programs.random_cells(seed)
        trace = source_programs.recorded(texts)
        if trace is None or trace.program is None:
            continue
        makers, called = source_programs.truth(texts)
        assert {node: operation for node, (operation, _) in makers.items()} == {
            node: one.operation for node, one in enumerate(trace.graph.nodes) if not one.is_leaf
        }
        assert list(source_programs.mistakes(trace, makers, called)) == [], seed
        known += len(trace.program.spans)
    assert known > PORTION


@pytest.fixture
def traces(monkeypatch):
    """Collect (graph, program) of all that is stepped through; a picture shows no program."""
    found, real = [], autograd_graphs.recording.record.program_of

    def watched(frame, graph, *given):
        program = real(frame, graph, *given)
        if any(called.f_code is STEPPED for called, _ in traceback.walk_stack(None)):
            found.append((graph, program))
        return program

    monkeypatch.setattr(autograd_graphs.recording.record, "program_of", watched)
    return found


STEPPED = step_through.__code__
STEPS = re.compile(r"\bstep_through\(\w")  # as a lesson calls it


def run_lesson(path, monkeypatch):
    """Run the cells that students have as IPython does: their sources known, those before in `In`, and
    those that failed.
    """
    failed = set()
    for module in (autograd_graphs.looking.cells, autograd_graphs.looking.source):
        monkeypatch.setattr(module, "failures", lambda: failed)
    space = {"__name__": "__main__", "display": display, "In": [""]}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code" or is_claim(cell):
            continue
        source, name = "".join(cell["source"]), f"<ipython-{path.stem}-{cell['id']}>"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        space["In"].append(source)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                exec(compile(source, name, "exec"), space)
            except Exception:
                failed.add(len(space["In"]) - 1)


@pytest.mark.notebooks
def test_most_steps_of_the_lessons_have_a_highlight(traces, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for path in [path for path in LESSONS if STEPS.search(path.read_text(encoding="utf-8"))]:
        before = len(traces)
        run_lesson(path, monkeypatch)
        assert any(len(graph.nodes) > 2 for graph, _ in traces[before:]), f"{path.name}: no step"
    steps = known = 0
    for graph, found in traces:
        operations = [number for number, node in enumerate(graph.nodes) if not node.is_leaf]
        spans = [found and dict(found.spans).get(number) for number in operations]
        steps += len(spans)
        known += sum(span is not None and span.start >= 0 for span in spans)
    assert known >= LEAST * steps > 0
