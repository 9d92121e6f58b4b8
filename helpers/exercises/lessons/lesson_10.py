"""Exercises of lesson 10, CUDA placement: two devices in one line, a leaf at its place, saved
bytes.
"""

from dataclasses import replace

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise, Misconception
from helpers.exercises.functions import function, raised
from helpers.exercises.letters import Letters
from helpers.exercises.readers import letters, number
from helpers.exercises.values import same

_LINES = """
c, m = torch.ones(2), torch.ones(2, device="meta")
n = torch.tensor(5.0)
lines = {
    "k": lambda: c * n,
    "l": lambda: m.sum() + m,
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
    with torch.device("cpu"):  # whatever the student's default is
        exec(_LINES, namespace)
    return namespace["answer"]


MIXED = Exercise(
    id="10.1",
    reader=letters("klpqrst"),
    truth=_raising,
    right="Added, tensors with dimensions must share a device; stacked, all must. A number of the CPU may be added to either.",
    letters=Letters(
        read="idea 4",
        about=(
            ("k", "On which devices are these two?"),
            ("l", "Where does the sum of a tensor live?"),
            ("p", "How many dimensions have the two, and where do they live?"),
            ("q", "How many dimensions has `n`, and what does `+` make of that?"),
            ("r", "On which device is the number of Python?"),
            ("s", "Does the rule hold for a line without arithmetic?"),
            ("t", "Which devices have the two tensors that the `+` meets?"),
        ),
    ),
    misconceptions=(),
    hints=(
        "For each line write down the devices of the tensors that its operation meets.",
        "Then strike out what counts as a number for arithmetic: Python's numbers, and CPU tensors without"
        " dimensions.",
    ),
    solution=_LINES,
)


# Bound here: a student may have put others in their place.
_tensor, _backward = torch.tensor, torch.autograd.backward


def _gradient(values: list[float], place: object) -> torch.Tensor:
    w = _tensor(values).to(place).requires_grad_()
    _backward((w**2).sum())
    return w.grad


class _Walk(TorchDispatchMode):
    """Take down to which leaves the backward leads that runs inside: the nodes that work, and what
    hangs behind them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.nodes, self.leaves = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        node = torch._C._current_autograd_node()
        if node is not None and not any(node is known for known in self.nodes):
            self.nodes.append(node)
            self.leaves += [_place_and_values(leaf) for leaf in _leaves(node)]
        return func(*args, **(kwargs or {}))


def _leaves(node: torch.autograd.graph.Node) -> list[torch.Tensor]:
    """Return the leaves that a graph ends in, from one of its nodes on."""
    found, waiting, seen = [], [node], []
    while waiting:
        node = waiting.pop()
        if node is None or any(node is known for known in seen):
            continue
        seen.append(node)
        if node.name().endswith("AccumulateGrad"):
            found.append(node.variable)
        waiting += [after for after, _ in node.next_functions]
    return found


def _place_and_values(leaf: torch.Tensor) -> tuple:
    """Return device, dtype and values of a leaf as it is now; None for values that cannot be seen."""
    try:
        values = None if leaf.is_meta else tuple(leaf.detach().double().flatten().tolist())
    except Exception:  # a tensor of torch.func does not give its values
        values = None
    return leaf.device.type, leaf.dtype, values


def _walked(answer: object) -> object:
    """Wrap a function: it returns what `answer` returns, and the leaves that a backward inside it
    led to.
    """
    if is_a(answer, type) or not callable(answer):
        return answer  # the reader says what it wants

    def run(*inputs: object) -> tuple:
        with _Walk() as walk:
            returned = answer(*inputs)
        return returned, walk.leaves

    return run


_PARTS = ("device", "dtype", "values", "leaf")
_AT_PLACE, _ELSEWHERE, _NO_WALK = "at its place", "at another place", "no backward came to one"
_OTHER_VALUES = "at its place, with other values"


def _as_seen(ended: tuple, values: list[float], place: object) -> object:
    """See the gradient with its device and dtype, and where the leaf was; or a word."""
    gradient, leaves = ended
    if gradient is None:
        return f"None; the leaf: {_leaf_seen(leaves, values, place)}"
    if not is_a(gradient, torch.Tensor):
        return "not a tensor"
    with torch._C.DisableTorchFunctionSubclass():
        device, dtype = gradient.device.type, str(gradient.dtype)
        shown = gradient
        if "meta" in (device, str(place)):  # one of the two has no values to compare
            shown = f"of shape {tuple(gradient.shape)}"
    return [device, dtype, shown, _leaf_seen(leaves, values, place)]


def _leaf_seen(leaves: list[tuple], values: list[float], place: object) -> str:
    if not leaves:
        return _NO_WALK
    wanted = _tensor(values).to(place)
    if any((device, dtype) != (wanted.device.type, wanted.dtype) for device, dtype, _ in leaves):
        return _ELSEWHERE
    return _AT_PLACE if any(held in (None, tuple(values)) for *_, held in leaves) else _OTHER_VALUES


_KINDS = ("TypeError", "RuntimeError")
_PLACES = (
    ([2.0, 3.0], "cpu"),
    ([1.0, 5.0], torch.float64),
    ([2.0, 3.0], "meta"),
    ([4.0, 1.0], torch.float16),
)
_RUN = function(
    *(lambda inputs=inputs: inputs for inputs in _PLACES), observe=_as_seen, parts=_PARTS
)


def _leaf_of(case: object) -> object:
    """Return the word for the leaf, None where there is no gradient to a word."""
    return case[3] if is_a(case, tuple) and len(case) == 4 else None


def _right_in_float64(seen: tuple, leaf: str, dtype: str = "torch.float64") -> bool:
    """Tell whether the case of float64 gave this dtype and the right numbers, with such a leaf."""
    return seen[1] == ("cpu", dtype, (2.0, 10.0), leaf)


def _other_numbers(seen: tuple) -> bool:
    """Tell whether all is at its place, and some numbers are not those of the sum of squares."""
    wanted = (("cpu", "torch.float32", (4.0, 6.0)), ("cpu", "torch.float64", (2.0, 10.0)))
    pairs = list(zip(seen, wanted, strict=False))
    placed = all(_leaf_of(case) == _AT_PLACE and case[:2] == right[:2] for case, right in pairs)
    return placed and not all(same(case[2], right[2]) for case, right in pairs)


GRADIENT = Exercise(
    id="10.2",
    reader=replace(_RUN, read=lambda answer: _RUN.read(_walked(answer))),
    truth=lambda: _gradient,
    right="Each gradient is at its place. A move before the flag is not recorded, and what it gives is a leaf.",
    misconceptions=(
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    return (w**2).sum().grad",
            when=lambda seen: seen[0] == f"None; the leaf: {_NO_WALK}",
            message="Your function returns None, and no backward came to a leaf in it. Who fills a `.grad`, and in"
            " which tensor?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    return (w**2).sum().backward()",
            when=lambda seen: seen[0] == f"None; the leaf: {_AT_PLACE}",
            message="A gradient came to a leaf, and your function returns None instead of it. `backward()` hands nothing"
            " back: where has it put the gradient?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True).to(place)\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: seen[1] == f"None; the leaf: {_ELSEWHERE}",
            message="For a dtype your function returns None: what it asks is the result of a recorded move, and the"
            " leaf behind it got the gradient. What should be asked for last?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True)\n"
            "    (w.to(place)**2).sum().backward()\n    return w.grad",
            when=lambda seen: _right_in_float64(seen, _ELSEWHERE, "torch.float32"),
            message="You return the gradient of a leaf that stayed where it was made, in its own dtype. A gradient"
            " lives where its leaf lives; here the leaf itself was to be at `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True).to(place)\n"
            "    w.retain_grad()\n    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: (
                _right_in_float64(seen, _ELSEWHERE)
                and is_a(seen[2], Failed)
                and "Cannot copy out of meta" in seen[2].text
            ),
            message="On meta your function raises: a leaf is still left behind on the CPU, and backward tries to bring"
            " its gradient there. Neither `retain_grad()` nor a move afterwards brings the leaf to `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True)\n"
            "    (w**2).sum().backward()\n    return w.grad.to(place)",
            when=lambda seen: _right_in_float64(seen, _ELSEWHERE),
            message="The numbers are right, and behind them a leaf stayed where it was made: its gradient was moved, or"
            " taken from the result of a recorded move. The leaf itself was to be at `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    return (2 * torch.tensor(values)).to(place)",
            when=lambda seen: _right_in_float64(seen, _NO_WALK),
            message="The numbers are right, and no backward came to a leaf. Let autograd find the gradient of one that"
            " is at `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    (w**2).sum().backward()\n    return w.grad.cpu()",
            when=lambda seen: (
                _right_in_float64(seen, _AT_PLACE)
                and is_a(seen[2], Failed)
                and "Cannot copy out of meta" in seen[2].text
            ),
            message="On meta a line of yours asks for numbers or for a copy on the CPU, and meta has none to give. The"
            " gradient may stay where it is.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values)\n    w.data = w.data.to(place)\n"
            "    w.requires_grad_()\n    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: raised(seen, "incompatible tensor type"),
            message="To `.data` torch lets you give another dtype, and no tensor of another kind, such as one on meta."
            " A tensor that is moved by `.to` need not be put back into the old one.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place)\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: raised(seen, "does not require grad and does not have a grad_fn"),
            message="A backward is asked of a tensor that has no graph: nothing that went into it required grad while"
            " recording was on.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    (w**2).backward()\n    return w.grad",
            when=lambda seen: raised(seen, "implicitly created only for scalar outputs"),
            message="A backward is asked of several numbers at once. The gradient asked for is that of a sum.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, requires_grad=True)\n"
            "    w = w.cuda()\n    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: (
                raised(seen[:1], "CUDA", "NVIDIA")
                or (is_a(seen[0], tuple) and seen[0][0] == "cuda")
            ),
            message="Your function goes to a GPU even when `place` is the CPU. It is told where to go: by `place`.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, device=place, requires_grad=True)\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: (
                _leaf_of(seen[0]) == _AT_PLACE and is_a(seen[1], Failed) and seen[1].kind in _KINDS
            ),
            message="The CPU goes through, and a dtype raises. `place` may be a device or a dtype; what takes both?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values, dtype=place, requires_grad=True)\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: (
                _leaf_of(seen[1]) == _AT_PLACE and is_a(seen[0], Failed) and seen[0].kind in _KINDS
            ),
            message="A dtype goes through, and the device `cpu` raises. `place` may be either of the two: what takes"
            " the one as well as the other?",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    (w**2).sum().backward()\n    return w.grad.tolist()",
            when=lambda seen: "not a tensor" in seen,
            message="What your function returns is no tensor any more. Only as a tensor has a gradient a device and a"
            " dtype; hand it back as it is.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.zeros(2).to(place).requires_grad_()\n"
            "    (w**2).sum().backward()\n    return w.grad",
            when=lambda seen: _leaf_of(seen[0]) == _OTHER_VALUES,
            message="A backward came to a leaf at `place`, and that leaf does not hold `values`. It is to hold them"
            " when the gradient is computed.",
        ),
        Misconception(
            example="def answer(values, place):\n    w = torch.tensor(values).to(place).requires_grad_()\n"
            "    (w**2).mean().backward()\n    return w.grad",
            when=_other_numbers,
            message="The leaf is at its place, and what you hand back is not the gradient of `(w**2).sum()`: the device"
            " and the dtype are right, the numbers are others.",
        ),
    ),
    principle="a move that is recorded gives a result and no leaf, and the leaf stays where it was.",
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


x = torch.empty(1024, 1024, dtype=torch.float32, device="meta", requires_grad=True)
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
    reader=number(unit="MiB"),
    truth=_saved,
    right="`exp` saves its output and `sin` its input; the addition and the sum save no tensor.",
    misconceptions=(
        Misconception(
            example=12,
            when=12.0,
            message="12 MiB are three tensors of this size. Go through the four operations: which need no value for"
            " their derivative, and does any of them need its input and its output as well?",
        ),
        Misconception(
            example=16,
            when=16.0,
            message="16 MiB are four tensors of this size, as many as there are operations. A graph holds what its"
            " nodes saved, and not all of them save.",
        ),
        Misconception(
            example=4,
            when=4.0,
            message="4 MiB are one tensor of this size. `h` and `h + 1` are two: which node needs which of them?",
        ),
        Misconception(
            example=0,
            when=0.0,
            message="0 would mean that no node saves a tensor. Ask for each derivative whether it can be computed"
            " without a value.",
        ),
        Misconception(
            example=2,
            when=2.0,
            message="You count tensors, or one byte for each number; the question is for MiB. How many bytes has a"
            " float32?",
        ),
        Misconception(
            example=8.388608,
            when=lambda seen: same(seen, 8 * 2**20 / 10**6),
            message="You divided by a million, which gives MB. The question is for MiB, which are 2**20 bytes each.",
        ),
        Misconception(
            example=16 * 2**20,
            when=lambda seen: seen >= 2**20,
            message="You count bytes, or numbers; the question is for MiB. Divide the bytes by 2**20.",
        ),
    ),
    principle="a node keeps what the formula of its derivative needs, which may be its input, its output, or no"
    " tensor at all.",
    hints=(
        "Which derivative needs its input, which its output, which neither? Lesson 04 has the table.",
        "Count the saved tensors and multiply by 4 MiB; or let the hook of idea 6 count.",
    ),
    solution=_BYTES,
)

EXERCISES = (MIXED, GRADIENT, SAVED)
