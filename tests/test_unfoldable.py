"""What folding cannot do never costs the picture: a graph that cannot be folded is drawn plainly,
and says so.
"""

from functools import cache
from html import unescape

import pytest
import torch
from torch import nn

from autograd_graphs.data import NOT_FOLDED
from autograd_graphs.drawing.diagram import drawing
from autograd_graphs.large.fold import FAULTS, fold
from autograd_graphs.playing.animate import film
from autograd_graphs.recording.record import record
from helpers import show

pytestmark = pytest.mark.slow

STAGES = [  # one or two in each module of the folding that all pictures need
    "autograd_graphs.large.fold.Program",
    "autograd_graphs.large.execution_order.in_order",
    "autograd_graphs.large.outline.guessed_calls",
    "autograd_graphs.large.pieces.Reader.nested",
    "autograd_graphs.large.rows.Rows.best",
    "autograd_graphs.large.outline.Outline._divide",
    "autograd_graphs.large.fold.Folding._further",
    "autograd_graphs.large.fold.Folding._screen",
    "autograd_graphs.large.folded_leaves.Leaves._uses",
    "autograd_graphs.large.contract.Contraction.graph",
]
OF_PLAYER = [
    f"autograd_graphs.playing.views.{name}" for name in ("Views", "boxes", "members", "sources")
]


def row_and_head():
    """Return a model, a row of layers and a head, and its loss, of 90 nodes."""
    torch.manual_seed(0)
    body = nn.Sequential(*(one for _ in range(14) for one in (nn.Linear(3, 3), nn.Tanh())))
    head = nn.Sequential(nn.Linear(3, 3), nn.GELU(), nn.LayerNorm(3), nn.Linear(3, 1))
    return nn.ModuleDict({"body": body, "head": head}), head(body(torch.ones(2, 3))).sum()


@cache
def example():
    model, loss = row_and_head()
    return record(loss, names=model)


@pytest.fixture
def plain():
    """Return the text of the example, drawn plainly, before any fault is planted."""
    return drawing(fold(example().graph, True)).text


@pytest.fixture
def drawn_anyway(monkeypatch):
    """Let a graph that cannot be folded be drawn, as it is for everyone but the tests."""
    monkeypatch.delenv(FAULTS)


def plant(monkeypatch, stage, kind=ValueError):
    def fault(*_, **__):
        raise kind("a fault of the folding's own")

    monkeypatch.setattr(stage, fault)


@pytest.mark.parametrize("stage", STAGES)
def test_where_folding_fails_a_graph_is_drawn_plainly_and_says_so(
    stage, monkeypatch, plain, drawn_anyway
):
    (model, loss), graph = row_and_head(), example().graph
    plant(monkeypatch, stage)
    assert str(fold(graph)) == f"{plain}\n{NOT_FOLDED}"
    one = show(loss, names=model)
    assert one.text == str(fold(graph))
    assert unescape(one.svg).count(f">{NOT_FOLDED}</text>") == 1


def says_so(made):
    """Say whether a film has one plain scene, and its remarks, texts and still picture say that it is
    not folded.
    """
    (scene,) = made.scenes
    assert not [turn.opens for turn in scene.turns if turn.opens]
    words = [text for mark in made.still.marks for text, _ in mark.runs]
    told = [*made.remarks, scene.text.splitlines()[-1], made.text.splitlines()[-1]]
    return told == [NOT_FOLDED] * 3 and words.count(NOT_FOLDED) == 1


@pytest.mark.parametrize("stage", STAGES + OF_PLAYER)
def test_where_folding_fails_the_player_has_one_plain_view_and_says_so(
    stage, monkeypatch, drawn_anyway
):
    plant(monkeypatch, stage)
    assert says_so(film(example()))


def test_what_the_learner_asked_for_wrongly_is_no_fault_of_folding(drawn_anyway):
    model, loss = row_and_head()
    with pytest.raises(ValueError, match=r"There is no part 'body\.99'"):
        show(loss, names=model, unfold="body.99")
    with pytest.raises(TypeError, match="Pass the name of a part"):
        show(loss, unfold=3)
