"""A large graph is folded: what repeats is one box, nothing is lost or invented, and every box
opens by its name.
"""

import re
from graphlib import TopologicalSorter
from itertools import pairwise

import big_models
import pytest
import torch
from hypothesis import given, settings
from made_up_graphs import calls, graphs, loops, owners, run
from programs import often
from torch import nn

from autograd_graphs.data import BY_PARAMETERS, tree
from autograd_graphs.large.contract import Contraction
from autograd_graphs.large.fold import MOST, SHORT, Folding, fold
from autograd_graphs.large.lookup import NOWHERE, Lookup
from autograd_graphs.looking.snapshot import Limits
from helpers import module_calls, show, snapshot

pytestmark = pytest.mark.slow


def folded(graph, opened=()):
    """Fold a graph of any size; return what knows which box each node is in, and the new graph."""
    folding = Folding(graph)
    apart = {one.name for one in opened if one.start == NOWHERE}
    contraction = Contraction(graph, folding.program, folding.boxes(opened), apart)
    return contraction, contraction.graph()


def boxes(contraction):
    """Return for every old node the number of the new one that it is in."""
    return [contraction.number[contraction.box(node)] for node in range(len(contraction.old.nodes))]


def joined(graph):
    return {(edge.source, edge.target) for edge in graph.edges if edge.target is not None}


def faults(graph, opened=()):
    """Yield, in words, what a folded graph says that the whole one does not, or leaves out."""
    contraction, small = folded(graph, opened)
    box = boxes(contraction)
    if set(box) != set(range(len(small.nodes))):
        yield "a box stands for nothing"
    if joined(small) != {(box[a], box[b]) for a, b in joined(graph) if box[a] != box[b]}:
        yield "edges differ"
    if sum(edge.cut for edge in small.edges) != sum(edge.cut for edge in graph.edges):
        yield "edges that were cut differ"
    if (small.size, small.held, small.memory) != (graph.size, graph.held, graph.memory):
        yield "sizes differ"
    if [(root.tensor, root.node) for root in small.roots] != [
        (root.tensor, box[root.node]) for root in graph.roots
    ]:
        yield "roots differ"
    try:
        list(
            TopologicalSorter(
                {nr: {b for a, b in joined(small) if a == nr} for nr in box}
            ).static_order()
        )
    except ValueError:
        yield "there is a cycle"
    for part in contraction.parts:
        ran = contraction.program.nodes[part.start : part.stop]
        copies = [ran[at : at + part.period] for at in range(0, len(ran), part.period)]
        if len({claimed(graph, copy) for copy in copies}) > 1 or len(copies) != len(part.copies):
            yield f"copies of {part.name} differ"
    yield from false_calls(graph, contraction)


def claimed(graph, copy):
    """Return what a row says of each copy: its operations in order, and how much each makes."""
    return tuple((graph.nodes[node].operation, len(graph.nodes[node].outputs)) for node in copy)


def false_calls(graph, contraction):
    """Yield boxes that bear a module's name and are not, to the last operation, calls of it."""
    known = {(call.name, call.start, call.stop) for call in graph.calls}
    for part in contraction.parts if graph.calls else ():
        for copy in part.each():
            path = copy.pieces[0].path
            if path and (path, copy.start, copy.stop) not in known:
                yield f"{copy.name} is no call of {path}"


def names_shown(graph):
    return [name for node in graph.nodes if node.folded for name in node.folded.copies]


def open_all(graph):
    """Open one part after the other, by a name that the picture shows, until nothing is folded."""
    folding, opened, small = Folding(graph), [], Folding(graph).contraction().graph()
    lookup = Lookup(folding.outline)
    while names := names_shown(small):
        parts = [
            name
            for node in small.nodes
            if node.folded and node.folded.operations
            for name in node.folded.copies
        ]
        assert len(parts) == len(set(parts)), f"two boxes are called alike: {parts}"
        assert len(opened) <= len(graph.nodes), f"{names} cannot be opened"
        opened.append(lookup.find(names[-1]))
        small = folding.contraction(opened).graph()
    return small


@often
@given(loops())
def test_loops_are_folded_and_nothing_is_lost_or_invented(program):
    assert not list(faults(run(program)))


@often
@given(graphs())
def test_graphs_that_no_program_made_are_folded_and_nothing_is_lost_or_invented(graph):
    assert not list(faults(graph))


@often
@given(calls())
def test_modules_in_modules_are_folded_and_every_box_is_a_call_or_a_row_of_equal_ones(graph):
    assert not list(faults(graph))


@often
@given(owners())
def test_modules_in_modules_are_guessed_and_nothing_is_lost_or_invented(graph):
    assert not list(faults(graph))


@settings(often, max_examples=often.max_examples // 4)
@given(calls())
def test_calls_are_opened_by_the_names_shown_until_the_whole_graph_is_there(graph):
    assert len(open_all(graph).nodes) == len(graph.nodes)


LOOKS = {"calls": big_models.graph_with_calls, "guess": big_models.graph_of}


@pytest.mark.parametrize("how", LOOKS)
@pytest.mark.parametrize("name", big_models.MODELS)
def test_a_model_is_folded_and_nothing_is_lost_or_invented(name, how):
    graph = LOOKS[how](name)
    small = fold(graph)
    assert not list(faults(graph))
    assert len(small.nodes) <= 25
    assert tree(small) == tree(fold(LOOKS[how](name))), "equal programs, different texts"


@pytest.mark.parametrize("name", big_models.KEPT)
def test_the_text_of_a_folded_model_stays_as_it_was(name):
    golden = big_models.golden(name).read_text(encoding="utf-8")
    assert big_models.text(name) == golden, (
        "look at the picture; if it is better, run tests/big_models.py, which writes the texts"
    )


def test_a_part_of_a_module_that_is_called_again_says_in_which_call_it_is():
    graph = big_models.graph_with_calls("albert")
    names = names_shown(fold(graph, "TransformerEncoderLayer[call 6]"))
    last = "TransformerEncoderLayer[call 6]"
    inside = {f"{last}.{one}" for one in ("self_attn", "linear1", "linear2")}
    assert inside <= set(names)
    assert "TransformerEncoderLayer.self_attn" not in names


class Siamese(nn.Module):
    """Call one head on three inputs, of which the second goes through a stem of its own."""

    def __init__(self):
        super().__init__()
        self.stem1, self.stem2, self.head = nn.Linear(2, 3), nn.Linear(2, 3), nn.Linear(3, 5)

    def forward(self, items):
        stems = (self.stem1, self.stem2, self.stem1)
        return [self.head(stem(x)).pow(2) for stem, x in zip(stems, items, strict=True)]


def titles(*tensors, calls):
    """Return what the boxes of a picture are called, those of leaves left out."""
    nodes = show(*tensors, names=calls).folded.nodes
    return [node.operation for node in nodes if node.folded and node.folded.operations]


def test_calls_are_numbered_as_they_ran_and_no_two_boxes_have_one_name():
    model = Siamese()
    with module_calls(model) as calls:
        loss = sum(out.mean() for out in model(torch.ones(3, 1, 2)))
    made = titles(loss, calls=calls)
    assert sorted(made) == [
        *(f"head[call {nr}]" for nr in (1, 2, 3)), "stem1[call 1]", "stem1[call 2]", "stem2",
    ]  # fmt: skip
    opened = show(loss, names=calls, unfold="head[call 3]").folded
    assert "model.head[call 3]" in {frame.name for frame in opened.frames}


def test_the_last_calls_of_many_are_called_the_last_ones_where_the_graph_is_cut(monkeypatch):
    monkeypatch.setattr("autograd_graphs.looking.snapshot.WHOLE", Limits(1_500, 44_000))
    cell, h = nn.RNNCell(2, 3), torch.zeros(1, 3)
    with module_calls(cell) as calls:
        for _ in range(900):
            h = cell(torch.ones(1, 2), h)
    (row,) = [name for name in titles(h.sum(), calls=calls) if "…" in name]
    assert re.fullmatch(r"cell\[call \d+ … 900\]", row)
    assert int(re.search(r"\d+", row)[0]) > 300
    with pytest.raises(ValueError, match=r"no part 'cell\[call 1\]'"):
        show(h.sum(), names=calls, unfold="cell[call 1]")


class Deep(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        layers = [nn.Sequential(nn.Linear(a, b), nn.Tanh()) for a, b in pairwise(sizes)]
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


def test_what_is_in_one_of_several_calls_is_named_by_it():
    D, loss = Deep(4, 8, 6, 3, 1), nn.BCEWithLogitsLoss()
    with module_calls(D, loss) as calls:
        both = [loss(D(torch.ones(5, 4) * at), torch.ones(5, 1)) for at in range(3)]
    made = titles(sum(both), calls=calls)
    assert made
    assert all(re.match(r"D\[call [123]\]", name) for name in made)
    names = names_shown(show(sum(both), names=calls, unfold="D+loss[call 1]").folded)
    assert {f"D[call {nr}].net.0" for nr in (1, 2, 3)} <= set(names)
    with pytest.raises(ValueError, match=r"'D\[call 1\]\.net'"):
        show(sum(both), names=calls, unfold="D.net")


@pytest.mark.parametrize("name", big_models.MODELS)
def test_no_box_swallows_more_than_half_of_a_model_where_there_is_room_to_open_it(name):
    graph = big_models.graph_with_calls(name)
    small, (operations, _) = fold(graph), graph.size
    assert len(small.nodes) <= MOST
    for node in small.nodes:
        if node.folded and len(node.folded.copies) <= SHORT:
            assert node.folded.operations <= operations / 2, node.operation


class Sets(nn.Module):
    """Sum what one network makes of the elements of a set, and go on from the sum."""

    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
        self.rho = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))

    def forward(self, elements):
        return self.rho(self.phi(elements).sum(0))


def test_of_equal_calls_all_are_open_or_none():
    model = Sets()
    with module_calls(model) as calls:
        loss = sum(model(torch.ones(size, 3)).pow(2).sum() for size in (2, 3, 4, 5))
    made = titles(loss, calls=calls)
    for end in ("", ".phi", ".rho"):
        names = {f"model[call {nr}]{end}" for nr in (1, 2, 3, 4)}
        shown = {name for name in names if name in made or name.removeprefix("model") in made}
        assert shown in (names, set())
    opened = show(loss, names=calls, unfold="model[call 2]").folded
    frames = {frame.name for frame in opened.frames}
    assert "model[call 2]" in frames
    assert "model[call 1]" in names_shown(opened)


def test_leaves_that_many_parts_share_are_one_box_for_each_module_until_they_are_asked_for():
    graph = big_models.graph_with_calls("two_stacked_cells")
    text = str(fold(graph))
    assert "LSTMCell.*, 4 leaves" in text
    assert "LSTMCell 2.*, 4 leaves" in text
    opened = str(fold(graph, "LSTMCell.*"))
    assert opened.count("(leaf LSTMCell.") == 4
    assert "LSTMCell 2.*, 4 leaves" in opened


def test_guessed_boxes_say_so_and_tell_of_module_calls():
    guessed = str(fold(big_models.graph_of("resnet50")))
    assert BY_PARAMETERS in guessed.splitlines()[-2:]
    assert "reads " not in str(fold(big_models.graph_with_calls("resnet50")))
    assert BY_PARAMETERS not in str(fold(big_models.graph_with_calls("resnet50")))
    assert BY_PARAMETERS not in str(fold(big_models.graph_of("own_weights_loop")))


@pytest.mark.parametrize(
    ("unfold", "said"),
    [
        ("", "There is no part ''. Pass one of the names that folded pictures show: "),
        ("n" * 20_000, "nnn…'. Pass one of"),
        ("a\nb\u202e", "There is no part 'a\\\\\\\\nb\\\\\\\\u202e'."),
        (["block 1[3]", "block 9"], "There is no part 'block 9'."),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_those_that_are(unfold, said):
    x = torch.ones(3, requires_grad=True)
    for _ in range(70):
        x = x.sin()
    with pytest.raises(ValueError, match="no part") as caught:
        show(x, unfold=unfold)
    assert said.replace("\\\\\\\\", "\\\\") in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_name_that_fits_several_parts_is_answered_with_all_of_them():
    model = nn.ModuleDict(
        {name: nn.ModuleList(nn.Linear(3, 3) for _ in range(12)) for name in ("left", "right")}
    )
    x = torch.ones(2, 3)
    for side in model.values():
        for layer in side:
            x = layer(x).tanh()
    with pytest.raises(
        ValueError, match=r"2 parts end in '3'. Pass one of .*'model.left.3', 'model.right.3'"
    ):
        show(x, unfold="3")


def test_a_root_ends_its_box_so_that_nothing_later_seems_to_be_needed_for_it():
    layers = [one for _ in range(5) for one in (nn.Linear(8, 8), nn.ReLU())]
    judge = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), *layers, nn.Linear(8, 1))
    loss, given, wanted = nn.BCEWithLogitsLoss(), torch.ones(5, 6), torch.ones(5, 1)
    both = loss(judge(given), wanted) + loss(judge(given), wanted)
    graph = fold(snapshot(both, loss(judge(given), wanted)))
    both, alone = (root.node for root in graph.roots)
    assert graph.nodes[both].operation == "AddBackward0"
    assert alone not in {edge.target for edge in graph.edges if edge.source == both}


def test_saved_tensors_of_a_folded_part_are_counted_by_their_state():
    made = [torch.ones(1, requires_grad=True)]
    for _ in range(100):
        made.append(made[-1].sin())
    with torch.no_grad():
        made[30].add_(1)
        made[31].add_(1)
    assert "   ● 98 saved tensors   ▲ 2 saved tensors (modified since)\n" in str(
        fold(snapshot(made[-1]))
    )
