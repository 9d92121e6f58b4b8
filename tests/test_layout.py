"""Layout gets numbers and gives numbers; what would take long is refused before Graphviz is asked."""

from importlib.metadata import PackageNotFoundError, distribution

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograd_graphs import show, step_through
from autograd_graphs.drawing import layout
from autograd_graphs.drawing.layout import MOST_WORK, lay_out, work

EIGHT = [(0, 1), (0, 2), (1, 4), (1, 5), (2, 3), (2, 6), (3, 7), (3, 7)]


def test_inputs_read_left_to_right_and_parallel_edges_are_apart():
    placed = lay_out([(96, 34)] * 8, EIGHT, dict.fromkeys(range(8), (40, 16)))
    assert placed.curves[6] != placed.curves[7]
    assert placed.centres[4][0] < placed.centres[5][0]
    assert placed.centres[3][0] < placed.centres[6][0]
    assert len(placed.labels) == 8


@st.composite
def dags(draw):
    boxes = draw(st.integers(1, 30))
    pairs = st.tuples(st.integers(0, boxes - 1), st.integers(0, boxes - 1)).filter(
        lambda p: p[0] < p[1]
    )
    edges = draw(st.lists(pairs, max_size=50)) if boxes > 1 else []
    labels = draw(st.sets(st.integers(0, max(len(edges) - 1, 0)))) if edges else set()
    return boxes, edges, dict.fromkeys(labels, (40, 20))


@given(dags())
@settings(deadline=None, max_examples=60)
def test_boxes_never_overlap_and_arrows_go_down(dag):
    boxes, edges, labels = dag
    placed = lay_out([(60, 30)] * boxes, edges, labels)
    assert len(placed.curves) == len(edges)
    for tail, head in edges:
        assert placed.centres[tail][1] < placed.centres[head][1]
    for i in range(boxes):
        for j in range(i):
            (x, y), (u, v) = placed.centres[i], placed.centres[j]
            assert abs(x - u) >= 59 or abs(y - v) >= 29


def test_too_much_work_is_refused_with_a_sentence():
    chain = [(i, i + 1) for i in range(99)]
    long = [(i, 99) for i in range(98)]
    assert work(100, chain + long) > MOST_WORK
    with pytest.raises(ValueError, match="Leave boxes out"):
        lay_out([(50, 20)] * 100, chain + long)


@pytest.fixture
def without_package(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(layout, "distribution", missing)
    layout._program.cache_clear()
    yield monkeypatch
    layout._program.cache_clear()


@pytest.mark.parametrize("dot", [None, "/nowhere/dot"])
def test_where_no_program_runs_a_picture_is_a_sentence_and_the_text(without_package, dot):
    without_package.setattr(layout.shutil, "which", lambda name: dot)
    x = torch.tensor(3.0, requires_grad=True)
    picture = show(x * x)
    assert picture.text.startswith("There's no picture")
    assert "apt-get install graphviz" in picture.text
    for form in (picture.text, picture._repr_mimebundle_()[0]["text/html"]):
        assert "MulBackward0" in form
    assert "no program that lays out graphs" in picture.svg
    steps = step_through(x * x)
    assert steps.text.startswith("There's no picture")
    assert x.grad == 6
    assert "AccumulateGrad" in steps.text


def test_without_the_package_the_dot_of_the_system_is_taken(without_package):
    dot = next(file for file in distribution("graphviz-pure").files if file.stem == "graphviz-pure")
    without_package.setattr(layout.shutil, "which", lambda name: name == "dot" and dot.locate())
    assert lay_out([(60, 30)] * 2, [(0, 1)]).centres[0][1] < 30
