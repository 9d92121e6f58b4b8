"""Exercises of lesson 10, CUDA placement: two devices in one line, a leaf at its place, and the case."""

from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from autograd_graphs.untrusted.plain import is_a
from autograd_graphs.untrusted.sandbox import Failed
from helpers.exercises.exercise import Exercise
from helpers.exercises.functions import function, written
from helpers.exercises.letters import Lines
from helpers.exercises.recognise import When, both, fails, parts_of, raised, wherever_it_ran
from helpers.moons import moons

_BOTH = "On which devices are these two, and how many dimensions have they?"
_NUMBER = "How many dimensions has `n`, and what does arithmetic make of that?"
_NO_ARITHMETIC = "Does the rule hold for a line without arithmetic?"
_MET = "Which devices have the two tensors that the operation meets?"
LINES = Lines(
    read="idea 1",
    begins=tuple(
        f'c, m = {c}, torch.ones(2, device="meta")\nn = torch.tensor(5.0)'
        for c in ("torch.ones(2)", "torch.arange(2.0)", "torch.zeros(1)", "torch.ones(2, 2)")
    ),
    lines={
        "c * n": _BOTH,
        "m.sum() + m": "Where does the sum of a tensor live?",
        "c + m": _BOTH,
        "n + m": _NUMBER,
        "m - 5.0": "On which device is the number of Python?",
        "torch.stack([c, m])": _NO_ARITHMETIC,
        "c.to(m.device) + m": _MET,
        "c.sum() * m": "How many dimensions has the sum, and where does it live?",
        "m * c[0]": _BOTH,
        "c.mean() - n": _BOTH,
        "torch.cat([m, m])": _NO_ARITHMETIC,
        "c / m.mean()": "How many dimensions have the two, and where do they live?",
        "m**2 + m": _MET,
        "torch.ones_like(m) + m": _MET,
        "torch.ones(2) * m": _MET,
        "m.to(c.dtype) * n": _NUMBER,
        "torch.cat([c.flatten(), m])": _NO_ARITHMETIC,
        "m - c.clone()": _MET,
        "(c * 0).max().reshape(1) + m": _BOTH,
        "c + m[0]": _BOTH,
    },
    trial="""
{begin}
try:
    eval(line)
except RuntimeError:
    answer.append(letter)
""",
)


MIXED = Exercise(
    id="10.1",
    right="In arithmetic, a CPU tensor without dimensions counts as a plain number. All others have to share a device.",
    asked="Which of these lines raise an error? Give their letters.",
    vary=LINES.vary,
    **LINES.of("klpqrst"),
    hints=(
        "For each line write down the devices of the tensors that its operation meets.",
        "Then strike out what counts as a plain number for arithmetic: Python's numbers, and CPU tensors without"
        " dimensions.",
    ),
)


_ones = torch.ones  # as it is now: a student may put another one in its place
_NO_TENSOR = "not a tensor"


def _as_leaf(returned: object, values: list[float], place: object) -> list:
    """See whether a tensor is a leaf, whether it asks for a gradient, where it is, and what it holds."""
    if not is_a(returned, torch.Tensor):
        return [_NO_TENSOR, "", "", "", ""]
    with torch._C.DisableTorchFunctionSubclass():
        held = f"shape {tuple(returned.shape)}" if returned.is_meta else returned.tolist()
        kind = "a leaf" if returned.is_leaf else "a result"
        flag = "requires grad" if returned.requires_grad else "plain"
        return [kind, flag, returned.device.type, str(returned.dtype), held]


_PLACES = (
    ([2.0, 3.0], "cpu"),
    ([1.0, 5.0], torch.float64),
    ([2.0, 3.0], "meta"),
    ([4.0, 1.0], torch.float16),
)


def _fails_at(number: int, other: int) -> When:
    """Match a function that raises in one case and gives a leaf in another."""
    return lambda seen, _: is_a(seen[number], Failed) and "a leaf" in parts_of(seen[other])


_MAKE = "def answer(values, place):\n    w = torch.tensor(values"


def _other_places(random: Random) -> tuple:
    """Draw other values for the same places."""
    drawn = [[random.randint(-20, 20) / 2 for _ in range(random.randint(2, 4))] for _ in _PLACES]
    return tuple(partial(tuple, (one, at)) for one, (_, at) in zip(drawn, _PLACES, strict=True))


LEAF = Exercise(
    id="10.4",
    cases=_other_places,
    reader=function(
        *(partial(tuple, inputs) for inputs in _PLACES),
        observe=_as_leaf,
        parts=("kind", "flag", "device", "dtype", "values"),
    ),
    right="You moved first and asked for the gradient last. A move before the flag is not recorded.",
    principle="if something has to move, a recorded `.to()` gives a result, and the leaf stays behind.",
    known={
        "You return something that is not a tensor. Return the leaf itself.": wherever_it_ran(
            _NO_TENSOR
        ),
        "On the CPU your tensor is a leaf, because nothing had to move there. Elsewhere it is a result."
        " It required grad before you moved it, so the move was recorded.": both(
            wherever_it_ran("a leaf", cases=slice(1)),
            wherever_it_ran("a result", cases=slice(1, None)),
        ),
        "Your tensor does not require grad. Who asks for its gradient, and when?": wherever_it_ran(
            "plain"
        ),
        "Your leaf stayed on the CPU as float32. A tensor's `.to()` returns another tensor: what happened to"
        " that one?": wherever_it_ran("a leaf", "cpu", "torch.float32"),
        "You go to a GPU whatever `place` says. Your function is told where to go.": lambda seen, right: (
            raised(seen[:1], "CUDA", "NVIDIA") or wherever_it_ran("cuda")(seen, right)
        ),
        "You can go to a device, and a dtype raises. `place` may be either. What takes both?": _fails_at(
            1, 0
        ),
        "You can take a dtype, and the device `cpu` raises. `place` may be either. What takes both?": _fails_at(
            0, 1
        ),
        "Through `.data` you can change the dtype, and not the kind of device. You need not put the moved"
        " tensor back into the old one.": fails("incompatible tensor type"),
        "You return a leaf that requires grad. Is it at `place`, and does it hold `values`?": wherever_it_ran(
            "a leaf", "requires grad"
        ),
    },
    hints=(
        "You do three things: make a tensor, ask for its gradient, move it. Which order is not recorded?",
        "`torch.tensor(values).to(place)` first, `.requires_grad_()` last.",
    ),
    solution=f"{_MAKE}).to(place)\n    return w.requires_grad_()\n",
)


def _start(device: str, count: int) -> tuple:
    """Make a classifier on a device, the same one each time, and data on the CPU."""
    model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    with torch.no_grad():
        for number, weight in enumerate(model.parameters(), start=1):
            weight.copy_(_ones(weight.shape).cumsum(0) / (number + 2))
    with torch.device("cpu"):  # whatever the student's default is
        return model.to(device), *moons(count)


_CASES = (("meta", 20), ("cpu", 20), ("cpu", 30))


def _case(device: str, count: int) -> Callable:
    return written(f"a model on {device}, and moons({count})")(partial(_start, device, count))


def _other_counts(random: Random) -> tuple:
    return tuple(_case(device, 2 * random.randint(5, 40)) for device, _ in _CASES)


def _trained(returned: object, model: nn.Module, points: object, moon: object) -> list:
    """See where the model and the loss are, and the numbers of both where there are any."""
    weights = [weight.detach() for weight in model.parameters()]
    places = " and ".join(sorted({weight.device.type for weight in weights}))
    sums = [] if "meta" in places else [weight.sum().item() for weight in weights]
    if not is_a(returned, torch.Tensor):
        return [places, "", returned, sums]
    with torch._C.DisableTorchFunctionSubclass():
        number = "" if returned.is_meta or returned.numel() != 1 else returned.item()
        return [places, returned.device.type, number, sums]


_LOOP = """def answer(model, points, moon):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(3):
        optimizer.zero_grad()
        guess = model(points)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(guess, moon)
        loss.backward()
        optimizer.step()
    return loss
"""


def _with(line: str, where: str = "    optimizer =") -> str:
    return _LOOP.replace(where, f"    {line}\n{where}", 1)


_MENDED = _with(
    "device = next(model.parameters()).device\n    points, moon = points.to(device), moon.to(device)"
)
_MEETS = "is not on the expected device"


def _homes(seen: tuple) -> list[object]:
    return [case[0] if is_a(case, tuple) else None for case in seen]


CASE = Exercise(
    id="10.5",
    cases=_other_counts,
    reader=function(
        *(_case(*case) for case in _CASES),
        observe=_trained,
        parts=("the model is on", "the loss is on", "the loss", "sums of the weights"),
    ),
    right="You asked the model where it lives, and brought the data there. This loop runs on a GPU, too.",
    principle="the data go to where the model is, under names that the loop uses.",
    known={
        "With the model on meta, your loop still meets a tensor on the CPU. There are two to move. Have both"
        " come along, and do their names lead to what `.to()` returned?": lambda seen, _: (
            raised(seen[:1], _MEETS) and not raised(seen[1:], _MEETS)
        ),
        "You send the data to one device, whatever the model is on. Ask the model where it is.": lambda seen, _: (
            not raised(seen[:1], _MEETS) and raised(seen[1:], _MEETS)
        ),
        "You asked for something to leave meta, and there are no numbers to copy. Bring the data to the"
        " model.": fails("Cannot copy out of meta"),
        "On meta the loss has no number that you could ask for. Return the tensor.": fails(
            "cannot be called on meta tensors"
        ),
        "Your model is on the CPU afterwards, and its numbers are whatever was in memory. Bring the data to the"
        " model.": lambda seen, _: "cpu" in _homes(seen[:1]),
        "Your model began on the CPU and is on meta now, and its numbers are lost. Leave it where"
        " it was.": lambda seen, _: "meta" in _homes(seen[1:]),
        "You ask for a GPU, and this machine need not have one. Ask the model where it is.": fails(
            "CUDA", "NVIDIA"
        ),
    },
    hints=(
        "Which device is `next(model.parameters())` on?",
        "`device = next(model.parameters()).device`, then `points, moon = points.to(device), moon.to(device)`.",
    ),
    solution=_MENDED,
)

EXERCISES = (MIXED, LEAF, CASE)
