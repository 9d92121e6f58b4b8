"""Exercises of lesson 04, grad_fn and the graph: read edges, loops and saved tensors; write a walk."""

import re
from itertools import islice
from types import GeneratorType

import torch
from torch.autograd.graph import Node

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function
from helpers.exercises.readers import names, number, words
from helpers.exercises.tensors import leaf
from helpers.looking.snapshot import snapshot
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import Failed


def _entries() -> list[object]:
    scale, x = torch.tensor(5.0), torch.tensor(2.0, requires_grad=True)
    return [node and type(node).__name__ for node, _ in (scale * x).grad_fn.next_functions]


ENTRIES = Exercise(
    id="04.1",
    reader=words(),
    truth=_entries,
    right="Both factors can be differentiated, so both have a place in the list, whether or not they want a gradient.",
    misconceptions=(
        Misconception(
            example="AccumulateGrad",
            when=["AccumulateGrad"],
            message="You listed only where a gradient goes. Then the position in the list could not say"
            " which input it belongs to, so torch lists each input for which the backward formula has a gradient.",
        ),
        Misconception(
            example=["AccumulateGrad", None],
            when=["AccumulateGrad", None],
            message="Both entries are there, but the order is not by importance: it is the order of the inputs.",
        ),
        Misconception(
            example=["AccumulateGrad", "AccumulateGrad"],
            when=["AccumulateGrad", "AccumulateGrad"],
            message="You gave `scale` a place where gradients gather. Ask `scale.requires_grad` first.",
        ),
        Misconception(
            example=["NoneType", "AccumulateGrad"],
            when=["NoneType", "AccumulateGrad"],
            message="You asked None for its class. Where there is no node there is no class to name: write None.",
        ),
        Misconception(
            example=["MulBackward0"],
            when=lambda reading: "mulbackward0" in reading,
            message="You named the node of `y` itself. Its `next_functions` lead on from there, to what went in.",
        ),
        Misconception(
            example=[None, "x"],
            when=lambda reading: {"scale", "x"} & set(reading),
            message="You named tensors. The list holds nodes: name the class of each entry.",
        ),
    ),
    hints=(
        "Count the inputs for which the formula of a product has a gradient: there is one entry for each.",
        "`[type(node).__name__ for node, nr in y.grad_fn.next_functions]` names every entry; a missing node is None.",
    ),
    solution="""
scale = torch.tensor(5.0)
x = torch.tensor(2.0, requires_grad=True)
y = scale * x
answer = [node and type(node).__name__ for node, nr in y.grad_fn.next_functions]
""",
)


def _powers() -> torch.Tensor:
    x = torch.tensor(2.0, requires_grad=True)
    y = x
    while y < 20:
        y = y * x
    return y


def _count(operation: str) -> int:
    return sum(node.operation == operation for node in snapshot(_powers()).nodes)


LOOP = Exercise(
    id="04.2",
    reader=number(),
    truth=lambda: _count("MulBackward0"),
    right="Each multiplication that ran left a node of its own; the loop itself left none.",
    misconceptions=(
        Misconception(
            example=1,
            when=1,
            message="You counted lines of code. Autograd does not see your code, only the operations as they run.",
        ),
        Misconception(
            example=torch.tensor(5),
            when=same_as(lambda: len(snapshot(_powers()).nodes)),
            message="You counted every node. One of them is no multiplication: it stands for `x`, where the walk ends.",
        ),
        Misconception(
            example="8",
            when=same_as(lambda: 2 * _count("MulBackward0")),
            message="You counted inputs. A multiplication has two edges, but it is one node.",
        ),
        Misconception(
            example=3,
            when=same_as(lambda: _count("MulBackward0") - 1),
            message="You left the loop a round early. The condition is tested before a round, with the `y` of then.",
        ),
    ),
    hints=(
        "Write down `y` after each round, until the condition is false.",
        "`snapshot(y).nodes` lists the nodes; each has an `operation`.",
    ),
    solution="""
from helpers import snapshot
x = torch.tensor(2.0, requires_grad=True)
y = x
while y < 20:
    y = y * x
answer = sum(node.operation == "MulBackward0" for node in snapshot(y).nodes)
""",
)


def _twice(output: torch.Tensor) -> bool:
    output.backward()
    try:
        output.backward()
    except RuntimeError:
        return False
    return True


def _survivors() -> list[str]:
    x = torch.tensor(2.0, requires_grad=True)
    outputs = {"p": x + 1, "q": x * x, "r": -x, "s": x.exp()}
    return [name for name, output in outputs.items() if _twice(output)]


TWICE = Exercise(
    id="04.3",
    reader=names(),
    truth=_survivors,
    right="These nodes saved nothing, so the first backward had nothing to free.",
    misconceptions=(
        Misconception(
            example=[],
            when=[],
            message="You think that backward destroys the graph. It frees saved tensors, and not every node has one.",
        ),
        Misconception(
            example="p q r s",
            when=["p", "q", "r", "s"],
            message="You think that nothing is freed. What a node saved goes with the first backward.",
        ),
        Misconception(
            example=["p", "r", "s"],
            when=lambda reading: "s" in reading,
            message="You counted on `exp`. It does not keep its input, but it does keep a tensor.",
        ),
        Misconception(
            example=["p", "q", "r"],
            when=lambda reading: "q" in reading,
            message="You counted on `x * x`. Its gradient is made from the values of its inputs.",
        ),
        Misconception(
            example="p",
            when=lambda reading: len(reading) == 1 and reading < set(_survivors()),
            message="That one can, but it is not the only one. Ask of each derivative whether it needs a value.",
        ),
    ),
    hints=(
        "Write down each derivative. Does it mention `x`, or the result?",
        "`show` lists on each card what the node saved.",
    ),
    solution="""
from helpers import snapshot
x = torch.tensor(2.0, requires_grad=True)
outputs = {"p": x + 1, "q": x * x, "r": -x, "s": x.exp()}
answer = [name for name, output in outputs.items() if not snapshot(output).nodes[0].saved]
""",
)


def _constant() -> object:
    return ((leaf(1.0, 2.0) * 2).sum() + 1).grad_fn


def _shared_node() -> object:
    middle = leaf(0.5).exp()
    return (middle.sin() * middle).sum().grad_fn


def _shared_leaf() -> object:
    matrix = torch.ones(2, 2, requires_grad=True)
    return torch.trace(matrix @ matrix.T).grad_fn


def _namesakes() -> object:
    return (leaf(1.0).sin() + leaf(2.0).sin()).grad_fn


_LAST: list[object] = []


def _first_call() -> object:
    _LAST[:] = [_shared_node()]
    return _LAST[0]


def _second_call() -> object:
    """Give the node of the case before, so that what one call leaves behind is seen in the next."""
    return _LAST[0]


def _walk(node: object) -> list[str]:
    """Return the lines that are asked for; written without recursion, so that it is no copy of the
    solution.
    """
    lines, met, waiting = [], set(), [(node, 0)]
    while waiting:
        node, depth = waiting.pop()
        lines.append(
            "  " * depth + (type(node).__name__ if node else "None") + " (again)" * (node in met)
        )
        if node is not None and node not in met:
            met.add(node)
            waiting += [(child, depth + 1) for child, _ in reversed(node.next_functions)]
    return lines


def _as_a_tree(node: object, depth: int = 0) -> list[str]:
    """Return the lines of a walk that spells a shared node out on each path."""
    lines = ["  " * depth + (type(node).__name__ if node else "None")]
    for child, _ in node.next_functions if node else ():
        lines += _as_a_tree(child, depth + 1)
    return lines


def _one_level(node: object) -> list[str]:
    return [line for line in _as_a_tree(node) if not line.startswith("    ")]


def _without_none(node: object) -> list[str]:
    return [line for line in _walk(node) if line.strip() != "None"]


_LIMIT = 1000  # more lines than any case has; a generator may be endless


def _seen(returned: object, node: object) -> object:
    """Read lines, a generator of them or one text; indents count by level, and spelling does not
    count.
    """
    if returned is None:
        return "nothing"
    lines = returned.split("\n") if is_a(returned, str) else returned
    lines = list(islice(lines, _LIMIT)) if is_a(lines, GeneratorType) else lines
    if not is_a(lines, list, tuple) or not all(is_a(line, str) for line in lines):
        return lines
    lines = [_line(line) for line in lines if line.strip()]
    unit = min((len(line) - len(line.lstrip()) for line in lines if line[0] == " "), default=1)
    return ["  " * ((len(line) - len(line.lstrip())) // unit) + line.lstrip() for line in lines]


def _line(line: str) -> str:
    """Write a line as the exercise does, where only its spelling differs."""
    line = line.expandtabs(2).rstrip().replace("NoneType", "None").replace("torch::autograd::", "")
    return re.sub(r"(?<=\S) *\(again\)$", " (again)", line, flags=re.IGNORECASE)


def _lines_of(outcome: object) -> tuple:
    return outcome if is_a(outcome, tuple) else ()


def _asked_none(outcome: object) -> bool:
    """Tell whether None was asked for an attribute that nodes have."""
    asked = (
        re.search(r"'NoneType' object has no attribute '(\w+)'", outcome.text)
        if is_a(outcome, Failed)
        else None
    )
    return asked is not None and hasattr(Node, asked[1])


WALK = Exercise(
    id="04.4",
    reader=function(_constant, _first_call, _second_call, _shared_leaf, _namesakes, observe=_seen),
    truth=lambda: _walk,
    right="It goes to the end of every path, stops at None, and spells out a shared node once.",
    misconceptions=(
        Misconception(
            example="""
def answer(node, depth=0, met=set()):
    name = "  " * depth + ("None" if node is None else type(node).__name__)
    if node is None or node in met:
        return [name + " (again)" * (node in met)]
    met.add(node)
    return [name] + [line for child, _ in node.next_functions for line in answer(child, depth + 1)]
""",
            when=lambda reading: reading[1] != reading[2],
            message="Called twice with one node, your function does not do the same twice: something of the first"
            " call is still there in the second. Begin each call with a new set and a new list; a default in the"
            " `def` line is made only once.",
        ),
        Misconception(
            example="def answer(node):\n    print(type(node).__name__)",
            when=lambda reading: set(reading) == {"nothing"},
            message="Your function returns nothing. Printing is for people: return the lines, to be checked.",
        ),
        Misconception(
            example="""
def answer(node, depth=0):
    lines = ["  " * depth + str(node and type(node).__name__)]
    for child, _ in node.next_functions if node else ():
        answer(child, depth + 1)
    return lines
""",
            when=lambda reading: all(len(_lines_of(case)) == 1 for case in reading),
            message="You return one line. The lines of what the node leads to have to reach that list too, also those"
            " that a deeper call makes.",
        ),
        Misconception(
            example="""
def answer(node, depth=0):
    lines = ["  " * depth + type(node).__name__]
    for child, _ in node.next_functions:
        lines += answer(child, depth + 1)
    return lines
""",
            when=lambda reading: any(map(_asked_none, reading)),
            message="You took every entry for a node, and asked one that is none for what only nodes have.",
        ),
        Misconception(
            example="""
def answer(node):
    return [type(node).__name__] + ["  " + str(child and type(child).__name__) for child, _ in node.next_functions]
""",
            when=same_as(lambda: _one_level),
            message="You went down one level, as the function above does. What lies deeper has to be visited too.",
        ),
        Misconception(
            example="""
def answer(node, depth=0):
    lines = ["  " * depth + str(node and type(node).__name__)]
    for child, _ in node.next_functions if node else ():
        lines += answer(child, depth + 1)
    return lines
""",
            when=same_as(lambda: _as_a_tree),
            message="You took the graph for a tree. A node that two paths reach is spelled out on each of them,"
            " and in a long chain of such nodes the work would double at every step.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node, depth):
        lines.append("  " * depth + type(node).__name__ + " (again)" * (node in met))
        children = [] if node in met else [child for child, _ in node.next_functions if child]
        met.add(node)
        for child in children:
            visit(child, depth + 1)
    visit(node, 0)
    return lines
""",
            when=same_as(lambda: _without_none),
            message="You left out the empty entries. Then nobody can see which input the others belong to.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node, depth):
        name = str(node and type(node).__name__)
        lines.append("  " * depth + name + " (again)" * (name in met))
        if node and name not in met:
            met.add(name)
            for child, _ in node.next_functions:
                visit(child, depth + 1)
    visit(node, 0)
    return lines
""",
            when=lambda reading: (
                {"  SinBackward0", "  SinBackward0 (again)"} <= set(_lines_of(reading[-1]))
            ),
            message="You know nodes by their names. Two nodes of one class are two nodes: compare the objects.",
        ),
    ),
    hints=(
        "An inner function `visit(node, depth)` appends one line and calls itself for each entry.",
        "Ask three things in this order: is it None? was it met before? what does it lead to?",
        "Keep the nodes that you met in a set, made anew in each call: the nodes, not the names of their classes.",
        "A walk that calls itself goes as deep as the graph. On 1,000 operations in a row Python stops it with a"
        " RecursionError; a list of the nodes still to visit has no such limit.",
    ),
    solution='''
def answer(node):
    """Return the lines of a walk over the graph behind `node`."""
    lines, met = [], set()

    def visit(node, depth):
        name = "None" if node is None else type(node).__name__
        lines.append("  " * depth + name + (" (again)" if node in met else ""))
        if node is None or node in met:
            return
        met.add(node)
        for child, input_nr in node.next_functions:
            visit(child, depth + 1)

    visit(node, 0)
    return lines
''',
)

EXERCISES = (ENTRIES, LOOP, TWICE, WALK)
