"""Frames around opened module calls: what is in them, and that nothing else is."""

import big_models
import pytest
import torch
from hypothesis import given
from made_up_graphs import calls
from programs import often
from torch import nn

from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.drawing.frames import Rect
from autograd_graphs.large.fold import Folding, fold
from helpers import module_calls, show


def classifier():
    torch.manual_seed(0)
    body = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(8)])
    model = nn.Sequential(body, nn.Linear(4, 3))
    with module_calls(model) as taken:
        loss = (model(torch.ones(2, 4)) ** 2).mean()
    return loss, taken


def frames_drawn(drawn):
    """Return the frames of a picture by name, as rectangles."""
    marks = [mark.at for mark in drawn.marks if mark.role == "frame"]
    names = [mark.runs[0][0] for mark in drawn.marks if mark.role == "framed"]
    found = {}
    for name, (x, y, wide, high, _) in zip(names, marks, strict=True):
        found[name] = Rect(x, y, x + wide, y + high)
    return found


def bodies(drawn):
    """Return the node and the rectangle of every card: piled ones are one, those of a leaf that is
    drawn at each use are several.
    """
    found = []
    for mark in drawn.marks:
        if mark.part == "body" and mark.owner:
            x, y, wide, high, _ = mark.at
            body = Rect(x, y, x + wide, y + high)
            if found and found[-1][0] == mark.owner.number and found[-1][1].meets(body):
                body = Rect.around([found.pop()[1], body])
            found.append((mark.owner.number, body))
    return found


def holds(outer, inner):
    is_across = outer.left <= inner.left and inner.right <= outer.right
    return is_across and outer.top <= inner.top and inner.bottom <= outer.bottom


def test_the_model_is_a_frame_and_the_loss_stands_above_it():
    loss, taken = classifier()
    graph = fold(show(loss, names=taken).graph)
    (frame,) = graph.frames
    assert frame.name == "model"
    outside = set(range(len(graph.nodes))) - set(frame.nodes)
    assert {graph.nodes[nr].operation for nr in outside} == {"MeanBackward0", "PowBackward0"}
    drawn = drawing(graph)
    (rect,) = frames_drawn(drawn).values()
    assert all(body.bottom < rect.top for node, body in bodies(drawn) if node in outside)
    assert list(faults(graph)) == []


def test_an_opened_module_is_a_frame_in_the_frame_of_what_holds_it():
    loss, taken = classifier()
    graph = fold(show(loss, names=taken).graph, "model.0.3")
    model, part, inner = frames_drawn(drawing(graph)).items()
    assert [model[0], part[0], inner[0]] == ["model", "model.0", "model.0.3"]
    assert holds(model[1], part[1])
    assert holds(part[1], inner[1])


def faults(graph):
    """Yield what is wrong with the frames of a drawn graph: true of the picture, whatever it is."""
    drawn = drawing(graph)
    found, cards = frames_drawn(drawn), bodies(drawn)
    members = {frame.name: set(frame.nodes) for frame in graph.frames}
    for name, rect in found.items():
        for node, body in cards:
            if node in members[name] and not holds(rect, body):
                yield f"{graph.nodes[node].operation} is out of the frame {name}"
            if node not in members[name] and rect.meets(body):
                yield f"{graph.nodes[node].operation} is in the frame {name}"
        for other, another in found.items():
            is_nested = holds(rect, another) or holds(another, rect)
            if rect.meets(another) and not is_nested:
                yield f"the frames {name} and {other} lie across each other"
        if rect.left < 0 or rect.top < 0 or rect.right > drawn.width:
            yield f"the frame {name} is cut"


@pytest.mark.slow
@often
@given(calls())
def test_no_frame_holds_what_is_not_in_it(graph):
    folding = Folding(graph)
    assert list(faults(folding.contraction().graph())) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet50", "unet"])
def test_frames_of_large_models_hold_what_was_made_in_the_call(name):
    whole = big_models.graph_with_calls(name)
    graph = fold(whole)
    assert list(faults(graph)) == []
    made = {call.name: call.stop - call.start for call in whole.calls}
    for frame in graph.frames:
        inside = sum(graph.nodes[node].size[0] for node in frame.nodes)
        assert inside == made[frame.name.partition("[")[0]]
