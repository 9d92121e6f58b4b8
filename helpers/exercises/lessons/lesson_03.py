"""Exercises of lesson 03, leaf and non-leaf: a prompt that learns, who is a leaf, who gets a `.grad`, how
to read one in between, the line that makes a non-leaf, and why a gradient is missing.
"""

import warnings
import weakref
from collections.abc import Callable
from random import Random

import torch

from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by
from helpers.exercises.letters import Letters, Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import letters
from helpers.exercises.recognise import always, right_in, shows
from helpers.exercises.watched_inputs import afterwards, noted, readable

_RECORDED = "Is it the result of an operation, and was that recorded?"
_HAS = "Does what this call returns have a `grad_fn`?"
_ASKS = "Does what goes in require grad, so that the operation is recorded?"
_SLICE = "Is taking a part recorded?"
MADE = Lines(
    read="from “Eight tensors” on",
    begins=(
        "w = torch.ones(2, requires_grad=True)\nk = torch.ones(2)",
        "k = torch.zeros(2, requires_grad=True)\nw = torch.nn.Parameter(torch.ones(2))",
        "w = torch.ones(2, requires_grad=True)\nk = w * 5",
        "w = torch.ones(2, requires_grad=True)\nk = w.detach()",
    ),
    lines={
        "@ = w + 0": _RECORDED,
        "@ = w.detach()": _HAS,
        "@ = k * 3": _ASKS,
        "@ = torch.nn.Parameter(k *"
        " 0.1)": "Does what `torch.nn.Parameter(...)` returns have a `grad_fn`?",
        "@ = torch.nn.Parameter(torch.ones(2)) * 2": (
            "Does a parameter require grad, so that the product is recorded?"
        ),
        "@ = w[:1]": _SLICE,
        "@ = w > 0": "What dtype does a comparison give, and can that require grad?",
        "@ = k[0]": _SLICE,
        "@ = w.clone()": _RECORDED,
        "@ = k.detach().requires_grad_()": _HAS,
        "@ = torch.tensor([2.0, 3.0]) * k": _ASKS,
        "@ = w.reshape(2, 1)": _RECORDED,
        "with torch.no_grad():\n    @ = w * 2": "Was the operation recorded?",
        "@ = (k.detach() - 1).sqrt()": _ASKS,
    },
    right="made.is_leaf",
)

LEAVES = Exercise(
    id="03.1",
    reader=letters("pqrsuvwz"),
    right="A tensor with no `grad_fn` is a leaf. The others are results of operations that were recorded.",
    asked="Which of `a` to `f` are leaves? Give a list of names.",
    vary=MADE.vary,
    letters=Letters(
        read=MADE.read,
        about=(
            ("p", "Is `w + 0` an operation, and was it recorded?"),
            ("q", "Does what `detach()` returns have a `grad_fn`?"),
            ("r", "Does `q` require grad, so that `q * 3` is recorded?"),
            ("s", "Does what `torch.nn.Parameter(...)` returns have a `grad_fn`?"),
            ("u", "Does a parameter require grad, so that `s * 2` is recorded?"),
            ("v", "Is taking a slice recorded?"),
            ("w", "Was it created, or did an operation make it?"),
            ("z", "What dtype does a comparison give, and can that require grad?"),
        ),
    ),
    hints=(
        "Ask for each line whether an operation was recorded. In these lines, if it was, its result"
        " has a `grad_fn`.",
        "What `detach()` gives does not require grad, a comparison gives bools, and a parameter is"
        " a new tensor.",
    ),
    solution="""
w = torch.ones(2, requires_grad=True)
q = w.detach()
s = torch.nn.Parameter(torch.ones(2) * 0.1)
made = {"w": w, "p": w + 0, "q": q, "r": q * 3, "s": s, "u": s * 2, "v": w[:1], "z": w > 0}
answer = [name for name, tensor in made.items() if tensor.is_leaf]
""",
)

_PROGRAM = """
{leaves}
s = {s}
{lines}
f.backward()
answer = [a.grad, b.grad, c.grad, s.grad]
"""


def _data(numbers: list[float], plain: str = "b", f: str = "s * c", is_late: bool = True) -> Data:
    """Return three numbers, which of them is plain, and when `s` asks to keep its gradient."""
    data = dict(zip("abc", numbers, strict=True))
    leaves = []
    for name, value in data.items():
        flag = "" if name == plain else ", requires_grad=True"
        leaves.append(f"{name} = torch.tensor({value}{flag})")
    lines = [f"f = {f}", "s.retain_grad()"]
    if not is_late:
        lines.reverse()
    texts = {"leaves": "\n".join(leaves), "lines": "\n".join(lines)}
    return data | texts | {"plain": plain, "s": "a + b"}


def _other_gradients(random: Random) -> dict[str, object]:
    """Draw three different whole numbers, and how the program goes."""
    numbers = [float(number) for number in random.sample(range(2, 13), 3)]
    plain, f = random.choice("abc"), random.choice(("s * c", "c * s"))
    quantities = _gradients_of(_data(numbers, plain, f, random.random() < 0.5))
    return {"quantities": quantities, "solution": quantities.code}


_START = {
    "the 1 with which backward begins, at `f`": 1.0,
    "what a tensor holds that no backward has reached": None,
    "the slope of something that `f` does not depend on": 0.0,
    "the value of `f`, not its slope": "(a + b) * c",
}
_OTHER_FACTOR = "the value of the other factor in `s * c`"


def _places(plain: str) -> tuple[Place, ...]:
    """Return the four places: one of the first three is that of a plain tensor."""
    summand = _START | {"the value of `s`": "a + b"}
    factor = _START | {"one part of `s`, and the factor is the whole of `s`": "(a, b)"}
    wanted = "what arrives at `s`, handed on by the sum as it is"
    places = {
        "a": Place("`a.grad`", wanted, summand),
        "b": Place("`b.grad`", wanted, summand),
        "c": Place("`c.grad`", _OTHER_FACTOR, factor),
        "s": Place("`s.grad`", _OTHER_FACTOR, _START),
    }
    gets = {"what `s` gets": "c"}
    if plain == "c":
        gets = {_OTHER_FACTOR: "a + b"}
    places[plain] = Place(f"`{plain}.grad`", "None, because nobody asked", gets)
    return tuple(places.values())


def _own(plain: str) -> dict[str, object]:
    """Return what is said in words of its own: the first that matches speaks."""
    at = "abc".index(plain)
    return {
        "You left all four without a gradient. `backward()` did run, so the leaves that require"
        " grad and that it reached have one.": lambda _, seen: set(seen) == {None},
        f"You gave `{plain}` a gradient. The slope exists on paper, but PyTorch computes it only for"
        " what requires grad.": lambda _, seen: seen[at] not in (None, 0),
        f"You wrote 0 for `{plain}`. A 0 is a gradient that was computed, and here none was.": (
            lambda _, seen: seen[at] == 0
        ),
        "You gave `s` no gradient. By default a non-leaf keeps none: look at what `s` asked for,"
        " and when.": lambda _, seen: seen[3] is None and {seen[0], seen[1]} != {None},
        "You gave the value of `f`. A gradient says how much `f` changes when another tensor"
        " does.": (lambda d, seen: {*seen} - {None} == {(d["a"] + d["b"]) * d["c"]}),
        "You gave a factor its own value. The slope of a product with respect to one factor is the other"
        " factor.": lambda d, seen: seen[2] == d["c"] or seen[3] == d["a"] + d["b"],
    }


def _gradients_of(data: Data) -> Quantities:
    plain = data["plain"]
    return Quantities(_PROGRAM.format_map, data, _places(plain), _own(plain))


GRADIENTS_OF = _gradients_of(_data([2.0, 3.0, 10.0], is_late=True))

GRADIENTS = Exercise(
    id="03.2",
    right="Two leaves were reached, and `s` had asked in time. Nothing asked for a gradient of the third leaf.",
    asked="What are `a.grad`, `b.grad`, `c.grad` and `s.grad` at the end? Give a list in this"
    " order. It may contain `None`.",
    vary=_other_gradients,
    principle="in `backward()`, a leaf that requires grad keeps the gradient that reaches it, and a non-leaf keeps"
    " its own if it asked before.",
    quantities=GRADIENTS_OF,
    hints=(
        "First decide for each of the four whether there is a number at all. Does it require grad,"
        " and does it keep what arrives?",
        "The gradient of `s * c` with respect to `s` is `c`. A sum hands on what arrives, unchanged.",
    ),
)


_RETAINED: list[bool] = []  # for each backward that passed inner: whether inner retained then


def _watched(loss: torch.Tensor, inner: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    _RETAINED.clear()
    seen = weakref.ref(inner)
    inner.register_hook(lambda gradient: _RETAINED.append(seen().retains_grad))
    return loss, inner


def _kept(returned: object, loss: torch.Tensor, inner: torch.Tensor) -> object:
    """See the returned gradient, or in one word why there is none."""
    if returned is not None:
        return returned
    if not _RETAINED:
        return "not passed"
    if any(_RETAINED):
        return "not returned"
    return "late" if inner.retains_grad else "dropped"


def _losses(number: float, factor: int, *values: float) -> tuple:
    lines = (
        f"inner = torch.tensor({number}, requires_grad=True).log()\nloss = inner * {factor}",
        f"inner = torch.tensor({list(values)}, requires_grad=True) * 2\nloss = (inner**2).sum()",
    )
    return tuple(made_by(code, "loss", "inner", then=_watched) for code in lines)


def _other_losses(random: Random) -> tuple:
    values = [float(value) for value in random.sample(range(2, 20), random.randint(3, 5))]
    return _losses(values[0], random.randint(2, 9), *values[1:])


MIDDLE = Exercise(
    id="03.4",
    reader=function(*_losses(10.0, 5, 2.0, 3.0), observe=_kept),
    cases=_other_losses,
    right="You asked before the gradient passed, so there was something to return.",
    principle="the gradient of a non-leaf passes during backward, and is kept or returned only if"
    " you asked before.",
    known={
        "Your function returned None, and no gradient passed the `inner` that came in. Asking for a"
        " gradient doesn't start a backward, and after `detach()` there is no path to"
        " `inner`.": shows("not passed"),
        "Your function returned None. Backward did pass the `inner` that came in, but that one hadn't"
        " been asked to keep its gradient. If you made a copy and asked that: `loss` wasn't computed"
        " from it.": shows("dropped"),
        "Your function returned None. You did ask, but no gradient passed after that.": shows(
            "late"
        ),
        "`inner` kept its gradient, but your function returned None. `backward()` itself returns"
        " None. Return what is in `inner.grad`.": shows("not returned"),
    },
    hints=(
        "Two calls and a return. Which of the calls has to come first?",
        "`inner.retain_grad()` must stand before `loss.backward()`; then `inner.grad` holds the"
        " gradient.",
    ),
    reference="""
def answer(loss, inner):
    inner.retain_grad()  # a non-leaf keeps its gradient only if you ask it to before backward runs
    loss.backward()
~   return torch.autograd.grad(inner, loss)[0]  # PyTorch found no path from the output you gave back to the input
~       # you gave. `torch.autograd.grad(outputs, inputs)` wants the output first, then the very tensor that it was
~       # computed from.
~   return torch.autograd.grad(loss, inner.detach().requires_grad_())[0]  # PyTorch found no path from `loss` back
~       # to the input you gave. It has to be the very tensor that `loss` was computed from: `inner` itself.
~   loss.backward(retain_graph=True); loss.backward()  # You returned twice the gradient. Each backward adds to what
~       # is already in `.grad`. How many of them ran?
    return inner.grad
~   return torch.ones_like(loss)  # You returned ones: the gradient of a tensor with respect to itself, with which
~       # backward begins. `inner` comes later.
~   return inner  # You returned the values of `inner`. The gradient says how `loss` changes with them.
""",
)

NON_LEAVES = Faults("""
w = torch.ones({a})
w = w * 0.{b}
w = w.reshape(1, -1)
w = w.requires_grad_()
h = w * {c}
h.sum().backward()
look at: w.grad
4: w = w.requires_grad_().clone()
4: w = w.requires_grad_() + 0
1: w = torch.ones({a}, requires_grad=True)

bias = torch.nn.Parameter(torch.zeros({a}))
scale = torch.ones({a}, requires_grad=True)
out = scale * {b} + bias
loss = (out**2).sum()
loss.backward()
look at: [scale.grad, bias.grad]
1: bias = torch.nn.Parameter(torch.zeros({a})) + 0.{c}
1: bias = torch.nn.Parameter(torch.zeros({a})).clone()
2: scale = torch.ones({a}, requires_grad=True) * 0.{c}
2: scale = torch.nn.Parameter(torch.ones({a})).reshape(-1)

w = torch.tensor([0.{a}, 0.{b}], requires_grad=True)
w = w.float()
points = torch.ones({c}, 2)
loss = (points @ w).mean()
loss.backward()
look at: w.grad
2: w = w * 0.{d}
2: w = w.flip(0)
2: w = w.double().float()
""")

LINE = Exercise(
    id="03.6",
    right="What that line does to the weight is recorded, so the name ends up on a result.",
    asked="In this program a weight has no `.grad` at the end, because it is a non-leaf. Which one"
    " line would you change? Give its number.",
    principle="what you do to a weight is recorded once its flag is up. What you do before is not.",
    hints=(
        "Print `is_leaf` and `requires_grad` of each weight after each line.",
        "Where does `is_leaf` become False? If the flag went up before lines that compute, it went"
        " up too early.",
    ),
    **NON_LEAVES.first(a=3, b=5, c=4, d=2),
)


_TENSORS = (
    "w = torch.ones(@, requires_grad=True)\n(w * 2).sum().backward()\ntensors = dict(w=w)",
    "w, b = torch.ones(@, requires_grad=True), torch.ones(@)\n(w * b).sum().backward()\ntensors = dict(w=w, b=b)",
    "w = torch.ones(@, requires_grad=True) * 0.1\nw.sum().backward()\ntensors = dict(w=w)",
    "u, v = torch.nn.Linear(2, @), torch.nn.Linear(2, @).half()\nu(torch.ones(1,"
    " 2)).sum().backward()\ntensors = dict(u=u.weight, v=v.weight, x=v.bias)",
    "x = torch.ones(@, requires_grad=True)\nh, k = x.exp(),"
    " x.sin()\nh.retain_grad()\nk.retain_grad()\nh.sum().backward()\ntensors = dict(h=h, k=k)",
    "w = torch.ones(@, requires_grad=True)\n(w * 0).sum().backward()\ntensors = dict(w=w)",
    "w = torch.ones(@, requires_grad=True)\n(w * 2).sum().backward()\nw.requires_grad_(False)\ntensors = dict(w=w)",
    "model = nn.Sequential(nn.Linear(2, @), nn.Linear(@,"
    " 1))\nmodel[0].requires_grad_(False)\ntensors = dict(model.named_parameters())",
    "tensors = {}",
)


def _missing(size: int) -> tuple:
    codes = [code.replace("@", str(size)) for code in _TENSORS]
    return tuple(made_by(code, "tensors", then=noted) for code in codes)


def _hearing(answer: Callable) -> Callable:
    def run(tensors: dict) -> tuple:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            returned = answer(tensors)
        return returned, len(heard)

    return run


def _reasons(ended: tuple, _: dict) -> list:
    returned, warned = ended
    if isinstance(returned, dict):
        pairs = sorted(dict.items(returned), key=str)
        returned = [[readable(name) for name, _ in pairs], [readable(why) for _, why in pairs]]
    else:
        returned = [readable(returned), "no dict"]
    return [*returned, warned, afterwards()]


REASONS = Exercise(
    id="03.7",
    reader=function(
        *_missing(3),
        observe=_reasons,
        promises=("names without a gradient", "reasons", "warnings", "the tensors afterwards"),
        around=_hearing,
    ),
    cases=lambda random: _missing(random.randint(4, 9)),
    right="Keep it for the next weight that doesn't learn. An empty dict means they all have a gradient.",
    known={
        "PyTorch warned while your function ran: you read `.grad` of a non-leaf that keeps none. Ask"
        " `is_leaf` and `retains_grad` before you look.": lambda seen, _: any(
            isinstance(case, tuple) and case[2] not in (0, None) for case in seen
        ),
    },
    hints=(
        "Three questions in this order: is it a non-leaf that keeps nothing? Does it have a gradient? Is its flag up?",
        "`tensor.retains_grad` tells you whether you called `retain_grad()`. For a leaf, look"
        " whether `tensor.grad` is None.",
    ),
    reference="""
def why_no_grad(tensors):
    reasons = {}
    for name, tensor in tensors.items():
        if not tensor.is_leaf and not tensor.retains_grad:
~       if not tensor.is_leaf:  # A non-leaf is not always without a gradient. After `retain_grad()` it keeps what
~           # reaches it, so ask for `retains_grad`.
            reasons[name] = "non-leaf"
        elif tensor.grad is None:
~       elif not tensor.grad:  # `if tensor.grad` asks whether the numbers in it are nonzero. You want to know
~           # whether there's a gradient at all, so compare with None.
~       elif tensor.grad is None or not tensor.grad.any():  # A gradient of zeros is a gradient: backward did reach
~           # this leaf.
~       elif tensor.grad is None or not tensor.requires_grad:  # This flag was switched off after backward, but the
~           # gradient is still there. Look for the gradient first.
~       else:  # You list every tensor, but only those without a gradient belong there.
            reasons[name] = "not reached" if tensor.requires_grad else "flag down"
    return reasons


answer = why_no_grad
""",
    principle="a gradient is missing because none was kept, because nobody asked, because no path led there,"
    " or because no backward has run since `.grad` was emptied.",
)


_NO_TENSOR = "not a tensor"


def _as_seen(weight: object, _: torch.Tensor) -> object:
    if not isinstance(weight, torch.Tensor):
        return _NO_TENSOR
    with torch._C.DisableTorchFunctionSubclass():
        leaf = "leaf" if weight.is_leaf else "non-leaf"
        tracked = "requires grad" if weight.requires_grad else "does not require grad"
        return [leaf, tracked, readable(weight), afterwards()]


def _starts(*sizes: int) -> tuple:
    """Return cases whose numbers are whole, so that 0.02 times them is the same however it is written."""
    numbers = [[float(50 * nr - 75) for nr in range(size)] for size in sizes]
    return tuple(made_by(f"start = torch.tensor({one})", "start", then=noted) for one in numbers)


PROMPT = Exercise(
    id="03.8",
    cases=lambda random: _starts(*random.sample(range(2, 9), 2)),
    reader=function(
        *_starts(3, 5),
        observe=_as_seen,
        parts=("kind", "flag", "values", "`start` afterwards"),
    ),
    right="Your prompt is a leaf that requires grad, so a step can move it. And `start` is as it was.",
    principle="what you do to a weight after its flag went up is recorded, and gives you a non-leaf.",
    known={
        "What your function returned isn't a tensor. Only a tensor has a flag and a `.grad`, so"
        " return the prompt itself.": always(_NO_TENSOR),
        "Your prompt is a leaf whose flag is down. As long as it's down, no backward will fill its"
        " `.grad`.": shows("does not require grad"),
        "Your prompt is a leaf that learns, but it isn't the one that was asked for: one row, with"
        " 0.02 times each number of `start` in it.": right_in(0, 1, 3),
        "Your prompt is right, but you changed `start` on the way. Its owner may still need it: make"
        " a new tensor.": right_in(0, 1, 2),
    },
    hints=(
        "Which of the three calls in that line are recorded? Those on a tensor that already requires"
        " grad.",
        "Scale it, give it its shape, and call `.requires_grad_()` at the very end.",
    ),
    reference="""
def answer(start):
    prompt = (start * 0.02).unsqueeze(0)
~   prompt = (start.requires_grad_() * 0.02).unsqueeze(0)  # Your prompt is still the result of recorded operations,
~       # and it was `start` that got the flag. Scale first, and raise the flag of what comes out.
~   prompt = (start.clone().requires_grad_() * 0.02).unsqueeze(0)  # You left `start` alone, but something in your
~       # line still comes after the flag and is recorded. The leaf is what was there before, and it has no name.
    return prompt.requires_grad_()  # the flag goes up last, so nothing before it is recorded
""",
)

EXERCISES = (PROMPT, LEAVES, GRADIENTS, MIDDLE, LINE, REASONS)
