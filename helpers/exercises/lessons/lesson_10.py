"""Exercises of lesson 10, CUDA placement: two devices in one line, a leaf at its place, and the case."""

import re
from collections.abc import Callable
from functools import partial
from random import Random

import torch
from torch import nn

from helpers.exercises.exercise import Exercise
from helpers.exercises.faults import Faults
from helpers.exercises.functions import function, made_by, written
from helpers.exercises.letters import Lines
from helpers.exercises.quantities import Data, Place, Quantities
from helpers.exercises.reading import as_tuple
from helpers.exercises.recognise import fails, shows, wherever_it_ran
from helpers.exercises.watched_inputs import readable, tensors_in
from helpers.moons import moons

_BOTH = "On which devices are these two, and how many dimensions have they?"
_NUMBER = "How many dimensions has `n`, and what does arithmetic make of that?"
_NO_ARITHMETIC = "Does the rule hold for a line without arithmetic?"
_MET = "Which devices have the two tensors that the operation meets?"
_BEGIN = 'x, m = {}, torch.ones(2, device="meta")\nn = torch.tensor(5.0)'
LINES = Lines(
    read="idea 1",
    begins=(
        _BEGIN.format("torch.ones(2)"),
        _BEGIN.format("torch.arange(2.0)"),
        _BEGIN.format("torch.zeros(1)"),
        _BEGIN.format("torch.ones(2, 2)"),
    ),
    lines={
        "x * n": _BOTH,
        "m.sum() + m": "Where does the sum of a tensor live?",
        "x + m": _BOTH,
        "n + m": _NUMBER,
        "m - 5.0": "On which device is the number of Python?",
        "torch.stack([x, m])": _NO_ARITHMETIC,
        "x.to(m.device) + m": _MET,
        "x.sum() * m": "How many dimensions has the sum, and where does it live?",
        "m * x[0]": _BOTH,
        "x.mean() - n": _BOTH,
        "torch.cat([m, m])": _NO_ARITHMETIC,
        "x / m.mean()": "How many dimensions have the two, and where do they live?",
        "m**2 + m": _MET,
        "torch.ones_like(m) + m": _MET,
        "torch.ones(2) * m": _MET,
        "m.to(x.dtype) * n": _NUMBER,
        "torch.cat([x.flatten(), m])": _NO_ARITHMETIC,
        "m - x.clone()": _MET,
        "(x * 0).max().reshape(1) + m": _BOTH,
        "x + m[0]": _BOTH,
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
    right="In arithmetic, a CPU tensor without dimensions counts as a plain number. Other tensors that meet there have to share a device.",
    asked="Which of these lines raise an error? Give their letters.",
    **LINES.first("klpqrst"),
    hints=(
        "For each line write down the devices of the tensors that its operation meets.",
        "Then strike out what counts as a plain number for arithmetic: Python's numbers, and CPU"
        " tensors without dimensions.",
    ),
)


_ones = torch.ones  # as it is now: a student may put another one in its place
_NO_TENSOR = "not a tensor"


def _as_leaf(returned: object, values: list[float], place: object) -> list:
    if not isinstance(returned, torch.Tensor):
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


def _other_places(random: Random) -> tuple:
    cases = []
    for _, place in _PLACES:
        count = random.randint(2, 4)
        values = [random.randint(-20, 20) / 2 for _ in range(count)]
        cases.append(partial(tuple, (values, place)))
    return tuple(cases)


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
        "Your tensor does not require grad. When should it ask for its gradient?": wherever_it_ran(
            "plain"
        ),
        "You return a leaf that requires grad. Is it at `place`, and does it hold"
        " `values`?": wherever_it_ran("a leaf", "requires grad"),
    },
    hints=(
        "You do three things: make a tensor, ask for its gradient, move it. Which order is not recorded?",
        "`torch.tensor(values).to(place)` first, `.requires_grad_()` last.",
    ),
    reference="""
def answer(values, place):
    w = torch.tensor(values).to(place)
~   w = torch.tensor(values, requires_grad=True).to(place)  # On the CPU your tensor is a leaf, because nothing had
~       # to move there. Elsewhere it is a result. It required grad before you moved it, so the move itself was
~       # recorded.
~   w = torch.tensor(values)  # Your leaf stayed on the CPU as float32. A tensor's `.to()` returns a new tensor.
~       # What happened to that one?
~   w = torch.tensor(values, device=place)  # This works for a device, but with a dtype it fails. `place` may be
~       # either, so what takes both?
~   w = torch.tensor(values, dtype=place)  # This works for a dtype, but with the device `cpu` it fails. `place` may
~       # be either, so what takes both?
~   w = torch.tensor(values); w.data = w.data.to(place)  # Through `.data` you can change the dtype, but you can't
~       # get to `meta`. You don't have to put the moved tensor back into the old one.
~   w = torch.tensor(values).cuda()  # You go to a GPU whatever `place` says. Let `place` decide.
    return w.requires_grad_()  # the leaf asks for its gradient after the move
~   return w.requires_grad_().is_leaf  # You return something that is not a tensor. Return the leaf itself.
""",
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
    weights = [weight.detach() for weight in model.parameters()]
    places = " and ".join(sorted({weight.device.type for weight in weights}))
    sums = [] if "meta" in places else [weight.sum().item() for weight in weights]
    if not isinstance(returned, torch.Tensor):
        return [places, "", returned, sums]
    with torch._C.DisableTorchFunctionSubclass():
        number = "" if returned.is_meta or returned.numel() != 1 else returned.item()
        return [places, returned.device.type, number, sums]


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
        "You asked for something to leave meta, but there are no numbers to copy. Bring the data to"
        " the model.": fails("Cannot copy out of meta"),
        "Your model is on the CPU afterwards, and its numbers are whatever was in memory. Bring the"
        " data to the model.": lambda seen, _: as_tuple(seen[0])[0] == "cpu",
    },
    hints=(
        "Which device is `next(model.parameters())` on?",
        "`device = next(model.parameters()).device`, then `points, moon = points.to(device), moon.to(device)`.",
    ),
    reference="""
def answer(model, points, moon):
    device = next(model.parameters()).device
~   device = "meta"  # You always send the data to the same device, wherever the model is. Ask the model.
~   device = "cuda"  # You ask for a GPU, but not every machine has one. Ask the model where it is.
~   device = "meta"; model.to(device)  # Your model was on the CPU, but now it's on meta and its numbers are lost.
~       # Leave it where it was.
    points, moon = points.to(device), moon.to(device)
~   points = points.to(device)  # With the model on meta, your loop still meets a tensor on the CPU. There are two
~       # to move. Did you move both, and do their names refer to what `.to()` returned?
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(3):
        optimizer.zero_grad()  # nothing from an earlier step may get into the sum
        guess = model(points)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(guess, moon)
        loss.backward()  # each step needs a gradient of its own
        optimizer.step()  # the weights take a step in every round
    return loss
~   return loss.item()  # On meta there's no number in the loss to ask for. Return the tensor.
""",
)

_MOVES = re.compile(r"\.(?:to|double|float|half|cpu)\(")
_A = (
    "x.to(torch.float64)",
    "x.double()",
    'x.to("meta")',
    "x.half()",
    "x.detach().double()",
    "x.double().float()",
)
_B = "a.to(a.dtype)", "a.half()", "a.double()", "a.to(a.device)", "(a * 5).float()"
_C = (
    'x.to("cpu")',
    "x.float()",
    "x.cpu()",
    "x.to(torch.float32)",
    "data.double()",
    "x.float().double()",
)
_COUNT = """
data = torch.ones(9)
x = torch.ones(9, requires_grad=True)
a = {a}
b = {b}
c = {c}
loss = a.sum() + b.sum() + c.sum()
answer, met, nodes = 0, {{None}}, {{loss.grad_fn}} - {{None}}
while nodes:
    node = nodes.pop()
    met.add(node)
    answer += node.name() == "ToCopyBackward0"
    nodes |= {{one for one, _ in node.next_functions}} - met
"""


def _written_moves(*names: str) -> Callable[[Data], int]:
    """Return what counts the moves and casts that are written in some lines."""
    return lambda data: sum(len(_MOVES.findall(data[name])) for name in names)


CARDS = Exercise(
    id="10.6",
    right="A card is left where a move had something to do, on a tensor that requires grad.",
    asked="How many cards called *ToCopy* are in the graph of `loss`? Give a number.",
    principle="if nothing has to move, `.to()` returns the tensor itself. A cast is such a move, too.",
    quantities=Quantities(
        program=_COUNT.format_map,
        data={"a": "x.double()", "b": "a.to(a.dtype)", "c": "x.float().double()"},
        draw=lambda random: dict(zip("abc", map(random.choice, (_A, _B, _C)), strict=True)),
        places=(
            Place(
                "`answer`",
                "the moves and casts that made another tensor out of one that requires grad",
                {
                    "what you get if you count every move that is written there": _written_moves(
                        *"abc"
                    ),
                    "as if nothing were recorded, but a move is an operation": 0,
                    "more than the moves that are written there": (6, 7, 8),
                },
            ),
        ),
    ),
    hints=(
        "Ask of each move and each cast: has the tensor to change its device or its dtype at all?",
        "Then ask whether that tensor requires grad. Data and what is detached leave no card.",
    ),
)

PLACED = Faults("""
x = torch.ones({a}, 2, device="meta")
layer = torch.nn.Linear(2, {b})
layer = layer.to("meta")
noise = torch.randn_like(x)
y = layer(x + noise)
loss = y.pow(2).mean()
loss.backward()
print(layer.weight.grad.device)
look at: str(loss.device)
4: noise = torch.randn({a}, 2)
4: noise = torch.rand({a}, 1)
3: layer = layer.to("cpu")
3: layer = layer.train()

w = torch.tensor([{a}.0, {b}.0])
w = w.to(torch.float64)
w = w.requires_grad_()
loss = (w * {c}).sum()
loss.backward()
print(w.is_leaf, w.grad)
look at: [w.is_leaf, w.grad is None]
2: w = w.requires_grad_().to(torch.float64)
3: w = w.requires_grad_().half()
3: w = w.requires_grad_().to("meta")

model = torch.nn.Linear(2, {a})
model.register_buffer("mean", torch.ones(2))
model.to("meta")
x = torch.ones({b}, 2)
x = x.to("meta")
loss = model(x - model.mean).sum()
loss.backward()
print(loss.device)
look at: str(loss.device)
2: model.mean = torch.ones(2)
5: x.to("meta")
5: y = x.to("meta")

layer = torch.nn.Linear(2, {a}).double()
x = torch.ones({b}, 2)
x = x.to(layer.weight.dtype)
target = torch.zeros_like(x[:, :1])
loss = (layer(x) - target).pow(2).mean()
loss.backward()
print(loss.dtype, x.dtype)
look at: str(x.dtype)
3: x.to(layer.weight.dtype)
3: x.double()
3: x = x.to(layer.weight.device)
""")

PLACE = Exercise(
    id="10.7",
    right="That line leaves a tensor behind, or moves it when it is too late.",
    asked="One line of this program leaves a tensor at the wrong place, or moves a leaf too late."
    " Which line? Give its number.",
    principle="follow each name: on which device is its tensor, of which dtype, and did somebody keep what moved?",
    hints=(
        "Write the device and the dtype of each name beside its line.",
        "Is there a new tensor that was not made like the others? A moved one that nobody keeps? A move after the flag?",
    ),
    **PLACED.first(a=4, b=3, c=5, d=7),
)


def _batches(rows: int) -> tuple:
    """Return cases: a tensor, a dict, nested lists, a namedtuple, a leaf, empty ones with
    something else, and a batch that is there.
    """
    ones = f"torch.ones({rows})"
    named = "from collections import namedtuple\nBatch = namedtuple('Batch', 'points mask')\n"
    to_meta = "\ndevice = 'meta'"
    codes = (
        f"batch = {ones}{to_meta}",
        f"batch = {{'points': {ones}, 'moon': torch.arange({rows}), 'name': 'moons'}}{to_meta}",
        f"batch = [({ones}, None), [{ones}.half(), {rows}.5, ['a', 'b']]]{to_meta}",
        f"{named}batch = Batch({ones}, {{'left': ({ones},)}}){to_meta}",
        f"batch = [torch.ones({rows}, requires_grad=True)]{to_meta}",
        f"batch = ([], {{}}, (), None, b'moons'){to_meta}",
        f"batch = {{'points': [{ones}], 'mask': ({ones} > 0,)}}\ndevice = torch.device('cpu')",
    )
    return tuple(made_by(code, "batch", "device") for code in codes)


def _form(value: object, ids: set[int], depth: int = 4) -> object:
    if isinstance(value, torch.Tensor):
        return _in_words(value, ids)
    if not isinstance(value, (dict, list, tuple)) or not depth:
        return readable(value)
    inside = []
    if isinstance(value, dict):
        for key, part in dict.items(value):
            inside.append((readable(key), _form(part, ids, depth - 1)))
    else:
        inside += [_form(part, ids, depth - 1) for part in value]
    return [type(value).__name__, *inside]


def _in_words(tensor: torch.Tensor, ids: set[int]) -> str:
    with torch._C.DisableTorchFunctionSubclass():
        dtype = str(tensor.dtype).removeprefix("torch.")
        words = [tensor.device.type, dtype, str(tuple(tensor.shape))]
        words += ["requires grad"] * tensor.requires_grad + ["the same one"] * (id(tensor) in ids)
        return " ".join(words)


def _comparing(answer: Callable) -> Callable:
    def run(batch: object, device: object) -> tuple:
        ids = set(map(id, tensors_in(batch)))
        before = _form(batch, ids)
        returned = answer(batch, device)
        return returned, ids, "as it was" if _form(batch, ids) == before else "changed"

    return run


def _carried(outcome: tuple, batch: object, device: object) -> list[object]:
    returned, ids, after = outcome
    return [_form(returned, ids), after]


CARRY = Exercise(
    id="10.8",
    reader=function(
        *_batches(2),
        observe=_carried,
        promises=("it returned", "the batch that was given"),
        around=_comparing,
    ),
    right="One call at the top of your loop, whatever your data loader hands out.",
    principle="move tensors, go into dicts, lists and tuples, build the same kind anew, and leave the rest alone.",
    known={
        "You put the moved tensors into the batch that was given. Somebody may still need it where"
        " it was: build a new one.": shows("changed"),
        "Not everything in a batch is a tensor. A text, a number and None have no `.to()`: hand"
        " them back as they are.": fails("has no attribute 'to'"),
        "A text is made of texts, and these again, without end. Go only into dicts, lists and"
        " tuples.": fails("maximum recursion depth"),
    },
    hints=(
        "Let the function call itself. Which kinds does it go into, and what does it do with anything else?",
        "Ask `isinstance` for a tensor, a dict, a tuple with `_fields`, and a list or tuple, in this order.",
    ),
    reference="""
def answer(batch, device):
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
~       return batch.to("meta")  # You always move to `meta`. Let `device` decide.
~       return batch.detach().to(device)  # You cut the tensor off from its graph. A recorded move keeps the flag,
~           # so leave `detach()` out.
~       return batch.clone().to(device)  # A tensor that's already there should come back as itself, but you return
~           # a copy. `.to()` makes a new tensor only when something has to move.
~       batch.to(device); return batch  # Your tensors are still where they were. `.to()` returns a new tensor. What
~           # happened to that one?
~       return batch.to(device, torch.float32)  # You change the dtype. A tensor should only move, so whole numbers
~           # stay whole.
    if isinstance(batch, dict):  # a dict comes back as a dict, with each of its values moved
        return {key: answer(value, device) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
~   if False:  # A namedtuple wants its fields one by one, not in a single list: `type(batch)(*moved)`.
        return type(batch)(*[answer(value, device) for value in batch])
~       return tuple(answer(value, device) for value in batch)  # Your namedtuple came back as something else, so
~           # `batch.points` no longer works. You can tell a namedtuple by its `_fields`.
    if isinstance(batch, (list, tuple)):  # a list or tuple comes back as the same kind
        return type(batch)(answer(value, device) for value in batch)
~       return [answer(value, device) for value in batch]  # A tuple comes back as a list. It should be of the
~           # same kind as before.
    return batch  # anything that holds no tensor comes back as it is
~   return list(batch) if hasattr(batch, "__iter__") and not isinstance(batch, str) else batch  # You go into more
~       # than dicts, lists and tuples. Anything else should come back as it is, even if it has parts.
""",
    cases=lambda random: _batches(random.randint(3, 9)),
)

EXERCISES = (MIXED, LEAF, CARDS, PLACE, CARRY, CASE)
