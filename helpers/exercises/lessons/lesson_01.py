"""Exercises of lesson 01, Variable to Tensor: what a wrapper cuts off, what still leads back, and the
program of 2017 to port. 01.2 and 01.3 are asked by old copies of the lesson only.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from random import Random

import torch

from autograd_graphs.untrusted.describe import describe
from autograd_graphs.untrusted.messages import type_name
from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise, Misconception
from helpers.exercises.functions import function, raised
from helpers.exercises.lessons.watching import watched
from helpers.exercises.letters import Letters
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.readers import Reader, letters, number
from helpers.exercises.tensors import readable
from helpers.exercises.values import same
from helpers.moons import moons

_detach, _clone = torch.Tensor.detach, torch.Tensor.clone

_WRAPPED = """
from torch.autograd import Variable

w = torch.tensor({w}, requires_grad=True)
y = w**{n}
z = Variable(y) * w
z.backward()
answer = w.grad.item()
"""


def _other_power(random: Random) -> Data:
    return {"w": float(random.randint(2, 9)), "n": random.randint(2, 4)}


CUT = Quantities(
    program=_WRAPPED.format_map,
    data={"w": 5.0, "n": 2},
    draw=_other_power,
    places=(
        Place(
            "`w.grad`",
            "what comes back past the wrapper: there the wrapped factor is a plain number",
            {
                "what comes through both factors if nothing is wrapped": lambda d: (
                    (d["n"] + 1) * d["w"] ** d["n"]
                ),
                "what comes through `y` alone, and that path is cut": lambda d: (
                    d["n"] * d["w"] ** d["n"]
                ),
                "the value of `z`, not its gradient": lambda d: d["w"] ** (d["n"] + 1),
                "the gradient of `y`": lambda d: d["n"] * d["w"] ** (d["n"] - 1),
                "what would be left if both paths were cut, and one of them is not": 0,
            },
        ),
    ),
)

WRAPPER = Exercise(
    id="01.1",
    reader=number(),
    truth=CUT.truth,
    right="The wrapped factor is a constant for backward, and `z` is that constant times `w`.",
    principle="backward goes only along the arrows. A tensor that was cut off counts as a plain number.",
    quantities=CUT,
    hints=(
        "Run the first three lines, then `show(z, y)` draws both graphs. Which arrow leads from `z` to `w`?",
        "Write the value of `Variable(y)` as a number, and take the gradient of that number times `w`.",
    ),
    solution=CUT.code,
)


def _answer(code: str) -> object:
    """Run this code, and return the `answer` that it defines."""
    names = {"torch": torch}
    exec(code, names)
    return names["answer"]


_EDITS = """
from torch.autograd import Variable

def a(x): x.data.add_(1)
def b(x): x.detach().add_(1)
def c(x): x.detach().clone().add_(1)
def d(x): Variable(x).add_(1)
def e(x):
    with torch.no_grad():
        x.add_(1)
def f(x): x.detach().add(1)

answer = []
for edit in (a, b, c, d, e, f):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    edit(x)
    if x._version > 0:
        answer.append(edit.__name__)
"""

NOTICED = Exercise(
    id="01.2",
    reader=letters("abcdef"),
    truth=lambda: _answer(_EDITS),
    right="The power saved `x`, and backward compares version counters: it notices those of these"
    " edits at which the counter of `x` ticked.",
    letters=Letters(
        read="the idea “`.data` or `.detach()`?”, and look at the version counters in its cells",
        about=(
            ("a", "What does `.data` share with `x`: its memory, its version counter, both?"),
            ("b", "What does `.detach()` share with `x`: its memory, its version counter, both?"),
            ("c", "Whose memory does this line write into?"),
            ("d", "What does `Variable(x)` share with `x` today?"),
            ("e", "What does `no_grad` switch off: the recording, or the counting of edits too?"),
            ("f", "Does `add` without an underscore write into the tensor it is called on?"),
        ),
    ),
    hints=(
        "Look at `x._version` before and after each edit.",
        "Two questions for each: does it change the memory of `x`, and does it tick the counter of `x`?",
    ),
    solution=_EDITS,
)


_RESULTS = """
from torch.autograd import Variable

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
z = x * 2
results = {"a": z.data * 3, "b": z * z.data, "c": Variable(z) + z}
results |= {"d": Variable(z, requires_grad=True) * 3, "e": Variable(x.data) + z}
results |= {"f": z.detach() * Variable(x)}

answer = []
for letter, result in results.items():
    x.grad = None
    if result.requires_grad:
        result.sum().backward(retain_graph=True)
    if x.grad is not None:
        answer.append(letter)
"""

REACHES = Exercise(
    id="01.4",
    reader=letters("abcdef"),
    truth=lambda: _answer(_RESULTS),
    right="One recorded path back to `x` is enough, whatever else goes into the result.",
    letters=Letters(
        read="the idea “A weight without a gradient”, and draw each result with `show(result)`",
        about=(
            ("a", "What did `.data` leave behind?"),
            ("b", "Do both factors have the same history?"),
            ("c", "What was recorded of each of the two summands?"),
            ("d", "Which tensor asks for a gradient here, and what is behind it?"),
            ("e", "What was recorded of each of the two summands?"),
            ("f", "What did each of the two calls leave behind?"),
        ),
    ),
    hints=(
        "Draw one of them with `show(result)`. Is the leaf `x` in the picture?",
        "Replace each tensor that was cut off by a constant. Is there a `z` or an `x` left?",
    ),
    solution=_RESULTS,
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
_LINE = (  # that of old copies: a line, three steps, no guesses
    (_MOONS.partition("    with torch.no_grad():\n        guesses")[0] + "    return losses\n")
    .replace("torch.sigmoid(x @ w)", "w * x")
    .replace("100", "3")
    .replace("-= w.grad", "-= w.grad * 0.1")
)
_LOSSES, _KINDS, _W, _FLAG, _UPDATES, _NAMES, _GUESSES = range(7)  # the parts of what is seen
_PARTS = (
    "the losses",
    "what kind of values they are",
    "w afterwards",
    "the flag of w",
    "updates, for torch",
    "names of 2017",
    "the sigmoid values",
)


def _watching(answer: object) -> object:
    """Wrap a function: it returns what `answer` returns, and what was seen of a second run, on copies
    of the inputs.
    """
    if is_a(answer, type) or not callable(answer):
        return answer  # the reader says what it wants

    def run(w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple:
        copies = _clone(_detach(w)).requires_grad_(), _clone(x), _clone(y)
        returned = answer(w, x, y)
        return returned, watched(lambda: answer(*copies))

    return run


def _trained(ended: tuple, w: torch.Tensor, *_: torch.Tensor) -> list:
    """See the losses and their kinds; of `w` its values, its flag and whether its version counter
    ticked; the names of 2017; and the guesses, if they have no graph.
    """
    returned, seen = ended
    is_pair = type(returned) in (tuple, list) and len(returned) == 2
    is_pair = is_pair and not is_a(returned[0], torch.Tensor) and not is_a(returned[1], float)
    losses, guesses = returned if is_pair else (returned, None)
    losses = list(losses) if type(losses).__name__ == "ndarray" else losses
    is_recorded = is_a(guesses, torch.Tensor) and guesses.requires_grad
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
    if not is_a(losses, list, tuple):
        return "no list: " + describe(losses)
    base = list if is_a(losses, list) else tuple  # a subclass may iterate by code of its own
    kinds = (type(loss) for loss in base.__iter__(losses))
    return ["float" if issubclass(kind, float) else type_name(kind) for kind in kinds]


def _on_a_line(*numbers: list[float]) -> tuple[torch.Tensor, ...]:
    w, x, y = map(torch.tensor, numbers)
    return w.requires_grad_(), x, y


def _on_moons(count: int, *start: float) -> tuple[torch.Tensor, ...]:
    return torch.tensor(start)[:, None].requires_grad_(), *moons(count)


_CASES = {
    _LINE: (
        partial(_on_a_line, [0.0], [1.0, 2.0], [3.0, 6.0]),
        partial(_on_a_line, [1.0, -1.0], [2.0, 1.0], [1.0, 3.0]),
    ),
    _MOONS: (partial(_on_moons, 100, 0.0, 0.0), partial(_on_moons, 30, 1.0, -1.0)),
}


@cache
def _reader(loop: str) -> Reader:
    parts = _PARTS if loop is _MOONS else _PARTS[:_GUESSES]
    run = function(*_CASES[loop], observe=lambda *seen: _trained(*seen)[: len(parts)], parts=parts)
    return replace(run, read=lambda answer: run.read(_watching(answer)))


@cache
def _ran(loop: str, code: str) -> tuple:
    """Return the reading of a function that is written like this."""
    return _reader(loop).read(_answer(code))


def _agree(seen: tuple, others: tuple, *parts: int) -> bool:
    """Tell whether two readings agree in these parts, in every case."""
    pairs = zip(seen, others, strict=True)
    return all(same(did[part], other[part]) for did, other in pairs for part in parts)


def _holds(part: int, *words: str) -> Callable[[tuple, tuple], bool]:
    """Match what has the right numbers, and one of these words in this part of some case."""
    return lambda seen, right: (
        _agree(seen, right, _LOSSES, _W)
        and any(word in case[part] for case in seen for word in words)
    )


def _fails(*words: str) -> Callable[[tuple, tuple], bool]:
    return lambda seen, right: raised(seen[:1], *words)


def _has_no_gradient(seen: tuple, right: tuple) -> bool:
    """Tell whether a case ended because None stood where a gradient was to be used."""
    others = ("append", "iterable", "subscriptable")
    failed = [case.text for case in seen if is_a(case, Failed)]
    return any("NoneType" in text and not any(o in text for o in others) for text in failed)


def _is_no_float(seen: tuple, right: tuple) -> bool:
    return any(set(case[_KINDS]) - {"float"} for case in seen if is_a(case[_KINDS], tuple))


_UPDATE = "with torch.no_grad():\n            w -= w.grad"
# Of the port: what to replace, by what, when it is this mistake (None: the numbers of that port), what to say.
_MISTAKES = (
    (
        "loss.item()",
        "loss.data[0]",
        _fails("0-dim tensor"),
        "You kept an index from 2017. Today this loss has no dimension to index. A method gives its number.",
    ),
    (
        _UPDATE,
        "w -= w.grad",
        _fails("leaf Variable"),
        "You wrote into a leaf while autograd was recording. An update is no part of the model.",
    ),
    (
        _UPDATE,
        "w = w - w.grad",
        _has_no_gradient,
        "None stood where a gradient was wanted. `w.grad` is None until a `backward()` has reached `w`. And"
        " `w = w - …` gives the name `w` to a new tensor, which has no gradient yet.",
    ),
    (
        _UPDATE,
        _UPDATE.replace("-=", "= w -"),
        _fails("does not require grad"),
        "A loss had no graph. Either `w` was by then the name of a tensor that asks for no gradient, such as"
        " `w - …` gives under `no_grad`. Or nothing was recorded while you computed the loss.",
    ),
    (
        _UPDATE,
        "w.data -= w.grad",
        _holds(_UPDATES, "not noticed"),
        "The numbers are right, but torch did not notice the update: it went through `.data`, or past torch."
        " Write into `w` itself, under `no_grad`. Lesson 09 shows what an unnoticed edit can spoil.",
    ),
    (
        "loss.item()",
        "loss.data.item()",
        _holds(_NAMES, ".data", "Variable"),
        "The numbers are right, and an old name was still used while your function ran: `.data`, or `Variable`."
        " The migration table says what one writes today.",
    ),
    (
        "return losses",
        "return losses[-1]",
        lambda seen, right: not any(is_a(case[_KINDS], tuple) for case in seen),
        "You returned no list of losses. The old loop returned the list with the loss of each step.",
    ),
    (
        "losses.append(loss.item())",
        "losses.append(loss)",
        _is_no_float,
        "Something in the list is no plain float. A tensor that has a `grad_fn` keeps its graph alive."
        " `print(type(losses[0]))` tells what it is.",
    ),
    (
        "losses = []",
        "losses, w = [], w.detach().clone().requires_grad_()",
        lambda seen, right: not any(case[_UPDATES] == "noticed" for case in seen),
        "The `w` that came in is as it was before. Each step has to write into that very tensor. A copy, or a new"
        " tensor under the same name, does not reach it.",
    ),
    (
        "        w.grad = None\n",
        "",
        None,
        "Your updates differ from the second step on. `backward()` adds to `w.grad`, and nobody took the old"
        " gradient away.",
    ),
    (
        "        losses.append(loss.item())\n",
        "        losses.append(loss.item())\n        break\n",
        lambda seen, right: len(seen[0][_LOSSES]) != len(right[0][_LOSSES]),
        "The old loop stored one loss in each step. Count yours, and look how far `return` is indented.",
    ),
    (
        ", guesses",
        "",
        lambda seen, right: len(seen[0]) > _GUESSES and seen[0][_GUESSES] is None,
        "Your function trains, but it returns no sigmoid values. Return two things: the losses, then these values.",
    ),
    (
        "with torch.no_grad():\n        guesses",
        "guesses",
        lambda seen, right: len(seen[0]) > _GUESSES and "they have a graph" in seen[0],
        "The numbers are right, but your sigmoid values have a graph behind them. That is what `volatile` was for.",
    ),
)


def _mistake(loop: str, old: str, new: str, when: Callable | None, message: str) -> Misconception:
    code = loop.replace(old, new)
    when = when or (lambda seen, _: _agree(seen, _ran(loop, code), _LOSSES, _W))
    return Misconception(code, lambda seen: when(seen, _ran(loop, loop)), message)


def _port(id: str, loop: str) -> Exercise:
    """Make the exercise that asks for this loop; both train the `w` that they are given."""
    return Exercise(
        id=id,
        reader=_reader(loop),
        truth=lambda: _answer(loop),
        right="Same numbers as in 2017, plain floats in the list, and an update that torch notices.",
        misconceptions=tuple(_mistake(loop, *one) for one in _MISTAKES if one[0] in loop),
        hints=(
            "Drop every `Variable(...)`: a tensor is enough. Then look each remaining `.data` up in the table.",
            "The update belongs under `with torch.no_grad():`, in place; then let go of the gradient.",
        ),
        solution=loop,
        principle="the caller holds the tensor that `w` named at first, and sees only what is written into it.",
    )


EXERCISES = (WRAPPER, NOTICED, _port("01.3", _LINE), REACHES, _port("01.5", _MOONS))
