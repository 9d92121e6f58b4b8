"""Exercises of lesson 04, grad_fn and the graph: read edges, loops, saved tensors; write a walk."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import islice

import torch
from torch.autograd.graph import Node

from autograd_graphs.looking.snapshot import snapshot
from autograd_graphs.untrusted.plain import is_a, plain
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, number, words
from helpers.exercises.tensors import leaf


def _entries() -> list[object]:
    scale, x = torch.tensor(5.0), torch.tensor(2.0, requires_grad=True)
    return [node and type(node).__name__ for node, _ in (scale * x).grad_fn.next_functions]


def _without_numbers(answer: object) -> object:
    """Take the nodes out of the pairs (node, input_nr) that `next_functions` holds, or its text."""
    entries = plain(answer)
    if is_a(entries, str):
        return _NUMBER_OF_A_PAIR.sub("", entries)
    if is_a(entries, tuple) and all(is_a(entry, str) for entry in entries):
        return [_NUMBER_OF_A_PAIR.sub("", entry) for entry in entries]
    if is_a(entries, tuple) and entries and all(map(_is_pair, entries)):
        return [node for node, _ in entries]
    return answer


def _is_pair(entry: object) -> bool:
    return is_a(entry, tuple) and len(entry) == 2 and is_a(entry[1], int)


_WORDS = words()
_NUMBER_OF_A_PAIR = re.compile(r",\s*\d+\s*(?=\))")

ENTRIES = Exercise(
    id="04.1",
    reader=replace(_WORDS, read=lambda answer: _WORDS.read(_without_numbers(answer))),
    truth=_entries,
    right="Both factors can be differentiated, so both have a place in the list, whether or not"
    " they want a gradient.",
    principle="an entry of `next_functions` leads to the node behind one input, and the entries"
    " keep the order of the inputs.",
    misconceptions=(
        Misconception(
            example="AccumulateGrad",
            when=["AccumulateGrad"],
            message="You listed only where a gradient goes. Then the position in the list could"
            " not say which input it belongs to, so torch lists each input for which the backward"
            " formula has a gradient.",
        ),
        Misconception(
            example=[None, None],
            when=[None, None],
            message="You gave no input a node. `x` requires grad and is a leaf: which node gathers"
            " its gradient?",
        ),
        Misconception(
            example=["AccumulateGrad", None],
            when=["AccumulateGrad", None],
            message="Both entries are there, but the order is not by importance: it is the order"
            " of the inputs.",
        ),
        Misconception(
            example=["AccumulateGrad", "AccumulateGrad"],
            when=["AccumulateGrad", "AccumulateGrad"],
            message="You gave `scale` a place where gradients gather. Ask `scale.requires_grad`"
            " first.",
        ),
        Misconception(
            example=["NoneType", "AccumulateGrad"],
            when=["NoneType", "AccumulateGrad"],
            message="You asked None for its class. Where there is no node there is no class to"
            " name: write None.",
        ),
        Misconception(
            example=[None, "MulBackward0"],
            when=lambda reading: "mulbackward0" in reading,
            message="You named the node of `y` itself. Its `next_functions` lead on from there, to"
            " what went in.",
        ),
        Misconception(
            example=[None, "x"],
            when=lambda reading: {"scale", "x"} & set(reading),
            message="You named tensors. The list holds nodes: name the class of each entry.",
        ),
        Misconception(
            example=[None, "leaf"],
            when=lambda reading: {"leaf", "tensor", "parameter"} & set(reading),
            message="You named what the inputs are. The list holds nodes: name the class of each"
            " entry.",
        ),
    ),
    hints=(
        "Count the inputs for which the formula of a product has a gradient: there is one entry"
        " for each.",
        "`[type(node).__name__ for node, nr in y.grad_fn.next_functions]` names every entry; a"
        " missing node is None.",
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
    principle="the graph holds what ran: one node for each multiplication, as often as its line"
    " ran.",
    misconceptions=(
        Misconception(
            example=0,
            when=0,
            message="You found none. `x` requires grad, so a multiplication with it is recorded"
            " when it runs, in a loop too.",
        ),
        Misconception(
            example=1,
            when=1,
            message="One is how often the product stands in the code. Autograd does not see your"
            " code, only the operations as they run.",
        ),
        Misconception(
            example=torch.tensor(5),
            when=same_as(lambda: len(snapshot(_powers()).nodes)),
            message="That is the number of all nodes. One of them is no multiplication: it stands"
            " for `x`, where the walk ends.",
        ),
        Misconception(
            example="8",
            when=same_as(lambda: 2 * _count("MulBackward0")),
            message="That is the number of their inputs. Each of these multiplications has two"
            " edges, but is one node.",
        ),
        Misconception(
            example=3,
            when=same_as(lambda: _count("MulBackward0") - 1),
            message="A round is missing. The condition is tested before a round, with the `y` of"
            " then.",
        ),
        Misconception(
            example=32,
            when=same_as(lambda: _powers().item()),
            message="That is the value of `y` at the end. How many multiplications led there?",
        ),
        Misconception(
            example=16,
            when=same_as(lambda: _powers().item() / 2),
            message="That is a value of `y` on the way. How many multiplications led there?",
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
    outputs = {"n": x.relu(), "o": x.sigmoid(), "p": x + 1, "q": x * x}
    outputs |= {"r": -x, "s": x.exp(), "t": x.sqrt(), "u": x.tanh()}
    return [name for name, output in outputs.items() if _twice(output)]


TWICE = Exercise(
    id="04.3",
    reader=letters("nopqrstu"),
    truth=_survivors,
    right="These nodes saved no tensor, so the first backward had nothing to free that the second"
    " one needs.",
    misconceptions=(),
    letters=Letters(
        read="idea 6, and what it says is freed",
        about=(
            ("n", "Does the derivative of `relu` need a value?"),
            ("o", "Does the derivative of `sigmoid` need a value?"),
            ("p", "Does the derivative of `x + 1` need a value?"),
            ("q", "Does the derivative of `x * x` need a value?"),
            ("r", "Does the derivative of `-x` need a value?"),
            ("s", "Does the derivative of `exp` need a value?"),
            ("t", "Does the derivative of `sqrt` need a value?"),
            ("u", "Does the derivative of `tanh` need a value?"),
        ),
    ),
    hints=(
        "Write down each derivative. Does it mention `x`, or the result?",
        "`show` lists on each card what the node saved.",
    ),
    solution="""
from helpers import snapshot
x = torch.tensor(2.0, requires_grad=True)
outputs = {"n": x.relu(), "o": x.sigmoid(), "p": x + 1, "q": x * x}
outputs |= {"r": -x, "s": x.exp(), "t": x.sqrt(), "u": x.tanh()}
answer = [name for name, output in outputs.items() if not snapshot(output).nodes[0].saved]
""",
)


@written("((torch.tensor([1.0, 2.0], requires_grad=True) * 2).sum() + 1).grad_fn")
def _constant() -> object:
    return ((leaf(1.0, 2.0) * 2).sum() + 1).grad_fn


def _shared_node() -> object:
    middle = leaf(0.5).exp()
    return (middle.sin() * middle).sum().grad_fn


@written("m = torch.ones(2, 2, requires_grad=True); node = torch.trace(m @ m.T).grad_fn")
def _shared_leaf() -> object:
    matrix = torch.ones(2, 2, requires_grad=True)
    return torch.trace(matrix @ matrix.T).grad_fn


@written(
    "a, b = (torch.tensor([n], requires_grad=True) for n in (1.0, 2.0)); node = (a.sin() +"
    " b.sin()).grad_fn"
)
def _namesakes() -> object:
    return (leaf(1.0).sin() + leaf(2.0).sin()).grad_fn


@written("the node of 100 times sin(), one on the other, and their sum")
def _chain() -> object:
    """Give a graph that goes deep; a walk that calls itself twice a node still gets to its end."""
    x = leaf(0.5)
    for _ in range(100):
        x = x.sin()
    return x.sum().grad_fn


_LAST: list[object] = []


@written("h = torch.tensor([0.5], requires_grad=True).exp(); node = (h.sin() * h).sum().grad_fn")
def _first_call() -> object:
    _LAST[:] = [_shared_node()]
    return _LAST[0]


@written("the node of the case before, a second time")
def _second_call() -> object:
    """Give the node of the case before, so that what one call leaves behind is seen in the next."""
    return _LAST[0]


def _walk(node: object, forwards: bool = True) -> list[str]:
    """Return the lines that are asked for, or those of a walk that takes the last entry first."""
    lines, met, waiting = [], set(), [(node, 0)]
    while waiting:
        node, depth = waiting.pop()
        lines.append(_spelled(node, depth, met))
        if node is not None and node not in met:
            met.add(node)
            entries = [(child, depth + 1) for child, _ in node.next_functions]
            waiting += reversed(entries) if forwards else entries
    return lines


def _spelled(node: object, depth: int, met: Collection) -> str:
    name = "None" if node is None else type(node).__name__
    return "  " * depth + name + (" (again)" if node in met else "")


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


def _last_first(node: object) -> list[str]:
    return _walk(node, forwards=False)


def _level_by_level(node: object) -> list[str]:
    """Return the lines of a walk that waits in a queue instead of on a stack."""
    lines, met, waiting = [], set(), [(node, 0)]
    for node, depth in waiting:
        lines.append(_spelled(node, depth, met))
        if node is not None and node not in met:
            met.add(node)
            waiting += [(child, depth + 1) for child, _ in node.next_functions]
    return lines


def _only_entries(node: object) -> list[str]:
    return [_spelled(child, 0, ()) for child, _ in node.next_functions]


def _without_again(node: object) -> list[str]:
    return [line for line in _walk(node) if not line.endswith("(again)")]


_LIMIT = 1000  # more lines than any case has; a generator may be endless


_NO_LINES = "no lines of text"


def _listing(answer: object) -> object:
    """Let a generator run where the function runs, for it is the function's code."""
    if is_a(answer, type) or not callable(answer):
        return answer

    def listed(node: object) -> object:
        returned = answer(node)
        return list(islice(returned, _LIMIT)) if is_a(returned, Iterator) else returned

    return listed


def _items(returned: object) -> list | None:
    """Return what a list, a tuple or a text of lines holds, by the base class's own methods."""
    if is_a(returned, str):
        return str.split(returned, "\n")
    for base in (list, tuple):
        if is_a(returned, base):
            return list(base.__iter__(returned))
    return None


def _seen(returned: object, node: object) -> object:
    """Read a list of lines or one text; indents count by level, and spelling does not count."""
    lines = _items(returned)
    if lines is None or not all(is_a(line, str) for line in lines):
        return _NO_LINES
    lines = [str.__str__(line) for line in lines[:_LIMIT]]
    lines = [_line(line) for line in lines if line.strip()]
    unit = min((_indent(line) for line in lines if line[0] == " "), default=1)
    return ["  " * (_indent(line) // unit) + line.lstrip() for line in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _line(line: str) -> str:
    """Write a line as the exercise does, where only its spelling differs."""
    line = line.expandtabs(2).rstrip().replace("NoneType", "None").replace("torch::autograd::", "")
    return re.sub(r"(?<=\S) *\(again\)$", " (again)", line, flags=re.IGNORECASE)


def _lines_of(outcome: object) -> tuple:
    return outcome if is_a(outcome, tuple) else ()


def _asked_none(outcome: object) -> bool:
    """Tell whether None was asked for an attribute that nodes have."""
    if not is_a(outcome, Failed):
        return False
    asked = re.search(r"'NoneType' object has no attribute '(\w+)'", outcome.text)
    return asked is not None and hasattr(Node, asked[1])


def _bare(reading: tuple) -> tuple:
    """Return the lines of each case without their indents."""
    return tuple(tuple(line.strip() for line in _lines_of(case)) for case in reading)


def _only_indents_differ(reading: tuple) -> bool:
    right = _READER.read(_walk)
    return reading != right and _bare(reading) == _bare(right)


def _some_line(reading: tuple, holds: Callable[[str], bool]) -> bool:
    return any(holds(line.strip()) for case in reading for line in _lines_of(case))


_NAMESAKES = 4  # the case in which two nodes are of one class
_LINES = function(
    _constant, _first_call, _second_call, _shared_leaf, _namesakes, _chain, observe=_seen
)
_READER = replace(_LINES, read=lambda answer: _LINES.read(_listing(answer)))


WALK = Exercise(
    id="04.4",
    reader=_READER,
    truth=lambda: _walk,
    right="It goes to the end of every path, stops at None, and spells out a shared node once.",
    principle="`next_functions` leads one step on, to nodes and empty entries; the same node can"
    " be reached on several paths.",
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
            message="Called twice with one node, your function does not do the same twice:"
            " something of the first call is still there in the second. Begin each call with a new"
            " set and a new list; a default in the `def` line is made only once.",
        ),
        Misconception(
            example="def answer(node):\n    return node.next_functions",
            when=lambda reading: set(reading) == {_NO_LINES},
            message="What your function returns are no lines: a list of texts is wanted, one for"
            " each line.",
        ),
        Misconception(
            example="def answer(node):\n    lines = []\n    def visit(node, depth):\n"
            "        lines.append(type(node).__name__)\n    return lines",
            when=lambda reading: set(reading) == {()},
            message="Your list comes back empty: no line was put into it. Is the function that"
            " appends them called?",
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
            message="You return one line. The lines of what the node leads to have to reach that"
            " list too, also those that a deeper call makes.",
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
            message="You took every entry for a node, and asked one that is none for what only"
            " nodes have.",
        ),
        Misconception(
            example="def answer(node):\n    return answer(node)",
            when=lambda reading: reading[0] == Failed("RecursionError"),
            message="On a graph of four nodes your function calls itself without end. Each call"
            " has to go on to an entry of `next_functions`, and to stop where there is none.",
        ),
        Misconception(
            example="def answer(node):\n    return [node.__name__]",
            when=lambda reading: raised(reading, "has no attribute '__name__'"),
            message="You asked a node for `__name__`. Its class has one: `type(node).__name__`.",
        ),
        Misconception(
            example="""
def answer(node):
    names = [str(child and type(child).__name__) for child, _ in node.next_functions]
    return [type(node).__name__] + ["  " + name for name in names]
""",
            when=same_as(lambda: _one_level),
            message="You went down one level, as the function above does. What lies deeper has to"
            " be visited too.",
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
            message="You took the graph for a tree. A node that two paths reach is spelled out on"
            " each of them, and in a long chain of such nodes the work would double at every step.",
        ),
        Misconception(
            example="def answer(node):\n    return [type(child).__name__ for child, _ in"
            " node.next_functions]",
            when=same_as(lambda: _only_entries),
            message="You name the entries of the first node, and nothing else. The first line is"
            " that node itself, and what lies deeper has to be visited too.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node, depth):
        if node not in met:
            lines.append("  " * depth + str(node and type(node).__name__))
            if node is not None:
                met.add(node)
                for child, _ in node.next_functions:
                    visit(child, depth + 1)
    visit(node, 0)
    return lines
""",
            when=same_as(lambda: _without_again),
            message="You left out the nodes that were met before. They are not entered again, but"
            " each gets a line, so that the reader sees where the path leads.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met, waiting = [], set(), [(node, 0)]
    while waiting:
        node, depth = waiting.pop()
        again = node is not None and node in met
        lines.append("  " * depth + str(node and type(node).__name__) + " (again)" * again)
        if node is not None and not again:
            met.add(node)
            waiting += [(child, depth + 1) for child, _ in node.next_functions]
    return lines
""",
            when=same_as(lambda: _last_first),
            message="Your walk takes the last entry of each node first. The position of an entry"
            " says which input it belongs to: keep the order of `next_functions`.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met, waiting = [], set(), [(node, 0)]
    for node, depth in waiting:
        again = node is not None and node in met
        lines.append("  " * depth + str(node and type(node).__name__) + " (again)" * again)
        if node is not None and not again:
            met.add(node)
            waiting += [(child, depth + 1) for child, _ in node.next_functions]
    return lines
""",
            when=same_as(lambda: _level_by_level),
            message="Your walk goes level by level. Then the line above no longer says what a line"
            " hangs from: follow one path to its end before the next entry.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node, depth):
        lines.append("  " * depth + str(node and type(node).__name__) + " (again)" * (node in met))
        if node not in met:
            met.add(node)
            for child, _ in node.next_functions if node else ():
                visit(child, depth + 1)
    visit(node, 0)
    return lines
""",
            when=lambda reading: _some_line(reading, lambda line: line == "None (again)"),
            message="You counted None as a node that is met again. An empty entry is no node: its"
            " line is `None` each time.",
        ),
        Misconception(
            example="""
def answer(node, depth=0):
    lines = ["  " * depth + (type(node).__name__ if node is None else "None")]
    for child, _ in node.next_functions if node else ():
        lines += answer(child, depth + 1)
    return lines
""",
            when=lambda reading: all(_lines_of(case)[:1] == ("None",) for case in reading),
            message="Your first line says `None`, and there was a node. Is the question for None"
            " turned around?",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node, depth):
        if node is None:
            lines.append("  " * depth + "None")
            return
        met.add(node)
        lines.append("  " * depth + type(node).__name__ + " (again)" * (node in met))
        for child, _ in node.next_functions:
            visit(child, depth + 1)
    visit(node, 0)
    return lines
""",
            when=lambda reading: all("(again)" in "".join(_lines_of(case)[:1]) for case in reading),
            message="Your first line says `(again)`, and nothing was met before it. Ask whether a"
            " node was met before you put it among those that were.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node, depth):
        again = node is not None and node in met
        lines.append("  " * depth + str(node and type(node).__name__) + " again" * again)
        if node is not None and not again:
            met.add(node)
            for child, _ in node.next_functions:
                visit(child, depth + 1)
    visit(node, 0)
    return lines
""",
            when=lambda reading: _some_line(
                reading, lambda line: "again" in line.casefold() and not line.endswith("(again)")
            ),
            message="The line of a node that was met before ends in `(again)`, in parentheses, as"
            " in the exercise.",
        ),
        Misconception(
            example="""
def answer(node):
    lines, met = [], set()
    def visit(node):
        again = node is not None and node in met
        lines.append(str(node and type(node).__name__) + " (again)" * again)
        if node is not None and not again:
            met.add(node)
            for child, _ in node.next_functions:
                visit(child)
    visit(node)
    return lines
""",
            when=_only_indents_differ,
            message="Your lines and their order are right; their indents are not. The first line"
            " has none, and each level has two more spaces than the one before.",
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
            message="You left out the empty entries. Then nobody can see which input the others"
            " belong to.",
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
                {"  SinBackward0", "  SinBackward0 (again)"} <= set(_lines_of(reading[_NAMESAKES]))
            ),
            message="You know nodes by their names. Two nodes of one class are two nodes: compare"
            " the objects.",
        ),
    ),
    hints=(
        "An inner function `visit(node, depth)` appends one line and calls itself for each entry.",
        "Ask three things in this order: is it None? was it met before? what does it lead to?",
        "Keep the nodes that you met in a set, made anew in each call: the nodes, not the names of"
        " their classes.",
        "A walk that calls itself goes as deep as the graph. On 1,000 operations in a row Python's"
        " usual limit, 1,000 calls deep, stops it with a RecursionError; a list of the nodes still"
        " to visit has no such limit.",
    ),
    solution="""
def answer(node):
    lines, met, waiting = [], set(), [(node, "")]
    while waiting:
        node, indent = waiting.pop()
        name = "None" if node is None else type(node).__name__
        lines.append(indent + name + (" (again)" if node in met else ""))
        if node is not None and node not in met:
            met.add(node)
            entries = [(child, indent + "  ") for child, input_nr in node.next_functions]
            waiting += reversed(entries)  # the first entry is taken next
    return lines
""",
)

EXERCISES = (ENTRIES, LOOP, TWICE, WALK)
