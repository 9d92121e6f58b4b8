"""A student's own engine: each stage does what PyTorch does, a typical mistake is told in its own words, and
`my_engine.py` never loses what somebody built.
"""

import itertools
import linecache
import os
import subprocess
import sys
from functools import partial
from random import Random

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from helpers import check, my_engine
from helpers.engine import keeping
from helpers.engine.cells import Cell
from helpers.engine.checks import TRIED, random_program
from helpers.engine.programs import alike, drawn, on_engine, on_torch
from helpers.engine.putting_together import STAGES, count, engine, given, lines, text, yours
from helpers.exercises.exercise import exercises, find, lessons
from helpers.exercises.verdict import judge

pytestmark = pytest.mark.usefixtures("unfolded")
ID = {one.stage: one.id for lesson in lessons() for one in exercises(lesson) if one.stage}
OURS = {stage: engine({name: text(name) for name in STAGES if name <= stage}) for stage in STAGES}


# Against PyTorch


def test_every_stage_is_asked_once():
    assert tuple(ID) == STAGES == tuple(TRIED)


def with_later_ones():
    """Return each stage with itself, the next one and the whole as the last: any other pair is between."""
    for number, stage in enumerate(STAGES):
        yield from [(stage, last) for last in dict.fromkeys([*STAGES[number:][:2], STAGES[-1]])]


@pytest.mark.parametrize(("stage", "last"), list(with_later_ones()))
def test_a_stage_does_what_pytorch_does_and_later_ones_leave_it_so(stage, last):
    _, look = TRIED[stage]
    for seed in range(200):
        program = random_program(look, Random(seed), 2 + seed % 9)
        assert alike(on_engine(OURS[last], program, look), on_torch(program, look)), program


@pytest.mark.parametrize("last", [stage for stage in STAGES if stage >= "05"])
@pytest.mark.parametrize(
    "program",
    ["x = Value(2.0); z = x * x", "x = Value([1.0, 2.0], requires_grad=True); z = x * 2"],
    ids=["no graph", "several numbers"],
)
def test_where_pytorch_refuses_to_go_backward_ours_does_in_the_same_words(last, program):
    said = []
    for value in (OURS[last]["Value"], lambda data, **flags: torch.tensor(data, **flags)):
        names = {"Value": value}
        exec(program, names)
        with pytest.raises(RuntimeError) as error:
            names["z"].backward()
        said.append(str(error.value))
    assert said[0] == said[1]


def test_many_paths_take_no_time_and_a_long_chain_no_recursion():
    x = OURS[STAGES[-1]]["Value"](1.0, requires_grad=True)
    h = x
    for _ in range(5_000):
        h = h + 1
    for _ in range(60):
        h = h + h
    h.backward()
    assert float(x.grad.data) == 2.0**60


def test_forward_mode_gives_what_jvp_gives():
    """Random programs without their first line are functions of `x`."""
    value, make_dual = OURS["17"]["Value"], OURS["17"]["make_dual"]
    for seed in range(200):
        first, _, body = drawn(Random(seed), 2 + seed % 9, False).partition("\n")
        x = eval(first.removeprefix("x = "), {"Value": float64})
        v = torch.arange(1.0, 1 + x.numel(), dtype=torch.float64).view_as(x)
        _, right = torch.func.jvp(partial(last_of, body, float64), (x,), (v,))
        z = last_of(body, lambda data, **_: value(float64(data)), make_dual(value(x), value(v)))
        assert torch.equal(0 * right if z.tangent is None else z.tangent.data, right)


def last_of(body, value, x):
    names = {"Value": value, "x": x}
    exec(body, names)
    return names["z"]


def float64(data, requires_grad=False):
    return torch.tensor(data, dtype=torch.float64)


def test_a_student_writes_little_at_a_time_and_the_whole_stays_short():
    so_far = {}
    for stage in STAGES:
        so_far[stage] = text(stage)
        assert 11 <= count(yours(stage)) <= 25
        assert lines(so_far) <= (155 if stage <= "09" else 280 if stage < "19c" else 320)


# Mistakes, each in the smallest place of our own text, and words of what a student hears


QUEUE = """
    arrived, queue = {root: grad}, [root]
    for node in queue:
        for (child, _), grad in zip(node.next_functions, evaluate(node, arrived[node])):
            if child is not None and child not in arrived:
                queue.append(child)
            if child is not None:
                arrived[child] = arrived[child] + grad if child in arrived else grad
"""
FIRST_VISIT = """
    order = []

    def visit(node):
        if node is not None and node not in order:
            order.append(node)
            for child, _ in node.next_functions:
                visit(child)

    visit(root)
    arrived = {root: grad}
    for node in order:
        for (child, _), grad in zip(node.next_functions, evaluate(node, arrived[node])):
            if child is not None:
                arrived[child] = arrived[child] + grad if child in arrived else grad
"""
EACH_PATH = """
    for (child, _), out in zip(root.next_functions, evaluate(root, grad)):
        if child is not None:
            run_backward(child, out, evaluate)
"""
ADDED = "leaf.grad.data += grad.data"
ASKED = "    if node.saved is None:\n        raise RuntimeError(TWICE)\n"
RAN = "    grads = node.backward(grad)\n"
THROWN = "    node.saved = node.saved and None\n"
DATED = yours("09").partition("TWICE)\n")[2].partition("    return")[0]
HISTORY, RECORDS = "[value for value, _ in node.saved]", "with set_grad_enabled(create_graph):"
WALKS = (
    f"    {RECORDS}\n        run_backward(edge(value)[0], first_gradient(value, gradient), run)\n"
)
TALLY = "leaf.grad = grad + (0.0 if leaf.grad is None else leaf.grad)"
WALK = yours("05").partition("evaluate):")[2]
LOOKS = """class MulBackward0(Node):
    def backward(self, grad):
        a, b = self.saved
        return grad * b, grad * a


"""
HOOKS = yours("14").partition("retain_graph=False):\n")[2]
BEFORE, RUN, REST = HOOKS.partition("    grads = run_node(node, grad, retain_graph)\n")
KEPT = f"    came = grad\n{HOOKS}"
VALIDATED = "    return validate_outputs(node, grads if isinstance(grads, tuple) else (grads,))\n"
DUAL = "    return beside(value, as_value(tangent, value.data.dtype))\n"
BOTH, UNPACKED = "((a, b), (b, a))", "return beside(value, None), value.tangent"
ADDED_UP = "        tangent = result.tangent + tangent\n"
PUSHED = "push(result, one.tangent * beside(other, None))  # a slope times the plain number\n"
ONCE_SET = "    result.tangent = tangent\n"
MISTAKES = {
    "04": [
        ("    if any(value.requires_grad for value in inputs):", "    if False:", "doesn't know that it"),
        ("AddBackward0, (a, b))", "AddBackward0, (a, b), (a, b))", "Your sum photographs its inputs"),
        ("saved=(a, b)", "saved=(b, a)", "has to photograph both factors"),
        ("saved=(a, b)", "saved=(a.data, b.data)", "Photograph the Values themselves"),
        ("    if value.grad_accumulator is None:\n        value", "    value", "single AccumulateGrad"),
        ("any(", "all(", "One input that requires grad is enough"),
        ("kind(inputs, ", "kind([v for v in inputs if v.requires_grad], ", "You left `y` out"),
        ("    if not value.requires_grad:\n        return None, 0\n", "", "Its edge is `(None, 0)`"),
        ("if any(value.requires_grad for value in inputs)", "if True", "and yet you left a node"),
        (", data.shape", "", "doesn't know the shape"),
        ("    if value.grad_fn is not None:\n        return value.grad_fn, 0\n", "", "Only a leaf has an"),
        ("return value.grad_accumulator, 0", "return value.grad_accumulator", "returns a pair"),
        ("kind(inputs, saved, data.shape)", "kind(inputs, saved, inputs[0].data.shape)", "got the shape of its first input"),
        ("recorded(a.data + b.data", "recorded(a + b", "calls itself for ever"),
    ],
    "05": [
        ("return grad, grad", "return grad", "with one gradient for each input"),
        ("return grad, grad", "return (grad,)", "two gradients, one for each edge"),
        ("evaluate(node, arrived.pop(node))", "node.backward(arrived.pop(node))", "yourself"),
        ("        grads = evaluate(", "        if not node.next_functions:\n            node.variable.grad = arrived[node]\n            continue\n        grads = evaluate(", "not every node went through"),
        ("grad * b, grad * a", "grad * a, grad * b", "the other one"),
        ("grad * b, grad * a", "b, a", "forgot what had reached it"),
        ("arrived[child] + grad if child in arrived else grad", "grad", "The second replaced the first"),
        (WALK, EACH_PATH, "replaced what the first had written"),
        (WALK, QUEUE, "With yours the order decides"),
        (WALK, FIRST_VISIT, "With yours the order decides"),
        ("            if child is not None:\n                waiting", "            if True:\n                waiting", "so step over it"),
        ("unpack(self)", "self.saved", "the way back was recorded as well"),
        ("ready.pop()", "ready[0]\n        arrived[node] = grad", "it doesn't seem to end"),
    ],
    "06": [
        (ADDED, "leaf.grad = Value(grad.data.clone())", "Each call replaced"),
        ("Value(grad.data.clone())", "grad.clone()", "A Value has no such method"),
        ("Value(grad.data.clone())", "grad", "You kept it as it came"),
        ("Value(grad.data.clone())", "Value(grad.data)", "You kept it as it came"),
        ("Value(grad.data.clone())", "grad.data.clone()", "has to be a `Value`"),
        ("leaf.grad is None:", "False:", "there is no tally yet"),
        (ADDED, "leaf.grad = Value(leaf.grad.data + grad.data)", "made a new tally: `g`"),
        (ADDED, "leaf.grad = leaf.grad + grad", "made a new tally: `g`"),
        ("set_to_none=True", "set_to_none=False", "By default `zero_grad` lets go"),
        ("leaf.grad.data.zero_()", "leaf.grad = Value(0.0 * leaf.grad.data)", "a new tally of zeros"),
        ("leaf.grad.data.zero_()", "leaf.grad = None", "With `set_to_none=False` the tally stays"),
        ("            leaf.grad = None\n", "            leaf.grad = None\n            return\n", "stopped after the first one"),
        ("elif leaf.grad is not None:", "else:", "There's nothing to write zeros into"),
        ("    else:\n        leaf.grad.data +=", "    if True:\n        leaf.grad.data +=", "The first gradient counts twice"),
        ("elif leaf.grad is not None:", "else:\n            leaf.grad = leaf.grad or Value(0 * leaf.data)", "so it has no tally"),
        ("*leaves", "leaves", "Keep that `*`"),
    ],
    "07": [
        (RAN, THROWN + RAN, "Even the first call is refused"),
        ("    return grads", "", "A node has to hand its gradients on"),
        ("and not retain_graph", "and retain_graph", "You have the flag the wrong way round"),
        ("node.saved = None\n", "pass\n", "still holds its photographs"),
        (RAN + "    if node.saved and not retain_graph:\n        node.saved = None\n", "    if getattr(node, 'ran', False):\n        raise RuntimeError(TWICE)\n" + RAN + "    node.ran = bool(node.saved) and not retain_graph\n", "by setting it to None"),
        ("node.saved = None\n", "node.next_functions = ()\n", "without its edges"),
        (ASKED, "", "but in Python's words"),
        ("def evaluate(", f"{LOOKS}def evaluate(", "Does your node of lesson 05 ask it"),
        (ASKED, "    if not node.saved:\n        return [Value(0.0)] * 2\n", "as if nothing were missing"),
        ("RuntimeError(TWICE)", 'RuntimeError("twice")', "but not in PyTorch's words"),
        ("RuntimeError(TWICE)", "ValueError(TWICE)", "PyTorch says them in a RuntimeError"),
        ("RuntimeError(TWICE)", "TWICE", "PyTorch says them in a RuntimeError"),
        ("(evaluate, retain_graph=retain_graph)", "(evaluate, retain_graph)", "where the node should be"),
        (RAN, "    if hasattr(node, 'ran'):\n        raise RuntimeError(TWICE)\n    node.ran = True\n" + RAN, "A sum refuses"),
        ("run = partial(evaluate, retain_graph=retain_graph)", "run = evaluate", "the photographs should stay"),
        ("partial(evaluate, retain_graph=retain_graph)", "evaluate(retain_graph=retain_graph)", "before there was a node"),
    ],
    "08": [
        ("    global grad_mode\n", "", "Begin with `global grad_mode`"),
        ("@contextmanager\n", "", "Does `@contextmanager` stand above"),
        ("if grad_mode and any", "if any", "still records"),
        ("        yield\n", "        yield\n        yield\n", "exactly one `yield`"),
        ("if grad_mode and any(value.requires_grad for value in inputs):\n        result.requires_grad = True", "if any(value.requires_grad for value in inputs):\n        result.requires_grad = grad_mode", "still has a node"),
        ("before, grad_mode = grad_mode, mode", "before, grad_mode = grad_mode, False", "the switch should be what `mode` says"),
        ("before, grad_mode = grad_mode, mode", "before, grad_mode = grad_mode, not grad_mode", "the switch should be what `mode` says"),
        ("    finally:\n", "    except ZeroDivisionError:\n        pass\n    finally:\n", "swallowed an error"),
        ("    return Value(value.data)", "    second = Value(value.data)\n    second.grad_fn = value.grad_fn\n    return second", "still leads to the node of `h`"),
        ("grad_mode = before", "pass", "doesn't record any more"),
        ("grad_mode = before", "grad_mode = True", "which needn't be True"),
        ("    try:\n        yield\n    finally:\n        grad_mode = before", "    yield\n    grad_mode = before", "A block was left"),
        ("return Value(value.data)", "return value", "still has its history"),
        ("    return Value(value.data)", "    value.grad_fn, value.requires_grad = None, False\n    return value", "took the flag or the history away"),
        ("    return Value(value.data)", "    value.grad_fn = None\n    return Value(value.data)", "took the flag or the history away"),
        ("Value(value.data)", "Value(value.data.clone())", "a copy of the numbers"),
        ("return Value(value.data)", "return value.data", "returns the bare tensor"),
        ("Value(value.data)", "Value(value.data, requires_grad=True)", "unless you ask it to later"),
    ],
    "09": [
        ("(value, value._version) for", "value for", "Does `unpack` still return Values"),
        ("return [Value(value.data) for value, _ in node.saved]", "return node.saved", "Does `unpack` still return Values"),
        ("def add_(", f"{LOOKS}def add_(", "does your node of lesson 05 ask"),
        ("    value.edits[0] += 1\n", "", "A write has to move the counter"),
        ("(value, value._version)", "(value, 0)", "The date is what the counter says"),
        ("format(value._version, date)", "format(date, value._version)", "the two numbers in your message are wrong"),
        ("!= date", "!= value._version", "you used the photograph all the same"),
        ("if grad_mode and value.requires_grad and value.grad_fn is None", "if False", "has to be refused"),
        ("if grad_mode and", "if", "Ask for `grad_mode`"),
        ("value.data.copy_(result.data)", "value.data = result.data", "instead of giving `value` a new tensor"),
        ("    second.edits = value.edits  # one tensor, one date\n", "", "Hand over the list `edits` itself"),
        ("second.edits = value.edits", "second.edits = list(value.edits)", "Hand over the list `edits` itself"),
        ("True, result.grad_fn", "True, value.grad_fn", "Hand it the `grad_fn` of the sum"),
        ("    if result.requires_grad:\n        value", "    value", "and should keep it"),
        ("value.requires_grad, value.grad_fn = True,", "value.grad_fn =", "Now it requires grad"),
        (" and value.grad_fn is None", "", "so it's no leaf"),
        ("(value, value._version)", "(Value(value.data), value._version)", "a Value of its own"),
        ("    value.edits[0] += 1\n    if result.requires_grad:\n", "    if result.requires_grad:\n        value.edits[0] += 1\n", "it counts all the same"),
        ("value.edits[0] += 1", "value.edits = [value.edits[0] + 1]", "count in that list"),
        ("    return value\n", "", "returns the value that it has edited"),
        ("    if node.saved is None:\n        raise RuntimeError(TWICE)\n", "", "gone after a backward"),
        ("    if node.saved is None:\n        raise RuntimeError(TWICE)\n", "    node.saved = node.saved or []\n", "gone after a backward"),
        ("value.edits[0] += 1", "value._version += 1", "only reads the counter"),
        ("value.edits[0] += 1", "value.edits[0] =+ 1", "how many writes there were"),
        ("value.edits[0] += 1", "value.edits[0] += 2", "how many writes there were"),
        ("(value, value._version)", "(Value(value.data.clone()), 0)", "Your photograph is a copy"),
        ("MODIFIED.format(value._version, date)", '"edited"', "not in the words of `MODIFIED"),
        ("value.requires_grad and value.grad_fn", "value.grad_fn", "Refuse only a leaf"),
        ("    result = value + other\n", "    value.edits[0] += 1\n    result = value + other\n", "how many writes there were"),
        ("    if result.requires_grad:\n        value.requires_grad, value.grad_fn = True,", "    value.requires_grad, value.grad_fn = result.requires_grad,", "Leave its flag alone"),
        ("Value(value.data)\n    second.edits", "Value(value.data.clone())\n    second.edits", "instead of giving `value` a new tensor"),
        ("    second = Value(value.data)\n", "    return value\n", "a second Value without history"),
        ("(value, value._version) for value in values]\n\n\ndef unpack(node):\n    if node.saved is None:\n        raise RuntimeError(TWICE)\n    for value, date in node.saved:\n        if value._version != date:", "(value, value.data._version) for value in values]\n\n\ndef unpack(node):\n    if node.saved is None:\n        raise RuntimeError(TWICE)\n    for value, date in node.saved:\n        if value.data._version != date:", "the tensor inside has a counter"),
        ("    return value\n", "    return result\n", "be one and the same Value"),
        ("format(value._version, date)", "format(1, 0)", "the two numbers in your message are wrong"),
        ("in node.saved:", "in node.saved[-1:]:", "compare each one with its date"),
    ],
    "12": [
        ('Backward"', '"', "at the end, as in `CubeBackward`"),
        ("save(values)", "values", "A single Value stands where"),
        ("tuple(unpack(self))", "(value for value in unpack(self))", "has to be a tuple, so that"),
        ("self.saved = save(values)", "self.kept = save(values)", "Keep what you save in `self.saved`"),
        ("tuple(unpack(self))", "self.saved", "hands out pairs"),
        ("    @property\n", "", "it needs `@property` above it"),
        ("    @classmethod\n", "", "It needs `@classmethod` above it"),
        ("    @classmethod\n", "    @staticmethod\n", "It needs `@classmethod` above it"),
        ("cls([as_value(thing) for thing in inputs])", "cls()", "your `ctx` leads nowhere"),
        ("cls([as_value(thing) for thing in inputs])", "cls", "You used the class itself"),
        ("class Function(Node):", "class Function:", "has to inherit from `Node`"),
        ("[as_value(thing) for thing in inputs]", "inputs", "A plain number among the inputs"),
        ("[as_value(thing) for thing in inputs]", "[thing for thing in inputs if isinstance(thing, Value)]", "You left the plain number out"),
        ("with no_grad():", "if True:", "nothing should be recorded"),
        ("forward(ctx, *inputs)", "forward(*inputs)", "gets its `ctx` first"),
        ("forward(ctx, *inputs)", "forward(ctx, inputs)", "in a single tuple"),
        ("            result = detach(result)\n", "            pass\n", "lost its own history"),
        ("if grad_mode and any", "if any", "Recording is switched off here"),
        ("if grad_mode and any(child is not None for child, _ in ctx.next_functions)", "if grad_mode", "The input doesn't want a gradient"),
        ("result.requires_grad, result.grad_fn, ctx.shape = True,", "result.grad_fn, ctx.shape =", "doesn't say that it requires grad"),
        (", ctx.shape = True, ctx, result.data.shape", " = True, ctx", "doesn't know the shape"),
        ("result.data.shape", "inputs[0].data.shape", "doesn't know the shape"),
        ("        return result\n", "", "`apply` has to return the result"),
        ("type(node).backward(node, grad)", "node.backward(grad)", "so `ctx` is missing"),
        ("type(node).backward(node, grad)", "node.backward(node, grad)", "Called through the class, both kinds fit"),
        ("    grads = type(node)", "    node.saved = node.saved and None\n    grads = type(node)", "before the backward can look at them"),
        ("node.saved = None\n", "pass\n", "The second call should be refused"),
        ("and not retain_graph", "and retain_graph", "The second call should be refused"),
        ("validate_outputs(node, grads if isinstance(grads, tuple) else (grads,))", "grads if isinstance(grads, tuple) else (grads,)", "your engine doesn't mind"),
        ("grads if isinstance(grads, tuple) else (grads,)", "grads", "without a tuple"),
        ("grads if isinstance(grads, tuple) else (grads,)", "(grads,)", "return a tuple already"),
        ("unpack(self)", "value for value, _ in self.saved", "has to ask `unpack`"),
        ("(ctx, *inputs)", "(ctx, *map(as_value, inputs))", "a plain number stays a plain number"),
        ("and any(child is", "and all(child is", "because one of the inputs requires grad"),
        ("    return validate_outputs(", "    validate_outputs(", "makes of the gradients"),
        (VALIDATED, "    grads = grads if isinstance(grads, tuple) else (grads,)\n    validate_outputs(node, grads)\n    return grads\n", "a gradient of None got through"),
        ("        ctx = cls(", "        ctx = cls.one = vars(cls).get('one') or cls(", "got in each other's way"),
        ("node.saved and not retain_graph", "node.saved", "should stay for another call"),
        ("save(values)", "save([Value(value.data) for value in values])", "didn't notice"),
        ("detach(result)", "Value(result.data.clone())", "The result is a copy"),
    ],
    "13": [
        (HISTORY, "[Value(value.data) for value, _ in node.saved]", "whose history was torn off"),
        (HISTORY, "node.saved", "without their dates"),
        (RECORDS, "if True:", "leaves a gradient with a graph"),
        (RECORDS, "with set_grad_enabled(True):", "leaves a gradient with a graph"),
        (RECORDS, "with set_grad_enabled(create_graph):\n        pass\n    if True:", "the walk itself inside it"),
        (RECORDS, "with set_grad_enabled(False):", "the switch or the tally"),
        (RECORDS, "global grad_mode\n    grad_mode = create_graph\n    if True:", "doesn't record any more"),
        (RECORDS, "with set_grad_enabled(create_graph and grad_mode):", "even under `no_grad()`"),
        ("retain_graph=None, create_graph=False):", "retain_graph=None):\n    create_graph = False", "doesn't know `create_graph`"),
        (f"    if grad_mode:\n        {TALLY}  # recorded\n    elif", "    if", "the switch or the tally"),
        (TALLY, "leaf.grad = grad", "still has to add"),
        (TALLY, "leaf.grad = grad if leaf.grad is None else leaf.grad + grad", "were handed the same Value"),
        (TALLY, "leaf.grad = grad + leaf.grad", "there is no tally yet"),
        (TALLY, "leaf.grad = grad + 0.0 if leaf.grad is None else leaf.grad.add_(grad)", "the second call wrote into it"),
        ("    if grad_mode:\n", "    if True:\n", "You made a new one"),
        ("leaf.grad.add_(grad)", "leaf.grad = leaf.grad + grad", "You made a new one"),
        ("Value(grad.data.clone())", "grad", "were handed the same Value"),
        ("    if retain_graph is None:\n        retain_graph = create_graph\n", "", "the photographs in there"),
        ("partial(evaluate, retain_graph=retain_graph)", "evaluate", "the photographs in there"),
        ("    if retain_graph is None:\n        retain_graph =", "    retain_graph = retain_graph or", "was said in so many words"),
        (ASKED, "", "as it did in lesson 07"),
        (DATED, "", "look at its date"),
        ("format(value._version, date)", "format(date, value._version)", "its two numbers the wrong way"),
        ("        leaf.grad.add_(grad)\n", "        pass\n", "and just once"),
        (HISTORY, "[Value(value.data, requires_grad=True) for value, _ in node.saved]", "doesn't bring it back"),
        ("    if grad_mode:\n", "    if grad.requires_grad:\n", "not what the gradient says"),
        ("0.0 if leaf.grad is None else leaf.grad", "0.0 if leaf.grad is None else detach(leaf.grad)", "only one of them is in the graph"),
        (WALKS, "    global grad_mode\n    before, grad_mode = grad_mode, create_graph\n    run_backward(edge(value)[0], first_gradient(value, gradient), run)\n    grad_mode = before\n", "even if there's an error"),
        ("leaf.grad.add_(grad)", "leaf.grad.data += grad.data", "nothing counted the write"),
    ],
    "14": [
        ("    return grads\n", "", "return what the node hands on"),
        ("run_node(node, grad, retain_graph)", "node.backward(grad)", "it also throws the photographs away"),
        ("run_node(node, grad, retain_graph)", "run_node(node, grad, True)", "it also throws the photographs away"),
        ("run_node(node, grad, retain_graph)", "run_node(node, grad)", "Hand the flag on to"),
        ("        changed = hook(grad)\n        if changed is not None:\n            grad = changed\n", "        grad = hook(grad)\n", "took its None for a gradient"),
        ("    hooks.append(hook)\n", "", "saw nothing"),
        ("            grad = changed\n", "            pass\n", "hand the node what they return"),
        (BEFORE + RUN, RUN + BEFORE, "Call the hooks *before* the node"),
        (HOOKS, KEPT.replace("hook(grad)", "hook(came)"), "what comes out of the hook before it"),
        (HOOKS, KEPT.replace("(grad,)", "(came,)"), "no longer the 19"),
        (HOOKS, BEFORE + REST.replace("grads,", "(),").replace("    return grads\n", "") + RUN + "    return grads\n", "before `.grad` was filled"),
        ("hooks.append(hook)", "hooks[:] = [hook]", "threw the others out"),
        ("hooks.append(hook)", "hooks.insert(0, hook)", "first times ten, then plus one"),
        ("    return Handle(hooks, hook)\n", "", "has to return a `Handle`"),
        ("Handle(hooks, hook)", "Handle([hook], hook)", "the very list that the hook is in"),
        ("    for hook in node.after:\n        changed = hook(grads, (grad,))\n        if changed is not None:\n            grads = changed\n", "", "call those as well"),
        ("(grads, (grad,))", "(grads, grad)", "is given two tuples"),
        ("(grads, (grad,))", "((grad,), grads)", "the wrong way round"),
        ("            grads = changed\n", "            pass\n", "in place of the first"),
        ("in node.before", "in [node.before.pop(0) for _ in list(node.before)]", "until its handle removes it"),
        ("in node.after", "in [node.after.pop(0) for _ in list(node.after)]", "until its handle removes it"),
        ("hooks.append(hook)", "hooks.extend([hook, hook])", "ran twice in one backward"),
        ("hook(grad)", "hook((grad,))", "and not with a tuple"),
        ("            grad = changed\n", "            grad = changed\n            break\n", "Every hook in the list has its turn"),
        ("Handle(hooks, hook)", "Handle(hook, hooks)", "wants the list first"),
        ("        changed = hook(grads, (grad,))\n        if changed is not None:\n            grads = changed\n", "        grads = hook(grads, (grad,))\n", "took its None for a tuple"),
        ("in node.after", "in (() if node.next_functions else node.after)", "not only that of a leaf"),
        ("changed = hook(grad)", "try:\n            changed = hook(grad)\n        except Exception:\n            changed = None", "swallowed its error"),
        ("            grad = changed\n", "            grad = Value(changed.data)\n", "Hooks can be recorded as well"),
    ],
    "17": [
        (", saved=(a, b)", "", "photograph both factors, as it did"),
        (f"{PUSHED}    return result\n", PUSHED, "have to return their result"),
        (f"{BOTH}:\n        if one.tangent is not None:", f"{BOTH}:\n        if True:", "nothing to push"),
        ("in (a, b):\n        if one.tangent is not None:", "in (a, b):\n        if True:", "nothing to push"),
        (DUAL, DUAL.replace("return ", ""), "has to return the dual"),
        (DUAL, DUAL.replace("as_value(tangent, value.data.dtype)", "tangent"), "and no bare number"),
        (DUAL, DUAL.replace("as_value(tangent, value.data.dtype)", "Value(tangent)"), "may be a Value already"),
        ("one.tangent * beside(other, None)", "one.tangent.data * other.data", "and no bare number"),
        (UNPACKED, "return beside(value, None), value.tangent and value.tangent.data", "and no bare number"),
        (PUSHED, "pass\n", "The result of `u * 2` has no tangent"),
        (DUAL, "    return beside(value, None)\n", "The result of `u * 2` has no tangent"),
        (BOTH, "((b, a),)", "The result of `u * 2` has no tangent"),
        (BOTH, "((a, b),)", "has to push for both factors"),
        ("beside(other, None)", "beside(one, None)", "goes through a product times the *other*"),
        ("one.tangent * beside(other, None)", "one.tangent", "A product multiplies it by a slope"),
        ("            push(result, one.tangent)\n", "            pass\n", "Nothing came through the sum"),
        (DUAL, "    value.tangent = as_value(tangent, value.data.dtype)\n    return value\n", "Nobody asked for the slope"),
        (ADDED_UP, "        pass\n", "adds to what is there"),
        (ADDED_UP, "        return\n", "adds to what is there"),
        (ADDED_UP, "        tangent = result.tangent * tangent\n", "adds to what is there"),
        (DUAL, "    return beside(value, Value(torch.ones_like(value.data)))\n", "isn't always 1"),
        ("beside(other, None)", "other", "has a tangent of its own"),
        (ADDED_UP, "        result.tangent.data += tangent.data\n        return\n", "wrote into the tangent of `u`"),
        (DUAL, "    dual = detach(value)\n    dual.tangent = as_value(tangent, value.data.dtype)\n    return dual\n", "gets no gradient through the dual"),
        (DUAL, "    dual = Value(value.data, value.requires_grad)\n    dual.tangent = as_value(tangent)\n    return dual\n", "gets no gradient through the dual"),
        (UNPACKED, "return value.tangent", "returns two things"),
        (UNPACKED, UNPACKED.replace("return ", ""), "returns two things"),
        (UNPACKED, "return value, value.tangent", "returns first still has its tangent"),
        (UNPACKED, "tangent, value.tangent = value.tangent, None\n    return value, tangent", "took the tangent off"),
        (UNPACKED, "return value.tangent, beside(value, None)", "the value first, and then its tangent"),
        (UNPACKED, "return detach(value), value.tangent", "Only the tangent goes"),
        (UNPACKED, "return beside(value, None), value.tangent or Value(0.0 * value.data)", "and no zeros"),
        (ONCE_SET, "    if result.requires_grad:\n        result.tangent = tangent\n", "whether anything requires grad"),
        (ONCE_SET, "    if grad_mode:\n        result.tangent = tangent\n", "switches the recording off"),
        ("beside(other, None)", "detach(other)", "has lost its history, so it can't"),
        ("one.tangent * beside(other, None)", "Value(one.tangent.data * other.data)", "has lost its history, so it can't"),
        ("saved=(a, b)", "saved=(beside(a, None), beside(b, None))", "Photograph the factors themselves"),
    ],
    "19a": [
        ("Value(x.data.sum_to_size(shape))", "x.data.sum_to_size(shape)", "has to return a Value"),
        (", ctx.wide), None", ", ctx.wide)", "its backward returns two gradients"),
        ("if to and grad.data.shape", "if grad.data.shape", "Leave those as they are"),
        ("    return checked\n", "", "For some node it returned None"),
        ("ctx.wide = x.data.shape\n        return Value(x.data.sum_to_size(shape))\n\n    @staticmethod\n    def backward(ctx, grad):\n        return Expand.apply(grad, ctx", "SumTo.wide = x.data.shape\n        return Value(x.data.sum_to_size(shape))\n\n    @staticmethod\n    def backward(ctx, grad):\n        return Expand.apply(grad, SumTo", "the next use overwrites it"),
        ("SumTo.apply(grad, to.shape)", "grad.sum()", "and no further"),
        ("SumTo.apply(grad, to.shape)", "Value(grad.data.reshape(to.shape))", "add up a gradient that is wider"),
        ("grad.data.shape != to.shape", "grad.data.numel() > to.shape.numel()", "Compare the shapes"),
        ("            grad = Value(torch.zeros(to.shape))\n", "            pass\n", "put zeros in the place of None"),
        ("Expand.apply(grad, ctx.wide), None", "grad, None", "each of them gets it"),
        ("        if to and grad.data.shape != to.shape:\n            grad = SumTo.apply(grad, to.shape)\n", "", "add up a gradient that is wider"),
        ("SumTo.apply(grad, to.shape)", "Value(grad.data.sum_to_size(to.shape))", "which are recorded"),
        ("    if len(grads) != len(wanted):\n        raise RuntimeError(COUNT.format(node.name(), len(wanted), len(grads)))\n", "", "in the words of `COUNT`"),
        ("        if to and grad is None:\n            grad = Value(torch.zeros(to.shape))\n", "        if grad is None:\n            checked.append(grad)\n            continue\n", "put zeros in the place of None"),
    ],
    "19b": [
        ("Value(a.data @ b.data)", "a.data @ b.data", "has to return a Value"),
        ("Value(x.data.T)", "x.T", "calls itself for ever"),
        ("grad @ b.T, a.T @ grad", "grad @ b.T", "A product has two factors"),
        ("ctx.save_for_backward(a, b)\n        return Value(a.data @ b.data)\n\n    @staticmethod\n    def backward(ctx, grad):\n        a, b = ctx.saved_tensors", "ctx.kept = a, b\n        return Value(a.data @ b.data)\n\n    @staticmethod\n    def backward(ctx, grad):\n        a, b = ctx.kept", "Keep both factors with"),
        ("return grad.T", "return grad", "has to be transposed back"),
        ("grad @ b.T, a.T @ grad", "grad @ b, a @ grad", "Write the shapes beside each other"),
        ("grad @ b.T, a.T @ grad", "b.T @ grad, grad @ a.T", "Write the shapes beside each other"),
        ("grad @ b.T, a.T @ grad", "grad @ Value(b.data.T), Value(a.data.T) @ grad", "miss a part"),
    ],
    "19c": [
        ("result = Value(x.data.exp())", "result = x.data.exp()", "has to return a Value"),
        ("Value(x.data.tanh())", "x.tanh()", "calls itself for ever"),
        ("1.0 - result * result", "1.0 - result**2", "powers in the next exercise"),
        ("        return grad * result\n", "        return grad.exp()\n", "The slope of `exp` is `exp` itself"),
        ("return grad * (1.0 - result * result)", "return 1.0 - result * result", "multiplied with the slope"),
        ("return grad * (1.0 - result * result)", "return grad * Value(1.0 - result.data**2)", "the history is lost"),
        ("        return grad * result\n", "        return result\n", "multiplied with the slope"),
        ("(1.0 - result * result)", "(1.0 - result)", "in terms of its own result"),
        ("x.data.tanh())\n        ctx.save_for_backward(result)", "x.data.tanh())\n        ctx.save_for_backward(x)", "in terms of its own result"),
        ("x.data.exp())\n        ctx.save_for_backward(result)", "x.data.exp())\n        ctx.save_for_backward(Value(x.data.exp()))", "the history is lost"),
        ("x.data.exp())\n        ctx.save_for_backward(result)\n        return result\n\n    @staticmethod\n    def backward(ctx, grad):\n        (result,) = ctx.saved_tensors", "x.data.exp())\n        ctx.save_for_backward(x)\n        return result\n\n    @staticmethod\n    def backward(ctx, grad):\n        result = ctx.saved_tensors[0].exp()", "edits the result"),
    ],
    "19d": [
        ("Value(x.data.log())", "x.data.log()", "has to return a Value"),
        ("Value(x.data**power)", "x**power", "calls itself for ever"),
        ("return grad * x **", "return x **", "Here a 2 arrives"),
        ("x.data.log()", "x.data.log10()", "look at your `forward`"),
        ("* ctx.power, None", "* ctx.power", "The second one is None"),
        ("x ** (ctx.power - 1.0)", "x**ctx.power", "The slope of `x ** p`"),
        ("grad / x", "grad * x", "1 divided by what went in"),
        ("grad / x", "grad * Value(1.0 / x.data)", "miss a part"),
    ],
}  # fmt: skip
ADDS_AT_THE_LEAF = """
def accumulate_grad(leaf, grad):
    leaf.grad = grad if leaf.grad is None else leaf.grad + grad


"""


@pytest.mark.parametrize(
    ("stage", "old", "new", "words"), [(s, *row) for s, rows in MISTAKES.items() for row in rows]
)
def test_a_typical_mistake_is_told_in_its_own_words(stage, old, new, words):
    assert yours(stage).count(old) == 1
    verdict = judge(find(ID[stage]), yours(stage).replace(old, new))
    assert verdict.kind == "known"
    assert words in verdict.text
    assert "\ncame\t" in verdict.text
    heard = [idea.message for idea in find(ID[stage]).misconceptions if words in idea.message]
    assert len(heard) == 1


def test_every_path_by_itself_is_told_though_its_gradients_are_right():
    told = judge(find("05.7"), ADDS_AT_THE_LEAF + yours("05").replace(WALK, EACH_PATH)).text
    assert "The gradients are right, but you go along each path" in told


def test_of_two_mistakes_the_one_that_the_first_program_meets_is_told():
    both = (
        yours("05")
        .replace("grad * b, grad * a", "grad * b")
        .replace(
            "            if child is not None:\n                waiting",
            "            if True:\n                waiting",
        )
    )
    assert "with one gradient for each input" in judge(find("05.7"), both).text


def test_what_one_walk_leaves_behind_is_told_after_the_next():
    leaves_behind = (
        yours("05")
        .replace("grad, evaluate):", "grad, evaluate, arrived={}):")
        .replace("arrived, ready = {root: grad}, [root]", "arrived[root], ready = grad, [root]")
        .replace("arrived.pop(node)", "arrived[node]")
    )
    assert "a second one on the same graph isn't" in judge(find("05.7"), leaves_behind).text


def test_a_walk_that_begins_with_ones_whatever_arrives_is_wrong():
    ones = yours("05").replace("{root: grad}", "{root: Value(torch.ones_like(grad.data))}")
    assert judge(find("05.7"), ones).kind == "unknown"


LOOKS_AT_ALL_PAIRS = """
    nodes = [root]
    for node in nodes:
        nodes += {child for child, _ in node.next_functions if child and child not in nodes}
    arrived, left = {root: grad}, list(nodes)
    while left:
        for node in reversed(left):
            if not waits(node, left):
                break
        left.remove(node)
        for (child, _), grad in zip(node.next_functions, evaluate(node, arrived[node])):
            if child is not None:
                arrived[child] = arrived[child] + grad if child in arrived else grad


def waits(node, left):
    for other in left:
        for child, _ in other.next_functions:
            if child is node:
                return True
    return False
"""


def test_a_walk_may_be_slow():
    slow = yours("05").replace(WALK, LOOKS_AT_ALL_PAIRS)
    assert judge(find("05.7"), slow).kind == "right"


def test_only_a_line_of_the_cell_is_called_yours():
    """Where a given line fails, the line of the cell that called it is shown; else no cell is blamed."""
    asks_wrongly = judge(find("05.7"), yours("05").replace("unpack(self)", "unpack(grad)")).text
    assert "in your line\t" in asks_wrongly
    assert "unpack(grad)" in asks_wrongly
    earlier = {"05": text("05").replace("return grad * b, grad * a", "return grad * b, grad * c")}
    told = judge(find("06.9"), Cell("06", yours("06"), earlier)).text
    assert "in this line\t" in told
    assert "your line" not in told
    assert "Your cell uses a name" not in told


def test_a_helper_in_another_cell_is_missed_by_name():
    told = judge(find("04.9"), yours("04").replace("any(", "some(")).text
    assert "name 'some' is not defined" in told
    assert "a helper of yours belongs in here" in told


# The file


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PROGRESS_FOLDER", str(tmp_path))
    return tmp_path


CELLS = itertools.count()


@pytest.fixture
def run(folder, capsys):
    """Run a cell in a notebook's namespace, as a kernel does; return what it prints."""
    names = {"check": check, "my_engine": my_engine}

    def run(source):
        place = f"<cell {next(CELLS)}>"
        linecache.cache[place] = len(source), None, source.splitlines(True), place
        exec(compile(source, place, "exec"), names)
        return " ".join(capsys.readouterr().out.split())

    run.names = names
    return run


def cell(stage, body=""):
    return f'my_engine("{stage}")\n\n\n{body or yours(stage)}\n\ncheck("{ID[stage]}", Value)\n'


PLAY = "x = Value(3.0, requires_grad=True); h = x * x; (h + h * h).backward(); print(x.grad)"


def imported(folder):
    """Run the file by itself, and a backward on what it defines."""
    names = {}
    exec((folder / "my_engine.py").read_text("utf-8"), names)
    exec(PLAY.replace("print(x.grad)", "came = str(x.grad)"), names)
    return names["came"]


MARK = "    # my own words\n"


def mine(stage):
    """Return our answer with words in it that only the student can have written."""
    return yours(stage).replace("):\n", f"):\n{MARK}", 1)


def test_what_was_skipped_is_ours_and_the_file_needs_no_course(run, folder):
    told = run(cell("05", mine("05")))
    assert told.startswith(
        "Your engine: 04 ours. You write AddBackward0, MulBackward0 and run_backward."
    )
    assert "05.7 ✓" in told
    assert "Kept in my_engine.py: 95 lines so far." in told
    assert list(keeping.kept().yours) == ["05"]
    assert imported(folder) == "Value(114.0)"
    assert run(PLAY) == "Value(114.0)", "and in the notebook, at once"


def test_a_wrong_cell_is_kept_nowhere(run, folder):
    told = run(cell("05", yours("05").replace(WALK, QUEUE)))
    assert "05.7 ✗" in told
    assert "gradients: [6]" in told
    assert "gradients: [114]" in told
    assert "my_engine.py" not in told
    assert not (folder / "my_engine.py").exists()


def test_a_cell_with_dots_or_without_a_definition_says_so_and_counts_as_no_try(run, folder):
    dots = "def edge(value): ...\n\n\ndef add(a, b):\n    '''Add.'''\n    ...\n"
    told = run(cell("04", dots))
    assert told.endswith("04.9: not answered yet. There are still dots in edge, add.")
    assert "This cell doesn't define mul." in run(cell("04", yours("04").partition("def mul")[0]))
    assert "doesn't define edge, recorded, add, mul" in run('check("04.9", Value)')
    assert not list(folder.glob("*.*"))


def test_another_day_goes_on_with_what_is_mine_and_says_so(run, folder):
    run(cell("04", mine("04")))
    run.names.clear()
    run.names |= {"check": check, "my_engine": my_engine}
    assert run('my_engine("05")').startswith("Your engine: 04 yours.")
    assert MARK in "".join(linecache.getlines("<my_engine 04>"))
    assert "05.7 ✓" in run(cell("05"))
    assert list(keeping.kept().yours) == ["04", "05"]


def test_going_back_replaces_one_section_and_leaves_the_later_ones(run, folder):
    run(cell("04"))
    run(cell("05", mine("05")))
    before = keeping.kept().yours
    told = run(cell("04", mine("04")))
    after = keeping.kept().yours
    assert "aside" not in told
    assert MARK in after["04"]
    assert after["05"] == before["05"]
    assert imported(folder) == "Value(114.0)"
    assert [path.name for path in folder.glob("*.py")] == ["my_engine.py"]


def test_only_definitions_are_kept_and_what_they_need(run, folder):
    more = (
        "from math import prod\nLIMIT = 3\nx = Value(2.0, requires_grad=True)\nprint(x)\n"
        "for k in range(2): y = k\n"
    )
    body = more + mine("04").replace("    # my own words\n", "    k = LIMIT\n", 1)
    assert "04.9 ✓" in run("from __future__ import annotations\n" + cell("04", body))
    own = keeping.kept().yours["04"].partition("# yours")[2]
    assert "from math import prod\n\n\nLIMIT = 3\n\n\ndef edge" in own
    assert "print" not in own
    assert "x = " not in own


def test_a_section_that_broke_is_named_and_ours_stands_in_for_it(run, folder):
    run(cell("04", mine("04")))
    path = folder / "my_engine.py"
    path.write_text(path.read_text().replace("any(", "all("))
    edited = path.read_text()
    told = run(cell("05", mine("05")))
    assert "Your stage 04 in my_engine.py doesn't work any more" in told
    assert "Your engine: 04 ours." in told
    assert "05.7 ✓" in told
    assert (
        "You changed my_engine.py by hand, so I put a copy aside first: my_engine_before_1.py."
        in told
    )
    assert (folder / "my_engine_before_1.py").read_text() == edited
    assert list(keeping.kept().yours) == ["05"]
    assert imported(folder) == "Value(114.0)"


def test_what_was_edited_by_hand_and_works_stays_and_a_copy_is_put_aside_each_time(run, folder):
    run(cell("04"))
    path = folder / "my_engine.py"
    path.write_text(path.read_text().replace("def edge(value):\n", f"def edge(value):\n{MARK}"))
    assert "copy aside first: my_engine_before_1.py" in run(cell("05"))
    assert MARK in keeping.kept().yours["04"]
    assert "aside" not in run(cell("05"))
    first = (folder / "my_engine_before_1.py").read_text()
    path.write_text(path.read_text() + "# and once more\n")
    assert "copy aside first: my_engine_before_2.py" in run(cell("05"))
    assert (folder / "my_engine_before_1.py").read_text() == first


def test_a_later_stage_that_leant_on_what_an_earlier_one_had_is_put_aside_and_said(run, folder):
    run(cell("04", "def helper(): return 1\n\n\n" + yours("04")))
    leaning = "def run_backward(root, grad, evaluate):\n"
    run(cell("05", yours("05").replace(leaning, leaning + "    helper()\n")))
    told = run(cell("04"))
    assert "04.9 ✓" in told
    assert "Your stage 05 in my_engine.py doesn't work any more (NameError" in told
    assert "helper()" in (folder / "my_engine_before_1.py").read_text()
    assert list(keeping.kept().yours) == ["04"]


@pytest.mark.parametrize("content", [b"print('mine')\n", b"\xff\xfe\x00", b"# ==== nothing", b""])
def test_a_file_of_somebody_else_is_left_alone_and_put_aside_before_it_is_written(
    run, folder, content
):
    (folder / "my_engine.py").write_bytes(content)
    assert "isn't one that the course wrote" in run('my_engine("05")')
    assert "There was another my_engine.py, which I put aside first: my_engine_before_1.py." in run(
        cell("04")
    )
    assert (folder / "my_engine_before_1.py").read_bytes() == content
    assert list(keeping.kept().yours) == ["04"]


def test_a_stage_of_a_later_edition_of_the_course_stays_in_the_file(run, folder):
    run(cell("04"))
    later = "# ==== 98, yours ====\ndef of_a_later_edition():\n    return 98\n"
    body = (folder / "my_engine.py").read_text().partition(keeping.END)[0] + later + "\n\n"
    (folder / "my_engine.py").write_text(f"{body}{keeping.END}{keeping._mark(body)}\n")
    assert "aside" not in run(cell("05"))
    assert "of_a_later_edition" in (folder / "my_engine.py").read_text()
    assert imported(folder) == "Value(114.0)"


def test_a_write_that_is_cut_short_leaves_the_file_as_it_was(run, folder, monkeypatch):
    run(cell("04"))
    before = (folder / "my_engine.py").read_text()

    def cut_short(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", cut_short)
    told = run(cell("05"))
    assert "05.7 ✓" in told
    assert "Not kept: my_engine.py couldn't be written (No space left on device)" in told
    assert (folder / "my_engine.py").read_text() == before


@pytest.mark.parametrize("stage", [..., None, 5, "06.1", "5", ["04"]])
def test_my_engine_asked_for_what_is_no_stage_says_what_to_write(run, stage):
    run.names["stage"] = stage
    assert 'my_engine("04")' in run("my_engine(stage)")


def test_what_is_given_can_be_read(run):
    assert (
        given("04").partition("\n")[2].split()
        == run('my_engine("04", show=True)').partition("mul. ")[2].split()
    )


# In a real kernel


HEAD = "from helpers import check, my_engine"


def executed(cells, folder):
    """Run cells in a kernel of their own in a folder; return what each prints."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    kernel = {"resources": {"metadata": {"path": str(folder)}}, "kernel_name": "python3"}
    NotebookClient(notebook, **kernel).execute()
    shown = [
        "".join(part.get("text") or part.data["text/plain"] for part in one.outputs)
        for one in notebook.cells
    ]
    return shown, notebook


@pytest.mark.slow
def test_in_a_kernel_a_cell_reads_itself_and_the_stub_is_the_same_at_every_run(folder):
    told, _ = executed([HEAD, cell("05"), PLAY], folder)
    assert "05.7 ✓" in told[1]
    assert told[2] == "Value(114.0)\n"
    code = f"import sys; sys.path.append('.'); from my_engine import *; {PLAY}"
    alone = [sys.executable, "-I", "-c", code]
    done = subprocess.run(alone, cwd=folder, capture_output=True, text=True)
    assert done.stdout == "Value(114.0)\n", done.stderr
    (folder / "my_engine.py").unlink()
    dots = "\n\n\n".join(f"def {name}(*args): ..." for name in Cell("04", "").wanted)
    _, notebook = executed([HEAD, cell("04", dots)], folder)
    nbformat.write(notebook, folder / "stub.ipynb")
    call = [sys.executable, "-m", "pytest", "-q", "--nbval", "-p", "no:cacheprovider", "stub.ipynb"]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
    assert "2 passed" in done.stdout, done.stdout[-600:]
    assert not (folder / "my_engine.py").exists()
