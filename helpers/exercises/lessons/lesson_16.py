"""Exercises of lesson 16, dynamic and static: noise that a captured net has lost, a tool that compares a copy with its
model, how many graphs are made, a question that no capture can answer, bytes, and what is computed again.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from unittest import mock

import torch
from torch import nn
from torch.fx import symbolic_trace
from torch.nn.functional import dropout

from autograd_graphs.guard import guarded
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.programs import run_once
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import same
from helpers.exercises.recognise import each_has, fails_first, right_in, shows
from helpers.exercises.watched_inputs import afterwards, noted, readable

# Bound here: a student may have put others in their place.
_compile, _trace, _randn = torch.compile, symbolic_trace, torch.randn_like
_seed = torch.default_generator.manual_seed
_is_compiling = torch.compiler.is_compiling


@contextmanager
def _own_shelves() -> Iterator[None]:
    """Let the block begin without a compiled graph and leave none; keep its log lines to itself, and refuse
    PyTorch's own compiler, which takes long and wants another compiler on the machine.
    """
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    torch._dynamo.reset()
    try:
        with mock.patch.object(torch._TorchCompileInductorWrapper, "__call__", _no_compiler):
            yield
    finally:
        torch._dynamo.reset()
        logging.disable(before)


def _no_compiler(*given: object) -> None:
    raise NotImplementedError("the default backend")


# 16.6, the case in other clothes

_runs: list[int] = []  # of a net whose forward Python itself runs


def _note_python(x: object) -> None:
    """Note a run by Python; where a forward is captured, this leaves nothing behind."""
    if isinstance(x, torch.Tensor) and not _is_compiling():
        _runs.append(1)


class Noisy(nn.Module):
    """Add noise while learning, and note it where Python itself runs the forward."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(2, width), nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.jit.is_scripting():
            _note_python(x)
        h = self.first(x).tanh()
        if self.training:
            h = h + 0.3 * _randn(h)
        return self.last(h)


def _noisy(seed: int, width: int, mode: str) -> Callable:
    @written(f"torch.manual_seed({seed}); net = Noisy({width}).{mode}()")
    def make() -> Noisy:
        _seed(seed)
        return getattr(Noisy(width), mode)()

    return make


def _in_both_modes(answer: Callable) -> Callable:
    """Return what a copy does beside its net in either mode, and where its gradients end."""

    def run(net: Noisy) -> object:
        with _own_shelves():
            copy = answer(net)
            return None if copy is None else _beside(copy, net)

    return run


def _beside(copy: nn.Module, net: Noisy) -> list[str]:
    x = torch.tensor([[0.5, -1.0], [2.0, 0.3], [-0.7, 0.9]])
    came, own, by_python = {}, {}, False
    for mode in (True, False):
        copy.train(mode)
        _runs.clear()
        came[mode] = _from_a_seed(copy, x)
        by_python = by_python or bool(_runs)
        net.train(mode)
        own[mode] = _from_a_seed(net, x)
    return [
        _compared(came[True], own[True], own[False], "no noise"),
        _compared(came[False], own[False], own[True], "noise"),
        _reached(came[False], net),
        _PYTHON if by_python else "captured",
    ]


def _from_a_seed(model: Callable, x: torch.Tensor) -> object:
    _seed(3)
    return model(x)


_PYTHON = "Python still runs the net's forward"


def _compared(came: object, own: torch.Tensor, other: torch.Tensor, name: str) -> str:
    """Say whether the numbers of a copy are those of its net, or those of the net's other mode."""
    if not isinstance(came, torch.Tensor):
        return "no tensor"
    if same(readable(came), readable(own)):
        return "as `net`"
    return name if same(readable(came), readable(other)) else "different numbers"


def _reached(came: object, net: nn.Module) -> str:
    """Say whether a backward from what the copy returned gets to the weights of the net."""
    weights = list(net.parameters())
    for one in weights:
        one.grad = None
    guarded(lambda: came.sum().backward())
    return "reach `net`" if all(one.grad is not None for one in weights) else "don't reach `net`"


NOISE = Exercise(
    id="16.6",
    reader=function(
        _noisy(0, 4, "train"),
        _noisy(1, 6, "eval"),
        around=_in_both_modes,
        promises=("after `train()`", "after `eval()`", "its gradients", "the forward"),
    ),
    right="Your copy asks for the mode each time it's called, so it can change its mind. In `torch.compile` it's a"
    " guard that asks, and each mode gets a graph of its own.",
    principle="who looks at `training` again when the copy is called, and who looked once?",
    known={
        "You asked for PyTorch's own compiler, inductor. It draws different random numbers from the same"
        " seed, and it needs a C++ compiler. Name a backend that gets by without one:"
        ' `backend="eager"`.': fails_first("backend='inductor'"),
        "What you return has no `train()`, and I need that to switch the mode of your copy. So return a module:"
        " `torch.compile(net, …)` makes one out of a module.": fails_first(
            "has no attribute 'train'"
        ),
        "The gradients don't get from your copy to the weights of `net`. Was it made from `net` itself, and does it"
        " leave a graph?": each_has(2, "don't reach `net`"),
    },
    hints=(
        "When fx traces the net, Python answers `if self.training` once and for all, and neither answer is right for"
        " good. Which of the three clerks writes down what the answer was, and looks again at each call?",
        '`torch.compile(net, backend="eager")` is a module with `train()` and `eval()`.',
    ),
    reference="""
def answer(net):
~   return net  # That's the net itself, and Python runs its forward each time it's called. Capture it.
~   from copy import deepcopy
~   return deepcopy(net)  # That's a second net with weights of its own, and Python runs its forward as
~       # before. Capture `net` instead.
~   from copy import deepcopy
~   return torch.compile(deepcopy(net), backend="eager")  # You captured a second net, with weights of its own. The
~       # gradients have to reach those of `net`.
~   return torch.fx.symbolic_trace(net)  # The trace keeps whichever mode the net was in when you made it. A
~       # `train()` or `eval()` later doesn't reach it, because the `if` is gone.
~   return torch.fx.symbolic_trace(net.eval())  # You traced the net after `eval()`, so there was no noise to
~       # write down, and `train()` doesn't bring it back. That's just what your friend did.
~   return torch.fx.symbolic_trace(net.train())  # You traced the net while it was learning, and now the noise is
~       # part of the program for good, after `eval()` as well.
~   return torch.export.export(net, (torch.ones(3, 2),)).module()  # What `export` returns refuses `train()` and
~       # `eval()`, since the mode is settled for good. You need a copy that still asks.
    return torch.compile(net, backend="eager")  # a guard asks for the mode each time
""",
    cases=lambda random: (
        _noisy(random.randint(2, 99), random.randint(2, 4), "train"),
        _noisy(random.randint(2, 99), random.randint(5, 8), "eval"),
    ),
)


# 16.5, a tool


class Dropped(nn.Module):
    """Drop by a function, which asks for the mode."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.lin = nn.Linear(2, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return dropout(self.lin(x), 0.5, self.training)


class Gated(nn.Module):
    """Multiply by a gate that is computed without a graph."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            gate = x.sigmoid()
        return gate * x


def _dropping(width: int) -> nn.Module:
    return nn.Sequential(nn.Linear(2, width), nn.Dropout(0.5))


def _pair(make: Callable, how: str, seed: int, mode: str) -> Callable:
    """Return a case: a model and its copy, traced in this mode."""

    @written(f"torch.manual_seed({seed}); model = {how}.{mode}(); copy = symbolic_trace(model)")
    def build() -> tuple:
        _seed(seed)
        model = getattr(make(), mode)()
        return noted(_trace(model), model, torch.randn(2, 2))

    return build


def _pairs(width: int, seed: int) -> tuple:
    drops, layers = partial(Dropped, width), partial(_dropping, width)
    sequence = f"nn.Sequential(nn.Linear(2, {width}), nn.Dropout(0.5))"
    return (
        _pair(drops, f"Dropped({width})", seed, "train"),
        _pair(drops, f"Dropped({width})", seed + 1, "eval"),
        _pair(layers, sequence, seed + 2, "train"),
        _pair(Gated, "Gated()", seed + 3, "eval"),
    )


def _modes(returned: object, copy: nn.Module, model: nn.Module, x: torch.Tensor) -> list[object]:
    found = readable(returned)
    if isinstance(found, (tuple, frozenset)) and all(isinstance(mode, str) for mode in found):
        return [tuple(sorted(found, reverse=True)), afterwards()]
    return ["no list of modes", afterwards()]


DIFFERS = Exercise(
    id="16.5",
    reader=function(
        *_pairs(20, 1),
        observe=_modes,
        promises=("the modes", "`copy`, `model` and `x`"),
    ),
    right="Now you can trust a copy, or know why you don't. Keep this next to every capture you make, because nobody"
    " else checks that line of the contract.",
    principle="in each mode, let both start from the same seed, and compare what they return and their gradients"
    " with respect to `x`.",
    known={
        'Return a list of modes: `[]`, `["train"]`, `["eval"]` or `["train", "eval"]`.': shows(
            "no list of modes"
        ),
        "You name the right modes, but something isn't as it was before. Put back the modes of both, leave every"
        " `.grad` alone, and don't touch `x`.": right_in(0),
    },
    hints=(
        "For each mode: switch the copy with `copy.train(mode)`, set a seed and call it. Do the same with the model, from"
        " the same seed. Then compare with `torch.equal`.",
        "`t = x.clone().requires_grad_()` leaves `x` alone. `torch.autograd.grad(y.sum(), t)` gives the gradient"
        " and touches no `.grad`.",
        "Keep `copy.training` and `model.training` at the beginning, and put both back at the end with `train(…)`.",
    ),
    reference="""
def answer(copy, model, x):
    found, before = [], (copy.training, model.training)
    for mode in (True, False):  # a copy may be right in one mode and wrong in the other
~   for mode in (False,):  # You only look at them after `eval()`. A copy that was traced after `eval()` is
~       # right there, but it has lost its dropout for training.
~   for mode in (True,):  # You only look at them after `train()`, but a copy that was traced while training is right
~       # there, and goes on dropping after `eval()`.
        seen = []
        for one in (copy, model):
            one.train(mode)  # both have to be in that mode
            torch.manual_seed(0)  # both have to draw the same numbers
            t = x.clone().requires_grad_()  # `x` may be plain data, so let a clone of it require grad
~           t = x.requires_grad_()  # You let `x` itself require grad, and it isn't yours. Take
~               # `x.clone().requires_grad_()`.
            y = one(t)
            seen += [y, *torch.autograd.grad(y.sum(), t)]  # the gradients may differ where the values don't
~           seen += [y, y]  # You compare the values alone. A copy that has lost a `no_grad()` returns the right
~               # values, and its gradients are wrong.
~           y.sum().backward()
~           seen += [y, t.grad]  # Your `backward()` fills the `.grad` of the model's weights as well.
~               # `torch.autograd.grad` touches none.
        if not all(map(torch.equal, seen[:2], seen[2:])):
            found.append("train" if mode else "eval")
    for one, was in zip((copy, model), before):
        one.train(was)  # both get their modes back
~       pass  # You leave them in the last mode that you tried. Whoever calls you might be in the middle of
~           # training.
    return found
""",
    cases=lambda random: _pairs(random.randint(15, 30), random.randint(10, 99)),
)


# 16.1, guards


def _counted(data: Data) -> str:
    calls = ", ".join(data["calls"])
    return f"""
shelf = []


def keep(graph, inputs):  # a backend that keeps each graph, and runs it as it is
    shelf.append(graph)
    return graph


@torch.compile(backend=keep)
def f(x):
    return {data["f"]}


torch._dynamo.reset()  # the shelf is empty
calls = [{calls}]
answer = []
for x in calls:
    f(x)
    answer.append(len(shelf))
torch._dynamo.reset()
"""


_MOST = (
    30  # programs that are drawn from: each is compiled once, where a hundred variants are asked
)
_KINDS = ("torch.zeros({})", "torch.ones({}).double()", "torch.ones({}, requires_grad=True)")


def _other_calls(random: Random) -> Data:
    random = Random(random.randrange(_MOST))
    first, second, third = random.sample(range(3, 10), 3)
    rest = [f"torch.ones({second})", f"torch.ones({third})", "torch.ones(1)"]
    rest.append(random.choice(_KINDS).format(first))
    random.shuffle(rest)
    f = random.choice(("(x * 2).sin()", "(x + 1).exp()", "x.tanh() * 3"))
    return {"calls": [f"torch.ones({first})", *rest], "f": f}


def _one_each(data: Data, seen: tuple) -> bool:
    return seen == tuple(range(1, len(data["calls"]) + 1))


def _one_each_kind(data: Data, seen: tuple) -> bool:
    """Tell whether a graph was counted for each kind of tensor, as if the length did not matter."""
    kinds = ["double" in call or "requires" in call for call in data["calls"]]
    return seen == tuple(len(set(kinds[: at + 1])) for at in range(len(kinds)))


def _one_for_all(data: Data, seen: tuple) -> bool:
    return set(seen) == {1}


def _lengths_alone(data: Data, seen: tuple) -> bool:
    """Tell whether a graph was counted for each lock on the length, as if all tensors were of one kind."""
    lengths = [int(re.search(r"\d+", call)[0]) for call in data["calls"]]
    counts = []
    for at in range(len(lengths)):
        others = set(lengths[: at + 1]) - {1, lengths[0]}
        counts.append(1 + bool(others) + (1 in lengths[: at + 1]))
    return seen == tuple(counts)


def _one_each_call(data: Data, seen: tuple) -> bool:
    """Tell whether what is there before each call was counted: the answer of a call too early."""
    return seen[0] == 0


def _if_one_fits(at: int, data: Data) -> int:
    """Count the graphs after a call as if a general graph served a length of 1, too."""
    made, general = [], set()
    for call in data["calls"][: at + 1]:
        kind, length = re.sub(r"zeros|ones|\d+", "", call), re.search(r"\d+", call)[0]
        if kind in general or (kind, length) in made:
            continue
        if kind in [other for other, _ in made]:
            general.add(kind)
        made.append((kind, length))
    return len(made)


def _count(at: int) -> Place:
    loose = {
        "what you'd have with a graph for each call": at + 1,
        "what you'd have if a length of 1 were like any other": partial(_if_one_fits, at),
    }
    return Place(
        f"number {at + 1}",
        "the graphs made so far: a call adds one only if none of them fits it",
        loose=loose,
    )


SHELF = Exercise(
    id="16.1",
    right="A graph is good for whatever its guards let in, and only what no graph lets in costs another one.",
    principle="what do the guards of each graph ask about a tensor: its length, its dtype, its flag?",
    quantities=Quantities(
        program=_counted,
        data={
            "calls": [
                "torch.ones(4)",
                "torch.ones(7)",
                "torch.ones(9)",
                "torch.ones(1)",
                "torch.ones(4).double()",
            ],
            "f": "(x * 2).sin()",
        },
        draw=_other_calls,
        slow=True,
        places=tuple(map(_count, range(5))),
        own={
            "You count a graph for each call. But the second length makes a general graph, which serves further lengths,"
            " too.": _one_each,
            "You count a graph for each kind of tensor. But a guard looks at the length as well, and the first graph"
            " is for its own length only.": _one_each_kind,
            "You let one graph serve all of the calls. But a guard looks at the length, and the first graph is for its"
            " own length only.": _one_for_all,
            "You count the lengths right. But a guard looks at the dtype and at `requires_grad`, too.": _lengths_alone,
            "Your first number is 0, but nothing is compiled before the first call, and that call makes a"
            " graph.": _one_each_call,
        },
    ),
    asked="How many graphs are on the `shelf` after each of the `calls` of `f`? Give five numbers.",
    hints=(
        "The first graph is for one length. When a second length comes along, what kind of graph does"
        " `torch.compile` make, and which calls does it serve?",
        "A general graph serves every length from 2 on. A length of 1, another dtype and another"
        " `requires_grad` each need a graph of their own. Other numbers don't.",
    ),
)


# 16.2, a question of Python's


def _in_one_piece(answer: Callable) -> Callable:
    """Return what a function returns, and what fx and `torch.compile` say when they capture it."""

    def run(g: torch.Tensor) -> list[object]:
        with _own_shelves():
            came = answer(g)
            traceable = answer if isinstance(answer, nn.Module) else lambda g: answer(g)
            traced = guarded(_captured, lambda: _trace(traceable), g, came)
            torch._dynamo.reset()
            whole = guarded(
                _captured, lambda: _compile(answer, backend="eager", fullgraph=True), g, came
            )
            return [came, str(traced), str(whole), afterwards()]

    return run


def _captured(make: Callable, g: torch.Tensor, came: object) -> str:
    captured = make()(g.clone())
    return _ONE if same(readable(captured), readable(came)) else "another result"


_ONE = "captured in one piece"


def _given(*values: float) -> Callable:
    return made_by(f"g = torch.tensor({list(values)})", "g", then=noted)


def _other_vectors(random: Random) -> tuple:
    """Draw a long vector whose sum is less than 1, a long one of small elements, a short one, and zeros."""
    a, b = random.randint(2, 9), random.randint(2, 9) / 10
    return (
        _given(-a - 0.5, b, 0.5),
        _given(0.9, 0.8, -b / 2),
        _given(0.5, -0.4, 0.2 + b / 10),
        _given(0.0, 0.0, 0.0),
    )


BRANCH = Exercise(
    id="16.2",
    reader=function(
        _given(-3.0, 0.9, 0.5),
        _given(0.9, 0.8, -0.5),
        _given(0.5, -0.4, 0.3),
        _given(0.0, 0.0, 0.0),
        around=_in_one_piece,
        promises=("the values", "`symbolic_trace`", "`fullgraph=True`", "`g`"),
    ),
    right="Now the graph makes the choice, and Python is no longer asked.",
    principle="both have to get to the end of your function without knowing a single number.",
    known={
        "You changed `g` itself. It's a gradient that someone still needs, so return a new tensor.": shows(
            "changed"
        ),
    },
    hints=(
        "Python can't take a branch whose answer it doesn't know yet. Which function of torch chooses between two"
        " tensors by a third?",
        "`torch.where(length > 1, …, …)`: the first of the two for long vectors, the second one for short ones.",
    ),
    reference="""
def answer(g):
    length = g.norm()  # it's about the length of the whole vector
    return torch.where(length > 1, g / length, g)  # a long one is shortened, and a short one stays
~   return g / length if length > 1 else g  # Python still asks for a yes or no, and while the function is being
~       # captured nobody knows the number. Leave the choice to an operation of torch.
~   return g / length if (length > 1).item() else g  # `.item()` makes a number for Python, but while the function
~       # is being captured there's no number yet. Leave the choice to an operation of torch.
~   return g / max(1, length)  # Python's `max` asks which is larger, and wants a yes or no. `torch.compile` knows
~       # what to do with that, but fx refuses. Leave the choice to an operation of torch.
~   return torch.cond(length > 1, lambda g: g / length, lambda g: g.clone(), (g,))  # `torch.compile` takes a
~       # `torch.cond`, but fx doesn't. There's an operation that both of them take.
~   return g / length  # You bring each vector to length 1, but a short one has to stay as it is.
~   return g  # You leave long vectors as they are.
~   return g.clamp(-1, 1)  # You limit each number by itself, so the vector points somewhere else. It's the length that's limited.
~   return torch.where(g.abs() > 1, g / length, g)  # Here each number decides for itself. It's the length of
~       # the whole vector that decides.
~   return torch.where(g.sum() > 1, g / length, g)  # The sum of the numbers isn't the length of the vector.
~   return torch.nn.functional.normalize(g, dim=0)  # You bring a short vector to length 1, too, but it has to stay as it is.
~   return torch.where(g.abs().max() > 1, g / length, g)  # A vector can be longer than 1 although none of its
~       # numbers is.
~   flag = (length > 1).float(); return flag * (g / length) + (1 - flag) * g  # You add up both sides, one of them times 0. But
~       # where `g` is all zeros `g / length` is nan, and nan times 0 is nan. `where` takes one side and leaves the other.
""",
    cases=_other_vectors,
)


# 16.3, bytes


def _held(data: Data) -> str:
    return f"""
x = torch.ones({data["count"]}, requires_grad=True)
w = torch.ones({data["side"]}, {data["side"]}, requires_grad=True)


def waves(x):
    for _ in range({data["rounds"]}):
        x = {data["step"]}
    return x.sum()


def products(w):
    return ((w @ w) @ w).sum()


answer = []
for f, given, backend in (
    (waves, x, ""),
    (waves, x, "aot_eager"),
    (products, w, "aot_eager"),
):
    torch._dynamo.reset()
    if backend:
        f = torch.compile(f, backend=backend)
    held = {{}}

    def pack(tensor):
        held[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    if backend:
        for tensor in f(given).grad_fn.saved_tensors:
            pack(tensor)
    else:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            loss = f(given)
    answer.append(sum(held.values()))
torch._dynamo.reset()
"""


_STEPS = ("x.sin() * 1.01", "x.cos() * 0.99", "x.cos() / 2", "x.sin() * 2")


def _other_sizes(random: Random) -> Data:
    random = Random(random.randrange(_MOST))
    return {
        "count": 100 * random.randint(2, 9),
        "side": random.choice((10, 20, 30)),
        "rounds": random.randint(3, 6),
        "step": random.choice(_STEPS),
    }


BYTES = Exercise(
    id="16.3",
    right="A chain of cheap operations is computed again from `x`. A matrix product isn't, because that would take too"
    " long.",
    principle="what would each node keep, and would it be cheap to compute that again?",
    quantities=Quantities(
        program=_held,
        data={"count": 1000, "side": 20, "rounds": 5, "step": "x.sin() * 1.01"},
        draw=_other_sizes,
        slow=True,
        places=(
            Place(
                "`eager`",
                "four bytes for each of {count} numbers, and that for each of the {rounds} waves",
                {
                    "twice as much, as if multiplying or dividing by a number kept a vector, too": (
                        "8 * count * rounds"
                    ),
                    "right with eight bytes more for each number, but those don't count here": (
                        "4 * count * rounds + 8 * rounds"
                    ),
                    "without `x`, which goes into the first wave": "4 * count * (rounds - 1)",
                    "how many numbers there are, but each takes four bytes": "count * rounds",
                },
                loose={"the bytes of `x` alone": "4 * count"},
            ),
            Place(
                "`compiled`",
                "the bytes of `x`, from which backward computes all the rest again",
                {
                    "what's held without `torch.compile`": "4 * count * rounds",
                    "nothing at all, but backward has to begin with something": 0,
                    "how many numbers `x` has, but each takes four bytes": "count",
                },
                loose={"the bytes of `x` and of another result": "8 * count"},
            ),
            Place(
                "`products`",
                "the bytes of `w` and of the first product",
                {
                    "`w` alone, as if a matrix product were computed again": "4 * side * side",
                    "how many numbers there are, but each takes four bytes": "2 * side * side",
                    "one too many: nobody needs the last product again": "12 * side * side",
                },
            ),
        ),
    ),
    asked="How many bytes of vectors and matrices are held for backward, `x` and `w` included: by `waves(x)`, by"
    ' `waves(x)` compiled with "aot_eager", and by `products(w)` compiled with it? Give three numbers, in this order.',
    hints=(
        "In eager mode each sine or cosine saves what goes into it. Multiplying or dividing by a number saves no"
        " vector.",
        "The compiled backward may compute cheap things again, and it starts from `x`. Would it do that with a"
        " matrix product, too?",
    ),
)


# 16.4, computed again

_NEEDS = "What does the node after the product need on the way back?"
_SUM = "Does backward need the product's result at all?"


class Captured(Lines):
    """Hold lines that take long to try, so each is tried once, by itself."""

    def of(self, letters: str, begin: str = "", chosen: Sequence[str] = ()) -> dict[str, object]:
        """Return the fields of an exercise whose truth is computed when it's first asked for."""
        given = dict(zip(letters, chosen or self.lines, strict=False))
        alone = partial(super().of, "ab", begin)

        def truth() -> list[str]:
            tried = {letter: alone([line])["solution"] for letter, line in given.items()}
            return [letter for letter, code in tried.items() if run_once(code)]

        return super().of(letters, begin, chosen) | {"truth": truth}


_GIVEN = """x = torch.tensor([{}, {}], requires_grad=True)
w = torch.tensor([{}, {}], requires_grad=True)
# f = torch.compile(lambda x, w: …, backend="aot_eager"), with one of these lines"""
AGAIN = Captured(
    read="“Where are the photographs?”",
    begins=(
        _GIVEN.format(0.5, 2.0, 3.0, 0.25),
        _GIVEN.format(2.0, 0.5, 0.25, 4.0),
        _GIVEN.format(1.5, 3.0, 2.0, 0.5),
    ),
    lines={
        "(x * w).sin()": _NEEDS,
        "(x * w).exp()": _NEEDS,
        "x * w": _SUM,
        "(x * w).sin().exp()": _NEEDS,
        "(x * w).sum()": _SUM,
        "(x * w).tanh()": _NEEDS,
        "(x * w).cos()": _NEEDS,
        "(x * w).log()": _NEEDS,
        "x * w + x": _SUM,
        "(x * w).sqrt()": _NEEDS,
        "(x * w) ** 3": _NEEDS,
        "(x * w).sigmoid()": _NEEDS,
        "(x * w).sin() + w": _NEEDS,
        "(x * w).mean()": _SUM,
    },
    trial="""
from functorch.compile import make_boxed_func, min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd

torch._dynamo.reset()
{begin}


def keep(graph, inputs):
    again.extend(node for node in graph.graph.nodes if "mul" in node.name)
    return make_boxed_func(graph.forward)


def forward_only(graph, inputs):
    return make_boxed_func(graph.forward)


again = []
backend = aot_autograd(
    fw_compiler=forward_only, bw_compiler=keep,
    partition_fn=min_cut_rematerialization_partition,
)
f = torch.compile(eval("lambda x, w: " + line), backend=backend)
f(x, w).sum().backward()
if any([str(one) for one in node.args] == ["primals_1", "primals_2"] for node in again):
    answer.append(letter)
torch._dynamo.reset()
""",
)

TWICE = Exercise(
    id="16.4",
    right="In these an eager graph would keep the product. The compiled one keeps the two factors, which are there"
    " anyway, and multiplies again.",
    asked='Each line is compiled with "aot_eager", whose backward may compute things again. For which of them does the'
    " backward multiply `x` by `w` once more? Give a list of letters.",
    **AGAIN.first("abcdef"),
    hints=(
        "In which of these would an eager graph keep `x * w`? Some nodes keep what goes in, some what comes out, and a"
        " sum keeps no numbers at all.",
        "Sines, cosines, logarithms and powers need what goes in. An exponential, a root, tanh and sigmoid"
        " need their own result.",
    ),
)

EXERCISES = (NOISE, DIFFERS, SHELF, BRANCH, BYTES, TWICE)
