"""A film of a trace: what each frame shows is what the steps say, and nothing changes its place."""

import functools
import random
import re
from collections import Counter

import pytest
import torch
from torch import nn

from helpers import snapshot
from helpers.drawing.diagram import drawing
from helpers.drawing.palette import TITLE
from helpers.playing import animate
from helpers.playing.animate import film
from helpers.playing.film import Change
from helpers.playing.timeline import Turns
from helpers.playing.views import View, views
from helpers.recording.record import record
from helpers.text import width


def example():
    a, b, c, d = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0, 5.0, 10.0))
    u, t = a * b, torch.log(d)
    v = t * c
    e = u + v
    trace = record(e)
    return trace, film(trace)


def seen(made, number):
    """Return what a frame shows: {(role, state): texts}, hidden marks left out."""
    frame, shown = made.frames[number], {}
    changes = {change.mark: change for change in frame.changes}
    for nr, mark in enumerate(made.scenes[frame.scene].marks):
        change = changes.get(nr)
        if change and change.hidden:
            continue
        state = (change and change.state) or mark.state
        runs = (change and change.runs) or mark.runs
        shown.setdefault((mark.role, state), []).append("".join(text for text, _ in runs))
    return shown


def test_one_frame_before_one_for_each_step_and_one_after():
    trace, made = example()
    assert len(made.frames) == len(trace.steps) + 2
    assert [frame.focus for frame in made.frames[1:-1]] == [
        ("node", step.node) for step in trace.steps
    ]
    assert made.frames[0].sentence == "8 steps to come. backward() starts at e."
    assert made.frames[4].sentence == trace.sentence(3)
    assert (
        made.frames[-1].sentence
        == "After 8 steps: c.grad = 2.303, d.grad = 0.5, a.grad = 3.0, b.grad = 2.0."
    )
    assert made.text == str(trace)


def test_before_the_first_step_no_gradient_is_shown():
    shown = seen(example()[1], 0)
    assert not [key for key in shown if key[0] in ("capsule", "label")]
    assert not [key for key in shown if key[1] in ("now", "done", "next")]
    assert shown["saved", "freed"] == [""]  # the legend


def test_the_fourth_step_is_the_one_of_the_design():
    shown = seen(example()[1], 4)
    assert shown["label", "now"] == ["5.0"]
    assert sorted(shown["label", "next"]) == ["0.5", "1.0"]
    assert sorted(shown["label", "done"]) == ["1.0", "2.303"]
    assert len(shown["operation", "now"]) == 1
    assert len(shown["operation", "done"]) == 2
    assert sorted(shown["row", "freed"]) == ["other = c", "self = t"]
    grads = ["2.303", "None", "None", "None"]
    assert sorted(shown["middle", ""]) == [*grads, "a = 2.0", "b = 3.0", "c = 5.0", "d = 10.0"]
    assert len(shown["slot", "none"]) == 3
    assert len(shown["slot", "done"]) == 1


def test_at_the_end_everything_is_done():
    shown = seen(example()[1], -1)
    assert sorted(shown["label", "done"]) == ["0.5", "1.0", "1.0", "2.0", "2.303", "3.0", "5.0"]
    assert not [key for key in shown if key[1] in ("now", "next")]


def test_a_class_can_guess_the_new_number():
    _, made = example()
    fourth = made.frames[4]
    assert [made.scenes[0].marks[nr].runs[0][0] for nr in fourth.guess] == ["0.5"]
    assert fourth.question == "step 4 of 8: LogBackward0 (t): 5.0 arrives. What does it hand on?"
    leaf = made.frames[3]
    assert leaf.question.endswith("AccumulateGrad (leaf c): 2.303 arrives. What is .grad now?")
    assert [made.scenes[0].marks[nr].owner for nr in leaf.guess] == [leaf.focus]


def test_room_is_kept_for_the_widest_grad():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = film(record((x * 1.2345).sum()))
    (pill,) = (mark for mark in made.scenes[0].marks if mark.role == "leaf" and mark.owner)
    (text,) = (mark for mark in made.scenes[0].marks if mark.runs and mark.runs[0][1] == "grad")
    assert text.runs[0][0] == "[1.235, 1.235]"
    assert pill.at[2] > 150


def test_a_tensor_that_retains_its_gradient_shows_it_when_its_turn_comes():
    x = torch.tensor(2.0, requires_grad=True)
    y = x.exp()
    z = y * 5.0
    y.retain_grad()
    made = film(record(z))
    assert seen(made, 1)["middle", ""] == ["None", "x = 2.0", "None"]
    assert seen(made, 2)["middle", ""] == ["5.0", "x = 2.0", "None"]
    assert seen(made, -1)["middle", ""][0] == "5.0"
    (number,) = (nr for nr in made.frames[2].guess)
    assert (
        made.scenes[0].marks[number].owner.kind == "edge"
    )  # what arrived is told; what is handed on is guessed


def test_a_stopped_backward_ends_on_its_error():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    loss = (y * y).sum()
    with torch.no_grad():
        y.add_(1)
    try:
        record(loss)
    except RuntimeError as error:
        made = film(error.trace)
    assert made.frames[-1].sentence.startswith(
        "backward() stopped after 1 steps: one of the variables needed"
    )


def test_equal_programs_give_equal_films():
    assert example()[1] == example()[1]


class Cells(nn.Module):
    """Run an LSTM cell over a sequence: the same weights at every step."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(2, 2)

    def forward(self, x):
        state = None
        for step in x:
            state = self.cell(step, state)
        return state[0]


def transformer(layers):
    layer = nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def chained(x, length, apply=torch.sin):
    for _ in range(length):
        x = apply(x)
    return x


def half_stopped():
    """Return the trace of a backward that stops on its way through the ninth of twelve equal
    blocks.
    """
    x = y = torch.ones(2, requires_grad=True)
    kept = []
    for _ in range(12):
        kept.append(y := (y.exp() * y).tanh().sigmoid() + y)
    with torch.no_grad():
        kept[3].add_(1)
    with pytest.raises(RuntimeError) as caught:
        record(kept[-1].sum(), names={"x": x})
    return caught.value.trace


def large(what):
    """Return the trace of a program that is folded."""
    torch.manual_seed(0)
    if what == "stopped":
        return half_stopped()
    if what == "one layer, again and again":
        return record(chained(torch.randn(1, 3, 4), 6, transformer(1)).pow(2).mean())
    if what == "chain":
        return record(chained(torch.ones(2, requires_grad=True), 300).sum())
    model, x = (
        (transformer(12), torch.randn(1, 3, 4))
        if "transformer" in what
        else (Cells(), torch.randn(50, 1, 2))
    )
    loss = (model(x) ** 2).mean()
    if what == "transformer, again":
        loss.backward(retain_graph=True)
        return record(loss, names=model, retain_graph=True)
    return record(
        loss,
        names=model,
        inputs=[model.layers[5].linear1.weight] if what == "transformer, part" else None,
    )


LARGE = [
    "transformer",
    "transformer, again",
    "transformer, part",
    "cells",
    "chain",
    "stopped",
    "one layer, again and again",
]


@functools.cache
def staged(what):
    trace = large(what)
    return (
        trace,
        film(trace),
        views(trace.graph, animate.MOST_FRAMES // (len(trace.steps) + 2)),
    )


@pytest.mark.parametrize("what", LARGE)
def test_in_every_view_every_node_is_in_one_box_and_every_edge_in_one_or_inside(what):
    trace, made, drawn = staged(what)
    assert len(drawn) == len(made.views) == len(made.scenes) > 5
    for view in drawn:
        assert sorted(one for inside in view.nodes for one in inside) == list(
            range(len(trace.graph.nodes))
        )
        box = {one: nr for nr, inside in enumerate(view.nodes) for one in inside}
        ends = [(edge.source, edge.target) for edge in view.graph.edges]
        for nr, together in enumerate(view.edges):
            for old in (trace.graph.edges[one] for one in together):
                assert (box[old.source], box.get(old.target)) == ends[nr]
        drawn_edges = Counter(one for together in view.edges for one in together)
        for nr, old in enumerate(trace.graph.edges):
            inside = box[old.source] == box.get(old.target)
            no_gradient = (
                old.target is None and not old.cut and view.graph.nodes[box[old.source]].folded
            )
            assert drawn_edges[nr] == (0 if inside or no_gradient else 1)


@pytest.mark.slow
@pytest.mark.parametrize("what", LARGE)
def test_in_every_frame_of_every_view_boxes_and_edges_are_what_the_steps_say(what):
    trace, made, drawn = staged(what)
    span = len(trace.steps) + 2
    assert len(made.frames) == span * len(drawn)
    rng = random.Random(0)
    for nr, view in enumerate(drawn):
        for now in {-1, 0, span - 3, span - 2, *rng.sample(range(span - 2), 25)}:
            frame = made.frames[nr * span + now + 1]
            assert frame.scene == nr
            assert_told(trace, view, made.scenes[nr], frame, now)


def assert_told(trace, view, scene, frame, now):
    """Compare a frame with what the steps before `now` did, counted anew."""
    had = {step.node for step in trace.steps[: max(now, 0)]}
    at = trace.steps[now].node if 0 <= now < len(trace.steps) else None
    changes = {change.mark: change for change in frame.changes}
    for nr, mark in enumerate(scene.marks):
        change = changes.get(nr, Change(nr))
        whose, number = mark.owner or ("", "")
        if whose == "node":
            inside = view.nodes[int(number)]
            assert_node(trace, inside, mark, change, had, at)
        if whose == "edge":
            assert_edge(trace, view.edges[int(number)], mark, change, had, at)
    (box,) = [nr for nr, inside in enumerate(view.nodes) if at in inside] or [None]
    assert frame.focus == (None if at is None else ("node", box))


def assert_node(trace, inside, mark, change, had, at):
    if mark.role in ("operation", "leaf"):
        assert change.state == ("now" if at in inside else "done" if had.issuperset(inside) else "")
    if mark.state == "held":
        freed = [step.node for step in trace.steps if step.node in inside and step.freed]
        assert change.state == ("freed" if freed and had.issuperset(freed) else "")
    words = "".join(text for text, _ in (mark.runs if change.runs is None else change.runs))
    if (
        mark.role == "row"
        and len(inside) > 1
        and re.match(r"[\d,]+ (operation|lea)", words)
        and "lea" in words
    ):
        after = {step.node for step in trace.steps if step.node in had | {at} and step.leaf}
        leaves = [nr for nr in inside if trace.graph.nodes[nr].is_leaf]
        count = sum(
            trace.graph.nodes[nr].outputs[0].grad is not None or nr in after for nr in leaves
        )
        assert re.findall(r"(\d+) with .grad", words) == [str(count)] * bool(count)


def assert_edge(trace, together, mark, change, had, at):
    olds = [trace.graph.edges[one] for one in together]
    done = {step.node: step for step in trace.steps}
    olds = [one for one in olds if one.source in done and one.target is not None]
    olds = [one for one in olds if done[one.source].grad_inputs[one.position] is not None]
    gone = [one for one in olds if one.source in had | {at}]
    state = "done" if gone and len(gone) == len(olds) else ""
    state = "next" if any(one.target not in had | {at} for one in gone) else state
    state = "now" if at is not None and any(one.target == at for one in gone) else state
    if mark.role in ("edge", "arrow"):
        assert change.state == state
    if mark.role == "capsule":
        assert len(together) == len(olds) == 1, "only a single gradient rides on an edge"
        assert (change.state, change.hidden) == (state, not gone)


@pytest.mark.parametrize("what", LARGE)
def test_what_a_view_opens_is_what_has_its_turn_and_was_folded(what):
    trace, made, drawn = staged(what)
    turn = {step.node: number for number, step in enumerate(trace.steps)}
    for view, unfolding in zip(drawn, made.views, strict=True):
        opens = dict(unfolding.opens)
        copies = dict(view.copies)
        assert set(opens) == {None, *(("node", node) for node in copies)}
        assert {nr for nr, node in enumerate(view.graph.nodes) if node.folded} == set(copies)
        for node, ways in ((node, opens[("node", node)]) for node in copies):
            for place in range(len(trace.steps) + 2):
                to = [view for start, view in ways if start <= place][-1]
                seen = [
                    one for copy in copies[node] for one in copy.nodes if copy.view and one in turn
                ]
                ran = [one for one in seen if turn[one] < place] or seen
                if not ran:
                    assert to == copies[node][-1].view
                    continue
                before = any(turn[one] < place for one in ran)
                last = (max if before else min)(ran, key=turn.get)
                (copy,) = [copy for copy in copies[node] if last in copy.nodes]
                assert to == copy.view
                there = zip(drawn[to].graph.nodes, drawn[to].nodes, strict=True)
                boxes = [inside for box, inside in there if box.folded and last in inside]
                assert not to or boxes != [view.nodes[node]], (
                    "it is not folded in the same box there"
                )


@pytest.mark.parametrize("what", LARGE)
def test_one_can_fold_all_views_and_words_are_the_same_in_each(what):
    trace, made, drawn = staged(what)
    span = len(trace.steps) + 2
    for nr, unfolding in enumerate(made.views):
        assert unfolding.parent < max(nr, 1)
        frames = made.frames[nr * span : (nr + 1) * span]
        assert [(one.sentence, one.question) for one in frames] == [
            (one.sentence, one.question) for one in made.frames[:span]
        ]
    reached = {0} | {to for view in made.views for _, ways in view.opens for _, to in ways}
    assert reached == set(range(len(drawn)))


def test_what_stands_for_many_waits_between_their_turns():
    trace, _ = example()
    names = [node.name for node in trace.graph.nodes]
    assert [names[step.node] for step in trace.steps] == list("evctduab")
    boxes = tuple(tuple(map(names.index, box)) for box in ("euvt", "abcd"))
    edge = {(names[one.source], names[one.target]): nr for nr, one in enumerate(trace.graph.edges)}
    turns = Turns(trace, View(trace.graph, boxes, ((edge["v", "c"], edge["u", "a"]),)))
    assert [turns.node(0, now) for now in range(-1, 9)] == [
        "",
        "now",
        "now",
        "",
        "now",
        "",
        "now",
        *["done"] * 3,
    ]
    assert [turns.node(1, now) for now in range(-1, 9)] == [
        *[""] * 3,
        "now",
        "",
        "now",
        "",
        "now",
        "now",
        "done",
    ]
    states = [turns.edge(0, now) for now in range(-1, 9)]
    assert states == ["", "", "next", "now", "", "", "next", "now", "done", "done"]


def test_room_is_kept_for_the_highest_count_of_gradients():
    _, made, drawn = staged("transformer")
    parts = [node.folded for node in drawn[0].graph.nodes if node.folded]
    (row,) = [
        f"{part}, {part.count * part.leaves} with .grad" for part in parts if part.count == 11
    ]
    assert row in [mark.runs[0][0] for mark in made.scenes[0].marks if mark.runs]
    shown = [
        " ".join(seen(made, frame)["row", ""])
        for frame in (0, 5, len(made.frames) // len(drawn) - 1)
    ]
    assert [row in words for words in shown] == [False, False, True]


def test_a_graph_that_is_not_folded_has_one_view():
    _, made = example()
    assert (len(made.scenes), made.views) == (1, ())


def test_a_folded_scene_says_how_to_open_it_here():
    _, made, _ = staged("cells")
    for scene in made.scenes[:3]:
        words = [text for mark in scene.marks for text, _ in mark.runs]
        assert not [text for text in [*words, scene.text] if "unfold=" in text]
        assert animate.HOW_TO_OPEN in words
        assert scene.text.endswith(animate.HOW_TO_OPEN)


def test_few_frames_and_few_nodes_are_drawn(monkeypatch):
    trace = staged("cells")[0]
    span = len(trace.steps) + 2
    for frames, count in ((3 * span, 3), (3 * span - 1, 2), (0, 1)):
        monkeypatch.setattr(animate, "MOST_FRAMES", frames)
        assert len(film(trace).scenes) == count
    monkeypatch.setattr(animate, "MOST_FRAMES", 10**6)
    monkeypatch.setattr("helpers.playing.views.MOST_NODES", 1)
    made = film(trace)
    assert (len(made.scenes), made.views, made.scenes[0].marks != ()) == (1, (), True)


def test_the_slot_of_a_dense_leaf_is_as_wide_as_what_it_will_hold():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([10.0, 20.0])
    y = x
    for _ in range(10):
        y = y * 1.0
    made = film(record((y * torch.tensor([0.12, -40.35])).sum()))
    slots = [mark for mark in made.scenes[0].marks if mark.role == "slot"]
    texts = []
    for (role, _), found in seen(made, 0).items():
        texts += found if role == "middle" else []
    assert "[10.0, 20.0]" in texts
    assert min(mark.at[2] for mark in slots) >= width("[10.0, 20.0]", TITLE, bold=True)


def test_a_film_whose_picture_is_cut_says_so():
    y = torch.ones(1, requires_grad=True)
    for _ in range(700):
        y = y.exp()
    scene = drawing(snapshot(y), remarks=animate.remarks)
    words = [text for mark in scene.marks for text, _ in mark.runs]
    assert sum(text.startswith("Cut here: the ") for text in words) == 1
    assert sum(mark.part == "body" for mark in scene.marks) < 700
