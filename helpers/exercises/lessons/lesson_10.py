"""Exercises of lesson 10, CUDA placement: two devices in one line, a leaf at its place, saved bytes."""

import torch

from helpers.exercises.functions import function
from helpers.exercises.guard import Failed
from helpers.exercises.model import Exercise, Misconception
from helpers.exercises.plain import is_a
from helpers.exercises.readers import names, number

_LINES = """
c, m = torch.ones(2), torch.ones(2, device="meta")
n = torch.tensor(5.0)
lines = {
    "p": lambda: c + m,
    "q": lambda: n + m,
    "r": lambda: m - 5.0,
    "s": lambda: torch.stack([c, m]),
    "t": lambda: c.to(m.device) + m,
}


def raises(line):
    try:
        line()
    except RuntimeError:
        return True
    return False


answer = [name for name, line in lines.items() if raises(line)]
"""


def _raising() -> object:
    namespace: dict[str, object] = {"torch": torch}
    exec(_LINES, namespace)
    return namespace["answer"]


MIXED = Exercise(
    id="10.1",
    reader=names(),
    truth=_raising,
    right="Tensors with dimensions must share a device, added or stacked; a number of the CPU goes anywhere.",
    misconceptions=(
        Misconception(
            example=["p", "q", "r", "s"],
            when=lambda seen: "r" in seen,
            message="You treat a Python number as a tensor of the CPU. It has no device: it goes wherever the"
            " tensor is.",
        ),
        Misconception(
            example=["p", "q", "s"],
            when=lambda seen: "q" in seen,
            message="You counted `n` for its device alone. Look at its shape, and at what idea 4 says of such tensors.",
        ),
        Misconception(
            example=["p", "s", "t"],
            when=lambda seen: "t" in seen,
            message="You took the mixed line for the mixed operation: in the line with `c.to(m.device)`, what are the"
            " devices of the two tensors that the `+` meets?",
        ),
        Misconception(
            example=["p"],
            when=lambda seen: seen in ({"p"}, {"s"}),
            message="You found one. The rule holds for every operation that takes several tensors, with or"
            " without arithmetic.",
        ),
        Misconception(
            example=[],
            when=lambda seen: not seen,
            message="You expect PyTorch to move tensors for you. It moves none on its own.",
        ),
    ),
    hints=(
        "For each line write down the devices of the tensors that its operation meets.",
        "Then strike out what counts as a number: Python's numbers, and CPU tensors without dimensions.",
    ),
    solution=_LINES,
)


def _gradient(values: list[float], place: object) -> torch.Tensor:
    w = torch.tensor(values).to(place).requires_grad_()
    (w**2).sum().backward()
    return w.grad


def _as_seen(gradient: object, values: list[float], place: object) -> object:
    """See where a gradient lives, its dtype, and its values where it has any."""
    if not isinstance(gradient, torch.Tensor):
        return "None" if gradient is None else gradient
    return [gradient.device.type, str(gradient.dtype), list(gradient.shape) if gradient.is_meta else gradient]


GRADIENT = Exercise(
    id="10.2",
    reader=function(
        lambda: ([2.0, 3.0], "cpu"),
        lambda: ([1.0, 5.0], torch.float64),
        lambda: ([2.0, 3.0], "meta"),
        observe=_as_seen,
    ),
    truth=lambda: _gradient,
    right="Each gradient is at its place. A move before the flag is not recorded: `w` is a leaf, its gradient with it.",
    misconceptions=(
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    (w**2).sum().backward()",
            when=lambda seen: seen == ("None", "None", "None"),
            message="Your function returns nothing, or a `.grad` that nobody filled: look at its last line.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True).to(place)\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: seen[1] == "None",
            message="For a dtype your function returns None: `w` is still the result of a recorded move, and the leaf"
            " behind it got the gradient. What should be asked for last?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True)\n"
            "    (w.to(place)**2).sum().backward()\n    return w.grad",
            when=lambda seen: len(seen[1]) == 3 and seen[1][1] == "torch.float32",
            message="You return the gradient of a leaf that stayed where it was made, in its own dtype. A gradient"
            " lives where its leaf lives; here the leaf itself was to be at `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True).to(place)\n"
            "    w.retain_grad()\n    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: not is_a(seen[1], Failed) and is_a(seen[2], Failed),
            message="On one of the devices your function raises: a leaf is still left behind on the CPU, and backward"
            " tries to bring its gradient there. `retain_grad()` on a result makes no leaf of it.",
        ),
    ),
    hints=(
        "Three things happen in the first line: creating, asking for gradients, moving. Which order is not recorded?",
        "`torch.tensor(values).to(place)` first, `.requires_grad_()` last; the other lines may stay.",
    ),
    solution="""
def answer(values, place):
    w = torch.tensor(values).to(place).requires_grad_()
    (w**2).sum().backward()
    return w.grad
""",
)

_BYTES = """
kept = []


def note(tensor):
    kept.append(tensor.nbytes)
    return tensor


x = torch.empty(1024, 1024, device="meta", requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
    h = x.exp()
    y = (h + 1).sin().sum()
answer = sum(kept) / 2**20
"""


def _saved() -> object:
    namespace: dict[str, object] = {"torch": torch}
    exec(_BYTES, namespace)
    return namespace["answer"]


SAVED = Exercise(
    id="10.3",
    reader=number(),
    truth=_saved,
    right="`exp` saves its output and `sin` its input; the addition and the sum save no tensor.",
    misconceptions=(
        Misconception(
            example=12,
            when=12.0,
            message="You count three saved tensors. One of the operations here needs no value for its derivative.",
        ),
        Misconception(
            example=16,
            when=lambda seen: seen in (16.0, 20.0),
            message="You count every tensor that was made on the way. A graph holds what its nodes saved, and not"
            " all of them save.",
        ),
        Misconception(
            example=4,
            when=4.0,
            message="You count one saved tensor. `h` and `h + 1` are two tensors: which node needs which of them?",
        ),
        Misconception(
            example=0,
            when=0.0,
            message="You take a graph for free. Ask for each derivative whether it can be computed without a value.",
        ),
        Misconception(
            example=2,
            when=2.0,
            message="You count tensors; the question is for MiB. How many bytes has a float32?",
        ),
        Misconception(
            example=16 * 2**20,
            when=lambda seen: seen >= 2**20,
            message="You count bytes, or numbers; the question is for MiB, which are 2**20 bytes each.",
        ),
    ),
    hints=(
        "Which derivative needs its input, which its output, which neither? Lesson 04 has the table.",
        "Count the saved tensors and multiply by 4 MiB; or let `kept` of idea 6 count.",
    ),
    solution=_BYTES,
)

EXERCISES = (MIXED, GRADIENT, SAVED)
