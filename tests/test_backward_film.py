"""A film of a backward says what its steps say: numbers, states, stops and words, in every view."""

import functools
import math

import big_models
import pytest
import torch
from checked_film import check_film, text_of
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import FAMILIES, bits, often, programs
from test_bytes import storages_by_torch
from torch import nn

from autograd_graphs.data import Gradient
from autograd_graphs.looking.snapshot import NEAREST
from autograd_graphs.playing import animate, stepped_over
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.equations import MOST_ROWS
from autograd_graphs.playing.views import views
from autograd_graphs.recording.record import record
from helpers import module_calls

pytestmark = pytest.mark.slow


def example():
    """Return the trace of e = (a*b + c)**2, of six steps."""
    a, b, c = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
    t = a * b
    d = t + c
    e = d**2
    return record(e)


def cells(moment, *roles):
    """Return what the cells of a moment show that have one of these roles."""
    return [cell.what for row in moment.rows for cell in row if cell.role in roles]


def words(moment):
    return [" ".join(str(cell.what) for cell in row) for row in moment.rows]


def at_step(made, number):
    return made.moments[number + 1]


def traced(make):
    """Return the trace of a backward, also of one that raised."""
    try:
        return make()
    except RuntimeError as error:
        return error.trace


def assert_says(trace, made):
    """Check the numbers of a film's moments against the gradients of its trace."""
    edges = trace.graph.inputs_by_node()
    for number, step in enumerate(trace.steps):
        moment, total = at_step(made, number), summed(trace, number)
        if total:
            assert_sum(moment.rows[0], total, step.before_hooks[0])
        if step.leaf:
            assert_leaf(moment, step)
            continue
        extra = (step.before_hooks != step.grad_outputs) + bool(total)
        goals = [edge.position for edge in edges.get(step.node, ()) if edge.target is not None]
        goals = goals[: MOST_ROWS - extra]
        rows = moment.rows[extra:][: len(goals)]
        for position, row in zip(goals, rows, strict=True):
            assert_row(row, step, step.grad_inputs[position])


def assert_row(row, step, handed):
    """Check that a row says what arrives and what is handed on."""
    given = [cell.what for cell in row if cell.role == "handed"]
    if handed is None:
        assert not given
        assert row[0].what.startswith("and nothing to ")
        return
    assert_gradient(given, handed)
    came = [cell.what for cell in row if cell.role == "arrives"]
    there = [one for one in step.grad_outputs if one is not None]
    for what, one in zip(came, there, strict=False):
        assert_gradient([what], one)


def summed(trace, number):
    """Return the gradients that are added up before a step; none where there is only one."""
    step, before = trace.steps[number], {one.node: one for one in trace.steps[:number]}
    found = [
        start
        for root, start in zip(trace.graph.roots, trace.starts, strict=True)
        if root.node == step.node
    ]
    for edge in trace.graph.edges:
        if edge.target == step.node and edge.source in before:
            found.append(before[edge.source].grad_inputs[edge.position])
    found = [one for one in found if one is not None]
    is_one = len(step.before_hooks) == 1 and step.before_hooks[0] is not None
    return found if is_one and len(found) > 1 else []


def assert_sum(row, parts, total):
    """Check that a row says what is added up, in any order."""
    came = [cell.what for cell in row if cell.role == "arrives"]
    assert_gradient(came[-1:], total)
    assert len(came) - 1 == min(len(parts), 3)
    assert all(
        any(one == part or one == text_of(part.values) for part in parts) for one in came[:-1]
    )


def assert_leaf(moment, step):
    """Check that the last row of a leaf's step says what becomes of its `.grad`."""
    row = moment.rows[-1]
    (arrived,) = step.grad_outputs
    if arrived is None:
        assert row[0].what.startswith("nothing arrives: ")
        return
    by_role = {cell.role: cell.what for cell in row}
    shown = {"before": step.leaf.before, "arrives": arrived, "total": step.leaf.after}
    for role, gradient in shown.items():
        assert_gradient([by_role[role]], gradient)


def test_the_example_moment_by_moment():
    made, _ = check_film(example())
    begin, *steps, end = made.moments
    said = "e is 100. backward() starts with the number 1, since ∂e/∂e is 1."
    assert (begin.title, begin.sentence) == ("e.backward()", said)
    assert [(moment.title, words(moment), moment.whole_way) for moment in steps] == [
        ("Pow", ["1 × 2·10 = 20"], ""),
        ("Add", ["20 × 1 = 20", "20 × 1 = 20"], ""),
        ("c.grad", ["None + 20 = 20"], "1 × 2·10 × 1 = 20"),
        ("Mul", ["20 × 3 = 60", "20 × 2 = 40"], ""),
        ("a.grad", ["None + 60 = 60"], "1 × 2·10 × 1 × 3 = 60"),
        ("b.grad", ["None + 40 = 40"], "1 × 2·10 × 1 × 2 = 40"),
    ]
    assert [moment.choices for moment in steps[:3]] == [
        ("1", "2", "20", "21", "40"),
        ("1", "20", "21", "40", "400"),
        ("0", "20", "40", "400"),
    ]
    assert (end.title, words(end)) == (
        "backward() is done",
        ["c.grad 20", "a.grad 60", "b.grad 40"],
    )
    assert end.sentence == "Backward reached every leaf."


@pytest.mark.parametrize("family", FAMILIES)
@given(st.data())
@settings(often, max_examples=often.max_examples // 20)
def test_numbers_of_random_programs_are_those_that_were_recorded(family, data):
    program = data.draw(programs(last=family))
    if not program.run()[-1].requires_grad:
        return
    pool = program.run()
    trace = traced(lambda: record(pool[-1].sum(), names=dict(zip("abc", pool, strict=False))))
    made, _ = check_film(trace)
    assert_says(trace, made)


def test_the_whole_way_of_a_chain_is_there_and_with_a_hook_on_it_is_not():
    x = torch.tensor(0.5, requires_grad=True)
    made = film(record((x.tanh() * 3).sin()))
    product, _, result = made.moments[-2].whole_way.rpartition(" = ")
    factors = [float(one.strip("()")) for one in product.split(" × ")[:3]]
    assert math.prod(factors) == pytest.approx(x.grad.item() / (1 - x.tanh().item() ** 2), rel=0.01)
    assert float(result) == pytest.approx(x.grad.item(), rel=0.01)
    y = x.tanh()
    y.register_hook(lambda grad: grad * 2)
    assert not film(record((y * 3).sin())).moments[-2].whole_way
    assert not film(record(x * x)).moments[-2].whole_way, "two paths"
    a, b = x * 2, x * 3
    assert not film(record([a, b])).moments[-2].whole_way, "two roots"


def leaf(*shape, value=None):
    tensor = torch.linspace(-1, 2, max(1, math.prod(shape))).reshape(shape)
    return (tensor if value is None else torch.tensor(value)).clone().requires_grad_()


def several_roots():
    x, y = leaf(), leaf(3)
    return [x * 2, (y * x).sum(), y.exp().sum()], {"x": x, "y": y}, {}


def held_already():
    x, w = leaf(3), leaf(3)
    x.grad, w.grad = torch.ones(3), torch.full((3,), 0.5)
    return (x * w + x).sum(), {"x": x, "w": w}, {}


def graph_of_graph():
    x = leaf(3)
    return (x**3).sum(), {"x": x}, {"create_graph": True}


def given_gradient():
    x = leaf(3)
    return x.sin() * x, {"x": x}, {"gradient": torch.tensor([1.0, -2.0, 0.0])}


def hooked():
    x = leaf(3)
    y = x.sin()
    y.register_hook(lambda grad: grad * 10)
    x.register_hook(lambda grad: grad - 1)
    return (y * y).sum(), {"x": x}, {}


def undefined():
    x, y = leaf(3), leaf(3)
    return (
        x.detach() * 2 + torch.where(torch.tensor([True, False, True]), x, y),
        {"x": x},
        {"gradient": torch.ones(3)},
    )


def many_inputs():
    parts = [leaf(2) for _ in range(7)]
    whole = torch.cat(parts)
    whole.register_hook(lambda grad: grad * 2)
    return (whole * whole).sum(), {f"p{nr}": part for nr, part in enumerate(parts)}, {}


def large():
    weight, x = leaf(30, 40), leaf(40)
    return (weight @ x).relu().sum(), {"weight": weight, "x": x}, {}


CASES = [
    several_roots,
    held_already,
    graph_of_graph,
    given_gradient,
    hooked,
    undefined,
    many_inputs,
    large,
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)


def backward(roots, how):
    how = dict(how)
    gradient = how.pop("gradient", None)
    torch.autograd.backward(roots, gradient, **how)


@pytest.mark.filterwarnings("ignore:Using backward.* with create_graph")
@each_case
def test_moments_say_what_was_recorded_and_torch_does(case):
    roots, named, how = case()
    trace = record(roots, names=named, **how)
    made, _ = check_film(trace)
    assert_says(trace, made)
    other, again, how = case()
    backward(other, how)
    for name, leaf in named.items():
        assert bits(leaf.grad) == bits(again[name].grad)


@pytest.mark.filterwarnings("ignore:Using backward.* with create_graph")
@each_case
def test_bytes_held_are_those_that_torch_keeps_and_fall_to_what_is_not_freed(case):
    roots, named, how = case()
    sizes = {}
    for root in roots if isinstance(roots, list) else [roots]:
        sizes |= storages_by_torch(root)
    leaves = {one.untyped_storage().data_ptr() for one in named.values() if one.is_leaf}
    whole = sum(size for place, size in sizes.items() if place not in leaves)
    trace = record(roots, names=named, **how)
    made = film(trace)
    assert made.moments[0].bytes_held == whole
    is_kept = how.get("retain_graph") or how.get("create_graph")
    assert made.moments[-1].bytes_held == (whole if is_kept else 0)


def test_health_and_the_first_trouble_are_told():
    x, w = leaf(value=[0.0, 4.0]), leaf(value=[1.0, 1.0])
    trace = record((torch.sqrt(x * 0) * w).sum())
    made, found = check_film(trace)
    titles = [moment.title for moment in made.moments[1:-1]]
    assert found.trouble == made.trouble == titles.index("Sqrt")
    health = {moment.title: moment.health for moment in made.moments}
    assert (health["Sqrt"], health["Sum"]) == ("inf", "")
    assert at_step(made, found.trouble + 1).health == "NaN"
    told = [
        moment.title for moment in made.moments if "The first inf appears here." in moment.sentence
    ]
    assert told == ["Sqrt"]
    assert "inf" in made.moments[-1].sentence
    zero = leaf(3)
    assert [one.health for one in film(record((zero * 0).sum())).moments[1:-1]] == [
        "",
        "zero",
        "",
    ], "a leaf hands on nothing"
    assert film(example()).trouble is None


def test_an_error_in_the_middle_stands_at_the_end_and_at_its_node():
    x = leaf(2)
    y = x.exp()
    loss = (y * y).sum()
    with torch.no_grad():
        y.add_(1)
    trace = traced(lambda: record(loss))
    made, found = check_film(trace)
    assert [moment.title for moment in made.moments] == [
        f"{trace.graph.nodes[0].name or 'the root'}.backward()",
        "Sum",
        "backward() stopped at Mul",
    ]
    end = made.moments[-1]
    assert end.is_error
    assert end.bytes_held == made.moments[1].bytes_held > 0
    assert end.sentence.startswith("After 1 step: one of the variables needed")
    (scene,) = made.scenes
    assert trace.graph.nodes[scene.stopped_at].operation == "MulBackward0"
    assert found.data["scenes"][0]["stopped"] == scene.stopped_at


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


def large_trace(what):
    """Return the trace of a program that is folded."""
    torch.manual_seed(0)
    if what == "stopped":
        return half_stopped()
    if what == "with calls":
        model, x = big_models.encoder(6), torch.randn(1, 3, 8)
        with module_calls(model) as calls:
            loss = model(x).pow(2).mean()
        return record(loss, names=calls)
    model, x = Cells(), torch.randn(50, 1, 2)
    if "transformer" in what:
        model, x = big_models.encoder(), torch.randn(1, 3, 8)
    loss = (model(x) ** 2).mean()
    inputs = [model.layers[5].linear1.weight] if "part" in what else None
    return record(loss, names=model, inputs=inputs)


LARGE = ["transformer, part", "cells", "stopped", "with calls"]
each_large = pytest.mark.parametrize("what", LARGE)


@functools.cache
def staged(what):
    trace = large_trace(what)
    return trace, *check_film(trace), views(trace.graph, animate.MOST_VIEWS)


@each_large
def test_in_every_view_every_node_is_in_one_box_and_every_edge_in_one_or_inside(what):
    trace, made, _, drawn = staged(what)
    assert len(drawn) == len(made.scenes) > 1
    for view in drawn:
        inside = [one for inside in view.nodes for one in inside]
        assert sorted(inside) == list(range(len(trace.graph.nodes)))
        box = {one: nr for nr, inside in enumerate(view.nodes) for one in inside}
        ends = [(edge.source, edge.target) for edge in view.graph.edges]
        for nr, together in enumerate(view.edges):
            for old in (trace.graph.edges[one] for one in together):
                assert (box[old.source], box.get(old.target)) == ends[nr]


@each_large
def test_what_a_view_opens_is_what_has_its_turn_and_is_open_there(what):
    trace, made, _, drawn = staged(what)
    turn = {step.node: number for number, step in enumerate(trace.steps)}
    for view, scene in zip(drawn, made.scenes, strict=True):
        copies = dict(view.copies)
        assert {nr for nr, node in enumerate(view.graph.nodes) if node.folded} == set(copies)
        for node, turned in enumerate(scene.turns):
            if node not in copies:
                assert not turned.opens
                continue
            assert turned.opens[0][0] == -1
            for now in range(-1, len(trace.steps) + 1):
                (*_, to) = [view for start, view in turned.opens if start <= now]
                at_turn = [
                    copy for copy in copies[node] for one in copy.nodes if turn.get(one, -2) == now
                ]
                if at_turn and at_turn[0].view:
                    assert to == at_turn[0].view
                    there = drawn[to]
                    boxes = [
                        inside
                        for box, inside in zip(there.graph.nodes, there.nodes, strict=True)
                        if box.folded and trace.steps[now].node in inside
                    ]
                    assert boxes != [view.nodes[node]], "it is folded in the same box there"
    reached = {0} | {to for scene in made.scenes for turn in scene.turns for _, to in turn.opens}
    assert reached == set(range(len(drawn)))
    for nr, scene in enumerate(made.scenes[1:], start=1):
        assert scene.parent < nr


@each_large
def test_a_summary_tells_what_entered_and_what_left(what):
    trace, made, _, drawn = staged(what)
    turn = {step.node: number for number, step in enumerate(trace.steps)}
    count = 0
    for scene, view in zip(made.scenes, drawn, strict=True):
        box = {one: nr for nr, inside in enumerate(view.nodes) for one in inside}
        for stop in (one for one in scene.stops if one.last > one.first):
            moment, steps = made.moments[stop.moment], range(stop.first, stop.last + 1)
            count += 1
            here = box[trace.steps[stop.first].node]
            assert f"Stepped over {len(steps):,} steps" in moment.sentence
            arrived = [one for one in trace.steps[stop.first].grad_outputs if one is not None]
            left = [
                trace.steps[now].grad_inputs[edge.position]
                for now in steps
                for edge in trace.graph.inputs_by_node().get(trace.steps[now].node, ())
                if edge.target is not None and box[edge.target] != here
            ]
            left = [one for one in left if one is not None]
            if not left:
                assert_ends(trace, steps, moment)
                continue
            assert len(moment.rows) == min(len(left), 1 if moment.bars else 2)
            for row, one in zip(moment.rows, left, strict=False):
                assert_gradient([cell.what for cell in row if cell.role == "arrives"], arrived[0])
                assert_gradient([cell.what for cell in row if cell.role == "handed"], one)
            assert_bars(trace, view, here, steps, turn, moment.bars)
    assert count


def assert_ends(trace, steps, moment):
    """Check that of a part that hands nothing on the first `.grad`s are told."""
    leaves = [trace.steps[now].leaf for now in steps if trace.steps[now].leaf]
    assert len(moment.rows) == min(len(leaves), 1 if moment.bars else stepped_over.MOST_ROWS)
    assert not any(cell.is_asked for row in moment.rows for cell in row)
    for row, leaf in zip(moment.rows, leaves, strict=False):
        assert_gradient([cell.what for cell in row if cell.role == "total"], leaf.after)


def assert_gradient(shown, gradient):
    (what,) = shown
    if gradient is None:
        assert what == "None"
    elif isinstance(what, Gradient):
        assert what == gradient
    else:
        assert what == text_of(gradient.values)


def assert_bars(trace, view, here, steps, turn, bars):
    """Check the norms at the borders of copies: one for each that ran in these steps."""
    copies = dict(view.copies)[here]
    entered = [
        min([turn[one] for one in copy.nodes if turn.get(one) in steps], default=None)
        for copy in copies
    ]
    entered = sorted(one for one in entered if one is not None)
    if not 1 < len(entered) <= stepped_over.MOST_BARS:
        assert not bars
        return
    norms = []
    for now in entered:
        one = next(one for one in trace.steps[now].grad_outputs if one is not None)
        flat = torch.tensor(one.values, dtype=torch.float64) if one.values is not None else None
        norms.append(one.norm if flat is None else flat.norm().item())
    assert [size for _, size in bars] == pytest.approx(norms, rel=1e-3)
    assert len({name for name, _ in bars}) == len(bars)


def test_a_graph_that_was_cut_tells_no_whole_way(monkeypatch):
    """Near the root x is read once; the other way to it lies in what was cut off."""
    x = deep = torch.tensor(3.0, requires_grad=True)
    for _ in range(9):
        deep = deep.sin()
    for module in ("recording.backward_log", "looking.snapshot"):
        monkeypatch.setattr(f"autograd_graphs.{module}.NEAREST", NEAREST._replace(nodes=6))
    trace = record(deep * x, names={"x": x})
    assert trace.graph.left_out
    assert any(step.leaf for step in trace.steps), "x itself is near"
    assert {moment.whole_way for moment in film(trace).moments if moment} == {""}


def test_the_first_moment_says_what_was_given_and_what_was_not():
    x = torch.tensor([3.0], requires_grad=True)
    said = []
    for start in (None, [None, torch.tensor([5.0])], [torch.tensor([2.0]), torch.tensor([5.0])]):
        said.append(film(record([x * 2, x * 3], gradient=start)).moments[0].sentence)
    assert said == [
        "backward() starts with the number 1 at each root.",
        "backward() starts with what you gave it, and with 1 at the other roots.",
        "backward() starts with the gradients you gave it.",
    ]
