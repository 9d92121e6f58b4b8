"""Exercises of lesson 03, leaf and non-leaf: who is a leaf, who gets a `.grad`, and how to keep
both.
"""

import weakref

import torch
from torch.autograd import grad

from autograd_graphs.untrusted.plain import is_a
from helpers.exercises.exercise import Exercise, Misconception, same_as
from helpers.exercises.functions import function, raised, written
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, numbers
from helpers.exercises.tensors import readable


def _leaves() -> list[str]:
    w = torch.ones(2, requires_grad=True)
    q = w.detach()
    s = torch.nn.Parameter(torch.ones(2) * 0.1)
    made = {"w": w, "p": w + 0, "q": q, "r": q * 3, "s": s, "u": s * 2, "v": w[:1], "z": w > 0}
    return [name for name, tensor in made.items() if tensor.is_leaf]


LEAVES = Exercise(
    id="03.1",
    reader=letters("pqrsuvwz"),
    truth=_leaves,
    right="A tensor with no `grad_fn` is a leaf, and only three of these lines were recorded.",
    misconceptions=(),
    letters=Letters(
        read="idea 1, and *Moves and casts* in idea 6",
        about=(
            ("p", "Is `w + 0` an operation, and was it recorded?"),
            ("q", "Has what `detach()` returns a `grad_fn`?"),
            ("r", "Does `q` require grad, so that `q * 3` is recorded?"),
            ("s", "Has what `torch.nn.Parameter(...)` returns a `grad_fn`?"),
            ("u", "Does a parameter require grad, so that `s * 2` is recorded?"),
            ("v", "Is taking a slice recorded?"),
            ("w", "Was it created, or did an operation make it?"),
            ("z", "Of which dtype is a comparison, and can that require grad?"),
        ),
    ),
    hints=(
        "For each line ask: was an operation recorded? If it was, its result requires grad and has"
        " a `grad_fn`.",
        "`detach()` gives a tensor that does not require grad, a comparison gives bools, and a"
        " parameter is new.",
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
    principle="`backward()` fills the `.grad` of the leaves that it reaches and that require grad,"
    " and of what was asked to retain its own.",
    misconceptions=(
        Misconception(
            example=[None, None, None, None],
            when=(None, None, None, None),
            message="You left all four without a gradient. `backward()` did run, so the leaves"
            " that require grad and that it reached have one.",
        ),
        Misconception(
            example=[10, 10, 5, 10],
            when=lambda seen: len(seen) == 4 and seen[1] not in (None, 0.0),
            message="You gave `b` a gradient. The derivative exists on paper; torch computes it"
            " only for a tensor that requires grad.",
        ),
        Misconception(
            example=[10.0, 0.0, 5.0, 10.0],
            when=lambda seen: len(seen) == 4 and seen[1] == 0,
            message="You wrote 0 for `b`. Zero is a gradient that was computed, and here none was.",
        ),
        Misconception(
            example="10, None, 5, None",
            when=lambda seen: len(seen) == 4 and seen[3] is None and seen[0] is not None,
            message="You gave `s` no gradient. By default a non-leaf keeps none: look at what `s`"
            " asked for, and when.",
        ),
        Misconception(
            example=[None, None, 5, 10],
            when=lambda seen: len(seen) == 4 and seen[0] is None,
            message="You gave `a` no gradient. It is a leaf that requires grad; is there a way to"
            " it from `f`?",
        ),
        Misconception(
            example=[10, None, None, 10],
            when=lambda seen: len(seen) == 4 and seen[2] is None,
            message="You gave `c` no gradient. It is a leaf that requires grad; is there a way to"
            " it from `f`?",
        ),
        Misconception(
            example=[1, None, 5, 1],
            when=lambda seen: len(seen) == 4 and seen[0] == seen[3] == 1,
            message="You gave `a` and `s` the 1 with which a walk begins. It begins at `f`, and on"
            " the way to `s` it passes the product.",
        ),
        Misconception(
            example=[1, None, 5, 10],
            when=lambda seen: len(seen) == 4 and seen[0] == 1,
            message="You took one step of the way to `a`, the one through the sum. The gradient of"
            " `f` is the product of all the steps.",
        ),
        Misconception(
            example=[50, None, 50, 50],
            when=(50, None, 50, 50),
            message="50 is the value of `f`. A gradient says how much `f` changes when another"
            " tensor does.",
        ),
        Misconception(
            example=[0, None, 0, 0],
            when=(0, None, 0, 0),
            message="A gradient of 0 says that `f` stays as it is when the tensor changes a"
            " little. Make `c` a little larger: what does `f` do?",
        ),
        Misconception(
            example=[5, None, 10, 5],
            when=lambda seen: len(seen) == 4 and (seen[2] == 10 or seen[3] == 5),
            message="You gave a factor its own value. The derivative of a product with respect to"
            " one factor is the other one.",
        ),
        Misconception(
            example=[10, None, 3, 10],
            when=lambda seen: seen[:2] + seen[3:] == (10, None, 10),
            message="All but `c` is right. The derivative of `s * c` with respect to `c` is the"
            " value of its other factor, of the whole of it.",
        ),
        Misconception(
            example=[15, None, 5, 15],
            when=lambda seen: len(seen) == 4 and seen[1:3] == (None, 5) and seen[0] == seen[3],
            message="A sum hands on what arrives, so `a` and `s` agree, and yours do. What arrives"
            " there is another number: the derivative of `s * c` with respect to `s`.",
        ),
    ),
    hints=(
        "First decide for each of the four whether there is a number at all: does it require grad,"
        " is it kept?",
        "For `f = s * c` the gradient of `f` with respect to `s` is `c`, and a sum hands it on"
        " unchanged.",
    ),
    solution=_PROGRAM,
)


def _weight(values: list[float]) -> torch.Tensor:
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64) * 0.1)


def _as_it_is(values: list[float]) -> torch.Tensor:
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


_NO_TENSOR = "not a tensor"


def _as_seen(weight: object, values: list[float]) -> object:
    """See the two flags, the dtype and the values of a tensor in words that a student can read."""
    if not is_a(weight, torch.Tensor):
        return _NO_TENSOR
    with torch._C.DisableTorchFunctionSubclass():
        leaf = "leaf" if weight.is_leaf else "non-leaf"
        tracked = "requires grad" if weight.requires_grad else "does not require grad"
        return [leaf, tracked, str(weight.dtype), readable(weight)]


def _part(reading: tuple, at: int) -> set[object]:
    """Return what one part was in the cases where there was a tensor."""
    return {outcome[at] for outcome in reading if is_a(outcome, tuple)}


def _may_be_trained(reading: tuple) -> bool:
    right = ("leaf", "requires grad", "torch.float64")
    return all(is_a(outcome, tuple) and outcome[:3] == right for outcome in reading)


WEIGHT = Exercise(
    id="03.3",
    reader=function(
        lambda: [2.0, 3.0],
        lambda: [0.5, -7.25, 10.0],
        observe=_as_seen,
        parts=("kind", "flag", "dtype", "values"),
    ),
    truth=lambda: _weight,
    right="The result is a leaf that requires grad: no cast and no factor was recorded.",
    principle="a product with a tensor that requires grad is recorded, unless gradients are off,"
    " and its result is no leaf.",
    misconceptions=(
        Misconception(
            example="def answer(values):\n    return (torch.tensor(values).double() *"
            " 0.1).requires_grad_().tolist()",
            when=lambda seen: set(seen) == {_NO_TENSOR},
            message="What your function returns is no tensor. Only a tensor has a flag and a"
            " `.grad`: return the weight itself.",
        ),
        Misconception(
            example="def answer(values):\n    w = torch.tensor(values,"
            " requires_grad=True).double() * 0.1\n    w.retain_grad()\n    return w",
            when=lambda seen: "non-leaf" in _part(seen, 0),
            message="Your tensor is still the result of a recorded operation, so it is no leaf: by"
            " default it gets no `.grad` and an optimizer refuses it. One that retains its gradient"
            " gets one, is taken and is still no leaf: a step leaves the leaf behind it as it was."
            " Look at the order.",
        ),
        Misconception(
            example="def answer(values):\n    return (torch.tensor(values).double() *"
            " 0.1).detach()",
            when=lambda seen: "does not require grad" in _part(seen, 1),
            message="Your tensor is a leaf that does not require grad: as long as its flag is"
            " down, no `backward()` fills its `.grad`.",
        ),
        Misconception(
            example="def answer(values):\n    return (torch.tensor(values) * 0.1).requires_grad_()",
            when=lambda seen: bool(_part(seen, 2) - {"torch.float64"}),
            message="Your tensor is a leaf that can be trained, in another dtype than the one"
            " asked for. A cast is fine as long as it is not recorded.",
        ),
        Misconception(
            example="def answer(values):\n    return torch.tensor(values, dtype=torch.float64,"
            " requires_grad=True)",
            when=same_as(lambda: _as_it_is),
            message="Your tensor is a leaf that can be trained, and it holds `values` as they"
            " came. A tenth of them was asked for.",
        ),
        Misconception(
            example="def answer(values):\n    return (torch.tensor(values).double() *"
            " 10).requires_grad_()",
            when=_may_be_trained,
            message="Flag, kind and dtype are right; the values are not a tenth of what your"
            " function was given.",
        ),
        Misconception(
            example="def answer(values):\n    w = torch.tensor(values, dtype=torch.float64,"
            " requires_grad=True)\n    w *= 0.1\n    return w",
            when=lambda seen: raised(seen, "a leaf Variable that requires grad"),
            message="torch refuses to write in place into a leaf that requires grad, while"
            " gradients are on. Scale before the flag goes up, or under `no_grad()`.",
        ),
        Misconception(
            example="def answer(values):\n    return torch.tensor(values * 0.1,"
            " dtype=torch.float64)",
            when=lambda seen: raised(seen, "can't multiply sequence by non-int"),
            message="`values` is a list, and Python multiplies no list by a float. Make a tensor"
            " of it first.",
        ),
    ),
    hints=(
        "Which calls in that line are recorded? Those on a tensor that already requires grad.",
        "Create it in float64 with `dtype=`, scale it, then call `.requires_grad_()` and return it.",
    ),
    solution="""
def answer(values):
    return (torch.tensor(values, dtype=torch.float64) * 0.1).requires_grad_()
""",
)


@written("inner = torch.tensor(10.0, requires_grad=True).log(); loss = inner * 5")
def _logarithm() -> tuple[torch.Tensor, torch.Tensor]:
    inner = torch.tensor(10.0, requires_grad=True).log()
    return _watched(inner * 5, inner)


@written("inner = torch.tensor([2.0, 3.0], requires_grad=True) * 2; loss = (inner**2).sum()")
def _squares() -> tuple[torch.Tensor, torch.Tensor]:
    inner = torch.tensor([2.0, 3.0], requires_grad=True) * 2
    return _watched((inner**2).sum(), inner)


_RETAINED: list[bool] = []  # for each walk that passed by inner: whether inner retained then


def _watched(loss: torch.Tensor, inner: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Note each walk that passes by `inner`."""
    _RETAINED.clear()
    seen = weakref.ref(inner)
    inner.register_hook(lambda gradient: _RETAINED.append(seen().retains_grad))
    return loss, inner


def _in_the_middle(loss: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
    return grad(loss, inner)[0]


def _in_a_tuple(loss: torch.Tensor, inner: torch.Tensor) -> tuple[torch.Tensor]:
    return grad(loss, inner)


def _twice(loss: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
    return 2 * grad(loss, inner)[0]


def _of_itself(loss: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
    return grad(loss, loss)[0]


def _inner_itself(loss: torch.Tensor, inner: torch.Tensor) -> torch.Tensor:
    return inner


def _kept(returned: object, loss: torch.Tensor, inner: torch.Tensor) -> object:
    """See the returned gradient, or in one word why there is none."""
    if returned is not None:
        return returned
    if not _RETAINED:
        return "no walk"
    if any(_RETAINED):
        return "not returned"
    return "late" if inner.retains_grad else "dropped"


MIDDLE = Exercise(
    id="03.4",
    reader=function(_logarithm, _squares, observe=_kept),
    truth=lambda: _in_the_middle,
    right="The gradient was asked for before it passed by, so there was something to return.",
    principle="the gradient of a non-leaf passes by during the walk, and is kept or returned only"
    " if somebody asked before.",
    misconceptions=(
        Misconception(
            example="def answer(loss, inner):\n    inner.retain_grad()\n    return inner.grad",
            when=lambda seen: "no walk" in seen,
            message="Your function returned None, and no gradient passed by the `inner` that came"
            " in: no walk went from the loss to it. `detach()` ends a way, and asking to keep a"
            " gradient starts no walk.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    loss.backward()\n    return inner.grad",
            when=lambda seen: "dropped" in seen,
            message="Your function returned None. A walk passed by the `inner` that came in, a"
            " non-leaf, and until then nobody had asked that very tensor to retain its gradient.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    loss.backward()\n    inner.retain_grad()\n"
            "    return inner.grad",
            when=lambda seen: "late" in seen,
            message="Your function returned None: the request is there, and no gradient passed by"
            " after it.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    inner.retain_grad()\n    return loss.backward()",
            when=lambda seen: "not returned" in seen,
            message="The gradient passed by and `inner` retained it, but your function returned"
            " None. `backward()` itself returns None, and `loss` retains nothing unasked: return"
            " what stands in `inner.grad`.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    return torch.autograd.grad(loss, inner)",
            when=same_as(lambda: _in_a_tuple),
            message="You return a tuple with the gradient in it: `torch.autograd.grad` gives one"
            " for each input. The gradient itself is wanted.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    loss.retain_grad()\n    loss.backward()\n"
            "    return loss.grad",
            when=same_as(lambda: _of_itself),
            message="You return ones: the gradient of a tensor with respect to itself, with which"
            " the walk begins. `inner` lies behind `loss`.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    inner.retain_grad()\n    loss.backward()\n"
            "    return inner",
            when=same_as(lambda: _inner_itself),
            message="You return the values of `inner`. What was asked for says how `loss` changes"
            " with them.",
        ),
        Misconception(
            example="def answer(loss, inner):\n    inner.retain_grad()\n"
            "    loss.backward(retain_graph=True)\n    loss.backward()\n    return inner.grad",
            when=same_as(lambda: _twice),
            message="You return the gradient twice over. Each walk adds what passes by to a"
            " gradient that is kept: how many walks ran?",
        ),
        Misconception(
            example="def answer(loss, inner):\n    return torch.autograd.grad(inner, loss)[0]",
            when=lambda seen: raised(seen, "appears to not have been used in the graph"),
            message="torch found no way back from the outputs that you gave to the input that you"
            " gave. `torch.autograd.grad(outputs, inputs)` wants the output first, and as input"
            " the very tensor that it was computed from.",
        ),
    ),
    hints=(
        "Two calls and a return. Their order is what idea 4 was about.",
        "`inner.retain_grad()` must stand before `loss.backward()`; then `inner.grad` holds the"
        " gradient.",
    ),
    solution="""
def answer(loss, inner):
    inner.retain_grad()
    loss.backward()
    return inner.grad
""",
)

EXERCISES = (LEAVES, GRADIENTS, WEIGHT, MIDDLE)
