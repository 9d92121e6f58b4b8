"""`show`, `record` and `step_through` on values of an engine that a student wrote."""

import random
from types import ModuleType

import pytest
import torch

from autograd_graphs import record, show, step_through
from autograd_graphs.picture import Picture
from autograd_graphs.playing.animate import film
from autograd_graphs.playing.player import Player
from helpers.engine.putting_together import STAGES, run_in, text

RECURSION = """
def run_backward(root, grad, evaluate):
    for (child, _), part in zip(root.next_functions, evaluate(root, grad)):
        if child is not None:
            run_backward(child, part, evaluate)
"""
SEEN_AND_QUEUE = """
def run_backward(root, grad, evaluate):
    arrived, queue, seen = {root: grad}, [root], {root}
    while queue:
        node = queue.pop(0)
        for (child, _), part in zip(node.next_functions, evaluate(node, arrived[node])):
            arrived[child] = arrived[child] + part if child in arrived else part
            if child not in seen:
                seen.add(child)
                queue.append(child)
"""
NOT_FREED = "def evaluate(node, grad, retain_graph=False):\n    return node.backward(grad)\n"


def engine(changes=""):
    """Return a module with the whole engine, in which a text replaces definitions."""
    module = ModuleType("my_engine")
    for stage in STAGES:
        run_in(vars(module), stage, text(stage))
    run_in(vars(module), "changes", changes)
    return module


def example(value):
    """Return the names of a program in which a value is used twice."""
    x = value(3.0, requires_grad=True)
    h = x * x
    return {"x": x, "h": h, "e": h * h + h}


def programs(seed):
    """Return by name what a random program makes with torch, and on an engine of one's own."""
    rng = random.Random(seed)
    size = rng.choice([(), (3,)])
    leaves = [torch.tensor([rng.uniform(-1.2, 1.2) for _ in range(3)]) for _ in range(4)]
    leaves = [leaf if size else leaf[0] for leaf in leaves[: rng.randint(2, 4)]]
    lines = [(rng.random() < 0.5, rng.random(), rng.random()) for _ in range(rng.randint(3, 12))]
    own = engine()
    kinds = (lambda data: data.clone().requires_grad_(), lambda data: own.Value(data, True))
    for kind in kinds:
        values = list(map(kind, leaves))
        for is_sum, *places in lines:
            one, other = [values[int(place * len(values))] for place in places]
            values.append(one + other if is_sum else one * other)
        yield {f"v{nr}": value for nr, value in enumerate(values)}


def steps_of(trace):
    """Return the sentences of a trace without their numbers, in no order."""
    return sorted(line.partition(": ")[2] for line in str(trace).splitlines())


def looks_alike(seed):
    """Compare pictures before and after a backward, and its steps."""
    looks = []
    for names in programs(seed):
        last = [*names.values()][-1]
        start = {} if last.data.dim() == 0 else {"gradient": torch.ones(3)}
        before = show(last, names=names)
        trace = record(last, names=names, **start)
        after = show(last, names=names)
        looks.append((before.svg, before.text, steps_of(trace), after.svg, after.text))
    assert looks[0] == looks[1], seed


@pytest.mark.parametrize("seed", range(12))
def test_pictures_and_steps_are_those_of_torch(seed):
    looks_alike(seed)


@pytest.mark.slow
def test_pictures_and_steps_of_200_programs_are_those_of_torch():
    for seed in range(100, 300):
        looks_alike(seed)


def test_the_player_says_what_it_says_of_torch():
    spaces = [example(torch.tensor), example(engine().Value)]
    torchs, own = [film(record(names["e"], names=names)) for names in spaces]
    for told in (lambda m: m.title, lambda m: m.sentence, lambda m: m.rows, lambda m: m.choices):
        assert list(map(told, own.moments)) == list(map(told, torchs.moments))
    assert any(moment.formulas for moment in torchs.moments)
    assert not any(moment.formulas for moment in own.moments), "torch's formulas made none of it"
    assert own.program == ()


def test_a_backward_that_ran_is_shown_again_without_running():
    names = example(engine().Value)
    step_through(names["e"], names=names)
    again = step_through(names["e"], names=names)
    assert str(again).startswith("This backward already ran.")
    assert names["x"].grad.data == 114
    assert "norm 114.0" in show(names["e"], color="grad").text


def test_states_of_photographs():
    own = engine()
    names = example(own.Value)
    with own.no_grad():
        names["h"].add_(1.0)
    assert "▲ self = h (saved at v0, now v1)" in show(names["e"], names=names).text
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0") as caught:
        record(names["e"], names=names)
    assert [
        caught.value.trace.graph.nodes[step.node].name for step in caught.value.trace.steps
    ] == ["e"]
    assert "stopped: one of the variables" in str(caught.value.trace)


def test_values_without_a_graph_and_leaves_never_used():
    own = engine()
    w, x = own.Value(2.0, requires_grad=True), own.Value(2.0)
    assert show(w).text == "AccumulateGrad (leaf w = 2.0, .grad None)"
    none = x * x
    assert show(none).text.startswith("none has no graph: requires_grad=False (made without")
    assert show(w, w * x).graph.roots[0].node == 0


def test_a_wrong_engine_is_shown_as_it_is():
    own = engine(SEEN_AND_QUEUE)
    x = own.Value(3.0, requires_grad=True)
    h = x * x
    e = h + h * h
    player = step_through(e)
    assert isinstance(player, Player)
    assert "MulBackward0 (h): 1.0 arrives, hands on 3.0" in str(player)
    assert "AccumulateGrad (leaf x): 6.0 arrives, .grad goes from None to 6.0" in str(player)


def test_a_node_that_runs_twice_is_printed_and_not_played():
    names = example(engine(RECURSION + NOT_FREED).Value)
    seen = step_through(names["e"], names=names)
    assert isinstance(seen, Picture)
    assert seen.text.startswith("AccumulateGrad (leaf x) ran 6 times in this one backward.")
    assert (
        "step 11 of 11: AccumulateGrad (leaf x): 3.0 arrives, .grad goes from 111.0 to 114.0"
        in (seen.text)
    )
    assert "goes from 81.0 to 108.0" in seen.svg
    with pytest.raises(ValueError, match="a card has only one colour"):
        show(names["e"], color="grad")


def test_steps_beyond_two_thousand_are_counted():
    e = engine(RECURSION + NOT_FREED).Value(1.0, requires_grad=True)
    for _ in range(12):
        e = e + e
    trace = record(e)
    assert len(trace.steps) == 2_000
    assert str(trace).splitlines()[-1] == "6,191 more steps ran after these."


def test_a_wrong_slope_is_told_by_its_numbers_alone():
    wrong = "MulBackward0.backward = lambda self, grad: tuple(grad for _ in unpack(self))"
    names = example(engine(wrong).Value)
    assert "hands on 1.0 (by its own backward) and 1.0 (by its own backward)" in str(
        record(names["e"], names=names)
    )


@pytest.mark.parametrize("error", [RuntimeError("half-way"), KeyboardInterrupt(), SystemExit()])
def test_classes_are_theirs_again_whatever_stops_a_backward(error):
    own = engine()
    space = vars(own)
    kinds = [space[name] for name in ("AddBackward0", "MulBackward0", "AccumulateGrad")]
    before = [dict(vars(kind)) for kind in kinds]
    names = example(own.Value)
    objects = {id(thing): dict(vars(thing)) for thing in (*names.values(), names["e"].grad_fn)}

    def stops(leaf, grad):
        raise error

    space["accumulate_grad"] = stops
    with pytest.raises(type(error)) as caught:
        record(names["e"], names=names, retain_graph=True)
    assert len(caught.value.trace.steps) == 3
    assert [dict(vars(kind)) for kind in kinds] == before
    for thing in (*names.values(), names["e"].grad_fn):
        assert objects[id(thing)] == vars(thing)


def test_nodes_of_a_class_that_inherits_its_backward_keep_it_so():
    own = engine(
        "class Twice(AddBackward0): pass\ndef add(a, b): return recorded(a.data + b.data, Twice, (a, b))"
    )
    x = own.Value(1.0, requires_grad=True)
    assert "Twice" in str(record(x + x))
    assert "backward" not in vars(own.Twice)


class Noisy:
    """Hold a value's attributes behind properties that print, draw and fail."""

    def __init__(self, value):
        self._value = value

    @property
    def data(self):
        print("read")
        torch.manual_seed(1)
        return self._value.data

    grad_fn = property(lambda self: self._value.grad_fn)
    requires_grad = True

    @property
    def grad(self):
        raise SystemExit

    def __bool__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError

    __hash__ = None


def test_what_a_property_does_leaves_nothing_behind(capsys):
    names = example(engine().Value)
    state = torch.random.get_rng_state()
    assert show(Noisy(names["e"]), names=names).text.startswith("AddBackward0 → e")
    assert capsys.readouterr().out == ""
    assert torch.equal(torch.random.get_rng_state(), state)


class Half:
    """Hold a value whose engine is not finished."""

    def __init__(self, grad_fn=None):
        self.data, self.requires_grad = torch.tensor(1.0), True
        self.grad, self.grad_fn = None, grad_fn


class Bare:
    """Hold a node with nothing but what a test gives it."""

    def __init__(self, **given):
        vars(self).update(given)


@pytest.mark.parametrize("node", [Bare(), Bare(next_functions=None, saved=3, shape="x", name=7)])
def test_half_of_an_engine_gives_a_calm_picture(node):
    e = Half(node)
    assert show(e).text == "Bare → e"


def circle():
    node = Bare()
    node.next_functions = ((Bare(next_functions=((node, 0),)), 0),)
    return node


@pytest.mark.parametrize(
    ("node", "said"),
    [
        (Bare(next_functions=7), "next_functions of Bare is int"),
        (Bare(next_functions=(Bare(),)), "next_functions of Bare, entry 0, is Bare"),
        (Bare(next_functions=((Half(), 0),)), "next_functions of Bare, entry 0, is a value"),
        (Bare(next_functions=(("x", 0),)), "next_functions of Bare, entry 0, is str"),
        (Half(), "grad_fn is a value"),
        (circle(), "This graph runs in a circle: from Bare you come back to Bare"),
    ],
)
def test_what_cannot_be_drawn_is_said(node, said):
    with pytest.raises((TypeError, ValueError)) as caught:
        show(Half(node))
    assert str(caught.value).startswith(said)


def test_a_graph_without_an_end_is_cut():
    class Endless:
        @property
        def next_functions(self):
            return ((Endless(), 0),)

    assert "Cut here: the 2,000 nodes nearest" in show(Half(Endless())).text


def test_what_is_no_value_is_said_as_before():
    for thing in (3, "x", None, [1]):
        with pytest.raises(TypeError, match="Expected a tensor, got"):
            show(thing)
    lacks = Bare(data=torch.ones(1), grad=None)
    with pytest.raises(TypeError, match="this one lacks requires_grad and grad_fn"):
        show(lacks)
    with pytest.raises(TypeError, match="its data is a tensor"):
        show(Bare(data=1.0, grad=None, grad_fn=None, requires_grad=True))
    with pytest.raises(TypeError, match="Bare has no backward"):
        step_through(Bare(data=torch.ones(1), grad=None, grad_fn=None, requires_grad=True))
    names = example(engine().Value)
    with pytest.raises(TypeError, match="starts at one value, but you gave 2"):
        record([names["h"], names["e"]])
    with pytest.raises(TypeError, match="tensors and values of your own separately"):
        show(names["e"], torch.ones(1))


def test_a_large_graph_of_values_is_drawn():
    own = engine()
    e = x = own.Value(0.5, requires_grad=True)
    for _ in range(300):
        e = e * x
    assert isinstance(step_through(e), Player)
    assert x.grad.data == pytest.approx(301 * 0.5**300)
