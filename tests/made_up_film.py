"""Small films for tests of the player, made by hand from real drawings: a backward in steps, and a
lab. No torch.
"""

import math
import random
from collections import deque
from dataclasses import dataclass, field, replace

from helpers.drawing.diagram import drawing
from helpers.drawing.display_list import Owner
from helpers.drawing.palette import STYLE
from helpers.graph import Call, Edge, Gradient, Graph, Node, Root, SavedTensor, Storage, TensorInfo
from helpers.playing.animate import film
from helpers.playing.film import ENDS, Button, Change, LabFilm, LabState, Way
from helpers.playing.stylesheet import css_class
from helpers.recording.trace import LeafGrad, LocalDerivative, Step, Trace

FLOAT = 4  # bytes
MOST_DOUBLED = (
    60  # multiplications; a longer chain halves every second time, so that no number gets too large
)


@dataclass
class Made:
    """Hold one number of a hand-made program: how it was made, and its derivatives by its inputs.

    `inputs` are (input, symbol of the factor, factor).
    """

    name: str
    value: float
    operation: str = "AccumulateGrad"
    inputs: list = field(default_factory=list)
    saved: list = field(default_factory=list)

    def __hash__(self):
        return id(self)


def leaf(name, value):
    return Made(name, value)


def times(one, by, name=""):
    """Multiply by another number of the program, or by a plain one."""
    if not isinstance(by, Made):
        inputs = [(one, str(by), float(by))]
        return Made(name, one.value * by, "MulBackward0", inputs, [("other", "", float(by))])
    inputs = [(one, "{other}", by.value), (by, "{self}", one.value)]
    saved = [("self", one.name, one.value), ("other", by.name, by.value)]
    return Made(name, one.value * by.value, "MulBackward0", inputs, saved)


def sine(one, name=""):
    inputs = [(one, "cos({self})", math.cos(one.value))]
    return Made(name, math.sin(one.value), "SinBackward0", inputs, [("self", one.name, one.value)])


def trace_of(root, made, calls=()):
    """Return the trace of a backward from `root` over operations in the order in which they ran;
    each is handed on to once.
    """
    graph = graph_of(root, made, calls)
    number = {one: nr for nr, one in enumerate(found_from(root))}
    arrived, steps = {root: 1.0}, []
    for one in reversed(made):
        for below, _, factor in one.inputs:
            arrived[below] = arrived[one] * factor
        steps.append(operation_step(number[one], one, arrived[one]))
        leaves = [below for below, _, _ in one.inputs if not below.inputs]
        steps += [leaf_step(number[below], arrived[below]) for below in leaves]
    grads = {step.node: step.leaf.after for step in steps if step.leaf}
    after = [done(node, grads.get(nr)) for nr, node in enumerate(graph.nodes)]
    one = Gradient((), 1.0)
    return Trace(graph, replace(graph, nodes=tuple(after)), tuple(steps), starts=(one,))


def found_from(root):
    """Return all that a root was made of, breadth first."""
    found, waiting = {root: None}, deque([root])
    while waiting:
        for below, _, _ in waiting.popleft().inputs:
            if below not in found:
                found[below] = None
                waiting.append(below)
    return list(found)


def graph_of(root, made, calls=()):
    found = found_from(root)
    number = {one: nr for nr, one in enumerate(found)}
    edges = [
        Edge(nr, at, number[below])
        for nr, one in enumerate(found)
        for at, (below, _, _) in enumerate(one.inputs)
    ]
    nodes = [node_of(one, nr) for nr, one in enumerate(found)]
    ran = tuple([number[one] for one in made])
    return Graph(tuple(nodes), tuple(edges), (Root(nodes[0].outputs[0], 0),), ran, tuple(calls))


def node_of(one, number):
    names = (one.name,) if one.name else ()
    if not one.inputs:
        info = TensorInfo(names, value=str(one.value), keeps_grad=True, values=one.value)
        return Node("AccumulateGrad", (info,), is_leaf=True)
    saved = [
        SavedTensor(
            name,
            "held",
            TensorInfo((called,) if called else (), value=str(value), values=value),
            storages=(Storage(10 * number + at, FLOAT),),
        )
        for at, (name, called, value) in enumerate(one.saved)
    ]
    return Node(one.operation, (TensorInfo(names),), saved=tuple(saved))


def done(node, grad):
    """Return a node as it is after backward."""
    saved = tuple([SavedTensor(one.name, "freed") for one in node.saved])
    outputs = tuple([replace(made, grad=grad) for made in node.outputs])
    return replace(node, saved=saved, outputs=outputs)


def operation_step(number, one, arrived):
    came, saved = Gradient((), arrived), tuple([name for name, _, _ in one.saved])
    names = tuple([(name, called) for name, called, _ in one.saved if called])
    return Step(
        number,
        tuple([(["self", "other"][at], "grad") for at in range(len(one.inputs))]),
        (came,),
        (came,),
        tuple([Gradient((), arrived * factor) for _, _, factor in one.inputs]),
        tuple(
            [
                LocalDerivative("×", symbol, "", Gradient((), factor), names=names)
                for _, symbol, factor in one.inputs
            ]
        ),
        saved,
        saved,
    )


def leaf_step(number, arrived):
    came = Gradient((), arrived)
    return Step(number, (), (came,), (came,), leaf=LeafGrad(None, came))


def chained(length, name="x"):
    """Return a chain of `length` multiplications by numbers, down to one leaf: what came out, and
    all that was made.
    """
    made, one = [], leaf(name, 2.0)
    for nr in range(length):
        by = 0.5 if length > MOST_DOUBLED and nr % 2 else 2
        one = times(one, by, f"y{nr + 1}")
        made.append(one)
    return one, made


def chain(length, name="x"):
    """Return the graph of `length` multiplications in a row, down to one leaf."""
    return graph_of(*chained(length, name))


def chain_trace(length, name="x"):
    return trace_of(*chained(length, name))


def steps(length, name="x"):
    """Return the film of `length` multiplications by 2 and a leaf: length + 1 steps."""
    trace = chain_trace(length, name)
    return film(trace, f"A chain of {length} operations, step by step.")


def folded_trace(blocks=7):
    """Return the trace of equal module calls in a row, which is folded: sin(2 sin(y * w)) in each."""
    made, calls, one = [], [], leaf("x", 0.5)
    for nr in range(blocks):
        product = times(one, leaf(f"layers.{nr}.weight", 1.5 + nr / 8))
        inner = sine(product)
        doubled = times(inner, 2)
        one = sine(doubled)
        made += [product, inner, doubled, one]
        calls.append(Call(f"layers.{nr}", "Layer", 0, 4 * nr, 4 * nr + 4, 4))
    one = times(one, 3, "loss")
    return trace_of(one, [*made, one], calls)


def folded(blocks=7):
    """Return the film of a graph that is folded: a view of the whole, and one for each of its equal
    layers.
    """
    return film(folded_trace(blocks), "Equal layers in a row, folded.")


def lab():
    """Return a lab of two switches: four states, each of its own scene, two actions; state 3 is the
    end.
    """
    scenes = tuple(drawing(chain(length)) for length in (1, 2, 3, 4))
    ways = [(1, 2), (ENDS, 3), (3, ENDS), (ENDS, ENDS)]
    came = [None, (0, 0), (0, 1), (1, 1)]
    titles = ["nothing is on", "a is on", "b is on", "both are on: nothing is left to do"]
    states = [
        LabState(title, f"{title}.", nr, ways=tuple(map(Way, ways[nr])), came=came[nr], text=title)
        for nr, title in enumerate(titles)
    ]
    buttons = (Button("a = True", "switches a on"), Button("b = True", "switches b on"))
    return LabFilm(
        ("a = b = False",), buttons, scenes, tuple(states), "a lab of 4 states", "Two switches."
    )


def explorer():
    """Return a lab of two programs whose nodes are chosen by click, with one action to change the
    program.
    """
    scenes = tuple(drawing(chain(length)) for length in (2, 3))
    states, starts = [], (0, 3)
    for nr, other in enumerate(reversed(starts)):
        title, ways = f"program {nr}", (Way(other),)
        came = (0, 0) if nr else None
        states.append(LabState(title, "Choose a node.", nr, ways=ways, came=came))
        for at in (0, 1):
            focus, came = Owner("node", at), (len(states) - 1, -1)
            states.append(
                LabState(title, f"Node {at} of {nr}.", nr, focus=focus, ways=ways, came=came)
            )
    buttons = (Button("program = other", "shows the other program"),)
    return LabFilm((), buttons, scenes, tuple(states), "an explorer", "Two programs.")


def restless(seed, states=12):
    """Return a lab that goes to and fro between two scenes, and changes any marks in any way."""
    dice = random.Random(seed)
    scenes = (drawing(chain(1)), drawing(chain(2)))
    made = tuple(_restless(dice, nr, scenes, states) for nr in range(states))
    return LabFilm((), (Button("go_on()", "goes on"),), scenes, made, "", "")


def _restless(dice, nr, scenes, states):
    scene = dice.choice([0, 0, 1, 1, 1])
    marks = scenes[scene].marks
    places = [at for at in range(len(marks)) if marks[at].role in STYLE and dice.random() < 0.3]
    words = {
        at: dice.choice([None, ((f"{nr}.0", "grad"),)]) if marks[at].runs else None for at in places
    }
    changes = [Change(at, dice.choice(["", "now", "done"]), words[at]) for at in places]
    ways, came = (Way((nr + 1) % states),), (nr - 1, 0) if nr else None
    return LabState(f"state {nr}", "", scene, tuple(changes), ways=ways, came=came)


def meant(film, number):
    """Return what a state of a lab shall show: (class, words) of every mark."""
    state = film.states[number]
    changes = {change.mark: change for change in state.changes}
    return [
        mark_meant(mark, changes.get(at, Change(at)))
        for at, mark in enumerate(film.scenes[state.scene].marks)
    ]


def mark_meant(mark, change):
    runs = mark.runs if change.runs is None else change.runs
    return css_class(mark.role, change.state or mark.state), "".join(text for text, _ in runs)
