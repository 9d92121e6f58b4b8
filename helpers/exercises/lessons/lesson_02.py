"""Hold the exercises of lesson 02: who requires grad, which dtypes may, and what freezing a layer
does.
"""

import torch
from torch import nn

from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function
from helpers.exercises.readers import choice, names
from helpers.untrusted.sandbox import Failed


def _tracked() -> list[str]:
    x = torch.ones(2)
    y = x * 2
    x.requires_grad_()
    b = x + y
    d = b.detach() + 1
    results = {"a": y + 1, "b": b, "c": b.argmax(), "d": d, "e": d + x}
    return [name for name, result in results.items() if result.requires_grad]


WHO = Exercise(
    id="02.1",
    reader=names(),
    truth=_tracked,
    right="Each result asked its own inputs, at the moment when its operation ran.",
    misconceptions=(
        Misconception(
            example=[False, True, True, True],
            when=lambda seen: bool(seen - set("abcde")),
            message="Something in your answer is none of the names `a` to `e`. Give a list with the names of those"
            " that require grad, not a list of True and False.",
        ),
        Misconception(
            example=["a", "b", "c", "d", "e"],
            when=lambda seen: seen >= set("abcde"),
            message="You took everything that comes from x in some way. Ask each operation alone: what were its"
            " own inputs, and what kind of result does it give?",
        ),
        Misconception(
            example="a, b, e",
            when=lambda seen: "a" in seen,
            message="You counted `a`. It comes from `y`, and when `y` was made, x had no flag yet. Torch reads a"
            " flag when an operation runs and does not come back to it.",
        ),
        Misconception(
            example=("b", "c", "e"),
            when=lambda seen: "c" in seen,
            message="You counted `c`. An index is an integer: it cannot change by a little, so there is no"
            " gradient to record.",
        ),
        Misconception(
            example="b d e",
            when=lambda seen: "d" in seen,
            message="You counted `d`. `b` requires grad, but `detach()` hands out a tensor that does not, and 1"
            " does not either.",
        ),
        Misconception(
            example="b",
            when={"b"},
            message="You think that nothing after a `detach()` can require grad. It leaves one tensor without a"
            " record; ask what else went into the operations that come later.",
        ),
        Misconception(
            example=[],
            when=set(),
            message="You ask that all inputs of an operation require grad. Torch asks for less.",
        ),
    ),
    hints=(
        "Write down for each line: which tensors go in, and does one of them require grad at that moment?",
        "Then look at what comes out: a float may require grad, an index may not, and `detach()` never does.",
    ),
    solution="""
x = torch.ones(2)
y = x * 2
x.requires_grad_()
a = y + 1
b = x + y
c = b.argmax()
d = b.detach() + 1
e = d + x
results = {"a": a, "b": b, "c": c, "d": d, "e": e}
answer = [name for name, result in results.items() if result.requires_grad]
""",
)


def _look(result: object, counts: torch.Tensor) -> object:
    """See the values, the kind of dtype and the flag in words that a student can read."""
    if not isinstance(result, torch.Tensor):
        return result
    dtype = "floats" if result.is_floating_point() else "no floats"
    return [
        result.tolist(),
        dtype,
        "requires grad" if result.requires_grad else "does not require grad",
    ]


def _refused(seen: tuple) -> bool:
    """Tell whether torch refused the dtype in every case, or refused to change the flag of what it
    has.
    """
    return all(
        isinstance(outcome, Failed) and "can require gradients" in outcome.text for outcome in seen
    )


COUNTS = Exercise(
    id="02.2",
    reader=function(
        lambda: torch.tensor([1, 2, 3]), lambda: torch.tensor([5], dtype=torch.int32), observe=_look
    ),
    truth=lambda: lambda counts: counts.float().requires_grad_(),
    right="First a dtype that has gradients, then the flag.",
    misconceptions=(
        Misconception(
            example="def answer(counts):\n    return counts.requires_grad_().float()",
            when=_refused,
            message="You raised the flag on a tensor of integers, and torch refused. Between one integer and the"
            " next there is nothing for a gradient to describe, so another step has to come before.",
        ),
        Misconception(
            example="def answer(counts):\n    x = counts.float()\n    x.required_grad = True\n    return x",
            when=same_as(lambda: lambda counts: counts.float()),
            message="What you return is a float tensor and could require grad, but it does not. A new dtype"
            " alone raises no flag, and neither does an attribute of another spelling.",
        ),
        Misconception(
            example="def answer(counts):\n    x = counts.float().requires_grad_()\n    return x.long()",
            when=same_as(lambda: lambda counts: counts),
            message="What you return are integers. Torch takes no flag on them and does not turn them into floats"
            " for you, and a cast back to an integer dtype gives a flag up.",
        ),
        Misconception(
            example="def answer(counts):\n    counts.float().requires_grad_()",
            when=lambda seen: seen == (None, None),
            message="Your function returns nothing. `float()` makes a new tensor and leaves `counts` as it was, so"
            " hand the new one back.",
        ),
    ),
    hints=(
        "Two things have to happen to the tensor. Which of them must come first?",
        "`counts.float()` makes a float tensor; a method that ends in an underscore sets the flag.",
    ),
    solution="""
def answer(counts):
    return counts.float().requires_grad_()
""",
)


def _who_reaches_first() -> str:
    frozen, hidden = _gradient_of_first(freeze=True), _gradient_of_first(freeze=False)
    return {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}[
        frozen, hidden
    ]


def _gradient_of_first(freeze: bool) -> bool:
    """Tell whether the first of three layers gets a gradient, the middle one frozen or run under
    no_grad.
    """
    first, middle, last = (nn.Linear(1, 1) for _ in range(3))
    middle.requires_grad_(not freeze)
    h = first(torch.ones(1, 1))
    with torch.set_grad_enabled(freeze):
        h = middle(h)
    last(h).backward()
    return first.weight.grad is not None


MIDDLE = Exercise(
    id="02.3",
    reader=choice("a", "b", "c", "d"),
    truth=_who_reaches_first,
    right="A frozen layer is still on the record and passes gradients on; under no_grad there is no record.",
    misconceptions=(
        Misconception(
            example="a",
            when="a",
            message="You think that `no_grad` only keeps gradients out of the middle layer's own parameters. It"
            " keeps the operation out of the graph: ask what `h` still knows about where it comes from.",
        ),
        Misconception(
            example="(C)",
            when="c",
            message="You have the two the wrong way round. A flag belongs to a tensor that goes into an operation;"
            " grad mode decides whether the operation is recorded at all.",
        ),
        Misconception(
            example="d) neither",
            when="d",
            message="You think that a frozen layer stops what comes through it. Its weight wants no gradient, but"
            " its other input still asks for one.",
        ),
    ),
    hints=(
        "For each run ask whether `h.requires_grad` is True after the middle layer.",
        "Build both in a cell of your own and look at `show(y)`: does a path lead from y to first.weight?",
    ),
    solution="""
def first_learns(freeze):
    first, middle, last = (torch.nn.Linear(1, 1) for _ in range(3))
    middle.requires_grad_(not freeze)
    h = first(torch.ones(1, 1))
    with torch.set_grad_enabled(freeze):
        h = middle(h)
    last(h).backward()
    return first.weight.grad is not None

options = {(True, True): "a", (True, False): "b", (False, True): "c", (False, False): "d"}
answer = options[first_learns(freeze=True), first_learns(freeze=False)]
""",
)


def _small() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


def _two() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 1), nn.Linear(1, 1))


def _normed() -> nn.Sequential:
    """Make layers with one parameter and with two, and one with parameters that is not Linear."""
    return nn.Sequential(
        nn.Linear(2, 3, bias=False), nn.LayerNorm(3), nn.Linear(3, 2), nn.Linear(2, 1, bias=False)
    )


def _nested() -> nn.Sequential:
    """Make a model with layers inside its layers, two of them in the last."""
    block = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    return nn.Sequential(nn.Linear(2, 3), block, nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)))


def _freeze(model: nn.Sequential) -> None:
    model.requires_grad_(False)
    model[-1].requires_grad_(True)


def _freeze_all_but_two_parameters(model: nn.Sequential) -> None:
    for parameter in list(model.parameters())[:-2]:
        parameter.requires_grad_(False)


def _flags(returned: object, model: nn.Sequential) -> list[str]:
    return [
        f"{name} {'free' if p.requires_grad else 'frozen'}" for name, p in model.named_parameters()
    ]


def _only_the_norm_stayed(seen: tuple) -> bool:
    """Tell whether in the model with a LayerNorm all is right but that layer."""
    frozen = ("0.weight frozen", "2.weight frozen", "2.bias frozen")
    return seen[2] == (frozen[0], "1.weight free", "1.bias free", *frozen[1:], "3.weight free")


FREEZE = Exercise(
    id="02.4",
    reader=function(_small, _two, _normed, _nested, observe=_flags),
    truth=lambda: _freeze,
    right="Each parameter has a flag of its own, and only the last layer's are still up.",
    misconceptions=(
        Misconception(
            example="def answer(model):\n    model[:-1].eval()",
            when=same_as(lambda: lambda model: None),
            message="Every flag of the model that came in is as it was before. Ask of each of your lines which"
            " parameter of this model it changes: `eval()`, for one, changes none.",
        ),
        Misconception(
            example="def answer(model):\n    for p in model.parameters():\n        p.requires_grad = False",
            when=same_as(lambda: lambda model: model.requires_grad_(False)),
            message="You froze the whole model. With nothing left that requires grad, `backward()` would raise.",
        ),
        Misconception(
            example="def answer(model):\n    model[-1].requires_grad_(False)",
            when=same_as(lambda: lambda model: model[-1].requires_grad_(False)),
            message="You froze the layer that was to stay free, and left the others free.",
        ),
        Misconception(
            example="def answer(model):\n    model[0].requires_grad_(False)",
            when=same_as(lambda: lambda model: model[0].requires_grad_(False)),
            message="You froze the first layer alone. In a longer model there are layers between it and the last.",
        ),
        Misconception(
            example="def answer(model):\n    for p in list(model.parameters())[:-2]:\n        p.requires_grad = False",
            when=same_as(lambda: _freeze_all_but_two_parameters),
            message="You left the last two parameters free, whichever layer they belong to. A Linear without a bias"
            " has one, and a layer that holds others may have four.",
        ),
        Misconception(
            example="def answer(model):\n    for layer in model[:-1]:\n"
            "        if isinstance(layer, torch.nn.Linear):\n            layer.requires_grad_(False)",
            when=_only_the_norm_stayed,
            message="In one model a LayerNorm stayed free. It stands before the last layer and has parameters, as"
            " Linear layers have.",
        ),
    ),
    hints=(
        "`module.requires_grad_(False)` freezes every parameter inside that module.",
        "`model[-1]` is the last layer, `model[:-1]` all the others.",
    ),
    solution="""
def answer(model):
    model[:-1].requires_grad_(False)
""",
)

EXERCISES = (WHO, COUNTS, MIDDLE, FREEZE)
