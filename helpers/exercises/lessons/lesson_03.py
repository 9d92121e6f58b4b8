"""Exercises of lesson 03, leaf and non-leaf: who is a leaf, who gets a `.grad`, and how to keep
both.
"""

import torch

from helpers.exercises.exercise import Exercise, Misconception
from helpers.exercises.functions import function
from helpers.exercises.readers import names, numbers


def _leaves() -> list[str]:
    w = torch.ones(2, requires_grad=True)
    q = w.detach()
    s = torch.nn.Parameter(torch.ones(2) * 0.1)
    made = {"w": w, "p": w + 0, "q": q, "r": q * 3, "s": s, "z": w > 0}
    return [name for name, tensor in made.items() if tensor.is_leaf]


LEAVES = Exercise(
    id="03.1",
    reader=names(),
    truth=_leaves,
    right="A tensor with no `grad_fn` is a leaf, and only one of these lines was recorded.",
    misconceptions=(
        Misconception(
            example=[True, False, True, True],
            when=lambda seen: bool(seen - set("wpqrsz")),
            message="Something in your answer is none of the six names. Give a list with the names of the leaves,"
            " not a list of True and False.",
        ),
        Misconception(
            example=["q", "r", "z"],
            when=lambda seen: bool(seen) and seen <= {"q", "r", "z"},
            message="You gave only tensors that do not require grad. A tensor that does can be a leaf too: what"
            " counts is whether an operation was recorded that made it.",
        ),
        Misconception(
            example=["w", "s"],
            when=lambda seen: "w" in seen and seen <= {"w", "s"},
            message="You gave those that require grad and were created. Being a leaf does not ask for"
            " `requires_grad`: it asks that nothing was recorded.",
        ),
        Misconception(
            example="w, p, q, r, s, z",
            when=lambda seen: "p" in seen,
            message="You counted `p`. Adding 0 changes no value, and it is an operation on a tensor that"
            " requires grad all the same.",
        ),
        Misconception(
            example=["w", "q", "r", "z"],
            when=lambda seen: "w" in seen and "s" not in seen,
            message="You left out the parameter. It does not matter how the values inside were computed: ask what"
            " `torch.nn.Parameter(...)` hands back, and whether that has a `grad_fn`.",
        ),
        Misconception(
            example=("w", "q", "s"),
            when=lambda seen: {"w", "s"} <= seen,
            message="You take every result of an operation for a non-leaf. An operation counts only when it is"
            " recorded, and then its result requires grad.",
        ),
    ),
    hints=(
        "For each line ask: was anything recorded? A recorded result requires grad and has a `grad_fn`.",
        "`detach()` gives a tensor that does not require grad, a comparison gives bools, and a parameter is new.",
    ),
    solution="""
w = torch.ones(2, requires_grad=True)
q = w.detach()
made = {"w": w, "p": w + 0, "q": q, "r": q * 3}
made["s"] = torch.nn.Parameter(torch.ones(2) * 0.1)
made["z"] = w > 0
answer = [name for name, tensor in made.items() if tensor.is_leaf]
""",
)

_PROGRAM = """
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0)
c = torch.tensor(10.0, requires_grad=True)
s = a + b
f = s * c
s.retain_grad()
f.backward()
answer = [a.grad, b.grad, c.grad, s.grad]
"""


def _gradients() -> list[torch.Tensor | None]:
    a, c = (torch.tensor(value, requires_grad=True) for value in (2.0, 10.0))
    b = torch.tensor(3.0)
    s = a + b
    s.retain_grad()
    (s * c).backward()
    return [a.grad, b.grad, c.grad, s.grad]


GRADIENTS = Exercise(
    id="03.2",
    reader=numbers(),
    truth=_gradients,
    right="Two leaves and the tensor that retains were reached; nobody wanted a gradient for `b`.",
    misconceptions=(
        Misconception(
            example=[10, 10, 5, 10],
            when=lambda seen: len(seen) == 4 and seen[1] not in (None, 0.0),
            message="You gave `b` a gradient. The derivative exists on paper; torch computes it only for a"
            " tensor that requires grad.",
        ),
        Misconception(
            example=[10.0, 0.0, 5.0, 10.0],
            when=lambda seen: len(seen) == 4 and seen[1] == 0,
            message="You wrote 0 for `b`. Zero is a gradient that was computed, and here none was.",
        ),
        Misconception(
            example="10, None, 5, None",
            when=lambda seen: len(seen) == 4 and seen[3] is None,
            message="You take it for a law that a non-leaf keeps nothing. Look again at what `s` asked for, and when.",
        ),
        Misconception(
            example=[1, None, 5, 10],
            when=lambda seen: len(seen) == 4 and seen[0] == 1,
            message="You took one step of the way to `a`, the one through the sum. The gradient of `f` is the product"
            " of all the steps.",
        ),
        Misconception(
            example=[5, None, 10, 5],
            when=lambda seen: len(seen) == 4 and seen[2] == 10,
            message="You gave each factor its own value. The derivative of a product with respect to one"
            " factor is the other one.",
        ),
    ),
    hints=(
        "First decide for each of the four whether there is a number at all: does it require grad, is it kept?",
        "For `f = s * c` the gradient of `f` with respect to `s` is `c`, and a sum hands it on unchanged.",
    ),
    solution=_PROGRAM,
)


def _weight(values: list[float]) -> torch.Tensor:
    return (torch.tensor(values, dtype=torch.float64) * 0.1).requires_grad_()


def _as_seen(weight: object, values: list[float]) -> object:
    """See the two flags, the dtype and the values of a tensor in words that a student can read."""
    if not isinstance(weight, torch.Tensor):
        return weight
    leaf = "leaf" if weight.is_leaf else "non-leaf"
    tracked = "requires grad" if weight.requires_grad else "does not require grad"
    return [leaf, tracked, str(weight.dtype), weight]


WEIGHT = Exercise(
    id="03.3",
    reader=function(lambda: [2.0, 3.0], lambda: [[1.0, 5.0], [10.0, 2.0]], observe=_as_seen),
    truth=lambda: _weight,
    right="`requires_grad_()` came last, so no cast and no factor was recorded: the result is a leaf.",
    misconceptions=(
        Misconception(
            example="def answer(values):\n    (torch.tensor(values).double() * 0.1).requires_grad_()",
            when=lambda seen: seen == (None, None),
            message="Your function returns nothing: hand the tensor back with `return`.",
        ),
        Misconception(
            example="def answer(values):\n    w = torch.tensor(values, requires_grad=True).double() * 0.1\n"
            "    w.retain_grad()\n    return w",
            when=lambda seen: seen[0][0] == "non-leaf",
            message="Your tensor is still the result of a recorded operation, so it is no leaf: by default it gets no"
            " `.grad`, and an optimizer refuses it. `retain_grad()` would change both and not make it a leaf: a step"
            " would leave the leaf behind it as it was. Look at the order.",
        ),
        Misconception(
            example="def answer(values):\n    return (torch.tensor(values).double() * 0.1).detach()",
            when=lambda seen: seen[0][1] == "does not require grad",
            message="Your tensor is a leaf that does not require grad: no `backward()` will ever fill its `.grad`.",
        ),
        Misconception(
            example="def answer(values):\n    return (torch.tensor(values) * 0.1).requires_grad_()",
            when=lambda seen: seen[0][2] != "torch.float64",
            message="Your tensor is a leaf that can be trained, in another dtype than the one asked for. A cast"
            " is fine as long as it is not recorded.",
        ),
    ),
    hints=(
        "Which lines are recorded? Those that work on a tensor that already requires grad.",
        "Create, cast and scale first; then call `.requires_grad_()` on the result and return it.",
    ),
    solution="""
def answer(values):
    return (torch.tensor(values, dtype=torch.float64) * 0.1).requires_grad_()
""",
)


def _logarithm() -> tuple[torch.Tensor, torch.Tensor]:
    inner = torch.tensor(10.0, requires_grad=True).log()
    return inner * 5, inner


def _squares() -> tuple[torch.Tensor, torch.Tensor]:
    inner = torch.tensor([2.0, 3.0], requires_grad=True) * 2
    return (inner**2).sum(), inner


def _in_the_middle(loss: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(loss, inner)[0]


def _kept(returned: object, loss: torch.Tensor, inner: torch.Tensor) -> object:
    """See the returned gradient, or in one word why there is none."""
    if returned is not None:
        return returned
    if not inner.retains_grad:
        return "dropped"
    return "late" if inner.grad is None else "not returned"


MIDDLE = Exercise(
    id="03.4",
    reader=function(_logarithm, _squares, observe=_kept),
    truth=lambda: _in_the_middle,
    right="The gradient was asked for before it passed by, so there was something to return.",
    misconceptions=(
        Misconception(
            example="def answer(loss, inner):\n    loss.backward()\n    return inner.grad",
            when=lambda seen: "dropped" in seen,
            message="Your function returned None: `inner` is a non-leaf and nobody asked to keep its gradient.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    loss.backward()\n    inner.retain_grad()\n    return inner.grad",
            when=lambda seen: "late" in seen,
            message="Your function returned None: the request is there, and no gradient passed by after it.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    inner.retain_grad()\n    loss.backward()",
            when=lambda seen: "not returned" in seen,
            message="The gradient is where it should be, in `inner.grad`. Your function does not return it.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    return torch.autograd.grad(loss, inner)",
            when=lambda seen: isinstance(seen[0], tuple) and len(seen[0]) == 1,
            message="You return a tuple with the gradient in it: `torch.autograd.grad` gives one for each input. The"
            " gradient itself is wanted.",
        ),
    ),
    hints=(
        "Two calls and a return. Their order is what idea 4 was about.",
        "`inner.retain_grad()` must stand before `loss.backward()`; then `inner.grad` holds the gradient.",
    ),
    solution="""
def answer(loss, inner):
    inner.retain_grad()
    loss.backward()
    return inner.grad
""",
)

EXERCISES = (LEAVES, GRADIENTS, WEIGHT, MIDDLE)
