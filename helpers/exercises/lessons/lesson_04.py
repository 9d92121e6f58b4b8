"""Exercises of lesson 04, grad_fn and the graph: the case in other clothes, an engine that records, a walk, a
count of nodes, what a node keeps, and the line that cuts a path.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from random import Random

import torch

from autograd_graphs.guard import Failed
from helpers.engine.checks import GRAPH, cases
from helpers.engine.programs import on_torch
from helpers.engine.putting_together import yours
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import always, at, fails_first
from helpers.exercises.slips import parts


def _rounds(data: Data) -> list[int]:
    names = {"x": data["x"], "y": data["x"], "values": []}
    exec("{loop}:\n    {line}\n    values.append(y)".format_map(data), names)
    return names["values"]


def _count(data: Data) -> int:
    return data["line"].count("*") * len(_rounds(data))


def _other_data(random: Random) -> Data:
    """Draw a loop: for how long it runs, or how often, and how many products are in it."""
    begin, many = random.randint(1, 9), random.randint(3, 9)
    steps = f"for step in range({begin}, {begin + many})"
    loop = random.choice((f"while y < {10 * random.randint(2, 60)}", steps))
    line = random.choice(("y = y * x", "y = y * x * x"))
    return {"x": random.choice((2, 3)), "loop": loop, "line": line}


COUNTED = Quantities(
    program="""
x = torch.tensor({x}.0, requires_grad=True)
y = x
{loop}:
    {line}
node, answer = y.grad_fn, 0
while type(node).__name__ == "MulBackward0":
    node, answer = node.next_functions[0][0], answer + 1
""".format_map,
    data={"x": 2, "loop": "while y < 20", "line": "y = y * x"},
    places=(
        Place(
            "`answer`",
            "one node for each multiplication that ran",
            {
                "how often the product stands in the code": "line.count('*')",
                "the number of all nodes, with the one for the leaf `x`": lambda d: _count(d) + 1,
                "the number of their edges, and each has two": lambda d: 2 * _count(d),
                "one round fewer. Go through the rounds once more, and write down `y` after each": (
                    lambda d: _count(d) - d["line"].count("*")
                ),
                "the value of `y` at the end": lambda d: _rounds(d)[-1],
            },
            loose={"a value of `y` on the way": lambda d: tuple(_rounds(d)[:-1])},
        ),
    ),
    own={
        "You found none. `x` requires grad, so each multiplication with it is recorded, in a loop"
        " as well.": (lambda _, seen: seen == (0,)),
    },
    draw=_other_data,
)

LOOP = Exercise(
    id="04.2",
    right="Each multiplication that ran left a node. The loop left none.",
    principle="the graph holds what ran: a node for each multiplication, as often as its line ran.",
    quantities=COUNTED,
    asked="How many nodes called `MulBackward0` does the graph of `y` have at the end? Give a number.",
    hints=(
        "Write down `y` after each round, until the loop ends.",
        "Start at `y.grad_fn` and go on with `next_functions[0][0]`. Count until you reach the leaf.",
    ),
)

_SLOPE = "Does `x` stand in its slope, or its result, or neither?"
KEPT = Lines(
    read="the part “Three slopes, three nodes”, and draw each result with `show`",
    begins=(
        "x = torch.tensor([0.5, 2.0], requires_grad=True)",
        "x = torch.ones(3, requires_grad=True) * 2",
        "x = torch.nn.Parameter(torch.rand(2, 2) + 1)",
    ),
    lines=dict.fromkeys(
        (
            "@ = x.sin()",
            "@ = x.exp()",
            "@ = x + 1",
            "@ = x**2",
            "@ = -x",
            "@ = x.tanh()",
            "@ = x * 3",
            "@ = x.log()",
            "@ = x.sqrt()",
            "@ = x * x",
            "@ = x.sum()",
            "@ = x.cos()",
            "@ = x.sigmoid()",
            "@ = x.abs()",
        ),
        _SLOPE,
    ),
    right="any(torch.is_tensor(kept) and kept.data_ptr() == x.data_ptr() for name in"
    " dir(made.grad_fn) if name.startswith('_saved') for kept in [getattr(made.grad_fn, name)])",
)

KEEPS = Exercise(
    id="04.6",
    right="Their slopes are computed from `x`. The others use their result, or a number, or nothing.",
    asked="Which of `a` to `f` have a node that keeps `x` itself for backward? Give a list of letters.",
    **KEPT.first("abcdef"),
    hints=(
        "Write down the slope of each one. Does `x` stand in it, or the result, or neither?",
        "`show(a)` draws what its node keeps: is a full circle the tensor `x`?",
    ),
)


PATHS = Faults("""
w = torch.eye(2, requires_grad=True)
scores = torch.tensor([[0.{a}, 0.{b}]]) @ w
best = scores.softmax(1)
loss = (best**2).sum() * {c}
loss.backward()
look at: w.grad
3: best = scores.argmax(1).float()
3: best = (scores > 0.{c}).float()
2: scores = torch.tensor([[0.{a}, 0.{b}]]) @ (w > 0).float()
4: loss = (best.long() ** 2).sum() * {c}

x = torch.tensor([0.{a}, 0.{b}])
gate = torch.tensor(0.{c}, requires_grad=True)
soft = torch.sigmoid(x - gate)
loss = (x * soft).sum() + gate**2
loss.backward()
look at: gate.grad
3: soft = (x > gate).float()
3: soft = torch.sigmoid(x - gate.item())
4: loss = (x * soft).sum() + torch.tensor(gate.item()) ** 2
4: loss = (x * (soft > 0.5)).sum() + gate**2

x = torch.tensor({a}.5, requires_grad=True)
t = x
for step in range({b}):
    t = t / 2 if t > 1 else t + {c}
loss = (t - x) ** 2
loss.backward()
look at: x.grad
2: t = x.long()
2: t = torch.tensor(x.item())
4: t = (t > 1) / 2 + {c}
4: t = t.item() / 2 if t > 1 else t + {c}
5: loss = (t - x.int()) ** 2
""")

LINE = Exercise(
    id="04.7",
    right="What that line computes has no node that leads on to the leaf.",
    asked="In one line of this program, a path from `loss` back to the leaf is cut. Which line would"
    " you change? Give its number.",
    principle="a comparison, `argmax`, a cast to integers and `item()` leave no node.",
    hints=(
        "Print `grad_fn` of each result. Where is it None, or where does `next_functions` not lead on as you expect?",
        "Integers and bools can't have a gradient. Which line makes some, or makes a plain number?",
    ),
    **PATHS.first(a=3, b=6, c=4, d=2),
)


_LAST: list[object] = []
_shared = made_by(
    "h = torch.tensor([0.5], requires_grad=True).exp()\nnode = (h.sin() * h).sum().grad_fn", "node"
)


@written(_shared.written)
def _first_call() -> object:
    _LAST[:] = _shared()
    return _LAST[0]


@written("the node of the case before, a second time")
def _second_call() -> object:
    """Give the node of the case before, so that what one call leaves behind is seen in the next."""
    return _LAST[0]


def _nodes(first: str, sign: str, second: str, size: int, long: int) -> tuple:
    """Return the cases with these operations in the graphs; the call that comes twice stays as it is."""
    codes = (
        f"node = ((torch.ones({size}, requires_grad=True) * 2){first}.sum() + 1).grad_fn",
        f"m = torch.ones({size}, {size}, requires_grad=True)\nnode = torch.trace(m @ m.T).grad_fn",
        "a, b = (torch.tensor(value, requires_grad=True) for value in (1.0, 2.0))\n"
        f"node = (a.sin() {sign} b.sin()).grad_fn",
        f"x = torch.ones(1, requires_grad=True)\nall = [x := x.{second}() for _ in range({long})]\n"
        "node = x.sum().grad_fn",
    )
    tree, *others = [made_by(code, "node") for code in codes]
    return tree, _first_call, _second_call, *others


def _other_nodes(random: Random) -> tuple:
    first, second = random.sample(("sin", "cos", "exp", "tanh"), 2)
    size, long = random.randint(2, 4), random.randint(60, 140)
    return _nodes(f".{first}()", random.choice("+-*"), second, size, long)


_LIMIT = 1000  # more lines than any case has; a generator may be endless
_NO_LINES = "no lines of text"


def _listing(answer: Callable) -> Callable:
    """Let a generator run where the function runs, for it is the function's code."""

    def listed(node: object) -> object:
        returned = answer(node)
        return list(islice(returned, _LIMIT)) if isinstance(returned, Iterator) else returned

    return listed


def _seen(returned: object, node: object) -> object:
    """Read a list of lines or one text; indents count by level, and spelling does not count."""
    lines = parts(str.split(returned, "\n") if isinstance(returned, str) else returned)
    if not all(isinstance(line, str) for line in lines):
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


def _without_indents(outcome: object) -> list[str]:
    return [line.strip() for line in outcome] if isinstance(outcome, tuple) else []


def _only_indents_differ(seen: tuple, right: tuple) -> bool:
    return list(map(_without_indents, seen)) == list(map(_without_indents, right))


def _says_again_otherwise(seen: tuple, right: tuple) -> bool:
    lines = [line for case in seen for line in _without_indents(case)]
    return any("again" in line.casefold() and not line.endswith("(again)") for line in lines)


WALK = Exercise(
    id="04.4",
    reader=function(
        *_nodes("", "+", "sin", 2, 100),
        observe=_seen,
        around=_listing,
    ),
    right="It goes to the end of every path, stops at None, and spells a shared node out once.",
    principle="`next_functions` leads one step on, to nodes and to empty entries. You can reach the"
    " same node on several paths.",
    known={
        "Called twice with the same node, your function doesn't do the same thing twice:"
        " something from the first call is still there in the second. Begin each call with a new"
        " set and a new list."
        " Python makes a default in the `def` line only once.": lambda seen, _: seen[1] != seen[2],
        "On a graph of four nodes your function calls itself without end. Each call has to go on to"
        " an entry of `next_functions`, and to stop where there is none.": lambda seen, _: (
            seen[0] == Failed("RecursionError")
        ),
        "The line of a node that you meet again ends in `(again)`, in parentheses, as in the"
        " exercise.": _says_again_otherwise,
        "Your lines and their order are right, but their indents aren't. The first line has none,"
        " and each level has two more spaces than the one before.": _only_indents_differ,
    },
    hints=(
        "An inner function `visit(node, depth)` appends one line and calls itself for each entry.",
        "Ask three things in this order: is it None? have I met it before? what does it lead to?",
        "Keep the nodes that you have met in a set, and make a new set in each call.",
        "A walk that calls itself goes as deep as the graph. On 1,000 operations in a row Python's usual limit, 1,000"
        " calls deep, stops it with a RecursionError. A list of the nodes still to visit has no such limit.",
    ),
    reference="""
def answer(node):
~   return list(node.next_functions)  # You return no lines. What's asked for is a list of texts, one for each
~       # line.
~   return [type(node).__name__] + ["  " + str(child and type(child).__name__) for child, _ in node.next_functions]
~       # You went down only one level, as the tutorial's function does. Visit what lies deeper, too.
~   return [str(child and type(child).__name__) for child, _ in node.next_functions]  # You name only the entries of
~       # the first node. The first line should be that node itself, and whatever lies deeper needs lines as well.
    lines = []
    met = set()
    waiting = [(node, "")]
    while waiting:
        node, indent = waiting.pop(0)
        if node is None:
~       if False:  # You took every entry for a node. But one of them is None, and you asked it for something only a
~           # node has.
            lines.append(indent + "None")
~           node.name()  # You took every entry for a node. But one of them is None, and you asked it for something
~               # only a node has.
~           lines.append(indent + ("None (again)" if None in met else "None")); met.add(None)  # You treated None as
~               # a node you had met before. But an empty entry isn't a node, so its line is `None` every time.
~           pass  # You left out the empty entries. Without them you can't tell which input the others belong to.
            continue
        name = type(node).__name__
        if node in met:
~       if False:  # You took the graph for a tree. A node that two paths reach is spelled out on each of them,
~           # and in a long chain of such nodes the work would double at every step.
~       if name in [type(other).__name__ for other in met]:  # You recognize nodes by their class names. Two nodes
~           # of the same class are still two nodes, so compare the objects.
            lines.append(f"{indent}{name} (again)")
~           pass  # You left out the nodes that you had met before. You don't have to go into them again, but each
~               # still gets a line, so that you can see where the path leads.
            continue
        met.add(node)
        lines.append(indent + name)
        entries = [(child, indent + "  ") for child, number in node.next_functions]
        waiting = entries + waiting  # a node's own entries come before the ones that are already waiting
~       waiting = entries[::-1] + waiting  # Your walk takes the last entry of each node first. The place of an
~           # entry says which input it belongs to, so keep the order of `next_functions`.
~       waiting = waiting + entries  # Your walk goes level by level, so the line above no longer tells you what a
~           # line hangs from. Follow one path to its end before you take the next entry.
~       waiting = entries[:1]  # You followed only the first entry of each node, but every entry needs a line.
    return lines
~   return lines[:1]  # You return only one line. The lines from deeper down have to reach that list, too.
""",
    cases=_other_nodes,
)

_ROOM, _CLOSE, _FAR = (
    "apart, and in the room",
    "closer than 0.9 to each other",
    "farther than 5 away",
)
_PUSHED, _PULLED, _MISSED = "pushes", "only pulls to the middle", "has no gradient"


def _tables(seed: int) -> torch.Tensor:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return (torch.rand(4, 2) - 0.5).requires_grad_()


def _moving(answer: Callable) -> Callable:
    """Wrap a function that returns a loss: take 200 steps by it, and return where the first one leads."""

    def moved(tables: torch.Tensor) -> object:
        optimizer, lead = torch.optim.SGD([tables], lr=0.1), ""
        for _ in range(200):
            loss = answer(tables)
            if not isinstance(loss, torch.Tensor):
                return loss
            optimizer.zero_grad()
            loss.backward()
            lead = lead or _leads(tables)
            optimizer.step()
        return lead

    return moved


def _leads(tables: torch.Tensor) -> str:
    """Tell whether a gradient does more than to make all places smaller by one factor."""
    if tables.grad is None:
        return _MISSED
    alike = torch.cosine_similarity(tables.grad.flatten(), tables.detach().flatten(), 0)
    return _PULLED if alike > 0.9999 else _PUSHED


def _places(lead: object, tables: torch.Tensor) -> object:
    if lead not in (_PUSHED, _PULLED, _MISSED):
        return "no tensor"
    with torch.no_grad():
        close, far = torch.pdist(tables).min() < 0.9, tables.norm(dim=1).max() > 5
    return _CLOSE if close else _FAR if far else _ROOM, lead


CASE = Exercise(
    id="04.10",
    reader=function(
        partial(_tables, 1),
        partial(_tables, 2),
        observe=_places,
        parts=("the tables", "the gradient of the first step"),
        around=_moving,
    ),
    right="A pair that's too close now has a slope, and a path leads from the loss through the distances"
    " to the tables.",
    principle="a comparison leaves no node. A loss that should push tables apart has to reach them on a path"
    " through their distances.",
    known={
        "The tables still end up in a heap, since your loss only pulls them to the middle. Draw it: the path"
        " through the distances is cut, or nothing but zeros comes along it.": always(_PULLED),
        "Backward runs, but the tables get no gradient. A flag on the result makes a new leaf. It doesn't"
        " bring back the nodes the comparison never left.": always(_MISSED),
        "A path leads through the distances now, but some tables are still too close. Does your loss fall when"
        " two of them move apart? And is there a slope left when they nearly touch?": always(
            _CLOSE
        ),
        "Now the tables run away from one another and leave the room. A pair that's far enough apart should have"
        " little to gain from moving on.": always(_FAR),
    },
    hints=(
        "Draw `broken(tables)`. Which of its two parts leads on, and where to?",
        "A pair counts for 1 if it's closer than a metre. Ask softly instead: how far short of a metre is it?",
    ),
    reference="""
def answer(tables):
    missing = 1 - torch.pdist(tables)
    crowded = torch.relu(missing).sum()  # a pair that's too close needs a slope, which pushes it apart
~   crowded = (missing > 0).float().sum(); return crowded  # Your loss has no graph at all, and PyTorch says so.
~       # That error is more honest than the silence of the program above. The path from the loss to the
~       # distances mustn't be cut anywhere.
    return crowded + 0.1 * (tables**2).sum()
~   return crowded.item() + 0.1 * (tables**2).sum().item()  # What you return isn't a tensor, and only a tensor
~       # knows its node. Return the loss itself.
""",
    cases=lambda random: tuple(partial(_tables, seed) for seed in random.sample(range(3, 40), 2)),
)

RECORD = Exercise(
    id="04.9",
    stage="04",
    reader=function(*cases("04"), promises=GRAPH),
    truth=lambda: on_torch,
    solution=yours("04"),
    cases=lambda random: cases("04", random),
    right="Your engine records. On every program I tried, its graph is the one that PyTorch builds.",
    principle="an operation that runs leaves a node behind, and the node knows where gradients go next.",
    known={
        "The result doesn't know that it requires grad. If one of its inputs does, then so does the"
        " result, and it needs a node.": at([0], [1]),
        "Your sum photographs its inputs. But an addition passes a gradient on untouched, so it will"
        " never have to look anything up. It keeps nothing.": at([0], [4]),
        "You photographed the tensors in `.data`. Photograph the Values themselves, `a` and `b`: a Value knows"
        " where it came from, and a bare tensor doesn't.": at(
            [1, 2], [4], ("x.data", "y.data"), ("x.data", "x.data")
        ),
        "A product has to photograph both factors, `a` first: the Values themselves, and not copies of their"
        " numbers. On the way back, the slope with respect to one factor is the other"
        " one.": at([1, 2], [4]),
        "`x` is a single leaf, so it has a single AccumulateGrad, however often you use it. You made a new"
        " one for each use. Keep the first in `value.grad_accumulator`.": at(
            [2], [2], "MulBackward0(AccumulateGrad of x, AccumulateGrad of x)"
        ),
        "One input that requires grad is enough. You waited until all of them do.": at([3], [1]),
        "You left `y` out of `next_functions`. On the way back, a product returns one gradient for each"
        " input, and the position says whose it is. So the place of `y` stays, as"
        " `(None, 0)`.": at([3], [2], "MulBackward0(AccumulateGrad of x)"),
        "`y` doesn't require grad, so nobody will ever ask for its gradient. Its edge is"
        " `(None, 0)`.": at([3], [2]),
        "Neither factor requires grad, and yet you left a node. PyTorch records nothing here: the result"
        " has no `grad_fn` and doesn't require grad.": at([4], [1, 2]),
        "The node doesn't know the shape of its result. Hand `data.shape` on to it, because the pictures"
        " will ask.": at([5], [3]),
        "The node got the shape of its first input. It should have that of its result: a single number times"
        " a row of numbers is a row. Hand `data.shape` on to it.": at([8], [3]),
        "An edge to a result leads to the operation that made it, so to its `grad_fn`. Only a leaf has an"
        " AccumulateGrad.": at([6, 7], [2]),
        "`edge` returns a pair, as PyTorch's edges are: the node, and a 0, because all of our operations"
        " have one output.": fails_first("cannot unpack", "not enough values", "too many values"),
        "`+` between two Values calls your `add`, so an `add` that adds Values calls itself for ever (and so does"
        " `mul`). Compute with the tensors inside: `a.data + b.data`.": fails_first("recursion"),
    },
    hints=(
        "Begin with `edge`. A gradient has reached this value: where does it go next? If an operation made"
        " the value, it goes to that operation's node, `value.grad_fn`. Otherwise the value is a leaf.",
        "A leaf that doesn't require grad has the edge `(None, 0)`. One that does leads to an"
        " `AccumulateGrad(value)`. Make it at the first use and keep it in `value.grad_accumulator`, so that"
        " the second use finds it there.",
        "`recorded` makes a `Value(data)`. If any of the inputs requires grad, the result does, too, and its"
        " `grad_fn` is `kind(inputs, saved, data.shape)`.",
        "`add` is a single line: `return recorded(a.data + b.data, AddBackward0, (a, b))`. A product also"
        " says what it photographs.",
    ),
)


EXERCISES = (CASE, RECORD, WALK, LOOP, KEEPS, LINE)
