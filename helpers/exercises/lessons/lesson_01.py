"""Exercises of lesson 01, Variable to Tensor: what a wrapper cuts off, what still leads back, who shares a
memory, a loop of 2017 to port, and a file of 2017 with two cuts that nobody sees.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

import torch

from autograd_graphs.guard import Failed
from autograd_graphs.plain_values import describe
from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function
from helpers.exercises.lessons.watching import watched
from helpers.exercises.letters import Lines
from helpers.exercises.programs import slope, value
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.recognise import (
    agree,
    always,
    both,
    fails,
    like,
    right_in,
    shows,
)
from helpers.exercises.slips import parts
from helpers.exercises.watched_inputs import readable
from helpers.moons import moons

_detach, _clone = torch.Tensor.detach, torch.Tensor.clone

_WRAPPED = """
from torch.autograd import Variable

w = torch.tensor({w}, requires_grad=True)
y = {y}
z = {z}
z.backward()
answer = w.grad.item()
"""


def _other_factors(random: Random) -> Data:
    y = random.choice(("w**2", "w**3", "w + {n}", "w * {n}")).format(n=random.randint(2, 9))
    cut, other = random.sample("wy", 2)
    z = random.choice((f"Variable({cut}) * {other}", f"{other} * Variable({cut})"))
    return {"w": float(random.randint(2, 9)), "y": y, "z": z, "cut": f"`{cut}`"}


def _through_wrapper(data: Data) -> float:
    """Return what would come back to `w` through the factor that is wrapped."""
    if data["cut"] == "`y`":
        return slope(data["y"], data, "w") * data["w"]
    return value(data["y"], data)


WRAPPER = Exercise(
    id="01.1",
    right="The wrapped factor is a constant for backward. The gradient comes through the other factor.",
    asked="Which number is in `w.grad`?",
    principle="backward goes only along the arrows. A tensor that was cut off counts as a plain number.",
    quantities=Quantities(
        program=_WRAPPED.format_map,
        data={"w": 5.0, "y": "w**2", "z": "Variable(y) * w", "cut": "`y`"},
        draw=_other_factors,
        places=(
            Place(
                "`w.grad`",
                "what comes back past the wrapper: there the wrapped factor is a plain number",
                {
                    "what comes through both factors if nothing is"
                    " wrapped": "slope(f'({y}) * w', 'w')",
                    "what comes through {cut} alone, and that path is cut": _through_wrapper,
                    "the value of `z`, not its gradient": "value(f'({y}) * w')",
                    "the gradient of `y`": "slope(y, 'w')",
                    "what would be left if both paths were cut, but one of them isn't": 0,
                },
            ),
        ),
    ),
    hints=(
        "Run the first three lines, then `show(z, y)` draws both graphs. Which arrow leads from `z` to `w`?",
        "Write the value of the wrapped factor as a number, and take the gradient of that number"
        " times the other factor.",
    ),
)


_SUMMANDS = "What was recorded of each of the two summands?"
RESULTS = Lines(
    read="the part “Without `.data`”, and draw each result with `show(result)`",
    begins=(
        "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nz = x * 2",
        "x = torch.tensor([4.0, 5.0], requires_grad=True)\nz = x**2",
        "x = torch.tensor([0.5, 1.0], requires_grad=True)\nz = x.exp() + 1",
    ),
    lines={
        "z.data * 3": "What did `.data` leave behind?",
        "z * z.data": "Do both factors have the same history?",
        "Variable(z) + z": _SUMMANDS,
        "Variable(z, requires_grad=True) * 3": (
            "Which tensor asks for a gradient here, and what was it computed from?"
        ),
        "Variable(x.data) + z": _SUMMANDS,
        "z.detach() * Variable(x)": "What did each of the two calls leave behind?",
        "x.detach() * z.data": "What did each of the two leave behind?",
        "(z + 1).detach() - x": _SUMMANDS,
        "x.data.clone().requires_grad_() * 2": "Which tensor asks for a gradient here?",
        "Variable(x + z) * 5": "How much of the sum did the call leave?",
        "torch.tensor(z.tolist()) + x": _SUMMANDS,
        "z.clone() * 2": "Is a clone recorded?",
        "(x * z).data.sqrt()": "What did `.data` leave behind?",
    },
    trial="""
from torch.autograd import Variable
{begin}
result = eval(line)
if result.requires_grad:
    result.sum().backward()
if x.grad is not None:
    answer.append(letter)
""",
)

REACHES = Exercise(
    id="01.4",
    right="One recorded path back to `x` is enough, whatever else goes into the result.",
    asked="Six people compute a `result` and call `result.sum().backward()`, each with a new `x`."
    " Who finds a gradient in `x.grad`? Give a list of letters.",
    **RESULTS.first("abcdef"),
    hints=(
        "Draw one of them with `show(result)`. Is the leaf `x` in the picture?",
        "Put a constant in place of each tensor that was cut off. Is there a `z` or an `x` left?",
    ),
)

PORTED = Faults("""
from torch.autograd import Variable
x = torch.tensor([0.{a}, 0.{b}])
u = torch.tensor(0.{c}, requires_grad=True)
h = torch.tanh(x * u)
y = h * {d} + x
loss = (y**2).mean()
loss.backward()
look at: u.grad
5: y = Variable(h * {d}) + x
5: y = h.data * {d} + x
4: h = Variable(torch.tanh(x * u))
4: h = torch.tanh(Variable(x * u))
6: loss = (Variable(y) ** 2).mean()
6: loss = (y.data**2).mean()

from torch.autograd import Variable
w = torch.tensor({a}.0, requires_grad=True)
for step in range(3):
    loss = (w * 0.{b} - {c}) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
look at: [w.item(), w.requires_grad]
7: w = Variable(w - 0.01 * w.grad)
7: w = w - 0.01 * w.grad.data
4: loss = (Variable(w) * 0.{b} - {c}) ** 2

from torch.autograd import Variable
start = torch.tensor([{a}.0, {b}.0])
w = Variable(start, requires_grad=True)
square = w**2
loss = (square * {c} + w).sum()
loss.backward()
look at: w.grad
3: w = Variable(start)
4: square = w.data**2
4: square = Variable(w) ** 2
4: square = Variable(w**2)
5: loss = (Variable(square) * {c} + w).sum()
5: loss = (square * {c} + w.data).sum()
""")

LINE = Exercise(
    id="01.6",
    right="That line wraps or unpacks something that has a history, and what it passes on has none.",
    asked="Whoever ported this program left in one line too many from 2017: a weight loses its"
    " gradient, or part of it, or keeps an old one. Which line would you change? Give its number.",
    principle="ask of each old name what goes into it: plain data has nothing to lose, but a result or a"
    " weight loses its history.",
    hints=(
        "Look for `Variable` and `.data`. What stands inside the parentheses, or before the dot?",
        "If plain data goes in, nothing is lost. A weight, or what was computed from one, loses its history.",
    ),
    **PORTED.first(a=5, b=2, c=3, d=4),
)


_SHARED = """from torch.autograd import Variable
start = torch.tensor({start}.0)
w = Variable(start{copied}, requires_grad=True)
d = w.{data}
with torch.no_grad():
    {write}
answer = [start.item(), w.item(), d.item()]
"""
_DATA = "data", "detach()", "data.clone()", "detach().clone()"
_WRITES = "d -= {by}", "w -= {by}", "d = d - {by}", "w.data.sub_({by})"


def _memory(start: int, by: int, copied: str, data: str, write: str) -> Data:
    write = write.format(by=by)
    return {"start": start, "by": by, "copied": copied, "data": data, "write": write}


def _other_memory(random: Random) -> Data:
    start, by = random.sample(range(2, 12), 2)
    copied, data = random.choice(("", ".clone()")), random.choice(_DATA)
    return _memory(start, by, copied, data, random.choice(_WRITES))


def _name(name: str) -> Place:
    known = {
        "what was there before the write, but the write did reach it": "start",
        "what you get if the write reached it, but it didn't": "start - by",
        "what you get if you write twice, or add": "start + by",
    }
    return Place(name, "the number in its memory now: ask who shares that memory", loose=known)


MEMORY = Exercise(
    id="01.7",
    right="What's written into a piece of memory shows under every name that leads to it. A clone has memory of its own.",
    asked="Which numbers do `start`, `w` and `d` hold at the end? Give a list of three numbers.",
    principle="`Variable(…)`, `.data` and `detach()` give a new tensor on the same memory, and"
    " `clone()` gives new memory.",
    quantities=Quantities(
        program=_SHARED.format_map,
        data=_memory(7, 2, "", "data", "d -= {by}"),
        places=(_name("`start`"), _name("`w`"), _name("`d`")),
        draw=_other_memory,
    ),
    hints=(
        "Draw each piece of memory once. Which of the three names lead to the same one?",
        "`d -= 1` writes into the memory that is there. `d = d - 1` makes new memory and gives it the name.",
    ),
)


_MOONS = """
def answer(w, x, y):
    losses = []
    for step in range(100):
        loss = ((torch.sigmoid(x @ w) - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= w.grad
        w.grad = None
        losses.append(loss.item())
    with torch.no_grad():
        guesses = torch.sigmoid(x @ w)
    return losses, guesses
"""
_LOSSES, _KINDS, _W, _, _, _NAMES, _GUESSES = range(7)  # the parts of what is seen
_PARTS = (
    "the losses",
    "what kind of values they are",
    "w afterwards",
    "the flag of w",
    "updates, for torch",
    "names of 2017",
    "the sigmoid values",
)


def _watching(answer: Callable) -> Callable:
    """Wrap a function: it returns its result, and what was seen of a second run, on copies."""

    def run(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple:
        copies = _clone(_detach(w)).requires_grad_(), _clone(x), _clone(y)
        returned = answer(w, x, y)
        return returned, watched(lambda: answer(*copies))

    return run


def _trained(ended: tuple, w: torch.Tensor, *_: torch.Tensor) -> list:
    returned, seen = ended
    is_pair = type(returned) in (tuple, list) and len(returned) == 2
    is_pair = (
        is_pair and not isinstance(returned[0], torch.Tensor) and not isinstance(returned[1], float)
    )
    losses, guesses = returned if is_pair else (returned, None)
    losses = list(losses) if type(losses).__name__ == "ndarray" else losses
    is_recorded = isinstance(guesses, torch.Tensor) and guesses.requires_grad
    used = [name for name, was in ((".data", seen.data), ("Variable", seen.variable)) if was]
    return [
        readable(losses),
        _kinds(losses),
        readable(_detach(w)),
        "requires grad" if w.requires_grad else "requires no grad",
        "noticed" if w._version > 0 or seen.fused else "not noticed",
        used or ["none"],
        "they have a graph" if is_recorded else readable(guesses),
    ]


def _kinds(losses: object) -> object:
    """Name the kind of each loss, or say what stands where the list should be."""
    if not isinstance(losses, (list, tuple)):
        return "no list: " + describe(losses)
    names = []
    for kind in map(type, parts(losses)):
        if issubclass(kind, float):  # one of numpy's too
            kind = float
        names.append(kind.__name__)
    return names


def _on_moons(count: int, *start: float) -> tuple[torch.Tensor, ...]:
    return torch.tensor(start)[:, None].requires_grad_(), *moons(count)


def _has_no_gradient(seen: tuple, right: tuple) -> bool:
    """Tell whether a case ended because None stood where a gradient was to be used."""
    texts = [case.text for case in seen if isinstance(case, Failed) and "NoneType" in case.text]
    return any(not re.search("append|iterable|subscriptable", text) for text in texts)


def _is_no_float(seen: tuple, right: tuple) -> bool:
    return any(set(case[_KINDS]) - {"float"} for case in seen if isinstance(case[_KINDS], tuple))


def _uses_old_names(seen: tuple, right: tuple) -> bool:
    return agree(seen, right, _LOSSES, _W) and not agree(seen, right, _NAMES)


def _known(loop: str) -> dict[str, object]:
    return {
        "You kept an index from 2017. Today this loss has no dimension to index. A method gives"
        " you its number.": fails("0-dim tensor", cases=slice(1)),
        "You wrote into a leaf while autograd was recording. An update isn't part of the"
        " model.": fails("leaf Variable", cases=slice(1)),
        "There was a None where you wanted a gradient. `w.grad` is None until a `backward()` has reached"
        " `w`. And `w = w - …` gives the name `w` to a new tensor, which has no gradient"
        " yet.": _has_no_gradient,
        "A loss had no graph. By then `w` may have been the name of a tensor that doesn't ask for"
        " a gradient, such as the result of `w - …` under `no_grad`. Or nothing was recorded"
        " while you computed the loss.": fails("does not require grad", cases=slice(1)),
        "The numbers are right, but PyTorch didn't notice the update, because it went through"
        " `.data`, or around PyTorch. Write into `w` itself, under `no_grad`. Lesson 09 shows"
        " what an unnoticed"
        " edit can spoil.": both(right_in(_LOSSES, _W), shows("not noticed")),
        "The numbers are right, but while your function ran, an old name was used: `.data`, or"
        " `Variable`. The migration table says what to write today.": _uses_old_names,
        "You didn't return a list of losses. The old loop returned one, with the loss of each"
        " step.": (lambda seen, _: not any(isinstance(case[_KINDS], tuple) for case in seen)),
        "Something in the list isn't a plain float. A tensor that has a `grad_fn` keeps its graph"
        " alive. `print(type(losses[0]))` tells you what it is.": _is_no_float,
        "The `w` that came in hasn't changed. Each step has to write into that very tensor. A"
        " copy, or a new tensor under the same name, doesn't reach it.": always("not noticed"),
        "Your updates differ from the second step on. `backward()` adds to `w.grad`, and nobody"
        " took the old gradient"
        " away.": like(loop.replace("        w.grad = None\n", ""), _LOSSES, _W),
        "The old loop stored one loss in each step. Count yours, and look at how far `return` is"
        " indented.": (lambda seen, right: len(seen[0][_LOSSES]) != len(right[0][_LOSSES])),
    }


_OF_GUESSES = {
    "Your function trains, but it doesn't return the sigmoid values. Return two things: the losses, then"
    " these values.": lambda seen, _: seen[0][_GUESSES] is None,
    "The numbers are right, but your sigmoid values still have a graph. That is what"
    " `volatile` was for.": shows("they have a graph"),
}


def _other_starts(random: Random) -> tuple:
    starts = (0.0, 0.0), (random.choice((0.5, 1.0, 1.5)), -random.choice((0.5, 1.0, 1.5)))
    return tuple(partial(_on_moons, 2 * random.randint(12, 60), *start) for start in starts)


def _port(id: str, loop: str, given: tuple, parts: tuple, known: dict, **more: object) -> Exercise:
    """Make the exercise that asks for this loop; both train the `w` that they are given."""
    return Exercise(
        id=id,
        reader=function(
            *given,
            observe=lambda *seen: _trained(*seen)[: len(parts)],
            parts=parts,
            around=_watching,
        ),
        right="Same numbers as in 2017, plain floats in the list, and an update PyTorch notices.",
        known=_known(loop) | known,
        hints=(
            "Drop every `Variable(...)`: a tensor is enough. Then look each remaining `.data` up in the table.",
            "The update belongs under `with torch.no_grad():`, in place; then let go of the gradient.",
        ),
        solution=loop,
        **more,
        principle="your update should have the sign and the size of `w.data -= w.grad.data`, and the caller sees"
        " only what you write into the tensor that came in.",
    )


_TWO_MOONS = partial(_on_moons, 100, 0.0, 0.0), partial(_on_moons, 30, 1.0, -1.0)
PORT = _port("01.5", _MOONS, _TWO_MOONS, _PARTS, _OF_GUESSES, cases=_other_starts)


def _layers(count: int, hidden: int, seed: int) -> tuple:
    """Return moons and two fresh weights: the first random, the second zero."""
    u = torch.randn(2, hidden, generator=torch.Generator().manual_seed(seed))
    return *moons(count), u.requires_grad_(), torch.zeros(hidden, 1, requires_grad=True)


def _both(
    guesses: object, points: torch.Tensor, moon: torch.Tensor, *weights: torch.Tensor
) -> list:
    is_recorded = isinstance(guesses, torch.Tensor) and guesses.requires_grad
    return [
        *map(readable, map(_detach, weights)),
        "they have a graph" if is_recorded else readable(guesses),
        "moved" if weights[-1].any() else "not moved",
    ]


def _other_layers(random: Random) -> tuple:
    hidden, seed = random.randint(2, 5), random.randint(1, 99)
    return tuple(partial(_layers, 2 * random.randint(10, 40), hidden, seed + k) for k in range(2))


FILE = Exercise(
    id="01.9",
    reader=function(
        partial(_layers, 60, 3, 1),
        partial(_layers, 20, 2, 2),
        observe=_both,
        parts=("u afterwards", "v afterwards", "the guesses", "the v that came in"),
    ),
    cases=_other_layers,
    right="Both weights learn again, and the penalty pulls at both, as in 2017.",
    known={
        "The numbers are right, but your guesses still have a graph, which lives as long as"
        " they do. `guess.data` had none.": both(right_in(0, 1), shows("they have a graph")),
        "The `v` that came in hasn't changed. The file trained the tensors it was given, so write"
        " into those. A copy, or a new tensor under the same name, doesn't reach"
        " them.": always("not moved"),
    },
    hints=(
        "Ask of both questions in the file, `torch.is_tensor(…)` and `type(…) is Variable`: what did they say"
        " in 2017, and what do they say today?",
        "Put `show(loss)` after the line of the loss. How many paths led from it to `u` in 2017,"
        " and how many do today?",
        "Both cuts wrap a result in `Variable`: `box(h)` does, and so does the line after `size = …`. What does a file of today need in their place?",
    ),
    reference="""
def answer(points, moon, u, v):
    optimizer = torch.optim.SGD([u, v], lr=1.0)
    for step in range(100):
        h = torch.tanh(points @ u)
~       h = torch.tanh(points @ u).detach()  # Your hidden layer is cut off from `u`. Ask what `box(h)`
~           # gets today, and what it got in 2017.
        guess = torch.sigmoid(h @ v)
        size = (u**2).sum() + (v**2).sum()  # the penalty keeps both weights small
~       size = ((u**2).sum() + (v**2).sum()).detach()  # Your penalty pulls at neither weight. If it's still in
~           # your loss, ask what `type(size)` is today.
~       size = (v**2).sum()  # Your penalty keeps `v` small and forgets `u`.
        loss = ((guess - moon) ** 2).mean() + 0.01 * size
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return guess.detach()
""",
    principle="ask of each line of 2017 what goes into it today: plain data, or something with a history.",
)

EXERCISES = (LINE, WRAPPER, REACHES, MEMORY, PORT, FILE)
