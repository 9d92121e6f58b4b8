"""Exercises of lesson 10, CUDA placement: two devices in one line, a leaf at its place, saved
bytes.
"""

from dataclasses import replace

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from helpers.exercises.exercise import Exercise, Misconception
from helpers.exercises.functions import function
from helpers.exercises.readers import names, number
from helpers.untrusted.plain import is_a
from helpers.untrusted.sandbox import Failed

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
    right="Tensors with dimensions must share a device, added or stacked; a number of the CPU may be added to either.",
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
            message="You found one. The rule holds for a line without arithmetic as well.",
        ),
        Misconception(
            example=[],
            when=lambda seen: not seen,
            message="You expect PyTorch to move tensors for you. For `+` and `stack` it moves none.",
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


class _Walk(TorchDispatchMode):
    """Note the place where the last operation of a backward ran, going by what it made."""

    end: tuple[str, torch.dtype] | None = None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if torch._C._current_autograd_node() is not None and is_a(made, torch.Tensor):
            self.end = made.device.type, made.dtype
        return made


def _walked(answer: object) -> object:
    """Wrap a function: it returns what `answer` returns, and where the backward inside it came to
    its end.
    """
    if is_a(answer, type) or not callable(answer):
        return answer  # the reader says what it wants

    def run(*inputs: object) -> tuple:
        with _Walk() as walk:
            returned = answer(*inputs)
        return returned, walk.end

    return run


def _as_seen(ended: tuple, values: list[float], place: object) -> list:
    """See the gradient, and whether backward ended at the place that was asked for."""
    gradient, end = ended
    wanted = torch.empty(0).to(place)
    where = "at its place" if end == (wanted.device.type, wanted.dtype) else "elsewhere"
    return [
        _gradient_as_seen(gradient),
        "no backward ran" if end is None else f"backward ended {where}",
    ]


def _gradient_as_seen(gradient: object) -> object:
    """See where a gradient lives, its dtype, and its values where it has any."""
    if not is_a(gradient, torch.Tensor):
        return "None" if gradient is None else gradient
    return [
        gradient.device.type,
        str(gradient.dtype),
        list(gradient.shape) if gradient.is_meta else gradient,
    ]


_RUN = function(
    lambda: ([2.0, 3.0], "cpu"),
    lambda: ([1.0, 5.0], torch.float64),
    lambda: ([2.0, 3.0], "meta"),
    observe=_as_seen,
)


def _right_but(walk: str, at: object, dtype: str = "torch.float64") -> bool:
    """Tell whether the case of float64 gave this dtype and the right numbers, by a backward that
    ended so.
    """
    return is_a(at, tuple) and at == (("cpu", dtype, (2.0, 10.0)), walk)


def _none(case: object) -> bool:
    return is_a(case, tuple) and case[0] == "None"


GRADIENT = Exercise(
    id="10.2",
    reader=replace(_RUN, read=lambda answer: _RUN.read(_walked(answer))),
    truth=lambda: _gradient,
    right="Each gradient is at its place. A move before the flag is not recorded, and what it gives is a leaf.",
    misconceptions=(
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    (w**2).sum().backward()",
            when=lambda seen: all(map(_none, seen)),
            message="Your function returns nothing, or a `.grad` that nobody filled: look at its last line.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True).to(place)\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: _none(seen[1]) and seen[1][1] == "backward ended elsewhere",
            message="For a dtype your function returns None: `w` is still the result of a recorded move, and the leaf"
            " behind it got the gradient. What should be asked for last?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True)\n"
            "    (w.to(place)**2).sum().backward()\n    return w.grad",
            when=lambda seen: _right_but("backward ended elsewhere", seen[1], "torch.float32"),
            message="You return the gradient of a leaf that stayed where it was made, in its own dtype. A gradient"
            " lives where its leaf lives; here the leaf itself was to be at `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True).to(place)\n"
            "    w.retain_grad()\n    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: (
                _right_but("backward ended elsewhere", seen[1]) and is_a(seen[2], Failed)
            ),
            message="On one of the devices your function raises: a leaf is still left behind on the CPU, and backward"
            " tries to bring its gradient there. No gradient kept on the way makes a leaf of `w`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True)\n"
            "    (w**2).sum().backward()\n    return w.grad.to(place)",
            when=lambda seen: (
                _right_but("backward ended elsewhere", seen[1]) and not is_a(seen[2], Failed)
            ),
            message="The numbers are right, and backward ended at another place: the leaf stayed where it was made,"
            " and its gradient was moved. The leaf itself was to be at `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    return (2 * torch.tensor(values)).to(place)",
            when=lambda seen: _right_but("no backward ran", seen[1]),
            message="The numbers are right, and no backward ran: they come from a formula. Let autograd find the"
            " gradient of a leaf at `place`.",
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
