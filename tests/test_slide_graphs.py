"""A graph stands beside its picture as data, and a slide draws it anew; what is no graph is left alone."""

import json

import pytest
import torch
from hypothesis import given, settings
from programs import programs

from autograd_graphs import show
from autograd_graphs.drawing.diagram import for_slide
from autograd_graphs.stored import GRAPH, graph_from, written
from course.publishing.slide_graphs import READABLE, best, slide_graph, times


def bundle(tensor, **more):
    return show(tensor, **more)._repr_mimebundle_()


def two_leaves():
    a, b = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    return (a * b + a).sqrt()


@settings(deadline=None, max_examples=20)
@given(programs())
def test_a_stored_graph_is_read_as_it_was(program):
    graph = show(*program.run()).folded
    assert graph_from(written(graph)) == graph


def test_a_large_graph_is_not_stored():
    x = torch.ones(1, requires_grad=True)
    for _ in range(60):
        x = x * 2
    assert bundle(x, unfold=True)[1] == {}
    assert set(bundle(two_leaves())[1]) == {GRAPH}


DAMAGED = {
    "no JSON": "{",
    "a list": "[]",
    "a number for a name": '{"nodes":[{"operation":1,"outputs":[]}],"edges":[],"roots":[]}',
    "an edge to nowhere": '{"nodes":[],"edges":[{"source":0,"position":0,"target":9}],"roots":[]}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_graph_leaves_the_stored_picture(text):
    assert slide_graph(text, "alt") == ""


def test_names_stay_text():
    x = torch.ones(1, requires_grad=True)
    evil = '"><script>alert(1)</script>'
    _, metadata = bundle(x * 2, names={evil: x})
    drawn = slide_graph(metadata[GRAPH], evil)
    assert "<script" not in drawn
    assert "&lt;script&gt;" in drawn


def test_a_small_graph_lies_on_its_side_with_words_that_can_be_read():
    drawn = best(graph_from(bundle(two_leaves())[1][GRAPH]))
    assert drawn.width > drawn.height
    assert times(drawn) >= READABLE
    assert json.loads(written(show(two_leaves()).folded))["roots"]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_each_wire_begins_and_ends_at_a_card_in_rows_that_are_shorter(rows):
    linear = torch.nn.Linear(4, 1)
    graph = show(
        (linear(torch.ones(3, 4)) ** 2).mean(), names={"w": linear.weight, "the.bias": linear.bias}
    ).folded
    drawn = for_slide(graph, rows)
    assert drawn.width < 1.5 * for_slide(graph).width / rows
    marks = drawn.marks
    boxes = [mark.at for mark in marks if mark.part == "body"]
    wires = [mark.at for mark in marks if mark.role == "edge"]
    assert len(wires) == len(graph.edges)
    for x, y in [at[:2] for at in wires] + [at[-2:] for at in wires]:
        assert any(
            left - 1 <= x <= left + wide + 1 and top - 1 <= y <= top + high + 1
            for left, top, wide, high, _ in boxes
        )
