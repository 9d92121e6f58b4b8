"""The spine of a dense graph: operations straight down, what is beside them in their rows, nothing
on top of another; and which graphs have none.
"""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from programs import often, programs
from torch import nn
from torch.nn import functional as F

from autograd_graphs.drawing.cards import ABOVE, TAG
from autograd_graphs.drawing.diagram import DENSE, Word, arranged, drawing, make_cards
from autograd_graphs.drawing.spine import spine
from helpers import show


@st.composite
def trees(draw):
    """Draw a chain of operations, each with some side branches, and connections that skip some."""
    length = draw(st.integers(2, 12))
    edges, boxes = [], length
    for box in range(length):
        if box + 1 < length:
            edges.append((box, box + 1))
        for _ in range(draw(st.integers(0, 3))):
            edges.append((box, boxes))
            boxes += 1
            if draw(st.booleans()):
                edges.append((boxes - 1, boxes))
                boxes += 1
    skip = draw(st.integers(0, max(0, length - 3)))
    if skip + 2 < length and draw(st.booleans()):
        edges.append((skip, skip + 2))
    sizes = draw(st.lists(st.tuples(st.integers(30, 160), st.integers(24, 60)), min_size=boxes))
    labels = draw(st.sets(st.integers(0, len(edges) - 1)))
    return sizes[:boxes], edges, dict.fromkeys(labels, (draw(st.integers(20, 150)), 24))


@pytest.mark.slow
@given(trees())
@often
def test_boxes_never_overlap_and_curves_end_at_them(tree):
    boxes, edges, rooms = tree
    placed = spine(boxes, edges, rooms, [0] * len(boxes))
    if placed is not None:
        for (tail, head), curve in zip(edges, placed.curves, strict=True):
            assert placed.centres[tail][1] <= placed.centres[head][1]
            for point, box in ((curve[0], tail), (curve[-1], head)):
                assert touches(point, placed.centres[box], boxes[box])
        cards = list(zip(placed.centres, boxes, strict=True))
        words = [(placed.labels[nr], room) for nr, room in rooms.items()]
        for nr, one in enumerate(cards):
            assert not any(overlap(one, other) for other in cards[:nr])
            (x, y), (wide, high) = one
            assert wide / 2 - 1 <= x <= placed.width - wide / 2 + 1
            assert high / 2 - 1 <= y <= placed.height - high / 2 + 1
        for nr, one in enumerate(words):
            assert not any(overlap(one, other) for other in [*cards, *words[:nr]])
            assert one[0][0] - one[1][0] / 2 >= 0, "words stand inside"


def touches(point, centre, box):
    """Say whether a point lies on the border of a box, but for 3 px."""
    return abs(max(abs(point[k] - centre[k]) - box[k] / 2 for k in (0, 1))) <= 3


def overlap(one, other):
    (x, y), (wide, high) = one
    (u, v), (breadth, tall) = other
    return abs(x - u) < (wide + breadth) / 2 - 1 and abs(y - v) < (high + tall) / 2 - 1


def layers(count):
    torch.manual_seed(0)
    parts = [part for _ in range(count) for part in (nn.Linear(4, 4), nn.ReLU())]
    model = nn.Sequential(*parts, nn.Linear(4, 3))
    return F.cross_entropy(model(torch.randn(5, 4)), torch.tensor([0, 1, 2, 1, 0]))


def test_a_dense_picture_is_low_its_words_short_and_its_text_whole():
    picture = show(layers(3))
    assert len(picture.graph.nodes) >= DENSE
    drawn = drawing(picture.graph)
    assert drawn.width <= 1_000
    assert drawn.height <= 900
    words = [text for mark in drawn.marks for text, _ in mark.runs]
    assert "Addmm" in words
    assert "Backward0" not in words
    assert "AddmmBackward0" in picture.text
    heights = {mark.at[3] for mark in drawn.marks if mark.part == "body" and mark.owner}
    assert heights == {36}, "one line"


@pytest.mark.slow
@given(programs())
@often
def test_any_graph_can_be_asked_for_a_spine(program):
    graph = show(program.run()[-1]).graph
    made = make_cards(graph, is_dense=True)
    cards, placed = arranged(made, [Word("")] * len(made.wires), has_short_cards=True)
    assert len(placed.centres) == len(cards.cards)


def test_a_tag_is_nowhere_under_another_card_or_wire():
    torch.manual_seed(0)
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(4)])
    x = torch.randn(2, 4)
    named = {}
    for nr, layer in enumerate(model):
        named[f"h{nr}"] = x = layer(x)
        x = F.leaky_relu(x)
    graph = show(x.sum(), names=named).graph
    made = make_cards(graph, is_dense=True)
    assert sum(bool(card.tag) for card in made.cards) >= 4
    cards, placed = arranged(made, [Word("")] * len(made.wires), has_short_cards=True)
    for card, (x, y) in zip(cards.cards, placed.centres, strict=True):
        if not card.tag:
            continue
        left = x - card.width / 2 + card.tag_left
        top = y - card.height / 2 - ABOVE
        tag = (left + card.tag_width / 2, top + TAG / 2), (card.tag_width, TAG)
        for other, centre in zip(cards.cards, placed.centres, strict=True):
            assert other is card or not overlap(tag, (centre, (other.width, other.height)))
        for curve in placed.curves:
            for px, py in curve:
                assert not (left < px < left + card.tag_width and top + 2 < py < top + TAG - 2)
